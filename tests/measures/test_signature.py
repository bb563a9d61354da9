"""The signature: the choices in a fixed order, and a hash of what was measured, and only that."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings

from potato_iaa import Corpus, measure
from potato_iaa.corpus import ANSWER_COLUMNS, CategoricalScheme
from potato_iaa.version import __version__
from tests.measures.test_laws import Small, examples, small_corpora

FORM = (
    r"F1\|match:exact\|types:yes\|avg:pairs\|empty:(skip|agree)\|passes:seen\|bootstrap:(\d+)\|"
    r"seed:(\d+)\|spec:1\|data:([0-9a-f]{12})\|v:" + re.escape(__version__)
)
Tables = dict[str, list[tuple[Any, ...]]]


def tables() -> Tables:
    return {
        "items": [("d1", "Ada met Grace in Paris."), ("d2", "Nobody was there."), ("d3", "Read.")],
        "passes": [("d1", "ann"), ("d1", "ben"), ("d2", "ann"), ("d2", "ben"), ("d3", "ann")],
        "spans": [
            ("d1", "ann", 0, 3, "PER"),
            ("d1", "ann", 8, 13, "PER"),
            ("d1", "ben", 0, 3, "PER"),
            ("d1", "ben", 17, 22, "LOC"),
        ],
    }


def signature_of(corpus: Corpus, **options: Any) -> str:
    policy = replace(corpus.source, passes="seen")
    chosen = {"bootstrap": 0, "audit": False, **options}
    return measure(replace(corpus, source=policy), **chosen).signature


def data_of(corpus: Corpus, **options: Any) -> str:
    found = re.fullmatch(FORM, signature_of(corpus, **options))
    assert found, signature_of(corpus, **options)
    return found[4]


def built(changed: Tables | None = None, **options: Any) -> Corpus:
    made = tables() if changed is None else changed
    return Corpus.from_tables(
        items=made["items"], passes=made["passes"], spans=made["spans"], **options
    )


# Form ---------------------------------------------------------------------------------------------


def test_the_parts_stand_in_their_order() -> None:
    signature = signature_of(built(), bootstrap=1000, seed=0)
    found = re.fullmatch(FORM, signature)
    assert found, signature
    assert (found[1], found[2], found[3]) == ("skip", "1000", "0")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"bootstrap": 7}, "|bootstrap:7|"),
        ({"bootstrap": 0}, "|bootstrap:0|"),
        ({"seed": 12}, "|seed:12|"),
        ({"both_empty": "agree"}, "|empty:agree|"),
    ],
)
def test_a_choice_is_named_and_changes_nothing_else(options: dict[str, Any], part: str) -> None:
    chosen = signature_of(built(), **options)
    assert part in chosen
    usual = signature_of(built()).split("|")
    assert sum(one != other for one, other in zip(chosen.split("|"), usual, strict=True)) <= 1


def test_the_policy_of_the_passes_is_named() -> None:
    corpus = built()
    assert "|passes:as_given|" in measure(corpus, bootstrap=0).signature
    marked = replace(corpus, source=replace(corpus.source, passes="marked"))
    assert "|passes:marked|" in measure(marked, bootstrap=0).signature


def test_a_least_number_of_shared_items_is_named_where_it_sets_pairs_aside() -> None:
    assert "|avg:pairs|min:2|empty:skip|" in signature_of(built(), min_shared_items=2)
    assert "min" not in signature_of(built(), min_shared_items=1)


def test_it_is_one_line() -> None:
    assert len(signature_of(built()).splitlines()) == 1


# What does not change the data --------------------------------------------------------------------


def in_one_order(corpus: Corpus) -> Corpus:
    """Without the order in which the annotators worked, which tables may leave to their rows."""
    return replace(corpus, passes=corpus.passes.assign(order=0))


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_input_does_not_matter(seed: int) -> None:
    mixed = tables()
    for rows in mixed.values():
        random.Random(seed).shuffle(rows)
    assert data_of(in_one_order(built(mixed))) == data_of(in_one_order(built()))


@settings(examples, max_examples=10)
@given(small_corpora())
def test_the_order_of_any_corpus_does_not_matter(small: Small) -> None:
    mixed = small.shuffled(random.Random(0))
    assert data_of(in_one_order(mixed.corpus())) == data_of(in_one_order(small.corpus()))


@pytest.mark.parametrize(
    "options",
    [
        {"bootstrap": 5},
        {"seed": 9},
        {"both_empty": "agree"},
        {"rules": ["overlap(iou>=0.5)"]},
        {"token_unit": "character"},
    ],
)
def test_choices_do_not_change_the_data(options: dict[str, Any]) -> None:
    assert data_of(built(), **options) == data_of(built())


def test_collapsed_copies_do_not_change_the_data() -> None:
    doubled = tables()
    doubled["spans"] += doubled["spans"][:2]
    assert data_of(built(doubled)) == data_of(built())


def test_a_pass_that_its_spans_imply_is_no_other_data() -> None:
    implied = tables()
    implied["passes"] = [row for row in implied["passes"] if row[0] != "d1"]
    assert data_of(built(implied)) == data_of(built())


def test_the_name_of_the_corpus_is_no_data() -> None:
    assert data_of(built(name="another")) == data_of(built())


PROGRAM = """
from tests.measures.test_signature import built, data_of
print(data_of(built()))
"""


def test_another_process_with_another_hash_seed_finds_the_same_data() -> None:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONHASHSEED": "12345"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == data_of(built())


# What changes it ----------------------------------------------------------------------------------


def swap(table: str, row: int, value: tuple[Any, ...]) -> Callable[[Tables], None]:
    def change(made: Tables) -> None:
        made[table][row] = value

    return change


def add(table: str, value: tuple[Any, ...]) -> Callable[[Tables], None]:
    return lambda made: made[table].append(value)


def drop(table: str, row: int) -> Callable[[Tables], None]:
    return lambda made: made[table].__delitem__(row)


CHANGES: dict[str, Callable[[Tables], None]] = {
    "a label": swap("spans", 0, ("d1", "ann", 0, 3, "LOC")),
    "a start": swap("spans", 0, ("d1", "ann", 1, 3, "PER")),
    "an end": swap("spans", 0, ("d1", "ann", 0, 4, "PER")),
    "the last start": swap("spans", 3, ("d1", "ben", 16, 22, "LOC")),
    "the last end": swap("spans", 3, ("d1", "ben", 17, 21, "LOC")),
    "who marked it": swap("spans", 1, ("d1", "ben", 8, 13, "PER")),
    "a span more": add("spans", ("d2", "ann", 0, 6, "PER")),
    "a span less": drop("spans", 3),
    "an empty pass more": add("passes", ("d3", "ben")),
    "an empty pass less": drop("passes", 3),
    "a letter of a text": swap("items", 0, ("d1", "Ada met Grace in paris.")),
    "a letter more": swap("items", 0, ("d1", "Ada met Grace in Paris!!")),
    "the text of an item without spans": swap("items", 1, ("d2", "Somebody was there.")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_what_is_measured_changes_the_data(change: Callable[[Tables], None]) -> None:
    changed = tables()
    change(changed)
    assert data_of(built(changed)) != data_of(built())


@pytest.mark.parametrize("column", [0, 1])
def test_another_name_is_other_data(column: int) -> None:
    old, new = (("d1", "d9"), ("ann", "zoe"))[column]
    renamed = {
        table: [tuple(new if value == old else value for value in row) for row in rows]
        for table, rows in tables().items()
    }
    assert data_of(built(renamed)) != data_of(built())


def test_the_parts_of_a_span_are_data() -> None:
    def in_parts(*owners: int, end: int = 3) -> Corpus:
        spans = [("d1", "ann", 0, end, "PER"), ("d1", "ann", 8, 13, "PER")]
        rows = [(*span, owner) for span, owner in zip(spans, owners, strict=True)]
        return Corpus.from_tables(
            items=tables()["items"],
            passes=tables()["passes"],
            spans=pd.DataFrame(
                rows, columns=["item", "annotator", "start", "end", "label", "part_of"]
            ),
        )

    assert data_of(in_parts(0, 0)) != data_of(in_parts(0, 1))
    assert data_of(in_parts(0, 0)) != data_of(in_parts(0, 0, end=4))


def test_names_do_not_run_into_each_other() -> None:
    # The same letters in a row, cut in another place.
    def named(label: str, other: str, who: str, second: str) -> str:
        return data_of(
            Corpus.from_tables(
                items=[("d1", "abcdef")],
                passes=[("d1", who), ("d1", second)],
                spans=[("d1", who, 0, 2, label), ("d1", second, 0, 2, other)],
            )
        )

    found = {named("a", "bc", "p", "qr"), named("ab", "c", "p", "qr"), named("a", "bc", "pq", "r")}
    assert len(found) == 3


def scheme_corpus(names: Sequence[str]) -> Corpus:
    spans = pd.DataFrame(
        [("d1", "ann", 0, 3, "PER", names[0]), ("d1", "ben", 0, 3, "PER", names[1])],
        columns=["item", "annotator", "start", "end", "label", "scheme"],
    )
    return Corpus.from_tables(items=tables()["items"], passes=tables()["passes"], spans=spans)


def test_the_scheme_of_a_span_is_data() -> None:
    # All in `p`, all in `q`, or one in each.
    found = {data_of(scheme_corpus(names)) for names in ("pp", "qq", "pq", "qp")}
    assert len(found) == 4


def test_a_measurement_of_one_scheme_of_two_has_a_hash_of_its_own() -> None:
    corpus = scheme_corpus("pq")
    hashes = {data_of(corpus, schemes=[name]) for name in "pq"} | {data_of(corpus)}
    assert len(hashes) == 3


def test_the_role_of_an_annotator_is_data() -> None:
    assert data_of(built(roles={"ben": "gold"})) != data_of(built())


def test_a_declared_label_that_nobody_used_is_data() -> None:
    # It has its row in the report.
    assert data_of(built(labels=["PER", "LOC", "ORG"])) != data_of(built())


# The line is to reproduce the figures (design.md): where they differ, so must it. -----------------


def test_the_order_of_the_passes_is_no_part_of_what_reproduces_the_headline() -> None:
    def ordered(names: Sequence[str]) -> Corpus:
        return Corpus.from_tables(
            items=[(name, "Ada") for name in names],
            passes=pd.DataFrame(
                [(name, who, place) for who in "AB" for place, name in enumerate(names)],
                columns=["item", "annotator", "order"],
            ),
            spans=[(name, "A", 0, 3, "X") for name in sorted(names)[:4]]
            + [(name, "B", 0, 3, "X") for name in names],
        )

    names = [f"d{place}" for place in range(8)]
    one, other = ordered(names), ordered(names[::-1])
    drifts = [measure(corpus, bootstrap=0).to_dict()["spans"]["drift"] for corpus in (one, other)]
    assert drifts[0] != drifts[1]
    assert signature_of(one) == signature_of(other)


def test_an_item_on_offer_that_nobody_read_is_data() -> None:
    # A resample may draw it, and the report counts it.
    changed = tables()
    changed["items"].append(("d4", "Unread."))
    one, other = built(), built(changed)
    lost = [measure(corpus, bootstrap=50).to_dict()["spans"]["lost"] for corpus in (one, other)]
    assert lost[0] != lost[1]
    assert signature_of(one) != signature_of(other)


def test_the_answers_to_questions_about_whole_items_are_data() -> None:
    scheme = CategoricalScheme("tone", "radio", ("good", "bad"))

    def answered(last: str) -> Corpus:
        rows = [
            ("d1", "ann", "good"),
            ("d1", "ben", "good"),
            ("d2", "ann", "bad"),
            ("d2", "ben", last),
        ]
        frame = pd.DataFrame(
            [(item, who, "tone", label, label) for item, who, label in rows],
            columns=list(ANSWER_COLUMNS),
        ).astype("category")
        return replace(built(), answers=frame, categorical=(scheme,))

    one, other = answered("good"), answered("bad")
    alphas = [measure(corpus, bootstrap=0).categorical["tone"].alpha for corpus in (one, other)]
    assert alphas[0] != alphas[1]
    assert signature_of(one) != signature_of(other)


def test_a_choice_of_measures_or_rules_leaves_the_headline_reproducible() -> None:
    one = measure(built(), bootstrap=30)
    other = measure(built(), bootstrap=30, rules=["soft"], measures=["cohen"])
    assert one.signature == other.signature
    headlines = [
        agreement.to_dict()["spans"]["f1"]["exact_typed"]["mean_over_pairs"]
        for agreement in (one, other)
    ]
    assert headlines[0] == headlines[1]
