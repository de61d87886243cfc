"""What a person writes: right and wrong functions, what is said of each, and what is kept."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

import lab
import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.cli.main import main
from visual.exercises import progress
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
    assert told.csv.splitlines()[1].endswith("kept.json,2,1,3,")
    assert told.problems == ()
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert WORK(cubes).verdict.is_right
    for wrong in (squares, lambda x: None):
        with pytest.raises(AssertionError, match=r"squares|Nothing"):
            WORK(wrong)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"answers": 1}', '{"answers": {"a": {"tries": -1}}}',
     '{"answers": {"a": {"points": 3}}}', '{"answers": {"a": {"tries": true}}}',
     '{"answers": {"a": {"done": 1}}}', '{"answers": {"a": {"what": 1}}}',
     f'{{"answers": {{"a": {{"tries": {"9" * 4299}}}}}}}',
     f'{{"answers": {{"a": {{"tries": {"9" * 4301}}}}}}}', '{"answers": ' + "[" * 200_000],
)  # fmt: skip
def test_another_file_is_refused(tmp_path, text):
    path = tmp_path / "kept.json"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=r"expected what scantape-progress\.json holds"):
        load(path)
    keep_in = tmp_path / "good.json"
    keep_in.write_text('{"answers": {"a": {"points": 2, "done": true}}}')
    scores = table([path, tmp_path / "none.json", tmp_path, keep_in])
    rows = list(csv.reader(scores.csv.splitlines()))
    assert [row[1:4] for row in rows] == [["points", "answered", "wrong tries"], *[[""] * 3] * 3,
                                          ["2", "1", "0"]]  # fmt: skip
    assert [row[4] for row in rows[1:]] == [*scores.problems, ""]
    assert "no such file" in scores.problems[1]
    assert len(scores.csv.splitlines()) == 5


def test_the_table_comes_before_the_file_that_cannot_be_read(tmp_path, capsys):
    (tmp_path / "bad.json").write_text("[]")
    (tmp_path / "good.json").write_text('{"answers": {}}')
    files = [str(tmp_path / name) for name in ("bad.json", "good.json")]
    assert main(["score", *files]) == 2
    told = capsys.readouterr()
    assert told.out.splitlines()[2].endswith("good.json,0,0,0,")
    assert told.err.startswith("scantape: score: 1 of 2 files cannot be read: ")
    assert main(["score", files[1]]) == 0


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_no_cell_of_the_table_is_a_formula(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text('{"answers": {}}')
    (_, row) = csv.reader(table([Path(name)]).csv.splitlines())
    assert row[0] == f"'{name}"
    Path(name).write_text("no")
    for row in csv.reader(table([Path(name)]).csv.splitlines()):
        assert not any(cell[:1] in ("=", "+", "-", "@", "\t") for cell in row)


WRITER = """
import sys
from visual.exercises.progress import Answered, keep
print("ready", flush=True)
sys.stdin.readline()
for number in range(40):
    keep({f"{sys.argv[1]} {number}": Answered(points=1, done=True)})
"""


def test_two_kernels_keep_all_that_is_answered(tmp_path):
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, name], **pipe) for name in "ab"]
    assert [writer.stdout.readline() for writer in writers] == ["ready\n"] * 2
    for writer in writers:  # both have imported all they need
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert set(load(tmp_path / "kept.json")) == {f"{a} {n}" for a in "ab" for n in range(40)}


def test_a_lock_that_is_never_released_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "WAIT", 0.1)
    with (
        FileLock(tmp_path / ".kept.json.lock"),
        pytest.raises(ArgumentError, match=r"kept\.json.* cannot be locked"),
    ):
        keep({"a": Answered()})
    keep({"a": Answered()})
    assert kept("a") == Answered()


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
