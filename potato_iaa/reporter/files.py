"""Writes a report: every file beside the output folder first, then all of them at once."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from potato_iaa.errors import UsageError
from potato_iaa.measures.agreement import Agreement

FORMATS = ("json", "md", "csv")
OURS = (
    "report.json",
    "report.md",
    "report.html",
    "tables/*.csv",
    "tables/*.tex",
    "tables/*.md",
    "figures/*.svg",
    "figures/*.pdf",
)


def write_report(
    agreement: Agreement,
    out: str | os.PathLike[str],
    *,
    text: bool = False,
    formats: Sequence[str] = FORMATS,
) -> tuple[Path, ...]:
    """Write report.json, report.md and tables/*.csv into the folder ``out``; return their paths.

    ``out`` holds the old report or the new one, never a part of one. The covered text of spans
    appears only with ``text``. Raises UsageError: ``out`` is a file, holds anything that is not
    part of a report, or cannot be written; a format that does not exist.

    >>> from potato_iaa import Corpus, measure
    >>> corpus = Corpus.from_tables(
    ...     items=[("d1", "Ada")],
    ...     passes=[("d1", "ann"), ("d1", "ben")],
    ...     spans=[("d1", "ann", 0, 3, "PER"), ("d1", "ben", 0, 3, "PER")],
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_report(measure(corpus), f"{folder}/report", formats=["json", "md"])
    >>> [path.name for path in paths]
    ['report.json', 'report.md']
    """
    folder = check_out(out)
    contents = report_files(agreement, text=text, formats=formats)
    with _replacing(folder) as beside:
        for name, content in contents.items():
            path = beside / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
    return tuple(folder / name for name in contents)


def report_files(
    agreement: Agreement, *, text: bool = False, formats: Sequence[str] = FORMATS
) -> dict[str, bytes]:
    """The files of a report by their names. Raises UsageError: a format that does not exist."""
    from potato_iaa.reporter.csv_tables import csv_bytes, csv_tables
    from potato_iaa.reporter.document import document_bytes, report_document
    from potato_iaa.reporter.markdown import markdown_report

    for name in formats:
        if name not in FORMATS:
            raise UsageError(f"no report format {name!r}: there are {', '.join(FORMATS)}.")
    files = {}
    if "json" in formats:
        files["report.json"] = document_bytes(report_document(agreement, text=text))
    if "md" in formats:
        files["report.md"] = markdown_report(agreement).encode("utf-8", "backslashreplace")
    if "csv" in formats:
        for name, table in csv_tables(agreement, text=text).items():
            files[f"tables/{name}.csv"] = csv_bytes(table)
    return files


def check_out(out: str | os.PathLike[str]) -> Path:
    """The folder that ``out`` names, if a report may be written there; else UsageError.

    A folder is replaced as a whole, so it may hold nothing but an earlier report.
    """
    folder = Path(os.path.realpath(out))
    if not folder.exists():
        return folder
    if not folder.is_dir():
        raise UsageError(f"output {os.fspath(out)!r} is a file: name a folder for the report.")
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_dir() and not any(fnmatchcase(name, ours) for ours in OURS):
            raise UsageError(
                f"output folder {os.fspath(out)!r} holds {name!r}, which is not part of a report: "
                "name an empty or a new folder."
            )
    return folder


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """A folder beside ``folder`` to write into; it takes the place of ``folder`` at the end."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        workshop = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            new, old = workshop / "new", workshop / "old"
            new.mkdir()
            yield new
            _swap(folder, new=new, old=old)
        finally:
            shutil.rmtree(workshop, ignore_errors=True)
    except OSError as error:
        raise UsageError(
            f"the report cannot be written to {str(folder)!r} ({error.strerror}): "
            "free the place or name another folder with --out."
        ) from error


def _swap(folder: Path, *, new: Path, old: Path) -> None:
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
