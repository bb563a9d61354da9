"""The history of runs, and the trend drawn of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from potato_iaa.jobs.history import add_to_history, courses, history_line, read_history
from potato_iaa.jobs.outcome import Outcome, SchemeOutcome
from potato_iaa.jobs.trend import MOST, trend_svg, trend_text
from potato_iaa.measures.estimate import Estimate
from potato_iaa.measures.names import HEADLINE

START = datetime(2026, 1, 1, tzinfo=UTC)


def outcome(value: float | None, name: str = "round $1$ & <2>") -> Outcome:
    figure = Estimate(None, "no shared items") if value is None else Estimate(value, None, 0.1, 0.9)
    scheme = SchemeOutcome("ner", 2, 3, 3, 9, {str(HEADLINE): figure})
    return Outcome(name, "path", schemes=(scheme,), signature="F1|…")


def history(folder: Path, *values: float | None) -> Path:
    file = folder / "history.jsonl"
    for day, value in enumerate(values):
        time = START + timedelta(days=day)
        add_to_history(file, history_line([outcome(value)], time=time, missed=0))
    return file


def test_a_line_for_each_run(tmp_path: Path) -> None:
    file = history(tmp_path, 0.5, None)
    add_to_history(
        file, history_line([Outcome("gone", "p", error="p: is gone.")], time=START, missed=1)
    )
    first, second, third = map(json.loads, file.read_text("utf-8").splitlines())
    assert first["time"] == "2026-01-01T00:00:00+00:00"
    figures = first["projects"]["round $1$ & <2>"]["schemes"]["ner"]
    assert figures == {str(HEADLINE): {"value": 0.5, "low": 0.1, "high": 0.9}}
    assert "no shared items" in json.dumps(second)
    assert third["projects"] == {"gone": {"error": "p: is gone."}}


def test_a_line_that_was_cut_off_costs_only_itself(tmp_path: Path) -> None:
    file = history(tmp_path, 0.5)
    with file.open("ab") as stream:
        stream.write(b'{"time": "2026-01-0')
    history(tmp_path, 0.6, 0.7)
    entries = read_history(file)
    assert len(entries) == 3
    assert len(file.read_bytes().splitlines()) == 4


def test_lines_that_are_none_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text('[]\n{"time": "never"}\n{"time": "2026-01-01", "projects": 3}\n\n\xff\n')
    assert read_history(file) == []
    assert read_history(tmp_path / "none.jsonl") == []


def test_the_trend_of_two_runs(tmp_path: Path) -> None:
    assert trend_text(courses(read_history(history(tmp_path, 0.5)))) is None
    listed = courses(read_history(history(tmp_path, 0.6, None, 0.7)))
    assert [figure.value for figure in listed[0].figures] == [0.5, 0.6, None, 0.7]
    assert "over 4 runs" in (trend_text(listed) or "")
    drawn = trend_svg(listed)
    assert drawn == trend_svg(listed)
    text = drawn.decode()
    assert "round $1$ &amp; &lt;2&gt;, ner" in text
    assert "<dc:date>" not in text


def test_a_trend_has_no_more_panels_than_it_can_show(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    outcomes = [outcome(0.5, f"project {number:02}") for number in range(MOST + 3)]
    for day in range(2):
        time = START + timedelta(days=day)
        add_to_history(file, history_line(outcomes, time=time, missed=0))
    listed = courses(read_history(file))
    assert f"the first {MOST} of {MOST + 3}" in (trend_text(listed) or "")
    drawn = trend_svg(listed).decode()
    assert f"project {MOST - 1:02}, ner" in drawn
    assert f"project {MOST:02}, ner" not in drawn
