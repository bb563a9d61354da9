"""Rules and their texts, both ways."""

from __future__ import annotations

from fractions import Fraction

import pytest

from potato_iaa.errors import UsageError
from potato_iaa.matcher import Rule, parse_rule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("exact", Rule("exact")),
        (" overlap\n", Rule("overlap")),
        ("terms", Rule("terms")),
        ("soft", Rule("soft")),
        ("soft(dice)", Rule("soft", "dice")),
        ("character", Rule("character")),
        ("token", Rule("token")),
        ("overlap(iou>=0.10)", Rule("overlap", "iou", Fraction(1, 10))),
        ("overlap( dice >= 1 )", Rule("overlap", "dice", Fraction(1))),
        (" overlap(containment>=.75) ", Rule("overlap", "containment", Fraction(3, 4))),
        ("overlap(iou>=0.00000000000000000001)", Rule("overlap", "iou", Fraction(1, 10**20))),
    ],
)
def test_a_rule_is_what_its_text_says(text: str, rule: Rule) -> None:
    assert parse_rule(text) == rule
    assert parse_rule(str(rule)) == rule


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Rule("overlap", "iou", Fraction(1, 2)), "overlap(iou>=0.5)"),
        (Rule("overlap", "iou", Fraction(1)), "overlap(iou>=1)"),
        (Rule("overlap", "dice", Fraction(1, 10**20)), f"overlap(dice>=0.{'0' * 19}1)"),
        (
            Rule("overlap", "iou", Fraction(int("3" * 90), 10**90)),
            f"overlap(iou>=0.{'3' * 90})",
        ),
        (
            Rule("overlap", "iou", Fraction(int("7" * 999), 10**999)),
            f"overlap(iou>=0.{'7' * 999})",
        ),
        (Rule("soft", "dice"), "soft(dice)"),
        (Rule("soft"), "soft"),
    ],
)
def test_a_rule_is_written_with_all_its_digits(rule: Rule, text: str) -> None:
    assert str(rule) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "Exact", "overlap()", "soft(iou)", "soft(dice", "overlap(jaccard>=0.5)"),
        *("overlap(iou>0.5)", "overlap(iou>=0.5)!", "xoverlap(iou>=0.5)", "overlap(iou>=-0.5)"),
    ],
)
def test_what_is_no_rule_is_refused_with_the_rules_there_are(text: str) -> None:
    with pytest.raises(UsageError, match=r"no match rule .*exact, overlap, terms, soft, soft"):
        parse_rule(text)


@pytest.mark.parametrize("threshold", ["0", "0.0", "1.0001", "2", "1.2.3", "."])
def test_a_threshold_is_above_0_and_at_most_1(threshold: str) -> None:
    with pytest.raises(UsageError, match="is not above 0 and at most 1"):
        parse_rule(f"overlap(iou>={threshold})")
