"""Annotators' states as Potato 2 saves them: one ``user_state.json`` in a folder for each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from potato_iaa.arrays import Ints
from potato_iaa.errors import InputError
from potato_iaa.loaders.records import Answer, OddSpan, Part, Record, StoredSpans
from potato_iaa.loaders.values import mapping, sequence, well_formed

STATE_FILE = "user_state.json"
HISTORY_FILE = "annotation_history.jsonl"
LARGEST_OFFSET = 2**53
_KNOWN_FOLDERS = {
    "exports": "Potato's own exports",
    "adjudication": "decisions of adjudicators",
    "archived_users": "annotators whom the team removed",
}
_Offset = Annotated[int, msgspec.Meta(ge=-LARGEST_OFFSET, le=LARGEST_OFFSET)]


@dataclass(frozen=True)
class StateFile:
    """An annotator's folder by name, and the state in it."""

    folder: str
    path: Path


@dataclass(frozen=True)
class Stray:
    """A file or folder among the annotators' that is not one, and why it is not read."""

    what: str
    name: str
    reason: str


class _Part(msgspec.Struct, gc=False):
    start: _Offset
    end: _Offset
    text: str | None = None


class _Span(msgspec.Struct, gc=False):
    schema: str
    name: str
    start: _Offset
    end: _Offset
    target_field: str | None = None
    additional_parts: list[_Part] | None = None
    text: str | None = None
    format_coords: Any = None


class _Pair(msgspec.Struct, array_like=True, gc=False):
    """A span with its value, which is always 1 and therefore not read."""

    span: _Span


class _State(msgspec.Struct):
    """The keys of a state that matter, named as on disk; all may be absent."""

    user_id: Any = None
    instance_id_ordering: list[Any] = []
    current_instance_index: Any = 0
    instance_id_to_span_to_value: dict[str, list[_Pair]] = {}
    instance_id_to_label_to_value: dict[str, Any] = {}
    instance_id_to_behavioral_data: dict[str, msgspec.Raw] = {}
    instance_id_to_room_provenance: dict[str, dict[str, msgspec.Raw]] | None = None
    instance_id_to_trial: dict[str, Any] | None = None
    instance_id_to_presentation_order: msgspec.Raw = msgspec.Raw()
    phase_to_page_to_span_to_value: Any = None
    training_state: msgspec.Raw = msgspec.Raw()
    flow_record: msgspec.Raw = msgspec.Raw()
    origin: Any = None


_decoder = msgspec.json.Decoder(_State)


@dataclass(frozen=True, eq=False)
class _Read:
    """A decoded state, and the entries among its spans that are none."""

    state: _State
    odd: tuple[OddSpan, ...] = ()


def find_states(folder: Path) -> tuple[tuple[StateFile, ...], tuple[Stray, ...]]:
    """The states in an annotation folder by name, and what else lies there.

    As in Potato, an annotator is a folder that holds a ``user_state.json``. Raises InputError: no
    such folder, no annotator in it.
    """
    if not os.path.isdir(folder):
        raise InputError(
            f"{folder}: there is no such folder, and output_annotation_dir names it: put the "
            "annotations there, or correct the configuration."
        )
    states, strays = [], []
    for entry in _entries(folder):
        name = well_formed(entry.name)
        state = Path(entry.path) / STATE_FILE
        if not _is_folder(entry):
            strays.append(Stray("file", name, "is not an annotator's folder"))
        elif os.path.isfile(state):
            states.append(StateFile(name, state))
            strays += _strays_in(Path(entry.path), name)
        else:
            reason = _KNOWN_FOLDERS.get(name, f"holds no {STATE_FILE}")
            strays.append(Stray("folder", name, reason))
    if not states:
        raise InputError(f"{folder}: {_why_none(folder, strays)}")
    return tuple(states), tuple(strays)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError as fault:
        raise InputError(
            f"{folder}: cannot be listed ({fault.strerror}): check its permissions."
        ) from fault


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _strays_in(folder: Path, annotator: str) -> Iterator[Stray]:
    for entry in _entries(folder):
        name = f"{annotator}/{well_formed(entry.name)}"
        if entry.name.endswith(".tmp"):
            yield Stray("file", name, "was left by a save that was cut short")
        elif entry.name not in (STATE_FILE, HISTORY_FILE):
            what = "folder" if _is_folder(entry) else "file"
            yield Stray(what, name, "holds no current annotations")


