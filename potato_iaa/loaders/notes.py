"""What a reader of the figures should know of how a project was read, one sentence each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from potato_iaa.corpus import Scheme
from potato_iaa.loaders.annotators import Annotator
from potato_iaa.loaders.schemes import Declared
from potato_iaa.loaders.spans import UNKNOWN_LENGTH, Page
from potato_iaa.loaders.values import counted, quoted


def notes_on_schemes(
    declared: Declared, schemes: Sequence[Scheme], spans: pd.DataFrame
) -> Iterator[str]:
    """On undeclared labels, labels kept elsewhere, and choices that Potato does not store."""
    if not declared.kinds:
        yield "the configuration declares no schemes: they are taken from the spans."
    for scheme in schemes:
        of_scheme = (spans["scheme"] == scheme.name) & ~spans["part_of"].duplicated()
        used = spans.loc[of_scheme, "label"].value_counts()
        extra = {str(name): int(n) for name, n in used.items() if n and name not in scheme.labels}
        if extra and scheme.labels:
            yield (
                f"scheme {scheme.name!r}: labels used but not declared: {quoted(extra)} "
                f"({counted(sum(extra.values()), 'span')}, kept)."
            )
        if scheme.name in declared.without_labels:
            yield (
                f"scheme {scheme.name!r}: its labels are in Potato's codebook, so only those in "
                "the configuration and those used are known."
            )
        if scheme.name in declared.with_bad_text:
            yield (
                f"scheme {scheme.name!r}: Potato does not store the choice for nothing to mark "
                "(bad_text_label); an item counts as seen by the other traces only."
            )


def notes_on_records(annotators: Sequence[Annotator]) -> Iterator[str]:
    """On spans that were not asked for, and on those that Potato's simulator wrote."""
    not_asked: Counter[str] = Counter()
    for someone in annotators:
        not_asked.update(someone.not_asked)
    for name, count in sorted(not_asked.items()):
        yield f"scheme {name!r} was not asked for: {counted(count, 'span')} not read."
    simulated = sum(someone.simulated for someone in annotators)
    if simulated:
        yield (
            f"{counted(simulated, 'label')} of span schemes read LABEL:start:end, as Potato's "
            "simulator writes spans: not read."
        )


def notes_on_page(page: Page) -> Iterator[str]:
    """On texts that cannot be rebuilt, and on fields that items lack."""
    for position, field in enumerate(page.fields):
        lengths = page.lengths[position :: len(page.fields)]
        unknown, lacking = int((lengths == UNKNOWN_LENGTH).sum()), int((lengths < 0).sum())
        if unknown:
            yield (
                f"field {field!r}: the text of {counted(unknown, 'item')} cannot be rebuilt from "
                "the data, so spans there are not checked against it."
            )
        if lacking:
            yield f"field {field!r}: {counted(lacking, 'item')} without it."
