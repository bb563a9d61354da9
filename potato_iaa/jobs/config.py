"""Job files: what may stand in them, and every fault in one with its line."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails

from potato_iaa.corpus import ROLES
from potato_iaa.errors import InputError, PotatoIAAError
from potato_iaa.jobs.located_yaml import YamlError, load_located
from potato_iaa.jobs.overrides import Override, parse_override, put
from potato_iaa.loaders.bases import UNITS as OFFSET_UNITS
from potato_iaa.loaders.passes import POLICIES
from potato_iaa.matcher.rules import parse_rule
from potato_iaa.measures.f1 import BOTH_EMPTY
from potato_iaa.measures.names import MeasureName
from potato_iaa.measures.registry import ON_REQUEST
from potato_iaa.measures.tokenizing import UNITS
from potato_iaa.reporter.files import DEFAULT_FORMATS, FORMATS

_UNFIT_NAME = re.compile(r"[/\\\x00-\x1f\x7f]|^[. ]|[. ]$|^$")
# What a pattern takes for a project, beside folders.
_PROJECT_FILES = (".yaml", ".yml", ".csv", ".tsv", ".jsonl", ".jsonld")
_SHAPES = {
    "int": "a whole number",
    "float": "a number",
    "finite": "a number",
    "bool": "true or false",
    "string": "a text",
    "tuple": "a list",
    "list": "a list",
    "dict": "a mapping",
    "model": "a mapping",
}


SET = "--set"
# What a configuration of Potato has, and no job.
_OF_POTATO = {"annotation_schemes", "annotation_task_name", "data_files", "item_properties"}


class JobFileError(InputError):
    """A job file with faults, a sentence for each."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__(" ".join(sentences))
        self.sentences = tuple(sentences)


def _parses(parse: Callable[[str], object]) -> AfterValidator:
    def checked(text: str) -> str:
        try:
            return str(parse(text))
        except PotatoIAAError as fault:
            raise ValueError(str(fault)) from fault

    return AfterValidator(checked)


def _among(choices: Iterable[str]) -> AfterValidator:
    listed = tuple(choices)

    def checked(text: str) -> str:
        if text not in listed:
            near = get_close_matches(text, listed, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ValueError(f"no {text!r}: {hint}there are {', '.join(listed)}.")
        return text

    return AfterValidator(checked)


def _enum(choices: Iterable[str]) -> Any:
    """The choices, for editors."""
    return Field(json_schema_extra={"enum": list(choices)})


def _gate(text: str) -> MeasureName:
    name = MeasureName.parse(text)
    if name.is_loss:
        raise InputError(f"{text} is better when it is smaller: set a bound on an F1 instead.")
    return name


Flag = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=0)]
Positive = Annotated[int, Field(strict=True, ge=1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
MatchRule = Annotated[str, _parses(parse_rule)]
GateName = Annotated[str, _parses(_gate)]
Role = Annotated[str, _among(ROLES), _enum(ROLES)]
OffsetUnit = Annotated[str, _among(OFFSET_UNITS), _enum(OFFSET_UNITS)]
Policy = Annotated[str, _among(POLICIES), _enum(POLICIES)]
TokenUnit = Annotated[str, _among(UNITS), _enum(UNITS)]
BothEmpty = Annotated[str, _among(BOTH_EMPTY), _enum(BOTH_EMPTY)]
OnRequest = Annotated[str, _among(ON_REQUEST), _enum(ON_REQUEST)]
Format = Annotated[str, _among(FORMATS), _enum(FORMATS)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Bound(_Strict):
    """The least value that passes a gate; a number alone stands for ``at_least``."""

    at_least: Annotated[float, Field(strict=True, allow_inf_nan=False, le=1)]
    """The least value that passes; no figure is above 1."""
    on: Literal["value", "low"] = "value"
    """What must reach it: the value, or the low end of its 95 % interval."""
    schemes: tuple[str, ...] | None = None
    """The span schemes it is asked of. Without it: all that are measured."""

    @model_validator(mode="before")
    @classmethod
    def _number_alone(cls, given: Any) -> Any:
        is_number = isinstance(given, int | float) and not isinstance(given, bool)
        return {"at_least": given} if is_number else given

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"type": "number"}, handler(schema)]}


