"""Tests of Parquet exports need a package that is an extra."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what reads Parquet where pyarrow, the extra ``parquet``, is not installed."""
    if find_spec("pyarrow") is None:
        skip = pytest.mark.skip(reason="reading Parquet needs pyarrow (extra parquet)")
        for item in items:
            reads = "parquet" in item.name or "test_every_file_is_read" in item.name
            if item.path.parent.name == "loaders" and reads:
                item.add_marker(skip)
