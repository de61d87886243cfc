"""Run every lesson from its first cell to its last, and check its results.

A lesson takes the stated minutes. The estimate counts the time to read, look, run cells, answer,
and write, at the rates of observed learners, without collapsed text.

The checks of ``notebooks/01_loop.md`` are in ``tests/lessons/01_loop.py``: they solve its
exercises in the kernel of the lesson, after its hidden solutions ran. Checks use the names of the
lesson and of `CHECK`.
"""

import asyncio
import json
import re

import jupytext
import nbformat
import pytest
from documents import code_blocks
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import v4
from sites import LESSONS, ROOT, inline_calls
from solving import solve

import visual

CHECKS = ROOT / "tests" / "lessons"
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
WORDS, AVERAGE, CHECKED = 600, 450, 3
MAX_MINUTES, SLACK = 12, 0.25  # minutes; the tolerance ignores a few words of a picture
A_MINUTE = 170  # words that a learner reads in a minute
SYMBOL, LINE = 2, 7  # additional seconds for a symbol in prose; seconds for a line of code
PICTURE, IN_PICTURE, LARGEST = 20, 0.4, 120  # seconds for a picture, plus each word; the maximum
QUESTION, TASK, WRITTEN = 80, 90, 25  # seconds for a question, a task, and a line to write
NOT_PROSE = re.compile(r"<details>.*?</details>|```.*?```|\]\([^)]*\)", re.DOTALL)
TOKEN = re.compile(r"\w[\w.'·]*")
IMPORT = re.compile(r"(import|from) |$")
START = f"""\
%reset -f
%colors nocolor
import os, sys, tempfile, warnings
os.chdir({str(ROOT)!r})
os.environ['SCANTAPE_PROGRESS'] = tempfile.mkdtemp() + '/progress.json'
sys.path[:0] = ['.', 'tests/support']
warnings.simplefilter('error')"""
CHECK = """\
from math import isclose, prod
import numpy as np
import lab
from lab.checks import check
from solving import rates, solve
"""
END = """\
warnings.simplefilter('ignore')
__import__('solving').report(dict(globals()))"""


def text_of(lesson):
    return "\n\n".join(cell.source for cell in lesson.cells if cell.cell_type == "markdown")


def code_cells(lesson):
    return [cell for cell in lesson.cells if cell.cell_type == "code"]


def solutions(lesson):
    """Return the code that is hidden in a lesson's text."""
    return code_blocks("\n".join(FOLDED.findall(text_of(lesson))), "python")


@pytest.fixture(scope="module")
def kernel(local_kernels):
    """A kernel that runs all lessons. In contrast, the site runs each lesson in a new kernel."""
    manager = AsyncKernelManager(kernel_name="python3", config=local_kernels)
    yield manager
    asyncio.run(manager.shutdown_kernel(now=True))


def run(kernel, lesson, checks):
    """Run a lesson; return it with outputs, and whether the checks solve each exercise."""
    lesson = nbformat.from_dict(lesson)
    elsewhere = "os.chdir(tempfile.mkdtemp())"  # calls write files into this folder
    solving = [*solutions(lesson), CHECK + checks]
    parts = [START, *solving, elsewhere, *inline_calls(text_of(lesson)), END]
    first, *others, last = map(v4.new_code_cell, parts)
    lesson.cells = [first, *lesson.cells, *others, last]
    resources = {"metadata": {"path": ROOT}}
    limits = {"startup_timeout": 600, "timeout": 300}  # seconds, for a busy computer
    client = NotebookClient(lesson, km=kernel, resources=resources, **limits)
    try:
        client.execute()
    finally:
        client.kc.stop_channels()
    return lesson, json.loads(last.outputs[0].text)


def prose(lesson):
    """Return the words of a lesson that learners read."""
    return TOKEN.findall(NOT_PROSE.sub(" ", text_of(lesson)))


def is_symbol(word):
    """Return whether a word is a number or the name of a number: ``7.41``, ``x₀``, ``by_g``."""
    return bool(re.search(r"[\d₀-₉_·′]", word)) or (len(word) == 1 and word not in "aAI")


def questions_and_tasks(lesson):
    """Return the cells with questions, and the cells with tasks."""
    code = code_cells(lesson)
    questions = [cell for cell in code if re.search(r"visual\.(Question|Exercise)\(", cell.source)]
    return questions, [cell for cell in code if "visual.Work(" in cell.source]


def lines_to_write(lesson):
    """Return the number of lines of the solution that learners write."""
    (folded,) = (f for f in FOLDED.findall(text_of(lesson)) if "One solution<" in f)
    (template,) = (c.source for c in lesson.cells if "mine-" in str(c.metadata.get("nbgrader")))
    solution = lines(code_blocks(folded, "python")[0])
    return len([line for line in solution if line not in template.splitlines()])


