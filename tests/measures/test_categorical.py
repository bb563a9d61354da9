"""Questions about whole items: alpha at the right level, against the krippendorff package."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import krippendorff
import numpy as np
import pandas as pd
import pytest

from potato_iaa import Corpus, measure
from potato_iaa.corpus import ANSWER_COLUMNS, CategoricalScheme
from potato_iaa.errors import AuditError
from potato_iaa.measures import categorical
from potato_iaa.measures.bootstrap import item_weights
from potato_iaa.measures.categorical import CategoricalFigures, categorical_figures
from tests.corpora import NO_SHARED_ITEMS, NO_VARIATION, ONE_ANNOTATOR

Level = Literal["nominal", "ordinal", "interval"]
Stored = list[tuple[str, str]]
Answers = Mapping[str, Mapping[str, str | Stored]]
"""Item → annotator → the text stored, or all (label, value) rows stored."""

LEVEL_OF: dict[str, Level] = {
    "radio": "nominal",
    "select": "nominal",
    "likert": "ordinal",
    "slider": "interval",
    "number": "interval",
}


def answered(
    answers: Answers,
    scheme: CategoricalScheme,
    *,
    roles: Mapping[str, str] | None = None,
    items: Sequence[str] = (),
) -> Corpus:
    """A corpus without spans in which these answers were given; ``items`` have no answer."""
    everything = sorted({*answers, *items})
    rows = [
        (item, who, scheme.name, label, value)
        for item, by_annotator in answers.items()
        for who, stored in by_annotator.items()
        for label, value in ([("", stored)] if isinstance(stored, str) else stored)
    ]
    everyone = sorted({who for by_annotator in answers.values() for who in by_annotator})
    corpus = Corpus.from_tables(
        items=[(item, "some text") for item in everything],
        passes=[(item, who) for item in everything for who in everyone],
        spans=[],
        roles=dict(roles or {}),
    )
    frame = pd.DataFrame(rows, columns=list(ANSWER_COLUMNS), dtype=object).astype("category")
    return replace(corpus, answers=frame, categorical=(scheme,))


def figures(
    answers: Answers,
    kind: str = "radio",
    labels: Sequence[str] = (),
    *,
    resamples: int = 0,
    seed: int = 0,
    **options: Any,
) -> CategoricalFigures:
    scheme = CategoricalScheme("question", kind, tuple(labels))
    corpus = answered(answers, scheme, **options)
    return categorical_figures(corpus, scheme, resamples=resamples, seed=seed)


def columns(*values: str, names: str = "ABCD") -> dict[str, dict[str, str]]:
    """One string per annotator, one character per item; ``.`` is no answer."""
    return {
        f"d{place:02}": {
            who: row[place] for who, row in zip(names, values, strict=False) if row[place] != "."
        }
        for place in range(len(values[0]))
    }


def package_alpha(answers: Mapping[str, Mapping[str, float]], level: Level) -> float | None:
    """Alpha by the package; ``None`` where its definition leaves it undefined."""
    pairable = [value for by in answers.values() if len(by) > 1 for value in by.values()]
    if len(set(pairable)) < 2:
        return None
    everyone = sorted({who for by in answers.values() for who in by})
    data = [[by.get(who, math.nan) for by in answers.values()] for who in everyone]
    return float(
        krippendorff.alpha(reliability_data=np.array(data, float), level_of_measurement=level)
    )


def as_numbers(answers: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, float]]:
    return {item: {who: float(text) for who, text in by.items()} for item, by in answers.items()}


# Levels -------------------------------------------------------------------------------------------

# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section D and after.
PUBLISHED = columns("123321412...", "1233224125.3", ".3332342251.", "12332441251.")


@pytest.mark.parametrize(
    ("kind", "right"),
    [
        ("radio", 0.743),
        ("select", 0.743),
        ("likert", 0.815),
        ("slider", 0.849),
        ("number", 0.849),
    ],
)
def test_the_published_example_with_missing_answers_at_the_level_of_each_kind(
    kind: str, right: float
) -> None:
    found = figures(PUBLISHED, kind)
    assert found.level == LEVEL_OF[kind]
    # The twelfth unit has one value.
    assert (found.items, found.alpha.n, found.alpha.of) == (11, 11, 12)
    assert found.alpha.value is not None
    assert round(found.alpha.value, 3) == right
    assert found.alpha.value == pytest.approx(
        package_alpha(as_numbers(PUBLISHED), LEVEL_OF[kind]), abs=1e-9
    )


def test_answers_are_resampled_as_measure_was_asked() -> None:
    scheme = CategoricalScheme("question", "radio", ())
    corpus = answered(PUBLISHED, scheme)
    found = measure(corpus, bootstrap=30, seed=3).categorical["question"]
    assert found == categorical_figures(corpus, scheme, resamples=30, seed=3)
    for resamples, seed in ((31, 3), (30, 4)):
        assert found != categorical_figures(corpus, scheme, resamples=resamples, seed=seed)


def test_items_are_those_with_two_answers_or_more() -> None:
    # Of twelve items one has a single answer.
    found = figures(PUBLISHED)
    assert (found.items, found.answers, found.unknown) == (11, 41, 0)
    assert found.values == {"1": 9, "2": 13, "3": 11, "4": 5, "5": 3}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", LEVEL_OF)
def test_alpha_is_that_of_the_package_on_random_answers(kind: str, seed: int) -> None:
    order = random.Random(f"{kind}{seed}")
    answers = {
        f"d{place}": {
            who: str(order.choice([1, 2, 2, 3, 7, 10, -2]))
            for who in "ABCDE"[: order.randint(2, 5)]
            if order.random() < 0.7
        }
        for place in range(order.randint(1, 12))
    }
    right = package_alpha(as_numbers(answers), LEVEL_OF[kind])
    found = figures(answers, kind)
    assert found.alpha.value == (None if right is None else pytest.approx(right, abs=1e-9))
    assert found.items == sum(len(by) > 1 for by in answers.values())


def test_numbers_are_ordered_by_size_and_not_as_texts() -> None:
    answers = columns("1293", "1299", names="AB") | {"e": {"A": "10", "B": "9"}}
    right = package_alpha(as_numbers(answers), "ordinal")
    assert figures(answers, "likert").alpha.value == pytest.approx(right)


def test_options_with_names_are_ordered_as_they_are_declared() -> None:
    names = ["never", "at times", "often", "always"]
    places = columns("0123012", "0122113", names="AB")
    answers = {
        item: {who: names[int(place)] for who, place in by.items()} for item, by in places.items()
    }
    right = package_alpha(as_numbers(places), "ordinal")
    assert figures(answers, "likert", names).alpha.value == pytest.approx(right)


def test_numbers_that_are_written_in_two_ways_are_equal() -> None:
    answers = {"d1": {"A": "3", "B": "3.0"}, "d2": {"A": "4.50", "B": "4.5"}}
    found = figures(answers, "slider")
    assert found.alpha.value == 1.0
    assert found.observed_agreement.value == 1.0


# What is stored -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [
        pytest.param("3", 3.0, id="3"),
        pytest.param("10", 10.0, id="10"),
        pytest.param("-2", -2.0, id="-2"),
        pytest.param("2.75", 2.75, id="2.75"),
        pytest.param(" 4 ", 4.0, id="blanks around it"),
        pytest.param("scale_3", 3.0, id="scale_3"),
        pytest.param("scale_12", 12.0, id="scale_12"),
        pytest.param("quality:::scale_3", 3.0, id="quality:::scale_3"),
        pytest.param("scale-3", 3.0, id="a hyphen that joins"),
        pytest.param("scale_-3", -3.0, id="a sign behind a joint"),
        pytest.param("q1:::scale_3", 3.0, id="digits before the last"),
        pytest.param("X1-3", 3.0, id="digits behind a letter"),
    ],
)
@pytest.mark.parametrize("kind", ["likert", "slider", "number"])
def test_the_number_that_an_answer_stands_for(kind: str, text: str, number: float) -> None:
    assert_stands_for(kind, text, number)


def assert_stands_for(kind: str, text: str, number: float) -> None:
    """Beside other answers, the text gives the alpha that the number gives."""
    others = columns("1435", "1453", names="AB")
    answers: Answers = others | {"e1": {"A": text, "B": "5"}, "e2": {"A": text, "B": text}}
    right = package_alpha(
        as_numbers(others) | {"e1": {"A": number, "B": 5.0}, "e2": {"A": number, "B": number}},
        LEVEL_OF[kind],
    )
    found = figures(answers, kind)
    assert found.unknown == 0
    assert found.alpha.value == pytest.approx(right, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "number"), [(".5", 0.5), ("-.5", -0.5), ("1e3", 1000.0), ("1e-05", 1e-5)]
)
@pytest.mark.parametrize("kind", ["slider", "number"])
def test_other_ways_to_write_a_number(kind: str, text: str, number: float) -> None:
    # What an <input type="number"> may hold (a valid floating-point number of the HTML standard),
    # and how JSON writes small ones.
    assert_stands_for(kind, text, number)


@pytest.mark.parametrize(
    "text", ["bad_text", "3-5", "-3-5", "2024-01-05", "1.2.3", "1e999", "-1e999", "nan", "inf", ""]
)
@pytest.mark.parametrize("kind", ["likert", "slider", "number"])
def test_an_answer_without_a_number_is_unknown_where_one_is_asked_for(kind: str, text: str) -> None:
    found = figures({"d1": {"A": text, "B": "3"}, "d2": {"A": "3", "B": "4"}}, kind)
    assert (found.unknown, found.items) == (1, 1)


def test_an_answer_far_from_all_others_leaves_the_resamples_without_it_in_order() -> None:
    rows = {"d1": ("0.1", "0.1"), "d2": ("0.2", "0.3"), "d3": ("1e12", "1e12")}
    answers = {item: dict(zip("AB", row, strict=True)) for item, row in rows.items()}
    found = figures(answers, "number", resamples=200).alpha
    assert found.high == 1.0
    assert found.low is not None
    assert found.replicates is not None
    replicates = {round(float(value), 9) for value in found.replicates if not np.isnan(value)}
    # Without d3, d1 twice: Σ v = .9, Σ v² = .17, one pair of six values differs by .1; or d2 twice.
    for total, squares, differing in ((0.9, 0.17, 1), (1.2, 0.28, 2)):
        right = 1 - 5 * differing * 2 * 0.1**2 / (2 * (6 * squares - total**2))
        assert round(right, 9) in replicates
    assert max(replicates) == 1


@pytest.mark.parametrize("power", [-300, -170, -20, 0, 20, 150, 200, 307])
@pytest.mark.filterwarnings("error")
def test_the_scale_of_numbers_changes_no_interval_alpha(power: int) -> None:
    texts = columns("1254", "1345", names="AB")
    answers = {
        item: {who: f"{text}e{power}" for who, text in by.items()} for item, by in texts.items()
    }
    right = package_alpha(as_numbers(texts), "interval")
    assert right is not None
    assert figures(answers, "number").alpha.value == pytest.approx(right, abs=1e-9)


def test_several_stored_values_are_unknown_and_not_the_last() -> None:
    both: Stored = [("yes", "yes"), ("no", "no")]
    answers: Answers = {
        "d1": {"A": both, "B": "no", "C": "no"},
        "d2": {"A": "yes", "B": "yes", "C": "no"},
        "d3": {"A": "no", "B": both},
    }
    found = figures(answers, "radio", ["yes", "no"])
    assert found.unknown == 2
    assert found.items == 2
    assert found.answers == 6
    assert found.values == {"no": 4, "yes": 2}
    known = {
        "d1": {"B": 0.0, "C": 0.0},
        "d2": {"A": 1.0, "B": 1.0, "C": 0.0},
        "d3": {"A": 0.0},
    }
    assert found.alpha.value == pytest.approx(package_alpha(known, "nominal"))


def test_the_order_of_several_stored_values_does_not_matter() -> None:
    both: Stored = [("yes", "yes"), ("no", "no")]
    rest: dict[str, dict[str, str | Stored]] = {
        "d1": {"A": "yes", "B": "yes"},
        "d2": {"A": "no", "B": "yes"},
    }
    one = figures(rest | {"d3": {"A": both, "B": "no"}}, "radio", ["yes", "no"])
    other = figures(rest | {"d3": {"A": both[::-1], "B": "no"}}, "radio", ["yes", "no"])
    assert one == other


def test_the_same_answer_stored_twice_is_one_answer() -> None:
    twice: Stored = [("yes", "yes"), ("yes", "yes")]
    found = figures({"d1": {"A": twice, "B": "yes"}, "d2": {"A": "no", "B": "no"}})
    assert (found.unknown, found.answers, found.alpha.value) == (0, 4, 1.0)


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param([("yes", "yes")], id="the option's name"),
        pytest.param([("yes", "tone:::yes")], id="scheme and name"),
        pytest.param([("yes", "true")], id="true"),
        pytest.param([("yes", "1")], id="the key that chose it"),
    ],
)
def test_an_option_is_known_by_its_label_whatever_value_is_stored(stored: Stored) -> None:
    answers: Answers = {"d1": {"A": stored, "B": [("yes", "yes")]}, "d2": {"A": "no", "B": "no"}}
    found = figures(answers, "radio", ["yes", "no"])
    assert found.values == {"no": 2, "yes": 2}
    assert found.alpha.value == 1.0


def test_what_was_left_open_is_missing_and_no_answer() -> None:
    answers = {"d1": {"A": "yes", "B": "yes"}, "d2": {"A": "no"}, "d3": {"A": "no", "B": "no"}}
    found = figures(answers)
    assert (found.items, found.answers, found.alpha.value) == (2, 5, 1.0)


# Multiselect --------------------------------------------------------------------------------------


def chosen(*options: str) -> Stored:
    return [(option, option) for option in options]


SETS: Answers = {
    "d1": {"A": chosen("p", "q"), "B": chosen("q", "p")},
    "d2": {"A": chosen("p"), "B": chosen("p", "q")},
    "d3": {"A": chosen("q"), "B": chosen("q"), "C": chosen("r")},
    "d4": {"A": chosen("r")},
}


def test_sets_of_options_are_one_value_each_whatever_their_order() -> None:
    found = figures(SETS, "multiselect", ["p", "q", "r", "s"])
    # {p, q} = 0, {p} = 1, {q} = 2, {r} = 3.
    right = package_alpha(
        {
            "d1": {"A": 0, "B": 0},
            "d2": {"A": 1, "B": 0},
            "d3": {"A": 2, "B": 2, "C": 3},
            "d4": {"A": 3},
        },
        "nominal",
    )
    assert found.alpha.value == pytest.approx(right)
    assert (found.level, found.items, found.answers, found.unknown) == ("nominal", 3, 8, 0)
    assert found.values == {"p + q": 3, "q": 2, "r": 2, "p": 1}
    # Options that were not declared follow by name.
    assert list(figures(SETS, "multiselect", ["r"]).options) == ["r", "p", "q"]


def test_options_are_a_set_in_whatever_order_they_were_ticked() -> None:
    order = random.Random(0)
    answers: dict[str, dict[str, Stored]] = {}
    for item in range(30):
        ticked = order.sample("abcdefghijklmnopqrst", 12)
        answers[f"d{item}"] = {
            who: [(option, "true") for option in order.sample(ticked, 12)] for who in "AB"
        }
    found = figures(answers, "multiselect")
    assert found.alpha.value == 1.0
    assert list(found.options) == sorted(found.options)


def test_an_option_is_chosen_or_not_by_those_who_answered() -> None:
    found = figures(SETS, "multiselect", ["p", "q", "r", "s"])
    for option, right in {
        "p": {"d1": "11", "d2": "11", "d3": "000", "d4": "0"},
        "q": {"d1": "11", "d2": "01", "d3": "110", "d4": "0"},
        "r": {"d1": "00", "d2": "00", "d3": "001", "d4": "1"},
    }.items():
        by_item = {
            item: {who: float(value) for who, value in zip("ABC", values, strict=False)}
            for item, values in right.items()
        }
        expected = package_alpha(by_item, "nominal")
        assert found.options[option].value == pytest.approx(expected), option


def test_an_option_that_nobody_chose_has_its_row_and_no_value() -> None:
    unused = figures(SETS, "multiselect", ["p", "q", "r", "s"]).options["s"]
    assert (unused.value, unused.why) == (None, NO_VARIATION)


def test_who_chose_nothing_left_the_question_open() -> None:
    answers: Answers = {
        "d1": {"A": chosen("p"), "B": []},
        "d2": {"A": chosen("p"), "B": chosen("q")},
    }
    found = figures(answers, "multiselect", ["p", "q"])
    assert (found.items, found.answers) == (1, 3)


@pytest.mark.parametrize("seed", range(4))
def test_sets_and_options_are_those_of_the_package_on_random_answers(seed: int) -> None:
    order = random.Random(seed)
    options = "pqr"
    sets = {
        f"d{place}": {
            who: frozenset(order.sample(options, order.randint(1, 3)))
            for who in "ABC"
            if order.random() < 0.8
        }
        for place in range(8)
    }
    answers: Answers = {
        item: {who: chosen(*picked) for who, picked in by.items()} for item, by in sets.items()
    }
    found = figures(answers, "multiselect", [*options])
    names = sorted({picked for by in sets.values() for picked in by.values()}, key=sorted)
    right = package_alpha(
        {item: {who: names.index(own) for who, own in by.items()} for item, by in sets.items()},
        "nominal",
    )
    assert found.alpha.value == pytest.approx(right)
    for option in options:
        expected = package_alpha(
            {item: {who: option in own for who, own in by.items()} for item, by in sets.items()},
            "nominal",
        )
        assert found.options[option].value == pytest.approx(expected)


@pytest.mark.parametrize("kind", LEVEL_OF)
def test_other_kinds_have_no_options(kind: str) -> None:
    assert figures(columns("12", "12"), kind).options == {}


# Observed and chance agreement --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_observed_and_chance_agreement_are_those_of_the_coincidences(seed: int) -> None:
    order = random.Random(seed)
    answers = {
        f"d{place}": {who: order.choice("abc") for who in "ABCD" if order.random() < 0.7}
        for place in range(9)
    }
    found = figures(answers)
    agreeing, shares = 0.0, Counter[str]()
    for by_annotator in answers.values():
        values = list(by_annotator.values())
        if len(values) > 1:
            shares.update(values)
            agreeing += sum((values.count(value) - 1) / (len(values) - 1) for value in values)
    total = shares.total()
    assert found.observed_agreement.value == pytest.approx(agreeing / total)
    assert found.chance_agreement.value == pytest.approx(
        sum((number / total) ** 2 for number in shares.values())
    )


def test_agreement_by_hand() -> None:
    # Two of three items alike; shares 3/6 and 3/6: chance 1/2. Alpha = 1 − 5·2/18.
    found = figures(columns("aab", "abb", names="AB"))
    assert found.observed_agreement.value == pytest.approx(2 / 3)
    assert found.chance_agreement.value == pytest.approx(1 / 2)
    assert found.alpha.value == pytest.approx(1 - 5 * 2 / 18)


# Undefined, roles, intervals ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*LEVEL_OF, "multiselect"])
@pytest.mark.parametrize(
    ("answers", "why"),
    [
        pytest.param(columns("12", names="A"), ONE_ANNOTATOR, id="one annotator"),
        pytest.param(columns("1.", ".1", names="AB"), NO_SHARED_ITEMS, id="no shared item"),
        pytest.param(columns("11", "11", names="AB"), NO_VARIATION, id="one answer"),
        pytest.param(columns("112", "11.", names="AB"), NO_VARIATION, id="unpairable variation"),
    ],
)
def test_what_leaves_alpha_undefined(kind: str, answers: Answers, why: str) -> None:
    found = figures(answers, kind)
    assert (found.alpha.value, found.alpha.why) == (None, why)
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("kind", [*LEVEL_OF, "multiselect"])
def test_a_question_that_nobody_answered_has_its_row(kind: str) -> None:
    found = figures({}, kind, items=["d1"])
    assert (found.items, found.answers, found.unknown, found.values) == (0, 0, 0, {})
    assert found.alpha.value is None
    assert found.alpha.why


def test_only_humans_are_counted() -> None:
    answers = columns("aab", "abb", "bba", names="ABS")
    both = figures(answers, roles={"S": "system"})
    alone = figures(columns("aab", "abb", names="AB"))
    assert both == alone


def test_the_order_of_the_answers_changes_nothing() -> None:
    items = list(PUBLISHED.items())
    random.Random(0).shuffle(items)
    for kind in LEVEL_OF:
        mixed = {item: dict(reversed(by.items())) for item, by in items}
        assert figures(mixed, kind, resamples=20) == figures(PUBLISHED, kind, resamples=20)


@pytest.mark.parametrize("kind", ["radio", "likert", "slider"])
def test_the_interval_is_that_of_the_package_on_every_resample(kind: str) -> None:
    # d0 was answered by nobody; a resample may draw it, and it adds nothing.
    numbers = columns("1213.25", "1223155", ".213151", names="ABC")
    names = sorted(numbers)
    resamples, seed = 60, 3
    weights = item_weights(len(names), of=len(names) + 1, resamples=resamples, seed=seed)
    found = figures(numbers, kind, resamples=resamples, seed=seed, items=["d0"]).alpha
    replicates = []
    for column in weights.T[1:]:
        drawn = {
            f"{item}.{copy}": by
            for item, count in zip(names, column, strict=True)
            for copy in range(int(count))
            for by in [as_numbers(numbers)[item]]
        }
        replicates.append(package_alpha(drawn, LEVEL_OF[kind]) if drawn else None)
    defined = [value for value in replicates if value is not None]
    low, high = np.percentile(defined, [2.5, 97.5])
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert found.undefined == pytest.approx(1 - len(defined) / resamples)


def test_measure_reports_every_question_under_its_name() -> None:
    scheme = CategoricalScheme("tone", "likert")
    agreement = measure(answered(PUBLISHED, scheme), bootstrap=0)
    assert list(agreement.categorical) == ["tone"]
    found = agreement.categorical["tone"].to_dict()
    assert (found["kind"], found["level"]) == ("likert", "ordinal")
    assert found["alpha"]["value"] == pytest.approx(0.815, abs=5e-4)


@pytest.mark.parametrize("shift", [0, 2000, 1_700_000_000])
def test_interval_alpha_does_not_depend_on_where_zero_lies(shift: int) -> None:
    answers = columns("1435", "1453", names="AB")
    moved = {
        item: {who: str(int(text) + shift) for who, text in by.items()}
        for item, by in answers.items()
    }
    right = package_alpha(as_numbers(answers), "interval")
    assert figures(moved, "number").alpha.value == pytest.approx(right, abs=1e-9)


@pytest.mark.parametrize(
    "unit",
    [
        "1000000",
        "0.001",
        "0.000001",
    ],
)
def test_interval_alpha_does_not_depend_on_the_unit(unit: str) -> None:
    answers = columns("1435", "1453", names="AB")
    scaled = {
        item: {who: f"{int(text) * float(unit):f}" for who, text in by.items()}
        for item, by in answers.items()
    }
    right = package_alpha(as_numbers(answers), "interval")
    assert figures(scaled, "number").alpha.value == pytest.approx(right, abs=1e-9)


def test_a_question_is_written_with_all_its_figures() -> None:
    # Two of three items alike, as by hand above.
    written = figures(columns("aab", "abb", names="AB")).to_dict()
    assert {key: written[key] for key in ("kind", "level", "items", "answers", "unknown")} == {
        "kind": "radio",
        "level": "nominal",
        "items": 3,
        "answers": 6,
        "unknown": 0,
    }
    assert written["alpha"]["value"] == pytest.approx(1 - 5 * 2 / 18)
    assert written["observed_agreement"]["value"] == pytest.approx(2 / 3)
    assert written["chance_agreement"]["value"] == pytest.approx(1 / 2)
    assert (written["options"], written["values"]) == ({}, {"a": 3, "b": 3})
    assert len(written) == 10


@pytest.mark.parametrize(
    "answers", [columns("1435", "1453", names="AB"), columns("1212", "1222", names="AB")]
)
@pytest.mark.parametrize("kind", LEVEL_OF)
def test_an_alpha_that_is_not_the_packages_is_never_reported(
    monkeypatch: pytest.MonkeyPatch, kind: str, answers: Answers
) -> None:
    # The audit of design.md: equal within 1e-9, or an error.
    true = krippendorff.alpha
    for off, refused in ((0.5e-9, False), (-0.5e-9, False), (2e-9, True), (-2e-9, True)):
        monkeypatch.setattr(krippendorff, "alpha", lambda off=off, **options: true(**options) + off)
        if refused:
            with pytest.raises(AuditError, match="please report this"):
                figures(answers, kind)
        else:
            assert figures(answers, kind).alpha.value is not None


def test_a_kind_without_a_level_of_its_own_is_nominal() -> None:
    found = figures(columns("123", "124", names="AB"), "triage")
    assert found.level == "nominal"
    assert found.alpha == figures(columns("123", "124", names="AB"), "radio").alpha


@pytest.mark.parametrize("block", [1, 60, 130])
def test_resamples_are_the_same_in_blocks_of_any_size(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    right = figures(PUBLISHED, "likert", resamples=21).to_dict()
    monkeypatch.setattr(categorical, "BLOCK", block)
    assert figures(PUBLISHED, "likert", resamples=21).to_dict() == right


@pytest.mark.parametrize("same", ["0.1", "0.4", "1.3", "2.9", "7.4"])
def test_a_resample_of_equal_numbers_is_undefined_whatever_rounding_leaves(same: str) -> None:
    # Only d3 has numbers that differ: who does not draw it has no variation.
    answers = {
        **{item: dict.fromkeys("ABC", same) for item in ("d1", "d2")},
        "d3": {"A": "0.2", "B": "5.9"},
    }
    found = figures(answers, "number", resamples=200, seed=1).alpha
    weights = item_weights(3, of=3, resamples=200, seed=1)
    assert found.undefined == pytest.approx((weights[2, 1:] == 0).mean())
    assert found.undefined
