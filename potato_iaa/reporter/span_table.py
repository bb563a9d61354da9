"""The clean table of spans: one row per part of a span, with the text that it covers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd

from potato_iaa.atomic import write_atomically
from potato_iaa.corpus import Corpus
from potato_iaa.errors import UsageError
from potato_iaa.measures.estimate import records
from potato_iaa.reporter.csv_tables import csv_bytes

SUFFIXES = (".csv", ".jsonl")
COLUMNS = (
    "item",
    "field",
    "annotator",
    "scheme",
    "label",
    "start",
    "end",
    "text",
    "span",
    "part",
    "parts",
)


def span_table(corpus: Corpus) -> pd.DataFrame:
    """Spans in the order of item, field, annotator, scheme and place.

    ``start`` and ``end`` are code points into the text that the annotator saw, ``text`` is what
    they cover there. ``span`` numbers the spans; a discontinuous one has several rows, ``part`` 1
    to ``parts``.

    >>> corpus = Corpus.from_tables(
    ...     items=[("d1", "Ada met Grace.")],
    ...     passes=[],
    ...     spans=[("d1", "ann", 8, 13, "PER"), ("d1", "ann", 0, 3, "PER")],
    ... )
    >>> span_table(corpus)[["start", "end", "text", "span", "part", "parts"]].values.tolist()
    [[0, 3, 'Ada', 1, 1, 1], [8, 13, 'Grace', 2, 1, 1]]
    """
    names = ["item", "field", "annotator", "scheme", "label"]
    parts = corpus.spans.astype(dict.fromkeys(names, object))
    of_span = parts.groupby("part_of", sort=False)
    parts = parts.assign(
        first=of_span["start"].transform("min"), parts=of_span["end"].transform("size")
    )
    parts = parts.sort_values(
        ["item", "field", "annotator", "scheme", "first", "label", "part_of", "start"],
        ignore_index=True,
    )
    texts = {
        (item, field): text
        for item, field, text in corpus.items[["item", "field", "text"]].itertuples(index=False)
    }
    covered = [
        None if texts[item, field] is None else texts[item, field][start:end]
        for item, field, start, end in parts[["item", "field", "start", "end"]].itertuples(
            index=False
        )
    ]
    number = pd.Series(pd.factorize(parts["part_of"])[0] + 1, index=parts.index, dtype="int64")
    part = parts.groupby("part_of", sort=False).cumcount() + 1
    table = parts.assign(text=pd.Series(covered, dtype=object), span=number, part=part)
    return table[list(COLUMNS)]


def write_spans(corpus: Corpus, out: str | os.PathLike[str]) -> int:
    """Write the table of spans as .csv or .jsonl, whole or not at all; return its rows.

    In .csv a string that a spreadsheet would run as a formula gets a leading ``'``; .jsonl holds
    every string as it is. Raises UsageError: another ending, or a file that cannot be written.
    """
    path = check_spans_out(out)
    table = span_table(corpus)
    content = csv_bytes(table) if path.suffix == ".csv" else _lines(table)
    write_atomically(path, content)
    return len(table)


def check_spans_out(out: str | os.PathLike[str]) -> Path:
    """The file that ``out`` names, if it ends in .csv or .jsonl; else UsageError."""
    path = Path(out)
    if path.suffix not in SUFFIXES:
        raise UsageError(
            f"output {os.fspath(out)!r} ends in neither {' nor '.join(SUFFIXES)}: "
            "name a file that does."
        )
    if path.is_dir():
        raise UsageError(f"output {os.fspath(out)!r} is a folder: name a file.")
    if not path.parent.is_dir():
        raise UsageError(
            f"output {os.fspath(out)!r}: No such file or folder as {os.fspath(path.parent)!r}: "
            "make the folder, or name another."
        )
    return path


def _lines(table: pd.DataFrame) -> bytes:
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in records(table))
    return lines.encode("utf-8", "backslashreplace")
