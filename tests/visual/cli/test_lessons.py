"""Lessons are copied to a folder, without a change of existing notebooks."""

import json

import pytest

from lab.errors import ArgumentError, LabError
from visual.cli import lessons as copies
from visual.cli.main import main


@pytest.fixture
def two_lessons(tmp_path, monkeypatch):
    """A package with two lessons."""
    source = tmp_path / "package"
    source.mkdir()
    for name in ("01_loop", "index"):
        (source / f"{name}.md").write_text(f"# {name}\n\n```{{code-cell}} ipython3\n1 + 1\n```\n")
    monkeypatch.setattr(copies, "HERE", source)
    return source


def test_lessons_are_copied_as_notebooks_and_an_existing_file_stays(two_lessons, tmp_path, capsys):
    folder = tmp_path / "course"
    assert main(["lessons", "--no-open", str(folder)]) == 0
    assert capsys.readouterr().out.count(".ipynb") == 2
    paths = [folder / "01_loop.ipynb", folder / "index.ipynb"]
    assert sorted(folder.rglob("*")) == paths
    cells = json.loads(paths[0].read_text())["cells"]
    assert ["".join(cell["source"]) for cell in cells] == ["# 01_loop", "1 + 1"]
    paths[0].write_text("mine")
    paths[1].unlink()
    assert list(copies.copy_lessons(folder)) == [paths[1]]
    assert paths[0].read_text() == "mine"
    assert list(copies.copy_lessons(folder)) == []


def test_a_file_as_folder_and_missing_lessons_are_errors(two_lessons, tmp_path, monkeypatch):
    (tmp_path / "x").write_text("")
    with pytest.raises(ArgumentError, match="expected a folder, got a file"):
        list(copies.copy_lessons(tmp_path / "x"))
    with pytest.raises(ArgumentError, match="folder = "):
        list(copies.copy_lessons(tmp_path / "x" / "y"))
    monkeypatch.setattr(copies, "find_spec", lambda name: None)
    with pytest.raises(LabError, match="jupytext is not installed"):
        list(copies.copy_lessons(tmp_path / "z"))
    monkeypatch.setattr(copies, "HERE", tmp_path / "none")
    monkeypatch.setattr(copies, "files", lambda name: [])
    with pytest.raises(LabError, match="this installation contains no lessons"):
        copies.lessons()
