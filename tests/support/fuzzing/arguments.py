"""Odd objects, and a correct call of each public function."""

import inspect
from functools import partial
from pathlib import Path

import numpy as np
import pytensor.tensor as pt
from graphs import squares

import lab
import visual
from fuzzing.outcomes import Mute
from lab import eager, structural
from lab.checks import check
from lab.loops import gallery
from lab.tape import Tape


class Stubborn:
    """An object that raises an error for its truth value, length, members, and comparisons."""

    __hash__ = object.__hash__

    def _refuse(self, *_):
        raise RuntimeError("no")

    __bool__ = __eq__ = __len__ = __iter__ = _refuse


LOOP = gallery.loops["square"]
TRACE = LOOP.trace()
X0, XS = squares()
COST = XS[-1]
DERIVATIVE = lab.derivative(COST, X0)
NODE = LOOP.build().node
BACKWARDS = {
    "op": NODE.op,
    "inputs": NODE.inputs,
    "outputs": NODE.outputs,
    "output_gradients": [pt.ones_like(v) for v in NODE.outputs],
}
SCENE = visual.taps(TRACE)
EXERCISE = visual.Exercise(TRACE)


def clamped(x=(0.5,), *_):
    return structural.clamp(x, 0.0, 1.0)


def compared(wrt=None, cost="last", of=None):
    return lab.compare(LOOP, wrt, cost=cost, of=of)


def anything(*_, **__):
    return None


