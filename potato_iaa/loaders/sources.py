"""What lies at a path: a project, an annotation folder, or an export; and who reads it."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from potato_iaa.errors import InputError
from potato_iaa.loaders import conll, exports, tei
from potato_iaa.loaders.instances import ONE_FILE, has_instances, instances_in, read_one_file
from potato_iaa.loaders.project import (
    CONFIG_KEYS,
    LARGEST_JSON_CONFIG,
    YAML_ENDINGS,
    Project,
    config_near,
    configs_in,
    find_config,
    read_settings,
)
from potato_iaa.loaders.records import Found, Leaving, Record
from potato_iaa.loaders.states import STATE_FILE, has_states, states_in
from potato_iaa.loaders.tables import numbered_lines, read_header
from potato_iaa.loaders.values import counted, mapping, quoted

PROJECT, OUTPUT, POTATO_1 = "project", "annotation folder", "potato 1 file"
_USE = "give the csv or jsonl export, or the project's configuration"
_NO_SPANS = {
    "codebook.csv": "counts how often each code was used, without the spans",
    "reliability.csv": "holds coefficients for questions about whole items, without the spans",
    "reliability.md": "holds coefficients for questions about whole items, without the spans",
    "agent_evaluation.json": "rates the traces of agents, without the spans",
    "agent_evaluation_summary.csv": "rates the traces of agents, without the spans",
    "datapackage.json": "describes the annotations.csv beside it, without the spans",
    "dataset_description.json": "describes the tables in its folder data, without the spans",
    "annotation_history.jsonl": "is a log of clicks, without the spans as they were left",
    "task_assignment.json": "tells who was assigned which items, without the spans",
    "assigned_user_data.json": "holds the items of one annotator, without the spans",
    "annotation_order.txt": "lists the items of one annotator, without the spans",
    STATE_FILE: "is the state of one annotator, which alone has nobody to agree with",
}
_BY_NAME = {
    "annotations.csv": "csv",
    "annotations.tsv": "tsv",
    "annotations.jsonl": "jsonl",
    "spans.parquet": "parquet",
    "annotations.parquet": "parquet",
    "quotations.csv": "quotation_report",
    "web_annotations.jsonld": "web_annotation",
}
_OF_FOLDERS = ("parquet", "conll_2003", "conll_u", "tei")

Unit = tuple[str, str]


@dataclass(frozen=True)
class Place:
    """What is to be read: its form, its path, the configuration, and whether that was named."""

    form: str
    path: Path
    config: Path | None
    config_named: bool = True


def find_place(path: str | Path, config: str | Path | None = None) -> Place:
    """What a path leads to.

    For anything but a project the configuration is ``config``, or the one in the folders above.
    Raises InputError: nothing there, or nothing that holds spans with their annotators, with what
    to give instead.
    """
    given = Path(path)
    named = None if config is None else find_config(config)
    try:
        is_folder, exists = given.is_dir(), given.exists()
    except (OSError, ValueError) as fault:
        raise InputError(f"{given}: cannot be opened ({fault}): check the path.") from fault
    if not exists:
        raise InputError(
            f"{given}: there is no such file or folder: give Potato's configuration, the folder "
            "that it is in, or an export."
        )
    if is_folder and named is not None and configs_in(given)[0]:
        return Place(PROJECT, given, named)
    form, place = _in_folder(given) if is_folder else _of_file(given)
    if form == PROJECT:
        return Place(PROJECT, place, named or find_config(place))
    if named is not None:
        return Place(form, place, named)
    return Place(form, place, config_near(place), config_named=False)


def _of_file(file: Path) -> tuple[str, Path]:
    """The form of a file and the path to read: some forms are whole folders."""
    ending = file.suffix.lower()
    if ending in YAML_ENDINGS:
        return PROJECT, file
    if file.name in _NO_SPANS:
        raise _without_spans(file, _NO_SPANS[file.name])
    if ending == ".qdpx":
        raise _without_spans(file, "is a REFI-QDA project, which is not read")
    if ending == ".json":
        return _of_json(file)
    if ending in (".csv", ".tsv"):
        return _of_table(file), file
    if ending == ".jsonl":
        return _of_lines(file), file
    if ending == ".parquet":
        return "parquet", file.parent
    if ending == ".jsonld":
        return "web_annotation", file
    if ending == ".xml":
        return "tei", _tei_root(file.parent.parent)
    if ending in (".conll", ".conllu"):
        return _conll_form(file), file.parent
    raise InputError(
        f"{file}: is no configuration and no export of Potato that holds spans: {_USE}."
    )


def _without_spans(path: Path, what: str) -> InputError:
    return InputError(f"{path}: {what}: {_USE}.")


def _of_json(file: Path) -> tuple[str, Path]:
    if file.name == f"{ONE_FILE}.json":
        return POTATO_1, file
    if file.stat().st_size <= LARGEST_JSON_CONFIG:
        try:
            if any(key in read_settings(file) for key in CONFIG_KEYS):
                return PROJECT, file
        except InputError:
            pass
    raise InputError(
        f"{file}: is neither Potato's configuration nor an export that holds spans: {_USE}."
    )


def _of_table(file: Path) -> str:
    columns = set(read_header(file))
    if {"instance_id", "user_id"} <= columns:
        return file.suffix.lower().removeprefix(".")
    if {"schema", "code", "text", "start", "end", "field", "instance_id", "coder"} <= columns:
        return "quotation_report"
    if {"user", "instance_id"} <= columns:
        return POTATO_1
    raise InputError(
        f"{file}: has not the columns of any export of Potato that holds spans with their "
        f"annotators: {_USE}."
    )


def _of_lines(file: Path) -> str:
    _, first = next(numbered_lines(file), ("", ""))
    try:
        keys = mapping(json.loads(first)).keys()
    except (ValueError, RecursionError):
        # Whoever reads it will say where it is broken.
        keys = {"instance_id": 0, "user_id": 0}.keys()
    if "displayed_text" in keys and {"user_id", "instance_id"} <= keys:
        return POTATO_1
    if "span_annotations" in keys:
        raise _without_spans(file, "holds the spans of one annotator of Potato 1")
    if {"instance_id", "user_id"} <= keys:
        return "jsonl"
    raise InputError(
        f"{file}: its lines have no instance_id and user_id, so it is not Potato's jsonl export: "
        f"{_USE}."
    )


def _conll_form(file: Path) -> str:
    if conll.is_of_nobody(file):
        raise InputError(
            f"{file}: names no annotator, and from Potato 2.8 and before it holds only the spans "
            f"of whoever was read first: {_USE}."
        )
    return "conll_u" if file.suffix.lower() == ".conllu" else "conll_2003"


def _in_folder(folder: Path) -> tuple[str, Path]:
    """The form of a folder; a project unless it holds no configuration and something else."""
    configs, broken = configs_in(folder)
    if configs:
        return PROJECT, find_config(folder)
    forms = _forms_in(folder)
    if not forms:
        _refuse_by_name(folder)
        for child in _folders(folder):
            forms |= _forms_in(child)
            if tei.tei_files(child):
                forms |= {"tei": _tei_root(child)}
        if tei.tei_files(folder):
            forms |= {"tei": _tei_root(folder)}
    if len(forms) > 1:
        raise InputError(
            f"{folder}: holds {len(forms)} exports ({quoted(sorted(forms))}): name the one to read."
        )
    if forms:
        return next(iter(forms.items()))
    if broken:
        raise broken[0]
    raise InputError(
        f"{folder}: holds no Potato configuration (a YAML file with annotation_schemes and "
        "item_properties), neither itself nor in a folder 'configs', and no annotations: give "
        "the configuration's path, or an export."
    )


def _tei_root(folder: Path) -> Path:
    """The folder of the whole export that this one is, or holds one annotator of."""
    of_one = list(folder.glob("tei/*.xml"))
    if of_one and len({file.parent for file in folder.parent.glob("*/tei/*.xml")}) > 1:
        return folder.parent
    within = [child for child in _folders(folder) if list(child.glob("tei/*.xml"))]
    return within[0] if not of_one and len(within) == 1 and within[0].name == "tei" else folder


def _forms_in(folder: Path) -> dict[str, Path]:
    """The forms of what lies in a folder itself, each with the path to read."""
    if has_states(folder) or any(has_instances(child) for child in _folders(folder)):
        return {OUTPUT: folder}
    if has_instances(folder):
        return {}
    found: dict[str, Path] = {}
    for name, form in _BY_NAME.items():
        if os.path.isfile(folder / name):
            found[form] = folder if form in _OF_FOLDERS else folder / name
    for ending in ("csv", "tsv", "json", "jsonl"):
        if os.path.isfile(folder / f"{ONE_FILE}.{ending}") and not found:
            found[POTATO_1] = folder / f"{ONE_FILE}.{ending}"
    for file in conll.conll_files(folder):
        found[_conll_form(file)] = folder
    return found


def _folders(folder: Path) -> Iterable[Path]:
    return (child for child in sorted(folder.iterdir()) if child.is_dir())


def _refuse_by_name(folder: Path) -> None:
    """Raise InputError if what lies in a folder is known to hold no spans of several annotators."""
    if has_instances(folder):
        raise _without_spans(folder, "is the folder of one annotator of Potato 1")
    if os.path.isfile(folder / STATE_FILE):
        raise _without_spans(folder, "is the folder of one annotator, who has nobody to agree with")
    for file in sorted(folder.iterdir()):
        if file.name in _NO_SPANS or file.suffix in (".qdpx", ".conll", ".conllu"):
            _of_file(file)


def leavings_at(
    place: Place,
    project: Project,
    *,
    items: Callable[[], Collection[str]],
    texts: Callable[[], Mapping[Unit, str]],
) -> Found:
    """The leavings of all annotators at a place.

    ``items`` gives the known ids, ``texts`` the shown texts, of the project's data. An export
    with the states beside it takes the passes from there. Raises InputError.
    """
    if place.form in (PROJECT, OUTPUT):
        output = project.output if place.form == PROJECT else place.path
        return _in_output(output, project)
    if place.form == POTATO_1:
        return read_one_file(place.path, schemes=project.declared.marked)
    found = _read_export(place, project, items, texts)
    if place.config is None or not has_states(project.output):
        return found
    return _with_passes(found, states_in(project.output))


def _in_output(output: Path, project: Project) -> Found:
    if os.path.isdir(output) and not has_states(output) and _is_of_potato_1(output):
        return instances_in(output, schemes=project.declared.marked)
    return states_in(output)


def _is_of_potato_1(output: Path) -> bool:
    return any(has_instances(child) for child in _folders(output)) or any(
        os.path.isfile(output / f"{ONE_FILE}.{ending}")
        for ending in ("jsonl", "json", "csv", "tsv")
    )


def _read_export(
    place: Place,
    project: Project,
    items: Callable[[], Collection[str]],
    texts: Callable[[], Mapping[Unit, str]],
) -> Found:
    declared = project.declared
    if place.form in ("csv", "tsv"):
        return exports.read_table_export(place.path, schemes=[name for name, _ in declared.kinds])
    if place.form == "jsonl":
        return exports.read_lines_export(place.path)
    if place.form == "quotation_report":
        return exports.read_quotations(place.path)
    if place.form == "web_annotation":
        return exports.read_web_annotations(place.path)
    if place.form == "parquet":
        return exports.read_parquet_export(place.path)
    if place.form == "tei":
        if project.display.fields:
            raise InputError(
                f"{place.path}: TEI does not say in which display field a span lies, and "
                f"{project.config} shows several: {_USE}."
            )
        return tei.read_tei(place.path, schemes=declared.marked, items=items())
    ending = "conllu" if place.form == "conll_u" else "conll"
    return conll.read_conll(place.path, ending, schemes=declared.marked, texts=texts())


def _with_passes(found: Found, states: Found) -> Found:
    """An export with the passes that the states beside it tell of, each pass once."""
    stored, unread = _read_all(states)
    safe = _safe_names(stored) if found.kind.startswith("conll") else {}
    exported = {}
    for leaving in found.leavings:
        record = leaving.read()
        exported[safe.get(leaving.name, leaving.name)] = record
    schemes = {name for record in exported.values() for name in record.spans.schemes}
    joined, older = [], 0
    for name in sorted({*exported, *stored}):
        record = exported.get(name) or Record(annotator=name, source=stored[name].source)
        if name in stored:
            record, left_out = _joined(record, stored[name], schemes)
            older += left_out
        joined.append(Leaving(name, partial(_same, dataclasses.replace(record, annotator=name))))
    notes = (*found.notes, *unread)
    if older:
        notes += (
            f"the states beside the export have spans on {counted(older, 'pass')} where it has "
            "none, so it is older or a part of them: these passes are not counted.",
        )
    return dataclasses.replace(
        found,
        kind=f"{found.kind}, passes from the states beside it",
        leavings=tuple(joined),
        strays=states.strays,
        lossy="",
        notes=notes,
    )


def _same(record: Record) -> Record:
    return record


def _read_all(states: Found) -> tuple[dict[str, Record], tuple[str, ...]]:
    """The records by annotator, and a sentence on each that cannot be read."""
    stored: dict[str, Record] = {}
    unread = []
    for leaving in states.leavings:
        try:
            record = leaving.read()
        except InputError as fault:
            unread.append(f"passes of {leaving.name!r} are not known: {fault}")
        else:
            stored.setdefault(record.annotator, record)
    return stored, tuple(unread)


def _safe_names(stored: Iterable[str]) -> dict[str, str]:
    """Annotators by the names that CoNLL's files have, where that is one annotator's."""
    safe: dict[str, list[str]] = {}
    for name in stored:
        cleaned = "".join(c if c.isalnum() or c in "-_." else "_" for c in name) or "_"
        safe.setdefault(cleaned, []).append(name)
    return {cleaned: names[0] for cleaned, names in safe.items() if len(names) == 1}


def _joined(record: Record, state: Record, schemes: Collection[str]) -> tuple[Record, int]:
    """Spans of an export with the passes of a state, and how many of these do not fit."""
    marked = {
        state.spans.items[item]
        for item, scheme in zip(state.spans.item.tolist(), state.spans.scheme.tolist(), strict=True)
        if state.spans.schemes[scheme] in schemes
    }
    marked -= {record.spans.items[item] for item in set(record.spans.item.tolist())}
    marked -= {odd.item for odd in record.spans.odd}
    return (
        dataclasses.replace(
            state,
            source=record.source,
            spans=record.spans,
            seen=(state.seen | record.seen) - marked,
            answers=record.answers or state.answers,
            countings=(record.countings if record.spans.unit_is_certain else state.countings),
            texts=record.texts,
        ),
        len(marked),
    )
