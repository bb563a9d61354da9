"""The matcher: pairwise alignments of spans under a match rule, as counts that add up."""

from potato_iaa.matcher.alignment import Alignment, align, align_soft
from potato_iaa.matcher.counts import (
    Comparisons,
    Counts,
    compare_passes,
    count_matches,
    count_spans,
    join_counts,
)
from potato_iaa.matcher.edges import Edges, exact_edges, overlap_edges, rule_edges, typed_edges
from potato_iaa.matcher.rules import (
    CHARACTER,
    EXACT,
    OVERLAP,
    PLAIN,
    SIMILARITIES,
    SOFT,
    SOFT_DICE,
    TERMS,
    TOKEN,
    Rule,
    parse_rule,
)
from potato_iaa.matcher.terms import term_layer

__all__ = [
    "CHARACTER",
    "EXACT",
    "OVERLAP",
    "PLAIN",
    "SIMILARITIES",
    "SOFT",
    "SOFT_DICE",
    "TERMS",
    "TOKEN",
    "Alignment",
    "Comparisons",
    "Counts",
    "Edges",
    "Rule",
    "align",
    "align_soft",
    "compare_passes",
    "count_matches",
    "count_spans",
    "exact_edges",
    "join_counts",
    "overlap_edges",
    "parse_rule",
    "rule_edges",
    "term_layer",
    "typed_edges",
]
