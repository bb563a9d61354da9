"""What somebody could put into a project to break, mislead or burden whoever reads it."""

from __future__ import annotations

import ast
import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from potato_iaa import measure
from potato_iaa.cli import main
from potato_iaa.errors import InputError
from potato_iaa.jobs.selection import hide, pseudonymized
from potato_iaa.loaders import opening as opening_module
from potato_iaa.loaders import read_project
from potato_iaa.loaders.bounded_yaml import load_yaml
from potato_iaa.loaders.opening import content_of, opening
from potato_iaa.reporter.files import report_files, write_report
from tests.loaders.projects import (
    assert_accounted,
    extents,
    reasons,
    rows,
    span,
    state,
    write_config,
    write_project,
)

SECONDS = 5.0
PACKAGE = Path(opening_module.__file__).parents[1]


def simple(folder: Path, **settings: Any) -> Path:
    """A project of two annotators who agree."""
    return write_project(
        folder,
        {name: state({"d1": [span(0, 3)], "d2": []}) for name in ("ann", "ben")},
        **settings,
    )


def refusal(path: Path, **options: Any) -> str:
    """The sentence with which a project is refused, soon."""
    start = time.monotonic()
    with pytest.raises(InputError) as caught:
        read_project(path, **options)
    assert time.monotonic() - start < SECONDS
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 1000
    return sentence


def laughs(first: str, line: Callable[[int, str], str]) -> str:
    """Nine times nine times … what the first line holds, twelve levels high."""
    return first + "".join(line(level, ",".join([f"*a{level - 1}"] * 9)) for level in range(1, 13))


LISTS = laughs("a0: &a0 [lol]\n", lambda level, nine: f"a{level}: &a{level} [{nine}]\n")
MERGES = laughs("a0: &a0 {x: 1}\n", lambda level, nine: f"a{level}: &a{level} {{<<: [{nine}]}}\n")
STRINGS = f"a: &a {'x' * 10_000}\nb: &b [{','.join(['*a'] * 300)}]\nc: [{','.join(['*b'] * 300)}]\n"
YAML = {
    "lists": (LISTS, "stand for more than"),
    "names": (f"{LISTS}adjudication: {{adjudicator_users: *a12}}\n", "stand for more than"),
    "merges": (MERGES, "stand for more than"),
    "strings": (STRINGS, "stand for more than"),
    "itself": ("z: &z [*z]\n", "part of what it stands for"),
    "flow": (f"z: {'[' * 3000}{']' * 3000}\n", "nest"),
    "flow without end": (f"z: {'[' * 300_000}\n", "nest"),
    "blocks": (f"z:\n {'- ' * 100_000}a\n", "nest"),
    "digits": (f"z: {'9' * 5000}\n", "digits"),
    "object": ("z: !!python/object/apply:os.system [exit]\n", "constructor"),
}


@pytest.mark.parametrize("name", YAML)
def test_a_yaml_bomb_is_refused_at_once(tmp_path: Path, name: str) -> None:
    config = simple(tmp_path)
    bomb, problem = YAML[name]
    config.write_text(bomb + config.read_text("utf-8"), encoding="utf-8")
    assert problem in refusal(config)


def test_aliases_as_people_use_them_are_read() -> None:
    text = "a: &a {labels: [PER]}\nb: {<<: *a, name: ner}\nc: *a\nd: 2 * 3\n"
    assert load_yaml(text)["b"] == {"labels": ["PER"], "name": "ner"}


DEEP = [b"[" * 1_000_000, b"[" * 200_000 + b"]" * 200_000, b'{"a":' * 200_000]


@pytest.mark.parametrize("content", DEEP)
def test_deep_json_is_refused_at_once(tmp_path: Path, content: bytes) -> None:
    config = write_project(tmp_path, {"ann": content})
    assert "user_state.json" in refusal(config)
    config = simple(tmp_path / "data")
    for name in ("items.jsonl", "items.json"):
        (tmp_path / "data" / "data" / name).write_bytes(content)
        write_config(tmp_path / "data", data_files=[f"data/{name}"])
        assert "is not JSON" in refusal(config)


LITERALS = {
    "deep": ("[" * 5000 + "]" * 5000, "holds no list of spans"),
    "minus": ("-" * 200_000 + "1", "holds no list of spans"),
    "long": (f"[{'1,' * 3_000_000}]", "more than any list of spans"),
    "call": ("[__import__('os').getcwd()]", "holds no list of spans"),
}


