"""The Corpus: items, passes and spans of a finished project, in whatever tool they were made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from potato_iaa.arrays import Ints, row_keys
from potato_iaa.errors import InputError, UsageError
from potato_iaa.ledger import Ledger

ITEM_COLUMNS = ("item", "field", "text")
PASS_COLUMNS = ("item", "field", "annotator", "order")
SPAN_COLUMNS = ("item", "field", "annotator", "scheme", "label", "start", "end", "part_of")
ANNOTATOR_COLUMNS = ("annotator", "role")
ANSWER_COLUMNS = ("item", "annotator", "scheme", "label", "value")
ROLES = ("human", "system", "gold")
DEFAULT_SCHEME = "spans"
# No text is so long, and the places of millions of such texts fit into 64 bits.
FARTHEST = 2**40
_NAMES = ("item", "field", "annotator", "scheme", "label")


@dataclass(frozen=True)
class Scheme:
    """A span scheme: its name, its declared labels, and where it applies.

    ``fields`` are the display fields the scheme is offered on (``None``: all of them) and
    ``annotators`` those who were shown it (``None``: everybody). A pass counts for the scheme only
    where both hold: nobody is empty-handed on a question that was not put.
    """

    name: str
    labels: tuple[str, ...] = ()
    fields: tuple[str, ...] | None = None
    annotators: tuple[str, ...] | None = None


@dataclass(frozen=True)
class CategoricalScheme:
    """A question about the whole item (radio, select, likert, slider, number, multiselect).

    ``kind`` is Potato's ``annotation_type``; ``labels`` are the options in their order;
    ``minimum`` and ``maximum`` bound a likert scale, a slider or a number, where declared.
    """

    name: str
    kind: str
    labels: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True)
class SourceFile:
    """A file or folder that was read: its role, its path in the project, and what it held.

    ``role`` is ``config``, ``data`` or ``annotations``; ``records`` counts the items of a data file
    and the annotators of an annotation folder.
    """

    role: str
    path: str
    records: int


@dataclass(frozen=True)
class Source:
    """Where a corpus came from: what a report says about its input.

    ``reading`` are the choices of `read_project` that are not the usual ones, by their names.
    """

    name: str = "corpus"
    path: str = ""
    kind: str = "tables"
    potato_version: str = ""
    offset_unit: str = "code points"
    offset_basis: str = "text as given"
    passes: str = "as given"
    files: tuple[SourceFile, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)


def _no_answers() -> pd.DataFrame:
    return pd.DataFrame({column: pd.Series(dtype="category") for column in ANSWER_COLUMNS})


@dataclass(frozen=True, eq=False)
class Corpus:
    """Items, passes, spans and annotators as frames; the waist between loaders and measures.

    ``items``: ``item``, ``field``, ``text``: one row per item and display field; ``text`` is what
    the annotator saw, or ``None`` where only offsets are known.
    ``passes``: ``item``, ``field``, ``annotator``, ``order``: one row per pass; ``order`` is the
    position in which the annotator worked through the item.
    ``spans``: ``item``, ``field``, ``annotator``, ``scheme``, ``label``, ``start``, ``end``,
    ``part_of``: one row per *part*; the parts of a discontinuous span share one ``part_of``, and
    every contiguous span has a ``part_of`` of its own. Offsets are half-open, in code points.
    ``annotators``: ``annotator``, ``role`` (``human``, ``system`` or ``gold``).
    ``answers``: ``item``, ``annotator``, ``scheme``, ``label``, ``value``: one row per answer to a
    question about the whole item, ``value`` being the text that was stored; ``categorical``
    describes these questions.

    Within a pass the spans of a scheme are a set: identical ones are collapsed, and counted in the
    ledger. Parts of one span that touch or overlap are one part.
    """

    items: pd.DataFrame
    passes: pd.DataFrame
    spans: pd.DataFrame
    annotators: pd.DataFrame
    schemes: tuple[Scheme, ...]
    source: Source = field(default_factory=Source)
    ledger: Ledger = field(default_factory=Ledger)
    answers: pd.DataFrame = field(default_factory=_no_answers)
    categorical: tuple[CategoricalScheme, ...] = ()

    @classmethod
    def from_tables(
        cls,
        *,
        items: Iterable[Sequence[Any]] | pd.DataFrame,
        passes: Iterable[Sequence[Any]] | pd.DataFrame,
        spans: Iterable[Sequence[Any]] | pd.DataFrame,
        labels: Iterable[str] = (),
        roles: dict[str, str] | None = None,
        name: str = "corpus",
    ) -> Corpus:
        """Build a corpus by hand, from tuples or from frames with the documented columns.

        Tuples are ``(item, text)``, ``(item, annotator)`` and ``(item, annotator, start, end,
        label)``. Frames may also carry ``field``, ``scheme``, ``order`` and ``part_of``. ``labels``
        are the labels on offer: one that nobody used still has its row in a report. A span implies
        a pass; a pass without spans is one that found nothing. Without a ``scheme`` column the one
        scheme is called ``spans``. Rows of one item, field, annotator, scheme and label that have
        the same ``part_of`` are the parts of one span; without that column every row is a span.

        Raises InputError: an item twice, a pass or a span on an unknown item, a span of no length
        or outside its text, a role that does not exist, a name that is missing, a text that is
        none, a column whose name is nearly one of those that there are.

        >>> corpus = Corpus.from_tables(
        ...     items=[("d1", "Ada met Grace in Paris.")],
        ...     passes=[("d1", "ann"), ("d1", "ben")],
        ...     spans=[("d1", "ann", 0, 3, "PER"), ("d1", "ann", 0, 3, "PER")],
        ... )
        >>> len(corpus.spans), corpus.ledger.totals()["set_aside"]
        (1, 1)
        """
        item_frame = _table(items, ("item", "text"), {"field": ""}, ITEM_COLUMNS)
        pass_frame = _table(
            passes, ("item", "annotator"), {"field": "", "order": None}, PASS_COLUMNS
        )
        span_frame = _table(
            spans,
            ("item", "annotator", "start", "end", "label"),
            {"field": "", "scheme": DEFAULT_SCHEME, "part_of": None},
            SPAN_COLUMNS,
        )
        if isinstance(labels, str):
            raise InputError(f"labels are {labels!r}: give a list of them.")
        declared = tuple(dict.fromkeys(str(label) for label in labels))
        span_frame = span_frame.assign(part_of=_owners(span_frame))
        names = list(dict.fromkeys(span_frame["scheme"])) or [DEFAULT_SCHEME]
        return assemble(
            items=item_frame,
            passes=pass_frame,
            spans=span_frame,
            schemes=tuple(Scheme(name=scheme, labels=declared) for scheme in names),
            roles=roles or {},
            source=Source(name=name),
        )

    def scheme(self, name: str) -> Scheme:
        """The scheme called ``name``; UsageError, with the names there are, if there is none."""
        for scheme in self.schemes:
            if scheme.name == name:
                return scheme
        known = ", ".join(repr(scheme.name) for scheme in self.schemes) or "none"
        raise UsageError(f"no span scheme {name!r} in {self.source.name}: there are {known}.")


def _table(
    rows: Iterable[Sequence[Any]] | pd.DataFrame,
    short: tuple[str, ...],
    defaults: dict[str, Any],
    columns: tuple[str, ...],
) -> pd.DataFrame:
    if isinstance(rows, pd.DataFrame):
        frame = rows.copy()
        missing = [column for column in short if column not in frame.columns]
        if missing:
            raise InputError(
                f"the table has no column {', '.join(map(repr, missing))}: "
                f"it needs {', '.join(short)}."
            )
    else:
        listed = [tuple(row) for row in rows]
        for position, row in enumerate(listed):
            if len(row) != len(short):
                raise InputError(
                    f"row {position} has {len(row)} values: give ({', '.join(short)}), "
                    "or a frame with named columns."
                )
        frame = pd.DataFrame(listed, columns=list(short))
    left_out = [column for column in defaults if column not in frame.columns]
    for name in map(str, frame.columns):
        near = get_close_matches(name, left_out, n=1, cutoff=0.75)
        if name not in columns and near:
            raise InputError(f"the table has a column {name!r}: did you mean {near[0]!r}?")
    for column in left_out:
        frame[column] = defaults[column]
    frame = frame[list(columns)].reset_index(drop=True)
    for column in (name for name in columns if name in _NAMES):
        missing_rows = np.flatnonzero(frame[column].isna())
        if len(missing_rows):
            raise InputError(
                f"row {missing_rows[0]} of the table has no {column}: give it one, or leave the "
                "row out."
            )
    return frame


def _owners(spans: pd.DataFrame) -> pd.Series:
    """A number for the span that each row is a part of, as ``part_of`` says within a pass."""
    given = spans["part_of"]
    if given.isna().any():
        return given
    return spans.groupby([*_NAMES, "part_of"], sort=False, dropna=False, observed=True).ngroup()


def assemble(
    *,
    items: pd.DataFrame,
    passes: pd.DataFrame,
    spans: pd.DataFrame,
    schemes: tuple[Scheme, ...],
    roles: dict[str, str],
    source: Source,
    ledger: Ledger | None = None,
    answers: pd.DataFrame | None = None,
    categorical: tuple[CategoricalScheme, ...] = (),
) -> Corpus:
    """Check the tables, join touching parts, collapse identical spans, and freeze the corpus.

    With a ``ledger`` the spans must be a clean set already (the loaders account for what they
    collapse); without one the collapsed spans are entered in a new ledger. Raises InputError.
    """
    text = items["text"].astype(object)
    items = _coded(items.assign(text=text.where(text.notna(), None)), ("item", "field"))
    passes = _coded(passes, ("item", "field", "annotator"))
    spans = _coded(spans, ("item", "field", "annotator", "scheme", "label"))
    spans = _with_part_of(spans)
    _check_items(items)
    spans = _with_whole_offsets(spans)
    _check_known(passes, items, "pass")
    row_of_item = _check_known(spans, items, "span")
    _check_inside(spans, items, row_of_item)
    spans = _join_parts(spans)
    kept, collapsed = _collapse(spans)
    if ledger is None:
        ledger = _ledger_of(spans, collapsed)
    elif len(collapsed):
        first = collapsed.iloc[0]
        raise InputError(
            f"identical spans of {first['annotator']!r} on item {first['item']!r} reached the "
            "corpus uncounted: collapse them before."
        )
    passes = _with_implied(passes, kept)
    names = sorted(set(passes["annotator"].unique()) | set(roles))
    unknown = {role for role in roles.values() if role not in ROLES}
    if unknown:
        raise InputError(f"no role {sorted(unknown)[0]!r}: an annotator is {', '.join(ROLES)}.")
    annotators = pd.DataFrame(
        {"annotator": names, "role": [roles.get(name, "human") for name in names]},
        columns=list(ANNOTATOR_COLUMNS),
    )
    return Corpus(
        items=_tidied(items, ("item", "field")),
        passes=_tidied(passes, ("item", "field", "annotator")),
        spans=_tidied(kept, ("item", "field", "annotator", "scheme", "label")),
        annotators=annotators,
        schemes=schemes,
        source=source,
        ledger=ledger,
        answers=_no_answers() if answers is None else _coded(answers, ANSWER_COLUMNS),
        categorical=categorical,
    )


def _coded(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The frame with these columns categorical, every category a string."""
    return frame.assign(**{column: _as_category(frame[column]) for column in columns})


