"""Counting: all that is counted on a block of items, of which every figure is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from potato_iaa.arrays import stack
from potato_iaa.blocks import Block
from potato_iaa.layer import Layer
from potato_iaa.matcher import (
    CHARACTER,
    OVERLAP,
    TERMS,
    TOKEN,
    Alignment,
    Comparisons,
    Counts,
    Edges,
    Rule,
    align,
    align_soft,
    compare_passes,
    count_matches,
    count_spans,
    exact_edges,
    join_counts,
    overlap_edges,
    rule_edges,
    term_layer,
    typed_edges,
)
from potato_iaa.measures.agreement import Settings
from potato_iaa.measures.disagreements import Disagreements, find_disagreements, lifted
from potato_iaa.measures.matched import (
    Confusion,
    Met,
    Offsets,
    confuse,
    count_offsets,
    join_confusions,
    join_met,
    join_offsets,
    meet,
)
from potato_iaa.measures.positions import count_positions
from potato_iaa.measures.token_figures import KAPPAS, TokenCounts, count_tokens, join_token_counts
from potato_iaa.measures.tokens import Tokens, make_segments, make_tokens
from potato_iaa.measures.unitizing import UnitSums, count_units, join_units


@dataclass(frozen=True, eq=False)
class Tallies:
    """What was counted on consecutive items of a layer; spans and rows are those of the whole.

    ``counts``: rule and typing, such as ``exact_typed`` → counts by comparison.
    """

    counts: dict[str, Counts]
    met: Met
    confusion: Confusion
    offsets: Offsets
    disagreements: Disagreements
    tokens: TokenCounts
    units: UnitSums


def count_block(settings: Settings, block: Block) -> Tallies:
    """Count everything on a block."""
    layer = block.layer
    comparisons = compare_passes(layer)
    tokens = make_tokens(layer, settings.token_unit)
    overlaps = overlap_edges(layer)
    alignment = align(layer, overlaps)
    disagreements = find_disagreements(layer, comparisons, overlaps, alignment)
    judged = any(name in settings.measures for name in KAPPAS)
    return Tallies(
        counts=_rules(layer, comparisons, tokens, overlaps, alignment, settings.rules),
        met=meet(layer, comparisons, alignment),
        confusion=confuse(layer, alignment),
        offsets=count_offsets(layer, tokens, alignment),
        disagreements=lifted(disagreements, block.first_span, block.first_row),
        tokens=count_tokens(layer, tokens, comparisons, judged=judged),
        units=count_units(layer),
    )


def join(parts: Sequence[Tallies]) -> Tallies:
    """What was counted on all blocks of a layer, given in their order."""
    return Tallies(
        counts=join_counts([part.counts for part in parts]),
        met=join_met([part.met for part in parts]),
        confusion=join_confusions([part.confusion for part in parts]),
        offsets=join_offsets([part.offsets for part in parts]),
        disagreements=stack([part.disagreements for part in parts]),
        tokens=join_token_counts([part.tokens for part in parts]),
        units=join_units([part.units for part in parts]),
    )


def count_rules(settings: Settings, block: Block) -> dict[str, Counts]:
    """Count the matches of every rule on a block, and nothing else."""
    layer = block.layer
    tokens = make_tokens(layer, settings.token_unit)
    overlaps = overlap_edges(layer)
    alignment = align(layer, overlaps)
    return _rules(layer, compare_passes(layer), tokens, overlaps, alignment, settings.rules)


def _rules(
    layer: Layer,
    comparisons: Comparisons,
    tokens: Tokens,
    overlaps: Edges,
    alignment: Alignment,
    rules: Sequence[Rule],
) -> dict[str, Counts]:
    """Rule and typing → counts; ``alignment`` is that of the untyped ``overlaps``."""
    spans = count_spans(layer, comparisons)

    def count(rule: Rule, *, typed: bool) -> Counts:
        if rule == CHARACTER:
            return count_positions(layer, make_segments(layer), comparisons, typed=typed)
        if rule == TOKEN:
            return count_positions(layer, tokens, comparisons, typed=typed)
        if rule == TERMS:
            terms = term_layer(layer, typed=typed)
            equal = exact_edges(terms)
            matched = align(terms, typed_edges(terms, equal) if typed else equal)
            return count_matches(terms, comparisons, matched, count_spans(terms, comparisons))
        if rule == OVERLAP and not typed:
            return count_matches(layer, comparisons, alignment, spans)
        edges = rule_edges(layer, rule, overlaps)
        edges = typed_edges(layer, edges) if typed else edges
        soft = rule.match == "soft"
        matched = align_soft(layer, edges, rule.similarity) if soft else align(layer, edges)
        return count_matches(layer, comparisons, matched, spans)

    return {
        f"{rule}_{typing}": count(rule, typed=typing == "typed")
        for rule in rules
        for typing in ("typed", "untyped")
    }
