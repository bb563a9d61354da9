"""The conformance cases and the worked values, as data."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from potato_iaa import Corpus
from tests.corpora import Figures, corpus_of, figures_of

HERE = Path(__file__).parent / "cases"
CASE_IDS = [path.stem for path in sorted(HERE.glob("case_*.json"))]

# The cases' names of the match rules, and the package's.
RULES = {
    "exact": "exact",
    "overlap": "overlap",
    "iou25": "overlap(iou>=0.25)",
    "iou50": "overlap(iou>=0.5)",
    "iou75": "overlap(iou>=0.75)",
    "dice50": "overlap(dice>=0.5)",
    "min50": "overlap(containment>=0.5)",
    "min100": "overlap(containment>=1)",
}
FURTHER_RULES = ("soft", "soft(dice)", "character", "token")
MEASURES = ("cohen", "scott", "fleiss", "alpha_u")
TOKEN_UNITS = {"whitespace": "whitespace", "regex": "regex", "char": "character"}
CODINGS = {
    "io_set": "label",
    "io_longest": "io_longest",
    "bio_longest": "bio",
    "binary": "binary",
}


@cache
def case(case_id: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((HERE / f"{case_id}.json").read_text(encoding="utf-8"))
    return data


@cache
def worked(name: str) -> Any:
    return json.loads((HERE / "worked" / f"{name}.json").read_text(encoding="utf-8"))


def as_corpus(data: dict[str, Any]) -> Corpus:
    """The corpus of a case: ``annotators``, and ``items`` with text and annotations."""
    return corpus_of(
        {item["id"]: item["annotations"] for item in data["items"]},
        texts={item["id"]: item["text"] for item in data["items"]},
        annotators=data["annotators"],
    )


def units_corpus(units: list[dict[str, Any]]) -> Corpus:
    """Nominal data as spans: every unit is an item of one token, its value the label on it."""
    return corpus_of(
        {
            f"u{position}": {who: [(0, 1, str(value))] for who, value in unit.items()}
            for position, unit in enumerate(units)
        }
    )


@cache
def case_corpus(case_id: str) -> Corpus:
    return as_corpus(case(case_id))


@cache
def case_figures(case_id: str, unit: str = "whitespace", both_empty: str = "skip") -> Figures:
    """All figures of a case by its name of the token unit, every rule and measure in one run.

    The other units and the other choice of empty items run with what depends on them.
    """
    by_unit = {"whitespace": (*RULES.values(), *FURTHER_RULES), "regex": FURTHER_RULES[-1:]}
    rules = by_unit.get(unit, ()) if both_empty == "skip" else tuple(RULES.values())
    return figures_of(
        case_corpus(case_id),
        rules=rules,
        token_unit=TOKEN_UNITS[unit],
        both_empty=both_empty,
        measures=MEASURES if both_empty == "skip" else (),
    )


def shared_items(case_id: str) -> int:
    """Items of a case that at least two annotators did."""
    return sum(
        sum(spans is not None for spans in item["annotations"].values()) >= 2
        for item in case(case_id)["items"]
    )


def annotators_with_a_pass(case_id: str) -> set[str]:
    return {
        who
        for item in case(case_id)["items"]
        for who, spans in item["annotations"].items()
        if spans is not None
    }


def undefined_reasons(
    case_id: str, nothing_shared: str, one_annotator: str, else_: str
) -> set[str]:
    """Why a pooled figure of this case can be undefined, given that it is."""
    if shared_items(case_id):
        return {else_}
    if len(annotators_with_a_pass(case_id)) < 2:
        return {nothing_shared, one_annotator}
    return {nothing_shared}
