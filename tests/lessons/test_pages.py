"""Pages other than lessons: they show every kind of picture, and their commands work."""

import re
import shlex

import jupytext
from sites import LESSONS, ROOT

from visual.cli.main import main
from visual.drawing.catalogue import PICTURES
from visual.exercises.progress import MOST

NOTEBOOKS = ROOT / "notebooks"


def test_the_commands_of_the_gallery_draw_every_kind(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr("IPython.display.HTML", lambda text: text)
    monkeypatch.setattr("IPython.display.display", told.append)
    monkeypatch.chdir(tmp_path)
    first = jupytext.read(NOTEBOOKS / "gallery.md").cells[1]
    exec(first.source, {})
    commands = re.findall(r"<pre>(.*?)</pre>", "".join(one for one in told if isinstance(one, str)))
    assert [shlex.split(command)[2] for command in commands] == list(PICTURES)
    for command in commands:
        name, *words = shlex.split(command)
        assert (name, main(words)) == ("scantape", 0)
    assert {path.stem for path in tmp_path.glob("*.svg")} == set(PICTURES)


def test_every_kind_answers_a_question():
    text = (NOTEBOOKS / "which.md").read_text(encoding="utf-8")
    found = re.findall(r"\| \[(\w+)\]\(gallery\.ipynb#(\w+)\) \|", text)
    assert all(name == anchor for name, anchor in found)
    assert {name for name, _ in found} == set(PICTURES)


def test_the_map_has_every_lesson():
    text = (NOTEBOOKS / "index.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (\d+)\. \[(.+?)\]\((\w+)\.ipynb\) \| .+? \| \d+ \| (.*?)\|$", text, re.M
    )
    assert [name for _, _, name, _ in rows] == [path.stem for path in LESSONS]
    for (number, title, _, needs), path in zip(rows, LESSONS, strict=True):
        lesson = path.read_text(encoding="utf-8")
        assert f"\n# {title}\n" in lesson
        assert all(int(need) < int(number) for need in re.findall(r"\d+", needs))


def test_tasks_can_be_graded():
    for path in LESSONS:
        cells = [cell for cell in jupytext.read(path).cells if "nbgrader" in cell.metadata]
        write, check = (cell.metadata["nbgrader"] for cell in cells)
        # nbgrader would clear a solution's cell, and with it the line that names the function.
        assert (write["solution"], write["grade"], write["locked"]) == (False, False, False)
        assert check["grade"]
        assert check["locked"]
        assert check["points"] == MOST
        assert (write["grade_id"], check["grade_id"]) == (
            f"mine-{path.stem[:2]}",
            f"check-{path.stem[:2]}",
        )
