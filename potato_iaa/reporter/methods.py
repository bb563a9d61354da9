"""The methods paragraph of a report: this run's choices, in words that a paper can take over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from potato_iaa.matcher import EXACT, OVERLAP
from potato_iaa.measures.agreement import Agreement, SchemeAgreement, Settings
from potato_iaa.measures.estimate import Estimate
from potato_iaa.measures.findings import LEAST_RESAMPLED
from potato_iaa.measures.signature import SPECIFICATION
from potato_iaa.reporter.headline import headline
from potato_iaa.reporter.ledger_tables import MEANING
from potato_iaa.reporter.rounding import counted, interval_text, rounded, value_text
from potato_iaa.version import __version__

ALWAYS = ("hripcsak", "krippendorff_2011", "krippendorff_2016")
CITATIONS = {
    "castro": (
        "Castro, S. (2017). Fast Krippendorff: Fast computation of Krippendorff's alpha agreement "
        "measure. https://github.com/pln-fing-udelar/fast-krippendorff"
    ),
    "cohen": (
        "Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and "
        "Psychological Measurement, 20(1), 37-46. https://doi.org/10.1177/001316446002000104"
    ),
    "efron": (
        "Efron, B., & Tibshirani, R. J. (1993). An introduction to the bootstrap. Chapman & Hall. "
        "https://doi.org/10.1201/9780429246593"
    ),
    "fleiss": (
        "Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychological "
        "Bulletin, 76(5), 378-382. https://doi.org/10.1037/h0031619"
    ),
    "hripcsak": (
        "Hripcsak, G., & Rothschild, A. S. (2005). Agreement, the F-measure, and reliability in "
        "information retrieval. Journal of the American Medical Informatics Association, 12(3), "
        "296-298. https://doi.org/10.1197/jamia.M1733"
    ),
    "alpha_u": (
        "Krippendorff, K. (1995). On the reliability of unitizing continuous data. Sociological "
        "Methodology, 25, 47-76. https://doi.org/10.2307/271061"
    ),
    "krippendorff_2011": (
        "Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of "
        "Pennsylvania, Annenberg School for Communication."
    ),
    "krippendorff_2016": (
        "Krippendorff, K., Mathet, Y., Bouvry, S., & Widlöcher, A. (2016). On the reliability of "
        "unitizing textual continua: Further developments. Quality & Quantity, 50(6), 2347-2364. "
        "https://doi.org/10.1007/s11135-015-0266-1"
    ),
    "gamma": (
        "Mathet, Y., Widlöcher, A., & Métivier, J.-P. (2015). The unified and holistic method "
        "gamma (γ) for inter-annotator agreement measure and alignment. Computational Linguistics, "
        "41(3), 437-479. https://doi.org/10.1162/COLI_a_00227"
    ),
    "pei": (
        "Pei, J., Ananthasubramaniam, A., Wang, X., Zhou, N., Dedeloudis, A., Sargent, J., & "
        "Jurgens, D. (2022). POTATO: The portable text annotation tool. Proceedings of EMNLP 2022: "
        "System Demonstrations, 327-337. https://doi.org/10.18653/v1/2022.emnlp-demos.33"
    ),
    "scott": (
        "Scott, W. A. (1955). Reliability of content analysis: The case of nominal scale coding. "
        "Public Opinion Quarterly, 19(3), 321-325. https://doi.org/10.1086/266577"
    ),
}
CHOICES = {
    "include_annotators": "only some of the annotators",
    "exclude_annotators": "without some of the annotators",
    "include_items": "only some of the items",
    "exclude_items": "without some of the items",
    "merge": "several logins as one person",
    "roles": "roles of annotators",
    "trim": "blanks at the ends of spans taken off",
    "skip_broken": "without annotators whose files cannot be read",
}
REQUESTED = {
    "cohen": "Cohen's kappa of the tokens (Cohen 1960)",
    "scott": "Scott's pi of the tokens (Scott 1955)",
    "fleiss": "Fleiss' kappa of the tokens (Fleiss 1971)",
    "alpha_u": "the unitizing alpha of 1995 (Krippendorff 1995)",
    "gamma": "gamma (Mathet et al. 2015)",
}
UNITS = {
    "word": "words, a punctuation mark or Han character being a word of its own",
    "whitespace": "stretches between blanks",
    "character": "code points",
    "regex": r"matches of the pattern \w+|[^\w\s]",
}


def methods(agreement: Agreement, scheme: SchemeAgreement) -> tuple[str, ...]:
    """The paragraphs for one scheme: what was compared, and how the figures were computed."""
    return (
        _material(agreement, scheme),
        _f1(agreement, scheme),
        _tokens(agreement, scheme),
        _units(agreement, scheme),
    )


def citations(agreement: Agreement) -> tuple[str, ...]:
    """The works behind the figures of this report, in the order of their authors."""
    named = {*ALWAYS, *agreement.settings.measures}
    if agreement.settings.bootstrap:
        named.add("efron")
    if any(scheme.token.audit for scheme in agreement.schemes.values()):
        named.add("castro")
    if agreement.source.kind != "tables":
        named.add("pei")
    return tuple(work for key, work in CITATIONS.items() if key in named)


def _material(agreement: Agreement, scheme: SchemeAgreement) -> str:
    corpus, source = scheme.corpus, agreement.source
    tool = "" if source.kind == "tables" else " in Potato (Pei et al. 2022)"
    passes = MEANING.get(source.passes)
    policy = f" (policy “{source.passes}”: {passes})" if passes else ""
    empty = (
        f" The {counted(corpus.empty_passes, 'pass', 'passes')} in which nothing was marked count "
        "as such: they are judgements, not missing data."
        if corpus.empty_passes
        else ""
    )
    return (
        f"{counted(len(corpus.annotators), 'annotator')} marked spans of the scheme "
        f"“{scheme.scheme}” ({counted(len(corpus.labels), 'label')}: {', '.join(corpus.labels)}) "
        f"in {counted(corpus.items, 'item')}{tool}, in {counted(corpus.passes, 'pass', 'passes')} "
        f"of one annotator through one text{policy} with {counted(corpus.spans, 'span')}; "
        f"{counted(corpus.items_shared, 'item')} had passes by two or more annotators."
        f"{empty}{_chosen(source.reading)}{_set_aside(agreement)}"
    )


def _chosen(reading: Mapping[str, Any]) -> str:
    """What of the input was read, and as whose, where somebody chose."""
    told = [f"{said}{_listed(reading[name])}" for name, said in CHOICES.items() if name in reading]
    return f" By choice: {'; '.join(told)}." if told else ""


def _set_aside(agreement: Agreement) -> str:
    """How many spans of all that were read are in no figure, and why."""
    ledger, totals = agreement.ledger, agreement.ledger.totals()
    lost = ledger.entries[ledger.entries["outcome"] == "set_aside"]
    if not len(lost):
        return ""
    reasons = [f"{why} ({count:,})" for why, count in lost["reason"].value_counts().items()]
    return (
        f" Of {counted(totals['read'], 'span')} read in the whole project {len(lost):,} were set "
        f"aside: {'; '.join(reasons)}."
    )


def _listed(value: Any) -> str:
    if value is True:
        return ""
    if isinstance(value, Mapping):
        return f" ({', '.join(f'{one} as {other}' for one, other in value.items())})"
    return f" ({value})" if isinstance(value, int) else f" ({', '.join(value)})"


def _f1(agreement: Agreement, scheme: SchemeAgreement) -> str:
    settings, figure = agreement.settings, headline(scheme)
    resamples = _resamples(agreement, scheme)
    averages = scheme.f1["exact_typed"].averages
    least = (
        f" that share at least {settings.min_shared_items} items"
        if settings.min_shared_items > 1
        else ""
    )
    empty = (
        " In means over items, an item that both left empty counts as 1."
        if settings.both_empty == "agree"
        else ""
    )
    result = (
        f"F1 is undefined ({figure.why})."
        if figure.value is None
        else f"F1 is {value_text(figure)}{_bracketed(figure, resamples)} "
        f"(population SD over pairs {rounded(averages.sd)}, {figure.n} of "
        f"{counted(figure.of, 'pair')}); counts pooled over all pairs give "
        f"{value_text(averages.pooled)}."
    )
    return (
        "Agreement on spans is the pairwise F1 of Hripcsak & Rothschild (2005): for two "
        "annotators and the items that both passed through, 2·TP/(n_a + n_b), where TP is the "
        "size of a maximum one-to-one matching of their spans. Spans match if they have the same "
        "offsets and the same label (exact, typed). We report the unweighted mean over pairs of "
        f"annotators{least}. {result}{empty}{_further(settings)}"
        f"{_bootstrap(resamples, settings.seed)}"
    )


def _further(settings: Settings) -> str:
    """The rules and coefficients that were asked for, which the tables have."""
    rules = [str(rule) for rule in settings.rules if rule not in (EXACT, OVERLAP)]
    asked = [f"F1 under the rule {rule}" for rule in rules]
    asked += [REQUESTED[name] for name in settings.measures]
    return f" Asked for and in the tables: {'; '.join(asked)}." if asked else ""


def _resamples(agreement: Agreement, scheme: SchemeAgreement) -> int:
    """How many resamples intervals rest on; none where all of them are the same."""
    return agreement.settings.bootstrap if scheme.corpus.items_shared >= LEAST_RESAMPLED else 0


def _bracketed(figure: Estimate, resamples: int) -> str:
    interval = interval_text(figure)
    return f", 95 % interval {interval}" if interval and resamples else ""


def _bootstrap(resamples: int, seed: int) -> str:
    if not resamples:
        return ""
    return (
        " Intervals are percentile intervals of a bootstrap over items (Efron & Tibshirani 1993; "
        f"{resamples:,} resamples, seed {seed})."
    )


def _tokens(agreement: Agreement, scheme: SchemeAgreement) -> str:
    token = scheme.token
    if token.alpha.value is None:
        result = f"It is undefined ({token.alpha.why})."
    else:
        result = (
            f"It is {value_text(token.alpha)}"
            f"{_bracketed(token.alpha, _resamples(agreement, scheme))}, with "
            f"{value_text(token.observed_agreement)} observed and "
            f"{value_text(token.chance_agreement)} chance agreement; over the tokens that at "
            f"least one annotator marked it is {value_text(token.alpha_marked)}."
        )
    audit = (
        f" It was recomputed with the krippendorff package {token.audit.version} (Castro 2017) on "
        f"{token.audit.items:,} of {counted(token.audit.of, 'shared item')}."
        if token.audit
        else ""
    )
    return (
        f"Token-level agreement is Krippendorff's alpha, nominal (Krippendorff 2011), over "
        f"{token.tokens:,} tokens ({UNITS[token.unit]}); the value of a token is the set of labels "
        f"on it, O if none. {result}{audit}"
    )


def _units(agreement: Agreement, scheme: SchemeAgreement) -> str:
    flattened = scheme.unitizing.flattened
    figure = (flattened or scheme.unitizing).u_alpha
    how = (
        f" As units of one annotator overlap in "
        f"{counted(scheme.unitizing.overlapping_passes, 'pass', 'passes')}, for which it is not "
        "defined, each code point was given to the longest span on it first."
        if flattened
        else ""
    )
    result = (
        f"is undefined ({figure.why})"
        if figure.value is None
        else f"is {value_text(figure)}{_bracketed(figure, _resamples(agreement, scheme))}"
    )
    return (
        "The unitizing alpha of Krippendorff, Mathet, Bouvry & Widlöcher (2016), over units and "
        f"gaps in code points, {result}.{how} All figures were computed with potato_iaa "
        f"{__version__} under version {SPECIFICATION} of its definitions."
    )
