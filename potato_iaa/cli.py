"""The command line: parse, call, print. Everything else is imported when a command needs it."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from potato_iaa.errors import PotatoIAAError, UsageError
from potato_iaa.jobs.commands import add_commands
from potato_iaa.shared_options import Project, Pseudonyms, Schemes, measuring, reading, sharing
from potato_iaa.version import __version__

if TYPE_CHECKING:
    from potato_iaa.corpus import Corpus

Tell = Callable[[str], None]

COLLECT_AFTER = 50_000
INPUT_FAULT = 2
INTERRUPTED = 130

app = typer.Typer(
    name="potato-iaa",
    help="How far do the annotators of a Potato project agree on the spans?",
    add_completion=False,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

WithText = Annotated[bool, typer.Option("--text", help="Show texts; they may hold personal data.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"potato-iaa {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """How far do the annotators of a Potato project agree on the spans?"""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
@sharing(wanted=reading, chosen=measuring)
def report(
    project: Project,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Folder for the report, replaced as a whole. Default: iaa_report.",
        ),
    ] = None,
    scheme: Schemes = None,
    chosen: dict[str, Any],
    wanted: dict[str, Any],
    text: WithText = False,
    figures: Annotated[
        bool, typer.Option("--figures", help="Draw figures for a paper, as SVG and PDF.")
    ] = False,
    pseudonyms: Pseudonyms = False,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print report.json and nothing else; write files only with --out."
        ),
    ] = False,
    files: Annotated[bool, typer.Option("--files/--no-files", help="Write the files.")] = True,
) -> None:
    """Measure a project and write its report."""
    from potato_iaa.measures.measuring import measure
    from potato_iaa.reporter.files import (
        DEFAULT_FORMATS,
        FORMATS,
        check_out,
        write_report,
        written_parts,
    )
    from potato_iaa.reporter.grounds import check_grounds

    if not files and (out is not None or figures):
        wish = "--figures" if out is None else "--out"
        raise UsageError(f"{wish} asks for files and --no-files for none: leave one of them out.")
    target = out or (Path("iaa_report") if files and not json else None)
    if figures and target is None:
        raise UsageError("--figures are files, and with --json none are written: add --out.")
    if target is not None:
        check_out(target)
    with _progress() as tell:
        corpus = _read(project, scheme, wanted, tell)
        if wanted["trim"]:
            untrimmed = _read(project, scheme, wanted | {"trim": False}, tell)
            corpus = _with_f1_before(corpus, untrimmed, chosen["min_shared_items"], tell)
        agreement = measure(
            _as_asked(corpus, pseudonyms=pseudonyms),
            **chosen,
            progress=tell,
        )
        check_grounds(agreement)
        tell("writing")
        formats = FORMATS if figures else DEFAULT_FORMATS
        written = (
            write_report(agreement, target, text=text, formats=formats)
            if target is not None
            else ()
        )
    if json:
        from potato_iaa.reporter.document import document_bytes, report_document

        _write(document_bytes(report_document(agreement, text=text)))
        return
    from potato_iaa.reporter.terminal import page_of, terminal_report

    page = page_of(sys.stdout)
    _print(terminal_report(agreement, page))
    if target is not None:
        told = f"Written to {target}: {', '.join(written_parts(written))}"
        _print(f"\n{page.safe(told)}\n")


@app.command()
@sharing(wanted=reading)
def spans(
    project: Project,
    *,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="The table to write, .csv or .jsonl."),
    ] = Path("spans.csv"),
    scheme: Schemes = None,
    wanted: dict[str, Any],
    pseudonyms: Pseudonyms = False,
) -> None:
    """Write the clean table of spans.

    Offsets are code points into the text that the annotator saw, which is shown as they cut it.
    In .csv, a string that a spreadsheet would run as a formula gets a leading '; .jsonl is exact.
    """
    from potato_iaa.reporter.span_table import check_spans_out, write_spans

    check_spans_out(out)
    with _progress() as tell:
        corpus = _read(project, scheme, wanted, tell)
        rows = write_spans(_as_asked(corpus, pseudonyms=pseudonyms), out)
    _print(_safe(f"Written to {out}: {rows:,} rows") + "\n")


@app.command()
@sharing(wanted=reading)
def inspect(
    project: Project,
    *,
    wanted: dict[str, Any],
    text: WithText = False,
    pseudonyms: Pseudonyms = False,
) -> None:
    """Show what lies on disk and what is read of it."""
    with _progress() as tell:
        corpus = _read(project, None, wanted, tell)
    corpus = _as_asked(corpus, pseudonyms=pseudonyms)
    from potato_iaa.reporter.inspection import inspection
    from potato_iaa.reporter.terminal import page_of

    _print(inspection(corpus, page_of(sys.stdout), text=text))


@app.command()
def chance(
    share: Annotated[
        list[float],
        typer.Option("--share", metavar="SHARE", help="The share of one class; repeatable."),
    ],
    observed: Annotated[
        float | None,
        typer.Option("--observed", metavar="A", help="The observed agreement, from 0 to 1."),
    ] = None,
    independent: Annotated[
        bool, typer.Option("--independent", help="Raters who agree by chance alone.")
    ] = False,
) -> None:
    """Weigh an observed agreement by class shares."""
    from potato_iaa.measures.chance import AnnotatorAgreementScenario

    if observed is None and not independent:
        raise UsageError("observed agreement is missing: give --observed, or --independent.")
    try:
        scenario = AnnotatorAgreementScenario(
            class_shares=share, observed_agreement=observed, independent_raters=independent
        )
        kappa = scenario.kappa
    except ValueError as fault:
        raise UsageError(str(fault)) from fault
    _print(
        f"agreement         {scenario.agreement:.4g}\n"
        f"chance agreement  {scenario.chance_agreement:.4g}\n"
        f"kappa             {kappa:.4g}\n"
    )


@app.command()
def measures(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
) -> None:
    """List every measure with its definition and its source."""
    from potato_iaa.measures.registry import markdown_table
    from potato_iaa.reporter.glossary import glossary
    from potato_iaa.reporter.terminal import page_of

    page = page_of(sys.stdout)
    if markdown:
        _print("".join(f"{page.safe(line)}\n" for line in markdown_table().split("\n")))
    else:
        _print(glossary(page))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0, or 2 with one sentence on stderr for input and usage."""
    # The cores have work of ours (see spread), for which threads of the library would wait.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in ("stdout", "stderr"):
        # Closed by whoever called us: there is nobody to tell.
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    # A command makes few cycles and ends soon: looking for them at every turn, and once more among
    # all objects at the end, would take longer than what it frees.
    gc.set_threshold(COLLECT_AFTER)
    atexit.register(gc.freeze)
    sys.exit(_run(list(sys.argv[1:] if arguments is None else arguments)))