def _why_none(folder: Path, strays: list[Stray]) -> str:
    old = [s.name for s in strays if os.path.isfile(folder / s.name / "annotated_instances.jsonl")]
    if old:
        return (
            f"was written by Potato 1 (annotator {old[0]!r} has an annotated_instances.jsonl), "
            "which is not read yet: give a project of Potato 2.9 or later."
        )
    return (
        f"no folder in it holds a {STATE_FILE}, so nobody has annotated: "
        "give the folder that Potato wrote to as output_annotation_dir."
    )


def read_state(file: StateFile) -> Record:
    """One annotator's state.

    Entries among the spans that are no spans are kept as odd ones. Raises InputError: the file is
    cut off or not JSON, holds no state, or was written by a Potato before 2.9.
    """
    try:
        data = file.path.read_bytes()
    except OSError as fault:
        raise InputError(
            f"{file.path}: cannot be read ({fault.strerror}): check its permissions."
        ) from fault
    read = _decoded(data, file)
    del data
    state = read.state
    ordering = [well_formed(str(item)) for item in state.instance_id_ordering]
    return Record(
        annotator=_annotator(state, file),
        source=str(file.path),
        spans=_columns(read),
        assigned=tuple(dict.fromkeys(ordering)),
        seen=_seen(state, ordering),
        answers=tuple(_answers(state.instance_id_to_label_to_value)),
        room={
            item: frozenset(schemes)
            for item, schemes in (state.instance_id_to_room_provenance or {}).items()
            if schemes
        },
        timed_out=frozenset(
            item
            for item, trial in (state.instance_id_to_trial or {}).items()
            if mapping(trial).get("outcome") == "timeout"
        ),
        origin=_origin(state.origin),
        version=_version(state, file),
        phase_spans=sum(
            len(sequence(spans))
            for pages in mapping(state.phase_to_page_to_span_to_value).values()
            for spans in mapping(pages).values()
        ),
    )


def _annotator(state: _State, file: StateFile) -> str:
    name = state.user_id
    given = isinstance(name, str | int) and not isinstance(name, bool) and str(name).strip()
    return well_formed(str(name)) if given else file.folder


def _seen(state: _State, ordering: list[str]) -> frozenset[str]:
    """Items with an answer, with a list of spans even if empty, with a trace, or passed by."""
    index = state.current_instance_index
    passed = index if isinstance(index, int) and index > 0 else 0
    return frozenset(
        (
            *state.instance_id_to_label_to_value,
            *state.instance_id_to_span_to_value,
            *state.instance_id_to_behavioral_data,
            *ordering[:passed],
        )
    )


def _origin(origin: Any) -> str:
    # Potato's rule: none is a person, one that cannot be read is not.
    if origin is None or origin == {}:
        return "human"
    kind = mapping(origin).get("kind")
    return kind.strip() if isinstance(kind, str) and kind.strip() else "unknown"


def _version(state: _State, file: StateFile) -> str:
    """The earliest Potato that writes such a state; empty if no Potato wrote it."""
    if len(bytes(state.flow_record)):
        return "2.12"
    rooms = state.instance_id_to_room_provenance is not None
    if rooms or len(bytes(state.instance_id_to_presentation_order)):
        return "2.9"
    if len(bytes(state.training_state)):
        raise InputError(
            f"{file.path}: was written by Potato before 2.9, whose offsets count UTF-16 units on "
            "another text and are not read yet: give a project of Potato 2.9 or later."
        )
    return ""


