"""The signature: one line of choices and data that reproduces a report's figures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Protocol

import numpy as np
import pandas as pd

from potato_iaa.layer import Layer
from potato_iaa.version import __version__

SPECIFICATION = 1


class Choices(Protocol):
    """The choices that a signature names."""

    @property
    def both_empty(self) -> str: ...
    @property
    def min_shared_items(self) -> int: ...
    @property
    def bootstrap(self) -> int: ...
    @property
    def seed(self) -> int: ...


def signature(choices: Choices, passes: str, data: str) -> str:
    """The line that a paper can quote; the parts stand in a fixed order.

    It reproduces the headline. ``min``, the least number of shared items, stands in it only where
    it is not 1 and so sets pairs aside.
    """
    least = choices.min_shared_items
    parts = {
        "match": "exact",
        "types": "yes",
        "avg": "pairs",
        **({} if least == 1 else {"min": least}),
        "empty": choices.both_empty,
        "passes": passes.replace(" ", "_"),
        "bootstrap": choices.bootstrap,
        "seed": choices.seed,
        "spec": SPECIFICATION,
        "data": data,
        "v": __version__,
    }
    return "|".join(["F1", *(f"{name}:{value}" for name, value in parts.items())])


def data_hash(layers: Iterable[Layer], answers: pd.DataFrame) -> str:
    """The first 12 hex digits of the SHA-256 of what was measured, in canonical order."""
    digest = hashlib.sha256()
    for layer in layers:
        names = [layer.scheme, layer.annotators, layer.labels, layer.items, layer.unit_field]
        digest.update(json.dumps([*names, layer.unit_text, layer.items_on_offer]).encode())
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
    rows = answers.astype(str).sort_values(list(answers.columns)).to_numpy().tolist()
    digest.update(json.dumps(rows).encode())
    return digest.hexdigest()[:12]