def _run(arguments: list[str]) -> int:
    try:
        code = app(args=arguments, prog_name="potato-iaa", standalone_mode=False)
    except PotatoIAAError as fault:
        return _fail(*getattr(fault, "sentences", (str(fault),)))
    except typer.TyperException as fault:
        told = fault.format_message().rstrip(".")
        return _fail(f"{told} See --help." if told.endswith("?") else f"{told}: see --help.")
    except MemoryError:
        return _fail(
            "memory ran out: measure fewer items with --include-items, one scheme with --scheme, "
            "or with less --bootstrap."
        )
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:
        _fail("interrupted.")
    return int(code or 0)


def _fail(*sentences: str) -> int:
    from potato_iaa.reporter.safe_text import encodable, visible

    encoding = sys.stderr.encoding or "utf-8"
    for sentence in sentences:
        sys.stderr.write(encodable(f"potato-iaa: {visible(sentence)}", encoding) + "\n")
    return INPUT_FAULT


def _read(project: str, schemes: list[str] | None, wanted: dict[str, Any], tell: Tell) -> Corpus:
    from potato_iaa.loaders import read_project

    return read_project(
        project,
        schemes=schemes,
        progress=lambda stage, done, of: tell(f"{stage}: {done:,} of {of:,}"),
        **wanted,
    )


def _as_asked(corpus: Corpus, *, pseudonyms: bool) -> Corpus:
    if not pseudonyms:
        return corpus
    from potato_iaa.jobs.selection import pseudonymized

    return pseudonymized(corpus)


def _with_f1_before(corpus: Corpus, untrimmed: Corpus, min_shared_items: int, tell: Tell) -> Corpus:
    """The corpus with a note on the headline of every scheme before its spans were trimmed."""
    from potato_iaa.measures.measuring import measure
    from potato_iaa.reporter.headline import headline
    from potato_iaa.reporter.rounding import value_text

    before = measure(untrimmed, bootstrap=0, min_shared_items=min_shared_items, progress=tell)
    notes = tuple(
        f"scheme {name!r}: before blanks were trimmed, F1 exact, typed, was "
        f"{value_text(headline(scheme))}."
        for name, scheme in before.schemes.items()
    )
    ledger = replace(corpus.ledger, notes=(*corpus.ledger.notes, *notes))
    return replace(corpus, ledger=ledger)


@contextmanager
def _progress() -> Iterator[Tell]:
    """What is being done, on stderr; silent where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    # Refreshed when there is something to tell: a thread that did so by itself would keep the
    # annotators from being read in processes.
    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as line:
        line.update(Text("reading"), refresh=True)
        yield lambda stage: line.update(Text(_safe(stage)), refresh=True)


def _safe(line: str) -> str:
    from potato_iaa.reporter.terminal import page_of

    return page_of(sys.stdout).safe(line)


def _print(text: str) -> None:
    with _while_read():
        sys.stdout.write(text)


def _write(content: bytes) -> None:
    """Bytes as they are, whatever the encoding of the terminal."""
    with _while_read():
        sys.stdout.buffer.write(content)


@contextmanager
def _while_read() -> Iterator[None]:
    """Ends quietly where whoever reads our output has had enough (``| head``)."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError as fault:
        # Python flushes again at shutdown, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from fault


add_commands(app, printed=_print, written=_write, progress=_progress)