@pytest.mark.parametrize("name", LITERALS)
def test_a_literal_of_potato_1_is_bounded_and_never_run(tmp_path: Path, name: str) -> None:
    cell, problem = LITERALS[name]
    file = tmp_path / "annotated_instances.tsv"
    file.write_text(f'user\tinstance_id\tspan_annotation:::x\nann\td1\t"{cell}"\n', "utf-8")
    assert problem in refusal(file)


NUMBERS = ["1" + "0" * 400, "-1" + "0" * 400, "1e999", "-1e999", "NaN", "Infinity", "-Infinity"]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_that_no_text_is_long_enough_for_is_set_aside(tmp_path: Path, number: str) -> None:
    document = {"user_id": "ann", **state({"d1": [span(0, 3), span(77, 3), span(0, 77)]})}
    content = json.dumps(document).replace("77", number)
    config = write_project(tmp_path, {"ann": content.encode(), "ben": state({"d1": [span(0, 3)]})})
    corpus = read_project(config)
    assert_accounted(corpus)
    assert [outcome for outcome, _ in reasons(corpus)] == ["set_aside"] * 2
    assert [row[2] for row in extents(corpus)] == [((0, 3),), ((0, 3),)]
    told = report_files(measure(corpus, bootstrap=0), formats=["json"])["report.json"]
    json.loads(told, parse_constant=lambda constant: pytest.fail(f"holds {constant}"))


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_of_any_size_may_stand_in_data_and_elsewhere_in_states(
    tmp_path: Path, number: str
) -> None:
    document = json.dumps({"user_id": "ann", **state({"d1": [span(0, 3)]}, index=77)})
    config = write_project(tmp_path, {"ann": document.replace("77", number).encode()})
    line = f'{{"id": {number}, "text": {number}}}\n{{"id": "d1", "text": "Ada", "x": {number}}}\n'
    (tmp_path / "data" / "items.jsonl").write_text(line, encoding="utf-8")
    assert_accounted(read_project(config))


