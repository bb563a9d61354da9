"""A page as a reader of HTML sees it: its elements in order, with their attributes and texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from potato_iaa import Agreement, Corpus, measure

VOID = {"meta", "br", "wbr", "hr", "input", "link", "img"}
BIDI = "\u202e"
LABEL = "<img src=x onerror=alert(1)>"
ANNOTATOR = '"><script>alert(2)</script>'
ITEM = "</title><!-- {{ 7*7 }} &lt;"
TEXT = f"Ada </script><script>alert(3)</script> met {BIDI}Grace\x07 in 'Paris' & \"Rome\"."


@dataclass
class Element:
    """An element: its name, its attributes, and the text in it, that of its children included."""

    name: str
    attributes: dict[str, str | None]
    text: str = ""
    path: tuple[str, ...] = ()


@dataclass
class Page(HTMLParser):
    """Parses strictly: what is opened is closed, in order."""

    elements: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        path = tuple(element.name for element in self.open)
        element = Element(tag, dict(attrs), path=path)
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def all(self, name: str) -> list[Element]:
        return [element for element in self.elements if element.name == name]


def parse(html: str) -> Page:
    page = Page()
    page.feed(html)
    page.close()
    assert not page.open, f"<{page.open[-1].name}> is never closed"
    return page


def hostile() -> Agreement:
    """An agreement in which every string from the data tries to be markup."""
    other = f"ben{BIDI}\n"
    corpus = Corpus.from_tables(
        items=[(ITEM, TEXT), ("d2", "Ben")],
        passes=[(ITEM, ANNOTATOR), (ITEM, other), ("d2", ANNOTATOR), ("d2", other)],
        spans=[
            (ITEM, ANNOTATOR, 0, 12, LABEL),
            (ITEM, other, 4, 48, "{{ 7*7 }}"),
            (ITEM, other, 0, 3, LABEL),
            ("d2", other, 0, 3, "'; alert(4); '"),
        ],
        name="<script>alert(5)</script>",
    )
    return measure(corpus, bootstrap=20)
