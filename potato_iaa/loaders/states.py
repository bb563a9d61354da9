"""Annotators' states as Potato 2 saves them: one ``user_state.json`` in a folder for each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from potato_iaa.errors import InputError
from potato_iaa.loaders.bases import UNTOLD_2_2_TO_2_6, Counting, countings_of
from potato_iaa.loaders.entries import Entry, answers_of, entries_of, lenient_entry, stored_spans
from potato_iaa.loaders.opening import content_of
from potato_iaa.loaders.records import Found, Leaving, OddSpan, Record, StoredSpans, Stray
from potato_iaa.loaders.values import mapping, sequence, well_formed

STATE_FILE = "user_state.json"
HISTORY_FILE = "annotation_history.jsonl"
_KNOWN_FOLDERS = {
    "exports": "Potato's own exports",
    "adjudication": "decisions of adjudicators",
    "archived_users": "annotators whom the team removed",
}


@dataclass(frozen=True)
class StateFile:
    """An annotator's folder by name, and the state in it."""

    folder: str
    path: Path


class _Pair(msgspec.Struct, array_like=True, gc=False, forbid_unknown_fields=True):
    """A span with its value, which is always 1."""

    span: Entry
    value: bool | int | float | str | None = None


class _State(msgspec.Struct):
    """The keys of a state that matter, named as on disk; all may be absent."""

    user_id: Any = None
    instance_id_ordering: list[Any] = []
    current_instance_index: Any = 0
    instance_id_to_span_to_value: dict[str, msgspec.Raw] = {}
    instance_id_to_label_to_value: dict[str, Any] = {}
    instance_id_to_behavioral_data: dict[str, msgspec.Raw] = {}
    instance_id_to_room_provenance: dict[str, dict[str, msgspec.Raw]] | None = None
    instance_id_to_trial: dict[str, Any] | None = None
    instance_id_to_presentation_order: msgspec.Raw = msgspec.Raw()
    instance_id_to_link_to_value: msgspec.Raw = msgspec.Raw()
    instance_id_to_event_to_value: msgspec.Raw = msgspec.Raw()
    crowd_metadata: msgspec.Raw = msgspec.Raw()
    phase_to_page_to_span_to_value: Any = None
    training_state: msgspec.Raw = msgspec.Raw()
    flow_record: msgspec.Raw = msgspec.Raw()
    origin: Any = None


_decoder = msgspec.json.Decoder(_State)
# By item, so that what is decoded is in columns before the next is.
_pairs = msgspec.json.Decoder(list[_Pair])


@dataclass(frozen=True, eq=False)
class _Read:
    """A decoded state, and the spans in it."""

    state: _State
    spans: StoredSpans


def states_in(folder: Path) -> Found:
    """The leavings of all annotators of Potato 2; raises InputError as `find_states`."""
    states, strays = find_states(folder)
    return Found(
        kind="states",
        path=folder,
        leavings=tuple(Leaving(state.folder, partial(read_state, state)) for state in states),
        strays=strays,
        apart=True,
    )


def has_states(folder: Path) -> bool:
    """Whether a folder holds annotators of Potato 2."""
    return os.path.isdir(folder) and any(
        _is_folder(entry) and os.path.isfile(os.path.join(entry.path, STATE_FILE))
        for entry in _entries(folder)
    )


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
        raise InputError(
            f"{folder}: no folder in it holds a {STATE_FILE}, so nobody has annotated: "
            "give the folder that Potato wrote to as output_annotation_dir."
        )
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


def read_state(file: StateFile) -> Record:
    """One annotator's state.

    Entries among the spans that are no spans are kept as odd ones. Raises InputError: the file is
    cut off or not JSON, or holds no state.
    """
    try:
        data = content_of(file.path)
    except OSError as fault:
        raise InputError(
            f"{file.path}: cannot be read ({fault.strerror}): check its permissions."
        ) from fault
    read = _decoded(data, file)
    del data
    state = read.state
    version, countings = _version(state)
    ordering = [well_formed(str(item)) for item in state.instance_id_ordering]
    return Record(
        annotator=_annotator(state, file),
        source=str(file.path),
        spans=read.spans,
        assigned=tuple(dict.fromkeys(ordering)),
        seen=_seen(state, ordering),
        answers=tuple(answers_of(state.instance_id_to_label_to_value)),
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
        version=version,
        countings=countings,
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


def _version(state: _State) -> tuple[str, tuple[Counting, ...]]:
    """The Potato that writes such a state, empty if none does, and how it may have counted."""
    if len(bytes(state.flow_record)):
        return "≥ 2.12", countings_of("2.12")
    rooms = state.instance_id_to_room_provenance is not None
    if rooms or len(bytes(state.instance_id_to_presentation_order)):
        return "≥ 2.9", countings_of("2.9")
    if len(bytes(state.crowd_metadata)):
        return "2.7 or 2.8", countings_of("2.8")
    if len(bytes(state.instance_id_to_event_to_value)):
        return "2.2 to 2.6", UNTOLD_2_2_TO_2_6
    if len(bytes(state.instance_id_to_link_to_value)):
        return "2.1", countings_of("2.1")
    if len(bytes(state.training_state)):
        return "2.0", countings_of("2.0")
    return "", countings_of("2.12")


def _decoded(data: bytes, file: StateFile) -> _Read:
    try:
        state = _decoder.decode(data)
        return _Read(state, stored_spans(_entries_in(state)))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _leniently(_document(data, file), file)


def _entries_in(state: _State) -> Iterator[tuple[str, list[Entry]]]:
    for item, raw in state.instance_id_to_span_to_value.items():
        yield item, [pair.span for pair in _pairs.decode(raw)]


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
    spans: dict[str, list[Entry]] = {}
    odd: list[OddSpan] = []
    marked = document.get("instance_id_to_span_to_value")
    if marked and not isinstance(marked, dict):
        raise InputError(
            f"{file.path}: the spans of annotator {file.folder!r} are not listed by item "
            "(instance_id_to_span_to_value): restore the state from a backup, or leave the "
            "annotator out with --skip-broken."
        )
    for item, entries in _by_item(document, "instance_id_to_span_to_value"):
        found = spans.setdefault(item, [])
        for entry, scheme in entries_of(entries):
            span = lenient_entry(entry, item, scheme)
            if isinstance(span, OddSpan):
                odd.append(span)
            else:
                found.append(span)
    rooms = document.get("instance_id_to_room_provenance")
    state = _State(
        user_id=document.get("user_id"),
        instance_id_ordering=sequence(document.get("instance_id_ordering")),
        current_instance_index=document.get("current_instance_index"),
        instance_id_to_span_to_value=dict.fromkeys(spans, _present),
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
        **{key: _present for key in _FINGERPRINTS if key in document},
    )
    return _Read(state, stored_spans(spans.items(), odd=odd))


_present = msgspec.Raw(b"null")
_FINGERPRINTS = (
    "training_state",
    "instance_id_to_link_to_value",
    "instance_id_to_event_to_value",
    "crowd_metadata",
    "instance_id_to_presentation_order",
    "flow_record",
)


def _by_item(document: dict[Any, Any], key: str) -> Iterator[tuple[str, Any]]:
    return ((well_formed(item), value) for item, value in mapping(document.get(key)).items())
