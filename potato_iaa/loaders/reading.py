"""Read a finished Potato project, of whatever generation, or an export of it, into a Corpus."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from potato_iaa.corpus import Corpus, Source, SourceFile, assemble
from potato_iaa.errors import InputError, UsageError
from potato_iaa.ledger import UNREADABLE, Ledger
from potato_iaa.loaders.annotators import (
    REASONS,
    Annotator,
    LeftOut,
    Selection,
    annotator_of,
    why_left_out,
)
from potato_iaa.loaders.answer_spans import with_spans_of_answers
from potato_iaa.loaders.asked import found_schemes, wanted_schemes, with_evidence
from potato_iaa.loaders.bases import AS_SHOWN
from potato_iaa.loaders.counting import GivenCounting
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
from potato_iaa.loaders.items import Items
from potato_iaa.loaders.notes import (
    notes_on_first_places,
    notes_on_page,
    notes_on_records,
    notes_on_schemes,
)
from potato_iaa.loaders.opening import Opening, folders_of, opened_apart, opening
from potato_iaa.loaders.page import Page
from potato_iaa.loaders.paging import (
    checks_of,
    items_of,
    items_of_records,
    page_of,
    shown_texts,
    with_fields,
)
from potato_iaa.loaders.passes import POLICIES
from potato_iaa.loaders.people import People, one_person
from potato_iaa.loaders.project import Project, bare_project, read_config
from potato_iaa.loaders.records import Found, Leaving, Record
from potato_iaa.loaders.schemes import Declared
from potato_iaa.loaders.sources import PROJECT, Place, find_place, leavings_at
from potato_iaa.loaders.spans import NOT_IN_DATA, TRIMMED
from potato_iaa.loaders.values import counted, quoted
from potato_iaa.processes import cores, in_processes

# More would cost memory: each holds an annotator's file, and what is in it.
MOST_CHILDREN = 4
Progress = Callable[[str, int, int], None]


def read_project(
    path: str | Path,
    *,
    config: str | Path | None = None,
    passes: str = "seen",
    schemes: Sequence[str] | None = None,
    skip_broken: bool = False,
    include_annotators: Sequence[str] | None = None,
    exclude_annotators: Sequence[str] = (),
    include_items: Sequence[str] | None = None,
    exclude_items: Sequence[str] = (),
    merge: Mapping[str, str] | None = None,
    roles: Mapping[str, str] | None = None,
    potato_version: str | None = None,
    offset_unit: str | None = None,
    trim: bool = False,
    allow_outside: bool = False,
    progress: Progress | None = None,
) -> Corpus:
    """Read the spans of a finished Potato project, from 1.2 to 2.12, or of an export of it.

    ``path`` is the configuration, the folder with exactly one, the annotation folder, or an export:
    csv, tsv, jsonl, parquet, quotations.csv, web_annotations.jsonld, tei or conll (the file or its
    folder), or the one file of all annotations of Potato 1. For these the configuration is
    ``config``, or the nearest in the folders above; without one the texts are those that the export
    holds, if any. An export has lost the passes without a mark: they are taken from the annotators'
    states where the configuration leads to them, and the ledger says so where it does not.

    ``passes`` says which items an annotator counts as having worked through: ``seen`` (an answer, a
    list of spans even if empty, a trace of behaviour, or before the item on which the annotator
    stopped), ``assigned``, or ``marked`` (with a span). ``schemes`` chooses span schemes by name;
    without it all are read. With ``skip_broken`` an annotator whose file cannot be read is left
    out, and the ledger says so.

    ``include_annotators``, ``exclude_annotators``, ``include_items`` and ``exclude_items`` are
    patterns as of a shell. ``merge`` gives the name of a person for a login or its folder; of two
    passes of one person on an item one stands, and the spans of the other are set aside. ``roles``
    makes annotators, by name or pattern, ``human``, ``system`` or ``gold``; machines and
    adjudicators without a role are left out. ``potato_version`` and ``offset_unit``
    (``code-points``, ``utf-16``) are taken instead of what the files tell. ``trim`` takes blanks
    off the ends of spans. As by Potato, files outside the folders of the configuration and of
    ``path`` are refused, wherever a path or a link leads, unless ``allow_outside``. ``progress`` is
    called with what is being read, how many are done, and of how many.

    The items of the corpus are those of the data files, with the text as it was shown; offsets are
    code points of that text. Every span that was read is kept, repaired or set aside in the ledger;
    adjudicators, machines, the debug user, attention checks, gold items, survey pages, answers of a
    group and trials that ran out of time are left out there. A project with one annotator, or with
    no spans, can be read.

    Raises UsageError: no such policy, span scheme, version or unit; a name or pattern that nobody
    has. Raises InputError, one sentence with the file, the place in it, what is wrong and what to
    do: whatever cannot be read.
    """
    if passes not in POLICIES:
        raise UsageError(f"no policy {passes!r} for passes: there are {', '.join(POLICIES)}.")
    people = People(
        include=include_annotators,
        exclude=exclude_annotators,
        include_items=include_items,
        exclude_items=exclude_items,
        merge=merge or {},
        roles=roles or {},
    )
    counting = GivenCounting.of(potato_version, offset_unit)
    with opening(path) as limits:
        place = find_place(path, config)
        project = bare_project(place.path) if place.config is None else read_config(place.config)
        if not allow_outside:
            limits.keep_within(folders_of(Path(path), place.path, config=place.config))
        wanted = wanted_schemes(project, schemes)
        of_data = cache(partial(items_of, place, project))
        found = leavings_at(
            place,
            project,
            items=lambda: of_data().records,
            texts=lambda: _known_texts(of_data(), project),
        )
        items = of_data()
        counting.check(found)
        # A record that is in memory already would only be sent to and fro.
        children = min(cores(), MOST_CHILDREN) if found.apart else 1
        with _collection_paused(), in_processes(_outcome, found.leavings, most=children) as read:
            records: Iterable[Read] = _records(
                found.leavings,
                read,
                people,
                limits,
                skip_broken=skip_broken,
                progress=progress or _silent,
            )
            if place.form != PROJECT or found.generation == 1:
                records = list(records)
                items = _settled(items, [read.record for read in records if read.record], place)
            met = (
                [read.record for read in records if read.record]
                if isinstance(records, list)
                else []
            )
            checks, notes = checks_of(project, found, met, items, people)
            items = _without(items, checks)
            declared = with_fields(project.declared, items, project)
            page = page_of(items, project, declared=declared, found=found, records=met)
            reading = _Reading(
                project=project,
                declared=declared,
                page=page,
                people=people,
                counting=counting.on(met, page),
                selection=Selection(
                    known=frozenset(scheme.name for scheme in declared.spans),
                    marked=frozenset(scheme.name for scheme in declared.marked),
                    asked=None if schemes is None else frozenset(schemes),
                    categorical=frozenset(scheme.name for scheme in declared.categorical),
                    checks=checks,
                    trim=trim,
                ),
            )
            annotators, left_out = _annotators(records, reading)
        left_out = [
            *(LeftOut(stray.what, stray.name, stray.reason) for stray in found.strays),
            *left_out,
        ]
        entries = entry_frame(annotators)
        _check_items_known(annotators, entries, page, project)
        spans = span_frame(annotators, page)
        schemes_ = with_evidence(
            wanted or found_schemes(annotators, project),
            spans,
            page,
            annotators,
            project=project,
            declared=declared,
        )
        return assemble(
            items=item_frame(page),
            passes=pass_frame(annotators, passes, page),
            spans=spans,
            schemes=schemes_,
            roles=_roles(annotators, people, passes),
            source=Source(
                name=project.name,
                path=str(path),
                kind=found.kind,
                potato_version=potato_version or _potato_version(annotators),
                offset_unit=_counted(annotators, "unit"),
                offset_basis=_counted(annotators, "basis"),
                passes=passes,
                files=_files(place, project, items, found),
                reading=_unusual(
                    schemes=schemes,
                    skip_broken=skip_broken,
                    include_annotators=include_annotators,
                    exclude_annotators=exclude_annotators,
                    include_items=include_items,
                    exclude_items=exclude_items,
                    merge=merge,
                    roles=roles,
                    potato_version=potato_version,
                    offset_unit=offset_unit,
                    trim=trim,
                    allow_outside=allow_outside,
                ),
            ),
            ledger=Ledger(
                read=read_frame(annotators),
                entries=entries,
                left_out=left_out_frame([*left_out, *_left_out(annotators, checks, passes)]),
                passes=policy_frame(annotators),
                notes=(
                    *([found.lossy] if found.lossy else []),
                    *found.notes,
                    *project.notes,
                    *items.notes,
                    *notes,
                    *_notes_on_wishes(annotators, people, trim=trim),
                    *notes_on_schemes(declared, schemes_, spans, generation=found.generation),
                    *notes_on_records(annotators),
                    *notes_on_first_places(annotators, page),
                    *notes_on_page(page),
                    *limits.notes(),
                ),
            ),
            answers=answer_frame(annotators),
            categorical=project.declared.categorical,
        )


@dataclass(frozen=True, eq=False)
class _Reading:
    """Everything that a record is read with."""

    project: Project
    declared: Declared
    page: Page
    people: People
    counting: Callable[[Record], Record]
    selection: Selection


@dataclass(frozen=True, eq=False)
class Read:
    """A record, or why there is none; and the name of the leaving it was read from."""

    name: str
    record: Record | None = None
    left_out: LeftOut | None = None


def _known_texts(items: Items, project: Project) -> dict[tuple[str, str], str]:
    nothing = Found(kind="", path=project.base, leavings=())
    return shown_texts(page_of(items, project, declared=Declared(), found=nothing))


def _settled(items: Items, records: Sequence[Record], place: Place) -> Items:
    """The items of the data files if the records are on them, else those of the records."""
    of_records = items_of_records(records)
    if place.config is None or not items.records:
        return replace(of_records, notes=items.notes)
    if place.config_named or not of_records.records or place.form == PROJECT:
        return items
    if items.records.keys() & of_records.records.keys():
        return items
    note = (
        f"{place.config.name} lies near the export, but none of its items is in it: the texts of "
        "its data files are not used."
    )
    return replace(of_records, notes=(*items.notes, note))


def _annotators(
    records: Iterable[Read], reading: _Reading
) -> tuple[list[Annotator], list[LeftOut]]:
    """The annotators in the order read, those of several logins last, and who was left out."""
    annotators: list[Annotator] = []
    left_out: list[LeftOut] = []
    persons: dict[str, list[tuple[str, Record]]] = {}
    met: set[str] = set()
    logins: set[str] = set()
    several = set(reading.people.merge.values())

    def add(record: Record) -> None:
        met.add(record.annotator)
        reason = why_left_out(record, reading.project, reading.people)
        if reason is not None:
            left_out.append(reason)
        else:
            annotators.append(annotator_of(record, page=reading.page, selection=reading.selection))

    for read in records:
        logins.add(read.name)
        if read.left_out is not None:
            left_out.append(read.left_out)
        if read.record is None:
            continue
        logins.add(read.record.annotator)
        record = with_spans_of_answers(reading.counting(read.record), reading.declared)
        name = reading.people.person(record.annotator, read.name)
        if name in several:
            persons.setdefault(name, []).append((record.annotator, record))
        else:
            add(replace(record, annotator=name))
    for name, of_person in persons.items():
        # The person's own name first, then the logins in their order.
        ordered = sorted(of_person, key=lambda login: (login[0] != name, login[0]))
        add(one_person(name, [record for _, record in ordered]))
    reading.people.check(annotators=met, logins=logins)
    return annotators, left_out


def _roles(annotators: Sequence[Annotator], people: People, policy: str) -> dict[str, str]:
    """The roles that were given, of those who have a pass."""
    given = {
        someone.name: people.role_of(someone.name)
        for someone in annotators
        if len(someone.passes[policy]) or len(someone.checked.unit)
    }
    return {name: role for name, role in given.items() if role is not None}


def _notes_on_wishes(
    annotators: Sequence[Annotator], people: People, *, trim: bool
) -> Iterator[str]:
    # Logins are names too: a report under pseudonyms must not tell them.
    for name, logins in sorted(Counter(people.merge.values()).items()):
        yield f"read as {name!r}, as was asked for: {counted(logins, 'other login')}."
    if people.include_items is not None or people.exclude_items:
        wishes = [f"include {pattern!r}" for pattern in people.include_items or ()]
        wishes += [f"exclude {pattern!r}" for pattern in people.exclude_items]
        yield f"only some of the items were read: {', '.join(wishes)}."
    if trim:
        trimmed = sum(
            int((someone.checked.entries["reason"] == TRIMMED).sum()) for someone in annotators
        )
        yield f"blanks at the ends of spans were trimmed: {counted(trimmed, 'span')}."


def _unusual(**choices: Any) -> dict[str, Any]:
    """The choices that somebody made, as values of JSON."""
    return {
        name: dict(value)
        if isinstance(value, Mapping)
        else list(value)
        if isinstance(value, Sequence) and not isinstance(value, str)
        else value
        for name, value in choices.items()
        if value
    }


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


def _outcome(leaving: Leaving) -> tuple[Record | InputError, Opening]:
    """What a leaving holds, or why it cannot be read, and the files that were opened for it."""
    with opened_apart() as opened:
        try:
            return leaving.read(), opened
        except InputError as fault:
            return fault, opened


def _records(
    leavings: Sequence[Leaving],
    outcomes: Iterable[tuple[Record | InputError, Opening]],
    people: People,
    limits: Opening,
    *,
    skip_broken: bool,
    progress: Progress,
) -> Iterator[Read]:
    """The records one by one; with ``skip_broken``, those that cannot be read as left out."""
    sources: dict[str, str] = {}
    several = set(people.merge.values())
    progress("annotators", 0, len(leavings))
    for done, (leaving, (record, opened)) in enumerate(zip(leavings, outcomes, strict=True), 1):
        limits.add(opened)
        if isinstance(record, InputError):
            if not skip_broken:
                raise record
            yield Read(leaving.name, left_out=LeftOut(UNREADABLE, leaving.name, str(record)))
        else:
            name = people.person(record.annotator, leaving.name)
            if name in sources and name not in several:
                raise InputError(
                    f"{record.source}: holds the work of {name!r}, and so does "
                    f"{sources[name]}: keep one of them, or say whose they are with "
                    f"--merge {leaving.name}=NAME."
                )
            sources[name] = record.source
            yield Read(leaving.name, record)
        progress("annotators", done, len(leavings))


def _without(items: Items, ids: Mapping[str, str]) -> Items:
    kept = {identity: record for identity, record in items.records.items() if identity not in ids}
    return replace(items, records=kept)


def _check_items_known(
    annotators: Sequence[Annotator], entries: pd.DataFrame, page: Page, project: Project
) -> None:
    """Raise InputError if every span is on an unknown item: then the ids do not fit the data."""
    read = sum(sum(someone.checked.read.values()) for someone in annotators)
    unknown = entries.loc[entries["reason"] == NOT_IN_DATA, "item"]
    if read and len(unknown) == read:
        first = str(unknown.iloc[0])
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
        yield LeftOut(checks[item], item, REASONS[checks[item]], spans)


def _potato_version(annotators: Sequence[Annotator]) -> str:
    """The versions that the records tell of; of two that only give a least one, the lesser."""
    known = {someone.version for someone in annotators} - {""}
    if "≥ 2.9" in known:
        known.discard("≥ 2.12")
    return ", ".join(sorted(known))


def _counted(annotators: Sequence[Annotator], what: str) -> str:
    """The units, or the bases, in which the offsets were counted."""
    found = {str(getattr(someone.counting, what)) for someone in annotators}
    return " and ".join(sorted(found)) or str(getattr(AS_SHOWN, what))


def _files(place: Place, project: Project, items: Items, found: Found) -> tuple[SourceFile, ...]:
    def shown(file: Path) -> str:
        inside = file.is_relative_to(project.base)
        return str(file.relative_to(project.base) if inside else file)

    config = () if place.config is None else (SourceFile("config", shown(place.config), 1),)
    return (
        *config,
        *(SourceFile("data", shown(file), count) for file, count in items.files),
        SourceFile("annotations", shown(found.path), len(found.leavings)),
    )
