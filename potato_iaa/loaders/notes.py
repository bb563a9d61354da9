"""What a reader of the figures should know of how a project was read, one sentence each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from potato_iaa.corpus import Scheme
from potato_iaa.loaders.annotators import Annotator
from potato_iaa.loaders.bases import WITHOUT_TAGS
from potato_iaa.loaders.page import UNKNOWN_LENGTH, Page
from potato_iaa.loaders.schemes import Declared
from potato_iaa.loaders.values import counted, quoted


def notes_on_schemes(
    declared: Declared, schemes: Sequence[Scheme], spans: pd.DataFrame, *, generation: int
) -> Iterator[str]:
    """On two of one name, undeclared labels, labels kept elsewhere, and choices not stored."""
    if not declared.kinds:
        yield "the configuration declares no schemes: they are taken from the spans."
    for name in declared.twice:
        yield f"scheme {name!r} is declared more than once: the first declaration counts."
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
        if scheme.name in declared.with_bad_text and generation > 1:
            yield (
                f"scheme {scheme.name!r}: Potato does not store the choice for nothing to mark "
                "(bad_text_label); an item counts as seen by the other traces only."
            )


def notes_on_records(annotators: Sequence[Annotator]) -> Iterator[str]:
    """On spans that were not asked for, those of Potato's simulator, and choices without spans."""
    not_asked: Counter[str] = Counter()
    for someone in annotators:
        not_asked.update(someone.not_asked)
    for name, count in sorted(not_asked.items()):
        yield f"scheme {name!r} was not asked for: {counted(count, 'span')} not read."
    simulated = sum(someone.simulated for someone in annotators)
    if simulated:
        yield (
            f"{counted(simulated, 'span')} stood as LABEL:start:end among the answers, as Potato's "
            "simulator writes spans: read as such."
        )
    bad_texts = sum(someone.bad_texts for someone in annotators)
    if bad_texts:
        yield (
            f"{counted(bad_texts, 'choice')} that there is nothing to mark (bad_text): passes "
            "without spans."
        )


def notes_on_first_places(annotators: Sequence[Annotator], page: Page) -> Iterator[str]:
    """On versions that took the first place of the marked words in a text, whichever was marked."""
    spans = repeated = 0
    for someone in annotators:
        if someone.counting.basis != WITHOUT_TAGS:
            continue
        checked = someone.checked
        spans += len(checked.unit)
        places = (checked.unit.tolist(), checked.start.tolist(), checked.end.tolist())
        for unit, start, end in zip(*places, strict=True):
            text = page.texts[unit]
            repeated += text is not None and text.count(text[start:end]) > 1
    if spans:
        yield (
            "Potato 2.0 and 2.1 stored the first place of the marked words in the text, whichever "
            f"place was marked: {repeated:,} of {counted(spans, 'span')} have words that stand in "
            "the text more than once."
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
