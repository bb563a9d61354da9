"""Writes a report: every file beside the output folder first, then all of them at once."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from potato_iaa.atomic import replace_folder
from potato_iaa.errors import UsageError
from potato_iaa.measures.agreement import Agreement
from potato_iaa.processes import cores, in_processes

# Figures take seconds, and are drawn when asked for.
FORMATS = ("json", "md", "csv", "tex", "html", "figures")
DEFAULT_FORMATS = FORMATS[:-1]
FILES = (".json", ".md", ".html", ".csv", ".tex", ".svg", ".pdf")
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
    formats: Sequence[str] = DEFAULT_FORMATS,
) -> tuple[Path, ...]:
    """Write a report into the folder ``out``; return the paths of its files.

    ``formats``: ``json``, ``md`` and ``html`` are report.json, report.md and report.html; ``csv``
    and ``tex`` are tables; ``figures`` are SVG and PDF, drawn only when asked for. ``out`` holds
    the old report or the new one, never a part of one. Texts appear only with ``text``.

    Raises UsageError: ``out`` is a file, holds anything that is not part of a report, or cannot be
    written; a format that does not exist.

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
    wanted = _known(formats)
    # The tables of csv take about as long as all else. Of a crowd, json takes the most memory: it
    # comes last, when csv is through.
    parts = [
        [name for name in reversed(wanted) if (name == "csv") == apart] for apart in (True, False)
    ]
    write = partial(_written, agreement, text)
    names: dict[str, tuple[str, ...]] = {}
    with _replacing(folder) as beside:
        places = [(beside, part) for part in parts if part]
        with in_processes(write, places, most=min(cores(), len(places))) as written:
            for of_part in written:
                names |= of_part
    return tuple(folder / name for part in wanted for name in names[part])


def report_files(
    agreement: Agreement, *, text: bool = False, formats: Sequence[str] = DEFAULT_FORMATS
) -> dict[str, bytes]:
    """The files of a report by their names. Raises UsageError: a format that does not exist."""
    files: dict[str, bytes] = {}
    for name in _known(formats):
        files |= _MAKERS[name](agreement, text)
    return files


def _known(formats: Sequence[str]) -> list[str]:
    """The formats in the order in which files are listed."""
    for name in formats:
        if name not in FORMATS:
            raise UsageError(f"no report format {name!r}: there are {', '.join(FORMATS)}.")
    return [name for name in FORMATS if name in formats]


def _written(
    agreement: Agreement, text: bool, place: tuple[Path, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Write the files of some formats into a folder; their names by format."""
    beside, formats = place
    names = {}
    for name in formats:
        files = _MAKERS[name](agreement, text)
        for file, content in files.items():
            path = beside / file
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        names[name] = tuple(files)
    return names


def _json(agreement: Agreement, text: bool) -> dict[str, bytes]:
    from potato_iaa.reporter.document import document_bytes, report_document

    return {"report.json": document_bytes(report_document(agreement, text=text))}


def _markdown(agreement: Agreement, text: bool) -> dict[str, bytes]:
    from potato_iaa.reporter.markdown import markdown_report

    return {"report.md": _encoded(markdown_report(agreement))}


def _html(agreement: Agreement, text: bool) -> dict[str, bytes]:
    from potato_iaa.reporter.html import html_report

    return {"report.html": _encoded(html_report(agreement, text=text))}


def _csv(agreement: Agreement, text: bool) -> dict[str, bytes]:
    from potato_iaa.reporter.csv_tables import csv_bytes, csv_tables

    tables = csv_tables(agreement, text=text)
    return {f"tables/{name}.csv": csv_bytes(table) for name, table in tables.items()}


def _latex(agreement: Agreement, text: bool) -> dict[str, bytes]:
    from potato_iaa.reporter.latex import latex_tables

    tables = latex_tables(agreement)
    return {f"tables/{name}.tex": _encoded(table) for name, table in tables.items()}


def _figures(agreement: Agreement, text: bool) -> dict[str, bytes]:
    from potato_iaa.reporter.figures import figure_files

    return {f"figures/{name}": content for name, content in figure_files(agreement).items()}


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


# Every import waits until its format is wanted.
_MAKERS: dict[str, Callable[[Agreement, bool], dict[str, bytes]]] = {
    "json": _json,
    "md": _markdown,
    "html": _html,
    "csv": _csv,
    "tex": _latex,
    "figures": _figures,
}


def written_parts(paths: Sequence[Path]) -> tuple[str, ...]:
    """What was written, in a few words: the reports by name, tables and figures by number.

    >>> written_parts([Path("out/report.md"), Path("out/tables/a.csv"), Path("out/tables/b.csv")])
    ('report.md', '2 files in tables')
    """
    names = [path.name for path in paths if path.name.startswith("report.")]
    folders = [path.parent.name for path in paths if not path.name.startswith("report.")]
    counted = (f"{folders.count(name)} files in {name}" for name in dict.fromkeys(folders))
    return (*names, *counted)


def check_out(out: str | os.PathLike[str]) -> Path:
    """The folder that ``out`` names, if a report may be written there; else UsageError.

    A folder is replaced as a whole, so it may hold nothing but an earlier report.
    """
    folder = Path(os.path.realpath(out))
    if not folder.exists():
        if folder.suffix.lower() in FILES:
            raise UsageError(
                f"output {os.fspath(out)!r} has the name of a file, and a report is a folder of "
                "several: name a folder."
            )
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
            replace_folder(folder, new=new, old=old)
        finally:
            shutil.rmtree(workshop, ignore_errors=True)
    except OSError as error:
        raise UsageError(
            f"the report cannot be written to {str(folder)!r} ({error.strerror}): "
            "free the place or name another folder with --out."
        ) from error