def _decoded(data: bytes, file: StateFile) -> _Read:
    try:
        return _Read(_decoder.decode(data))
    except (msgspec.MsgspecError, RecursionError):
        return _leniently(_document(data, file), file)


def _document(data: bytes, file: StateFile) -> Any:
    try:
        return json.loads(data)
    except json.JSONDecodeError as fault:
        cut = fault.pos >= len(fault.doc.rstrip()) or "Unterminated" in fault.msg
        problem = "is cut off" if cut else f"is not JSON ({fault.msg})"
        place = f", line {fault.lineno}, column {fault.colno}"
    except UnicodeDecodeError as fault:
        place, problem = f", byte {fault.start}", "is not text in UTF-8"
    except (ValueError, RecursionError) as fault:
        place, problem = "", f"is not JSON that can be read ({fault})"
    raise InputError(
        f"{file.path}{place}: the state of annotator {file.folder!r} {problem}: restore it from a "
        "backup, or leave the annotator out with --skip-broken."
    )


def _leniently(document: Any, file: StateFile) -> _Read:
    """The state in a document of which not every value has the shape that Potato gives it."""
    if not isinstance(document, dict):
        raise InputError(
            f"{file.path}: holds something else than the state of annotator {file.folder!r}: "
            "restore it from a backup, or leave the annotator out with --skip-broken."
        )
    spans: dict[str, list[_Pair]] = {}
    odd: list[OddSpan] = []
    for item, entries in _by_item(document, "instance_id_to_span_to_value"):
        found = spans.setdefault(item, [])
        for entry, scheme in _entries_of(entries):
            span = _lenient_span(entry, item, scheme)
            if isinstance(span, OddSpan):
                odd.append(span)
            else:
                found.append(_Pair(span))
    rooms = document.get("instance_id_to_room_provenance")
    state = _State(
        user_id=document.get("user_id"),
        instance_id_ordering=sequence(document.get("instance_id_ordering")),
        current_instance_index=document.get("current_instance_index"),
        instance_id_to_span_to_value=spans,
        instance_id_to_label_to_value=dict(_by_item(document, "instance_id_to_label_to_value")),
        instance_id_to_behavioral_data={
            item: _present for item, _ in _by_item(document, "instance_id_to_behavioral_data")
        },
        instance_id_to_room_provenance=None
        if rooms is None
        else {
            item: {well_formed(scheme): _present for scheme in mapping(answered)}
            for item, answered in _by_item(document, "instance_id_to_room_provenance")
        },
        instance_id_to_trial=dict(_by_item(document, "instance_id_to_trial")),
        phase_to_page_to_span_to_value=document.get("phase_to_page_to_span_to_value"),
        origin=document.get("origin"),
        **{
            key: _present
            for key in ("instance_id_to_presentation_order", "training_state", "flow_record")
            if key in document
        },
    )
    return _Read(state, tuple(odd))


_present = msgspec.Raw(b"null")


def _by_item(document: dict[Any, Any], key: str) -> Iterator[tuple[str, Any]]:
    return ((well_formed(item), value) for item, value in mapping(document.get(key)).items())


def _entries_of(entries: Any) -> Iterator[tuple[Any, str]]:
    """The entries of one item, with the scheme where they are listed by scheme."""
    if isinstance(entries, dict):
        for scheme, listed in entries.items():
            of_scheme = listed.values() if isinstance(listed, dict) else sequence(listed)
            yield from ((entry, well_formed(scheme)) for entry in of_scheme)
    elif isinstance(entries, list):
        yield from ((entry, "") for entry in entries)
    elif entries is not None:
        yield entries, ""


