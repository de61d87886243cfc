"""Exercises: their answers against a tape that is simulated here, with lists that keep a log."""

import math
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strange_loops import HOSTILE, LOOPS, WRT
from traitlets import TraitError
from twins import assert_twin

import lab
import visual
from lab.errors import ArgumentError, GraphError
from lab.loops import gallery
from visual.exercises.answers import Answer, Form, Outcome, read_numbers
from visual.exercises.exercise import Ask

SEEDS = range(25)


class Tape(list):
    """A list that notes which of its positions a step reads and writes; `first` is the lowest."""

    def __init__(self, values, first=0):
        super().__init__(values)
        self.first, self.log, self.carries = first, [], {}

    def step(self):
        self.log.append({"read": set(), "written": {}})

    def __getitem__(self, position):
        self.log[-1]["read"].add(position)
        return super().__getitem__(position - self.first)

    def __setitem__(self, position, value):
        self.log[-1]["written"][position] = value
        super().__setitem__(position - self.first, value)


def square_tapes(steps=4, x=0.95):
    """The tapes of the square loop's gradient, and of that gradient's gradients, by name."""
    xs = [x]
    for _ in range(steps):
        xs.append(xs[-1] ** 2)
    d = Tape([1.0] + [0.0] * steps)
    for s in range(steps):
        d.step()
        d[s + 1] = d[s] * 2 * xs[steps - 1 - s] + d[s + 1]
    held = list(d)
    e = Tape([1.0] + [0.0] * steps, first=-1)
    for k in range(steps):
        e.step()
        e[k], e[k - 1] = e[k - 1] * 2 * xs[k] + e[k], e[k - 1]
    # x[i] was a factor of step n-1-i, between the slots that it read and wrote.
    gradient = list(e)
    direct = [held[steps - 1 - i] * 2 * gradient[i] for i in range(steps)] + [0.0]
    f = Tape(direct[::-1])
    for s in range(steps):
        f.step()
        f[s + 1] = f[s] * 2 * xs[steps - 1 - s] + f[s + 1]
    return {"dx": d, "d2dx": e, "d2x": f}


def gap_tapes(steps=5):
    """The same for x[t] = sin(x[t-3]) + x[t-1]·x[t-3]."""
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
TRACES = {(name, order): gallery.loops[name].trace(order=order) for name, order, _ in CASES}


def asked(name, order, kind):
    """The exercises of a kind, with what their questions say about tape, step and position."""
    for seed in SEEDS:
        exercise = visual.Exercise(TRACES[name, order], kind, seed)
        said = exercise.question.replace("−", "-")
        step = re.search(r"step (\d+)", said)
        tape = re.search(r"of (d\w*?x)[ ?.]", said)
        position = re.search(r"at position (-?\d+)", said)
        yield (
            exercise,
            tape and tape.group(1),
            step and int(step.group(1)),
            position and int(position.group(1)),
        )


@pytest.mark.parametrize("kind", ["overwritten", "preserved"])
@pytest.mark.parametrize(("name", "order", "tapes"), CASES)
def test_slots_are_those_of_the_simulation(name, order, tapes, kind):
    seen = set()
    for exercise, tape, step, _ in asked(name, order, kind):
        log = tapes()[tape].log[step]
        written = set(log["written"])
        right = log["read"] & written if kind == "overwritten" else log["read"] - written
        seen.add((tape, step))
        assert exercise.check(sorted(right)).is_right
        assert exercise.check(", ".join(map(str, right))).is_right
        assert exercise.check(f"pos {' and '.join(map(str, right))}".replace("-", "−")).is_right
        for position in set(range(-3, 9)) - right:
            verdict = exercise.check(position)
            assert verdict.outcome is Outcome.WRONG
            assert exercise.check([*right, position]).outcome is Outcome.WRONG
            if position in log["read"] - written:
                assert "is read, and kept" in verdict.reason
        if len(right) > 1:
            assert "missing" in exercise.check(min(right)).reason
    assert len(seen) > 3


