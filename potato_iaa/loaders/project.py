"""Potato's configuration: where a project's files lie, and what was asked of whom."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from potato_iaa.errors import InputError
from potato_iaa.loaders.bounded_yaml import load_yaml
from potato_iaa.loaders.opening import content_of
from potato_iaa.loaders.rendering import Display, DisplayField, ListStyle
from potato_iaa.loaders.schemes import DataFile, Declared, annotation_phases, declared_schemes
from potato_iaa.loaders.values import mapping, names, one_or_many, quoted, sequence

YAML_ENDINGS = (".yaml", ".yml")
CONFIG_KEYS = (
    "annotation_schemes",
    "annotation_task_name",
    "item_properties",
    "output_annotation_dir",
)
DATA_ENDINGS = ("json", "jsonl", "csv", "tsv", "parquet")
# A version 1 configuration is a small file; data files are not, and lie beside it.
LARGEST_JSON_CONFIG = 1_000_000
LEVELS_ABOVE = 4


@dataclass(frozen=True)
class CheckFile:
    """A file of items that Potato slipped in to check the annotators."""

    kind: str
    path: Path


@dataclass(frozen=True)
class Project:
    """A Potato configuration, as far as the reading of its annotations needs it.

    Paths are resolved as Potato resolves them: ``base`` is ``task_dir``, relative to the folder of
    the configuration file; everything else is relative to ``base``.
    """

    config: Path
    name: str
    base: Path
    output: Path
    data_files: tuple[DataFile, ...]
    data_folder: DataFile | None
    id_key: str
    text_key: str
    display: Display
    declared: Declared
    adjudicators: frozenset[str]
    machines: frozenset[str]
    checks: tuple[CheckFile, ...]
    notes: tuple[str, ...] = ()


def find_config(path: str | Path) -> Path:
    """The configuration file that ``path`` is, or the only one in the folder that it is.

    A folder's own YAML files are looked at, and those in its ``configs`` folder; version 1's JSON
    only where there is no YAML. Raises InputError: nothing there, no configuration, several.
    """
    given = Path(path)
    try:
        if given.is_dir():
            return _only_config(given)
        if given.exists():
            return given
    except (OSError, ValueError) as fault:
        raise InputError(f"{given}: cannot be opened ({fault}): check the path.") from fault
    raise InputError(
        f"{given}: there is no such file or folder: give Potato's configuration file "
        "or the folder that it is in."
    )


def configs_in(folder: Path) -> tuple[list[Path], list[InputError]]:
    """The configurations in a folder, as `find_config` looks for them, and faults of others."""
    places = [folder, folder / "configs"]
    files = sorted(file for place in places if place.is_dir() for file in place.iterdir())
    yamls = [file for file in files if file.suffix.lower() in YAML_ENDINGS and file.is_file()]
    found, broken = _configs_among(yamls)
    if not found and not broken:
        jsons = [file for file in files if file.suffix.lower() == ".json" and file.is_file()]
        found, _ = _configs_among(
            [file for file in jsons if file.stat().st_size <= LARGEST_JSON_CONFIG]
        )
    return found, broken


def _only_config(folder: Path) -> Path:
    found, broken = configs_in(folder)
    if len(found) > 1:
        listed = quoted(str(file.relative_to(folder)) for file in found)
        raise InputError(
            f"{folder}: holds {len(found)} Potato configurations ({listed}): name the one to read."
        )
    if found:
        return found[0]
    if broken:
        raise broken[0]
    raise InputError(
        f"{folder}: holds no Potato configuration (a YAML file with annotation_schemes and "
        "item_properties), neither itself nor in a folder 'configs': give the file's path."
    )


def config_near(path: Path) -> Path | None:
    """The configuration in the folder of a path, or in the nearest of four above it; else None.

    Raises InputError: several there.
    """
    here = Path(os.path.abspath(path))
    for folder in (here, *here.parents)[: LEVELS_ABOVE + 1]:
        places = [place for place in (folder, folder / "configs") if os.path.isdir(place)]
        try:
            files = sorted(file for place in places for file in place.iterdir())
        except OSError:
            continue
        found, _ = _configs_among([file for file in files if _may_be_config(file)])
        if len(found) > 1:
            listed = quoted(str(file.relative_to(folder)) for file in found)
            raise InputError(
                f"{path}: {len(found)} Potato configurations lie near it ({listed}): "
                "name the one it belongs to with --config."
            )
        if found:
            return found[0]
    return None


def _may_be_config(file: Path) -> bool:
    if file.suffix.lower() not in YAML_ENDINGS or not os.path.isfile(file):
        return False
    return os.path.getsize(file) <= LARGEST_JSON_CONFIG


def bare_project(path: Path) -> Project:
    """What is known of an export without its configuration."""
    return Project(
        config=path,
        name=path.stem,
        base=path.parent,
        output=path,
        data_files=(),
        data_folder=None,
        id_key="id",
        text_key="text",
        display=Display(),
        declared=Declared(),
        adjudicators=frozenset(),
        machines=frozenset(),
        checks=(),
    )


def _configs_among(files: list[Path]) -> tuple[list[Path], list[InputError]]:
    found, broken = [], []
    for file in files:
        try:
            if any(key in read_settings(file) for key in CONFIG_KEYS):
                found.append(file)
        except InputError as fault:
            broken.append(fault)
    return found, broken


def read_settings(file: Path) -> dict[str, Any]:
    """The settings in a configuration file, YAML or JSON.

    Raises InputError: not readable, not UTF-8, not YAML (with line and column), no settings.
    """
    text = _text_of(file)
    try:
        loaded = _parsed(file, text)
    # PyYAML's constructors raise whatever the value made them trip over, IndexError included.
    except Exception as fault:
        raise InputError(
            f"{file}{_place_of(fault)}: is not valid {_language(file)} ({_problem_of(fault)}): "
            "correct the file, or give Potato's configuration."
        ) from fault
    if not isinstance(loaded, dict):
        raise InputError(
            f"{file}: holds no settings, so it is no Potato configuration: give the YAML file "
            "with annotation_schemes and item_properties."
        )
    return loaded


def _language(file: Path) -> str:
    return "JSON" if file.suffix.lower() == ".json" else "YAML"


def _parsed(file: Path, text: str) -> Any:
    if _language(file) == "JSON":
        return json.loads(text)
    return load_yaml(text)


def _text_of(file: Path) -> str:
    try:
        return content_of(file).decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InputError(
            f"{file}, byte {fault.start}: is not UTF-8, as Potato's files are: "
            "save the file in UTF-8."
        ) from fault
    except (OSError, ValueError) as fault:
        problem = getattr(fault, "strerror", None) or str(fault)
        raise InputError(f"{file}: cannot be read ({problem}): check its permissions.") from fault


def _place_of(fault: Exception) -> str:
    mark = getattr(fault, "problem_mark", None)
    if mark is not None:
        return f", line {mark.line + 1}, column {mark.column + 1}"
    if isinstance(fault, json.JSONDecodeError):
        return f", line {fault.lineno}, column {fault.colno}"
    return ""


def _problem_of(fault: Exception) -> str:
    said = getattr(fault, "problem", None) or str(fault) or type(fault).__name__
    return " ".join(str(said).split())


def read_config(path: str | Path) -> Project:
    """The project that a configuration file or its folder describes.

    Raises InputError: see `find_config` and `read_settings`; no data files; data that Potato took
    from elsewhere than a file; answers that it kept in a database.
    """
    file = find_config(path)
    settings = read_settings(file)
    if not any(key in settings for key in CONFIG_KEYS):
        raise InputError(
            f"{file}: has neither annotation_schemes nor item_properties, so it is no Potato "
            "configuration: give the YAML file that the project was run with."
        )
    if mapping(settings.get("database")).get("type") == "mysql":
        raise InputError(
            f"{file}: database.type is mysql, so the annotations are in a database and not in "
            "files: export them with Potato first."
        )
    base, output, notes = _folders(file, settings)
    keys = mapping(settings.get("item_properties"))
    if "id_key" not in keys or "text_key" not in keys:
        notes += ("item_properties lacks id_key or text_key: 'id' and 'text' are taken.",)
    data_files, data_folder = _data(file, settings, base)
    return Project(
        config=file,
        name=str(settings.get("annotation_task_name") or file.resolve().parent.name),
        base=base,
        output=output,
        data_files=data_files,
        data_folder=data_folder,
        id_key=str(keys.get("id_key", "id")),
        text_key=str(keys.get("text_key", "text")),
        display=_display(settings, base),
        declared=declared_schemes(
            settings,
            phase_files=_phase_files(file, settings, base),
            group_files=_group_files(settings, base),
        ),
        adjudicators=_adjudicators(settings),
        machines=_machines(settings),
        checks=_checks(settings, base),
        notes=notes,
    )


def _folders(file: Path, settings: dict[str, Any]) -> tuple[Path, Path, tuple[str, ...]]:
    """The folder that paths are relative to, the annotations' folder, and a note if it was moved.

    A project that was started by its folder has its configuration in ``configs``, and one copied
    from a server may name a ``task_dir`` that is not there: both are looked for where the
    configuration is.
    """
    task = settings.get("task_dir")
    task_dir = task if isinstance(task, str) and task else "."
    out = settings.get("output_annotation_dir")
    output_dir = out if isinstance(out, str) and out not in ("", "default") else "annotation_output"
    here = file.parent
    bases = [here / task_dir, here]
    if here.resolve().name == "configs":
        bases.append(here.parent)
    named = Path(os.path.normpath(bases[0]))
    for base in map(Path, map(os.path.normpath, bases)):
        if os.path.isdir(base / output_dir):
            moved = base != named
            note = f"task_dir {task_dir!r} does not lead to the annotations: {_folder(base)} does."
            return base, base / output_dir, (note,) if moved else ()
    return named, named / output_dir, ()


def _folder(base: Path) -> str:
    return f"folder {base.resolve().name!r}"


def _data(
    file: Path, settings: dict[str, Any], base: Path
) -> tuple[tuple[DataFile, ...], DataFile | None]:
    if settings.get("data_sources"):
        return _sources(file, settings, base), None
    listed = one_or_many(settings.get("data_files"))
    found = [_data_file(file, base, entry, f"data_files[{n}]") for n, entry in enumerate(listed)]
    for group_file in _group_data(settings, base):
        if all(_same_file(group_file, other) is False for other in found):
            found.append(group_file)
    folder = settings.get("data_directory")
    data_folder = (
        DataFile(base / folder, str(settings.get("data_directory_encoding") or "utf-8"))
        if isinstance(folder, str) and folder not in ("", "null", "default")
        else None
    )
    if not found and data_folder is None:
        raise InputError(
            f"{file}: names no data_files, so the texts of the items cannot be found: "
            "add the files that Potato was run with."
        )
    return tuple(found), data_folder


def _same_file(one: DataFile, other: DataFile) -> bool:
    return os.path.abspath(one.path) == os.path.abspath(other.path)


def _data_file(file: Path, base: Path, entry: Any, place: str) -> DataFile:
    settings = entry if isinstance(entry, dict) else {"path": entry}
    path = settings.get("path")
    if not isinstance(path, str) or not path:
        raise InputError(f"{file}: {place} has no path: give the name of a data file.")
    if path.rpartition(".")[2].lower() not in DATA_ENDINGS:
        raise InputError(
            f"{file}: {place} is {path!r}, and Potato reads items from files that end in "
            f"{', '.join(DATA_ENDINGS)}: give one of those."
        )
    encoding = settings.get("encoding")
    return DataFile(base / path, encoding if isinstance(encoding, str) else "utf-8")


def _sources(file: Path, settings: dict[str, Any], base: Path) -> tuple[DataFile, ...]:
    found = []
    for position, source in enumerate(one_or_many(settings["data_sources"])):
        place = f"data_sources[{position}]"
        kind = mapping(source).get("type")
        if mapping(source).get("enabled", True) is False:
            continue
        if kind != "file":
            raise InputError(
                f"{file}: {place} is of type {kind!r}, which is not a file here: save its items "
                "to a file and name it under data_files instead."
            )
        found.append(_data_file(file, base, source, place))
    if not found:
        raise InputError(
            f"{file}: none of its data_sources is enabled, so the texts of the items cannot be "
            "found: name their files under data_files."
        )
    return tuple(found)


def _groups(settings: dict[str, Any]) -> list[dict[Any, Any]]:
    groups = sequence(mapping(settings.get("batch_assignment")).get("groups"))
    return [group for group in groups if isinstance(group, dict)]


def _group_file(group: dict[Any, Any], keys: tuple[str, ...], base: Path) -> DataFile | None:
    entry = next((group[key] for key in keys if group.get(key)), None)
    settings = entry if isinstance(entry, dict) else {"path": entry}
    path, encoding = settings.get("path"), settings.get("encoding")
    if not isinstance(path, str) or not path:
        return None
    return DataFile(base / path, encoding if isinstance(encoding, str) else "utf-8")


_GROUP_DATA = ("data_file", "input_data_file", "input_file")
_GROUP_ITEMS = ("instances_file", "items_file", "instance_ids_file")


def _group_data(settings: dict[str, Any], base: Path) -> list[DataFile]:
    files = (_group_file(group, _GROUP_DATA, base) for group in _groups(settings))
    return [file for file in files if file is not None]


def _group_files(settings: dict[str, Any], base: Path) -> dict[int, tuple[DataFile, ...]]:
    files = {
        position: _group_file(group, _GROUP_ITEMS + _GROUP_DATA, base)
        for position, group in enumerate(_groups(settings))
    }
    return {position: (file,) for position, file in files.items() if file is not None}


def _phase_files(file: Path, settings: dict[str, Any], base: Path) -> dict[str, list[Any]]:
    """The schemes in the files of annotation phases; those of survey phases are not about items."""
    found = {}
    for name, phase in annotation_phases(settings).items():
        path = phase.get("file")
        kind = str(phase.get("type") or name).lower()
        if kind != "annotation" or not isinstance(path, str):
            continue
        places = (base / path, file.parent / path, file.parent.parent / path)
        there = next((place for place in places if os.path.isfile(place)), None)
        if there is None:
            raise InputError(
                f"{file}: phase {name!r} names the file {path!r}, which is not there: "
                "put it back, or list the schemes in the configuration."
            )
        found[name] = _phase_schemes(there)
    return found


def _phase_schemes(file: Path) -> list[Any]:
    text = _text_of(file)
    try:
        if file.suffix.lower() == ".jsonl":
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        return one_or_many(_parsed(file, text))
    # As in read_settings: PyYAML raises whatever it tripped over.
    except Exception as fault:
        raise InputError(
            f"{file}{_place_of(fault)}: is not valid {_language(file)} ({_problem_of(fault)}): "
            "correct the file."
        ) from fault


def _display(settings: dict[str, Any], base: Path) -> Display:
    fields = [
        field
        for field in sequence(mapping(settings.get("instance_display")).get("fields"))
        if isinstance(field, dict) and field.get("span_target") and "key" in field
    ]
    style = mapping(settings.get("list_as_text"))
    return Display(
        fields=tuple(
            {
                field.key: field
                for field in (
                    DisplayField.of(str(field["key"]), str(field.get("type", "text")), field)
                    for field in fields
                )
            }.values()
        ),
        linebreaks_as_markup=bool(settings.get("highlight_linebreaks", False)),
        lists=ListStyle(
            prefix=str(style.get("text_list_prefix_type", "alphabet")),
            shaded=bool(style.get("alternating_shading", False)),
            side_by_side=bool(style.get("horizontal", False)),
        ),
        base=base,
    )


def _adjudicators(settings: dict[str, Any]) -> frozenset[str]:
    block = mapping(settings.get("adjudication"))
    listed = one_or_many(block.get("adjudicator_users")) if block.get("enabled") else []
    return frozenset(names(listed))


def _machines(settings: dict[str, Any]) -> frozenset[str]:
    block = mapping(settings.get("machine_annotators"))
    listed = sequence(block.get("annotators")) if block.get("enabled") else []
    return frozenset(
        str(entry["id"]).strip()
        for entry in listed
        if isinstance(entry, dict) and entry.get("id") is not None
    )


def _checks(settings: dict[str, Any], base: Path) -> tuple[CheckFile, ...]:
    # Whether the checks are switched on now says nothing of when the annotators worked.
    kinds = {"attention_checks": "attention check", "gold_standards": "gold item"}
    found = []
    for key, kind in kinds.items():
        path = mapping(settings.get(key)).get("items_file")
        if isinstance(path, str) and path:
            found.append(CheckFile(kind, base / path))
    return tuple(found)
