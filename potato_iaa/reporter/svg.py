"""SVG elements as escaped markup, built from plain values."""

from __future__ import annotations

from markupsafe import Markup, escape

from potato_iaa.reporter.safe_text import visible


def element(name: str, *children: str, **attributes: str | float) -> Markup:
    """One element: text is escaped, numbers are short, ``stroke_width`` is ``stroke-width``.

    A trailing underscore is dropped, so that ``class_`` can be written.

    >>> element("text", "<b>", x=1 / 3, text_anchor="end", class_="dim")
    Markup('<text x="0.33" text-anchor="end" class="dim">&lt;b&gt;</text>')
    >>> element("g", element("line", x1="50%"))
    Markup('<g><line x1="50%"></line></g>')
    """
    # Put together as text, every value of which is markup by then: pictures have 100,000 of them.
    written = "".join(
        f' {key.removesuffix("_").replace("_", "-")}="{_plain(value)}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{written}>{''.join(map(shown, children))}</{name}>")


def shown(text: str) -> Markup:
    r"""Text as markup that shows it, control characters written out; markup as it is.

    >>> shown("a<b\u202e"), shown(Markup("<b>"))
    (Markup('a&lt;b\\u202e'), Markup('<b>'))
    """
    return text if isinstance(text, Markup) else escape(visible(text))


def number(value: float) -> str:
    """A coordinate with at most two decimals.

    >>> number(12.0), number(1 / 3), number(-0.001)
    ('12', '0.33', '0')
    """
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def _plain(value: str | float) -> str:
    return escape(visible(value)) if isinstance(value, str) else number(value)
