"""Potato's CoNLL exports from 2.12 on: a file for each annotator, tokens with BIO tags.

They hold the spans of the first span scheme, widened to whole tokens; where spans overlap, the
longer one wins. CoNLL-2003 names no items: they are known by their tokens.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from potato_iaa.corpus import DEFAULT_SCHEME, Scheme
from potato_iaa.errors import InputError
from potato_iaa.loaders.entries import NO_LABEL, Entry, stored_spans
from potato_iaa.loaders.exports import lossy
from potato_iaa.loaders.records import Found, Leaving, OddSpan, Record
from potato_iaa.loaders.tables import text_of
from potato_iaa.loaders.values import well_formed

AMBIGUOUS_ITEM = "ambiguous: several items have the tokens of its text, and the file names none"
NO_ITEM = "no item has the tokens of its text"
OTHER_TOKENS = "the item's text has other tokens"
_FILE = re.compile(r"annotations\.(.+)\.(conllu?)", re.DOTALL)
_SENTENCE = re.compile(r"(.*)-s\d+", re.DOTALL)
_DOCUMENT = "-DOCSTART-"
_OUTSIDE = ("O", "_", "")
_LOST = (
    "CoNLL loses all span schemes but the first, the boundaries within tokens, the shorter "
    "of two overlapping spans, and the parts of discontinuous spans."
)

Unit = tuple[str, str]


@dataclass(frozen=True)
class _Document:
    """One text of a file: its name (empty in CoNLL-2003), its tokens and their tags."""

    name: str
    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    text: str


def conll_files(folder: Path) -> tuple[Path, ...]:
    """The files of annotators in a folder."""
    return tuple(sorted(file for file in folder.iterdir() if _FILE.fullmatch(file.name)))


def is_of_nobody(file: Path) -> bool:
    """Whether a file is one that names no annotator.

    >>> is_of_nobody(Path("annotations.conll")), is_of_nobody(Path("annotations.ann.conllu"))
    (True, False)
    """
    return file.suffix in (".conll", ".conllu") and _FILE.fullmatch(file.name) is None


def read_conll(
    folder: Path, ending: str, *, schemes: Sequence[Scheme], texts: Mapping[Unit, str]
) -> Found:
    """The files of one ending, ``conll`` or ``conllu``, in a folder.

    ``texts`` are the shown texts by item and field, empty without a configuration. Raises
    InputError: CoNLL-2003 without texts; a file that is not CoNLL.
    """
    if ending == "conll" and not texts:
        raise InputError(
            f"{folder}: CoNLL-2003 holds neither the ids of the items nor their texts: name the "
            "project's configuration with --config, or give the csv or jsonl export."
        )
    by_tokens: dict[tuple[str, ...], list[Unit]] = {}
    for unit, text in texts.items():
        by_tokens.setdefault(tuple(text.split()), []).append(unit)
    scheme = schemes[0].name if schemes else DEFAULT_SCHEME
    files = [file for file in conll_files(folder) if file.suffix == f".{ending}"]
    kind = "conll_2003" if ending == "conll" else "conll_u"
    return Found(
        kind=f"{kind} export",
        path=folder,
        leavings=tuple(
            Leaving(name, partial(_read, name, file, scheme, texts, by_tokens))
            for name, file in ((_annotator(file), file) for file in files)
        ),
        texts_are="shown",
        lossy=lossy(kind),
        notes=(_LOST,),
    )


def _annotator(file: Path) -> str:
    found = _FILE.fullmatch(file.name)
    return well_formed(found[1]) if found is not None else ""


def _read(
    name: str,
    file: Path,
    scheme: str,
    texts: Mapping[Unit, str],
    by_tokens: Mapping[tuple[str, ...], Sequence[Unit]],
) -> Record:
    spans: dict[str, list[Entry]] = {}
    odd: list[OddSpan] = []
    own: dict[Unit, str] = {}
    for document in _documents(file):
        unit, fault = _unit(document, texts, by_tokens)
        text = texts.get(unit, document.text)
        extents = _token_extents(document.tokens, text)
        if extents is None:
            fault = fault or OTHER_TOKENS
            extents = []
        own[unit] = text
        entities = list(_entities(document.tags))
        odd += (
            OddSpan(unit[0], fault or NO_LABEL, scheme, unit[1], label)
            for _, _, label in entities
            if fault or not label
        )
        if fault:
            continue
        spans.setdefault(unit[0], []).extend(
            Entry(
                schema=scheme,
                name=label,
                start=extents[first][0],
                end=extents[last][1],
                target_field=unit[1] or None,
            )
            for first, last, label in entities
            if label
        )
    return Record(
        annotator=name,
        source=str(file),
        spans=dataclasses.replace(stored_spans(spans.items(), odd=odd), unit_is_certain=True),
        seen=frozenset(spans),
        texts={} if texts else own,
    )


def _unit(
    document: _Document,
    texts: Mapping[Unit, str],
    by_tokens: Mapping[tuple[str, ...], Sequence[Unit]],
) -> tuple[Unit, str]:
    """The item and field of a document, and what is wrong if they cannot be told."""
    if not document.name:
        units = by_tokens.get(document.tokens, ())
        if len(units) == 1:
            return units[0], ""
        return ("", ""), AMBIGUOUS_ITEM if units else NO_ITEM
    item, colon, field = document.name.rpartition(":")
    if (document.name, "") in texts or not texts:
        return (document.name, ""), ""
    if colon and (item, field) in texts:
        return (item, field), ""
    # The field that is the project's text has no name in the file.
    of_item = [unit for unit in texts if unit[0] == document.name]
    fitting = [unit for unit in by_tokens.get(document.tokens, ()) if unit in of_item]
    if fitting:
        return fitting[0], ""
    return (of_item[0] if of_item else (document.name, "")), ""


def _token_extents(tokens: Sequence[str], text: str) -> list[tuple[int, int]] | None:
    """Where the tokens of a text stand; None if it has other ones."""
    found = [match.span() for match in re.finditer(r"\S+", text)]
    same = [text[start:end] for start, end in found] == list(tokens)
    return found if same else None


def _entities(tags: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """First token, last token and label of every entity; a tag may lack the label.

    >>> list(_entities(["B-PER", "I-PER", "O", "I-LOC", "B-LOC", "B-"]))
    [(0, 1, 'PER'), (3, 3, 'LOC'), (4, 4, 'LOC'), (5, 5, '')]
    """
    first = 0
    label: str | None = None
    for place, tag in enumerate((*tags, "O")):
        begins, _, name = tag.partition("-")
        goes_on = begins == "I" and name == label
        if label is not None and not goes_on:
            yield first, place - 1, label
            label = None
        if tag not in _OUTSIDE and not goes_on:
            first, label = place, name


def _documents(file: Path) -> Iterator[_Document]:
    lines = text_of(file).split("\n")
    return _of_conll_u(lines, file) if file.suffix == ".conllu" else _of_conll_2003(lines, file)


def _of_conll_2003(lines: Sequence[str], file: Path) -> Iterator[_Document]:
    rows: list[list[str]] = []
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if line.startswith(_DOCUMENT) and len(cells) != 4:
            yield from _document("", rows, [])
            rows = []
        elif line.strip():
            if len(cells) != 4:
                raise InputError(
                    f"{file}, line {number}: has {len(cells)} columns and not the 4 of Potato's "
                    "CoNLL-2003: restore the file, or give the csv or jsonl export."
                )
            rows.append([cells[0], cells[3]])
    yield from _document("", rows, [])


def _of_conll_u(lines: Sequence[str], file: Path) -> Iterator[_Document]:
    name = ""
    rows: list[list[str]] = []
    texts: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("# sent_id = "):
            found = _SENTENCE.fullmatch(line.removeprefix("# sent_id = "))
            named = well_formed(found[1]) if found is not None else ""
            if named != name:
                yield from _document(name, rows, texts)
                name, rows, texts = named, [], []
        elif line.startswith("# text = "):
            texts.append(line.removeprefix("# text = "))
        elif line.strip() and not line.startswith("#"):
            cells = line.split("\t")
            tags = [part[4:] for part in cells[-1].split("|") if part.startswith("NER=")]
            if len(cells) != 10 or len(tags) > 1 or not name:
                raise InputError(
                    f"{file}, line {number}: is no token of Potato's CoNLL-U, which has 10 columns "
                    "with one tag at most, and names the item before: restore the file, or give "
                    "the csv or jsonl export."
                )
            rows.append([cells[1], tags[0] if tags else "O"])
    yield from _document(name, rows, texts)


def _document(
    name: str, rows: Sequence[Sequence[str]], texts: Sequence[str]
) -> Iterator[_Document]:
    if rows:
        tokens, tags = zip(*rows, strict=True)
        yield _Document(name, tokens, tags, " ".join(texts))