@pytest.mark.parametrize(("name", "order", "tapes"), CASES)
def test_numbers_are_those_of_the_simulation(name, order, tapes):
    for exercise, tape, step, position in asked(name, order, "number"):
        right = tapes()[tape].log[step]["written"][position]
        assert exercise.check(right).is_right
        assert exercise.check(f"{right:.4g}").is_right
        for wrong in (
            right * 1.02 + 0.001,
            right * 0.98 - 0.001,
            -right - 0.01,
            math.nan,
            math.inf,
        ):
            assert exercise.check(wrong).outcome is Outcome.WRONG


def test_usual_slips_are_recognized():
    loop = lab.Loop.from_text("x**2", {"x": 0.95}, n_steps=4)
    trace = loop.trace(cost="sum")
    exercise = next(
        e for e in (visual.Exercise(trace, "number", s) for s in SEEDS) if "step 1 " in e.question
    )
    x = [0.95, 0.95**2, 0.95**4]
    through = (1 * 2 * 0.95**8 + 1) * 2 * x[2]  # by hand: the seeds of a sum are ones
    assert exercise.check(through + 1).is_right
    assert "leaves out what stood in the slot" in exercise.check(through).reason
    assert "stands in the slot before" in exercise.check(1).reason
    assert "sign" in exercise.check(-through - 1).reason


def test_a_forgotten_factor_is_named():
    for exercise, tape, step, position in asked("square", 1, "number"):
        before, right = square_tapes()[tape], 0.95 ** (2 ** (3 - step))  # the x that is read
        log = before.log[step]
        share = log["written"][position] / (2 * right)  # on this tape, nothing stood in the slot
        told = exercise.check(share * right).reason
        assert "leaves out the factor 2." in told
        names = {0: "x₃", 1: "x₂", 2: "x₁", 3: "x₀"}
        assert f"leaves out the factor {names[step]}." in exercise.check(2 * share).reason
        third = exercise.check(0.1234, tries=3).reason
        second = exercise.check(0.1234, tries=2).reason
        assert "With the numbers in, that is " in second
        assert f"buf[{position}]: {log['written'][position]:.4g}"[:12] in third
        assert f"buf[{position}]: " not in second


def test_a_right_answer_for_taps_is_not_explained_twice():
    exercise = visual.Exercise(TRACES["gap", 1], "taps", seed=2)
    picture = " ".join(exercise.revealed.text().split())
    told = exercise.check(exercise.task.answer.right).reason
    by_taps = exercise.check(9, tries=2).reason.partition("Tap by tap: ")[2]
    said = by_taps.rstrip(".").split("; ")
    assert len(said) > 2
    assert all(words not in told for words in said)
    assert picture  # which shows the same, tap by tap


@pytest.mark.parametrize(("name", "order", "tapes"), [CASES[0], CASES[2]])
def test_taps_are_those_of_the_simulation(name, order, tapes):
    log = tapes()["dx"].log[1]
    taps = {
        "read": {position - 1 for position in log["read"]},
        "write": {position - 1 for position in log["written"]},
    }
    for exercise, *_ in asked(name, order, "taps"):
        right = taps["read" if exercise.question.endswith("read?") else "write"]
        assert exercise.check(list(right)).is_right
        for tap in set(range(-6, 7)) - right:
            assert exercise.check(tap).outcome is Outcome.WRONG


def test_a_click_is_an_answer():
    exercise = visual.Exercise(TRACES["square", 1], "overwritten", 0)
    cells = exercise.task.answer.cells
    step = int(re.search(r"step (\d+)", exercise.question).group(1))
    for key, position in cells.items():
        assert f'data-cell="{key}"' in exercise.shown.svg()
        assert exercise.check(key).is_right == (position == step + 1)
    (beside,) = exercise.task.answer.beside
    assert "no slot" in exercise.check(beside).reason


