"""Tapes, and loops with long, hostile, and Unicode names, odd numbers, and many states.

Derivatives of these loops and of the gallery are built once and run once.
"""

from functools import cache

import numpy as np
import pytensor.tensor as pt

import lab
from lab.equations.quantities import Quantities
from lab.loops import gallery
from lab.scans.replacing import scan_nodes
from lab.tape import Tape

LONG = "a_name_of_fifty_characters_which_nobody_should_use"
HOSTILE = "<script>alert('&\"')</script>"


def loop_of(name, start, step=lambda v: v * 0.5, **options):
    return lab.Loop(
        lambda **values: step(values[name]),
        states=(lab.State(name, start),),
        n_steps=options.pop("n_steps", 3),
        **options,
    )


LOOPS = {
    "long name": lab.Loop.from_text(
        f"{LONG} = r_{LONG}*{LONG}", {LONG: 0.123456789}, {}, {f"r_{LONG}": 0.5}, n_steps=3
    ),
    "hostile name": loop_of(HOSTILE, 1.0),
    "unicode name": loop_of("Ωμέγα_θ̂", -1.0),
    "latex name": loop_of(r"\alpha_{t}", -1.0),
    "nan": loop_of("x", float("nan")),
    "inf": loop_of("x", float("inf")),
    "tiny": loop_of("x", 1e-300),
    "huge": loop_of("x", -1.23456e300),
    "one step": loop_of("x", 0.5, n_steps=1),
    "a thousand steps": loop_of("x", 0.5, lambda v: pt.sin(v), n_steps=1_000),
    "five states": lab.Loop.from_text(
        "p = p*0.9 + 0.1*q; q = q*0.9 + 0.1*r; r = r*0.9 + 0.1*s; s = s*0.9 + 0.1*v;"
        "v = v*0.9 + 0.1*p",
        states={"p": 0.0, "q": 0.1, "r": 0.2, "s": 0.3, "v": 0.4},
        n_steps=3,
    ),
    "branches": loop_of("x", 0.1, lambda v: 0.5 * v + pt.switch(v > 0.2, 3 * v, v**2)),
    "no rows": loop_of("M", np.zeros((0, 3))),
    "matrix": loop_of("M", np.arange(12.0).reshape(3, 4), pt.tanh),
    "wide vector": loop_of("v", np.linspace(-1, 1, 100), pt.tanh),
    "float32": loop_of("x", np.float32(0.1), lambda v: v * np.float32(0.5)),
    "integers": lab.Loop(
        lambda k, x, b: (k * 7, x * k + pt.switch(b, 1.0, 2.0)),
        states=(lab.State("k", np.int64(123456)), lab.State("x", 1.0)),
        sequences=(lab.Sequence("b", np.array([True, False, True])),),
    ),
}
ONLY_SEQUENCES = lab.Loop(
    lambda u: 2 * sum(u),
    sequences=(lab.Sequence("u", [1.0, 2.0, 3.0], taps=(0, 1)),),
    outputs=("y",),
)
WRT = {"integers": {"wrt": "x", "of": "x"}}
TAPES = {
    "one": Tape((-1,), (0,)),
    "two": Tape((-2, -1), (0,)),
    "gap": Tape((-3, -1), (0,)),
    "unsorted": Tape((-1, -3), (0,)),
    "delay": Tape((-2,), (0,)),
    "sequence": Tape((0,), ()),
    "window": Tape((-1, 0, 1), ()),
    "output": Tape((), (0,)),
    "by hand": Tape((0, 1), (1,)),
    "unread": Tape((0,), (1,)),
    "far": Tape((-1000, -1), (0,)),
}


@cache
def trace_of(name, order=1):
    """Return the frozen trace of a loop; run it once only."""
    return {**gallery.loops, **LOOPS}[name].trace(order=order, **WRT.get(name, {}))


@cache
def derivations_of(name, order):
    """Return the derivations of all Scans of a derivative, in their execution order."""
    loop = {**gallery.loops, **LOOPS}[name]
    nodes = scan_nodes(list(loop.derivative(order, **WRT.get(name, {})).values))
    derivations = [getattr(node.op, "derivation", None) for node in nodes]
    return tuple(derivation for derivation in derivations if derivation is not None)


def formulas_at(trace, scan, step):
    """Yield each formula of a step of Scan number `scan`, and its equation in numbers."""
    named = Quantities(trace, scan)
    for formula in trace.scans[scan].formulas:
        yield named.formula_at(formula, step), named.numbers(formula, step)
