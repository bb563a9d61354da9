"""report.json as a comparison reads it: what has to stand where, checked as the file is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from potato_iaa.errors import InputError, UsageError
from potato_iaa.measures.names import MeasureName

_Count = Annotated[int, Meta(ge=0)]
# Python's parser takes NaN and infinities, which no figure is.
_Number = Annotated[float, Meta(ge=-1e15, le=1e15)]
_Plain = str | bool | int | float | list[str] | None
_Choice = _Plain | dict[str, _Plain | dict[str, str]]


class _Figure(msgspec.Struct):
    value: _Number | None
    why: str | None = None
    low: _Number | None = None
    high: _Number | None = None
    undefined: _Number | None = None
    n: _Count = 0
    of: _Count = 0

    def __post_init__(self) -> None:
        if self.value is None and self.why is None:
            raise ValueError("`value` is null without `why`")


class _OverPairs(msgspec.Struct):
    mean_over_pairs: _Figure


class _F1(msgspec.Struct):
    mean_over_pairs: _Figure
    labels: dict[str, _OverPairs]


class _OverItems(msgspec.Struct):
    mean_over_items: _Figure


class _Gamma(msgspec.Struct):
    mean_over_items: _Figure
    gamma_cat: _Figure


class _Kappa(msgspec.Struct):
    mean: _Figure


class _Lost(msgspec.Struct):
    existence: _Figure
    label: _Figure
    boundary: _Figure


class _Token(msgspec.Struct):
    alpha: _Figure
    alpha_bio: _Figure
    alpha_binary: _Figure
    alpha_marked: _Figure
    cohen: dict[str, _Kappa] | UnsetType = UNSET
    scott: dict[str, _Kappa] | UnsetType = UNSET
    fleiss: dict[str, _Figure] | UnsetType = UNSET


class _Alphas(msgspec.Struct):
    u_alpha: _Figure
    binary_u_alpha: _Figure
    cu_alpha: _Figure


class _Unitizing(_Alphas):
    flattened: _Alphas | None = None
    alpha_u: _OverItems | UnsetType = UNSET


class _Matched(msgspec.Struct):
    alpha: _Figure


class _Corpus(msgspec.Struct):
    labels: list[str]
    items_shared: _Count


class _Scheme(msgspec.Struct):
    corpus: _Corpus
    f1: dict[str, _F1]
    lost: _Lost
    token: _Token
    unitizing: _Unitizing | UnsetType = UNSET
    matched_labels: _Matched | UnsetType = UNSET
    gamma: _Gamma | UnsetType = UNSET

    def __post_init__(self) -> None:
        for key in self.f1:
            if not _is_rule(key):
                raise ValueError(f"`f1` has no rule {key!r}")


class _Report(msgspec.Struct):
    format: Literal[1]
    signature: str
    settings: dict[str, _Choice]
    schemes: Annotated[dict[str, _Scheme], Meta(min_length=1)]

    def __post_init__(self) -> None:
        if not isinstance(self.settings.get("measures"), list):
            raise ValueError("`settings` has no list of measures")


def read_report(file: Path) -> Mapping[str, Any]:
    """The document in report.json. Raises InputError: no report, or one with something amiss."""
    try:
        document: dict[str, Any] = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as fault:
        raise InputError(f"{file}: cannot be read as a report ({fault}): make it anew.") from fault
    try:
        msgspec.convert(document, _Report)
    except msgspec.ValidationError as fault:
        raise InputError(
            f"{file}: is no report of this version ({fault}): make it anew from its project."
        ) from fault
    return document


def measure_of_rule(key: str) -> MeasureName:
    """The F1 whose key in report.json this is.

    >>> measure_of_rule("overlap_untyped")
    F1(match=overlap,types=no)
    """
    rule, _, typing = key.rpartition("_")
    return MeasureName.parse(f"F1(match={rule},types={'yes' if typing == 'typed' else 'no'})")


def _is_rule(key: str) -> bool:
    try:
        return measure_of_rule(key).rule == key
    except UsageError:
        return False
