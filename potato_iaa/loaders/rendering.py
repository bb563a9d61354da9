"""The text of an item as the annotator saw it: what Potato's span offsets count.

The browser measures a span on the text nodes of the page, so a tag counts nothing, an entity one
character, and what Potato strips on the way to the page is not there. Offsets are code points from
Potato 2.9 on.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from potato_iaa.loaders.values import mapping, well_formed

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
SPACES = re.compile(" +")
TAG = re.compile(r"<(/?)(\w+)([^>]*)(/?)>", re.DOTALL)
REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# Potato cuts these out of any text before it looks for tags.
DANGEROUS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (r"javascript:", r"vbscript:", r"data:", r"expression\s*\(")
)
# One of these stands in any text, in lower case, that the patterns match; the letters are those
# whose case is not lower(), but which a pattern takes for an "i" or an "s".
_DANGER_SIGNS = ("script:", "data:", "expression")
_ODD_CASES = ("\u0131", "\u0130", "\u017f")
_BLOCK_NAMES = "blockquote br div h1 h2 h3 h4 h5 h6 li ol p pre table ul"
_INLINE_NAMES = """
    a abbr audio b caption cite code dd del details dl dt em figcaption figure hr i img ins kbd
    mark rp rt ruby s samp small source span strong sub summary sup tbody td th thead tr track u
    var video wbr
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
# Elements that stay mark-up; the tags of all others are shown as they are written.
ELEMENTS = _BLOCKS | frozenset(_INLINE_NAMES.split())
_SPEAKER = re.compile(r"^([A-Za-z0-9_\s]+):\s*(.*)$")
_SHADED_SPEAKER = re.compile(r"^([^:]+):\s*(.*)$", re.DOTALL)
LONGEST_PATH = 4096
CONVERTING = ("document", "code")
# What JavaScript's trim() takes off.
TRIMMED = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


@dataclass(frozen=True)
class ListStyle:
    """How the default display joins the parts of a text that is a list."""

    prefix: str = "alphabet"
    shaded: bool = False
    side_by_side: bool = False


@dataclass(frozen=True)
class DisplayField:
    """A field of ``instance_display`` on which spans can be marked."""

    key: str
    kind: str
    speaker_key: str = "speaker"
    text_key: str = "text"
    extracts_speakers: bool = True
    numbers_turns: bool = False
    keeps_newlines: bool = True
    keeps_structure: bool = True

    @classmethod
    def of(cls, key: str, kind: str, settings: Mapping[Any, Any]) -> DisplayField:
        """The field with its options, given flat or, first, under ``display_options``."""
        options = {**settings, **mapping(settings.get("display_options"))}
        return cls(
            key=key,
            kind=kind,
            speaker_key=str(options.get("speaker_key", "speaker")),
            # Under a dialogue's own settings `text_key` names the key of a turn's text.
            text_key=str(options.get("text_key", "text")),
            extracts_speakers=bool(options.get("speaker_extraction", True)),
            numbers_turns=bool(options.get("show_turn_numbers", False)),
            keeps_newlines=bool(options.get("preserve_whitespace", True)),
            keeps_structure=bool(options.get("preserve_structure", True)),
        )


@dataclass(frozen=True)
class Display:
    """How a project shows its items; without ``fields`` it is the default display."""

    fields: tuple[DisplayField, ...] = ()
    linebreaks_as_markup: bool = False
    lists: ListStyle = field(default_factory=ListStyle)
    base: Path = Path()

    @property
    def converts(self) -> bool:
        """Whether a value may name a file, whose text Potato shows in its place."""
        return any(shown_as.kind in CONVERTING for shown_as in self.fields)


@dataclass(frozen=True)
class Shown:
    """The text of one item and field on the page, None where it cannot be rebuilt.

    ``counted_on`` is the text on which Potato turned the browser's UTF-16 offsets into code
    points, where that was another text and the two conversions differ.
    """

    text: str | None
    counted_on: str | None = None


def default_text(value: Any, display: Display) -> str:
    r"""The text that the default display shows for the value of ``text_key``.

    Control characters go (a tab too), runs of spaces become one, the ends are trimmed; a list is
    joined with its prefixes; then tags count nothing, and entities one character.

    >>> default_text("  Tom\tand <b>Jerry</b> &amp; x < y ", Display())
    'Tomand Jerry & x < y'
    >>> default_text(["Yes.", "No."], Display())
    'A. Yes.B. No.'
    """
    return text_content(_default_markup(value, display))


def _default_markup(value: Any, display: Display) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return _indented(value)
    if isinstance(value, list):
        return _joined_list(value, display)
    if not isinstance(value, str):
        return str(value)
    # The tests beside the patterns only save time.
    text = value if value.replace("\n", "").isprintable() else CONTROL.sub("", value)
    text = (SPACES.sub(" ", text) if "  " in text else text).strip()
    return text.replace("\n", "<br/>") if display.linebreaks_as_markup else text