@pytest.mark.parametrize("kind", Ask)
def test_the_picture_of_the_question_does_not_tell(kind):
    for seed in range(5):
        exercise = visual.Exercise(TRACES["square", 2], kind, seed)
        shown = exercise.shown.text() if exercise.shown else ""
        assert shown != exercise.revealed.text()
        if kind is not Ask.TAPS:
            assert "overwritten" not in shown
            assert "preserved" not in shown


def test_reasons_come_before_numbers():
    exercise = visual.Exercise(TRACES["square", 1], "overwritten", 0)
    step = int(re.search(r"step (\d+)", exercise.question).group(1))
    told = [exercise.check(step, tries=tries).reason for tries in (1, 2, 3)]
    assert ["step + t" in reason for reason in told] == [False, True, False]
    last = f"the one at {step + 1} is overwritten"
    assert [last in reason for reason in told] == [False, False, True]
    assert str(exercise.check(step + 1)).startswith("Right. ")


def test_the_same_seed_asks_the_same():
    trace = TRACES["square", 2]
    questions = [visual.Exercise(trace, "overwritten", seed).question for seed in SEEDS]
    assert questions == [visual.Exercise(trace, "overwritten", seed).question for seed in SEEDS]
    assert len(set(questions)) > 5
    again = pickle.loads(pickle.dumps(trace))
    assert (
        visual.Exercise(again, "number", 3).question == visual.Exercise(trace, "number", 3).question
    )
    first, second = (visual.Exercise(one, "number", 3).task for one in (trace, again))
    assert first.answer == second.answer


def test_a_series_keeps_the_score():
    trace, seen = TRACES["square", 1], []
    series = visual.Exercises.of(trace, ("overwritten", "taps", "preserved"))
    series.observe(lambda change: seen.append((change.name, change.new)), ["points", "answered"])
    step = int(re.search(r"step (\d+)", series.current.question).group(1))
    assert series.answer("what?").outcome is Outcome.UNREADABLE
    assert series.tries == 0
    assert not series.answer(step).is_right
    assert (series.current, series.tries) == (series.members[0], 1)
    assert series.answer(step + 1).is_right
    assert (series.current, series.points, series.tries) == (series.members[1], 1, 0)
    series.answer("0, 1" if "read?" in series.current.question else "1")
    assert (series.points, series.most) == (3, 6)
    assert seen == [("points", 1), ("answered", 1), ("points", 3), ("answered", 2)]
    assert "3 of 6 points; 2 of 3 answered." in series._repr_mimebundle_()["text/html"]
    series.skip()
    assert series._repr_mimebundle_()["text/plain"] == "3 of 6 points; 3 of 3 answered."
    assert (series.current, series.points) == (None, 3)
    with pytest.raises(ArgumentError, match="all exercises are done"):
        series.answer(1)
    series.again()
    assert (series.points, series.current) == (0, series.members[0])


@pytest.mark.parametrize(
    "told",
    [
        *(1, "done", None, [], {"tries": -1}, {"points": 3}, {"points": True}, {"done": 1}),
        {"seen": 1},
    ],
)
def test_what_is_no_progress_is_refused(told):
    asked = visual.Question("How many?", 1, "One.")
    with pytest.raises(TraitError, match=r"^progress = \{'How many\?': .*\}: expected tries"):
        asked.progress = {"How many?": told}
    assert (asked.progress, asked.points) == ({}, 0)


@pytest.mark.parametrize(
    "typed",
    [
        *("", " ", "two", "1; drop", "nan", "inf", "0x2", "1_0", "²", "١", "1e9999"),
        *("__import__('os')", "<script>", "1" * 500, "1,2,x", "{}"),
        *(None, object(), b"1", {"a": 1}, [object()], 10**400),
    ],
)
def test_what_is_no_answer_is_not_understood(typed):
    for kind in Ask:
        verdict = visual.Exercise(TRACES["square", 1], kind).check(typed)
        assert verdict.outcome is Outcome.UNREADABLE
        assert verdict.reason.startswith("Expected ")