def lines(source):
    """Return the lines of code that are not imports."""
    return [line for line in source.splitlines() if not IMPORT.match(line)]


def seconds(lesson):
    """Return the estimated seconds that a learner needs for a lesson, from its outputs."""
    words, (questions, tasks) = prose(lesson), questions_and_tasks(lesson)
    total = 60 * len(words) / A_MINUTE + SYMBOL * sum(map(is_symbol, words))
    total += QUESTION * len(questions) + sum(TASK + WRITTEN * lines_to_write(lesson) for _ in tasks)
    for cell in code_cells(lesson):
        if cell not in (*questions, *tasks) and "nbgrader" not in cell.metadata:
            drawn = [o.data for o in cell.outputs if "image/svg+xml" in o.get("data", {})]
            total += LINE * (len(lines(cell.source)) - len(drawn))
            counts = (len(data["text/plain"].split()) for data in drawn)
            total += sum(min(LARGEST, PICTURE + IN_PICTURE * count) for count in counts)
    return total


def check_minutes(lesson, path):
    """Check that a lesson takes the stated minutes or one less, and that the index states them."""
    index = (ROOT / "notebooks" / "index.md").read_text(encoding="utf-8")
    lead = re.search(r"takes\s+about\s+(\d+)\s+minutes", path.read_text(encoding="utf-8"))
    stated, estimated = int(lead[1]), seconds(lesson) / 60
    assert stated <= MAX_MINUTES, path.stem
    assert stated - 1 <= estimated + SLACK, (path.stem, estimated)
    assert estimated <= stated + SLACK, (path.stem, estimated)
    assert re.search(rf"\({path.stem}\.ipynb\) \| .+? \| {stated} \|", index), path.stem


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_and_its_exercises_can_be_solved(kernel, path):
    lesson = jupytext.read(path)
    checks = (CHECKS / f"{path.stem}.py").read_text(encoding="utf-8")
    executed, exercises = run(kernel, lesson, checks)
    outputs = [output for cell in code_cells(executed) for output in cell.outputs]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    assert exercises
    assert [name for name, solved in exercises.items() if not solved] == []
    (task,) = (cell for cell in code_cells(executed) if "visual.Work(" in cell.source)
    message = task.outputs[-1]["data"]["text/plain"]
    assert message.startswith(("Nothing to check yet", "Wrong. ")), message
    executed.cells = executed.cells[1 : 1 + len(lesson.cells)]
    check_minutes(executed, path)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_is_easy_to_read(path):
    lesson = jupytext.read(path)
    text = text_of(lesson)
    shown = [cell for cell in code_cells(lesson) if "jupyter" not in cell.metadata]
    assert [cell.source for cell in shown if len(cell.source.splitlines()) > 10] == []
    lines = [line for cell in code_cells(lesson) for line in cell.source.splitlines()]
    assert [line for line in lines if len(line) > 88] == []
    assert all(len(part.split()) <= 120 for part in text.split("\n\n"))
    # Learners must not see the answer, which is in the code above the question.
    assert [cell.source for cell in shown if "visual.Question(" in cell.source] == []
    assert not any(cell.outputs for cell in code_cells(lesson))
    assert text.startswith("# ")
    assert "you will be able to" in " ".join(text.split())
    assert len(solutions(lesson)) >= 1
    assert "https://pytensor.readthedocs.io/" in text


def test_faults_of_a_lesson_are_detected(kernel):
    source = "import visual\nleft = visual.Question('?', 1, 'Because it is.')\nreport = left.check"
    assert run(kernel, v4.new_notebook(cells=[v4.new_code_cell(source)]), "")[1] == {"left": False}
    for cell, error in (
        (v4.new_markdown_cell("Call `visual.nothing(1)`."), "name 'visual' is not defined|nothing"),
        (v4.new_code_cell("import warnings; warnings.warn('old')"), "UserWarning: old"),
    ):
        with pytest.raises(CellExecutionError, match=error):
            run(kernel, v4.new_notebook(cells=[cell]), "")


def test_a_wrong_solution_is_detected():
    for right, wrong, words in (
        (2, [3], "Try another number"),
        (1, [1], "Right. Because it is."),
        (1, [], "no wrong answer is tried"),
        (1, ["x"], "Expected an integer."),
    ):
        with pytest.raises(AssertionError, match=words):
            solve(visual.Question("?", 1, "Because it is."), right, *wrong)


def test_lessons_are_short():
    lessons = [jupytext.read(path) for path in LESSONS]
    words = [len(prose(lesson)) for lesson in lessons]
    assert max(words) <= WORDS
    assert sum(words) / len(words) <= AVERAGE
    counts = {sum(map(len, questions_and_tasks(lesson))) for lesson in lessons}
    assert counts <= {*range(2, CHECKED + 1)}
