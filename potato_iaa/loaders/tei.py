"""Potato's TEI export: the spans as elements around their words, a folder for each annotator."""

from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from potato_iaa.corpus import Scheme
from potato_iaa.errors import InputError
from potato_iaa.loaders.entries import NO_LABEL, Entry, stored_spans
from potato_iaa.loaders.exports import lossy
from potato_iaa.loaders.opening import content_of
from potato_iaa.loaders.records import Found, Leaving, OddSpan, Record
from potato_iaa.loaders.schemes import resolved_by_label
from potato_iaa.loaders.values import well_formed

_TEI = "{http://www.tei-c.org/ns/1.0}"
_ID = "{http://www.w3.org/XML/1998/namespace}id"
# Labels that are elements of TEI are written as such, and all others as <rs type="LABEL">.
_NAMES = frozenset(("persName", "placeName", "orgName", "geogName", "name", "date", "time"))
_ANNOTATOR = re.compile(r"\(annotator (.*)\)\.$", re.DOTALL)
_RANGE = re.compile(r"#string-range\((.+),(\d{1,15}),(\d{1,15})\)", re.DOTALL)
NO_RANGE = "the annotation points to no part of an item's text"
NO_ITEM = "stands outside of the paragraphs of items"
_IS_ID = re.compile(r"[A-Za-z_][A-Za-z0-9._-]*")
_NOT_IN_ID = re.compile(r"[^A-Za-z0-9._-]+")
_LOST = (
    "TEI loses the scheme, all but the first part of discontinuous spans, and the second of "
    "two spans of one extent and label."
)


@dataclass(frozen=True)
class _Paragraph:
    """An item as it was shown, and the spans in it: start, end, label."""

    identity: str
    text: str
    spans: tuple[tuple[int, int, str], ...]


def tei_files(folder: Path) -> tuple[Path, ...]:
    """The files of the export: ``tei/*.xml`` in a folder, or in that of each annotator."""
    return tuple(sorted((*folder.glob("tei/*.xml"), *folder.glob("*/tei/*.xml"))))


def read_tei(folder: Path, *, schemes: Sequence[Scheme], items: Collection[str]) -> Found:
    """The TEI export in a folder; ``items`` are the known ids, which it writes as XML ids.

    Raises InputError: a file that is not Potato's TEI.
    """
    known: dict[str, set[str]] = {}
    for item in items:
        known.setdefault(_xml_id(item), set()).add(item)
    twice = next((found for found in known.values() if len(found) > 1), None)
    if twice is not None:
        raise InputError(
            f"{folder}: TEI writes the ids {' and '.join(map(repr, sorted(twice)))} in one way, so "
            "their spans cannot be told apart: give the csv or jsonl export, or the project's "
            "configuration."
        )
    item_of = {xml: next(iter(found)) for xml, found in known.items()}
    by_annotator: dict[str, list[Path]] = {}
    for file in tei_files(folder):
        by_annotator.setdefault(_annotator(_root(file), file), []).append(file)
    return Found(
        kind="tei export",
        path=folder,
        leavings=tuple(
            Leaving(name, partial(_read, name, files, schemes, item_of))
            for name, files in sorted(by_annotator.items())
        ),
        texts_are="shown",
        lossy=lossy("tei"),
        notes=(_LOST,),
    )


def _xml_id(item: str) -> str:
    cleaned = item if _IS_ID.fullmatch(item) else _NOT_IN_ID.sub("_", item)
    return cleaned if _IS_ID.fullmatch(cleaned) else f"item_{cleaned}"


def _root(file: Path) -> ElementTree.Element:
    try:
        root = ElementTree.fromstring(content_of(file))
    except OSError as fault:
        raise InputError(f"{file}: cannot be read ({fault.strerror}): check the path.") from fault
    # Expat raises ValueError on some declared encodings, and LookupError on unknown ones.
    except (ElementTree.ParseError, ValueError, LookupError, RecursionError) as fault:
        raise InputError(
            f"{file}: is not XML ({fault}): restore the file, or give the csv or jsonl export."
        ) from fault
    if root.tag != f"{_TEI}TEI":
        raise InputError(
            f"{file}: is no TEI document: give Potato's tei export, or the csv or jsonl export."
        )
    return root


def _annotator(root: ElementTree.Element, file: Path) -> str:
    told = root.findtext(f".//{_TEI}publicationStmt/{_TEI}p") or ""
    found = _ANNOTATOR.search(told)
    if found is None or not found[1].strip():
        raise InputError(
            f"{file}: does not say whose annotations it holds, so it is not Potato's tei export: "
            "give that, or the csv or jsonl export."
        )
    return well_formed(found[1])


