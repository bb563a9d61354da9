"""When each pass began, from the behaviour that Potato 2 records in the annotators' states."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from potato_iaa.errors import InputError, UsageError
from potato_iaa.loaders.project import read_config
from potato_iaa.loaders.states import find_states
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


def pass_times(project: str | Path) -> dict[Pass, datetime]:
    """When each annotator first opened each item; what has no recorded time is not there.

    Raises InputError: no such project, or one whose annotations have no times at all.
    """
    config = read_config(project)
    times = {}
    for state in find_states(config.output)[0]:
        try:
            found = _states.decode(state.path.read_bytes())
        except (OSError, ValueError):
            continue
        who = well_formed(str(state.folder if found.user_id is None else found.user_id))
        for item, session in found.instance_id_to_behavioral_data.items():
            time = _time(session)
            if time is not None:
                times[(who, well_formed(item))] = time
    if not times:
        raise InputError(
            f"{config.config}: its annotations have no times (Potato 2 records when an item was "
            "opened): tell the two parts by their items, with --items-a and --items-b."
        )
    return times


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
