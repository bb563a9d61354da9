"""The adjudication queue: the contested items of a project as a Potato project of its own."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from potato_iaa.corpus import Corpus, Scheme
from potato_iaa.errors import InputError, UsageError
from potato_iaa.loaders.items import read_items
from potato_iaa.loaders.opening import folders_of, opening
from potato_iaa.loaders.project import Project, read_config, read_settings
from potato_iaa.measures.agreement import Agreement
from potato_iaa.measures.disagreements import KIND_COLUMNS
from potato_iaa.measures.names import HEADLINE
from potato_iaa.reporter.csv_tables import csv_bytes

CONFIG = "config.yaml"
DATA = "data/contested.jsonl"
TABLE = "contested.csv"
OUTPUT = "annotation_output"
FIELD = "iaa_agreed"
# How a text is shown decides on its offsets, so all of this comes along as it is.
SHOWING = ("item_properties", "instance_display", "list_as_text", "highlight_linebreaks")


_SHOWN = (
    "# Potato highlights them until something is marked in a text, but stores only what is\n"
    "# marked: mark them, too.\n"
)
_NOT_SHOWN = "# Potato does not show them in the fields of an instance_display: mark them anew.\n"
_SPAN = ("item", "field", "scheme", "label")


@dataclass(frozen=True)
class Contest:
    """A contested item: its lowest F1 (exact, typed, mean over pairs) over the schemes."""

    item: str
    value: float
    kinds: tuple[int, ...]
    schemes: tuple[str, ...]

    @property
    def disagreements(self) -> int:
        """How many there are, pair by pair."""
        return sum(self.kinds)


@dataclass(frozen=True)
class Queue:
    """What was written: how many items of how many, and how many spans are agreed upon."""

    folder: Path
    contests: tuple[Contest, ...]
    items: int
    agreed: int


def contested_items(agreement: Agreement) -> tuple[Contest, ...]:
    """The items on which somebody disagrees, the worst first.

    By their lowest F1 over the schemes, then by the number of disagreements, then by name.
    """
    value: dict[str, float] = {}
    kinds: dict[str, list[int]] = {}
    schemes: dict[str, list[str]] = {}
    for scheme in agreement.schemes.values():
        table = scheme.kinds["item"]
        counted = table[table[list(KIND_COLUMNS)].sum(axis=1) > 0]
        height = dict(
            zip(
                scheme.f1[HEADLINE.rule].items["item"],
                scheme.f1[HEADLINE.rule].items["value"],
                strict=True,
            )
        )
        for row in counted.itertuples(index=False):
            item = str(row.item)
            found = [int(getattr(row, column)) for column in KIND_COLUMNS]
            before = kinds.get(item, [0] * len(found))
            kinds[item] = [one + other for one, other in zip(before, found, strict=True)]
            value[item] = min(value.get(item, 1.0), float(height[item]))
            schemes.setdefault(item, []).append(scheme.scheme)
    contests = (
        Contest(item, value[item], tuple(kinds[item]), tuple(schemes[item])) for item in value
    )
    return tuple(sorted(contests, key=lambda one: (one.value, -one.disagreements, one.item)))


def agreed_spans(corpus: Corpus, schemes: Sequence[str]) -> dict[str, dict[str, list[Any]]]:
    """By item and scheme, the spans that more than half of those who passed marked alike.

    In Potato's form: offsets of the text as it is shown, the later parts of a discontinuous span
    under ``additional_parts``.

    >>> corpus = Corpus.from_tables(
    ...     items=[("d1", "Ada met Ben")],
    ...     passes=[("d1", "a"), ("d1", "b"), ("d1", "c")],
    ...     spans=[("d1", "a", 0, 3, "PER"), ("d1", "b", 0, 3, "PER"), ("d1", "c", 8, 11, "PER")],
    ... )
    >>> agreed_spans(corpus, ["spans"])
    {'d1': {'spans': [{'name': 'PER', 'start': 0, 'end': 3}]}}
    """
    humans = corpus.annotators.loc[corpus.annotators["role"] == "human", "annotator"]
    passes = corpus.passes[corpus.passes["annotator"].isin(humans)]
    spans = corpus.spans[
        corpus.spans["annotator"].isin(humans) & corpus.spans["scheme"].isin(schemes)
    ]
    readers = {
        scheme: _counted(_offered(passes, corpus.scheme(scheme)), ["item", "field"])
        for scheme in schemes
    }
    votes: dict[tuple[Any, ...], int] = {}
    for rows in _whole_spans(spans):
        votes[rows] = votes.get(rows, 0) + 1
    found: dict[str, dict[str, list[Any]]] = {}
    for (item, field, scheme, label, parts), count in sorted(votes.items()):
        if 2 * count > readers[scheme].get((item, field), count):
            listed = found.setdefault(item, {}).setdefault(scheme, [])
            listed.append(_stored(label, parts, field))
    return found


def write_queue(
    project: str | Path,
    corpus: Corpus,
    agreement: Agreement,
    out: str | Path,
    *,
    limit: int | None = None,
    allow_outside: bool = False,
) -> Queue:
    """Write the contested items of a project into the folder ``out``, as a project of their own.

    ``out`` is made whole or not at all, and may not hold anything yet. Data files outside the
    folders of the project are refused, as by ``read_project``. Raises UsageError: ``out`` holds
    something, or nothing is contested. Raises InputError: what cannot be read.
    """
    folder = Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"output {str(out)!r} is there already: name a new folder, as a queue may hold "
            "somebody's work."
        )
    everything = contested_items(agreement)
    contests = everything if limit is None else everything[:limit]
    if not contests:
        raise UsageError(f"{agreement.source.name}: no item is contested, so there is no queue.")
    agreed = agreed_spans(corpus, list(agreement.schemes))
    with opening(project) as limits:
        config = read_config(project)
        if not allow_outside:
            limits.keep_within(folders_of(Path(project), config=config.config))
        files = {
            CONFIG: _config_text(config, agreement, len(contests)).encode(),
            DATA: _data(config, contests, agreed),
            TABLE: csv_bytes(_table(contests)),
        }
    _write(folder, files)
    spans = [agreed.get(one.item, {}).values() for one in contests]
    return Queue(
        folder, contests, len(everything), sum(len(listed) for of in spans for listed in of)
    )


def queue_config(
    settings: Mapping[str, Any], schemes: Sequence[Mapping[str, Any]], name: str
) -> dict[str, Any]:
    """Potato's configuration for the queue: the texts shown as before, the span schemes as before.

    Potato 2.12.1 shows the spans of ``pre_annotation`` as highlights in its ordinary text, and
    stores only what is then marked; in the fields of an ``instance_display`` it shows nothing.
    Who adjudicates, and with what password, is for the team to add; as written anybody who can
    reach the server may log in.
    """
    return {
        "annotation_task_name": f"{name}: adjudication",
        "task_dir": ".",
        "output_annotation_dir": OUTPUT,
        "data_files": [DATA],
        **{key: settings[key] for key in SHOWING if key in settings},
        "require_password": False,
        "user_config": {"allow_all_users": True, "users": []},
        "assignment_strategy": "fixed_order",
        **({"pre_annotation": {"enabled": True, "field": FIELD}} if shows_agreed(settings) else {}),
        "annotation_schemes": [dict(scheme) for scheme in schemes],
    }


def shows_agreed(settings: Mapping[str, Any]) -> bool:
    """Whether Potato highlights the spans of ``pre_annotation``: in an ordinary text alone."""
    return "instance_display" not in settings


def _offered(passes: pd.DataFrame, scheme: Scheme) -> pd.DataFrame:
    if scheme.annotators is not None:
        passes = passes[passes["annotator"].isin(scheme.annotators)]
    return passes if scheme.fields is None else passes[passes["field"].isin(scheme.fields)]


def _counted(frame: pd.DataFrame, keys: list[str]) -> dict[Any, int]:
    counts = frame.groupby(keys, observed=True, sort=False).size()
    return {key: int(count) for key, count in counts.items()}


def _whole_spans(spans: pd.DataFrame) -> Iterable[tuple[Any, ...]]:
    """Item, field, scheme, label and parts of every span."""
    ordered = spans.sort_values(["part_of", "start"])
    columns = (ordered[name].to_numpy() for name in ("part_of", *_SPAN, "start", "end"))
    for _, rows in groupby(zip(*columns, strict=True), key=itemgetter(0)):
        listed = list(rows)
        parts = tuple((int(start), int(end)) for *_, start, end in listed)
        yield (*map(str, listed[0][1 : 1 + len(_SPAN)]), parts)


def _stored(label: str, parts: Sequence[tuple[int, int]], field: str) -> dict[str, Any]:
    (start, end), *more = parts
    span: dict[str, Any] = {"name": label, "start": start, "end": end}
    if field:
        span["target_field"] = field
    if more:
        span["additional_parts"] = [{"start": start, "end": end} for start, end in more]
    return span


def _config_text(config: Project, agreement: Agreement, count: int) -> str:
    settings = read_settings(config.config)
    schemes = [_scheme(config, name) for name in agreement.schemes]
    head = (
        f"# {count} contested items, the worst first; see {TABLE}.\n"
        f"# In each item, {FIELD} has the spans that more than half of its annotators agree on.\n"
        f"{_SHOWN if shows_agreed(settings) else _NOT_SHOWN}"
        "# Before this goes on a server: set who may log in.\n"
    )
    written = yaml.safe_dump(
        queue_config(settings, schemes, config.name),
        allow_unicode=True,
        sort_keys=False,
        width=100,
    )
    return head + written


def _scheme(config: Project, name: str) -> Mapping[str, Any]:
    """A span scheme as it is declared; one whose spans lie in answers, as the spans that it has."""
    declared = config.declared
    if any(scheme.name == name for scheme in declared.marked):
        return {**declared.as_written[name], "annotation_type": "span"}
    labels = next((scheme.labels for scheme in declared.spans if scheme.name == name), ())
    if not labels:
        raise InputError(
            f"{config.config}: the labels of scheme {name!r} are not in it, so no queue can offer "
            "them: list them in the configuration."
        )
    return {
        "annotation_type": "span",
        "name": name,
        "description": name,
        "labels": list(labels),
    }


def _data(
    config: Project, contests: Sequence[Contest], agreed: Mapping[str, Mapping[str, list[Any]]]
) -> bytes:
    records = read_items(config).records
    unknown = next((one.item for one in contests if one.item not in records), None)
    if unknown is not None:
        raise InputError(
            f"{config.config}: item {unknown!r} is in none of its data files, so no queue can show "
            "it: put them back, or correct data_files."
        )
    lines = [
        # As ids and texts are read, so that a date or a number of Parquet's stays what it was.
        json.dumps({**records[one.item], FIELD: agreed.get(one.item, {})}, default=str)
        for one in contests
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _table(contests: Sequence[Contest]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item": [one.item for one in contests],
            "schemes": [" ".join(one.schemes) for one in contests],
            "lowest_f1": [one.value for one in contests],
            "disagreements": [one.disagreements for one in contests],
            **{
                column: [one.kinds[place] for one in contests]
                for place, column in enumerate(KIND_COLUMNS)
            },
        }
    )


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            for name, content in files.items():
                (beside / "new" / name).parent.mkdir(parents=True, exist_ok=True)
                (beside / "new" / name).write_bytes(content)
            if folder.exists():
                folder.rmdir()
            (beside / "new").rename(folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as fault:
        raise UsageError(
            f"the queue cannot be written to {str(folder)!r} ({fault.strerror}): "
            "free the place or name another folder with --out."
        ) from fault
