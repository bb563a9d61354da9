"""What takes the place of something does so whole."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from potato_iaa import atomic
from potato_iaa.atomic import replace_folder


def folder_with(path: Path, content: str) -> Path:
    path.mkdir()
    (path / "file").write_text(content)
    return path


@pytest.mark.parametrize("in_one_step", [True, False])
def test_a_folder_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_one_step: bool
) -> None:
    if not in_one_step:
        monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
    folder = folder_with(tmp_path / "folder", "before")
    new = folder_with(tmp_path / "new", "after")
    replace_folder(folder, new=new, old=tmp_path / "old")
    assert (folder / "file").read_text() == "after"
    assert (tmp_path / "old" / "file").read_text() == "before"
    assert not new.exists()


def test_a_folder_takes_an_empty_place(tmp_path: Path) -> None:
    new = folder_with(tmp_path / "new", "after")
    replace_folder(tmp_path / "folder", new=new, old=tmp_path / "old")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder"]


@pytest.mark.skipif(sys.platform != "linux", reason="one step is Linux's renameat2")
def test_on_linux_the_place_is_never_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_with(tmp_path / "folder", "before")
    new = folder_with(tmp_path / "new", "after")
    seen: list[str] = []
    rename = Path.rename

    def watched(path: Path, target: Path) -> Path:
        seen.append((folder / "file").read_text())
        moved = rename(path, target)
        seen.append((folder / "file").read_text())
        return moved

    monkeypatch.setattr(Path, "rename", watched)
    replace_folder(folder, new=new, old=tmp_path / "old")
    assert set(seen) == {"after"}
