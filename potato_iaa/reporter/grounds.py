"""Whether there is anything to report: two annotators, and an item that both passed through."""

from __future__ import annotations

from potato_iaa.errors import InputError
from potato_iaa.measures.agreement import Agreement
from potato_iaa.reporter.display import some
from potato_iaa.reporter.rounding import counted

CHOICES = ("include_annotators", "exclude_annotators", "include_items", "exclude_items")


def _check_kept(agreement: Agreement) -> None:
    """Raise InputError where spans were read and every one of them was set aside."""
    totals = agreement.ledger.totals()
    if not totals["read"] or totals["kept"] + totals["repaired"]:
        return
    reasons = agreement.ledger.entries["reason"].value_counts()
    names = sorted(set(agreement.ledger.read["scheme"].astype(str)))
    raise InputError(
        f"{agreement.source.name}: all {counted(totals['read'], 'span')} read (of "
        f"{some(names, 5)}) were set aside: {reasons.index[0]} ({int(reasons.iloc[0]):,}); correct "
        "the configuration, or see each of them with inspect."
    )


def check_grounds(agreement: Agreement) -> None:
    """Raise InputError where no scheme has two annotators with an item in common."""
    schemes = agreement.schemes.values()
    _check_kept(agreement)
    if any(scheme.corpus.pairs_sharing for scheme in schemes):
        return
    annotators = sorted({name for scheme in schemes for name in scheme.corpus.annotators})
    name = agreement.source.name
    if len(annotators) < 2:
        whom = f"only {annotators[0]!r} has" if annotators else "nobody has"
        remedy = (
            "choose more annotators or items"
            if any(choice in agreement.source.reading for choice in CHOICES)
            else "see with inspect who was read, and with --passes what counts as a pass"
        )
        raise InputError(
            f"{name}: {whom} passed through any item, and agreement takes two annotators: {remedy}."
        )
    items = max(scheme.corpus.items for scheme in schemes)
    raise InputError(
        f"{name}: {counted(len(annotators), 'annotator')} ({some(annotators, 5)}) passed through "
        f"{counted(items, 'item')}, no item of which is shared by two of them: have some items "
        "annotated twice, or see with inspect what was left out."
    )
