"""Which spans are listed as partners: among the maximum matchings the greatest total overlap."""

from __future__ import annotations

import pytest

from potato_iaa.layer import make_layer
from potato_iaa.matcher import align, overlap_edges, typed_edges
from tests.conformance.loading import CASE_IDS, case, case_corpus


@pytest.mark.parametrize("types", ["typed", "untyped"])
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_partners_share_the_most_characters_that_a_maximum_matching_can(
    case_id: str, types: str
) -> None:
    layer = make_layer(case_corpus(case_id), "spans")
    places: list[set[int]] = [set() for _ in layer.span_start]
    for span, start, end in zip(layer.part_span, layer.part_start, layer.part_end, strict=True):
        places[span].update(range(start, end))
    edges = overlap_edges(layer)
    matched = align(layer, typed_edges(layer, edges) if types == "typed" else edges)
    found: dict[tuple[str, str], list[int]] = {}
    for left, right in zip(matched.left, matched.right, strict=True):
        names = (layer.annotators[layer.span_annotator[end]] for end in (left, right))
        item = layer.items[layer.unit_item[layer.span_unit[left]]]
        total = found.setdefault(("|".join(names), item), [0, 0])
        total[0] += 1
        total[1] += len(places[left] & places[right])
    assert found == {
        (pair, item): figures[f"cardinality_then_overlap_{types}"]
        for pair, by_item in case(case_id)["expected"]["overlap_chars"].items()
        for item, figures in by_item.items()
        if figures[f"cardinality_then_overlap_{types}"][0]
    }
