"""Read a finished Potato project into a Corpus, one annotator at a time."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd

from potato_iaa.corpus import Corpus, Scheme, Source, SourceFile, assemble
from potato_iaa.errors import InputError, UsageError
from potato_iaa.ledger import Ledger
from potato_iaa.loaders.annotators import (
    Annotator,
    LeftOut,
    Selection,
    annotator_of,
    why_left_out,
)
from potato_iaa.loaders.frames import (
    answer_frame,
    entry_frame,
    item_frame,
    left_out_frame,
    pass_frame,
    policy_frame,
    read_frame,
    span_frame,
)
from potato_iaa.loaders.items import Items, read_check_ids, read_ids, read_items
from potato_iaa.loaders.notes import notes_on_page, notes_on_records, notes_on_schemes
from potato_iaa.loaders.passes import POLICIES
from potato_iaa.loaders.project import Project, read_config
from potato_iaa.loaders.records import Record
from potato_iaa.loaders.rendering import item_texts
from potato_iaa.loaders.schemes import with_annotators
from potato_iaa.loaders.spans import NOT_IN_DATA, Page
from potato_iaa.loaders.states import StateFile, find_states, read_state
from potato_iaa.loaders.values import names, quoted

Progress = Callable[[str, int, int], None]


def read_project(
    path: str | Path,
    *,
    passes: str = "seen",
    schemes: Sequence[str] | None = None,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> Corpus:
    """Read the spans of a finished Potato project, from its configuration and the files it names.

    ``path`` is the configuration, or the folder with exactly one. ``passes`` says which items an
    annotator counts as having worked through: ``seen`` (an answer, a list of spans even if empty, a
    trace of behaviour, or before the item on which the annotator stopped), ``assigned``, or
    ``marked`` (with a span). ``schemes`` chooses span schemes by name; without it all are read.
    With ``skip_broken`` an annotator whose state cannot be read is left out, and the ledger says
    so. ``progress`` is called with what is being read, how many are done, and of how many.

    The items of the corpus are those of the data files, with the text as it was shown; offsets are
    code points of that text. Every span that was read is kept, repaired or set aside in the ledger;
    adjudicators, machines, the debug user, attention checks, gold items, answers of a group and
    trials that ran out of time are left out there. A project with one annotator, or with no spans,
    can be read.

    Raises UsageError: no such policy, no such span scheme. Raises InputError, one sentence with the
    file, the place in it, what is wrong and what to do: whatever cannot be read.
    """
    if passes not in POLICIES:
        raise UsageError(f"no policy {passes!r} for passes: there are {', '.join(POLICIES)}.")
    project = read_config(path)
    wanted = _wanted(project, schemes)
    states, strays = find_states(project.output)
    checks, notes = _check_items(project)
    items = _without(read_items(project), checks)
    page = _page(items, project)
    selection = Selection(
        known=frozenset(scheme.name for scheme in project.declared.spans),
        asked=None if schemes is None else frozenset(schemes),
        categorical=frozenset(scheme.name for scheme in project.declared.categorical),
        checks=checks,
    )
    annotators: list[Annotator] = []
    left_out = [LeftOut(stray.what, stray.name, stray.reason) for stray in strays]
    with _collection_paused():
        for record in _records(states, skip_broken=skip_broken, progress=progress or _silent):
            reason = record if isinstance(record, LeftOut) else why_left_out(record, project)
            if reason is not None:
                left_out.append(reason)
            elif isinstance(record, Record):
                annotators.append(annotator_of(record, page=page, selection=selection))
    _check_items_known(annotators, page, project)
    spans = span_frame(annotators, page)
    found = _with_evidence(
        wanted or _found_schemes(annotators, project), spans, page, annotators, project
    )
    return assemble(
        items=item_frame(page),
        passes=pass_frame(annotators, passes, page),
        spans=spans,
        schemes=found,
        roles={},
        source=Source(
            name=project.name,
            path=str(path),
            kind="states",
            potato_version=_potato_version(annotators),
            offset_unit="code points",
            offset_basis="text as shown",
            passes=passes,
            files=_files(project, items, len(states)),
        ),
        ledger=Ledger(
            read=read_frame(annotators),
            entries=entry_frame(annotators),
            left_out=left_out_frame([*left_out, *_left_out(annotators, checks, passes)]),
            passes=policy_frame(annotators),
            notes=(
                *project.notes,
                *items.notes,
                *notes,
                *notes_on_schemes(project.declared, found, spans),
                *notes_on_records(annotators),
                *notes_on_page(page),
            ),
        ),
        answers=answer_frame(annotators),
        categorical=project.declared.categorical,
    )


def _silent(what: str, done: int, of: int) -> None:
    """Report no progress."""


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Without the cyclic garbage collector, which walks every object of a big state again."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _records(
    states: Sequence[StateFile], *, skip_broken: bool, progress: Progress
) -> Iterator[Record | LeftOut]:
    """The records one by one; with ``skip_broken``, those that cannot be read as left out."""
    sources: dict[str, str] = {}
    progress("annotators", 0, len(states))
    for done, state in enumerate(states, 1):
        try:
            record = read_state(state)
        except InputError as fault:
            if not skip_broken:
                raise
            yield LeftOut("annotator", state.folder, str(fault))
        else:
            if record.annotator in sources:
                raise InputError(
                    f"{record.source}: is the state of {record.annotator!r}, and so is "
                    f"{sources[record.annotator]}: keep one of them, or correct its user_id."
                )
            sources[record.annotator] = record.source
            yield record
        progress("annotators", done, len(states))


def _wanted(project: Project, asked: Sequence[str] | None) -> tuple[Scheme, ...]:
    """The span schemes to read; none if the configuration declares no scheme of any kind."""
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


def _found_schemes(annotators: Sequence[Annotator], project: Project) -> tuple[Scheme, ...]:
    found = names(sorted({name for someone in annotators for name in someone.checked.schemes}))
    if not found:
        raise InputError(
            f"{project.config}: declares no annotation schemes, and nobody has marked a span: "
            "give the configuration that the project was run with."
        )
    return tuple(Scheme(name=name) for name in found)


def _check_items(project: Project) -> tuple[dict[str, str], tuple[str, ...]]:
    """Kind of check by item id, and notes on files that are not there."""
    kinds: dict[str, str] = {}
    notes = []
    for file in project.checks:
        ids = read_check_ids(file)
        if ids is None:
            notes.append(
                f"the file of {file.kind}s ({file.path.name}) is not there: its items are told "
                "from the others only by not being in the data files."
            )
        else:
            kinds.update({identity: file.kind for identity in ids if identity not in kinds})
    return kinds, tuple(notes)


def _without(items: Items, ids: Mapping[str, str]) -> Items:
    kept = {identity: record for identity, record in items.records.items() if identity not in ids}
    return replace(items, records=kept)


def _page(items: Items, project: Project) -> Page:
    """The texts of all items and fields, as they were shown."""
    display = project.display
    fields = [shown_as.key for shown_as in display.fields] or [""]
    texts = [
        item_texts(record, text_key=project.text_key, display=display)
        for record in items.records.values()
    ]
    return Page.of(
        {identity: position for position, identity in enumerate(items.records)},
        {field: [of_item.get(field) for of_item in texts] for field in fields},
    )


def _check_items_known(annotators: Sequence[Annotator], page: Page, project: Project) -> None:
    """Raise InputError if every span is on an unknown item: then the ids do not fit the data."""
    read = sum(sum(someone.checked.read.values()) for someone in annotators)
    unknown = [
        someone.checked.entries.loc[someone.checked.entries["reason"] == NOT_IN_DATA, "item"]
        for someone in annotators
    ]
    if read and sum(map(len, unknown)) == read:
        first = next(str(ids.iloc[0]) for ids in unknown if len(ids))
        raise InputError(
            f"{project.config}: no span is on an item of the data files (the spans are on items "
            f"like {first!r}, the data files have {quoted(page.item_code, most=1) or 'none'}): "
            f"correct data_files or id_key ({project.id_key!r})."
        )


def _left_out(
    annotators: Sequence[Annotator], checks: Mapping[str, str], policy: str
) -> Iterator[LeftOut]:
    for someone in annotators:
        yield from someone.left_out
    for someone in annotators:
        if not len(someone.passes[policy]) and not len(someone.checked.unit):
            yield LeftOut("annotator", someone.name, f"has no pass (passes: {policy})")
    on_checks: Counter[str] = Counter()
    for someone in annotators:
        on_checks.update(someone.on_checks)
    for item, spans in sorted(on_checks.items()):
        yield LeftOut(checks[item], item, "was slipped in to check the annotators", spans)


def _with_evidence(
    schemes: tuple[Scheme, ...],
    spans: pd.DataFrame,
    page: Page,
    annotators: Sequence[Annotator],
    project: Project,
) -> tuple[Scheme, ...]:
    """The schemes with who was shown them and where: as configured, and as the spans show."""
    cohort_items = {
        position: cohort.items.union(*(read_ids(file, project.id_key) for file in cohort.files))
        for position, cohort in enumerate(project.declared.cohorts)
        if not cohort.annotators
    }
    shown = with_annotators(
        schemes,
        declared=project.declared,
        items_of={someone.name: someone.items for someone in annotators},
        cohort_items=cohort_items,
    )
    fields = {
        scheme.name: scheme.fields if set(scheme.fields or ()) <= set(page.fields) else None
        for scheme in shown
    }
    return tuple(
        replace(
            scheme,
            fields=_and_used(fields[scheme.name], "field", scheme.name, spans),
            annotators=_and_used(scheme.annotators, "annotator", scheme.name, spans),
        )
        for scheme in shown
    )


def _and_used(
    offered: tuple[str, ...] | None, column: str, scheme: str, spans: pd.DataFrame
) -> tuple[str, ...] | None:
    if offered is None:
        return None
    used = spans.loc[spans["scheme"] == scheme, column].unique()
    return tuple(sorted({*offered, *map(str, used)}))


def _potato_version(annotators: Sequence[Annotator]) -> str:
    known = {someone.version for someone in annotators} - {""}
    return f"≥ {'2.9' if '2.9' in known else '2.12'}" if known else ""


def _files(project: Project, items: Items, states: int) -> tuple[SourceFile, ...]:
    def shown(file: Path) -> str:
        inside = file.is_relative_to(project.base)
        return str(file.relative_to(project.base) if inside else file)

    return (
        SourceFile("config", shown(project.config), 1),
        *(SourceFile("data", shown(file), count) for file, count in items.files),
        SourceFile("annotations", shown(project.output), states),
    )