class Settings(_Strict):
    """How a project is read, measured and reported; named as in read_project and measure."""

    passes: Policy = "seen"
    """Which items count as passed through by an annotator who marked nothing on them."""
    schemes: tuple[str, ...] | None = None
    """The span schemes to measure. Without it: all."""
    skip_broken: Flag = False
    """Go on without annotators whose files cannot be read."""
    config: str | None = None
    """Potato's configuration, for an export that has none in the folders above it."""
    include_annotators: tuple[str, ...] | None = None
    """Patterns (``*``, ``?``) of the annotators to measure. Without it: all."""
    exclude_annotators: tuple[str, ...] = ()
    """Patterns of annotators to leave out."""
    include_items: tuple[str, ...] | None = None
    """Patterns of the ids of the items to measure. Without it: all."""
    exclude_items: tuple[str, ...] = ()
    """Patterns of the ids of items to leave out."""
    merge: dict[str, str] | None = None
    """The name of a person for each login that is theirs."""
    roles: dict[str, Role] | None = None
    """By name or pattern of annotators: human, system or gold."""
    potato_version: str | None = None
    """The version of Potato that wrote the files, instead of what they tell."""
    offset_unit: OffsetUnit | None = None
    """What offsets count, instead of what the files tell."""
    trim: Flag = False
    """Take blanks off the ends of spans."""
    allow_outside: Flag = False
    """Read files that lie outside the project's folders, too."""
    rules: tuple[MatchRule, ...] = ()
    """Match rules beside exact and overlap, such as ``overlap(iou>=0.5)`` or ``terms``."""
    token_unit: TokenUnit = "word"
    """What token alpha counts."""
    both_empty: BothEmpty = "skip"
    """In means over items, leave out items that both left empty, or count them as 1."""
    min_shared_items: Positive = 1
    """Leave pairs that share fewer items out of the mean over pairs."""
    bootstrap: Count = 1000
    """Resamples for intervals; 0 for none."""
    seed: Count = 0
    """Seed of the bootstrap."""
    measures: tuple[OnRequest, ...] = ()
    """Coefficients made on request."""
    audit: Flag = True
    """Have token alpha recomputed by an independent package."""
    pseudonyms: Flag = False
    """Replace the annotators' names everywhere."""
    text: Flag = False
    """Show covered text, which may hold personal data."""
    formats: tuple[Format, ...] = DEFAULT_FORMATS
    """The kinds of files in the report; report.json is always among them."""
    fail_under: dict[GateName, Bound | None] = {}
    """Gates: the least value of a measure. ``null`` takes one of the defaults away."""


class Entry(Settings):
    """A project, or several by a pattern, with settings of its own."""

    project: Annotated[str, Field(min_length=1)]
    """Potato's configuration, a folder with exactly one, an export; or a pattern of these."""
    name: str | None = None
    """The name of the report's folder. Without it: that of the project's folder."""

    @model_validator(mode="before")
    @classmethod
    def _path_alone(cls, given: Any) -> Any:
        return {"project": given} if isinstance(given, str) else given

    @field_validator("name")
    @classmethod
    def _fit(cls, name: str | None) -> str | None:
        if name is not None and _UNFIT_NAME.search(name):
            raise ValueError(f"{name!r} cannot be the name of a folder.")
        return name

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(schema)]}


class JobFile(_Strict):
    """A job: projects, how to measure them, and where the reports go.

    Every path is relative to the folder of the job file.
    """

    out: Annotated[str, Field(min_length=1)] = "iaa_reports"
    """The folder for the summary, and for the report of each project in a folder of its own."""
    engine: Literal["processes", "dask"] = "processes"
    """Where the projects are measured: in processes here, or on a Dask cluster."""
    workers: Positive | None = None
    """How many processes. Without it: as many as there are cores, and as memory allows."""
    scheduler: str | None = None
    """The address of the Dask scheduler, ``tcp://host:port``."""
    junit: str | None = None
    """A file for the gates in JUnit's XML, which CI systems read."""
    defaults: Settings = Settings()
    """Settings of all projects."""
    projects: Annotated[tuple[Entry, ...], Field(min_length=1)]
    """The projects."""

    @model_validator(mode="after")
    def _engine_and_scheduler(self) -> JobFile:
        if (self.engine == "dask") != (self.scheduler is not None):
            raise ValueError(
                "engine 'dask' and the address of its scheduler go together: give both or neither."
            )
        return self


