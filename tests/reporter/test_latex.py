"""LaTeX tables: nothing in them is a command that came from data."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from potato_iaa import Corpus, measure
from potato_iaa.reporter.files import report_files
from potato_iaa.reporter.latex import latex_safe, latex_tables
from tests.golden.projects import PROJECTS, agreement_of
from tests.reporter.pages import hostile

HOSTILE = (r"\input{/etc/passwd}", "a & b % c", "$x^2$", "a_b#c~d", '{"<|>"}', "two\nlines", "^^5c")


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_is_a_command(name: str) -> None:
    safe = latex_safe(name)
    bare = re.sub(r"\\(?:text[a-z]+\{\}|[{}$&#%_])", "", safe)
    assert not re.search(r"[\\{}$&#%_^~\n]", bare)


@pytest.mark.parametrize("project", [*PROJECTS, "hostile"])
def test_rows_have_as_many_cells_as_there_are_columns(project: str) -> None:
    agreement = hostile() if project == "hostile" else agreement_of(project)
    tables = latex_tables(agreement)
    assert tables
    for name, table in tables.items():
        columns = re.search(r"@\{\}([lr]+)@\{\}", table)
        assert columns
        for row in re.findall(r"^(.*) \\\\$", table, re.MULTILINE):
            assert len(re.findall(r"(?<!\\)&", row)) == len(columns[1]) - 1, name
        assert not re.search(r"\\\\\n\[", table)


def test_files_have_plain_names_of_their_own() -> None:
    spans = [("d1", who, 0, 3, "x", scheme) for who in "AB" for scheme in ("../a b", "a-b", "東京")]
    columns = ["item", "annotator", "start", "end", "label", "scheme"]
    corpus = Corpus.from_tables(
        items=[("d1", "Ada")], passes=[], spans=pd.DataFrame(spans, columns=columns)
    )
    names = [name for name in report_files(measure(corpus, bootstrap=0)) if name.endswith(".tex")]
    assert all(re.fullmatch(r"tables/[\w-]+\.tex", name, re.ASCII) for name in names)
    assert {name.split("_")[0] for name in names} == {
        "tables/a-b",
        "tables/a-b-2",
        "tables/scheme",
    }
