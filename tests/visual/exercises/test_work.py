"""Tasks: correct and wrong functions, the feedback, and the results in a file."""

import csv
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

import lab
import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.cli.main import main
from visual.exercises import progress
from visual.exercises.progress import AnswerRecord, load, save, score_table

CUBES = lab.Loop.from_text("x[t] = x[t-1]**3", {"x": 0.9}, n_steps=3, name="cube")


@pytest.fixture(autouse=True)
def _temporary_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("SCANTAPE_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


WORK = visual.Work(
    "cubes",
    lambda x: CUBES.trace(at={"x": x}),
    cases=((0.9,), (1.1,)),
    hints=("Keep the states.", "The slope is 3·x²."),
    slips={"squares.": lambda x: gallery.loops["square"].with_steps(3).trace(at={"x": x})},
)


def cubes(x, power=2, add=0.0):
    """Return the tape of three cubes; another `power` or `add` causes wrong values."""
    x, tape = [x, x**3, x**9], [0, 0, 0, 1.0]
    for step in (2, 1, 0):
        tape[step] = 3 * x[step] ** power * tape[step + 1] + add
    return tape


def squares(x):
    return [2 * x * 2 * x**2 * 2 * x**4, 2 * x**2 * 2 * x**4, 2 * x**4, 1]


def unnamed(x):
    return y  # noqa: F821


def generator(x):
    yield from cubes(x)


@pytest.mark.parametrize(
    "form",
    [
        tuple, np.array, iter, set, frozenset,
        lambda tape: (number for number in tape),
        lambda tape: np.array(tape)[:, None],
        lambda tape: [np.array(number) for number in tape],
        lambda tape: dict(enumerate(tape)).values(),
        lambda tape: [tape[:2], tuple(tape[2:])],
    ],
)  # fmt: skip
def test_numbers_of_every_kind_are_accepted(form):
    assert WORK.check(lambda x: form(cubes(x))).is_right
    assert not WORK.check(lambda x: form([*cubes(x)[:3], 2.0])).is_right


HEAD = visual.Work("head", lambda x: [1.0, x], cases=((2.0,),), also=(lambda x: [1.0, x, 0.0],))
TOTAL = visual.Work("sum", lambda v: sum(v), cases=(([1.0, 2.0],),))
PAIR = visual.Work("pair", lambda v: (v, [2 * v]), cases=((3.0,),))
FEEDBACK = [
    (WORK, cubes, 1, "Right. Tested with 0.9 and 1.1."),
    (WORK, generator, 1, "Right. Tested"),
    (WORK, lambda x: None, 1, "Nothing to check yet"),
    (WORK, lambda x: ..., 1, "Nothing to check yet"),
    (WORK, lambda x: cubes(x, 1), 1, "With 0.9: later slots are right, but dC/dx₂ is not 1.162: "),
    (WORK, lambda x: cubes(x)[::-1], 1, "in the opposite order"),
    (WORK, lambda x: cubes(x)[0], 1, "the function returns 1 number; expected 4."),
    (WORK, lambda x: [], 1, "the function returns 0 numbers; expected 4."),
    (WORK, lambda x: {1.0, 2.0, 3.0, 4.0}, 1, "the set contains a wrong number"),
    (WORK, lambda x: cubes(0.9), 1, "With 1.1: later slots are right, but dC/dx₂"),
    (WORK, lambda x: [*cubes(x)[:3], 2.0], 1, "dC/dx₃ is not 2: no step writes it"),
    (WORK, lambda x: "0.9", 1, "Wrong. The function returns '0.9': expected numbers"),
    (WORK, lambda x: {1, "a"}, 1, "expected numbers"),
    (WORK, squares, 1, "With 0.9: squares. Keep the states."),
    (WORK, unnamed, 1, "the function stops: NameError: name 'y' is not defined (line"),
    (WORK, lambda x: (1 / 0 for _ in "a"), 1, "the function stops: ZeroDivisionError"),
    (WORK, lambda: 1, 1, "Wrong. With 0.9 the function stops: TypeError"),
    (HEAD, lambda x: [1, x, 0], 1, "Right."),
    (HEAD, lambda x: [1, x], 1, "Right."),
    (HEAD, lambda x: [1, x, 1], 1, "3 numbers; expected 2."),
    (TOTAL, lambda v: v.pop() + v.pop(), 1, "Right."),
    (TOTAL, lambda v: 5, 1, "the function returns 5, which is wrong."),
    (PAIR, lambda v: (v, [5.0]), 1, "number 2 is 5, which is wrong."),
    (WORK, lambda x: cubes(x, 1), 1, " + buf[1]. Keep the states."),
    (WORK, lambda x: cubes(x, 1), 2, "0.4503 = 1·3·0.38742² + 0. The slope is 3·x²."),
    (WORK, lambda x: cubes(x, 1), 3, " The slope is 3·x²."),
]


@pytest.mark.parametrize(("work", "function", "tries", "words"), FEEDBACK)
def test_feedback(work, function, tries, words):
    verdict = repr(work.check(function, tries))
    assert words in verdict
    assert verdict.startswith(("Nothing", "Right.") if words[0] in "NR" else "Wrong.")
    assert TOTAL.cases == (([1.0, 2.0],),)  # a function cannot change the cases


def test_results_are_saved(tmp_path, monkeypatch):
    assert repr(WORK(lambda x: None)) == WORK.check(lambda x: None).reason
    assert not (tmp_path / "progress.json").exists()
    assert "buf[1]" in repr(WORK(lambda x: cubes(x, 1)))
    assert "0.4503" in repr(WORK(lambda x: cubes(x, 1)))
    assert repr(WORK(cubes)).startswith("Right. ")
    assert load()["cubes"] == AnswerRecord(2, 2, True)
    WORK(squares)
    assert load()["cubes"] == AnswerRecord(2, 2, True)
    save({"other": AnswerRecord(1)})
    table, problems = score_table([tmp_path / "progress.json"])
    assert table.splitlines()[1].endswith("progress.json,2,1,3,")
    assert problems == []
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert WORK(cubes).is_right
    for wrong in (squares, lambda x: None):
        with pytest.raises(AssertionError, match=r"squares|Nothing"):
            WORK(wrong)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"answers": 1}', '{"answers": {"a": {"tries": -1}}}',
     '{"answers": {"a": {"what": 1}}}',
     f'{{"answers": {{"a": {{"tries": {"9" * 4299}}}}}}}',
     f'{{"answers": {{"a": {{"tries": {"9" * 4301}}}}}}}', '{"answers": ' + "[" * 200_000],
)  # fmt: skip
def test_any_other_file_is_rejected(tmp_path, text):
    path = tmp_path / "progress.json"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=r"expected the content of scantape-progress\.json"):
        load(path)
    good = tmp_path / "good.json"
    good.write_text('{"answers": {"a": {"points": 2, "done": true}}}')
    table, problems = score_table([path, tmp_path / "none.json", tmp_path, good])
    rows = list(csv.reader(table.splitlines()))
    assert [row[1:4] for row in rows] == [["points", "answered", "wrong tries"], *[[""] * 3] * 3,
                                          ["2", "1", "0"]]  # fmt: skip
    assert [row[4] for row in rows[1:]] == [*problems, ""]
    assert "no such file" in problems[1]