@dataclass(frozen=True)
class Planned:
    """One project of a job: its report's name, its path (also as written), its settings.

    ``fault`` says why there is nothing to read, such as a pattern that matches nothing.
    """

    name: str
    project: Path
    shown: str
    settings: Settings
    fault: str | None = None


@dataclass(frozen=True)
class Job:
    """A job file that was read: where it is, what it says, and the projects it comes to."""

    path: Path
    file: JobFile
    projects: tuple[Planned, ...]

    @property
    def out(self) -> Path:
        """The folder for the summary and the reports."""
        return self.path.parent / self.file.out

    @property
    def junit(self) -> Path | None:
        """The file for JUnit's XML."""
        return None if self.file.junit is None else self.path.parent / self.file.junit


def load_job(path: str | os.PathLike[str], *, overrides: Sequence[str] = ()) -> Job:
    """Read a job file; ``overrides`` are ``key=value``, see ``parse_override``.

    Raises JobFileError, with a sentence for every fault: the file, the line, the setting, what is
    wrong with it and what there is instead. Raises UsageError: an override of another form.
    """
    file = Path(path)
    replaced = [parse_override(text) for text in overrides]
    model = parse_job(_text_of(file), shown=str(path), overrides=replaced)
    projects = _planned(model, file.parent)
    _check_names(projects, str(path))
    return Job(path=file, file=model, projects=projects)


def parse_job(text: str, *, shown: str, overrides: Sequence[Override] = ()) -> JobFile:
    """The job that a text describes; ``shown`` is what messages call it. Raises JobFileError."""
    try:
        located = load_located(text)
    except YamlError as fault:
        place = f", line {fault.line}" if fault.line else ""
        raise JobFileError(
            [f"{shown}{place}: is not YAML ({fault.what}): correct the line."]
        ) from fault
    if not isinstance(located.data, dict):
        raise JobFileError(
            [f"{shown}: holds no settings: give a job file, or write one with potato-iaa init."]
        )
    if "projects" not in located.data and not _OF_POTATO.isdisjoint(located.data):
        raise JobFileError(
            [
                f"{shown}: is a configuration of Potato and no job: give it to potato-iaa report, "
                "or write a job for it with potato-iaa init."
            ]
        )
    sentences = [
        f"{shown}, line {line}: {_dotted(key)} stands twice: keep one."
        for line, key in located.twice
    ]
    data = located.data
    told: dict[tuple[Any, ...], str] = {}
    for override in overrides:
        data, paths = put(data, override, settings=Settings.model_fields)
        told |= dict.fromkeys(paths, f"{SET} {override.text}")
    places = {key: f"{shown}, line {line}" for key, line in located.lines.items()} | told
    try:
        model = JobFile.model_validate(data)
    except ValidationError as fault:
        errors = [error for error in fault.errors(include_url=False) if not _follows(error)]
        errors.sort(key=lambda error: _line(error, located.lines))
        sentences += [_sentence(error, shown=shown, places=places) for error in errors]
        raise JobFileError(sentences) from fault
    if sentences:
        raise JobFileError(sentences)
    return model


def settings_of(entry: Entry, defaults: Settings) -> Settings:
    """The settings of one entry: its own over the defaults; gates are put together.

    >>> defaults = Settings(bootstrap=10, fail_under={"F1": 0.5, "token_alpha": 0.6})
    >>> entry = Entry(project="p", seed=1, fail_under={"token_alpha": None})
    >>> found = settings_of(entry, defaults)
    >>> found.bootstrap, found.seed, list(found.fail_under)
    (10, 1, ['F1(match=exact,types=yes)'])
    """
    own = _given(entry, without={"project", "name"})
    given = _given(defaults) | own
    gates = defaults.fail_under | entry.fail_under
    return Settings.model_construct(
        **given
        | {"fail_under": {name: bound for name, bound in gates.items() if bound is not None}}
    )


