"""The commands on jobs: run, init, compare, queue. Heavy imports wait until one is called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from potato_iaa.shared_options import Project, Schemes, measuring, reading, sharing

if TYPE_CHECKING:
    from potato_iaa.jobs.compare import Choice
    from potato_iaa.jobs.config import Job
    from potato_iaa.jobs.outcome import Outcome

Tell = Callable[[str], None]
Print = Callable[[str], None]
Write = Callable[[bytes], None]
Progress = Callable[[], AbstractContextManager[Tell]]

Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Replace a setting, of all projects if it is one of theirs; repeatable.",
    ),
]


def add_commands(app: typer.Typer, *, printed: Print, written: Write, progress: Progress) -> None:
    """Give ``app`` the commands on jobs.

    ``printed`` and ``written`` write text and bytes to stdout, ``progress`` tells on stderr.
    """

    @app.command()
    def run(
        job: Annotated[Path, typer.Argument(metavar="JOB.yaml", help="A job file.")],
        settings: Overrides = None,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")
        ] = False,
        fresh: Annotated[
            bool, typer.Option("--fresh", help="Report on what has not changed, too.")
        ] = False,
    ) -> None:
        """Report on all projects of a job file, with a summary over them.

        Exit code 2 where a project could not be reported, else 1 where a gate is missed.
        """
        from potato_iaa.jobs.config import load_job
        from potato_iaa.jobs.run import run_job
        from potato_iaa.jobs.summary import terminal_summary
        from potato_iaa.reporter.terminal import page_of

        loaded = load_job(job, overrides=settings or ())
        if dry_run:
            printed(_plan(loaded, fresh=fresh))
            return
        with progress() as tell:
            finished = run_job(loaded, fresh=fresh, watcher=_Progress(tell, len(loaded.projects)))
        page = page_of(sys.stdout)
        printed(terminal_summary(finished.summary, page))
        entrance = loaded.out / "index.html"
        printed(f"\n{page.safe(f'Written to {normpath(loaded.out)}: see {normpath(entrance)}')}\n")
        raise typer.Exit(finished.code)

    @app.command()
    def init(
        project: Project,
        out: Annotated[
            Path, typer.Option("--out", metavar="FILE", help="The job file to write.")
        ] = Path("iaa.yaml"),
    ) -> None:
        """Write a commented job file for a project."""
        from potato_iaa.jobs.starter import write_starter
        from potato_iaa.reporter.terminal import page_of

        written = write_starter(project, out)
        page = page_of(sys.stdout)
        printed(page.safe(f"Written to {written}: run it with potato-iaa run {written}") + "\n")

    @app.command()
    @sharing(wanted=reading, chosen=measuring)
    def compare(
        a: Annotated[
            str,
            typer.Argument(metavar="A", help="A project, a report, or JOB.yaml#NAME of a job."),
        ],
        b: Annotated[
            str | None,
            typer.Argument(metavar="[B]", help="The same. Default: A, of which another part."),
        ] = None,
        items_a: Annotated[
            list[str] | None,
            typer.Option("--items-a", metavar="PATTERN", help="Items of A, by id; repeatable."),
        ] = None,
        items_b: Annotated[
            list[str] | None,
            typer.Option("--items-b", metavar="PATTERN", help="Items of B, by id; repeatable."),
        ] = None,
        split_at: Annotated[
            str | None,
            typer.Option(
                "--split-at",
                metavar="DATE",
                help="Of A the passes that began before, of B those from then on.",
            ),
        ] = None,
        scheme: Schemes = None,
        *,
        chosen: dict[str, Any],
        wanted: dict[str, Any],
        json: Annotated[
            bool, typer.Option("--json", help="Print the comparison as JSON and nothing else.")
        ] = False,
    ) -> None:
        """Compare two projects, rounds or reports: differences with their intervals.

        The bootstrap of B has the seed after that of A. What a job or a report says of itself
        stands, whatever the options are.
        """
        from potato_iaa.jobs.compare import Choice, side_of
        from potato_iaa.jobs.compare import compare as compared
        from potato_iaa.jobs.comparison_table import terminal_comparison
        from potato_iaa.jobs.config import Settings
        from potato_iaa.reporter.document import document_bytes
        from potato_iaa.reporter.terminal import page_of

        _check_parts(a, b, items_a, items_b, split_at)
        settings = Settings.model_construct(
            schemes=tuple(scheme) if scheme else None,
            audit=False,
            **chosen,
            **wanted,
        )
        parts = (
            Choice(items=tuple(items_a) if items_a else None, until=split_at),
            Choice(items=tuple(items_b) if items_b else None, since=split_at),
        )
        with progress() as tell:
            sides = [
                side_of(
                    text,
                    settings=settings.model_copy(update={"seed": settings.seed + place}),
                    choice=part,
                    name=_name_of_part(text, part),
                    tell=tell,
                )
                for place, (text, part) in enumerate(zip((a, b or a), parts, strict=True))
            ]
        found = compared(*sides)
        if json:
            written(document_bytes(found.to_dict()))
        else:
            printed(terminal_comparison(found, page_of(sys.stdout)))

    @app.command()
    @sharing(wanted=reading)
    def queue(
        project: Project,
        out: Annotated[
            Path, typer.Option("--out", metavar="DIR", help="The folder to make for the queue.")
        ],
        limit: Annotated[
            int | None,
            typer.Option("--limit", metavar="N", min=1, help="At most so many items."),
        ] = None,
        scheme: Schemes = None,
        *,
        wanted: dict[str, Any],
    ) -> None:
        """Write the contested items, worst first, as a Potato project to adjudicate them.

        It holds the items' texts as they are in the data. Start it with potato start.
        """
        from potato_iaa.jobs.config import Settings
        from potato_iaa.jobs.queue import write_queue
        from potato_iaa.jobs.task import read_corpus
        from potato_iaa.measures.measuring import measure
        from potato_iaa.reporter.grounds import check_grounds
        from potato_iaa.reporter.rounding import counted
        from potato_iaa.reporter.terminal import page_of

        settings = Settings.model_construct(schemes=tuple(scheme) if scheme else None, **wanted)
        with progress() as tell:
            corpus = read_corpus(Path(project), settings, tell)
            agreement = measure(corpus, bootstrap=0, audit=False, progress=tell)
            check_grounds(agreement)
            made = write_queue(
                wanted["config"] or project,
                corpus,
                agreement,
                out,
                limit=limit,
                allow_outside=wanted["allow_outside"],
            )
        page = page_of(sys.stdout)
        told = (
            f"Written to {made.folder}: {len(made.contests):,} of "
            f"{counted(made.items, 'contested item')}, with {counted(made.agreed, 'span')} that "
            f"most agree on; go on with potato start {made.folder / 'config.yaml'}"
        )
        printed(page.safe(told) + "\n")


def _check_parts(
    a: str,
    b: str | None,
    items_a: list[str] | None,
    items_b: list[str] | None,
    split_at: str | None,
) -> None:
    from potato_iaa.errors import UsageError

    if b is None and split_at is None and not (items_a and items_b):
        raise UsageError(
            f"{a} alone cannot be compared: name B, or two parts of it with --items-a and "
            "--items-b, or with --split-at."
        )


def _name_of_part(text: str, part: Choice) -> str:
    told = [] if part.items is None else [f"items {', '.join(part.items)}"]
    told += [] if part.until is None else [f"before {part.until}"]
    told += [] if part.since is None else [f"from {part.since} on"]
    return f"{text} ({'; '.join(told)})" if told else text


class _Progress:
    """Tells in one line how many projects are through, and what the others are at."""

    def __init__(self, tell: Tell, of: int) -> None:
        self._tell = tell
        self._of = of
        self._done = 0
        self._at: dict[str, str] = {}

    def stage(self, name: str, stage: str) -> None:
        """A project is at a stage."""
        self._at[name] = stage
        self._show()

    def done(self, outcome: Outcome) -> None:
        """A project is through."""
        self._at.pop(outcome.name, None)
        self._done += 1
        self._show()

    def _show(self) -> None:
        at = "; ".join(f"{name}: {stage}" for name, stage in self._at.items())
        self._tell(f"{self._done:,} of {self._of:,} projects done{'; ' if at else ''}{at}")


def _plan(job: Job, *, fresh: bool) -> str:
    """What a run would do, project by project."""
    from potato_iaa.jobs.config import told_settings
    from potato_iaa.jobs.run import prepare
    from potato_iaa.reporter.terminal import page_of

    where = f" on the Dask cluster at {job.file.scheduler}" if job.file.scheduler else ""
    from potato_iaa.reporter.rounding import counted

    lines = [f"{counted(len(job.projects), 'project')} would be reported in {job.out}{where}:"]
    for planned in job.projects:
        prepared = prepare(planned, job.out, fresh=fresh)
        known = prepared.known
        if planned.fault is not None:
            state = planned.fault
        elif known is not None:
            state = "unchanged, would be taken over from an earlier run"
        else:
            state = "would be measured"
        lines.append(f"\n{planned.name}: {planned.shown}: {state}")
        lines += [f"  {told}" for told in told_settings(planned.settings)]
    page = page_of(sys.stdout)
    return "".join(f"{page.safe(line)}\n" for block in lines for line in block.split("\n"))
