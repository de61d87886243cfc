"""Compare exercises with simulated tapes: lists that record each access."""

import math
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strange_loops import LOOPS, WRT, trace_of
from traitlets import TraitError
from twins import assert_twin

import visual
from lab.loops import gallery
from visual.exercises.answers import AnswerOutcome, read_numbers

SEEDS = range(25)


class Tape(list):
    """A list that records the positions that a step reads and writes; `first` is the lowest."""

    def __init__(self, values, first=0):
        super().__init__(values)
        self.first, self.log = first, []

    def step(self):
        self.log.append({"read": set(), "written": set()})

    def __getitem__(self, position):
        self.log[-1]["read"].add(position)
        return super().__getitem__(position - self.first)

    def __setitem__(self, position, value):
        self.log[-1]["written"].add(position)
        super().__setitem__(position - self.first, value)


def square_tapes(steps=4, x=0.95):
    """Return the tapes of the gradient of square, and of the gradients of this gradient."""
    xs = [x]
    for _ in range(steps):
        xs.append(xs[-1] ** 2)
    # the gradient, and the second backward Scan of the loop, which has the same taps
    d, f = Tape([1.0] + [0.0] * steps), Tape([0.0] * (steps + 1))
    e = Tape([1.0] + [0.0] * steps, first=-1)
    for s in range(steps):
        for tape in (d, f, e):
            tape.step()
        for tape in (d, f):
            tape[s + 1] = tape[s] * 2 * xs[steps - 1 - s] + tape[s + 1]
        e[s], e[s - 1] = e[s - 1] * 2 * xs[s] + e[s], e[s - 1]
    return {"dx": d, "d2dx": e, "d2x": f}


def gap_tapes(steps=5):
    """Return the tape of the gradient of x[t] = sin(x[t-3]) + x[t-1]·x[t-3]."""
    xs = [0.3, 0.6, 0.9]
    for t in range(3, steps + 3):
        xs.append(math.sin(xs[t - 3]) + xs[t - 1] * xs[t - 3])
    d = Tape([1.0] + [0.0] * (steps + 2))
    for s in range(steps):
        d.step()
        t, g = steps + 2 - s, d[s]
        d[s + 3] = g * (math.cos(xs[t - 3]) + xs[t - 1]) + d[s + 3]
        d[s + 1] = g * xs[t - 3] + d[s + 1]
    return {"dx": d}


CASES = [("square", 1, square_tapes), ("square", 2, square_tapes), ("gap", 1, gap_tapes)]
TRACES = {(name, order): trace_of(name, order) for name, order, _ in CASES}


def step_of(exercise):
    return int(re.search(r"step (\d+)", exercise.question)[1])


@pytest.mark.parametrize("kind", ["overwritten", "preserved"])
@pytest.mark.parametrize(("name", "order", "tapes"), CASES)
def test_slots_equal_the_slots_of_the_simulation(name, order, tapes, kind):
    questions = set()
    for seed in SEEDS:
        exercise = visual.Exercise(TRACES[name, order], kind, seed)
        if seed < 5:
            assert exercise.shown.text() != exercise.revealed.text()
            assert not re.search("overwritten|preserved", exercise.shown.text())
        tape, step = re.search(r"of (d\w*?x)[ ?.]", exercise.question)[1], step_of(exercise)
        log = tapes()[tape].log[step]
        expected = log["read"] & log["written"] if kind == "overwritten" else log["read"]
        expected = expected if kind == "overwritten" else expected - log["written"]
        questions.add((tape, step))
        assert exercise.check(", ".join(map(str, expected))).is_right
        assert exercise.check(f"pos {' and '.join(map(str, expected))}".replace("-", "−")).is_right
        for position in set(range(-3, 9)) - expected:
            verdict = exercise.check(position)
            assert verdict.outcome is AnswerOutcome.WRONG
            assert exercise.check([*expected, position]).outcome is AnswerOutcome.WRONG
            if position in log["read"] - log["written"]:
                assert "is read and preserved" in verdict.reason
        if len(expected) > 1:
            assert "incomplete" in exercise.check(min(expected)).reason
    assert len(questions) > 3


