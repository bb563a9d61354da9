"""A layer: one span scheme of a corpus as integer arrays, the form that is measured."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from potato_iaa.arrays import Ints, group_starts, row_keys
from potato_iaa.corpus import Corpus


@dataclass(frozen=True, eq=False)
class Layer:
    """Units, passes, spans and parts of one scheme, in canonical order.

    A *unit* is one display field of one item: the text that spans are aligned on. Every array is
    int64. ``part_start`` and ``part_end`` lie on one global axis (``unit_base`` + offset), on which
    no two units touch. Spans are sorted by unit, start, end, label and annotator; passes by unit
    and annotator; ids by name, so that nothing measured depends on the order of the input.

    ``items`` are those that somebody read, out of ``items_on_offer``.

    Shapes: ``unit_*`` (units,), ``pass_*`` (passes,), ``span_*`` (spans,), ``part_*`` (parts,).
    ``span_extent`` is equal for two spans if and only if they have the same unit and parts.
    """

    scheme: str
    annotators: tuple[str, ...]
    labels: tuple[str, ...]
    items: tuple[str, ...]
    items_on_offer: int
    unit_item: Ints
    unit_field: tuple[str, ...]
    unit_text: tuple[str | None, ...]
    unit_length: Ints
    unit_base: Ints
    pass_unit: Ints
    pass_annotator: Ints
    pass_order: Ints
    span_pass: Ints
    span_label: Ints
    span_start: Ints
    span_end: Ints
    span_length: Ints
    span_extent: Ints
    part_span: Ints
    part_start: Ints
    part_end: Ints

    @property
    def span_unit(self) -> Ints:
        """The unit of each span."""
        return self.pass_unit[self.span_pass]

    @property
    def span_annotator(self) -> Ints:
        """The annotator of each span."""
        return self.pass_annotator[self.span_pass]

    @cached_property
    def longest_first(self) -> Ints:
        """The spans from the longest to the shortest (ties: smaller start, then label by name)."""
        by_name = np.argsort(np.argsort(np.array(self.labels, dtype=object)))
        return np.lexsort((by_name[self.span_label], self.span_start, -self.span_length))


def make_layer(
    corpus: Corpus, scheme: str, *, roles: Collection[str] = ("human", "system", "gold")
) -> Layer:
    """The layer of ``scheme``, with the annotators who have one of ``roles``.

    Annotators of the corpus who were offered the scheme belong to it even without a pass. A pass
    belongs to the layer if the scheme was offered on its field and to its annotator, or if
    it has a span of the scheme. Raises UsageError: no such scheme.

    >>> corpus = Corpus.from_tables(
    ...     items=[("d1", "Ada met Grace.")],
    ...     passes=[("d1", "ann"), ("d1", "ben")],
    ...     spans=[("d1", "ann", 0, 3, "PER")],
    ... )
    >>> layer = make_layer(corpus, "spans")
    >>> layer.annotators, layer.span_start, layer.unit_length
    (('ann', 'ben'), array([0]), array([14]))
    """
    description = corpus.scheme(scheme)
    role_of = dict(zip(corpus.annotators["annotator"], corpus.annotators["role"], strict=True))
    spans = corpus.spans[(corpus.spans["scheme"] == scheme).to_numpy()]

    item_names = sorted(map(str, corpus.items["item"].cat.categories))
    field_names = sorted(map(str, corpus.items["field"].cat.categories))
    everybody = sorted(role_of)
    item_code = {name: code for code, name in enumerate(item_names)}
    field_code = {name: code for code, name in enumerate(field_names)}
    annotator_code = {name: code for code, name in enumerate(everybody)}

    def units_of(frame: pd.DataFrame) -> Ints:
        items = _codes(frame["item"], item_code)
        return items * len(field_names) + _codes(frame["field"], field_code)

    def passes_of(frame: pd.DataFrame) -> Ints:
        return units_of(frame) * len(everybody) + _codes(frame["annotator"], annotator_code)

    wanted_annotators = [
        name
        for name in everybody
        if role_of[name] in roles
        and (description.annotators is None or name in description.annotators)
    ]
    in_role = np.array([role_of[name] in roles for name in everybody], dtype=bool)
    offered = corpus.passes["annotator"].isin(wanted_annotators).to_numpy()
    if description.fields is not None:
        offered = offered & corpus.passes["field"].isin(description.fields).to_numpy()
    pass_key = passes_of(corpus.passes)
    span_pass_key = passes_of(spans)
    used = np.unique(span_pass_key[in_role[span_pass_key % max(len(everybody), 1)]])
    chosen = offered | np.isin(pass_key, used)
    by_key = np.argsort(pass_key[chosen])
    pass_key = pass_key[chosen][by_key]
    pass_order = corpus.passes["order"].to_numpy(dtype=np.int64)[chosen][by_key]

    unit_key, pass_unit = np.unique(pass_key // max(len(everybody), 1), return_inverse=True)
    member = np.isin(everybody, wanted_annotators)
    member[pass_key % max(len(everybody), 1)] = True
    annotator_id = np.flatnonzero(member)
    pass_annotator = np.searchsorted(annotator_id, pass_key % max(len(everybody), 1))
    item_id, unit_item = np.unique(unit_key // max(len(field_names), 1), return_inverse=True)

    text_row = pd.Series(np.arange(len(corpus.items)), index=units_of(corpus.items))
    texts = corpus.items["text"].to_numpy(dtype=object)[text_row.reindex(unit_key).to_numpy()]

    in_layer = np.isin(span_pass_key, pass_key)
    part_pass = np.searchsorted(pass_key, span_pass_key[in_layer]).astype(np.int64)
    labels, part_label = _labels(description.labels, spans["label"])
    part_label = part_label[in_layer]
    start = spans["start"].to_numpy(dtype=np.int64)[in_layer]
    end = spans["end"].to_numpy(dtype=np.int64)[in_layer]

    reach = np.zeros(len(unit_key), dtype=np.int64)
    np.maximum.at(reach, pass_unit[part_pass], end)
    length = np.array(
        [reach[position] if text is None else len(text) for position, text in enumerate(texts)],
        dtype=np.int64,
    )
    base = np.concatenate(([0], np.cumsum(length + 1))).astype(np.int64)[: len(length)]
    part_start = start + base[pass_unit[part_pass]]
    part_end = end + base[pass_unit[part_pass]]

    span_of_part = pd.factorize(spans["part_of"].to_numpy()[in_layer])[0].astype(np.int64)
    order = np.lexsort((part_start, span_of_part))
    span_of_part, part_start, part_end = span_of_part[order], part_start[order], part_end[order]
    part_pass, part_label = part_pass[order], part_label[order]
    first = group_starts(span_of_part)
    last = np.append(first[1:], len(span_of_part))[: len(first)] - 1
    span_start, span_end = part_start[first], part_end[last]
    span_pass, span_label = part_pass[first], part_label[first]
    span_length = np.bincount(span_of_part, weights=part_end - part_start).astype(np.int64)

    extent = _extents(span_of_part, part_start, part_end, first)
    # Of one annotator, spans in parts can have all else in common.
    canonical = np.lexsort((extent, pass_annotator[span_pass], span_label, span_end, span_start))
    rank = np.empty_like(canonical)
    rank[canonical] = np.arange(len(canonical))
    part_span = rank[span_of_part]
    by_start = np.lexsort((part_span, part_end, part_start))
    return Layer(
        scheme=scheme,
        annotators=tuple(everybody[code] for code in annotator_id),
        labels=labels,
        items=tuple(item_names[code] for code in item_id),
        items_on_offer=len(item_names),
        unit_item=unit_item.astype(np.int64),
        unit_field=tuple(field_names[code] for code in unit_key % max(len(field_names), 1)),
        unit_text=tuple(texts),
        unit_length=length,
        unit_base=base,
        pass_unit=pass_unit.astype(np.int64),
        pass_annotator=pass_annotator.astype(np.int64),
        pass_order=pass_order,
        span_pass=span_pass[canonical],
        span_label=span_label[canonical],
        span_start=span_start[canonical],
        span_end=span_end[canonical],
        span_length=span_length[canonical],
        span_extent=extent[canonical],
        part_span=part_span[by_start],
        part_start=part_start[by_start],
        part_end=part_end[by_start],
    )


def _codes(column: pd.Series, code: dict[str, int]) -> Ints:
    table = np.array([code[str(name)] for name in column.cat.categories], dtype=np.int64)
    return table[column.cat.codes.to_numpy()]


def _labels(declared: tuple[str, ...], column: pd.Series) -> tuple[tuple[str, ...], Ints]:
    """Declared labels in their order, then the undeclared ones that were used, by name."""
    used = sorted(set(map(str, column.unique())) - set(declared))
    labels = (*declared, *used)
    code = {name: position for position, name in enumerate(labels)}
    categories = list(column.cat.categories)
    table = np.array([code.get(str(name), -1) for name in categories], dtype=np.int64)
    return labels, table[column.cat.codes.to_numpy()]


def _extents(span_of_part: Ints, start: Ints, end: Ints, first: Ints) -> Ints:
    """A code per span that is equal exactly where all parts are equal, whatever their order.

    A contiguous span is known by its start and end alone; only the discontinuous ones, which are
    few, need their parts compared. They come last, sorted by their parts.
    """
    last = np.append(first[1:], len(start))[: len(first)] - 1
    code = row_keys([start[first], end[last]])
    beyond = int(code.max(initial=0)) + 1
    parts = {
        span: tuple(zip(start[begin:stop].tolist(), end[begin:stop].tolist(), strict=True))
        for span in np.flatnonzero(last > first).tolist()
        for begin, stop in [(first[span], last[span] + 1)]
    }
    rank = {extent: number for number, extent in enumerate(sorted(set(parts.values())))}
    for span, extent in parts.items():
        code[span] = beyond + rank[extent]
    return code
