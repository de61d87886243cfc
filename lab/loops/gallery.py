"""A loop for every kind of tape; the `reason` of a loop states its purpose.

>>> gallery.loops["square"].trace(order=2)
"""

from dataclasses import replace
from functools import reduce
from operator import mul

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.scan.utils import until
from pytensor.tensor.variable import TensorVariable

from lab.errors import Registry
from lab.loops.loop import Loop
from lab.loops.variables import Parameter, RandomState, Sequence, State


def _square(x: TensorVariable | list[TensorVariable]) -> TensorVariable:
    """Return the square of a single value, or the product of several values."""
    return reduce(mul, x) if isinstance(x, list) else x**2


def _predator(
    prey: TensorVariable, hunters: TensorVariable, birth: TensorVariable
) -> tuple[TensorVariable, TensorVariable]:
    caught = prey * hunters
    return prey + 0.1 * (birth * prey - caught), hunters + 0.1 * (caught - hunters)


def _extra(x: TensorVariable, w: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
    x = pt.exp(w * x)
    return x, x**3


def _newton(x: TensorVariable, a: TensorVariable) -> tuple[TensorVariable, until]:
    better = (x + a / x) / 2
    return better, until(abs(better - x) < 1e-3)


def _walk(x: TensorVariable, rng: Variable) -> tuple[TensorVariable, Variable]:
    next_rng, draw = pt.random.normal(0, 1, rng=rng, return_next_rng=True)
    return x * 0.9 + draw, next_rng


def _gallery() -> dict[str, Loop]:
    weights = np.array([[0.5, -0.3, 0.2], [0.1, 0.4, -0.6], [-0.2, 0.7, 0.3]])
    signals = np.array([[1.0, 0.5], [0.0, -1.0], [0.3, 0.2], [-0.7, 0.9]])
    return {
        "square": Loop(
            _square,
            states=(State("x", 0.95),),
            n_steps=4,
            reason="x squared four times, which is x**16. With several taps, the step multiplies "
            "the values at the taps.",
        ),
        "sequence": Loop(
            lambda z, y: 2 * y * z,
            states=(State("z", 1.0, takes=1),),
            sequences=(Sequence("y", [0.6634204312890625, 0.81450625, 0.9025, 0.95], takes=1),),
            reason="z times 2y: the gradient of the square loop as a loop that reads a sequence.",
        ),
        "fibonacci": Loop(
            lambda x: x[0] + x[1],
            states=(State("x", [1.0, 1.0], taps=(-2, -1), takes=2),),
            n_steps=6,
            reason="the sum of the last two values: the smallest mit-sot.",
        ),
        "gap": Loop(
            lambda x: pt.sin(x[0]) + x[1] * x[0],
            states=(State("x", [0.3, 0.6, 0.9], taps=(-3, -1), takes=2),),
            n_steps=5,
            reason="taps -3 and -1, with an unread slot between them.",
        ),
        "coupled": Loop(
            _predator,
            states=(State("prey", 1.5, takes=1), State("hunters", 0.8, takes=1)),
            parameters=(Parameter("birth", 1.1),),
            n_steps=3,
            reason="prey and hunters: two states that read each other, two tapes in one Scan.",
        ),
        "logistic": Loop(
            lambda x, r: r * x * (1 - x),
            states=(State("x", 0.2, takes=1),),
            parameters=(Parameter("r", 3.7),),
            n_steps=6,
            reason="the logistic map: a parameter whose gradient is summed over all steps.",
        ),
        "rnn": Loop(
            lambda h, x, W, U: pt.tanh(W @ h + U @ x),  # noqa: N803 (matrices)
            states=(State("h", np.array([0.1, -0.2, 0.3]), takes=1),),
            sequences=(Sequence("x", signals, takes=1),),
            parameters=(Parameter("W", weights), Parameter("U", weights[:, :2])),
            reason="a recurrent network: a vector state, matrix parameters, and tanh, whose value "
            "the gradient reuses.",
        ),
        "window": Loop(
            lambda x, u: x + u[1] * (u[0] + u[2]),
            states=(State("x", 0.0, takes=1),),
            sequences=(Sequence("u", [0.5, 1.0, 1.5, 2.0, 2.5, 3.0], taps=(-1, 0, 1), takes=3),),
            reason="taps -1, 0, and 1 of a sequence: every step reads a window of it.",
        ),
        "extra": Loop(
            _extra,
            states=(State("x", 0.2, takes=1),),
            parameters=(Parameter("w", 0.5),),
            outputs=("cube",),
            n_steps=4,
            reason="an output that no later step reads: a nit-sot, without a tape.",
        ),
        "newton": Loop(
            _newton,
            states=(State("x", 3.0, takes=1),),
            parameters=(Parameter("a", 2.0),),
            n_steps=20,
            reason="Newton's square root until a step changes it by less than 0.001: a loop with a "
            "stop condition.",
        ),
        "walk": Loop(
            _walk,
            states=(State("x", 1.0, takes=1),),
            random=(RandomState("rng", 1),),
            n_steps=5,
            reason="a random walk: its generator is an untraced state, without a gradient.",
        ),
        "lookup": Loop(
            lambda x, k, table: x * table[k],
            states=(State("x", 1.0, takes=1),),
            sequences=(Sequence("k", np.array([2, 0, 1, 1]), takes=1),),
            parameters=(Parameter("table", [0.5, 1.5, 2.0]),),
            reason="an integer sequence of indices, without a gradient.",
        ),
        "undefined": Loop(
            lambda x, v: pt.jv(v, x),
            states=(State("x", 1.5, takes=1),),
            sequences=(Sequence("v", [0.5, 1.0, 1.5], takes=1),),
            reason="Bessel functions: defined in x, undefined in their order v.",
        ),
        "delay": Loop(
            lambda x, u: x * u,
            states=(State("x", [0.5, 1.5, 2.5], taps=(-3,), takes=1),),
            sequences=(Sequence("u", [1.0, 2.0, 3.0, 4.0, 5.0], takes=1),),
            reason="a single tap, three steps back: three interleaved loops.",
        ),
    }


loops = Registry(
    "loop",
    {name: replace(loop, name=name) for name, loop in _gallery().items()},
    "the gallery has {}.",
)
