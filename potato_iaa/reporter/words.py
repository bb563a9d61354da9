"""The words of a report, for readers who never read a paper on agreement, and its definitions."""

from __future__ import annotations

from dataclasses import dataclass

from potato_iaa.measures.agreement import Settings
from potato_iaa.measures.registry import REGISTRY, Definition


@dataclass(frozen=True)
class Word:
    """A word and what it means in a report."""

    name: str
    meaning: str


WORDS = (
    Word("item", "One text that annotators were shown; it may have several display fields."),
    Word(
        "pass",
        "One annotator having worked through one item. A pass in which nothing was marked is a "
        "judgement, and disagrees with one in which something was; no pass is missing data.",
    ),
    Word("span", "A stretch of text that somebody marked, with its label; it may have gaps."),
    Word(
        "F1",
        "The share of the spans of two annotators that match one to one: twice the number of "
        "matches, divided by the number of spans of both. 1 is full agreement, 0 is none. It is "
        "not corrected for chance: with no end of places to mark, chance adds next to nothing.",
    ),
    Word("exact, overlap", "Spans match if they have the same offsets; if they share a character."),
    Word("typed, untyped", "Matching spans must have the same label; they may have any labels."),
    Word(
        "95 % interval",
        "How far the figure would move with other items of the same sort: items are drawn again "
        "with replacement, and 95 % of the figures made of such draws lie in the interval.",
    ),
    Word(
        "alpha",
        "Agreement corrected for chance: 1 is full agreement, 0 what chance would give, below 0 "
        "worse than chance. Where most tokens are outside all spans (O), chance agreement is high "
        "and much observed agreement is worth little.",
    ),
    Word(
        "missed, boundary, label, split/merge",
        "Kinds of disagreement: nothing overlaps on the other side; the same label with other "
        "offsets; the same offsets with another label; one span against several.",
    ),
    Word("flattened", "Where spans of one annotator overlap, the longest one keeps the place."),
    Word(
        "—",
        "Undefined. The F1 of two annotators without a shared item, for example, has no value. It "
        "is never shown as 0 or 1, and no mean counts it: n of N says how many a mean does count.",
    ),
    Word("ledger", "What became of every span that was read: kept, repaired or set aside."),
)


def definitions(settings: Settings) -> tuple[Definition, ...]:
    """The definitions of what is in a report: what is always made, and what was asked for."""
    asked = [*map(str, settings.rules), *settings.measures]
    return tuple(
        entry
        for entry in REGISTRY
        if entry.made == "always" or any(_names(entry.name, name) for name in asked)
    )


def _names(general: str, name: str) -> bool:
    """Whether a name stands for this: ``overlap(iou>=0.5)`` for ``overlap(iou>=T)``."""
    stem, threshold, _ = general.partition(">=")
    return name.startswith(f"{stem}>=") if threshold else name == general
