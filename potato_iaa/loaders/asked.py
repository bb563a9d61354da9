"""Which span schemes are read, and who was asked them on which fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from potato_iaa.corpus import Scheme
from potato_iaa.errors import InputError, UsageError
from potato_iaa.loaders.annotators import Annotator
from potato_iaa.loaders.items import read_ids
from potato_iaa.loaders.page import Page
from potato_iaa.loaders.project import Project
from potato_iaa.loaders.schemes import Declared, with_annotators
from potato_iaa.loaders.values import names


def wanted_schemes(project: Project, asked: Sequence[str] | None) -> tuple[Scheme, ...]:
    """The span schemes to read; none if the configuration declares no scheme of any kind.

    Raises InputError: no span scheme among those declared. UsageError: one that was asked for is
    not among them.
    """
    spans = project.declared.spans
    there_are = ", ".join(f"{name!r} ({kind})" for name, kind in project.declared.kinds)
    if project.declared.kinds and not spans:
        raise InputError(
            f"{project.config}: none of its annotation schemes is a span scheme (there are "
            f"{there_are}): give a project in which spans were marked."
        )
    if asked is None:
        return spans
    known = {scheme.name for scheme in spans}
    for name in asked:
        if name not in known:
            raise UsageError(
                f"no span scheme {name!r} in {project.config}: there are {there_are or 'none'}."
            )
    return tuple(scheme for scheme in spans if scheme.name in asked)


def found_schemes(annotators: Sequence[Annotator], project: Project) -> tuple[Scheme, ...]:
    """The schemes that the spans name; raises InputError if there is no span."""
    found = names(sorted({name for someone in annotators for name in someone.checked.schemes}))
    if not found:
        raise InputError(
            f"{project.config}: declares no annotation schemes, and nobody has marked a span: "
            "give the configuration that the project was run with."
        )
    return tuple(Scheme(name=name) for name in found)


def with_evidence(
    schemes: tuple[Scheme, ...],
    spans: pd.DataFrame,
    page: Page,
    annotators: Sequence[Annotator],
    *,
    project: Project,
    declared: Declared,
) -> tuple[Scheme, ...]:
    """The schemes with who was shown them and where: as configured, and as the spans show."""
    cohort_items = {
        position: cohort.items.union(*(read_ids(file, project.id_key) for file in cohort.files))
        for position, cohort in enumerate(declared.cohorts)
        if not cohort.annotators
    }
    shown = with_annotators(
        schemes,
        declared=declared,
        items_of={someone.name: someone.items for someone in annotators},
        cohort_items=cohort_items,
    )
    displayed = [shown_as.key for shown_as in project.display.fields] or [""]
    return tuple(
        replace(
            scheme,
            fields=_and_used(
                _fields(scheme, declared, page, displayed), "field", scheme.name, spans
            ),
            annotators=_and_used(scheme.annotators, "annotator", scheme.name, spans),
        )
        for scheme in shown
    )


def _fields(
    scheme: Scheme, declared: Declared, page: Page, displayed: Sequence[str]
) -> tuple[str, ...] | None:
    """The fields that a scheme is offered on; None for all of the page."""
    if page.fields == ("",):
        return None
    in_answers = {other.name: other.field for other in declared.in_answers}
    if scheme.name in in_answers:
        return (in_answers[scheme.name],)
    if scheme.fields is not None and set(scheme.fields) <= set(page.fields):
        return scheme.fields
    # Fields that only questions with spans in their answers are about are not for this one.
    others = {field for field in in_answers.values() if field not in displayed}
    for_all = tuple(field for field in page.fields if field not in others)
    return None if for_all == page.fields else for_all


def _and_used(
    offered: tuple[str, ...] | None, column: str, scheme: str, spans: pd.DataFrame
) -> tuple[str, ...] | None:
    if offered is None:
        return None
    used = spans.loc[spans["scheme"] == scheme, column].unique()
    return tuple(sorted({*offered, *map(str, used)}))