def test_the_table_precedes_the_error(tmp_path, capsys):
    (tmp_path / "good.json").write_text('{"answers": {}}')
    assert main(["score", str(tmp_path / "bad.json"), str(tmp_path / "good.json")]) == 2
    printed = capsys.readouterr()
    assert printed.out.splitlines()[2].endswith("good.json,0,0,0,")
    assert printed.err.startswith("scantape: score: 1 of 2 files cannot be read: ")


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_no_cell_of_the_table_is_a_formula(folder, name):
    Path(name).write_text('{"answers": {}}')
    (_, row) = csv.reader(score_table([Path(name)])[0].splitlines())
    assert row[0] == f"'{name}"
    Path(name).write_text("no")
    for row in csv.reader(score_table([Path(name)])[0].splitlines()):
        assert not any(cell[:1] in ("=", "+", "-", "@", "\t") for cell in row)


def test_a_lock_that_is_never_released_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "WAIT", 0.1)
    with (
        FileLock(tmp_path / ".progress.json.lock"),
        pytest.raises(ArgumentError, match=r"progress\.json.* cannot be locked"),
    ):
        save({"a": AnswerRecord()})
    save({"a": AnswerRecord()})
    assert load()["a"] == AnswerRecord()


SAVES = """
import sys, time
from pathlib import Path
from visual.exercises.progress import AnswerRecord, save

name, folder = sys.argv[1], Path(sys.argv[2])
(folder / f"{name} is ready").touch()
while not (folder / "start").exists():
    time.sleep(0.001)
for number in range(40):
    save({f"{name}{number}": AnswerRecord()})
"""


def test_two_kernels_that_save_together_lose_no_answer(tmp_path):
    command = [sys.executable, "-c", SAVES]
    kernels = [subprocess.Popen([*command, name, tmp_path]) for name in "ab"]
    while len([*tmp_path.glob("*ready")]) < 2 and all(k.poll() is None for k in kernels):
        time.sleep(0.01)
    (tmp_path / "start").touch()
    assert [kernel.wait() for kernel in kernels] == [0, 0]
    assert {*load(tmp_path / "progress.json")} == {f"{name}{n}" for name in "ab" for n in range(40)}


def result(tries, points, done=True):
    return {"tries": tries, "points": points, "done": done}


def test_a_notebook_saves_answers(tmp_path, monkeypatch):
    question, file = visual.Question("Really?", 1, "So it is."), tmp_path / "progress.json"
    question.progress = {"Really?": result(1, 1)}  # without a notebook, no file is written
    assert not file.exists()
    monkeypatch.setattr("visual.exercises.sheet.in_notebook", lambda: True)
    question = visual.Question("Really?", 1, "So it is.")
    assert question.progress == {}
    question.progress = {"Really?": result(1, 1)}
    assert json.loads(file.read_text())["answers"]["Really?"]["points"] == 1
    copy = visual.Question("Really?", 1, "So it is.")
    assert (copy.progress, copy.points, copy.answered) == (question.progress, 1, 1)
    copy.progress = {}
    assert load(file) == {}


def test_the_better_answer_of_two_windows_is_saved(tmp_path, monkeypatch):
    monkeypatch.setattr("visual.exercises.sheet.in_notebook", lambda: True)
    first, second = (visual.Question("Really?", 1, "Yes.") for _ in "ab")
    other = visual.Question("And this?", 2, "Yes.")
    assert first.progress == second.progress == {}  # both windows are open
    first.progress = {"Really?": result(0, 2)}
    other.progress = {"And this?": result(0, 2)}
    second.progress = {"Really?": result(1, 0, done=False)}  # a later wrong try
    second.progress = {"Really?": result(1, 0)}
    best = AnswerRecord(0, 2, True)
    assert load(tmp_path / "progress.json") == {"Really?": best, "And this?": best}
    assert visual.Question("Really?", 1, "Yes.").points == 2
    save({"Open?": AnswerRecord(3)})
    save({"Open?": AnswerRecord(1)})
    assert load()["Open?"].tries == 3
