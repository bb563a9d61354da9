"""The signature: one line of choices and data that reproduces a report's figures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Protocol

import numpy as np

from potato_iaa.layer import Layer
from potato_iaa.version import __version__

SPECIFICATION = 1


class Choices(Protocol):
    """The choices that a signature names."""

    @property
    def both_empty(self) -> str: ...
    @property
    def bootstrap(self) -> int: ...
    @property
    def seed(self) -> int: ...


def signature(choices: Choices, passes: str, data: str) -> str:
    """The line that a paper can quote; the parts stand in a fixed order."""
    parts = {
        "match": "exact",
        "types": "yes",
        "avg": "pairs",
        "empty": choices.both_empty,
        "passes": passes.replace(" ", "_"),
        "bootstrap": choices.bootstrap,
        "seed": choices.seed,
        "spec": SPECIFICATION,
        "data": data,
        "v": __version__,
    }
    return "|".join(["F1", *(f"{name}:{value}" for name, value in parts.items())])


def data_hash(layers: Iterable[Layer]) -> str:
    """The first 12 hex digits of the SHA-256 of what was measured, in canonical order."""
    digest = hashlib.sha256()
    for layer in layers:
        names = [layer.scheme, layer.annotators, layer.labels, layer.items, layer.unit_field]
        digest.update(json.dumps([*names, layer.unit_text]).encode())
        for array in (
            layer.unit_item,
            layer.pass_unit,
            layer.pass_annotator,
            layer.span_pass,
            layer.span_label,
            layer.part_span,
            layer.part_start,
            layer.part_end,
        ):
            digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
    return digest.hexdigest()[:12]
