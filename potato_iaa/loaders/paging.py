"""The items of a corpus and their texts, from the data files or from the records themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from potato_iaa.errors import InputError
from potato_iaa.loaders.bases import as_potato_1_showed
from potato_iaa.loaders.instances import kind_of_page
from potato_iaa.loaders.items import Items, read_check_ids, read_items
from potato_iaa.loaders.page import Page
from potato_iaa.loaders.people import People
from potato_iaa.loaders.project import Project
from potato_iaa.loaders.records import Found, Record
from potato_iaa.loaders.rendering import Display, Shown, default_text, item_texts
from potato_iaa.loaders.schemes import Declared, InAnswers
from potato_iaa.loaders.sources import PROJECT, Place
from potato_iaa.loaders.values import well_formed

Unit = tuple[str, str]
NO_ITEMS = Items(records={}, files=())


def items_of(place: Place, project: Project) -> Items:
    """The items of the data files.

    An export is often all that is left: if the configuration was only found near it and the data
    files cannot be read, the items are those of the export. Raises InputError as `read_items`.
    """
    if place.config is None:
        return NO_ITEMS
    try:
        return read_items(project)
    except InputError as fault:
        if place.form == PROJECT or place.config_named:
            raise
        note = f"the texts of the items are not known, but for what the export holds: {fault}"
        return replace(NO_ITEMS, notes=(note,))


def items_of_records(records: Sequence[Record]) -> Items:
    """The items that records tell of, by id, without data."""
    names = {
        item
        for record in records
        for item in (*record.spans.items, *record.seen, *(item for item, _ in record.texts))
    }
    return replace(NO_ITEMS, records={name: {} for name in sorted(names)})


def checks_of(
    project: Project, found: Found, records: Iterable[Record], items: Items, people: People
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Kind by id of the items that are not part of the work, and notes on files not there."""
    kinds: dict[str, str] = {}
    notes = []
    for file in project.checks:
        ids = read_check_ids(file)
        if ids is None:
            notes.append(
                f"the file of {file.kind}s ({file.path.name}) is not there: its items are told "
                "from the others only by not being in the data files."
            )
        else:
            kinds.update({identity: file.kind for identity in ids if identity not in kinds})
    if found.generation == 1:
        met = {item for record in records for item in (*record.assigned, *record.seen)}
        pages = {item: kind_of_page(item) for item in sorted(met | items.records.keys())}
        kinds.update({item: kind for item, kind in pages.items() if kind})
    left_out = people.left_out_items(items.records)
    kinds.update({item: "excluded item" for item in left_out if item not in kinds})
    return kinds, tuple(notes)


def with_fields(declared: Declared, items: Items, project: Project) -> Declared:
    """The declared schemes, those with spans in answers on a field that the items have."""

    def settled(scheme: InAnswers) -> InAnswers:
        has_field = any(scheme.field in record for record in items.records.values())
        field = scheme.field if scheme.field and has_field else project.text_key
        on_default = field == project.text_key and not project.display.fields
        return replace(scheme, field="" if on_default else field)

    if not declared.in_answers:
        return declared
    return replace(declared, in_answers=tuple(map(settled, declared.in_answers)))


def page_of(
    items: Items,
    project: Project,
    *,
    declared: Declared,
    found: Found,
    records: Sequence[Record] = (),
) -> Page:
    """The texts of all items and fields, as they were shown."""
    texts = {key: text for record in reversed(records) for key, text in record.texts.items()}
    if found.generation == 1:
        return _page_of_potato_1(items, project, texts)
    if not any(items.records.values()):
        return _page_of_texts(items, texts, found.texts_are, records)
    display = project.display
    fields = [shown_as.key for shown_as in display.fields] or [""]
    shown = [
        item_texts(record, text_key=project.text_key, display=display)
        for record in items.records.values()
    ]
    extra = {
        scheme.field: [_as_it_is(record.get(scheme.field)) for record in items.records.values()]
        for scheme in declared.in_answers
        if scheme.field not in fields
    }
    raw = [record.get(project.text_key) for record in items.records.values()]
    return Page.of(
        _codes(items),
        {field: [of_item.get(field) for of_item in shown] for field in fields} | extra,
        sources={"": [well_formed(text) if isinstance(text, str) else None for text in raw]},
        linebreaks_as_markup=display.linebreaks_as_markup,
    )


def _codes(items: Items) -> dict[str, int]:
    return {identity: position for position, identity in enumerate(items.records)}


def _as_it_is(value: Any) -> Shown | None:
    return Shown(well_formed(value)) if isinstance(value, str) else None


def _page_of_potato_1(items: Items, project: Project, texts: Mapping[Unit, str]) -> Page:
    """The texts that stand beside the annotations, and of other items those of the data."""
    sources: list[str | None] = []
    shown: list[Shown | None] = []
    for item, record in items.records.items():
        value = texts.get((item, ""), record.get(project.text_key))
        source = well_formed(value) if isinstance(value, str) else None
        sources.append(source)
        if source is not None:
            shown.append(Shown(as_potato_1_showed(source).text))
        else:
            known = project.text_key in record
            shown.append(Shown(default_text(value, project.display) if known else None))
    return Page.of(_codes(items), {"": shown}, sources={"": sources}, generation=1)


def _page_of_texts(
    items: Items, texts: Mapping[Unit, str], texts_are: str, records: Sequence[Record]
) -> Page:
    """The texts that an export holds, without data files; a text may not be known."""
    named = {name for record in records for name in record.spans.fields}
    named |= {field for _, field in texts}
    fields = sorted(named) or [""]

    def shown(item: str, field: str) -> Shown:
        text = texts.get((item, field))
        if text is None or texts_are == "shown":
            return Shown(text)
        return Shown(default_text(text, Display()))

    sources = {"": [texts.get((item, "")) for item in items.records]}
    return Page.of(
        _codes(items),
        {field: [shown(item, field) for item in items.records] for field in fields},
        sources=sources if texts_are == "source" else None,
    )


def shown_texts(page: Page) -> dict[Unit, str]:
    """The known texts of a page by item and field."""
    return dict(_known(page))


def _known(page: Page) -> Iterator[tuple[Unit, str]]:
    for item, code in page.item_code.items():
        for place, field in enumerate(page.fields):
            text = page.texts[code * len(page.fields) + place]
            if text is not None:
                yield (item, field), text
