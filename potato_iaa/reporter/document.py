"""report.json: the whole report as one document of plain values."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pandas as pd

from potato_iaa.corpus import Source
from potato_iaa.ledger import Ledger
from potato_iaa.measures.agreement import Agreement
from potato_iaa.measures.estimate import records

FORMAT = 1
EXAMPLES = 5
_TEXT_COLUMN = "text"
_SURROGATE = re.compile("[\ud800-\udfff]")


def report_document(agreement: Agreement, *, text: bool = False) -> dict[str, Any]:
    """The report as report.json holds it; covered text only with ``text``."""
    return {
        "format": FORMAT,
        "signature": agreement.signature,
        "project": _project(agreement.source),
        "settings": agreement.choices,
        "ledger": _ledger(agreement.ledger, text=text),
        "schemes": agreement.to_dict(),
        "categorical": {name: figures.to_dict() for name, figures in agreement.categorical.items()},
    }


def document_bytes(document: dict[str, Any]) -> bytes:
    r"""The document as indented UTF-8 JSON, its keys in the order in which they stand.

    A lone surrogate, which UTF-8 cannot carry, is spelled out. Raises ValueError on NaN: an
    undefined figure is ``None`` with its reason.

    >>> document_bytes({"label": "café \ud800"}).decode()
    '{\n  "label": "café \\\\ud800"\n}\n'
    """
    compact = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # The pairs of a crowd take more memory than all else: they go before their text is laid out.
    del document
    try:
        encoded = compact.encode()
    except UnicodeEncodeError:
        encoded = _SURROGATE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", compact).encode()
    del compact
    return msgspec.json.format(encoded, indent=2) + b"\n"


def _project(source: Source) -> dict[str, Any]:
    """What was read; no path outside the project, so that a report is the same wherever it is."""
    return {
        "name": source.name,
        "kind": source.kind,
        "potato_version": source.potato_version,
        "offset_unit": source.offset_unit,
        "offset_basis": source.offset_basis,
        "files": [
            {"role": file.role, "path": file.path, "records": file.records} for file in source.files
        ],
    }


def _ledger(ledger: Ledger, *, text: bool) -> dict[str, Any]:
    return {
        "totals": ledger.totals(),
        "annotators": records(ledger.by_annotator_and_scheme()),
        "reasons": [
            {
                "outcome": row["outcome"],
                "reason": row["reason"],
                "spans": row["spans"],
                "examples": records(examples(ledger, row["outcome"], row["reason"], text=text)),
            }
            for row in records(ledger.by_reason())
        ],
        "left_out": records(ledger.left_out),
        "passes": records(ledger.passes),
        "notes": list(ledger.notes),
    }


def examples(ledger: Ledger, outcome: str, reason: str, *, text: bool) -> pd.DataFrame:
    """The first few spans with this outcome and reason; their text only with ``text``."""
    entries = ledger.entries
    chosen = entries[(entries["outcome"] == outcome) & (entries["reason"] == reason)]
    chosen = chosen.head(EXAMPLES).drop(columns=["outcome", "reason"])
    return chosen if text else chosen.drop(columns=[_TEXT_COLUMN])