def _lenient_span(entry: Any, item: str, scheme: str) -> _Span | OddSpan:
    given = entry[0] if isinstance(entry, list) and entry else entry
    if not isinstance(given, dict):
        return OddSpan(item, "the entry is not a span", scheme)
    scheme = _text(given.get("schema")) or scheme
    label = _text(given.get("name"))
    field_ = _text(given.get("target_field"))
    if not label:
        return OddSpan(item, "the span has no label", scheme, field_)
    start, end = _offset(given.get("start")), _offset(given.get("end"))
    parts = [_lenient_part(part) for part in sequence(given.get("additional_parts"))]
    whole = [part for part in parts if part is not None]
    if start is None or end is None or len(whole) < len(parts):
        return OddSpan(item, "the offsets are not whole numbers", scheme, field_, label)
    return _Span(
        schema=scheme,
        name=label,
        start=start,
        end=end,
        target_field=field_ or None,
        additional_parts=whole or None,
        text=_text(given.get("text")) or None,
        format_coords=given.get("format_coords"),
    )


def _lenient_part(part: Any) -> _Part | None:
    given = mapping(part)
    start, end = _offset(given.get("start")), _offset(given.get("end"))
    if start is None or end is None:
        return None
    return _Part(start=start, end=end, text=_text(given.get("text")) or None)


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, dict | list) else well_formed(str(value))


def _offset(value: Any) -> int | None:
    if isinstance(value, str):
        value = int(value) if value.strip().isascii() and value.strip().isdigit() else None
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if abs(value) <= LARGEST_OFFSET else None


def _columns(read: _Read) -> StoredSpans:
    by_item = read.state.instance_id_to_span_to_value
    spans = [pair.span for pairs in by_item.values() for pair in pairs]
    lengths = np.fromiter(map(len, by_item.values()), dtype=np.int64, count=len(by_item))
    schemes, scheme = _coded([span.schema for span in spans])
    labels, label = _coded([span.name for span in spans])
    fields, field = _coded([span.target_field for span in spans])
    more = [
        (row, span)
        for row, span in enumerate(spans)
        if span.additional_parts or span.text or span.format_coords
    ]
    return StoredSpans(
        items=tuple(by_item),
        schemes=schemes,
        labels=labels,
        fields=fields,
        item=np.repeat(np.arange(len(by_item), dtype=np.int64), lengths),
        scheme=scheme,
        label=label,
        field=field,
        start=_ints((span.start for span in spans), len(spans)),
        end=_ints((span.end for span in spans), len(spans)),
        parts={
            row: tuple(Part(part.start, part.end, part.text) for part in span.additional_parts)
            for row, span in more
            if span.additional_parts
        },
        texts={row: span.text for row, span in more if span.text},
        regions=frozenset(row for row, span in more if span.format_coords),
        odd=read.odd,
    )


def _coded(values: Sequence[str | None]) -> tuple[tuple[str, ...], Ints]:
    """The distinct values, sorted, and the position of each value among them; None is ``""``."""
    given = set(values)
    distinct = sorted({value or "" for value in given})
    if len(distinct) == 1:
        return tuple(distinct), np.zeros(len(values), dtype=np.int64)
    position = {value: number for number, value in enumerate(distinct)}
    code = {value: position[value or ""] for value in given}
    return tuple(distinct), _ints(map(code.__getitem__, values), len(values))


def _ints(values: Iterable[int], count: int) -> Ints:
    return np.fromiter(values, dtype=np.int64, count=count)


def _answers(labels: Mapping[str, Any]) -> Iterator[Answer]:
    for item, stored in labels.items():
        for scheme, label, value in _labels_of(stored):
            yield Answer(item, _text(scheme), _text(label), _stored(value))


def _labels_of(stored: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Scheme, label and value: Potato stores pairs, its importers a mapping by scheme."""
    if isinstance(stored, dict):
        for scheme, values in stored.items():
            if isinstance(values, dict):
                yield from ((scheme, label, value) for label, value in values.items())
            else:
                yield scheme, "", values
    for entry in sequence(stored):
        if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict):
            yield entry[0].get("schema"), entry[0].get("name"), entry[1]


def _stored(value: Any) -> str:
    if isinstance(value, str):
        return well_formed(value)
    return well_formed(json.dumps(value, ensure_ascii=False))