def _read(
    name: str, files: Sequence[Path], schemes: Sequence[Scheme], item_of: Mapping[str, str]
) -> Record:
    spans: dict[str, list[Entry]] = {}
    odd: list[OddSpan] = []
    texts: dict[tuple[str, str], str] = {}
    for file in files:
        paragraphs, lost = _paragraphs(_root(file))
        odd += (
            OddSpan(item_of.get(identity, identity), reason, label=label)
            for identity, reason, label in lost
        )
        for paragraph in paragraphs:
            item = item_of.get(paragraph.identity, paragraph.identity)
            if (item, "") in texts:
                raise InputError(
                    f"{file}: holds item {item!r} of annotator {name!r} twice: restore the file, "
                    "or give the csv or jsonl export."
                )
            texts[item, ""] = paragraph.text
            spans.setdefault(item, []).extend(
                Entry(schema="", name=label, start=start, end=end, text=paragraph.text[start:end])
                for start, end, label in paragraph.spans
            )
    return Record(
        annotator=name,
        source=str(files[0]),
        spans=dataclasses.replace(
            resolved_by_label(stored_spans(spans.items(), odd=odd), schemes),
            texts_are_cut=True,
            unit_is_certain=True,
        ),
        seen=frozenset(spans),
        texts=texts,
    )


def _paragraphs(
    root: ElementTree.Element,
) -> tuple[list[_Paragraph], list[tuple[str, str, str]]]:
    """The items, and the spans that are on none: XML id as far as told, reason, label."""
    lost: list[tuple[str, str, str]] = []
    ranges: dict[str, list[tuple[int, int, str]]] = {}
    for annotation in root.iter(f"{_TEI}annotation"):
        found = _RANGE.fullmatch(annotation.get("target", ""))
        label = annotation.findtext(f"{_TEI}note") or ""
        if found is None or not label:
            lost.append((found[1] if found else "", NO_LABEL if found else NO_RANGE, label))
        else:
            start = int(found[2])
            ranges.setdefault(found[1], []).append((start, start + int(found[3]), label))
    paragraphs: list[_Paragraph] = []
    met: set[ElementTree.Element] = set()
    for element in root.iter(f"{_TEI}p"):
        identity = element.get(_ID)
        if identity is None or element in met:
            continue
        met.update(element.iter())
        text, spans = _unwrapped(element)
        # Ranges do not count line breaks, which are elements.
        place = [n for n, character in enumerate(text) if character != "\n"]
        for start, end, label in ranges.pop(identity, ()):
            if start < end <= len(place):
                spans.append((place[start], place[end - 1] + 1, label))
            else:
                lost.append((identity, NO_RANGE, label))
        lost += ((identity, NO_LABEL, label) for *_, label in spans if not label)
        paragraphs.append(_Paragraph(identity, text, tuple(span for span in spans if span[2])))
    lost += ((identity, NO_RANGE, label) for identity in ranges for *_, label in ranges[identity])
    bodies = (body.iter() for body in root.iter(f"{_TEI}text"))
    outside = dict.fromkeys(element for body in bodies for element in body if element not in met)
    labels = map(_label, outside)
    lost += (("", NO_ITEM, label) for label in labels if label is not None)
    return paragraphs, lost


def _unwrapped(element: ElementTree.Element) -> tuple[str, list[tuple[int, int, str]]]:
    """The text of an element, and the spans within it, with or without a label."""
    pieces = [element.text or ""]
    length = len(pieces[0])
    spans: list[tuple[int, int, str]] = []
    # A stack of our own: elements may nest deeper than calls can.
    path = [(element, iter(element), 0)]
    while path:
        current, children, start = path[-1]
        child = next(children, None)
        if child is not None:
            path.append((child, iter(child), length))
            added = "\n" if child.tag == f"{_TEI}lb" else child.text or ""
        else:
            path.pop()
            added = current.tail or "" if path else ""
            label = _label(current) if path else None
            if label is not None:
                spans.append((start, length, label))
        pieces.append(added)
        length += len(added)
    return "".join(pieces), spans


def _label(element: ElementTree.Element) -> str | None:
    """The label of a span, which may be empty; None for an element that is none."""
    name = element.tag.removeprefix(_TEI)
    if name == "rs":
        return element.get("type", "")
    return name if name in _NAMES else None
