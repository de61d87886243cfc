"""Lessons in a folder of one's own: copied, never over what was written, newer ones beside."""

import json
import sys

import pytest

from lab.errors import ArgumentError, LabError
from visual.cli import lessons as copies
from visual.cli.main import main


@pytest.fixture
def two(tmp_path, monkeypatch):
    """A package with two lessons and a picture."""
    source = tmp_path / "package"
    source.mkdir()
    for name in ("01_loop", "index"):
        (source / f"{name}.md").write_text(f"# {name}\n\n```{{code-cell}} ipython3\n1 + 1\n```\n")
    (source / "moving.svg").write_text("<svg/>")
    monkeypatch.setattr(copies, "HERE", source)
    return source


def cells(path):
    return ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"]]


def test_lessons_are_copied_as_notebooks(two, tmp_path, capsys):
    folder = tmp_path / "course"
    assert main(["lessons", "--no-open", str(folder)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "01_loop.ipynb", "index.ipynb", "moving.svg",
    ]  # fmt: skip
    assert cells(folder / "01_loop.ipynb") == ["# 01_loop", "1 + 1"]
    assert capsys.readouterr().out.count(".ipynb") == 2


def test_what_was_written_stays_and_a_newer_lesson_is_put_beside(two, tmp_path, monkeypatch):
    folder = tmp_path / "course"
    assert len(list(copies.copied(folder))) == 2
    book = folder / "01_loop.ipynb"
    written = json.loads(book.read_text())
    written["cells"][1]["source"] = ["mine"]
    book.write_text(json.dumps(written))
    (folder / "moving.svg").write_text("mine")
    with monkeypatch.context() as patched:
        patched.setattr(copies, "find_spec", lambda name: True)
        patched.setitem(sys.modules, "jupytext", None)  # there is nothing to ask it
        assert list(copies.copied(folder)) == []
    assert (folder / "moving.svg").read_text() == "mine"
    (two / "01_loop.md").write_text("# A newer one\n")
    (beside,) = copies.copied(folder)
    assert cells(book) == ["# 01_loop", "mine"]
    assert [path.name for path in folder.glob("01_loop-*.ipynb")] == [beside.rpartition("/")[2]]
    assert list(copies.copied(folder)) == []


def test_an_installation_without_lessons_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "HERE", tmp_path)
    monkeypatch.setattr(copies, "files", lambda name: [])
    with pytest.raises(LabError, match="this installation has none"):
        copies.lessons()


def test_all_lessons_come_with_the_package():
    stems = [path.stem for path in copies.lessons()]
    assert stems[0] == "01_loop"
    assert {"11_your_own", "glossary", "index", "puzzles", "moving"} <= set(stems)


def test_a_folder_that_is_a_file_is_refused(two, tmp_path, monkeypatch):
    (tmp_path / "x").write_text("")
    with pytest.raises(ArgumentError, match="it is a file"):
        list(copies.copied(tmp_path / "x"))
    with pytest.raises(ArgumentError, match="folder = "):
        list(copies.copied(tmp_path / "x" / "y"))
    monkeypatch.setattr(copies, "find_spec", lambda name: None)
    with pytest.raises(LabError, match="jupytext is not installed"):
        list(copies.copied(tmp_path / "z"))
