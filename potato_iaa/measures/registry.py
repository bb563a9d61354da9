"""The registry: every measure's name, definition and source, once for all that show them."""

from __future__ import annotations

from dataclasses import dataclass

HRIPCSAK = "Hripcsak & Rothschild 2005, doi:10.1197/jamia.M1733"
KRIPPENDORFF_2011 = "Krippendorff 2011, Computing Krippendorff's Alpha-Reliability"
KRIPPENDORFF_2016 = "Krippendorff, Mathet, Bouvry & Widlöcher 2016, doi:10.1007/s11135-015-0266-1"
KINDS = ("rule", "average", "loss", "coefficient")


@dataclass(frozen=True)
class Definition:
    """What a name stands for in commands, job files, files and reports.

    ``made``: ``always``, or ``request`` for what is made where it is asked for by name.
    """

    name: str
    kind: str
    made: str
    definition: str
    source: str


REGISTRY = (
    Definition(
        "exact",
        "rule",
        "always",
        "Two spans may be matched if they have the same offsets, and the same parts if they are "
        "discontinuous.",
        HRIPCSAK,
    ),
    Definition(
        "overlap",
        "rule",
        "always",
        "Two spans may be matched if they share at least one character.",
        HRIPCSAK,
    ),
    Definition(
        "overlap(iou>=T)",
        "rule",
        "request",
        "Two spans may be matched if the characters both cover are at least the share T of those "
        "that either covers: |∩|/|∪| ≥ T.",
        "Jaccard 1912, doi:10.1111/j.1469-8137.1912.tb05611.x",
    ),
    Definition(
        "overlap(dice>=T)",
        "rule",
        "request",
        "Two spans may be matched if 2|∩| is at least the share T of the sum of their lengths.",
        "Dice 1945, doi:10.2307/1932409",
    ),
    Definition(
        "overlap(containment>=T)",
        "rule",
        "request",
        "Two spans may be matched if |∩| is at least the share T of the shorter one.",
        HRIPCSAK,
    ),
    Definition(
        "terms",
        "rule",
        "request",
        "Two spans of an item may be matched if their text is the same after Unicode NFC, case "
        "folding and joining of blanks, wherever they stand; each annotator's terms are a set.",
        HRIPCSAK,
    ),
    Definition(
        "soft",
        "rule",
        "request",
        "The one-to-one matching of the greatest total |∩|/|∪|; each match counts its own.",
        HRIPCSAK,
    ),
    Definition(
        "soft(dice)",
        "rule",
        "request",
        "As soft, with 2|∩| over the sum of the lengths.",
        HRIPCSAK,
    ),
    Definition(
        "character",
        "rule",
        "request",
        "F1 of the sets of marked characters, with their labels when typed.",
        HRIPCSAK,
    ),
    Definition(
        "token",
        "rule",
        "request",
        "F1 of the sets of marked tokens, with their labels when typed.",
        HRIPCSAK,
    ),
    Definition(
        "mean_over_pairs",
        "average",
        "always",
        "Counts pooled over items within each pair of annotators, then the unweighted mean over "
        "pairs. The headline.",
        HRIPCSAK,
    ),
    Definition(
        "pooled", "average", "always", "Counts pooled over items and pairs of annotators.", HRIPCSAK
    ),
    Definition(
        "mean_over_items",
        "average",
        "always",
        "Per item the mean over its pairs of annotators, then the mean over items.",
        HRIPCSAK,
    ),
    Definition(
        "existence",
        "loss",
        "always",
        "1 − F1(overlap, untyped): one annotator marks what the other does not.",
        "this package, docs/choices.md",
    ),
    Definition(
        "label",
        "loss",
        "always",
        "F1(overlap, untyped) − F1(overlap, typed): the same place under another label.",
        "this package, docs/choices.md",
    ),
    Definition(
        "boundary",
        "loss",
        "always",
        "F1(overlap, typed) − F1(exact, typed): the same label with other offsets.",
        "this package, docs/choices.md",
    ),
    Definition(
        "token_alpha",
        "coefficient",
        "always",
        "Krippendorff's nominal alpha over tokens; the set of labels on a token is one value. "
        "Inflated by the many tokens outside all spans.",
        KRIPPENDORFF_2011,
    ),
    Definition(
        "token_alpha_io_longest",
        "coefficient",
        "always",
        "Token alpha where the longest span on a token gives it its label.",
        KRIPPENDORFF_2011,
    ),
    Definition(
        "token_alpha_bio",
        "coefficient",
        "always",
        "Token alpha where the first token that a span owns differs from its others.",
        KRIPPENDORFF_2011,
    ),
    Definition(
        "token_alpha_binary",
        "coefficient",
        "always",
        "Token alpha of marked against unmarked tokens.",
        KRIPPENDORFF_2011,
    ),
    Definition(
        "token_alpha_marked",
        "coefficient",
        "always",
        "Token alpha over the tokens that somebody marked; it underestimates.",
        KRIPPENDORFF_2011,
    ),
    Definition(
        "observed_agreement",
        "coefficient",
        "always",
        "The share of pairs of token values that are equal.",
        KRIPPENDORFF_2011,
    ),
    Definition(
        "chance_agreement",
        "coefficient",
        "always",
        "The sum of the squared shares of the token values: what agreement would be by chance.",
        "Scott 1955, doi:10.1086/266577",
    ),
    Definition(
        "u_alpha",
        "coefficient",
        "always",
        "Unitizing alpha uα over units and gaps with their labels, by character. Undefined where "
        "spans of one annotator overlap.",
        KRIPPENDORFF_2016,
    ),
    Definition(
        "binary_u_alpha",
        "coefficient",
        "always",
        "|uα: unitizing alpha of units against gaps, whatever the labels.",
        KRIPPENDORFF_2016,
    ),
    Definition(
        "cu_alpha",
        "coefficient",
        "always",
        "cuα: agreement on the labels where units intersect, with the share of the text where they "
        "do. Published readings differ for more than two annotators.",
        KRIPPENDORFF_2016,
    ),
    Definition(
        "k_u_alpha",
        "coefficient",
        "always",
        "(k)uα: agreement on one label where its units intersect others.",
        KRIPPENDORFF_2016,
    ),
    Definition(
        "matched_label_alpha",
        "coefficient",
        "always",
        "Nominal alpha of the labels of spans matched by overlap, whatever their boundaries.",
        KRIPPENDORFF_2011,
    ),
    Definition(
        "cohen",
        "coefficient",
        "request",
        "Cohen's kappa of each pair over tokens, in every coding, and its mean. Inflated by the "
        "tokens outside all spans.",
        "Cohen 1960, doi:10.1177/001316446002000104",
    ),
    Definition(
        "scott",
        "coefficient",
        "request",
        "Scott's pi of each pair over tokens, in every coding, and its mean. Inflated likewise.",
        "Scott 1955, doi:10.1086/266577",
    ),
    Definition(
        "fleiss",
        "coefficient",
        "request",
        "Fleiss' kappa over tokens of the items that all annotators did. Inflated likewise.",
        "Fleiss 1971, doi:10.1037/h0031619",
    ),
    Definition(
        "alpha_u",
        "coefficient",
        "request",
        "The older unitizing alpha α_U per item, over all labels and per label, and its mean over "
        "items. Not bounded below.",
        "Krippendorff 1995, doi:10.2307/271061; 2004, doi:10.1007/s11135-004-8107-7",
    ),
    Definition(
        "gamma",
        "coefficient",
        "request",
        "γ per item, with γ-cat and γ-k: alignment and categorization in one, chance by sampling. "
        "Slow.",
        "Mathet, Widlöcher & Métivier 2015, doi:10.1162/COLI_a_00227",
    ),
)
ON_REQUEST = tuple(
    entry.name for entry in REGISTRY if entry.kind == "coefficient" and entry.made == "request"
)


def markdown_table() -> str:
    """The registry as a Markdown table, one row per measure."""
    rows = [
        f"| `{entry.name}` | {entry.kind} | {entry.made} | "
        f"{entry.definition.replace('|', chr(92) + '|')} | {entry.source} |"
        for entry in REGISTRY
    ]
    return "\n".join(
        ["| name | kind | made | definition | source |", "|---|---|---|---|---|", *rows]
    )
