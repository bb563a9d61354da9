"""The frames of a corpus and its ledger, from what is kept of every annotator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from potato_iaa.arrays import Ints
from potato_iaa.corpus import ANSWER_COLUMNS
from potato_iaa.ledger import ENTRY_COLUMNS, LEFT_OUT_COLUMNS, PASS_COLUMNS, READ_COLUMNS
from potato_iaa.loaders.annotators import Annotator, LeftOut
from potato_iaa.loaders.page import Page


def item_frame(page: Page) -> pd.DataFrame:
    """``item``, ``field``, ``text``: every unit that exists."""
    unit = np.flatnonzero(page.lengths >= 0)
    text = pd.Series([page.texts[position] for position in unit.tolist()], dtype=object)
    return _on_units(unit, page).assign(text=text)


def pass_frame(annotators: Sequence[Annotator], policy: str, page: Page) -> pd.DataFrame:
    """``item``, ``field``, ``annotator``, ``order`` of the passes under one policy."""
    passes = [someone.passes[policy] for someone in annotators]
    return _on_units(_joined([found.unit for found in passes]), page).assign(
        annotator=_repeated(annotators, [len(found) for found in passes]),
        order=_joined([found.order for found in passes]),
    )


def span_frame(annotators: Sequence[Annotator], page: Page) -> pd.DataFrame:
    """The spans that stand, one row per part, with the corpus's columns."""
    checked = [someone.checked for someone in annotators]
    counts = [int(spans.span.max(initial=-1)) + 1 for spans in checked]
    before = np.cumsum([0, *counts])[:-1].tolist()
    schemes = sorted({name for spans in checked for name in spans.schemes})
    labels = sorted({name for spans in checked for name in spans.labels})
    scheme = [_among(schemes, spans.schemes)[spans.scheme] for spans in checked]
    label = [_among(labels, spans.labels)[spans.label] for spans in checked]
    return _on_units(_joined([spans.unit for spans in checked]), page).assign(
        annotator=_repeated(annotators, [len(spans.unit) for spans in checked]),
        scheme=_categories(_joined(scheme), schemes),
        label=_categories(_joined(label), labels),
        start=_joined([spans.start for spans in checked]),
        end=_joined([spans.end for spans in checked]),
        part_of=_joined([spans.span + n for spans, n in zip(checked, before, strict=True)]),
    )


def answer_frame(annotators: Sequence[Annotator]) -> pd.DataFrame:
    """The answers to questions about whole items, with the corpus's columns."""
    rows = [
        (answer.item, someone.name, answer.scheme, answer.label, answer.value)
        for someone in annotators
        for answer in someone.answers
    ]
    return pd.DataFrame(rows, columns=list(ANSWER_COLUMNS), dtype=object)


def read_frame(annotators: Sequence[Annotator]) -> pd.DataFrame:
    """The ledger's ``read``: spans read by annotator and scheme."""
    rows = [
        (someone.name, scheme, count)
        for someone in annotators
        for scheme, count in someone.checked.read.items()
    ]
    return pd.DataFrame(rows, columns=list(READ_COLUMNS))


def entry_frame(annotators: Sequence[Annotator]) -> pd.DataFrame:
    """The ledger's ``entries``: spans repaired or set aside, by annotator, in stored order."""
    frames = [
        someone.checked.entries.assign(annotator=someone.name)
        for someone in annotators
        if len(someone.checked.entries)
    ]
    if not frames:
        return pd.DataFrame(columns=list(ENTRY_COLUMNS))
    return pd.concat(frames, ignore_index=True)[list(ENTRY_COLUMNS)]


def left_out_frame(left_out: Sequence[LeftOut]) -> pd.DataFrame:
    """The ledger's ``left_out``."""
    rows = [(entry.what, entry.name, entry.reason, entry.spans) for entry in left_out]
    return pd.DataFrame(rows, columns=list(LEFT_OUT_COLUMNS))


def policy_frame(annotators: Sequence[Annotator]) -> pd.DataFrame:
    """The ledger's ``passes``: passes and empty passes of every annotator under every policy."""
    rows = [
        (someone.name, policy, len(passes), int((~passes.marked).sum()))
        for someone in annotators
        for policy, passes in someone.passes.items()
    ]
    return pd.DataFrame(rows, columns=list(PASS_COLUMNS))


def _on_units(unit: Ints, page: Page) -> pd.DataFrame:
    fields = len(page.fields)
    return pd.DataFrame(
        {
            "item": _categories(unit // fields, list(page.item_code)),
            "field": _categories(unit % fields, page.fields),
        }
    )


def _repeated(annotators: Sequence[Annotator], counts: Sequence[int]) -> pd.Categorical:
    code = np.repeat(np.arange(len(annotators), dtype=np.int64), counts)
    return _categories(code, [someone.name for someone in annotators])


def _categories(codes: Ints, names: Sequence[str]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, pd.Index(list(names), dtype=object))


def _joined(columns: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *columns])


def _among(all_names: Sequence[str], some: Sequence[str]) -> Ints:
    code = {name: position for position, name in enumerate(all_names)}
    return np.array([code[name] for name in some], dtype=np.int64)
