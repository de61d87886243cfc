"""Every lesson runs from its first cell to its last, with the results that its checks demand.

The checks of ``notebooks/01_loop.md`` are in ``tests/lessons/01_loop.py``: they solve its
exercises, run in its kernel after its hidden solutions.
"""

import json
import re

import jupytext
import nbformat
import pytest
from minutes import takes
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from sites import LESSONS, ROOT
from solving import solve
from traitlets.config import Config

import visual

LOCAL = Config({"KernelManager": {"transport": "ipc"}})  # of tcp a kernel says that it is open
CHECKS = ROOT / "tests" / "lessons"
SOLUTION = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
FENCED = re.compile(r"```python\n(.*?)```", re.DOTALL)
START = """\
%colors nocolor
import os, sys, tempfile, warnings
os.environ['SCANTAPE_PROGRESS'] = tempfile.mkdtemp() + '/progress.json'
sys.path[:0] = ['.', 'tests/support']
warnings.simplefilter('error')"""
END = """\
warnings.simplefilter('ignore')
__import__('solving').report(dict(globals()))"""


def solutions(lesson):
    """The code that is hidden in a lesson's text."""
    told = "\n".join(cell.source for cell in lesson.cells if cell.cell_type == "markdown")
    return [code for _, hidden in SOLUTION.findall(told) for code in FENCED.findall(hidden)]


def code_cells(lesson):
    return [cell for cell in lesson.cells if cell.cell_type == "code"]


def run(lesson, checks):
    """The lesson after it was run, and what its exercises are, each solved or not."""
    lesson = nbformat.from_dict(lesson)
    parts = [START, *solutions(lesson), f"from solving import solve\n{checks}"]
    first, *others, last = map(nbformat.v4.new_code_cell, [*parts, END])
    lesson.cells = [first, *lesson.cells, *others, last]
    place = {"metadata": {"path": ROOT}}
    NotebookClient(lesson, timeout=120, resources=place, config=LOCAL).execute()
    return lesson, json.loads(last.outputs[0].text)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_and_its_exercises_can_be_solved(path):
    lesson = jupytext.read(path)
    ran, exercises = run(lesson, (CHECKS / f"{path.stem}.py").read_text(encoding="utf-8"))
    told = [output for cell in code_cells(ran) for output in cell.outputs]
    assert [output.text for output in told if output.get("name") == "stderr"] == []
    assert exercises
    assert [name for name, solved in exercises.items() if not solved] == []
    (checked,) = (cell for cell in code_cells(ran) if "visual.Work(" in cell.source)
    told = checked.outputs[-1]["data"]["text/plain"]
    assert told.startswith(("Nothing is written yet", "Wrong. ")), told
    ran.cells = ran.cells[1 : 1 + len(lesson.cells)]
    takes(ran, path)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_is_made_for_reading(path):
    lesson = jupytext.read(path)
    text = "\n\n".join(cell.source for cell in lesson.cells if cell.cell_type == "markdown")
    shown = [cell for cell in code_cells(lesson) if "jupyter" not in cell.metadata]
    assert [cell.source for cell in shown if len(cell.source.splitlines()) > 10] == []
    lines = [line for cell in code_cells(lesson) for line in cell.source.splitlines()]
    assert [line for line in lines if len(line) > 88] == []
    assert all(len(part.split()) <= 120 for part in text.split("\n\n"))
    # A learner shall not read the answer above the question.
    assert [cell.source for cell in shown if "visual.Question(" in cell.source] == []
    assert not any(cell.outputs for cell in code_cells(lesson))
    assert text.startswith("# ")
    assert "you will be able to" in " ".join(text.split())
    assert len(solutions(lesson)) >= 1
    assert "https://pytensor.readthedocs.io/" in text


def test_what_is_wrong_with_a_lesson_is_found():
    made = nbformat.v4.new_notebook()
    source = "import visual\nleft = visual.Question('?', 1, 'Because it is.')\nreport = left.check"
    made.cells = [nbformat.v4.new_code_cell(source)]
    assert run(made, "")[1] == {"left": False}
    broken = nbformat.v4.new_notebook()
    broken.cells = [nbformat.v4.new_code_cell("import warnings; warnings.warn('old')")]
    with pytest.raises(CellExecutionError, match="UserWarning: old"):
        run(broken, "")


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (2, [3], "It is another number"),
        (1, [1], "Right. Because it is."),
        (1, [], "no wrong answer is tried"),
        (1, ["x"], "Not understood."),
    ],
)
def test_a_wrong_solution_is_found(right, wrong, words):
    with pytest.raises(AssertionError, match=words):
        solve(visual.Question("?", 1, "Because it is."), right, *wrong)