def test_a_number_of_too_many_digits_is_refused(tmp_path: Path) -> None:
    config = write_project(tmp_path, {"ann": b'{"current_instance_index": ' + b"9" * 9999 + b"}"})
    assert "9999 digits" in refusal(config)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A data file that lies outside the project and the folder above it."""
    file = tmp_path / "elsewhere" / "items.jsonl"
    file.parent.mkdir()
    file.write_text('{"id": "d1", "text": "Ada"}\n{"id": "d2", "text": "x"}\n', encoding="utf-8")
    return file


def test_data_outside_the_project_is_refused_unless_allowed(tmp_path: Path, secret: Path) -> None:
    config = simple(tmp_path / "a" / "project")
    for path in ("../../elsewhere/items.jsonl", str(secret)):
        write_config(config.parent, data_files=[path])
        assert "--allow-outside" in refusal(config)
        assert len(extents(read_project(config, allow_outside=True))) == 2


def test_a_link_out_of_the_project_is_refused_unless_allowed(tmp_path: Path, secret: Path) -> None:
    config = simple(tmp_path / "a" / "project")
    data = config.parent / "data" / "items.jsonl"
    data.unlink()
    data.symlink_to(secret)
    assert "--allow-outside" in refusal(config)
    assert len(extents(read_project(config, allow_outside=True))) == 2
    folder = config.parent / "annotation_output"
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    data.unlink()
    data.write_bytes(secret.read_bytes())
    assert "--allow-outside" in refusal(config)


def test_a_task_dir_outside_the_project_does_not_widen_it(tmp_path: Path, secret: Path) -> None:
    config = simple(tmp_path / "a" / "project")
    (config.parent / "annotation_output").rename(secret.parent / "annotation_output")
    write_config(config.parent, task_dir="../../elsewhere", data_files=["items.jsonl"])
    assert "--allow-outside" in refusal(config)
    assert len(extents(read_project(config, allow_outside=True))) == 2


def test_the_command_line_allows_what_lies_outside(
    tmp_path: Path, secret: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = simple(tmp_path / "a" / "project")
    write_config(config.parent, data_files=[str(secret)])
    for options, code in (((), 2), (("--allow-outside",), 0)):
        with pytest.raises(SystemExit) as ended:
            main(["inspect", str(config), *options])
        assert ended.value.code == code
    assert "leads out of the project" in capsys.readouterr().err


def test_layouts_that_potato_allows_are_read(tmp_path: Path) -> None:
    """A folder of configurations, a task_dir above, absolute paths, links, data beside it."""
    tmp_path = tmp_path / "p"
    simple(tmp_path)
    (tmp_path.parent / "shared.jsonl").write_bytes((tmp_path / "data/items.jsonl").read_bytes())
    (tmp_path / "link").symlink_to(tmp_path / "data")
    layouts: dict[str, dict[str, Any]] = {
        "config.yaml": {"data_files": [str(tmp_path / "data" / "items.jsonl")]},
        "configs/a.yaml": {"task_dir": "..", "data_files": ["link/items.jsonl"]},
        "setup/b.yaml": {"task_dir": "..", "output_annotation_dir": "./annotation_output/"},
        "c.yaml": {"task_dir": str(tmp_path)},
        "d.yaml": {"data_files": ["../shared.jsonl"]},
    }
    for name, settings in layouts.items():
        config = write_config(tmp_path, name, **settings)
        assert len(extents(read_project(config))) == 2
        linked = tmp_path.with_name(f"{tmp_path.name}-link")
        linked.unlink(missing_ok=True)
        linked.symlink_to(tmp_path)
        assert len(extents(read_project(linked / name))) == 2


def test_what_lies_in_the_home_folder_is_no_part_of_a_project_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = simple(tmp_path / "home" / "project", data_files=["../mail.jsonl"])
    (tmp_path / "home" / "mail.jsonl").write_text('{"id": "d1", "text": "Ada"}', encoding="utf-8")
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    assert "--allow-outside" in refusal(config)


def made_fifo(file: Path) -> str:
    os.mkfifo(file)
    return "is a FIFO"


def made_device(file: Path) -> str:
    file.symlink_to("/dev/zero")
    return "leads out of the project"


def made_folder(file: Path) -> str:
    file.mkdir()
    return "is a folder"


def made_loop(file: Path) -> str:
    file.symlink_to(file.name)
    return "symbolic links"


def made_socket(file: Path) -> str:
    with socket.socket(socket.AF_UNIX) as end:
        here = Path.cwd()
        # The path of a socket must be short.
        os.chdir(file.parent)
        try:
            end.bind(file.name)
        finally:
            os.chdir(here)
    return "is a socket"


def made_huge(file: Path) -> str:
    with file.open("wb") as stream:
        stream.truncate(opening_module.LARGEST_FILE + 1)
    return "more than any file of Potato's"


ODD_FILES = [made_fifo, made_device, made_folder, made_loop, made_socket, made_huge]


@pytest.mark.skipif(os.name == "nt", reason="no FIFOs, devices and sockets among files")
@pytest.mark.parametrize("make", ODD_FILES)
@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "tsv", "parquet"])
def test_data_that_are_no_file_are_refused_at_once(
    tmp_path: Path, make: Callable[[Path], str], ending: str
) -> None:
    config = simple(tmp_path, data_files=[f"odd.{ending}"])
    problem = make(tmp_path / f"odd.{ending}")
    assert problem in refusal(config)
    write_config(tmp_path, data_files=None, data_directory="data")
    if ending != "parquet":
        (tmp_path / f"odd.{ending}").rename(tmp_path / "data" / f"odd.{ending}")
        if make is not made_loop:
            assert problem in refusal(config)


@pytest.mark.skipif(os.name == "nt", reason="no devices among files")
def test_a_device_is_refused_where_leaving_the_project_is_allowed(tmp_path: Path) -> None:
    config = simple(tmp_path, data_files=["odd.json"])
    (tmp_path / "odd.json").symlink_to("/dev/zero")
    assert "is a device" in refusal(config, allow_outside=True)


@pytest.mark.skipif(os.name == "nt", reason="no FIFOs among files")
def test_fifos_and_loops_among_the_annotators_are_strays(tmp_path: Path) -> None:
    config = simple(tmp_path)
    output = tmp_path / "annotation_output"
    os.mkfifo(output / "fifo")
    (output / "cat").mkdir()
    os.mkfifo(output / "cat" / "user_state.json")
    (output / "loop").symlink_to("loop")
    (output / "up").symlink_to("..")
    corpus = read_project(config)
    assert len(extents(corpus)) == 2
    names = set(corpus.ledger.left_out["name"])
    assert {"fifo", "cat", "loop", "up"} <= names


NAMES = [
    "../../evil",
    "/etc/passwd",
    "\x1b]0;title\x07\x1b[2J\x1b[31mred",
    "safe\u202egnp.exe\u2066",
    "line\nbreak\r\x00nul\x85",
    "n" * 5000,
    "ANN",
    "ann",
    "<script>alert(1)</script>",
    "=HYPERLINK(1)",
    "[bold]x[/bold] {{ 7 * 7 }} $(id) `id` %s",
    "CON",
    "..",
]


def test_names_do_not_reach_file_names_nor_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    states = {
        f"folder{n}": {**state({"d1": [span(0, 3)]}), "user_id": name}
        for n, name in enumerate(NAMES)
    }
    config = write_project(tmp_path / "p", states)
    corpus = read_project(config)
    assert sorted(corpus.annotators["annotator"]) == sorted(NAMES)
    for file in write_report(measure(corpus, bootstrap=0), tmp_path / "out"):
        name = file.relative_to((tmp_path / "out").resolve()).as_posix()
        assert all(c.isascii() and (c.isalnum() or c in "._-/") for c in name), name
        assert ".." not in name
        assert len(name) < 120
        content = file.read_bytes().decode("utf-8")
        if file.suffix in (".html", ".md"):
            assert "<script>alert" not in content
            assert "\x1b" not in content
            assert "\u202e" not in content
    assert sorted(os.listdir(tmp_path)) == ["out", "p"]
    for command in ("report", "inspect"):
        options = ["--no-files", "--bootstrap", "0"] if command == "report" else []
        with pytest.raises(SystemExit) as ended:
            main([command, str(config), *options])
        assert ended.value.code == 0
        told = "".join(capsys.readouterr())
        assert not [c for c in told if c != "\n" and (ord(c) < 32 or ord(c) in range(127, 160))]
        assert not {"\u202e", "\u2066"} & set(told)


def test_pseudonyms_are_everywhere_in_the_ledger(tmp_path: Path) -> None:
    states = {
        "alice": state(
            {"d1": [span(0, 3)]},
            instance_id_to_room_provenance={"d2": {"ner": {"by": "x"}}},
            instance_id_to_trial={"d7": {"outcome": "timeout"}},
            phase_to_page_to_span_to_value={"training": {"p": [span(0, 1)]}},
        ),
        "bob": state({"d1": [span(0, 3)]}),
        "judge": state({"d1": [span(0, 3)]}),
        "robot": state({"d1": [span(0, 3)]}),
        "wreck": b"{",
        "debug_user": state({"d1": [span(0, 3)]}),
        "annotator-1": state({"d1": [span(0, 3)]}),
    }
    config = write_project(
        tmp_path,
        states,
        adjudication={"enabled": True, "adjudicator_users": ["judge"]},
        machine_annotators={"enabled": True, "annotators": [{"id": "robot"}]},
    )
    output = tmp_path / "annotation_output"
    (output / "alice" / "tmpq1w2.tmp").touch()
    (output / "carol").mkdir()
    (output / "spans.alice.conll").touch()
    (output / "exports").mkdir()
    corpus = pseudonymized(read_project(config, skip_broken=True))
    left_out = corpus.ledger.left_out
    told = repr(rows(left_out, "what", "name", "reason")) + repr(corpus.ledger.notes)
    for name in (*states.keys() - {"annotator-1"}, "carol"):
        assert name not in told.replace("debug user", "")
    assert set(left_out["what"]) >= {
        *("unreadable annotator", "adjudicator", "machine annotator", "debug user"),
        *("file", "folder"),
        *("room answers", "timed-out trials", "phase"),
    }
    assert "exports" in set(left_out["name"])
    assert len(set(corpus.annotators["annotator"])) == 3


def test_a_name_that_is_like_a_pseudonym_gets_one_once() -> None:
    pseudonyms = {"ann": "annotator-1", "annotator-1": "annotator-2", "o'n\n": "annotator-3"}
    sentence = "x/ann/s is of 'annotator-1', not 'ann', (\"o'n\\n\"): 'ann/user_state.json'"
    assert hide(sentence, pseudonyms) == (
        "x/annotator-1/s is of 'annotator-2', not 'annotator-1', ('annotator-3'): "
        "'annotator-1/user_state.json'"
    )


def test_a_state_that_is_rewritten_while_read_is_read_again_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = simple(tmp_path)
    file = tmp_path / "annotation_output" / "ann" / "user_state.json"
    whole = file.read_bytes()
    file.write_bytes(whole[:40])
    real = opening_module._mark_at
    calls: list[Path] = []

    def finished_meanwhile(at: Path) -> Any:
        if at == file and not calls:
            calls.append(at)
            file.write_bytes(whole)
        return real(at)

    monkeypatch.setattr(opening_module, "_mark_at", finished_meanwhile)
    corpus = read_project(config)
    assert len(extents(corpus)) == 2
    notes = [note for note in corpus.ledger.notes if "read again" in note]
    assert notes == ["1 file changed while being read, and read again: 'ann/user_state.json'."]
    assert not [note for note in pseudonymized(corpus).ledger.notes if "ann/" in note]


def test_a_state_that_is_rewritten_after_being_read_is_told(tmp_path: Path) -> None:
    config = simple(tmp_path)
    file = tmp_path / "annotation_output" / "ann" / "user_state.json"

    def rewrite(stage: str, done: int, of: int) -> None:
        if stage == "annotators" and done == of:
            file.write_bytes(file.read_bytes() + b"\n")

    corpus = read_project(config, progress=rewrite)
    assert [note for note in corpus.ledger.notes if "changed after being read" in note]
    assert not [note for note in read_project(config).ledger.notes if "changed" in note]


def test_a_file_that_vanishes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = simple(tmp_path)
    file = tmp_path / "annotation_output" / "ben" / "user_state.json"

    def late(path: Path) -> bytes:
        if path == file:
            file.unlink(missing_ok=True)
        return content_of(path)

    monkeypatch.setattr("potato_iaa.loaders.states.content_of", late)
    with pytest.raises(InputError, match=r"ben/user_state\.json: cannot be read"):
        read_project(config)


@pytest.mark.parametrize("fault", [PermissionError(13, "Permission denied"), MemoryError()])
def test_any_fault_of_the_system_is_one_sentence(tmp_path: Path, fault: BaseException) -> None:
    with pytest.raises(InputError) as caught, opening(tmp_path):
        raise fault
    assert str(tmp_path) in str(caught.value)


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(bytes(range(256)) * 5000)
    assert content_of(file) == bytes(range(256)) * 5000


NEVER_CALLED = {"eval", "exec", "compile", "__import__"}
NEVER_IMPORTED = {
    *("pickle", "marshal", "shelve", "socket", "ssl", "http", "ftplib", "smtplib"),
    *("urllib.request", "urllib3", "requests", "httpx", "aiohttp"),
}
# Processes and code of other packages are for the measures that ask for them.
NEVER_IN_LOADERS = {"subprocess", "multiprocessing", "importlib.metadata"}


def imported(tree: ast.AST) -> set[str]:
    """The modules that a file imports, and those above them."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module}
    return found | {name.partition(".")[0] for name in found}


def test_nothing_is_executed_unpickled_or_fetched() -> None:
    files = list(PACKAGE.rglob("*.py"))
    assert len(files) > 50
    for file in files:
        tree = ast.parse(file.read_text("utf-8"))
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        called = {call.id for call in calls if isinstance(call, ast.Name)}
        assert not called & NEVER_CALLED, file
        attributes = {call.attr for call in calls if isinstance(call, ast.Attribute)}
        assert not attributes & {"system", "popen", "unsafe_load", "full_load"}, file
        assert not imported(tree) & NEVER_IMPORTED, file
        if file.parent.name == "loaders":
            assert not imported(tree) & NEVER_IN_LOADERS, file


def test_no_yaml_is_read_but_with_the_safe_loader(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    config = simple(tmp_path)
    command = f"z: !!python/object/new:os.mkdir [{marker}]\n"
    config.write_text(command + config.read_text("utf-8"), encoding="utf-8")
    refusal(config)
    assert not marker.exists()
