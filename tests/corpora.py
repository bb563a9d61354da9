"""Small corpora for the tests, and short ways into what ``measure`` says about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from potato_iaa import Corpus, measure

Span = tuple[int, int, str]
Marks = Mapping[str, Mapping[str, Iterable[Sequence[Any]] | None]]
Figures = dict[str, Any]

NO_SHARED_ITEMS = "no shared items"
NOTHING_MARKED = "nothing marked by either"
ONE_ANNOTATOR = "only one annotator"
NO_VARIATION = "no variation"

TOLERANCE = 1e-9


def corpus_of(
    marks: Marks,
    *,
    texts: Mapping[str, str] | None = None,
    labels: Iterable[str] = (),
    annotators: Iterable[str] = (),
) -> Corpus:
    """A corpus from ``{item: {annotator: [(start, end, label), …]}}``.

    ``[]`` is a pass that found nothing, ``None`` or an absent annotator is no pass. An item
    without a text of its own gets just enough ``x``. ``annotators`` names those who may have no
    pass at all.
    """
    listed = {
        item: {
            who: None if spans is None else [tuple(span) for span in spans]
            for who, spans in by_annotator.items()
        }
        for item, by_annotator in marks.items()
    }
    items, passes, spans = [], [], []
    for item, by_annotator in listed.items():
        ends = [span[1] for found in by_annotator.values() for span in found or ()]
        items.append((item, (texts or {}).get(item, "x" * max(ends, default=1))))
        for who, found in by_annotator.items():
            if found is not None:
                passes.append((item, who))
                spans += [(item, who, *span) for span in found]
    return Corpus.from_tables(
        items=items,
        passes=passes,
        spans=spans,
        labels=labels,
        roles=dict.fromkeys(annotators, "human"),
    )


def parts_corpus(
    marks: Mapping[str, Mapping[str, Iterable[tuple[str, Sequence[tuple[int, int]]]]]],
    texts: Mapping[str, str],
) -> Corpus:
    """A corpus from ``{item: {annotator: [(label, [(start, end), …]), …]}}``: spans in parts."""
    passes = [(item, who) for item, by_annotator in marks.items() for who in by_annotator]
    spans: list[dict[str, Any]] = []
    owner = 0
    for item, by_annotator in marks.items():
        for who, found in by_annotator.items():
            for label, parts in found:
                spans += [
                    {
                        "item": item,
                        "annotator": who,
                        "start": start,
                        "end": end,
                        "label": label,
                        "part_of": owner,
                    }
                    for start, end in parts
                ]
                owner += 1
    columns = ["item", "annotator", "start", "end", "label", "part_of"]
    return Corpus.from_tables(
        items=list(texts.items()), passes=passes, spans=pd.DataFrame(spans, columns=columns)
    )


def figures_of(corpus: Corpus, **options: Any) -> Figures:
    """What ``measure`` reports on the one scheme of a hand-made corpus; no bootstrap unasked."""
    scheme: Figures = measure(corpus, **{"bootstrap": 0, **options}).to_dict()["spans"]
    return scheme


def figures(marks: Marks, **options: Any) -> Figures:
    """``figures_of`` on ``corpus_of``, in one step."""
    making = {key: options.pop(key) for key in ("texts", "labels", "annotators") if key in options}
    return figures_of(corpus_of(marks, **making), **options)


def headline(scheme: Figures, key: str = "exact_typed") -> Figures:
    """The mean over pairs of one F1."""
    estimate: Figures = scheme["f1"][key]["mean_over_pairs"]
    return estimate


def pair_of(scheme: Figures, a: str, b: str, key: str = "exact_typed") -> Figures:
    """The row of one pair, which is listed exactly once, in name order."""
    rows = [row for row in scheme["f1"][key]["pairs"] if {row["a"], row["b"]} == {a, b}]
    assert len(rows) == 1, f"{a}–{b} is listed {len(rows)} times"
    row: Figures = rows[0]
    assert row["a"] < row["b"]
    return row


def number(value: Any) -> float:
    """A figure that may stand bare or as an estimate."""
    return float(value["value"] if isinstance(value, dict) else value)


def assert_value(estimate: Figures, expected: float | None, tolerance: float = TOLERANCE) -> None:
    """The estimate has the expected value; ``None``: it is undefined and says why."""
    if expected is None:
        assert_undefined(estimate)
    else:
        assert estimate["value"] is not None, estimate["why"]
        assert abs(estimate["value"] - expected) <= tolerance
        assert estimate.get("why") is None


def assert_undefined(estimate: Figures, *reasons: str) -> None:
    """The estimate is ``None``, not a number, and gives a reason (one of ``reasons``)."""
    assert estimate["value"] is None
    why = estimate["why"]
    assert isinstance(why, str)
    assert why
    if reasons:
        assert why in reasons


def walk(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every node of a nested report with its path, containers before what they hold."""
    yield path, value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from walk(inner, f"{path}/{key}")
    elif isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            yield from walk(inner, f"{path}/{position}")


def estimates(value: Any) -> Iterator[tuple[str, Figures]]:
    """Every estimate of a nested report: whatever has a ``value``."""
    for path, node in walk(value):
        if isinstance(node, Mapping) and "value" in node:
            yield path, dict(node)