@pytest.mark.parametrize(("name", "order", "tapes"), [CASES[0], CASES[2]])
def test_taps_equal_the_taps_of_the_simulation(name, order, tapes):
    log = tapes()["dx"].log[1]
    for seed in SEEDS:
        exercise = visual.Exercise(TRACES[name, order], "taps", seed)
        positions = log["read" if exercise.question.endswith("read?") else "written"]
        expected = {position - 1 for position in positions}
        assert exercise.check(expected).is_right
        for tap in set(range(-6, 7)) - expected:
            assert exercise.check(tap).outcome is AnswerOutcome.WRONG


def test_equal_seeds_cause_equal_questions():
    trace = TRACES["square", 2]
    questions = [visual.Exercise(trace, "overwritten", seed).question for seed in SEEDS]
    assert len(set(questions)) > 5
    copy = pickle.loads(pickle.dumps(trace))
    first, second = (visual.Exercise(source, "overwritten", 3).task for source in (trace, copy))
    assert first == second  # the question, the answer, and the feedback


@pytest.mark.parametrize(
    "data",
    [1, "done", None, [], {"tries": -1}, {"points": 3}, {"points": True}, {"done": 1}, {"seen": 1}],
)
def test_invalid_progress_is_rejected(data):
    question = visual.Question("How many?", 1, "One.")
    with pytest.raises(TraitError, match=r"^progress = \{'How many\?': .*\}: expected tries"):
        question.progress = {"How many?": data}
    assert (question.progress, question.points) == ({}, 0)


# possible answers


@pytest.mark.parametrize(
    ("answer", "is_set", "numbers"),
    [
        ((1, -2), True, (1, -2)),
        ([0.5], False, (0.5,)),
        ({-2, 1}, True, (-2, 1)),
        (frozenset({3}), True, (3,)),
        ((n for n in (1, 2)), True, (1, 2)),
        (range(3), True, (0, 1, 2)),
        (np.array([1.5, 2.0]), True, (1.5, 2)),
        (np.array(0.25), False, (0.25,)),
        (np.int64(-1), True, (-1,)),
        ([(1,), np.array([[2], [3]])], True, (1, 2, 3)),
        ("0,95", False, (0.95,)),
        ("-1,5e2", False, (-150,)),
        ("−0,5", False, (-0.5,)),
        ("0,1", True, (0, 1)),
        ("0,5; -2,25", True, (0.5, -2.25)),
        ("(0.5, −2)", True, (0.5, -2)),
        ("buf[1] and pos −2", True, (1, -2)),
        ("0, 95", False, (0, 95)),  # two numbers instead of one
    ],
)
def test_numbers_of_every_kind_are_read(answer, is_set, numbers):
    assert read_numbers(answer, is_set) == numbers


CIRCULAR = []
CIRCULAR.append(CIRCULAR)


@pytest.mark.parametrize(
    "answer",
    [
        *("", " ", "two", "1; drop", "nan", "inf", "0x2", "1_0", "²", "١", "1e9999", "1,000,5;2"),
        *("__import__('os')", "<script>", "1" * 500, "1,2,x", "{}", CIRCULAR),
        *(None, object(), b"1", {"a": 1}, [object()], 10**400, ["1"], iter(int, 1), 1j),
        *(np.array(["1"]), np.array([1j]), {1, "a"}),
    ],
)
def test_other_answers_are_not_understood(answer):
    verdict = visual.Exercise(TRACES["square", 1], "taps").check(answer)
    assert verdict.outcome is AnswerOutcome.UNREADABLE
    assert verdict.reason.startswith("Expected ")


@given(st.text(max_size=40))
def test_any_text_can_be_typed(typed):
    assert isinstance(read_numbers(typed), tuple)


# errors, and pictures


@pytest.mark.parametrize("name", {**gallery.loops, **LOOPS})
def test_every_loop_has_exercises_that_can_be_answered(name):
    trace = {**gallery.loops, **LOOPS}[name].trace(**WRT.get(name, {}))
    for task in visual.Exercises.of(trace).tasks:
        assert task.check(task.solution).is_right
        assert task.shown.svg()
        assert task.revealed.svg()


def test_twins():
    exercise = visual.Exercise(TRACES["gap", 1], "overwritten", 1)
    assert_twin("exercise-overwritten", exercise.shown)
    revealed = visual.draw(gallery.loops["gap"], "machine", scan=2, step=step_of(exercise))
    assert exercise.revealed.text() == revealed.text()