def _joined_list(values: list[Any], display: Display) -> str:
    style = display.lists
    parts = [_list_part(value, position, display) for position, value in enumerate(values)]
    if style.shaded:
        parts = [f"<span>{part}</span>" for part in parts]
    if style.side_by_side:
        return "<span>" + "".join(f"<span>{part}</span>" for part in parts) + "</span>"
    return ("" if style.shaded else "<br/><br/>").join(parts)


def _list_part(value: Any, position: int, display: Display) -> str:
    style = display.lists
    text = _default_markup(value, display) if isinstance(value, str) else str(value)
    spoken = _SHADED_SPEAKER.match(text) if style.shaded else None
    prefix = _prefix(style.prefix, position)
    if spoken is None:
        return f"{prefix}{text}"
    speaker, said = (group.strip() for group in spoken.groups())
    return f"<b>{speaker}:</b> {prefix}{said}"


def _prefix(kind: str, position: int) -> str:
    if kind == "none":
        return ""
    if kind == "number":
        return f"<b>{position + 1}.</b> "
    if kind == "bullet":
        return "<b>•</b> "
    return f"<b>{chr(min(ord('A') + position, 0x10FFFF))}.</b> "


def text_content(markup: str) -> str:
    """The text that a browser holds for mark-up that went through Potato's sanitizer.

    Tags of allowed elements count nothing; other tags are text; character references in text count
    as what they stand for, and inside a tag that is shown they stand as written.

    >>> text_content('<i>a</i> &lt;b&gt; &amp <script>x</script> data:1')
    'a <b> &amp <script>x</script> 1'
    """
    markup = _without_dangers(markup)
    if "<" not in markup:
        return _with_references(markup)
    parts: list[str] = []
    position = 0
    for tag in TAG.finditer(markup):
        parts.append(_with_references(markup[position : tag.start()]))
        position = tag.end()
        if tag[2].lower() not in ELEMENTS:
            parts.append(tag[0])
        elif tag[2].lower() == "pre" and not tag[1] and markup.startswith("\n", position):
            # A browser drops a line break right after <pre>.
            position += 1
    parts.append(_with_references(markup[position:]))
    return "".join(parts)


def _without_dangers(markup: str) -> str:
    lower = markup.lower()
    if any(sign in lower for sign in _DANGER_SIGNS) or any(odd in markup for odd in _ODD_CASES):
        for pattern in DANGEROUS:
            markup = pattern.sub("", markup)
    return markup


def _with_references(text: str) -> str:
    return REFERENCE.sub(lambda found: html.unescape(found[0]), text) if "&" in text else text


def field_text(value: Any, shown_as: DisplayField, display: Display) -> Shown:
    r"""The text of one field of ``instance_display``, for the value that the item has there.

    ``text`` deletes line breaks and shows tags as text; ``dialogue`` has a line per turn with its
    speaker; ``document`` is mark-up; ``code`` stands in an indented block. Other displays cannot
    be rebuilt from the data, and neither can a file that Potato converts: their text is None.

    >>> turns = [{"speaker": "Ann", "text": "Hi"}, "Bob: Hello"]
    >>> field_text(turns, DisplayField("chat", "dialogue"), Display()).text
    'Ann: Hi\nBob: Hello'
    >>> field_text("a\nb <i>c</i>", DisplayField("body", "text"), Display()).text
    'ab <i>c</i>'
    """
    if shown_as.kind == "text":
        return _text_field(value, shown_as, display)
    if shown_as.kind == "dialogue":
        return Shown(_in_page(_dialogue(value, shown_as)))
    if shown_as.kind == "document":
        return _document(value, shown_as, display)
    if shown_as.kind == "code":
        return Shown(_code(value, display))
    return Shown(None)