@given(st.text(max_size=40))
def test_any_text_can_be_typed(typed):
    assert isinstance(read_numbers(typed), tuple)


def test_one_number_is_expected_where_there_is_one():
    exercise = visual.Exercise(TRACES["square", 1], "number")
    assert exercise.check("0,95").outcome is Outcome.UNREADABLE


def test_a_checker_of_wrong_answers_sees_them():
    answer = Answer(Form.SLOTS, (1.0, 2.0), "rule", "working", "otherwise", "incomplete")
    table = {"1, 2": "right", "2 1": "right", "1": "wrong", "1, 2, 3": "wrong", "1 1": "wrong"}
    for typed, outcome in table.items():
        assert answer.check(typed).outcome == outcome


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("x", "overwritten"), ArgumentError, "trace = 'x'"),
        ((TRACES["square", 1], "guess"), ArgumentError, "kind = 'guess'"),
        ((TRACES["square", 1], "taps", 0.5), ArgumentError, "seed = 0.5"),
        ((TRACES["square", 1], "taps", 0, "pink"), ArgumentError, "theme = 'pink'"),
        ((gallery.loops["square"].trace(order=0), "taps"), GraphError, "no such question"),
        ((gallery.loops["rnn"].trace(), "number"), GraphError, "no such question"),
    ],
)
def test_what_cannot_be_asked_says_so(arguments, error, words):
    with pytest.raises(error) as caught:
        visual.Exercise(*arguments)
    assert words in str(caught.value)


def test_bad_calls_say_what_is_allowed(tmp_path):
    exercise = visual.Exercise(TRACES["square", 1])
    with pytest.raises(ArgumentError, match="tries = 0"):
        exercise.check(1, tries=0)
    with pytest.raises(ArgumentError, match=r"ends in \.html"):
        exercise.save(tmp_path / "x.svg")
    with pytest.raises(ArgumentError, match="members"):
        visual.Exercises(())


@pytest.mark.parametrize("name", {**gallery.loops, **LOOPS})
def test_every_loop_gives_exercises_that_can_be_answered(name):
    loop = {**gallery.loops, **LOOPS}[name]
    trace = loop.trace(**WRT.get(name, {}))
    for exercise in visual.Exercises.of(trace).members:
        answer = exercise.task.answer
        right = answer.right if answer.form.is_set else answer.right[0]
        assert exercise.check(right).is_right
        assert exercise.shown is None or exercise.shown.svg()
        assert exercise.revealed.svg()


def test_long_loops_make_small_pictures():
    trace = gallery.loops["square"].with_steps(500).trace(at={"x": 1.0})
    for exercise in visual.Exercises.of(trace).members:
        assert len((exercise.shown or exercise.revealed).svg()) < 20_000


@pytest.mark.parametrize("kind", ["overwritten", "number"])
def test_twins(kind):
    exercise = visual.Exercise(TRACES["gap", 1], kind, 1)
    assert_twin(f"exercise-{kind}", exercise.shown)
    step = int(re.search(r"step (\d+)", exercise.question)[1])
    revealed = visual.draw(gallery.loops["gap"], "machine", scan=2, step=step)
    assert exercise.revealed.text() == revealed.text()


def test_a_notebook_shows_question_and_picture():
    shown = visual.Exercise(LOOPS["hostile name"].trace(), "overwritten")._repr_mimebundle_()
    assert "<svg" in shown["text/html"]
    assert HOSTILE not in shown["text/html"]
    assert "Which slot" in shown["text/plain"]
    assert HOSTILE not in visual.Exercises.of(LOOPS["hostile name"].trace()).page()


def test_a_widget_has_the_same_contents():
    widget = visual.Exercise(TRACES["square", 1])
    assert "<form>" in widget.content
    assert widget.answers[0]["right"]
    assert len(widget.answers) == 1
