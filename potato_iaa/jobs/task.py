"""A task: one project read, measured and reported as its settings say, wherever it is run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from potato_iaa.corpus import Corpus
from potato_iaa.errors import PotatoIAAError
from potato_iaa.jobs.config import Settings
from potato_iaa.jobs.outcome import SHOWN, Outcome, scheme_outcome
from potato_iaa.jobs.selection import pseudonymized
from potato_iaa.loaders import read_project
from potato_iaa.measures.agreement import Agreement
from potato_iaa.measures.measuring import measure
from potato_iaa.measures.names import MeasureName
from potato_iaa.measures.spread import Spread, in_threads
from potato_iaa.reporter.files import check_out, write_report
from potato_iaa.reporter.grounds import check_grounds

Tell = Callable[[str], None]

# Settings that go to read_project, measure and write_report under their own names.
READ = (
    *("config", "passes", "schemes", "skip_broken"),
    *("include_annotators", "exclude_annotators", "include_items", "exclude_items"),
    *("merge", "roles", "potato_version", "offset_unit", "trim", "allow_outside"),
)
MEASURE = ("token_unit", "both_empty", "min_shared_items", "bootstrap", "seed", "audit")


@dataclass(frozen=True)
class Task:
    """A project to report on; it can be sent to another process or machine.

    ``shown`` is the path of ``project`` as the job file has it; ``size`` the bytes of its files.
    """

    name: str
    project: Path
    shown: str
    out: Path
    settings: Settings
    size: int = 0


def run_task(task: Task, tell: Tell | None = None, *, spread: Spread = in_threads) -> Outcome:
    """Report on one project. Whatever is wrong with it is in the outcome; nothing is raised.

    ``spread`` is where its blocks of items are counted.
    """
    try:
        return _reported(task, tell or _silent, spread)
    except PotatoIAAError as fault:
        sentence = str(fault)
    except MemoryError:
        sentence = f"{task.shown}: memory ran out: run it alone, or with less bootstrap."
    except Exception as fault:
        # One bad project never stops the others, be the fault its own or ours.
        sentence = (
            f"{task.shown}: {type(fault).__name__} ({fault}): this is a fault of potato-iaa, "
            "please report it."
        )
    return Outcome(task.name, task.shown, error=as_written(sentence, task))


def as_written(sentence: str, task: Task) -> str:
    """The sentence with the project's path as the job file has it."""
    return sentence.replace(str(task.project), task.shown)


def read_and_measure(project: Path, settings: Settings, tell: Tell, **changed: Any) -> Agreement:
    """The agreement of a project under its settings; ``changed`` replaces options of measure."""
    corpus = read_corpus(project, settings, tell)
    return measure(corpus, **measure_options(settings) | changed, progress=tell)


def read_corpus(project: Path, settings: Settings, tell: Tell) -> Corpus:
    """The corpus of a project under its settings."""
    options = {name: getattr(settings, name) for name in READ}
    corpus = read_project(
        project,
        **options,
        progress=lambda stage, done, of: tell(f"{stage}: {done:,} of {of:,}"),
    )
    return pseudonymized(corpus) if settings.pseudonyms else corpus


def measure_options(settings: Settings) -> dict[str, Any]:
    """The options of measure; the rules and coefficients that gates ask for are among them."""
    gates = [MeasureName.parse(name) for name in settings.fail_under]
    asked = [str(gate.match) for gate in gates if gate.figure == "F1"]
    coefficients = [gate.request for gate in gates if gate.request is not None]
    return {name: getattr(settings, name) for name in MEASURE} | {
        "rules": tuple(dict.fromkeys((*settings.rules, *asked))),
        "measures": tuple(dict.fromkeys((*settings.measures, *coefficients))),
    }


def figure_names(settings: Settings) -> tuple[str, ...]:
    """The measures that a job keeps of each scheme: those that it shows, and those of gates."""
    return tuple(dict.fromkeys((*SHOWN, *settings.fail_under)))


def _reported(task: Task, tell: Tell, spread: Spread) -> Outcome:
    settings = task.settings
    check_out(task.out)
    agreement = read_and_measure(task.project, settings, tell, spread=spread)
    check_grounds(agreement)
    tell("writing")
    formats = tuple(dict.fromkeys(("json", *settings.formats)))
    with _not_stopped():
        written = write_report(agreement, task.out, text=settings.text, formats=formats)
    return Outcome(
        name=task.name,
        project=task.shown,
        title=agreement.source.name,
        signature=agreement.signature,
        schemes=tuple(
            scheme_outcome(scheme, figure_names(settings)) for scheme in agreement.schemes.values()
        ),
        files=tuple(sorted(path.relative_to(task.out.resolve()).as_posix() for path in written)),
    )


@contextmanager
def _not_stopped() -> Iterator[None]:
    """Signals wait until a report that is being written is whole."""
    # Dask runs tasks in threads of its own, which signals do not reach.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    stops = (signal.SIGTERM, signal.SIGINT)
    before = {stop: signal.signal(stop, lambda number, _: came.append(number)) for stop in stops}
    try:
        yield
    finally:
        for stop, handler in before.items():
            signal.signal(stop, handler)
        for number in came:
            signal.raise_signal(number)


def _silent(_: str) -> None:
    """Report no progress."""
