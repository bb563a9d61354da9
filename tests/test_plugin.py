"""Inside Potato: the plugin by itself, and in a real server."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from potato_iaa import plugin
from potato_iaa.plugin import FORMAT_NAME, ReportExporter, config_of, register, report_command
from tests.golden.projects import SAMPLES
from tests.potato_server import (
    LOG,
    Annotator,
    needs_potato,
    potato_version,
    running_server,
    wait_until,
)


@dataclass
class Result:
    success: bool
    format_name: str
    files_written: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@dataclass
class Context:
    config: Any


class Registry:
    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def is_registered(self, name: str) -> bool:
        return name in self.known

    def register(self, exporter: Any) -> None:
        assert exporter.format_name not in self.known
        self.known[exporter.format_name] = exporter


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """Potato's modules, as far as the plugin knows them."""
    modules = {
        name: ModuleType(name)
        for name in ("potato", "potato.export", "potato.export.base", "potato.export.registry")
    }
    registry = Registry()
    modules["potato.export.base"].ExportResult = Result  # type: ignore[attr-defined]
    modules["potato.export.registry"].export_registry = registry  # type: ignore[attr-defined]
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return registry


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLES / "scripts", tmp_path / "project"))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, Path]]:
    """Reports that are started, without being made."""
    started: list[tuple[Path, Path]] = []
    monkeypatch.setattr(plugin, "_run_report", lambda config, out: started.append((config, out)))
    return started


def test_registering_twice_changes_nothing(registry: Registry) -> None:
    register(object())
    first = registry.known[FORMAT_NAME]
    register(object())
    assert registry.known == {FORMAT_NAME: first}
    assert first.get_format_info()["format_name"] == "iaa_report"


def test_the_report_is_made_from_the_disk(
    registry: Registry, project: Path, runs: list[tuple[Path, Path]]
) -> None:
    exporter = ReportExporter()
    context = Context({"__config_file__": str(project / "config.yaml")})
    assert exporter.can_export(context) == (True, "")
    result = exporter.export(context, str(project / "exports" / "iaa_report"))
    exporter.wait()
    assert result == Result(True, FORMAT_NAME, [str(project / "exports/iaa_report/report.json")])
    assert runs == [(project / "config.yaml", project / "exports" / "iaa_report")]


def test_the_command_writes_a_report(project: Path) -> None:
    out = project / "annotation_output" / "exports" / "iaa_report"
    done = subprocess.run(
        report_command(project / "config.yaml", out), capture_output=True, check=False
    )
    assert done.returncode == 0
    assert "entities" in json.loads((out / "report.json").read_bytes())["schemes"]


def test_one_report_at_a_time_and_another_for_what_came_meanwhile(
    registry: Registry, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter = ReportExporter()
    context = Context({"__config_file__": str(project / "config.yaml")})
    started: list[Path] = []

    def report(config: Path, out: Path) -> None:
        started.append(out)
        if len(started) == 1:
            for _ in range(3):
                assert exporter.export(context, str(project / "out")).success

    monkeypatch.setattr(plugin, "_run_report", report)
    exporter.export(context, str(project / "out"))
    exporter.wait()
    assert len(started) == 2


def test_nothing_is_raised_into_the_server(
    registry: Registry,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    exporter = ReportExporter()
    assert exporter.can_export(Context(None))[0] is False
    assert exporter.can_export(Context({}))[0] is False
    assert exporter.export(Context(None), "out").success is False
    assert exporter.export(Context({}), "out").success is False

    def fails(config: Path, out: Path) -> None:
        raise OSError("no process left")

    monkeypatch.setattr(plugin, "_run_report", fails)
    context = Context({"__config_file__": str(project / "config.yaml")})
    with caplog.at_level(logging.ERROR):
        assert exporter.export(context, str(project / "out")).success
        exporter.wait()
    assert "the report was not written" in caplog.text


def test_the_configuration_has_to_be_there(project: Path) -> None:
    assert config_of({"__config_file__": str(project / "config.yaml")}) == project / "config.yaml"
    assert config_of({"config_file": str(project / "config.yaml")}) == project / "config.yaml"
    assert config_of({"__config_file__": str(project / "moved.yaml")}) is None
    assert config_of({}) is None


@needs_potato
@pytest.mark.potato_server
def test_a_real_server_writes_the_report_as_annotation_goes_on(project: Path) -> None:
    assert potato_version() == "2.12.1"
    config = project / "config.yaml"
    settings = yaml.safe_load(config.read_text("utf-8")) | {
        "plugins": ["potato_iaa"],
        "export_annotation_format": ["jsonl", "iaa_report"],
        "auto_export_interval": 0,
    }
    config.write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")
    exports = project / "annotation_output" / "exports"
    report = exports / "iaa_report" / "report.json"

    def annotators() -> int:
        if not report.is_file():
            return 0
        document = json.loads(report.read_bytes())
        return len(document["schemes"]["entities"]["corpus"]["annotators"])

    with running_server(config) as address:
        vera = Annotator(address, "vera")
        vera.page()
        assert vera.mark("hindi", "entities", "PER", 0, 4)["status"] == "success"
        wait_until(lambda: annotators() == 4)
        # One who marked nothing at all in an item is in it as on disk, not as exported.
        corpus = json.loads(report.read_bytes())["schemes"]["entities"]["corpus"]
        assert corpus["empty_passes"] > 0
        before = report.read_bytes()

        # What cannot be written does not keep the server from saving.
        (exports / "iaa_report" / "mine.txt").write_text("not part of a report")
        assert vera.mark("hindi", "entities", "PER", 5, 8)["status"] == "success"
        wait_until(lambda: "no report was written" in (project / LOG).read_text("utf-8"))
        assert report.read_bytes() == before
        (exports / "iaa_report" / "mine.txt").unlink()
        assert vera.mark("hindi", "entities", "LOC", 9, 12)["status"] == "success"
        wait_until(lambda: report.read_bytes() != before)
    state = json.loads((project / "annotation_output" / "vera" / "user_state.json").read_bytes())
    assert len(state["instance_id_to_span_to_value"]["hindi"]) == 3
    assert (exports / "jsonl" / "annotations.jsonl").is_file()
