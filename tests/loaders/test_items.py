"""Items from data files: ids and texts exactly as they stand there."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from potato_iaa.errors import InputError
from potato_iaa.loaders import read_project
from tests.loaders.projects import state, write_project


def items_of(folder: Path, name: str, content: bytes, **entry: Any) -> dict[str, str]:
    (folder / name).write_bytes(content)
    data_files = [{"path": name, **entry}]
    config = write_project(folder, {"ann": state()}, data_files=data_files)
    frame = read_project(config).items
    return dict(zip(frame["item"], frame["text"], strict=True))


@pytest.mark.parametrize(
    "content",
    [
        b'[{"id": 1, "text": "a"}, {"id": "2", "text": "b"}]',
        b'[\n  {"id": 1, "text": "a"},\n  {"id": "2",\n "text": "b"}\n]\n',
        b'{"id": 1, "text": "a"}\n{"id": "2", "text": "b"}\n',
        b'{"id": 1, "text": "a"}\r\n\r\n{"id": "2", "text": "b"}',
        b'[{"id": 1, "text": "a"}]\n[{"id": "2", "text": "b"}]\n',
        b'\xef\xbb\xbf[{"id": 1, "text": "a"}, {"id": "2", "text": "b"}]',
    ],
)
def test_json_is_an_array_or_a_value_on_each_line(tmp_path: Path, content: bytes) -> None:
    assert items_of(tmp_path, "items.json", content) == {"1": "a", "2": "b"}


def test_json_may_be_one_object(tmp_path: Path) -> None:
    assert items_of(tmp_path, "items.json", b'{"id": "x",\n "text": "a"}') == {"x": "a"}


def test_json_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    text = "one\u2028two\x85three"
    line = json.dumps({"id": "x", "text": text}, ensure_ascii=False)
    assert items_of(tmp_path, "items.jsonl", line.encode()) == {"x": text}


def test_a_table_is_read_with_every_cell_as_text(tmp_path: Path) -> None:
    table = b'id,text,n\n007,"a, ""b""",1\n1e3,"two\nlines",\nNA,null\n\n 1 ,x,2\n'
    assert items_of(tmp_path, "items.csv", table) == {
        "007": 'a, "b"',
        "1e3": "two\nlines",
        "NA": "null",
        " 1 ": "x",
    }


def test_tab_separated_cells_are_not_quoted(tmp_path: Path) -> None:
    table = b'\xef\xbb\xbfid\ttext\n1\t"quoted\n2\tsays "x"\n'
    assert items_of(tmp_path, "items.tsv", table) == {"1": '"quoted', "2": 'says "x"'}


def test_a_data_file_has_the_encoding_that_the_configuration_gives_it(tmp_path: Path) -> None:
    table = "id,text\n1,café\n".encode("latin-1")
    assert items_of(tmp_path, "items.csv", table, encoding="latin-1") == {"1": "café"}
    with pytest.raises(InputError, match=r"items.csv, byte 13: is not utf-8"):
        read_project(write_project(tmp_path / "b", {"ann": state()}, data_files=["../items.csv"]))


def test_numbers_that_json_alone_does_not_know_are_read(tmp_path: Path) -> None:
    content = b'{"id": "x", "text": "a\\ud83d", "score": NaN}'
    assert items_of(tmp_path, "items.jsonl", content) == {"x": "a\ufffd"}


def test_ids_are_compared_as_text(tmp_path: Path) -> None:
    content = b'{"id": 15, "text": "a"}\n\n{"id": "15", "text": "b"}\n'
    with pytest.raises(InputError, match=r"line 3: the id '15' stands twice \(first .*line 1\)"):
        items_of(tmp_path, "items.jsonl", content)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("i.jsonl", b'{"id": 1, "text": "a"}\n{"text": "b"}', r"i.jsonl, line 2: has no 'id'"),
        ("i.jsonl", b'{"id": 1, "text": "a"}\n{"id": 2}', r"i.jsonl, line 2: has no 'text'"),
        ("i.jsonl", b'{"id": null, "text": "a"}', r"i.jsonl, line 1: its 'id' is empty"),
        ("i.jsonl", b'{"id": " ", "text": "a"}', r"i.jsonl, line 1: its 'id' is empty"),
        ("i.jsonl", b'[{"id": 1, "text": "a"}]', r"i.jsonl, line 1: holds a list"),
        ("i.jsonl", b'{"id": 1, "text": "a"}\n{"id": 2,', r"i.jsonl, line 2: is not JSON"),
        ("i.json", b'[{"id": 1, "text": "a"},\n {"id"', r"i.json, line 2: is not JSON"),
        ("i.json", b'["a"]', r"i.json, item 1: holds a text"),
        ("i.json", b"7", r"i.json, item 1: holds a number|i.json: holds a number"),
        ("i.csv", b"id,text\n1,a\n2,b,c\n", r"i.csv, line 3: has 3 cells under 2 columns"),
        ("i.csv", b"name,text\n1,a\n", r"i.csv, line 2: has no 'id'"),
        ("i.parquet", b"PAR1", r"i.parquet"),
    ],
)
def test_a_row_that_is_no_item_is_named(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        items_of(tmp_path, name, content)


@pytest.mark.parametrize("encoding", ["no-such-encoding", "rot13", "idna", "a\x00b"])
def test_an_encoding_that_does_not_exist_is_refused(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(InputError, match=r"items\.csv"):
        items_of(tmp_path, "items.csv", b"id,text\n1,\xe9\n", encoding=encoding)


def test_texts_of_any_type_are_shown_as_potato_shows_them(tmp_path: Path) -> None:
    content = b'[{"id": 1, "text": null}, {"id": 2, "text": 4.0}, {"id": 3, "text": {"a": [1]}}]'
    assert items_of(tmp_path, "items.json", content) == {
        "1": "",
        "2": "4.0",
        "3": '{\n  "a": [\n    1\n  ]\n}',
    }


@pytest.mark.skipif(not importlib.util.find_spec("pyarrow"), reason="pyarrow is not installed")
def test_parquet_is_read(tmp_path: Path) -> None:
    import pandas as pd

    pd.DataFrame({"id": [7, 8], "text": ["a", "b"]}).to_parquet(tmp_path / "made.parquet")
    content = (tmp_path / "made.parquet").read_bytes()
    assert items_of(tmp_path, "items.parquet", content) == {"7": "a", "8": "b"}
