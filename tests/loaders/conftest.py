"""Tests of Parquet exports need a package that is an extra."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what reads Parquet where pyarrow, the extra ``parquet``, is not installed."""
    if find_spec("pyarrow") is None:
        skip = pytest.mark.skip(reason="reading Parquet needs pyarrow (extra parquet)")
        for item in items:
            if item.path.parent.name == "loaders" and "parquet" in item.name:
                item.add_marker(skip)
