"""Pages other than lessons: pictures, commands, and the exam, whose answers are correct."""

import re
import shlex

import jupytext
import numpy as np
import pytest
from sites import LESSONS, ROOT

import lab
from lab import gallery
from visual.cli.lessons import lessons
from visual.cli.main import main
from visual.drawing.catalogue import PICTURES
from visual.exercises.progress import MOST

NOTEBOOKS = ROOT / "notebooks"


def test_the_commands_of_the_gallery_draw_every_kind(folder, monkeypatch):
    outputs = []
    monkeypatch.setattr("IPython.display.HTML", lambda text: text)
    monkeypatch.setattr("IPython.display.display", outputs.append)
    first = jupytext.read(NOTEBOOKS / "gallery.md").cells[1]
    exec(first.source, {})
    commands = re.findall(r"<pre>(.*?)</pre>", "".join(o for o in outputs if isinstance(o, str)))
    assert [shlex.split(command)[2] for command in commands] == list(PICTURES)
    for command in commands:
        name, *words = shlex.split(command)
        assert (name, main(words)) == ("scantape", 0)
    assert {path.stem for path in folder.glob("*.svg")} == set(PICTURES)


def test_every_kind_answers_a_question():
    text = (NOTEBOOKS / "which.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| \[(\w+)\]\(gallery\.ipynb#(\w+)\) \|", text)
    assert all(name == anchor for name, anchor in rows)
    assert {name for name, _ in rows} == set(PICTURES)


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
        not_graded = dict.fromkeys(("solution", "grade", "locked"), False)
        graded = {"grade": True, "locked": True, "points": MOST}
        assert write.items() >= {**not_graded, "grade_id": f"mine-{path.stem[:2]}"}.items()
        assert check.items() >= {**graded, "grade_id": f"check-{path.stem[:2]}"}.items()


EXAM = (NOTEBOOKS / "exam.md").read_text(encoding="utf-8")
TEXT = (NOTEBOOKS / "site" / "exam_answers.md").read_text(encoding="utf-8")
ANSWERS = dict(re.findall(r"^\*\*(\d)\.\*\* (.*)$", TEXT, re.MULTILINE))


def test_every_question_has_an_answer_that_students_do_not_get():
    questions = re.findall(r"^\*\*(\d)\. .*?\((\d) points\)", EXAM, re.MULTILINE)
    assert [number for number, _ in questions] == list(ANSWERS)
    assert f"{sum(int(points) for _, points in questions)} points" in EXAM
    copied = [path.stem for path in lessons()]
    assert copied[0] == "01_loop"
    assert {"11_your_own", "glossary", "index", "puzzles", "exam"} <= {*copied}
    assert not any("answers" in name for name in copied)
    assert "19.29" not in EXAM


def test_the_answers_about_tapes_are_correct():
    cubes = lab.Loop.from_text("x[t] = x[t-1]**3", {"x": 1.1}, n_steps=2)
    final = cubes.trace().scans[1].tapes[0].final[::-1]
    assert np.allclose(final, [9 * 1.1**8, 3 * 1.1**6, 1], rtol=1e-12)
    assert ", ".join(f"{value:.4g}" for value in final) in ANSWERS["1"]
    assert f"3·x₀² = {3 * 1.1**2:.2f}" in ANSWERS["1"]
    # C = x₁² + x₁⁴
    total = 2 * 0.81 + 4 * 0.81**3
    assert f"= {2 * 0.81:.2f}" in ANSWERS["2"]
    assert f"= {total:.4g}" in ANSWERS["2"]
    seeds = [2 * 0.81, 0, 1]
    squares = gallery.loops["square"].with_steps(3).trace(cost=seeds, at={"x": 0.9})
    assert squares.scans[1].tapes[0].final[::-1][1] == pytest.approx(total)


def test_the_answers_about_taps_and_vectors_are_correct():
    loop = lab.Loop.from_text("x[t] = x[t-1] + x[t-4]", {"x": [1.0] * 4}, n_steps=3)
    tape = loop.trace().scans[1].tapes[0].tape
    assert sorted(tape.reads) == [0, 1, 4]
    assert sorted(tape.writes) == [1, 4]
    assert "reads 0, 1, 4, preserves 0, and overwrites 1 and 4" in ANSWERS["3"]
    matrix = np.array([[1, 2], [0, 3]])
    gradient = [(matrix @ matrix @ unit).sum() for unit in np.eye(2)]  # column by column
    assert gradient == [1, 17]
    assert "[1, 17]" in ANSWERS["4"]


def test_the_answers_about_orders_and_memory_are_correct():
    steps = [scan.node.op for scan in gallery.loops["square"].derivative(order=3).genealogy]
    assert f"{len(steps)} Scans with {len(set(steps))} distinct" in ANSWERS["5"]
    assert ANSWERS["6"].startswith("5,")
    assert "returns 10" in ANSWERS["6"]
    assert f"{1_000_000 * 8 // 10**6} MB" in ANSWERS["7"]
    assert f"{(1000 + 1000) * 8 // 10**3} kB" in ANSWERS["7"]
