"""What ``inspect`` shows: what lies on disk, and what became of every span that was read."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from rich.console import RenderableType

from potato_iaa.corpus import Corpus, Scheme
from potato_iaa.ledger import Ledger
from potato_iaa.measures.estimate import records
from potato_iaa.reporter.display import Column, Table, ends, some
from potato_iaa.reporter.document import examples
from potato_iaa.reporter.ledger_tables import (
    POLICIES,
    ledger_line,
    left_out_lines,
    passes_line,
)
from potato_iaa.reporter.rounding import UNDEFINED, counted
from potato_iaa.reporter.terminal import Page, sentences, table_block, typeset

ROWS = 60


def inspection(corpus: Corpus, page: Page | None = None, *, text: bool = False) -> str:
    """What a project holds, as the text that a terminal shows; covered text only with ``text``."""
    shown = page or Page()
    return typeset(_blocks(corpus, shown, text=text), shown)


def _blocks(corpus: Corpus, page: Page, *, text: bool) -> Iterator[RenderableType]:
    yield page.text(f"Project: {corpus.source.name}", "bold")
    yield from sentences("What lies on disk", _source_lines(corpus), page)
    yield from table_block(_scheme_table(corpus), page)
    if corpus.categorical:
        yield from sentences("Schemes that are not spans", _categorical_lines(corpus), page)
    yield from table_block(_annotator_table(corpus), page)
    lines = [ledger_line(corpus.ledger), *_reason_lines(corpus.ledger, text=text)]
    lines += [*left_out_lines(corpus.ledger), *corpus.ledger.notes]
    yield from sentences("Ledger", lines, page)


def _source_lines(corpus: Corpus) -> list[str]:
    source = corpus.source
    version = f", Potato {source.potato_version}" if source.potato_version else ""
    files = [
        f"{file.role}: {file.path} ({file.records:,})"
        if file.records
        else f"{file.role}: {file.path}"
        for file in source.files
    ]
    fields = sorted(filter(None, map(str, corpus.items["field"].unique())))
    held = [counted(corpus.items["item"].nunique(), "item")]
    if fields:
        held.append(f"fields {some(fields, 10)}")
    held.append(counted(len(corpus.annotators), "annotator"))
    held.append(counted(corpus.spans["part_of"].nunique(), "span"))
    return [
        f"{source.kind}{version}",
        *files,
        f"offsets: {source.offset_unit} into the {source.offset_basis}",
        passes_line(source.passes),
        ", ".join(held),
    ]


def _scheme_table(corpus: Corpus) -> Table:
    rows = []
    for scheme in corpus.schemes:
        spans = corpus.spans[corpus.spans["scheme"] == scheme.name]
        rows.append(
            (
                scheme.name,
                f"{spans['part_of'].nunique():,}",
                some(_labels(scheme, spans), 8) or "none",
                some(list(scheme.fields), 4) if scheme.fields else "all",
            )
        )
    return Table(
        "schemes",
        "Span schemes",
        (
            Column("scheme", number=False),
            Column("spans"),
            Column("labels", number=False, rank=2),
            Column("fields", number=False, rank=3),
        ),
        tuple(rows),
    )


def _labels(scheme: Scheme, spans: pd.DataFrame) -> list[str]:
    used = sorted(set(map(str, spans["label"].unique())) - set(scheme.labels))
    return [*scheme.labels, *(f"{label} (not declared)" for label in used)]


def _categorical_lines(corpus: Corpus) -> list[str]:
    answers = corpus.answers["scheme"].astype(str).value_counts()
    return [
        f"{scheme.name} ({scheme.kind}): {counted(int(answers.get(scheme.name, 0)), 'answer')}"
        for scheme in corpus.categorical
    ]


def _annotator_table(corpus: Corpus) -> Table:
    told = {
        (row["annotator"], row["policy"]): f"{row['passes']:,} ({row['empty_passes']:,})"
        for row in records(corpus.ledger.passes)
    }
    policies = [policy for policy in POLICIES if any(key[1] == policy for key in told)]
    passes = corpus.passes["annotator"].astype(str).value_counts()
    spans = corpus.spans.drop_duplicates("part_of")["annotator"].astype(str).value_counts()
    everybody = records(corpus.annotators)
    chosen, left_out = ends(everybody, ROWS)
    rows = tuple(
        (
            row["annotator"],
            row["role"],
            f"{int(passes.get(row['annotator'], 0)):,}",
            f"{int(spans.get(row['annotator'], 0)):,}",
            *(told.get((row["annotator"], policy), UNDEFINED) for policy in policies),
        )
        for row in chosen
    )
    return Table(
        "passes",
        "Annotators (passes by policy, empty ones in brackets)" if policies else "Annotators",
        (
            Column("annotator", number=False),
            Column("role", number=False, rank=2),
            Column("passes"),
            Column("spans"),
            *(Column(policy) for policy in policies),
        ),
        tuple(rows),
        left_out,
        both_ends=True,
    )


def _reason_lines(ledger: Ledger, *, text: bool) -> Iterator[str]:
    for row in records(ledger.by_reason()):
        shown = examples(ledger, row["outcome"], row["reason"], text=text)
        told = "; ".join(_example(example) for example in records(shown))
        outcome = row["outcome"].replace("_", " ")
        yield f"{row['spans']:,} {outcome}: {row['reason']}, such as {told}"


def _example(row: dict[str, object]) -> str:
    field = f" ({row['field']})" if row["field"] else ""
    text = f" “{row['text']}”" if row.get("text") else ""
    return (
        f"{row['annotator']} on {row['item']}{field}, {row['label']} "
        f"[{row['start']}, {row['end']}){text}"
    )
