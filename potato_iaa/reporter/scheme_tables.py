"""The tables of one scheme for a text to read, in their order."""

from __future__ import annotations

from collections.abc import Iterator

from potato_iaa.measures.agreement import SchemeAgreement
from potato_iaa.reporter.coefficient_tables import (
    coefficient_table,
    confusion_table,
    kind_table,
    loss_table,
    side_table,
)
from potato_iaa.reporter.display import Table
from potato_iaa.reporter.f1_tables import (
    annotator_table,
    averages_table,
    item_table,
    label_table,
    pair_table,
)
from potato_iaa.reporter.headline import HEADLINE


def scheme_tables(scheme: SchemeAgreement, *, rows: int, items: int) -> Iterator[Table]:
    """The tables that have something to say, none longer than ``rows``, or ``items`` for items."""
    for table in (
        averages_table(scheme),
        loss_table(scheme),
        kind_table(scheme),
        label_table(scheme, limit=rows),
        confusion_table(scheme, limit=rows),
        annotator_table(scheme, limit=rows),
        pair_table(scheme, limit=rows),
        side_table(scheme),
        item_table(scheme.f1[HEADLINE], limit=items),
        coefficient_table(scheme),
    ):
        if table is not None and table.rows:
            yield table