def told_settings(settings: Settings) -> list[str]:
    """What differs from the defaults, a line each.

    >>> told_settings(Settings(bootstrap=10, fail_under={"token_alpha": 0.5}))
    ['bootstrap: 10', 'fail_under: token_alpha at least 0.5']
    """
    default = Settings().model_dump()
    given = settings.model_dump(exclude={"fail_under"})
    lines = [
        f"{name}: {', '.join(value) if isinstance(value, tuple) else value}"
        for name, value in given.items()
        if value != default[name]
    ]
    for name, bound in settings.fail_under.items():
        if bound is not None:
            of = "" if bound.on == "value" else ", on the low end of its interval"
            among = f", of {', '.join(bound.schemes)}" if bound.schemes else ""
            lines.append(f"fail_under: {name} at least {bound.at_least:g}{of}{among}")
    return lines


def _given(model: BaseModel, without: Iterable[str] = ()) -> dict[str, Any]:
    return {name: getattr(model, name) for name in model.model_fields_set - set(without)}


def job_schema() -> dict[str, Any]:
    """The JSON Schema of job files, for editors."""
    schema = JobFile.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "potato-iaa job",
    } | {key: value for key, value in schema.items() if key != "title"}


def schema_text() -> str:
    """What ``configs/job.schema.json`` holds."""
    return json.dumps(job_schema(), indent=2, ensure_ascii=False) + "\n"


def _text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise JobFileError(
            [f"{file}, byte {fault.start}: is not UTF-8: save the file in UTF-8."]
        ) from fault
    except (OSError, ValueError) as fault:
        said = getattr(fault, "strerror", None) or str(fault)
        raise JobFileError(
            [f"{file}: cannot be read ({said}): give a job file, or write one with init."]
        ) from fault


def _planned(model: JobFile, folder: Path) -> tuple[Planned, ...]:
    # A pattern leaves to an entry what that names by itself, and to the pattern before it the rest.
    taken = {
        _same(folder / entry.project) for entry in model.projects if not has_pattern(entry.project)
    }
    found: list[Planned] = []
    for entry in model.projects:
        settings = settings_of(entry, model.defaults)
        if settings.config is not None:
            settings = settings.model_copy(update={"config": str(folder / settings.config)})
        for planned in _matched(entry, settings, folder):
            if has_pattern(entry.project):
                if _same(planned.project) in taken:
                    continue
                taken.add(_same(planned.project))
            found.append(planned)
    return tuple(found)


def _same(path: Path) -> Path:
    return Path(os.path.abspath(path))


def has_pattern(project: str) -> bool:
    """Whether a project's path is a pattern.

    >>> has_pattern("rounds/*/config.yaml"), has_pattern("rounds/one")
    (True, False)
    """
    return glob.has_magic(project)


def _matched(entry: Entry, settings: Settings, folder: Path) -> list[Planned]:
    if not has_pattern(entry.project):
        path = folder / entry.project
        return [Planned(entry.name or _name_of(path), path, entry.project, settings)]
    matches = sorted(glob.glob(entry.project, root_dir=folder, recursive=True))
    paths = [
        (match, folder / match)
        for match in matches
        if (folder / match).is_dir() or match.lower().endswith(_PROJECT_FILES)
    ]
    if not paths:
        fault = (
            f"{entry.project}: matches no folder, no YAML file and no export beside the job file: "
            "correct the pattern."
        )
        path = folder / entry.project
        return [Planned(entry.name or entry.project, path, entry.project, settings, fault)]
    named = entry.name if len(paths) == 1 else None
    return [Planned(named or _name_of(path), path, match, settings) for match, path in paths]


