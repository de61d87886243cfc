"""Random messages to workbenches: changes of existing and missing controls, and other values."""

import json
from functools import partial

from workbenches import own, sine

import lab
from fuzzing.outcomes import check_sentence
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
    *("undo", "redo", "cancel", "save"),
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
        names = chance.sample(["number", "key", "value", "order", "step"], 3)
        return {name: chance.choice(VALUES) for name in names}
    return chance.choice(VALUES)


def answer(bench, asked):
    """Send a message, check the displayed picture, and raise the reported problem."""
    bench.receive(asked)
    json.dumps(bench.form, allow_nan=False)
    assert bench.svg.startswith("<svg")
    if told := bench.form["problem"]["text"]:
        check_sentence(told)
        raise lab.LabError(told)


def calls(chance):
    benches = list(subjects())
    for bench in benches:
        bench.send = lambda *_, **__: None
    while True:
        bench = chance.choice(benches)
        if bench.state.order > 2 or (bench.state.steps or 0) > 9:
            bench.set(order=1, steps=4)  # every order takes twice as long
        asked = message(chance, bench)
        yield partial(answer, bench, asked), asked
