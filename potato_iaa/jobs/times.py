"""When each pass began, from the behaviour that Potato 2 records in the annotators' states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from potato_iaa.errors import InputError, UsageError
from potato_iaa.loaders.opening import content_of, folders_of, opening
from potato_iaa.loaders.people import People
from potato_iaa.loaders.project import read_config
from potato_iaa.loaders.states import StateFile, find_states
from potato_iaa.loaders.values import well_formed

# Annotator and item.
Pass = tuple[str, str]


class _Session(msgspec.Struct):
    session_start: float | None = None


class _State(msgspec.Struct):
    user_id: Any = None
    instance_id_to_behavioral_data: dict[str, msgspec.Raw] = {}


_states = msgspec.json.Decoder(_State)
_sessions = msgspec.json.Decoder(_Session, strict=False)


def pass_times(
    project: str | Path, *, merge: Mapping[str, str] | None = None, allow_outside: bool = False
) -> dict[Pass, datetime]:
    """When each annotator first opened each item; what has no recorded time is not there.

    ``merge`` gives the name of a person for a login or its folder; of several times on an item that
    of the person's own login counts, or else of the first by name. Raises InputError: no such
    project, or one whose annotations have no times at all; files outside it, unless
    ``allow_outside``.
    """
    people = People(merge=merge or {})
    with opening(project) as limits:
        config = read_config(project)
        if not allow_outside:
            limits.keep_within(folders_of(Path(project), config=config.config))
        of_logins = [
            (people.person(login, state.folder), login, times)
            for state in find_states(config.output)[0]
            for login, times in _times_in(state)
        ]
    found: dict[Pass, datetime] = {}
    for person, _, times in sorted(of_logins, key=lambda one: (one[0] != one[1], one[1])):
        for item, time in times.items():
            found.setdefault((person, item), time)
    if not found:
        raise InputError(
            f"{config.config}: its annotations have no times (Potato 2 records when an item was "
            "opened): tell the two parts by their items, with --items-a and --items-b."
        )
    return found


def _times_in(state: StateFile) -> Iterator[tuple[str, dict[str, datetime]]]:
    """The login and its times by item; nothing of a state that cannot be read."""
    try:
        found = _states.decode(content_of(state.path))
    except (OSError, ValueError, InputError):
        return
    login = well_formed(str(state.folder if found.user_id is None else found.user_id))
    times = {
        well_formed(item): time
        for item, session in found.instance_id_to_behavioral_data.items()
        if (time := _time(session)) is not None
    }
    yield login, times


def parse_time(text: str) -> datetime:
    """A date or a time; local unless it says otherwise. Raises UsageError.

    >>> parse_time("2026-03-01T12:00+00:00").isoformat()
    '2026-03-01T12:00:00+00:00'
    """
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError) as fault:
        raise UsageError(
            f"{text!r} is no date: give one like 2026-03-01, or 2026-03-01T12:00+01:00."
        ) from fault


def _time(session: msgspec.Raw) -> datetime | None:
    try:
        started = _sessions.decode(session).session_start
        return None if not started else datetime.fromtimestamp(started, UTC)
    except (ValueError, OverflowError, OSError):
        return None