ODD = (
    *(None, True, 0, 5, -1, 2.5, -0.0, 10**30, -(10**400), float("nan"), float("inf"), 1j),
    np.int64(3),
    *("", "square", "x", "a\nb", "a\0b", "\ud800", "x" * 3000, b"x", Path("no/x.svg")),
    *([], (), {}, {1}, [[1], [2, 3]], {5: 5}, ["square", "x"], [None], {"x": None}, range(3)),
    *(range(10**12), int, np.array([1.0, 2.0]), "٣", (1, 2), ":", {X0: None}, {X0: range(10**12)}),
    *(object(), Mute(), [Mute()], {"x": Mute()}, Stubborn(), [Stubborn()], anything, lab),
    *(np.zeros((2, 0)), np.array([None, "a"]), np.array(["a"]), np.datetime64("now")),
    *(pt.dvector("q"), LOOP, TRACE, DERIVATIVE, SCENE, NODE),
)
# Pictures of a trace.
OF_TRACES = ("genealogy", "machine", "memory", "ssa", "stepgraph", "tapes", "transposed")
OF_TRACES += ("unrolled", "values")
# Public functions with correct arguments.
CALLS = {
    lab.Loop: {"step": lambda x: x * x, "states": (lab.State("x", 1.0),), "n_steps": 2},
    lab.Loop.from_text: {"text": "x**2", "states": {"x": 1.0}, "n_steps": 2},
    lab.Loop.trace: {"self": LOOP},
    lab.Loop.derivative: {"self": LOOP},
    lab.Loop.named_taps: {"self": LOOP, "taps": (-2,)},
    lab.Loop.with_taps: {"self": LOOP, "taps": {"x": (-2,)}},
    lab.Loop.with_steps: {"self": LOOP, "n_steps": 3},
    lab.Loop.with_values: {"self": LOOP, "values": {"x": 0.5}},
    lab.Parameter: {"name": "w", "value": 1.0},
    lab.RandomState: {"name": "rng"},
    lab.Sequence: {"name": "u", "values": [1.0, 2.0]},
    lab.State: {"name": "x", "initial": 1.0},
    Tape: {"reads": (-1,), "writes": (0,)},
    lab.break_rule: {"loop": LOOP, "rule": "never-accumulate", "order": 1},
    lab.canonical: {"subject": LOOP},
    lab.compare: {"subject": COST, "wrt": X0, "given": {X0: 0.5}},
    lab.compiled: {"subject": COST, "wrt": X0, "mode": "FAST_COMPILE"},
    lab.derivative: {"cost": COST, "wrt": X0},
    lab.derive: BACKWARDS,
    lab.dot_product: {"loop": LOOP},
    lab.events: {"trace": TRACE},
    lab.explain: {"cost": COST, "wrt": X0},
    lab.first: {"trace": TRACE, "value": "inf"},
    lab.influence: {"derivative": LOOP.derivative()},
    lab.memory: {"trace": TRACE},
    lab.pullback: BACKWARDS,
    lab.pushforward: {"outputs": [COST], "wrt": [X0], "tangents": [pt.dscalar("t")]},
    lab.system: {"subject": COST},
    lab.trace: {"outputs": COST, "given": {X0: 0.5}},
    eager.grad: {"function": lambda x: x * x},
    eager.primitive: {"function": np.sin, "gradient_maker": lambda y, x: [lambda g: g]},
    eager.recording: {"function": lambda: 1.0},
    eager.steps: {"count": 2},
    eager.unrolled: {"loop": LOOP},
    structural.cat: {"inputs": ([1.0], [2.0]), "dim": 0},
    structural.clamp: {"x": [1.0], "lo": 0.0, "hi": 2.0},
    structural.narrow: {"a": [1.0, 2.0], "dim": 0, "start": 0, "length": 1},
    structural.where: {"condition": [True], "x": [1.0], "y": [2.0]},
    structural.jvp: {"function": clamped, "inputs": ([0.5],), "tangents": ([1.0],)},
    structural.set_subtensor: {"x": np.array([1.0, 2.0]), "y": np.array([1.0]), "i": 0},
    structural.sources: {
        "linear": structural.primitives["clamp"].linearize([[1.0, 5.0], 0.0, 2.0])
    },
    structural.tape_step: {"tape": Tape((-1,), (0,)), "step": 0},
    structural.vjp: {"function": clamped, "inputs": ([0.5],)},
    visual.Page: {"loops": "square", "orders": 1, "costs": "last"},
    visual.Exercise: {"trace": TRACE},
    visual.Exercises: {"members": (EXERCISE,)},
    visual.Exercises.of: {"trace": TRACE},
    visual.Question: {"question": "How many?", "answer": 1.0, "why": "One."},
    visual.Work: {"name": "a sum", "right": sum, "cases": (([1.0],),)},
    visual.Workbench: {"subject": LOOP, "view": "taps"},
    visual.dot_product: {"test": lab.dot_product(LOOP)},
    visual.draw: {"subject": LOOP, "picture": "taps"},
    visual.eager: {"recording": eager.recording(eager.grad(lambda x: x * x), 2.0)},
    visual.export: {"subject": LOOP, "folder": "pictures", "formats": ("svg",)},
    visual.figure: {"number": 1},
    visual.phases: {"derivation": lab.derive(**BACKWARDS)},
    visual.routing: {"primitive": "clamp", "inputs": ([1.0, 5.0], 0.0, 2.0)},
    visual.taps: {"tapes": TRACE},
    visual.two_tapes: {"loop": LOOP},
    SCENE.save: {"path": "taps.svg"},
    SCENE.png: {},
    SCENE.rendered: {"suffix": ".txt"},
    DERIVATIVE.verify: {"trace": lab.trace(DERIVATIVE, {X0: 0.5}), "mode": "NOT_A_MODE"},
    check.compare: {"found": 1.0, "expected": 1.0, "tolerance": 1e-6},
    check.finite_differences: {"function": lambda at: float(np.sum(at)), "at": 0.5},
    check.gradient: {"cost": COST, "wrt": X0, "found": DERIVATIVE.value, "given": {X0: 0.5}},
    compared: {},
    **{getattr(visual, name): {"trace": TRACE} for name in OF_TRACES},
    visual.influence: {"derivative": LOOP.derivative()},
}
# Public names without a call in `CALLS`: records that functions return, functions for steps,
# functions without arguments, and modules.
NOT_CALLED = {
    *("BROKEN", "Derivative", "LabError", "gallery", "check", "eager"),
    *("structural", "our_pullback", "until", "Scene", "backends", "widgets"),
}
# Words that messages use instead of the name of an argument.
OTHERWISE = {
    lab.Loop: ("name",),
    lab.Loop.from_text: ("step", "name", "state", "sequence", "parameter"),
    lab.Loop.with_values: ("state",),
    lab.Sequence: ("taps",),
    lab.State: ("taps",),
    lab.canonical: ("pytensor.scan raised an error",),
    lab.first: ("given",),
    visual.Page: ("machine", "cost"),
    visual.Exercises.of: ("kind",),
    visual.Workbench: ("link",),
    visual.routing: ("tangent",),
    **dict.fromkeys((structural.jvp, structural.vjp), ("clamp",)),
}


class UnnamedError(Exception):
    """The error for a message that names no argument of the called function."""


def parameters(function):
    """Return the names of all arguments of a function, also of the optional arguments."""
    signature = inspect.signature(function).parameters.values()
    names = [p.name for p in signature if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return [name for name in names if name not in ("self", "argument")]


def call_of(function, arguments):
    """Call a function; if it raises an error, check that the message names an argument."""
    try:
        function(**arguments)
    except check.WrongGradientError:  # the tolerance is below the rounding error
        raise
    except lab.LabError as error:
        names = (*parameters(function), *OTHERWISE.get(function, ()))
        if not any(name in str(error) for name in names):
            raise UnnamedError(str(error)) from error
        raise


def calls(chance):
    """Yield random calls with one or two odd arguments, and descriptions of the calls."""
    while True:
        function = chance.choice(list(CALLS))
        names = parameters(function)
        odd = {
            name: chance.randrange(len(ODD)) for name in chance.sample(names, min(2, len(names)))
        }
        if chance.random() < 0.7:
            odd.popitem()
        arguments = {**CALLS[function], **{name: ODD[number] for name, number in odd.items()}}
        yield partial(call_of, function, arguments), (getattr(function, "__qualname__", ""), odd)
