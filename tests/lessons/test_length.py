"""A lesson takes the minutes that it says: what is read, looked at, run and answered is counted."""

import math
import re

import jupytext
import pytest
from nbformat import v4
from sites import LESSONS, ROOT

WORDS, CHECKED, MINUTES = 550, 3, 15
A_MINUTE = 180  # words that a learner reads in a minute
PICTURE, CODE, QUESTION, TASK = 20, 45, 90, 180  # seconds
APART = re.compile(r"<details>.*?</details>|```.*?```|\]\([^)]*\)", re.DOTALL)
DRAWN = re.compile(r"visual\.(?!Question|Exercise|Work)\w+\(")
IMPORT = re.compile(r"(import|from) |$")


def words(lesson):
    """The words of its prose, without what is folded."""
    told = (cell.source for cell in lesson.cells if cell.cell_type == "markdown")
    return len(re.findall(r"\w[\w.'·]*", APART.sub(" ", "\n\n".join(told))))


def checked(lesson):
    """Its questions, and the tasks that are run."""
    code = [cell for cell in lesson.cells if cell.cell_type == "code"]
    questions = [cell for cell in code if re.search(r"visual\.(Question|Exercise)\(", cell.source)]
    return questions, [cell for cell in code if "visual.Work(" in cell.source]


def seconds(lesson):
    """How long a learner needs."""
    questions, tasks = checked(lesson)
    total = 60 * words(lesson) / A_MINUTE + QUESTION * len(questions) + TASK * len(tasks)
    for cell in lesson.cells:
        if cell.cell_type != "code" or cell in (*questions, *tasks) or "nbgrader" in cell.metadata:
            continue
        lines = [line for line in cell.source.splitlines() if not IMPORT.match(line)]
        is_drawn = bool(DRAWN.search(cell.source))
        total += PICTURE * is_drawn + CODE * (len(lines) > 2 * is_drawn)
    return total


@pytest.fixture(scope="module")
def lessons():
    return {path: jupytext.read(path) for path in LESSONS}


def test_no_lesson_grows(lessons):
    assert {path.stem: n for path, one in lessons.items() if (n := words(one)) > WORDS} == {}
    asked = {path.stem: sum(map(len, checked(one))) for path, one in lessons.items()}
    assert {name: count for name, count in asked.items() if not 2 <= count <= CHECKED} == {}


def test_a_lesson_takes_the_minutes_that_it_says(lessons):
    index = (ROOT / "notebooks" / "index.md").read_text(encoding="utf-8")
    for path, lesson in lessons.items():
        minutes = math.ceil(seconds(lesson) / 60)
        assert 10 <= minutes <= MINUTES, path
        lead = path.read_text(encoding="utf-8")
        assert re.search(rf"takes\s+about\s+{minutes}\s+minutes", lead), (path.stem, minutes)
        assert re.search(rf"\({path.stem}\.ipynb\) \| .+? \| {minutes} \|", index), path.stem


def test_a_longer_lesson_is_seen():
    code = ("import lab", "a = 1", "visual.draw(a)", "visual.Question(1)", "visual.Work(1)")
    told = "Two words of [prose](x) and `code`.\n\n<details>\nfolded\n</details>"
    lesson = v4.new_notebook(cells=[v4.new_markdown_cell(told), *map(v4.new_code_cell, code)])
    assert words(lesson) == 6
    assert [len(part) for part in checked(lesson)] == [1, 1]
    assert seconds(lesson) == 2 + CODE + PICTURE + QUESTION + TASK