def _name_of(path: Path) -> str:
    """The name of the project's folder: a configuration's own name says nothing."""
    absolute = Path(os.path.abspath(path))
    is_file = absolute.suffix.lower() in (*_PROJECT_FILES, ".json", ".parquet")
    folder = absolute.parent if is_file else absolute
    return (folder.parent if folder.name == "configs" else folder).name or "project"


def _check_names(projects: Sequence[Planned], shown: str) -> None:
    first: dict[str, Planned] = {}
    sentences = []
    for planned in projects:
        # Folders whose names differ in case alone are one on some systems.
        before = first.setdefault(planned.name.casefold(), planned)
        if before is not planned:
            sentences.append(
                f"{shown}: {before.shown!r} and {planned.shown!r} would both be reported in the "
                f"folder {planned.name!r}: give one of them a name, as in "
                f"{{project: {planned.shown}, name: another}}."
            )
    if sentences:
        raise JobFileError(sentences)


def _sentence(error: ErrorDetails, *, shown: str, places: Mapping[tuple[Any, ...], str]) -> str:
    path = tuple(step for step in error["loc"] if step != "[key]")
    place = next(
        (places[path[:length]] for length in range(len(path), 0, -1) if path[:length] in places),
        shown,
    )
    where = f"{_dotted(path)}: " if path else ""
    return f"{place}: {where}{_said(error, path, in_file=not place.startswith(SET))}"


def _follows(error: ErrorDetails) -> bool:
    """Whether a list only counts as empty because all in it is faulty."""
    return error["type"] == "too_short" and bool(error["input"])


def _line(error: ErrorDetails, lines: Mapping[tuple[Any, ...], int]) -> int:
    path = error["loc"]
    return max((lines.get(path[:length], 0) for length in range(len(path) + 1)), default=0)


def _dotted(path: Sequence[str | int]) -> str:
    """A path as it is written.

    >>> _dotted(("projects", 1, "rules", 0))
    'projects[1].rules[0]'
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def _said(error: ErrorDetails, path: Sequence[str | int], *, in_file: bool) -> str:
    kind, context = error["type"], error.get("ctx", {})
    shape = _SHAPES.get(kind.partition("_")[0])
    if kind == "extra_forbidden":
        return _unknown(str(path[-1]), _model_at(path[:-1]), in_file=in_file)
    if kind == "missing":
        return "is missing: add it."
    if kind == "value_error":
        said = str(context.get("error", error["msg"]))
        return said if said.endswith(".") else f"{said}."
    if kind == "greater_than_equal":
        return f"is {error['input']}, and {context['ge']} is the least: correct it."
    if kind in ("too_short", "string_too_short"):
        return "is empty: name at least one." if kind == "too_short" else "is empty: fill it in."
    if kind == "literal_error":
        return f"is {error['input']!r}: give {context['expected']}."
    if context.get("class_name") == Bound.__name__:
        shape = "a number, or a mapping with at_least"
    if shape is not None:
        return f"is {_shortly(error['input'])}: give {shape}."
    return f"is {_shortly(error['input'])}: {error['msg']}."


def _shortly(value: Any) -> str:
    text = "empty" if value is None else repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _unknown(key: str, model: type[BaseModel], *, in_file: bool) -> str:
    known = list(model.model_fields)
    # What --set names is a setting of the job or of its projects.
    near = get_close_matches(key, known if in_file else [*known, *Settings.model_fields], n=1)
    if near:
        return f"there is no such setting: did you mean {near[0]!r}?"
    elsewhere = model is JobFile and get_close_matches(key, Settings.model_fields, n=1, cutoff=0.9)
    if elsewhere:
        return f"there is no such setting here: write {elsewhere[0]!r} under defaults."
    return f"there is no such setting: there are {', '.join(known)}."


def _model_at(path: Sequence[str | int]) -> type[BaseModel]:
    """The model that describes what stands at ``path``."""
    model: type[BaseModel] = JobFile
    for step in path:
        field = model.model_fields.get(step) if isinstance(step, str) else None
        model = (field and _model_in(field.annotation)) or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inside = (_model_in(argument) for argument in get_args(annotation))
    return next((model for model in inside if model is not None), None)
