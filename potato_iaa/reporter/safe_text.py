"""Strings that come from data, made safe for a terminal, for Markdown and for spreadsheets."""

from __future__ import annotations

import re
from functools import lru_cache

from rich.cells import cell_len

# C0 and C1 controls, DEL, line and paragraph separators, directional controls, lone surrogates:
# all that moves the cursor, hides text or reorders it.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_PLAIN = {
    "—": "--",
    "–": "-",
    "−": "-",
    "…": "...",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "·": "-",
    "×": "x",
    "≥": ">=",
    "α": "alpha",
    "κ": "kappa",
    "γ": "gamma",
    "→": "->",
}
# What Markdown's dialects read as markup: anywhere, around words, before a link's target, at the
# beginning of a line. Brackets around an interval and underscores within names stay as they are.
# An ampersand that would begin a character reference; any other is one as it stands.
_ENTITY = re.compile(r"&(?=#?\w+;)")
_MARKDOWN = re.compile(
    r"[\\`*|~$^{}]|\[(?![-\d])|\](?=[\[(:{])|(?<![^\W_])_|_(?![^\W_])|\A[#+-](?=#*(?:\s|\Z))|\A>"
    r"|(?:(?<=\A\d)|(?<=\A\d\d))[.)](?=\s|\Z)"
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def visible(text: str) -> str:
    r"""The text with every control character written out, so that it can do no harm.

    >>> visible("a\x1b[31mb\u202ec"), visible("two\nlines")
    ('a\\x1b[31mb\\u202ec', 'two\\nlines')
    """
    return _UNSAFE.sub(lambda found: _escape(found[0]), text)


def _escape(character: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    if named:
        return named
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def encodable(text: str, encoding: str) -> str:
    r"""The text with what ``encoding`` cannot carry spelled in plainer characters.

    >>> encodable("α of “café” — 東", "ascii"), encodable("café", "latin-1")
    ('alpha of "caf\\xe9" -- \\u6771', 'café')
    """
    if _carries(encoding, text):
        return text
    return "".join(
        character if _carries(encoding, character) else _PLAIN.get(character, _escape(character))
        for character in text
    )


@lru_cache(maxsize=4096)
def _carries(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def shortened(text: str, cells: int, *, ellipsis: str = "…") -> str:
    """The text cut to ``cells`` terminal cells, an ellipsis saying so.

    >>> shortened("organisation", 8), shortened("org", 8), shortened("東京都庁", 5)
    ('organis…', 'org', '東京…')
    """
    if cell_len(text) <= cells:
        return text
    room = cells - cell_len(ellipsis)
    kept = 0
    while kept < len(text) and cell_len(text[: kept + 1]) <= room:
        kept += 1
    return text[:kept] + ellipsis


def markdown_safe(text: str) -> str:
    r"""The text as it is, whatever Markdown and HTML would make of it.

    >>> markdown_safe("<b>|pii_spans *"), markdown_safe("0.7 [0.6, 0.8]"), markdown_safe("[1](x)")
    ('&lt;b>\\|pii_spans \\*', '0.7 [0.6, 0.8]', '[1\\](x)')
    """
    escaped = _MARKDOWN.sub(lambda found: f"\\{found[0]}", visible(text))
    return _ENTITY.sub("&amp;", escaped).replace("<", "&lt;")


def spreadsheet_safe(text: str) -> str:
    """The text with a leading ``'`` where a spreadsheet would run it as a formula.

    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("a=1")
    ("'=1+1", 'a=1')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
