"""Comparisons: of reports, projects, entries of jobs, and parts of one project."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from potato_iaa import Corpus, cli, measure, read_project
from potato_iaa.errors import InputError, UsageError
from potato_iaa.jobs.compare import (
    Choice,
    Comparison,
    Difference,
    Measured,
    SchemeComparison,
    Side,
    compare,
    side_of,
)
from potato_iaa.jobs.comparison_table import terminal_comparison
from potato_iaa.jobs.config import Settings
from potato_iaa.jobs.selection import passes_within
from potato_iaa.jobs.times import pass_times
from potato_iaa.measures.estimate import Estimate
from potato_iaa.measures.names import MeasureName
from potato_iaa.reporter.files import write_report
from potato_iaa.reporter.terminal import Page
from tests.golden.projects import SAMPLES, agreement_of
from tests.jobs.projects import sample, write_job

PII = str(SAMPLES / "pii_spans")


def side(text: str, choice: Choice | None = None, **settings: Any) -> Side:
    quick = {"bootstrap": 50, "audit": False, **settings}
    return side_of(
        text, settings=Settings.model_construct(**quick), choice=choice, tell=lambda _: None
    )


def figure(comparison: Comparison, name: str) -> Difference:
    (scheme,) = comparison.schemes
    wanted = MeasureName.parse(name)
    found = [one for one in (*scheme.figures, *scheme.labels) if one.measure == wanted]
    assert len(found) == 1
    return found[0]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("reports") / "pii_spans"
    write_report(agreement_of("pii_spans"), out, formats=["json"])
    return str(out)


def round_of(share: float, items: int = 40) -> Corpus:
    """Two annotators who agree on this share of the items, each with one span."""
    names = [f"d{number:03}" for number in range(items)]
    agreed = [number < share * items for number in range(items)]
    return Corpus.from_tables(
        items=[(name, "Ada met Ben") for name in names],
        passes=[(name, who) for name in names for who in ("ann", "ben")],
        spans=[
            *((name, "ann", 0, 3, "PER") for name in names),
            *(
                (name, "ben", 0 if alike else 4, 3 if alike else 7, "PER")
                for name, alike in zip(names, agreed, strict=True)
            ),
        ],
    )


def test_a_clear_improvement_is_clear() -> None:
    a = Measured("A", measure(round_of(0.25), bootstrap=500, seed=0))
    b = Measured("B", measure(round_of(0.75), bootstrap=500, seed=1))
    found = figure(compare(a, b), "F1")
    assert found.change.value == pytest.approx(0.5)
    assert found.change.low is not None
    assert found.change.high is not None
    # Each F1 is a binomial share here: the standard error of the difference is known.
    error = np.sqrt(2 * 0.25 * 0.75 / 40)
    assert found.change.low == pytest.approx(0.5 - 1.96 * error, abs=0.04)
    assert found.change.high == pytest.approx(0.5 + 1.96 * error, abs=0.04)
    assert found.is_clear
    assert figure(compare(a, b), "existence_loss").change.value == pytest.approx(-0.5)


def test_nothing_is_clear_between_equals() -> None:
    a = Measured("A", measure(round_of(0.5), bootstrap=500, seed=0))
    b = Measured("B", measure(round_of(0.5), bootstrap=500, seed=1))
    found = figure(compare(a, b), "F1")
    assert (found.change.value, found.is_clear) == (0.0, False)


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.004, 0.12, "[0.004, 0.120]"),
        (-0.12, -0.0004, "[-0.1200, -0.0004]"),
        (0.01, 0.12, "[0.01, 0.12]"),
        (0.0, 0.12, "[0.00, 0.12]"),
        (-0.004, 0.12, "[0.00, 0.12]"),
        # The noise of rounding is no difference.
        (1e-16, 0.12, "[0.00, 0.12]"),
        (0.0002, 0.012, "[0.0002, 0.0120]"),
    ],
)
def test_an_interval_shows_that_it_leaves_out_zero(low: float, high: float, shown: str) -> None:
    change = Estimate((low + high) / 2, low=low, high=high)
    difference = Difference(MeasureName.parse("F1"), Estimate(0.5), Estimate(0.6), change)
    scheme = SchemeComparison("names", "names", (difference,), ())
    one = Measured("A", measure(round_of(0.5), bootstrap=0))
    told = terminal_comparison(Comparison(one, one, (), (scheme,)), Page(width=100))
    (row,) = [line for line in told.splitlines() if "exact, typed" in line]
    assert shown in row
    assert ("clear" in row) == difference.is_clear == ("0.00," not in shown)
    assert difference.to_dict()["clear"] == difference.is_clear
    assert ("clear: the interval of the difference leaves out 0." in told) == difference.is_clear


def test_parts_of_a_project_by_their_items() -> None:
    found = compare(
        side(PII, Choice(items=("note-0*",))), side(PII, Choice(items=("note-[123]*",)), seed=1)
    )
    assert figure(found, "F1").change.low is not None
    assert figure(found, "F1(label=person)").change.low is not None
    assert figure(found, "label_loss").change.low is not None
    for text in ("token_alpha", "u_alpha", "matched_label_alpha"):
        change = figure(found, text).change
        assert change.value is not None
        assert change.low is not None
        assert change.high is not None
        assert change.low <= change.value <= change.high
    assert found.notes[-1].startswith("intervals: 95 %")


def test_nothing_is_clear_of_one_item_and_few_are_told() -> None:
    one = Choice(items=("note-01*",))
    found = compare(side(PII, one), side(PII, Choice(items=("note-0[2-8]*",)), seed=1))
    assert found.notes[0].startswith("1 shared item in A, pii_spans: no intervals.")
    assert found.notes[1].startswith("only 7 shared items in B, pii_spans: the intervals are too")
    for difference in found.schemes[0].figures:
        assert difference.change.low is None
        assert not difference.is_clear


def test_flattened_coefficients_are_compared_where_spans_overlap() -> None:
    half = [Choice(items=("brief-[1-4]",)), Choice(items=("brief-[5-9]",))]
    found = compare(
        *(side(sample("two_schemes"), part, seed=place) for place, part in enumerate(half))
    )
    changes = {str(one.measure): one.change for one in found.schemes[0].figures}
    assert changes["u_alpha"].value is None
    assert changes["u_alpha(flattened=yes)"].value is not None


def test_a_report_has_the_figures_but_no_intervals(report: str) -> None:
    found = compare(side(report), side(PII, bootstrap=1000))
    change = figure(found, "F1").change
    assert change.value == pytest.approx(0, abs=1e-11)
    assert change.low is None
    assert found.notes == (
        "no intervals: A is a report, which keeps no bootstrap replicates; give its project to "
        "have them.",
    )
    by_file = compare(side(f"{report}/report.json"), side(report))
    assert figure(by_file, "F1").change.value == 0


def test_what_differs_between_the_sides_is_told(report: str) -> None:
    found = compare(side(report), side(sample("scripts"), passes="marked", seed=1))
    assert found.notes[0].startswith("scheme pii_spans of A is compared with scheme entities of B")
    told = " ".join(found.notes)
    assert "the settings differ in passes (seen in A, marked in B)" in told
    assert "the settings differ in bootstrap (1000 in A, 50 in B)" in told
    assert figure(found, "F1(label=person)").change.why == "undefined in B: no such label"


def test_schemes_are_compared_by_name() -> None:
    found = compare(side(sample("two_schemes")), side(sample("scripts"), seed=1))
    assert [(one.a, one.b) for one in found.schemes] == [("entities", "entities")]
    assert "not on both sides, so not compared: mentions (A)." in found.notes
    with pytest.raises(UsageError, match="compare two that share a scheme"):
        compare(side(sample("two_schemes")), side(PII))


def test_entries_of_a_job_have_their_settings(tmp_path: Path) -> None:
    entries = [{"project": PII, "include_items": ["note-0*"], "rules": ["terms"]}]
    job = write_job(tmp_path, projects=entries)
    found = side(f"{job}#pii_spans", bootstrap=20)
    assert "terms_typed" in found.rules("pii_spans")
    assert found.settings["bootstrap"] == 20
    with pytest.raises(UsageError, match="has no project 'x': there are pii_spans"):
        side(f"{job}#x")


def test_before_and_after_a_time() -> None:
    times = pass_times(PII)
    # Those of the last items of four annotators were never stored.
    assert len(times) == 86
    middle = sorted(times.values())[len(times) // 2].isoformat()
    before = side(PII, Choice(until=middle))
    after = side(PII, Choice(since=middle), seed=1)
    assert isinstance(before, Measured)
    assert isinstance(after, Measured)
    passes = [one.agreement.schemes["pii_spans"].corpus.passes for one in (before, after)]
    assert sum(passes) == 90
    assert min(passes) > 10
    assert "passes are measured (before" in before.agreement.ledger.notes[-1]
    with pytest.raises(UsageError, match="no pass began from 2999"):
        side(PII, Choice(since="2999-01-01"))
    with pytest.raises(UsageError, match="is no date"):
        side(PII, Choice(since="yesterday"))


def test_a_pass_without_a_time_counts_with_its_neighbour() -> None:
    corpus = round_of(0.5, items=4)
    first, second = (datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2))
    times = {("ann", "d001"): first, ("ann", "d002"): second}
    before = passes_within(corpus, times, until=second)
    after = passes_within(corpus, times, since=second)
    assert list(before.passes["item"]) == ["d000", "d001"]
    assert list(after.passes["item"]) == ["d002", "d003"]
    assert set(after.passes["annotator"]) == {"ann"}
    assert len(after.spans) == 2
    assert list(after.items["item"].cat.categories) == ["d002", "d003"]
    assert "2 of 8 passes are measured" in after.ledger.notes[-1]
    assert "4 have no time" in after.ledger.notes[-1]


def test_a_person_with_two_logins_has_the_times_of_both(tmp_path: Path) -> None:
    project = shutil.copytree(SAMPLES / "pii_spans", tmp_path / "project")
    folders = sorted(folder.name for folder in (project / "annotation_output").iterdir())
    first, second = folders[:2]
    times = pass_times(project)
    for name, other in ((first, second), (second, first)):
        merged = pass_times(project, merge={other: name})
        own = {item: time for (who, item), time in times.items() if who == name}
        others = {item: time for (who, item), time in times.items() if who == other}
        assert own
        assert others
        expected = others | own
        assert {item: time for (who, item), time in merged.items() if who == name} == expected
    middle = sorted(times.values())[len(times) // 2].isoformat()
    found = side(str(project), Choice(until=middle), merge={second: first})
    assert isinstance(found, Measured)
    assert "no time" not in found.agreement.ledger.notes[-1]


def test_times_are_known_under_pseudonyms(tmp_path: Path) -> None:
    middle = sorted(pass_times(PII).values())[43].isoformat()
    job = write_job(tmp_path, projects=[{"project": PII, "pseudonyms": True}])
    found, plain = (side(text, Choice(until=middle)) for text in (f"{job}#pii_spans", PII))
    headline = MeasureName.parse("F1")
    assert found.figure("pii_spans", headline) == plain.figure("pii_spans", headline)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs on this system")
def test_a_fifo_in_place_of_a_state_has_no_times_and_blocks_nothing(tmp_path: Path) -> None:
    project = shutil.copytree(SAMPLES / "pii_spans", tmp_path / "project")
    folder, *_ = sorted((project / "annotation_output").iterdir())
    (folder / "user_state.json").unlink()
    os.mkfifo(folder / "user_state.json")
    assert folder.name not in {who for who, _ in pass_times(project)}


def test_options_on_reading_and_measuring_reach_both_sides(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def told(*options: str) -> Any:
        parts = ["--items-a", "note-0*", "--items-b", "note-1*", "--bootstrap", "0", "--json"]
        with pytest.raises(SystemExit) as ended:
            cli.main(["compare", PII, *parts, *options])
        assert ended.value.code == 0
        (scheme,) = json.loads(capsys.readouterr().out)["schemes"]
        return {one["measure"]: (one["a"]["value"], one["b"]["value"]) for one in scheme["figures"]}

    for options in (("--exclude", "emil"), ("--token-unit", "character")):
        plain, found = told(), told(*options)
        for place in (0, 1):
            assert plain["token_alpha"][place] != found["token_alpha"][place]


def test_what_was_read_otherwise_is_told(report: str) -> None:
    notes = compare(side(report), side(PII, exclude_annotators=["emil"], rules=["terms"])).notes
    differing = [note for note in notes if "settings differ" in note]
    assert "reading (as usual in A, exclude_annotators: emil in B)" in " ".join(differing)
    # Another rule moves no figure that both sides have.
    assert not [note for note in differing if "rules" in note]


def test_a_project_without_times(tmp_path: Path) -> None:
    project = shutil.copytree(SAMPLES / "scripts", tmp_path / "project")
    for state in project.glob("annotation_output/*/user_state.json"):
        content = json.loads(state.read_bytes())
        content["instance_id_to_behavioral_data"] = {"hindi": {"time_string": "3s"}}
        state.write_text(json.dumps(content))
    with pytest.raises(InputError, match="its annotations have no times"):
        pass_times(project)


def test_what_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"signature": "x", "format": 9, "schemes": {}}')
    with pytest.raises(InputError, match="is no report of this version"):
        side(str(tmp_path))
    (tmp_path / "report.json").write_text('{"signature"')
    with pytest.raises(InputError, match="cannot be read as a report"):
        side(str(tmp_path))


def test_reports_of_all_measures_are_read(tmp_path: Path) -> None:
    everything = ["cohen", "scott", "fleiss", "alpha_u"]
    options = {"bootstrap": 0, "audit": False, "measures": everything, "rules": ["terms"]}
    corpus = read_project(SAMPLES / "two_schemes", exclude_annotators=["iris"], trim=True)
    write_report(measure(corpus, **options), tmp_path / "out", formats=["json"])
    assert side(str(tmp_path / "out")).schemes == ("entities", "mentions")


DAMAGES: tuple[Any, ...] = (None, True, -1, 10**400, float("nan"), "x", [1], {"x": {}})


def damaged(document: Any) -> Iterator[Any]:
    """The document with any one value, at any depth of its objects, gone or another one."""
    for key, value in document.items():
        yield {other: document[other] for other in document if other != key}
        yield from ({**document, key: damage} for damage in DAMAGES)
        if isinstance(value, dict):
            yield from ({**document, key: inside} for inside in damaged(value))


def compared(report: Path, other: Side) -> str:
    """What a comparison tells, or the sentence that says why there is none."""
    try:
        return terminal_comparison(compare(side(str(report)), other), Page(width=100))
    except InputError as fault:
        return str(fault)


def test_a_damaged_report_is_compared_or_refused_in_one_sentence(tmp_path: Path) -> None:
    corpus = round_of(0.5, items=2)
    whole = measure(corpus, bootstrap=0, audit=False, measures=["cohen", "fleiss", "alpha_u"])
    write_report(whole, tmp_path, formats=["json"])
    file = tmp_path / "report.json"
    document = json.loads(file.read_bytes())
    # What no comparison reads would only take time.
    document = {key: document[key] for key in ("format", "signature", "settings", "schemes")}
    (scheme,) = document["schemes"].values()
    for unread in ("matched_labels", "boundaries", "disagreements", "annotators", "drift"):
        scheme.pop(unread, None)
    for unread in ("labels", "label_shares", "observed_agreement", "chance_agreement", "audit"):
        scheme["token"].pop(unread)
    scheme["f1"] = {"exact_typed": scheme["f1"]["exact_typed"]}
    refused = re.compile(r".*report\.json: is no report of this version \(.*\): make it anew.*\.")
    told = []
    for damage in (document, [], None, 1, *damaged(document)):
        file.write_text(json.dumps(damage), "utf-8")
        told.append(compared(tmp_path, Measured("B", whole)))
        assert refused.fullmatch(told[-1]) or told[-1].startswith("A: ")
    assert told[0].startswith("A: ")
    assert sum(text.startswith("A: ") for text in told) < len(told) * 0.6


@pytest.mark.parametrize(
    "content",
    [
        '{"format":1,"signature":"x","schemes":{"ner":{}},"settings":{}}',
        '{"format":1,"signature":"x","schemes":{},"settings":{"measures":[]}}',
        '{"format":1,"signature":"x","schemes":null,"settings":null}',
        '{"format":1,"signature":' + "[" * 100_000,
    ],
)
def test_the_command_names_a_damaged_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    file = tmp_path / "a.json"
    file.write_text(content)
    with pytest.raises(SystemExit) as ended:
        cli.main(["compare", str(file), str(file)])
    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (2, "")
    assert re.fullmatch(r"potato-iaa: .*a\.json: .*: make it anew.*\.\n", told.err)


def test_a_part_of_a_report_cannot_be_taken(report: str) -> None:
    with pytest.raises(UsageError, match="is a report, of which no part can be taken"):
        side(report, Choice(items=("a*",)))


def test_the_command(report: str, capsys: pytest.CaptureFixture[str]) -> None:
    def command(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(["compare", *arguments])
        told = capsys.readouterr()
        return ended.value.code, told.out, told.err

    parts = ("--items-a", "note-0*", "--items-b", "note-[123]*", "--bootstrap", "50")
    code, out, err = command(PII, *parts)
    assert (code, err) == (0, "")
    assert f"A: {PII} (items note-0*)\n" in out
    assert re.search(r"  F1 exact, typed +0.74 +0.72 +-0.02 +\[", out)
    assert "F1 exact, typed, by label" in out
    code, out, err = command(report, report, "--json")
    document = json.loads(out)
    assert document["schemes"][0]["figures"][0]["change"]["value"] == 0
    assert "n" not in document["schemes"][0]["figures"][0]["change"]
    code, out, err = command(PII)
    assert (code, out) == (2, "")
    assert "alone cannot be compared: name B, or two parts of it" in err