def _in_page(text: str) -> str:
    r"""The text as a page delivers it: every line break is ``\n``, and NUL is not there."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")


def _text_field(value: Any, shown_as: DisplayField, display: Display) -> Shown:
    if isinstance(value, list):
        markup = _in_page(_joined_list(value, display))
        return _with_basis(text_content(markup), markup)
    source = _plain(value)
    # Each "\n" is a <br>; what is left of "\r\n" is a line break of the page's source.
    text = _in_page(source.replace("\n", "") if shown_as.keeps_newlines else source)
    return _with_basis(text, _in_page(source))


def _document(value: Any, shown_as: DisplayField, display: Display) -> Shown:
    source = value.get("rendered_html", "") if isinstance(value, dict) else value
    if not isinstance(source, str) or (isinstance(value, str) and _is_converted(value, display)):
        return Shown(None)
    text = text_content(_in_page(source))
    kept = shown_as.keeps_structure and not _has_blocks(source)
    return _with_basis(text, text if kept else " ".join(text.split()))


def _has_blocks(markup: str) -> bool:
    tags = TAG.finditer(_without_dangers(markup))
    return any(not tag[1] and tag[2].lower() in _BLOCKS for tag in tags)


def _code(value: Any, display: Display) -> str | None:
    source = value.get("text", "") if isinstance(value, dict) else value
    if isinstance(value, dict) and "rendered_html" in value:
        return None
    if not isinstance(source, str) or _is_converted(source, display):
        return None
    # The page indents the block, and those blanks are text to the browser.
    return f"\n{' ' * 16}{_in_page(source)}\n{' ' * 12}"


def _dialogue(value: Any, shown_as: DisplayField) -> str:
    lines = []
    for position, (speaker, text) in enumerate(_turns(value, shown_as), 1):
        numbered = [f"[{position}]"] if shown_as.numbers_turns else []
        spoken = [f"{speaker}:"] if speaker else []
        lines.append(" ".join([*numbered, *spoken, text]))
    return "\n".join(lines)


def _turns(value: Any, shown_as: DisplayField) -> list[tuple[str, str]]:
    if isinstance(value, str):
        lines = (line.strip() for line in value.strip().split("\n"))
        return [_spoken(line, shown_as) for line in lines if line]
    turns = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
    found = []
    for turn in turns:
        if isinstance(turn, dict):
            speaker = turn.get(shown_as.speaker_key, "")
            text = turn.get(shown_as.text_key, str(turn))
            found.append((str(speaker) if speaker else "", _plain(text)))
        elif isinstance(turn, str):
            found.append(_spoken(turn, shown_as))
        else:
            found.append(("", str(turn)))
    return found


def _spoken(line: str, shown_as: DisplayField) -> tuple[str, str]:
    found = _SPEAKER.match(line) if shown_as.extracts_speakers else None
    return (found[1].strip(), found[2].strip()) if found else ("", line)


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return _indented(value)
    return str(value)


def _indented(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _is_converted(value: str, display: Display) -> bool:
    """Whether the value names a file, whose text Potato shows in its place."""
    brief = len(value) < LONGEST_PATH and "." in value and "\n" not in value
    return brief and os.path.isfile(display.base / value)


def converted_files(record: Mapping[str, Any], display: Display) -> Iterator[Path]:
    """The files that an item names, and whose texts Potato shows in the place of their names."""
    for shown_as in display.fields:
        value = record.get(shown_as.key)
        named = value.get("text") if isinstance(value, dict) else value
        if shown_as.kind in CONVERTING and isinstance(named, str) and _is_converted(named, display):
            yield display.base / named


def _with_basis(text: str, source: str) -> Shown:
    """The text with the one that Potato's page counted code points on, if they differ.

    The page keeps ``source`` beside the text, takes the tags out of it and trims it, and counts on
    that. Without characters beyond U+FFFF the counting changes nothing.
    """
    if max(text, default="") <= "\uffff":
        return Shown(text)
    counted_on = re.sub(r"<[^>]*>", "", source).strip(TRIMMED)
    return Shown(text, None if counted_on == text else counted_on)


def recounted(offset: int, shown: Shown) -> int | None:
    """A stored offset in code points of the shown text; None where it cannot be told.

    Potato counted a UTF-16 offset of the shown text on another text: it cut off what lay beyond
    the end of that, and took an offset within a surrogate pair for the one after it.

    >>> shown = Shown("<i>a</i> \U0001f525 b c", counted_on="a \U0001f525 b c")
    >>> recounted(2, shown), recounted(5, shown), recounted(7, shown)
    (2, 6, None)
    """
    if shown.counted_on is None or shown.text is None:
        return offset
    counted, text = shown.counted_on, shown.text
    cut_off = offset == len(counted) and _utf16(counted) < _utf16(text)
    if not 0 <= offset <= len(counted) or cut_off:
        return None
    units = {_utf16(counted[:offset])}
    if offset and counted[offset - 1] > "\uffff":
        units.add(max(units) - 1)
    boundaries = {_utf16(text[:position]): position for position in range(len(text) + 1)}
    found = [boundaries[unit] for unit in units if unit in boundaries]
    return found[0] if len(found) == 1 else None


def _utf16(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def item_texts(record: Mapping[str, Any], *, text_key: str, display: Display) -> dict[str, Shown]:
    """The texts of one item by field; the default display is the field ``""``.

    A field that the item lacks is not among them.

    >>> item_texts({"text": "a  b"}, text_key="text", display=Display())
    {'': Shown(text='a b', counted_on=None)}
    """
    if not display.fields:
        shown = {"": Shown(default_text(record.get(text_key), display))}
    else:
        shown = {
            shown_as.key: field_text(record[shown_as.key], shown_as, display)
            for shown_as in display.fields
            if shown_as.key in record
        }
    return {
        name: Shown(None if text.text is None else well_formed(text.text), text.counted_on)
        for name, text in shown.items()
    }
