"""All texts of a project, as the annotators saw them, on one axis."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from potato_iaa.arrays import Flags, Ints
from potato_iaa.loaders.rendering import Shown

UNKNOWN_LENGTH = int(np.iinfo(np.int64).max)
# No blank lies beyond U+3000.
_IS_BLANK = np.array([chr(point).isspace() for point in range(0x3002)], dtype=bool)
_BEYOND_BMP = 0xFFFF
# Scripts that put no blanks between words: there, no place is in the middle of a word.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0xA4CF),  # Han, Kana, Bopomofo, Yi
    (0xAC00, 0xD7AF),  # Hangul: particles cling to words
    (0xF900, 0xFAFF),  # Han
    (0xFF66, 0xFF9F),  # Kana
    (0x1B000, 0x1B16F),  # Kana
    (0x20000, 0x3FFFF),  # Han
)


@dataclass(frozen=True, eq=False)
class Page:
    """All texts of a project: what the spans of every annotator are checked against.

    A *unit* is an item with one of the display fields: item * number of fields + field.
    ``texts`` are the texts as they were shown, ``sources`` those of the data file, where they are
    texts. ``lengths`` is -1 for a unit that does not exist, and the largest integer where the text
    is not known. ``blank`` tells for every character of all known texts, one after the other,
    whether it is a blank, and ``base`` where a unit's text begins there. ``astral`` tells for a
    unit whether its text holds characters beyond U+FFFF. ``miscounted`` are the units where Potato
    counts offsets on another text than is shown. ``generation`` is 1 where the sources are shown
    as Potato 1 does. ``readings`` keeps what `bases` works out.
    """

    item_code: Mapping[str, int]
    fields: tuple[str, ...]
    texts: Sequence[str | None]
    sources: Sequence[str | None]
    lengths: Ints
    blank: Flags
    base: Ints
    astral: Flags
    miscounted: Mapping[int, Shown]
    linebreaks_as_markup: bool = False
    generation: int = 2
    readings: dict[Any, Any] = dataclasses.field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        item_code: Mapping[str, int],
        shown: Mapping[str, Sequence[Shown | None]],
        *,
        sources: Mapping[str, Sequence[str | None]] | None = None,
        linebreaks_as_markup: bool = False,
        generation: int = 2,
    ) -> Page:
        """The page of these items, with a text (or None) for every item under each field.

        >>> page = Page.of({"d1": 0}, {"": [Shown("Ada met Bob.")]})
        >>> page.lengths, page.base
        (array([12]), array([0]))
        """
        by_item = zip(*shown.values(), strict=True)
        on_units = [text for texts in by_item for text in texts]
        texts = [text.text if text is not None else None for text in on_units]
        known = [len(text or "") for text in texts]
        lengths = [
            -1 if text is None else UNKNOWN_LENGTH if text.text is None else len(text.text)
            for text in on_units
        ]
        given = sources or {}
        nothing: list[str | None] = [None] * len(item_code)
        of_source = zip(*(given.get(field, nothing) for field in shown), strict=True)
        return cls(
            item_code=item_code,
            fields=tuple(shown),
            texts=texts,
            sources=[source for of_item in of_source for source in of_item],
            lengths=np.array(lengths, dtype=np.int64),
            blank=np.concatenate([np.zeros(0, dtype=bool), *map(_blanks, texts)]),
            base=np.cumsum([0, *known], dtype=np.int64)[:-1],
            astral=np.array([_is_astral(text) for text in texts], dtype=bool),
            miscounted={
                unit: text
                for unit, text in enumerate(on_units)
                if text is not None and text.counted_on is not None
            },
            linebreaks_as_markup=linebreaks_as_markup,
            generation=generation,
        )

    @cached_property
    def word(self) -> Flags:
        """Whether each character of all known texts is part of a word that blanks set apart."""
        points = _points("".join(text or "" for text in self.texts))
        seen = np.zeros(0x110000, dtype=bool)
        seen[points] = True
        table = np.zeros(0x110000, dtype=bool)
        for point in np.flatnonzero(seen).tolist():
            table[point] = _is_word(point)
        found: Flags = table[points]
        return found

    @cached_property
    def differs(self) -> Flags:
        """Whether the text of a unit is shown otherwise than it stands in the data file."""
        pairs = zip(self.texts, self.sources, strict=True)
        return np.array([source is not None and source != text for text, source in pairs], bool)

    @cached_property
    def has_source(self) -> Flags:
        """Whether the text of a unit in the data file is known."""
        return np.array([source is not None for source in self.sources], dtype=bool)

    @cached_property
    def beyond_ascii(self) -> Flags:
        """Whether the text of a unit holds anything but ASCII."""
        return np.array([text is not None and not text.isascii() for text in self.texts], bool)


def _points(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)


def _blanks(text: str | None) -> Flags:
    points = _points(text or "")
    found: Flags = _IS_BLANK[np.minimum(points, len(_IS_BLANK) - 1)]
    return found


def _is_astral(text: str | None) -> bool:
    if text is None or text.isascii():
        return False
    return bool(_points(text).max() > _BEYOND_BMP)


def _is_word(point: int) -> bool:
    if any(low <= point <= high for low, high in _UNSPACED):
        return False
    return chr(point).isalnum() or unicodedata.category(chr(point)).startswith("M")
