"""From one annotator's record to what counts: checked spans, passes, and what is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from potato_iaa.arrays import Ints
from potato_iaa.loaders.answer_spans import simulated_spans
from potato_iaa.loaders.bases import Counting, elected
from potato_iaa.loaders.page import Page
from potato_iaa.loaders.passes import Passes, passes_by_policy
from potato_iaa.loaders.people import People
from potato_iaa.loaders.project import Project
from potato_iaa.loaders.records import Answer, Record, chosen
from potato_iaa.loaders.schemes import AMBIGUOUS_SCHEME
from potato_iaa.loaders.spans import Checked, check, units_of
from potato_iaa.loaders.values import counted

BAD_TEXT = "bad_text"
# What an item is that is not part of the work, and why it is left out.
REASONS = {
    "attention check": "was slipped in to check the annotators",
    "gold item": "was slipped in to check the annotators",
    "test question": "was slipped in to check the annotators",
    "survey page": "is a page of a survey",
    "pre-study item": "was to be passed before the work began",
    "excluded item": "is not among the items that were asked for",
}


@dataclass(frozen=True)
class LeftOut:
    """Something that was not read as an annotator, an item or a pass, and how many spans it had."""

    what: str
    name: str
    reason: str
    spans: int = 0


@dataclass(frozen=True, eq=False)
class Selection:
    """What of the records is read.

    ``known`` are the span schemes of the configuration (empty: whatever the spans say), ``marked``
    those of them whose spans are stored as such, ``asked`` those to read (None: all, and spans of
    unknown schemes are set aside). ``categorical`` are the schemes whose answers are read,
    ``checks`` the kind of check by item id, for the items that are not part of the work. With
    ``trim`` blanks at the ends of spans are taken off.
    """

    known: frozenset[str]
    marked: frozenset[str]
    asked: frozenset[str] | None
    categorical: frozenset[str]
    checks: Mapping[str, str]
    trim: bool = False


@dataclass(frozen=True, eq=False)
class Annotator:
    """What is kept of an annotator's record.

    ``passes`` are by policy, ``items`` those given to the annotator or seen. ``not_asked`` counts
    spans by scheme that were not asked for, ``simulated`` labels that are spans of Potato's
    simulator, ``bad_texts`` choices that there is nothing to mark, ``on_checks`` spans by item on
    items that are not part of the work.
    """

    name: str
    checked: Checked
    passes: Mapping[str, Passes]
    items: tuple[str, ...]
    answers: tuple[Answer, ...]
    version: str
    counting: Counting
    not_asked: Mapping[str, int]
    simulated: int
    bad_texts: int
    left_out: tuple[LeftOut, ...]
    on_checks: Mapping[str, int]


def why_left_out(record: Record, project: Project, people: People) -> LeftOut | None:
    """Why a record is not that of an annotator; None if it is one, or was given a role."""
    name, spans = record.annotator, len(record.spans)
    unwanted = people.why_not(name)
    if unwanted is not None:
        return LeftOut("annotator", name, unwanted, spans)
    if people.role_of(name) is not None:
        return None
    if name == "debug_user":
        return LeftOut("debug user", name, "is the login of Potato's debug mode", spans)
    if name in project.adjudicators:
        return LeftOut("adjudicator", name, "decides between the annotators", spans)
    if record.origin != "human":
        reason = f"is not a person (origin {record.origin!r})"
        return LeftOut("machine annotator", name, reason, spans)
    if name in project.machines:
        return LeftOut("machine annotator", name, "is listed under machine_annotators", spans)
    return None


def annotator_of(record: Record, *, page: Page, selection: Selection) -> Annotator:
    """Check a record against the page and work out its passes.

    An item that checks the annotators, one on which a group answered a span scheme, and one whose
    trial ran out of time is no pass, and its spans are counted as left out.
    """
    schemes = selection.known if selection.asked is None else selection.asked
    record = with_counting(record, page)
    in_room = {item for item, answered in record.room.items() if answered & schemes}
    without = selection.checks.keys() | in_room | record.timed_out
    spans = record.spans
    on_item = np.array([item not in without for item in spans.items], dtype=bool)[spans.item]
    asked = [selection.asked is None or name in selection.asked for name in spans.schemes]
    of_scheme = np.array(asked, dtype=bool)[spans.scheme]
    # Of any of several schemes, so perhaps of one that was asked for.
    of_scheme[[row for row, why in spans.unplaced.items() if why == AMBIGUOUS_SCHEME]] = True
    odd = [entry for entry in spans.odd if entry.item not in without]
    checked = check(
        chosen(spans, on_item & of_scheme, odd),
        page=page,
        schemes=schemes if selection.known else spans.schemes,
        trim=selection.trim,
    )
    spans_on = Counter(spans.items[code] for code in spans.item[~on_item].tolist())
    spans_on.update(entry.item for entry in spans.odd if entry.item in without)
    items = dict.fromkeys((*record.assigned, *sorted(record.seen)))
    return Annotator(
        name=record.annotator,
        checked=checked,
        passes=passes_by_policy(record, page=page, without=without, marked=checked.unit),
        items=tuple(items),
        answers=tuple(_answers(record, page, selection.categorical, without)),
        version=record.version,
        counting=record.countings[0],
        not_asked=_counts(spans.schemes, spans.scheme[on_item & ~of_scheme]),
        simulated=simulated_spans(record.answers, selection.marked),
        bad_texts=sum(
            answer.scheme in selection.known and answer.label == BAD_TEXT
            for answer in record.answers
        ),
        left_out=tuple(_parts_left_out(record, in_room, record.timed_out - in_room, spans_on)),
        on_checks={
            item: spans_on[item] for item in selection.checks if item in items or item in spans_on
        },
    )


def with_counting(record: Record, page: Page) -> Record:
    """The record with one way of counting, its spans having decided between several."""
    among = record.countings
    spans = record.spans
    if len(among) > 1:
        among = (elected(among, [(spans, units_of(spans, page))], page),)
    if spans.countings[0] == among[0]:
        return replace(record, countings=among)
    countings = (among[0], *spans.countings[1:])
    return replace(record, countings=among, spans=replace(spans, countings=countings))


def _counts(names: tuple[str, ...], codes: Ints) -> dict[str, int]:
    counts = np.bincount(codes, minlength=len(names)).tolist()
    return {name: count for name, count in zip(names, counts, strict=True) if count}


def _answers(
    record: Record, page: Page, categorical: Collection[str], without: Collection[str]
) -> Iterator[Answer]:
    for answer in record.answers:
        here = answer.item in page.item_code and answer.item not in without
        alone = answer.scheme not in record.room.get(answer.item, ())
        if answer.scheme in categorical and here and alone:
            yield answer


def _parts_left_out(
    record: Record,
    in_room: Collection[str],
    timed_out: Collection[str],
    spans_on: Mapping[str, int],
) -> Iterator[LeftOut]:
    name = record.annotator
    if record.room:
        items = counted(len(record.room), "item")
        reason = f"{items} answered in a room: members of a group do not answer independently"
        spans = sum(spans_on.get(item, 0) for item in in_room)
        yield LeftOut("room answers", name, reason, spans)
    if timed_out:
        reason = f"{counted(len(timed_out), 'item')} whose time ran out"
        spans = sum(spans_on.get(item, 0) for item in timed_out)
        yield LeftOut("timed-out trials", name, reason, spans)
    if record.phase_spans:
        reason = "marked in training or in a survey, not on the items"
        yield LeftOut("phase", name, reason, record.phase_spans)
