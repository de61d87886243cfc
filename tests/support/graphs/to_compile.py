"""Graphs to rewrite, as users write them with `pytensor.scan`.

Every function returns the outputs; `GIVEN` has the names of the inputs.
"""

import numpy as np
import pytensor.tensor as pt
from pytensor.scan.utils import until

from graphs import scan

GIVEN = {
    "x0": 0.95,
    "y0": 1.5,
    "n": 5,
    "w": 0.5,
    "u": np.linspace(0.1, 0.6, 6),
    "returns": np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.2]),
    "theta": np.array([0.1, 0.2, 0.6]),
}


def square(n=5, name="scan_fn"):
    x0 = pt.dscalar("x0")
    return scan(lambda x: x**2, outputs_info=[x0], n_steps=n, name=name)


def last():
    return [square()[-1]]


def whole():
    return [square()]


def summed():
    return [square().sum()]


def last_two():
    return [square(pt.lscalar("n"))[-2:]]


def third_of_ten():
    return [square(10)[2]]


def only_its_shape():
    return [square(10).shape[0]]


def same_twice():
    x0, n = pt.dscalar("x0"), pt.lscalar("n")
    start = {"outputs_info": [x0], "n_steps": n, "name": "twin"}
    first, second = (scan(lambda x: x**2, **start)[-1] for _ in range(2))
    return [first + 2 * second]


def two_loops():
    x0, y0, w, n = pt.dscalar("x0"), pt.dscalar("y0"), pt.dscalar("w"), pt.lscalar("n")
    first = scan(lambda x: x**2, outputs_info=[x0], n_steps=n, name="squares")
    second = scan(lambda y: y * w, outputs_info=[y0], n_steps=n, name="products")
    return [first[-1] + second[-1]]


def a_map():
    u, w = pt.dvector("u"), pt.dscalar("w")
    return [scan(lambda v: v**2 * w, sequences=[u]).sum()]


def constant_inside():
    x0, w = pt.dscalar("x0"), pt.dscalar("w")
    return [scan(lambda x: x * pt.exp(w), outputs_info=[x0], n_steps=5)[-1]]


def with_output():
    u, x0 = pt.dvector("u"), pt.dscalar("x0")
    xs, ys = scan(lambda v, x: (x * v, x**2), sequences=[u], outputs_info=[x0, None])
    return [xs[-1] + ys[-1]]


def hidden_state():
    """Return a loop whose second state is not used outside the loop."""
    x0, y0 = pt.dscalar("x0"), pt.dscalar("y0")
    xs, _ = scan(lambda x, y: (x * y, x + y), outputs_info=[x0, y0], n_steps=5)
    return [xs[-1]]


def stops():
    x0 = pt.dscalar("x0")
    return [scan(lambda x: (x / 2, until(x < 0.1)), outputs_info=[x0], n_steps=9)[-1]]


def unnamed():
    """Return a loop without names."""
    x = pt.dscalar()
    return [scan(lambda v: v * 2, outputs_info=[x], n_steps=3)[-1]]
