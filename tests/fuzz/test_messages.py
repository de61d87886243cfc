"""After a random message, a workbench shows a picture, or one sentence near a control."""

import json
from random import Random

import pytest
from fuzzing.outcomes import SEEDS, check_sentence
from workbenches import own, sine

import visual.workbench.workbench
from visual.workbench.workbench import Workbench

VALUES = (
    *(None, True, False, 0, 1, 2, -1, 99, 10**30, 1.5, float("nan"), float("inf"), -0.0, "", " "),
    *("1", "2", "-1", "0.5", "nan", "1e400", "last", "sum", "weights", "0 0 0 1", "0 a", "x", "u"),
    *("square", "fibonacci", "written", "own", "graph", "circle", "true", "never-accumulate"),
    *("tapes", "taps", "values", "faulty rule", "dark", "pink", "\ud800", "a\nb", "a\0b"),
    *([], [-1], [-2, -1], [1], [None], ["x**2", "x = 0.5"], ["x", "x = "], ["x**", "x = 1"], {}),
    *({"x": 1}, [[1]], [10**30], ["1"], [-1, -1]),
)  # fmt: skip
KEYS = (
    *("loop", "written", "steps", "theme", "order", "wrt", "cost", "of", "weights"),
    *("taps", "at", "options", "view", "rule", "step", "scan", "buffer", "x", "x0", "nothing", ""),
    *(0, 1, -1, 99, None, 1.5, True, [], {}, "\ud800"),
)

FITTING = {"check": (True, False), "number": (0, 1, "2", 3), "range": ("0.5", 1, "-0.25")}
FITTING |= {"checks": ([-1], [-2, -1], [0], [-3]), "text": ("0 0 0 1", "1 1 1")}


def subjects():
    cost, x0 = sine()
    yield Workbench(view="taps")
    yield Workbench(own(), view="tapes")
    yield Workbench(cost, x0, {x0: 0.5}, view="taps")


def message(chance, bench):
    """Return a change of an existing or a missing control, or an invalid message."""
    way = chance.random()
    if way < 0.5:
        control = chance.choice(bench.form["controls"])
        key, fitting = list(control["key"]), FITTING.get(control["kind"], VALUES)
        if control["kind"] == "select":
            fitting = [name for name, _ in control["options"]]
        value = chance.choice(fitting if chance.random() < 0.7 else VALUES)
        if chance.random() < 0.1:
            key[chance.randrange(len(key))] = chance.choice(KEYS)
        return {"number": chance.randrange(9), "key": key, "value": value}
    if way < 0.7:
        key = chance.choices(KEYS, k=chance.randint(0, 4))
        return {"number": chance.randrange(9), "key": key, "value": chance.choice(VALUES)}
    if way < 0.95:
        names = chance.sample(["number", "key", "value", "cancel", "save", "order"], 3)
        return {name: chance.choice(VALUES) for name in names}
    return chance.choice(VALUES)


def answer(bench, asked):
    """Return the sentence that a workbench reports, or an empty text; else raise AssertionError."""
    try:
        bench.receive(asked)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} of {asked!a:.300}") from error
    json.dumps(bench.form, allow_nan=False)
    assert bench.svg.startswith("<svg")
    told = bench.form["problem"]["text"]
    if told:
        check_sentence(told)
    return told


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore")  # NumPy warns about nan
@pytest.mark.parametrize("seed", SEEDS)
def test_a_message_is_answered(seed, monkeypatch):
    chance, benches = Random(seed), list(subjects())
    monkeypatch.setattr("visual.workbench.state.LEAST", 1)  # order 3 takes most of the time
    for bench in benches:
        monkeypatch.setattr(bench, "send", lambda *_, **__: None)
    found = []
    for _ in range(80):
        bench = chance.choice(benches)
        if bench.state.order > 2 or (bench.state.steps or 0) > 9:
            bench.set(order=1, steps=4)  # every order takes twice as long
        found.append(bool(answer(bench, message(chance, bench))))
    assert 10 < found.count(True) < 70


@pytest.mark.parametrize(
    ("name", "fault", "error"),
    [
        ("changed", lambda *_: 1 / 0, "ZeroDivisionError of"),
        ("error_text", lambda _: "no\na", "no"),
    ],
)
def test_a_workbench_that_fails_or_reports_two_lines_is_detected(monkeypatch, name, fault, error):
    bench = Workbench(view="taps")
    monkeypatch.setattr(visual.workbench.workbench, name, fault)
    with pytest.raises(AssertionError, match=error):
        answer(bench, {"number": 1, "key": ["order"], "value": "many"})
