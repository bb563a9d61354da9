"""Who counts: which annotators and items, in which roles, and who is one person."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np

from potato_iaa.corpus import ROLES
from potato_iaa.errors import UsageError
from potato_iaa.loaders.records import Record, both
from potato_iaa.loaders.values import quoted

SECOND_PASS = "second pass of one person on the item, under another login"


@dataclass(frozen=True)
class People:
    """The wishes of whoever reads a project, patterns being those of a shell (``ann*``).

    ``include`` None stands for everybody. ``merge`` gives the name of a person for a login, or for
    the folder of one; ``roles`` a role for names and patterns.
    """

    include: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    include_items: Sequence[str] | None = None
    exclude_items: Sequence[str] = ()
    merge: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise UsageError for a role that does not exist, and for a merge into nothing."""
        for name, role in self.roles.items():
            if role not in ROLES:
                raise UsageError(f"no role {role!r} (for {name!r}): there are {', '.join(ROLES)}.")
        for name, new in self.merge.items():
            if not new.strip():
                raise UsageError(f"merge: {name!r} is given no name: write OLD=NEW.")

    def role_of(self, name: str) -> str | None:
        """The role that was given to an annotator, if any.

        >>> People(roles={"gpt*": "system"}).role_of("gpt-5")
        'system'
        """
        if name in self.roles:
            return self.roles[name]
        return next((role for to, role in self.roles.items() if fnmatchcase(name, to)), None)

    def person(self, login: str, folder: str) -> str:
        """The name of whoever has this login, in this folder."""
        return self.merge.get(folder, self.merge.get(login, login))

    def why_not(self, name: str) -> str | None:
        """Why an annotator was not wished for; None if they were."""
        return _why_not(name, self.include, self.exclude)

    def left_out_items(self, items: Iterable[str]) -> tuple[str, ...]:
        """The items that were not wished for."""
        if self.include_items is None and not self.exclude_items:
            return ()
        return tuple(
            item for item in items if _why_not(item, self.include_items, self.exclude_items)
        )

    def check(self, *, annotators: Collection[str], logins: Collection[str]) -> None:
        """Raise UsageError for a name or pattern that nobody has.

        ``annotators`` are all names that were met, ``logins`` these and the folders, unmerged.
        """
        for option, wanted, known in (
            ("include annotators", self.include or (), annotators),
            ("exclude annotators", self.exclude, annotators),
            ("roles", self.roles, annotators),
        ):
            for pattern in wanted:
                if not any(fnmatchcase(name, pattern) for name in known):
                    raise UsageError(
                        f"{option}: nobody is called {pattern!r}: there are "
                        f"{quoted(sorted(known)) or 'none'}."
                    )
        for login in self.merge:
            if login not in logins:
                raise UsageError(
                    f"merge: nobody is called {login!r}: there are {quoted(sorted(logins))}."
                )


def _why_not(name: str, include: Sequence[str] | None, exclude: Sequence[str]) -> str | None:
    if any(fnmatchcase(name, pattern) for pattern in exclude):
        return "was excluded"
    if include is not None and not any(fnmatchcase(name, pattern) for pattern in include):
        return "is not among those that were included"
    return None


def one_person(name: str, records: Sequence[Record]) -> Record:
    """The record of a person from those of their logins, in their order.

    Of two passes on one item the first with a span stands, else the first; the spans of the other
    are kept apart, as unplaced.

    >>> found = one_person("ann", [
    ...     Record("ann", "", seen=frozenset({"d1"})), Record("ann2", "", seen=frozenset({"d2"})),
    ... ])
    >>> found.annotator, sorted(found.seen)
    ('ann', ['d1', 'd2'])
    """
    stands: dict[str, int] = {}
    for marked_only in (True, False):
        for number, record in enumerate(records):
            for item in _marked(record) if marked_only else record.seen | _marked(record):
                stands.setdefault(item, number)
    spans = _apart(records[0], 0, stands).spans
    for number, record in enumerate(records[1:], 1):
        spans = both(spans, _apart(record, number, stands).spans)
    passes = [
        {item for item in record.seen if stands[item] == number}
        for number, record in enumerate(records)
    ]
    return dataclasses.replace(
        records[0],
        annotator=name,
        spans=spans,
        assigned=tuple(dict.fromkeys(item for record in records for item in record.assigned)),
        seen=frozenset().union(*passes),
        answers=tuple(
            answer
            for number, record in enumerate(records)
            for answer in record.answers
            if stands.get(answer.item, number) == number
        ),
        room={item: names for record in records for item, names in record.room.items()},
        timed_out=frozenset().union(*(record.timed_out for record in records)),
        phase_spans=sum(record.phase_spans for record in records),
        texts={key: text for record in reversed(records) for key, text in record.texts.items()},
    )


def _marked(record: Record) -> frozenset[str]:
    spans = record.spans
    return frozenset(spans.items[item] for item in np.unique(spans.item).tolist())


def _apart(record: Record, number: int, stands: Mapping[str, int]) -> Record:
    """The record, with the spans on items where another one stands as unplaced."""
    spans = record.spans
    second = np.array([stands.get(item, number) != number for item in spans.items], dtype=bool)
    rows = np.flatnonzero(second[spans.item]) if len(second) else ()
    unplaced = {**spans.unplaced, **{int(row): SECOND_PASS for row in rows}}
    return dataclasses.replace(record, spans=dataclasses.replace(spans, unplaced=unplaced))
