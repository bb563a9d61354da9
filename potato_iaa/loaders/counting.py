"""How the offsets of records are taken: as was given, as the files tell, or as the spans show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from potato_iaa.errors import UsageError
from potato_iaa.loaders.annotators import with_counting
from potato_iaa.loaders.bases import UNITS, countings_of, elected
from potato_iaa.loaders.page import Page
from potato_iaa.loaders.records import Found, Record
from potato_iaa.loaders.spans import units_of


@dataclass(frozen=True)
class GivenCounting:
    """The version and the unit that were given instead of what the files tell."""

    version: str | None = None
    unit: str | None = None

    @classmethod
    def of(cls, version: str | None, unit: str | None) -> GivenCounting:
        """A version such as 2.8 and a unit by its option's name; raises UsageError for others."""
        if version is not None:
            countings_of(version)
        if unit is not None and unit not in UNITS:
            raise UsageError(f"no unit {unit!r} of offsets: there are {', '.join(UNITS)}.")
        return cls(version, None if unit is None else UNITS[unit])

    def check(self, found: Found) -> None:
        """Raise UsageError if files of Potato 1 are said to be of Potato 2, or the reverse."""
        if self.version is None:
            return
        generation = self.version.strip().lstrip("v")[:1]
        if generation != str(found.generation):
            raise UsageError(
                f"{found.path}: was written by Potato {found.generation}, so it cannot be of "
                f"version {self.version}: leave potato_version out, or give the right one."
            )

    def on(self, records: Sequence[Record], page: Page) -> Callable[[Record], Record]:
        """What gives a record its one way of counting.

        Several records that do not tell how they were counted, as those of an export, decide
        together.
        """
        untold = [record for record in map(self._given, records) if len(record.countings) > 1]
        spans = [(record.spans, units_of(record.spans, page)) for record in untold]
        together = {
            among: elected(among, spans, page)
            for among in dict.fromkeys(record.countings for record in untold)
        }

        def settled(record: Record) -> Record:
            given = self._given(record)
            if given.countings in together:
                given = replace(given, countings=(together[given.countings],))
            return with_counting(given, page)

        return settled

    def _given(self, record: Record) -> Record:
        if record.spans.unit_is_certain or (self.version is None and self.unit is None):
            return record
        countings = record.countings if self.version is None else countings_of(self.version)
        if self.unit is None:
            return replace(record, countings=countings)
        in_unit = dict.fromkeys(replace(counting, unit=self.unit) for counting in countings)
        return replace(
            record,
            countings=tuple(in_unit),
            spans=replace(record.spans, unit_is_certain=True),
        )
