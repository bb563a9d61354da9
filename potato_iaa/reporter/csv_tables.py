"""The complete tables of a report, one row per figure, and how they become CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from potato_iaa.ledger import Ledger
from potato_iaa.measures.agreement import Agreement, SchemeAgreement
from potato_iaa.measures.estimate import Estimate, plain
from potato_iaa.measures.f1 import Averages, F1Figures
from potato_iaa.measures.unitizing import UnitizingFigures
from potato_iaa.reporter.safe_text import spreadsheet_safe

# Rows that are written at once: cells take several times the memory of what they become.
ROWS = 50_000
_SEPARATES = re.compile('[,"\r\n]')

Figure = tuple[str, str, Estimate]

AVERAGES = ("mean_over_pairs", "pooled", "mean_over_items")
TOKEN_FIGURES = (
    "alpha",
    "alpha_io_longest",
    "alpha_bio",
    "alpha_binary",
    "alpha_marked",
    "observed_agreement",
    "chance_agreement",
    "beyond_chance",
)


def csv_tables(agreement: Agreement, *, text: bool) -> dict[str, pd.DataFrame]:
    """All tables by name; covered text only with ``text``."""
    schemes = agreement.schemes
    return {
        "averages": _stacked(schemes, _averages),
        "labels": _stacked(schemes, _labels),
        "annotators": _stacked(schemes, _annotators),
        "pairs": _stacked(schemes, lambda scheme: _by_rule(scheme, lambda f1: f1.pairs)),
        "items": _stacked(schemes, lambda scheme: _by_rule(scheme, lambda f1: f1.items)),
        "lost": _stacked(schemes, _lost),
        "coefficients": _stacked(schemes, _coefficients),
        "disagreements": _stacked(schemes, lambda scheme: scheme.disagreements),
        **{
            f"kinds_by_{key}": _stacked(schemes, _kinds_by(key))
            for key in ("pair", "label", "item", "annotator")
        },
        "confusion": _stacked(schemes, lambda scheme: scheme.matched_labels.pairs),
        "boundaries": _stacked(schemes, lambda scheme: scheme.boundaries.table),
        "boundary_offsets": _stacked(schemes, lambda scheme: scheme.boundaries.histogram),
        "drift": _stacked(schemes, lambda scheme: scheme.drift),
        "categorical": _categorical(agreement),
        "ledger": agreement.ledger.by_annotator_and_scheme(),
        "set_aside": _set_aside(agreement.ledger, text=text),
        "left_out": agreement.ledger.left_out,
        "passes": agreement.ledger.passes,
    }


def _categorical(agreement: Agreement) -> pd.DataFrame:
    """One row per question about whole items, and per option of those with several answers."""
    rows = []
    for name, figures in agreement.categorical.items():
        named = {
            "alpha": figures.alpha,
            "observed_agreement": figures.observed_agreement,
            "chance_agreement": figures.chance_agreement,
            **{f"alpha {option}": figure for option, figure in figures.options.items()},
        }
        for measure, figure in named.items():
            kind = {"question": name, "kind": figures.kind, "level": figures.level}
            rows.append(kind | {"measure": measure, "unknown": figures.unknown} | figure.to_dict())
    columns = ["question", "kind", "level", "measure", "value", "why", "low", "high"]
    return pd.DataFrame(rows, columns=[*columns, "undefined", "n", "of", "unknown"])


def csv_bytes(table: pd.DataFrame) -> bytes:
    r"""As in RFC 4180, in UTF-8; undefined is empty; no string starts a spreadsheet formula.

    >>> csv_bytes(pd.DataFrame({"label": ["=1+1", "a,b"], "value": [-0.5, float("nan")]}))
    b'label,value\r\n\'=1+1,-0.5\r\n"a,b",\r\n'
    """
    head = [_quoted(spreadsheet_safe(str(name))) for name in table.columns]
    runs = (table.iloc[first : first + ROWS] for first in range(0, len(table), ROWS))
    return b"".join([_lines([head]), *(_lines(_rows(run)) for run in runs)])


def _lines(rows: Iterable[Sequence[str]]) -> bytes:
    lines = [",".join(row) or '""' for row in rows]
    return "\r\n".join([*lines, ""]).encode("utf-8", "backslashreplace")


def _rows(table: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    return zip(*(_cells(table[name]) for name in table.columns), strict=True)


def _cells(column: pd.Series) -> list[str]:
    """Every value as it is written; what stands in a long column is a few different ones."""
    place, known = pd.factorize(column)
    written = [*(_quoted(_cell(value)) for value in known.tolist()), ""]
    cells: list[str] = np.array(written, dtype=object)[place].tolist()
    return cells


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{plain(value):.12g}"
    return spreadsheet_safe(value) if isinstance(value, str) else str(value)


def _quoted(cell: str) -> str:
    if not _SEPARATES.search(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _stacked(
    schemes: dict[str, SchemeAgreement], table_of: Callable[[SchemeAgreement], pd.DataFrame]
) -> pd.DataFrame:
    tables = []
    for name, scheme in schemes.items():
        table = table_of(scheme).copy()
        table.insert(0, "scheme", name)
        tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame({"scheme": []})


def _by_rule(
    scheme: SchemeAgreement, table_of: Callable[[F1Figures], pd.DataFrame]
) -> pd.DataFrame:
    tables = []
    for key, figures in scheme.f1.items():
        table = table_of(figures).copy()
        table.insert(0, "rule", key)
        tables.append(table.astype({"why": object}))
    return pd.concat(tables, ignore_index=True)


def _averages(scheme: SchemeAgreement) -> pd.DataFrame:
    return pd.DataFrame(
        row
        for key, figures in scheme.f1.items()
        for row in _average_rows({"rule": key}, figures.averages)
    )


def _labels(scheme: SchemeAgreement) -> pd.DataFrame:
    spans = dict(zip(scheme.corpus.labels, scheme.corpus.label_spans, strict=True))
    return pd.DataFrame(
        row
        for key, figures in scheme.f1.items()
        for label, averages in figures.labels.items()
        for row in _average_rows({"rule": key, "label": label, "spans": spans[label]}, averages)
    )


def _average_rows(keys: dict[str, Any], averages: Averages) -> Iterable[dict[str, Any]]:
    for name in AVERAGES:
        over_pairs = name == "mean_over_pairs"
        yield (
            keys
            | {"average": name}
            | _columns(getattr(averages, name))
            | {
                "sd": averages.sd if over_pairs else None,
                "min": averages.minimum if over_pairs else None,
                "max": averages.maximum if over_pairs else None,
            }
        )


def _annotators(scheme: SchemeAgreement) -> pd.DataFrame:
    figures = _by_rule(scheme, lambda f1: f1.annotators)
    return figures.merge(scheme.annotators, on="annotator", how="left", sort=False)


def _kinds_by(key: str) -> Callable[[SchemeAgreement], pd.DataFrame]:
    return lambda scheme: scheme.kinds[key]


def _lost(scheme: SchemeAgreement) -> pd.DataFrame:
    return pd.DataFrame(
        {"loss": name} | _columns(getattr(scheme.lost, name))
        for name in ("existence", "label", "boundary")
    )


def _coefficients(scheme: SchemeAgreement) -> pd.DataFrame:
    """One row per coefficient, named by its place in report.json."""
    return pd.DataFrame(
        {"coefficient": name, "label": label} | _columns(figure)
        for name, label, figure in (
            *_token_figures(scheme),
            *_unitizing_figures(scheme.unitizing, "unitizing"),
            *_other_figures(scheme),
        )
    )


def _token_figures(scheme: SchemeAgreement) -> Iterator[Figure]:
    token = scheme.token
    for name in TOKEN_FIGURES:
        yield f"token.{name}", "", getattr(token, name)
    for label, alpha in token.labels.items():
        yield "token.labels", label, alpha
    for name, codings in token.kappas.items():
        for coding, figure in codings.items():
            if isinstance(figure, Estimate):
                yield f"token.{name}.{coding}", "", figure
            else:
                yield f"token.{name}.{coding}.mean", "", figure.mean


def _unitizing_figures(figures: UnitizingFigures, place: str) -> Iterator[Figure]:
    yield f"{place}.u_alpha", "", figures.u_alpha
    yield f"{place}.binary_u_alpha", "", figures.binary_u_alpha
    yield f"{place}.cu_alpha", "", figures.cu_alpha.alpha
    for label, covered in figures.k_u_alpha.items():
        yield f"{place}.k_u_alpha", label, covered.alpha
    for label, alpha in figures.layers.items():
        yield f"{place}.layers", label, alpha
    if figures.flattened:
        yield from _unitizing_figures(figures.flattened, f"{place}.flattened")


def _other_figures(scheme: SchemeAgreement) -> Iterator[Figure]:
    if scheme.alpha_u:
        yield "unitizing.alpha_u.mean_over_items", "", scheme.alpha_u.mean_over_items
        for label, alpha in scheme.alpha_u.labels.items():
            yield "unitizing.alpha_u.labels", label, alpha
    matched = scheme.matched_labels
    yield "matched_labels.observed_agreement", "", matched.observed_agreement
    yield "matched_labels.alpha", "", matched.alpha
    yield "matched_labels.cohen_mean", "", matched.cohen


def _columns(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "why": estimate.why,
        "low": estimate.low,
        "high": estimate.high,
        "undefined": estimate.undefined,
        "n": estimate.n,
        "of": estimate.of,
    }


def _set_aside(ledger: Ledger, *, text: bool) -> pd.DataFrame:
    return ledger.entries if text else ledger.entries.drop(columns=["text"])
