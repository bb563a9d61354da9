"""Potato's plugin: the server writes the report under exports/iaa_report/ as annotation goes on.

In the project's configuration (Potato 2.12 or newer)::

    plugins: [potato_iaa]
    export_annotation_format: [iaa_report]

The server exports while it saves somebody's answer. So the report is made by a process of its own,
one at a time, and whatever goes wrong with it is logged: saving neither waits nor fails for us.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

FORMAT_NAME = "iaa_report"
MOST_TOLD = 2000

logger = logging.getLogger(__name__)


def register(api: Any) -> None:
    """Register the exporter; what Potato calls when its configuration names the plugin.

    Nothing is left to ``api``, which knows schemes and displays only. Registering twice, as when
    one process loads two configurations, changes nothing.
    """
    registry = import_module("potato.export.registry").export_registry
    if not registry.is_registered(FORMAT_NAME):
        registry.register(ReportExporter())


class ReportExporter:
    """An exporter as Potato's registry takes it, without being derived from Potato's class."""

    format_name = FORMAT_NAME
    description = "Span agreement report of potato-iaa"
    file_extensions = (".html", ".json", ".md", ".csv")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: threading.Thread | None = None
        self._again = False

    def get_format_info(self) -> dict[str, Any]:
        """What Potato lists of an export format."""
        return {
            "format_name": self.format_name,
            "description": self.description,
            "file_extensions": list(self.file_extensions),
        }

    def can_export(self, context: Any) -> tuple[bool, str]:
        """Whether the project has a span scheme, and a configuration file to read it again by."""
        try:
            if config_of(context.config) is None:
                return False, "the server does not say where its configuration file is"
        except Exception as fault:
            return False, f"{type(fault).__name__}: {fault}"
        return True, ""

    def export(self, context: Any, output_path: str, options: dict[str, Any] | None = None) -> Any:
        """Have the report written to ``output_path``, and return at once.

        The annotations in ``context`` have lost the passes in which nothing was marked, so that
        everything is read again from disk. Never raises.
        """
        try:
            config = config_of(context.config)
            if config is None:
                return _result(errors=["the server does not say where its configuration is"])
            # The server's working folder is the project's; a report may outlast it.
            self._start(config, Path(output_path).absolute())
            return _result(files=[str(Path(output_path) / "report.json")])
        except Exception as fault:
            logger.exception("potato-iaa: the report could not be started")
            return _result(errors=[f"{type(fault).__name__}: {fault}"])

    def wait(self, seconds: float | None = None) -> None:
        """Wait until no report is being written."""
        running = self._running
        if running is not None:
            running.join(seconds)

    def _start(self, config: Path, out: Path) -> None:
        with self._lock:
            if self._running is not None:
                # What was saved meanwhile is in the next report, not in two at once.
                self._again = True
                return
            self._running = threading.Thread(
                target=self._report, args=(config, out), name="potato-iaa", daemon=True
            )
            self._running.start()

    def _report(self, config: Path, out: Path) -> None:
        while True:
            try:
                _run_report(config, out)
            except Exception:
                logger.exception("potato-iaa: the report was not written")
            with self._lock:
                if not self._again:
                    self._running = None
                    return
                self._again = False


def config_of(settings: Any) -> Path | None:
    """The configuration file that the server was started with, if the settings name it."""
    for key in ("__config_file__", "config_file"):
        named = settings.get(key)
        if isinstance(named, str) and Path(named).exists():
            return Path(named).absolute()
    return None


def report_command(config: Path, out: Path) -> list[str]:
    """The command that writes a report: annotators who are just being saved do not stop it."""
    return [
        *(sys.executable, "-m", "potato_iaa", "report", str(config)),
        *("--out", str(out), "--skip-broken"),
    ]


def _run_report(config: Path, out: Path) -> None:
    done = subprocess.run(
        report_command(config, out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip()[-MOST_TOLD:]
        logger.warning("potato-iaa: no report was written to %s: %s", out, told)
    else:
        logger.info("potato-iaa: the report was written to %s", out)


def _result(*, files: list[str] | None = None, errors: list[str] | None = None) -> Any:
    """What Potato expects of an export."""
    base = import_module("potato.export.base")
    return base.ExportResult(
        success=not errors,
        format_name=FORMAT_NAME,
        files_written=files or [],
        errors=errors or [],
    )
