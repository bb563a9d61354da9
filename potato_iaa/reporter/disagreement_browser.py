"""The disagreement browser: the most contested items, drawn, and what a script filters them by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from potato_iaa.measures.agreement import Agreement, SchemeAgreement
from potato_iaa.measures.disagreements import KINDS
from potato_iaa.reporter.contested import Contested, Dispute, Side, contested, disputed_items
from potato_iaa.reporter.lanes import label_colours, lane_picture, lane_text
from potato_iaa.reporter.safe_text import shortened

# Bytes that the browsers of all schemes may take, together.
BROWSER = 600_000
# What a disagreement, and an item, take beside the drawing.
DISPUTE, ITEM = 700, 500
COVERED = 90


@dataclass(frozen=True)
class Entry:
    """A contested item with its lanes drawn; ``first`` numbers its first disagreement."""

    contested: Contested
    drawn: Markup
    with_text: bool
    first: int


@dataclass(frozen=True)
class Browser:
    """The contested items of a scheme, what the script filters by, and how many there are."""

    entries: tuple[Entry, ...]
    items: int
    of: int
    labels: tuple[str, ...]
    colours: dict[str, int]
    annotators: tuple[str, ...]
    data: Markup


def browser(
    agreement: Agreement, scheme: SchemeAgreement, *, text: bool, most: int = BROWSER
) -> Browser:
    """The most contested items, as many as fit into the bytes there are."""
    colours = label_colours(scheme.corpus.labels)
    most //= max(len(agreement.schemes), 1)
    entries: list[Entry] = []
    size, first = 0, 0
    for field in contested(agreement, scheme):
        with_text = text and field.text is not None
        drawn = (
            lane_text(field.text, field.rows, colours, near=_places(field.disputes))
            if with_text and field.text is not None
            else lane_picture(field.rows, field.length, colours)
        )
        size += len(drawn.encode("utf-8", "replace")) + DISPUTE * len(field.disputes) + ITEM
        if entries and size > most:
            break
        entries.append(Entry(field, drawn, with_text, first))
        first += len(field.disputes)
    disputes = [dispute for entry in entries for dispute in entry.contested.disputes]
    labels, annotators = _named(disputes)
    return Browser(
        entries=tuple(entries),
        items=len({entry.contested.item for entry in entries}),
        of=disputed_items(scheme),
        labels=labels,
        colours=colours,
        annotators=annotators,
        data=_data(disputes, labels, annotators),
    )


def _places(disputes: Iterable[Dispute]) -> list[tuple[int, int]]:
    """Where these disagreements lie, from the first to the last code point of each side."""
    return [
        (side.parts[0][0], side.parts[-1][1])
        for dispute in disputes
        for side in dispute.sides
        if side.parts
    ]


def _named(disputes: Iterable[Dispute]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The labels and the annotators of these disagreements, by name."""
    labels: set[str] = set()
    annotators: set[str] = set()
    for dispute in disputes:
        labels |= {side.label for side in dispute.sides if side.label is not None}
        annotators |= {name for pair in dispute.pairs for name in pair}
    return tuple(sorted(labels)), tuple(sorted(annotators))


def _data(disputes: Sequence[Dispute], labels: Sequence[str], annotators: Sequence[str]) -> Markup:
    """What the script filters by, as numbers alone: [kind, labels, pairs] per disagreement."""
    label_code = {label: code for code, label in enumerate(labels)}
    code = {name: place for place, name in enumerate(annotators)}
    return embedded(
        [
            [
                KINDS.index(dispute.kind),
                sorted({label_code[side.label] for side in dispute.sides if side.label}),
                [[code[a], code[b]] for a, b in dispute.pairs],
            ]
            for dispute in disputes
        ]
    )


def embedded(value: Any) -> Markup:
    r"""JSON for a script element: nothing in it can end the element or begin a comment.

    >>> embedded(["</script><!--"])
    Markup('["\\u003c/script\\u003e\\u003c!--"]')
    """
    written = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Markup(written)


def covered(entry: Entry, side: Side) -> str:
    """The text that a side covers, shortened."""
    text = entry.contested.text or ""
    parts = " … ".join(text[start:end] for start, end in side.parts)
    return shortened(" ".join(parts.split()), COVERED)


def places(side: Side) -> str:
    """The offsets of a side.

    >>> places(Side("a", ((0, 3), (5, 9)), ("ann",)))
    '0–3, 5–9'
    """
    return ", ".join(f"{start:,}–{end:,}" for start, end in side.parts)