def _as_category(column: pd.Series) -> pd.Series:
    coded = isinstance(column.dtype, pd.CategoricalDtype)
    if coded and all(isinstance(name, str) for name in column.cat.categories):
        return column
    return column.astype(str).astype("category")


def _tidied(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The frame with the categories of these columns sorted, and none of them unused."""
    return frame.assign(**{column: _sorted_categories(frame[column]) for column in columns})


def _sorted_categories(column: pd.Series) -> pd.Series:
    names = list(column.cat.categories)
    used = np.bincount(_codes(column), minlength=len(names)) > 0
    kept = sorted(name for name, is_used in zip(names, used, strict=True) if is_used)
    return _recoded(column, pd.Index(kept, dtype=object))


def _codes(column: pd.Series) -> Ints:
    codes: Ints = column.cat.codes.to_numpy().astype(np.int64)
    return codes


def _recoded(column: pd.Series, categories: pd.Index) -> pd.Series:
    codes = _codes_among(column, categories)
    return pd.Series(pd.Categorical.from_codes(codes, categories), index=column.index)


def _with_part_of(spans: pd.DataFrame) -> pd.DataFrame:
    if spans["part_of"].isna().all():
        return spans.assign(part_of=np.arange(len(spans), dtype=np.int64))
    if spans["part_of"].isna().any():
        raise InputError("some spans have a part_of and some have none: give all of them one.")
    return spans.assign(part_of=pd.factorize(spans["part_of"])[0].astype(np.int64))


def _check_items(items: pd.DataFrame) -> None:
    odd = [text for text in items["text"] if text is not None and not isinstance(text, str)]
    if odd:
        raise InputError(f"an item has the text {odd[0]!r}: a text is a string, or None.")
    twice = items[items.duplicated(["item", "field"])]
    if len(twice):
        raise InputError(
            f"item {twice.iloc[0]['item']!r} stands twice among the items: give each id once."
        )


def _with_whole_offsets(spans: pd.DataFrame) -> pd.DataFrame:
    offsets = {}
    for column in ("start", "end"):
        values = pd.to_numeric(spans[column], errors="coerce")
        bad = values.isna() | (values != np.floor(values)) | (np.abs(values) > FARTHEST)
        if bad.any():
            row = spans[bad].iloc[0]
            raise InputError(
                f"the {column} of a span of {row['annotator']!r} on item {row['item']!r} is "
                f"{row[column]!r}: offsets are whole numbers of code points, {FARTHEST:,} at most."
            )
        offsets[column] = values.astype(np.int64)
    spans = spans.assign(**offsets)
    empty = spans[spans["end"] <= spans["start"]]
    if len(empty):
        row = empty.iloc[0]
        raise InputError(
            f"span [{row['start']}, {row['end']}) of {row['annotator']!r} on item {row['item']!r} "
            "covers no character: leave it out, or correct its offsets."
        )
    return spans


def _check_known(frame: pd.DataFrame, items: pd.DataFrame, what: str) -> Ints:
    """The row of ``items`` that each row of ``frame`` is on."""
    fields = len(items["field"].cat.categories)
    row_of = np.full((len(items["item"].cat.categories) + 1) * (fields + 1), -1, dtype=np.int64)
    row_of[_units(items, items)] = np.arange(len(items))
    rows = row_of[_units(frame, items)]
    if (rows < 0).any():
        row = frame[rows < 0].iloc[0]
        place = f" (field {row['field']!r})" if row["field"] else ""
        raise InputError(
            f"a {what} of {row['annotator']!r} is on item {row['item']!r}{place}, which is not "
            "among the items: add the item, or leave it out."
        )
    return rows


def _units(frame: pd.DataFrame, items: pd.DataFrame) -> Ints:
    """A number for the item and field of each row; one that no item has for unknown ones."""
    item, field_ = (
        _codes_among(frame[column], items[column].cat.categories) for column in ("item", "field")
    )
    return item * (len(items["field"].cat.categories) + 1) + field_


def _codes_among(column: pd.Series, categories: pd.Index) -> Ints:
    """Positions in ``categories``; ``len(categories)`` where there is none."""
    place = categories.get_indexer(column.cat.categories)
    table = np.where(place < 0, len(categories), place).astype(np.int64)
    codes = _codes(column)
    return table[codes] if len(table) else np.full_like(codes, len(categories))


def _check_inside(spans: pd.DataFrame, items: pd.DataFrame, row_of_item: Ints) -> None:
    if not len(spans):
        return
    limit = np.array([np.inf if text is None else len(text) for text in items["text"]])
    outside = (spans["start"].to_numpy() < 0) | (spans["end"].to_numpy() > limit[row_of_item])
    if outside.any():
        row = spans[outside].iloc[0]
        raise InputError(
            f"span [{row['start']}, {row['end']}) of {row['annotator']!r} lies outside the text of "
            f"item {row['item']!r} ({int(limit[row_of_item][outside][0])} code points): "
            "check the text and the unit of the offsets."
        )


def _join_parts(spans: pd.DataFrame) -> pd.DataFrame:
    """Sort the parts of every span and join those that touch or overlap."""
    owner = spans["part_of"].to_numpy()
    if (owner[1:] > owner[:-1]).all():
        return spans.reset_index(drop=True)
    order = np.lexsort((spans["end"].to_numpy(), spans["start"].to_numpy(), owner))
    spans = spans.iloc[order].reset_index(drop=True)
    owner = spans["part_of"].to_numpy()
    reach = spans.groupby("part_of")["end"].cummax().to_numpy()
    start = spans["start"].to_numpy()
    first = np.ones(len(spans), dtype=bool)
    first[1:] = (owner[1:] != owner[:-1]) | (start[1:] > reach[:-1])
    joined = spans[first].copy()
    if len(joined):
        joined["end"] = np.maximum.reduceat(spans["end"].to_numpy(), np.flatnonzero(first))
    return joined.reset_index(drop=True)


def _collapse(spans: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split into a set of spans and the identical copies (same pass, scheme, label and parts)."""
    heads = spans[~spans["part_of"].duplicated()]
    names = ("item", "field", "annotator", "scheme", "label")
    columns = [_codes(heads[name]) for name in names]
    columns += [heads["start"].to_numpy(), heads["end"].to_numpy(), _rests(spans, heads)]
    repeated = pd.Series(row_keys(columns)).duplicated().to_numpy()
    copied = np.zeros(len(heads), dtype=bool)
    copied[heads["part_of"].to_numpy()] = repeated
    copies = copied[spans["part_of"].to_numpy()]
    kept = spans[~copies].reset_index(drop=True)
    kept["part_of"] = pd.factorize(kept["part_of"])[0].astype(np.int64)
    return kept, heads[repeated]


def _rests(spans: pd.DataFrame, heads: pd.DataFrame) -> Ints:
    """A code for the parts after the first: 0 for none, equal codes for equal parts."""
    owners: dict[int, list[tuple[int, int]]] = {}
    later = spans[spans["part_of"].duplicated()]
    for owner, start, end in zip(later["part_of"], later["start"], later["end"], strict=True):
        owners.setdefault(owner, []).append((start, end))
    code = {parts: n for n, parts in enumerate(dict.fromkeys(map(tuple, owners.values())), 1)}
    rest = np.zeros(len(heads), dtype=np.int64)
    for owner, parts in owners.items():
        rest[owner] = code[tuple(parts)]
    of_head: Ints = rest[heads["part_of"].to_numpy()]
    return of_head


def _ledger_of(spans: pd.DataFrame, collapsed: pd.DataFrame) -> Ledger:
    first_parts = spans.drop_duplicates("part_of")
    read = first_parts.groupby(["annotator", "scheme"], observed=True).size()
    entries = collapsed.drop(columns="part_of").assign(
        outcome="set_aside", reason="duplicate of another span of the pass", text=None
    )
    return Ledger.from_rows(
        read=read.rename("read").reset_index().to_dict("records"),
        entries=entries.to_dict("records"),
    )


def _with_implied(passes: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """The passes, and those that only a span tells of, in the order they are met."""
    keys = ["item", "field", "annotator"]
    repeated = pd.Series(row_keys([_codes(spans[key]) for key in keys])).duplicated()
    implied = spans.loc[~repeated.to_numpy(), keys].assign(order=None)
    both = pd.concat([passes.astype(object), implied.astype(object)])
    both = both.drop_duplicates(keys, ignore_index=True)
    given = pd.to_numeric(both["order"], errors="coerce")
    counted = both.groupby("annotator").cumcount()
    both = both.assign(order=given.fillna(counted).astype(np.int64))
    return _coded(both[list(PASS_COLUMNS)], keys)
