"""Graphs for tests of rewrites, as users write them with `pytensor.scan`.

`GRAPHS` contains a function of inputs for each graph; `GIVEN` contains the values of the inputs.
"""

from inspect import signature

import numpy as np
import pytensor.tensor as pt
from pytensor.scan.utils import until

from graphs import scan, variable

GIVEN = {"x0": 0.95, "y0": 1.5, "n": 5, "w": 0.5, "u": np.linspace(0.1, 0.6, 6)}


def square(x0, n=5, name="scan_fn"):
    return scan(lambda x: x**2, outputs_info=[x0], n_steps=n, name=name)


def two_loops(x0, y0, w, n):
    first = square(x0, n, "squares")
    second = scan(lambda y: y * w, outputs_info=[y0], n_steps=n, name="products")
    return first[-1] + second[-1]


def with_output(u, x0):
    xs, ys = scan(lambda v, x: (x * v, x**2), sequences=[u], outputs_info=[x0, None])
    return xs[-1] + ys[-1]


def hidden_state(x0, y0):
    """Return a loop whose second state is not used outside the loop."""
    return scan(lambda x, y: (x * y, x + y), outputs_info=[x0, y0], n_steps=5)[0][-1]


def stops(x0):
    return scan(lambda x: (x / 2, until(x < 0.1)), outputs_info=[x0], n_steps=9)[-1]


GRAPHS = {
    "last": lambda x0: square(x0)[-1],
    "whole": lambda x0: square(x0),
    "last_two": lambda x0, n: square(x0, n)[-2:],
    "third_of_ten": lambda x0: square(x0, 10)[2],
    "only_its_shape": lambda x0: square(x0, 10).shape[0],
    "same_twice": lambda x0, n: square(x0, n, "twin")[-1] + 2 * square(x0, n, "twin")[-1],
    "two_loops": two_loops,
    "a_map": lambda u, w: scan(lambda v: v**2 * w, sequences=[u]).sum(),
    "constant_inside": lambda x0, w: scan(lambda x: x * pt.exp(w), outputs_info=x0, n_steps=5)[-1],
    "with_output": with_output,
    "hidden_state": hidden_state,
    "stops": stops,
    "unnamed": lambda: scan(lambda v: v * 2, outputs_info=[pt.dscalar()], n_steps=3)[-1],
}


def output_of(name):
    """Build a graph of inputs with the types of `GIVEN`, and return its output."""
    build = GRAPHS[name]
    return build(**{name: variable(name, GIVEN[name]) for name in signature(build).parameters})
