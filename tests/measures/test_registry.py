"""One registry: what can be asked for is in it, and the docs show what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from potato_iaa import Corpus, measure
from potato_iaa.errors import UsageError
from potato_iaa.matcher import PLAIN, SIMILARITIES, parse_rule
from potato_iaa.measures.registry import KINDS, ON_REQUEST, REGISTRY, markdown_table

DOCS = Path(__file__).parents[2] / "docs" / "measures.md"
CORPUS = Corpus.from_tables(
    items=[("d1", "Ada met Grace.")],
    passes=[("d1", "ann"), ("d1", "ben")],
    spans=[("d1", "ann", 0, 3, "PER"), ("d1", "ben", 0, 3, "PER")],
)


def test_the_docs_show_the_registry() -> None:
    assert markdown_table() in DOCS.read_text(encoding="utf-8")


def test_every_rule_that_parses_is_defined() -> None:
    names = {entry.name for entry in REGISTRY if entry.kind == "rule"}
    assert names == {*PLAIN, *(f"overlap({name}>=T)" for name in SIMILARITIES)}
    for name in names:
        assert str(parse_rule(name.replace("T", "0.5"))) == name.replace("T", "0.5")


@pytest.mark.parametrize("name", [name for name in ON_REQUEST if name != "gamma"])
def test_every_measure_on_request_is_made(name: str) -> None:
    scheme = measure(CORPUS, measures=[name], bootstrap=0).to_dict()["spans"]
    assert name in scheme["token"] or name in scheme["unitizing"]


def test_a_measure_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError, match="cohen, scott, fleiss, alpha_u, gamma"):
        measure(CORPUS, measures=["kappa"])


def test_the_kinds_stand_in_the_order_of_the_registry() -> None:
    assert tuple(dict.fromkeys(entry.kind for entry in REGISTRY)) == KINDS


def test_names_are_unique_and_every_definition_has_a_source() -> None:
    assert len({(entry.kind, entry.name) for entry in REGISTRY}) == len(REGISTRY)
    assert all(entry.definition.endswith(".") and entry.source for entry in REGISTRY)
