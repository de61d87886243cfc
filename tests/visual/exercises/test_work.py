"""What a person writes: right and wrong functions, what is said of each, and what is kept."""

import json

import pytest

import lab
import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.exercises.answers import Outcome
from visual.exercises.progress import Answered, keep, kept, load, table

CUBES = lab.Loop.from_text("x[t] = x[t-1]**3", {"x": 0.9}, n_steps=3, name="cube")


@pytest.fixture(autouse=True)
def _kept_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("SCANTAPE_PROGRESS", str(tmp_path / "kept.json"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


WORK = visual.Work(
    "cubes",
    lambda x: CUBES.trace(at={"x": x}),
    cases=((0.9,), (1.1,)),
    hints=("Keep the states.", "The slope is 3·x²."),
    slips={"squares.": lambda x: gallery.loops["square"].with_steps(3).trace(at={"x": x})},
)


def cubes(x, power=2, add=0.0):
    """The tape by hand."""
    x, tape = [x, x**3, x**9], [0, 0, 0, 1.0]
    for step in (2, 1, 0):
        tape[step] = 3 * x[step] ** power * tape[step + 1] + add
    return tape


def squares(x):
    return [2 * x * 2 * x**2 * 2 * x**4, 2 * x**2 * 2 * x**4, 2 * x**4, 1]


def unnamed(x):
    return y  # noqa: F821


@pytest.mark.parametrize(
    ("written", "outcome", "words"),
    [
        (cubes, Outcome.RIGHT, "It was tried with 0.9 and 1.1."),
        (lambda x: tuple(cubes(x)), Outcome.RIGHT, "tried"),
        (lambda x: None, Outcome.UNREADABLE, "Nothing is written yet"),
        (lambda x: ..., Outcome.UNREADABLE, "Nothing is written yet"),
        (lambda x: cubes(x, 1), Outcome.WRONG, "dC/dx₂ is not 1.162: step 0 makes buf[1] ← "),
        (lambda x: cubes(x)[::-1], Outcome.WRONG, "in the opposite order"),
        (lambda x: cubes(x)[1:], Outcome.WRONG, "it returns 3 numbers, and 4 are expected"),
        (lambda x: cubes(0.9), Outcome.WRONG, "With 1.1: later slots are right, but dC/dx₂"),
        (lambda x: [*cubes(x)[:3], 2.0], Outcome.WRONG, "dC/dx₃ is not 2: no step writes there"),
        (lambda x: "a", Outcome.WRONG, "returns 'a': expected numbers"),
        (lambda x: {1, "a"}, Outcome.WRONG, "expected numbers"),
        (lambda x: set(cubes(x)), Outcome.WRONG, "With 0.9: "),
        (squares, Outcome.WRONG, "With 0.9: squares. Keep the states."),
        (unnamed, Outcome.WRONG, "it stops: NameError: name 'y' is not defined (line"),
        (lambda: 1, Outcome.WRONG, "it stops: TypeError"),
    ],
)  # fmt: skip
def test_what_is_said(written, outcome, words):
    verdict = WORK.check(written)
    assert verdict.outcome is outcome
    assert words in verdict.reason


def test_what_is_said_becomes_clearer():
    first, second, third = (WORK.check(lambda x: cubes(x, 1), n).reason for n in (1, 2, 3))
    assert "buf[1]" in first
    assert "0.4503 = 1·3·0.38742² + 0" in second
    assert first.endswith(" Keep the states.")
    assert second.endswith(" The slope is 3·x².")
    assert third.endswith(" The slope is 3·x².")


def test_a_list_that_is_changed_by_who_writes_stays():
    work = visual.Work("sum", lambda v: sum(v), cases=(([1.0, 2.0],),))
    assert work.check(lambda v: v.pop() + v.pop()).is_right
    assert work.cases == (([1.0, 2.0],),)
    assert "it returns 5, and" in work.check(lambda v: 5).reason
    pair = visual.Work("pair", lambda v: (v, [2 * v]), cases=((3.0,),))
    assert "number 2 is 5, and" in pair.check(lambda v: (v, [5.0])).reason


def test_progress_is_kept(tmp_path, monkeypatch):
    assert repr(WORK(lambda x: None)) == WORK.check(lambda x: None).reason
    assert not (tmp_path / "kept.json").exists()
    assert "buf[1]" in repr(WORK(lambda x: cubes(x, 1)))
    assert "0.4503" in repr(WORK(lambda x: cubes(x, 1)))
    assert repr(WORK(cubes)).startswith("Right. ")
    assert kept("cubes") == Answered(2, 2, True)
    WORK(squares)
    assert kept("cubes") == Answered(2, 2, True)
    keep({"other": Answered(1)})
    told = table([tmp_path / "kept.json"])
    assert told.splitlines()[1].endswith("kept.json,2,1,3")
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert WORK(cubes).verdict.is_right
    for wrong in (squares, lambda x: None):
        with pytest.raises(AssertionError, match=r"squares|Nothing"):
            WORK(wrong)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"answers": 1}', '{"answers": {"a": {"tries": -1}}}',
     '{"answers": {"a": {"points": 3}}}', '{"answers": {"a": {"tries": true}}}',
     '{"answers": {"a": {"done": 1}}}', '{"answers": {"a": {"what": 1}}}'],
)  # fmt: skip
def test_another_file_is_refused(tmp_path, text):
    path = tmp_path / "kept.json"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=r"expected what scantape-progress\.json holds"):
        load(path)
    with pytest.raises(ArgumentError, match="no such file"):
        table([tmp_path / "none.json"])


def test_a_notebook_keeps_what_is_answered(tmp_path, monkeypatch):
    asked = visual.Question("Really?", 1, "So it is.")
    told = {"Really?": {"tries": 1, "points": 1, "done": True}}
    asked.progress = told  # in Python alone, nothing is written
    assert not (tmp_path / "kept.json").exists()
    monkeypatch.setattr("visual.exercises.sheet.in_notebook", lambda: True)
    asked = visual.Question("Really?", 1, "So it is.")
    assert asked.progress == {}
    asked.progress = told
    assert json.loads((tmp_path / "kept.json").read_text())["answers"]["Really?"]["points"] == 1
    again = visual.Question("Really?", 1, "So it is.")
    assert (again.progress, again.points, again.answered) == (told, 1, 1)
    again.progress = {}
    assert load(tmp_path / "kept.json") == {}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1, cubes, ((1,),)), "name = 1"),
        (("a", 1, ((1,),)), "right = 1: expected a function"),
        (("a", cubes, ()), r"cases = \(\): expected tuples"),
        (("a", cubes, (1,)), r"cases = \(1,\): expected tuples"),
        (("a", cubes, ((1,),), "hint"), "hints = 'hint': expected a tuple"),
        (("a", cubes, ((1,),), (), ["x"]), "slips = .'x'.: expected functions by words"),
        (("a", cubes, ((1,),), (), {"x": 1}), "right = 1: expected a function"),
    ],
)
def test_what_is_no_work_says_so(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        visual.Work(*arguments)
    with pytest.raises(ArgumentError, match="written = 1"):
        WORK.check(1)
