"""Graphs like the examples in PyTensor's documentation of Scan, loops, and gradients."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from graphs import scan
from pytensor.scan import views
from pytensor.scan.basic import scan as with_updates
from pytensor.scan.utils import until

ONE = pt.constant(1.0, dtype="float64")
LINE = np.array([0.4, -0.7, 1.1])


def power_of_unknown_steps():
    base, k = pt.dscalar("base"), pt.lscalar("k")
    made = scan(lambda p, base: p * base, outputs_info=[ONE], non_sequences=[base], n_steps=k)
    return made[-1], base, {base: 1.3, k: 4}


def polynomial():
    """Return a loop over two sequences, without a state."""
    coefficients, x = pt.dvector("coefficients"), pt.dscalar("x")
    sequences = [coefficients, pt.arange(100)]
    terms = scan(lambda c, power, x: c * x**power, sequences=sequences, non_sequences=[x])
    return terms.sum(), x, {coefficients: [1.0, 0.0, 2.0, -0.5], x: 1.2}


def horner():
    coefficients, x = pt.dvector("coefficients"), pt.dscalar("x")
    start = {"outputs_info": [pt.zeros_like(x)], "non_sequences": [x], "go_backwards": True}
    made = scan(lambda c, value, x: value * x + c, sequences=[coefficients], **start)
    return made[-1], x, {coefficients: [1.0, 0.0, 2.0, -0.5], x: 1.2}


def sequence_taps():
    """Return a loop that reads three entries of a sequence and two earlier values."""
    u, x = pt.dvector("u"), pt.dvector("x")
    made = scan(
        lambda before, now, after, two, one: pt.tanh(before + 0.5 * after * two) + now * one,
        sequences=[{"input": u, "taps": [-1, 0, 1]}],
        outputs_info=[{"initial": x, "taps": [-2, -1]}],
    )
    return made[-1], u, {u: np.linspace(-0.5, 0.9, 6), x: [0.3, 0.6]}


def double_until():
    """Return a loop that doubles its state until the state exceeds a limit."""
    x, limit = pt.dscalar("x"), pt.dscalar("limit")

    def step(x, limit):
        return x * 2, until(x * 2 > limit)

    made = scan(step, outputs_info=[x], non_sequences=[limit], n_steps=50)
    return made[-1], x, {x: 0.7, limit: 9.0}


def jacobian():
    """Return a loop whose step computes a gradient, a row of a Jacobian."""
    x = pt.dvector("x")
    y = x**2 * x[::-1]
    rows = scan(lambda i, y, x: pt.grad(y[i], x), sequences=[pt.arange(3)], non_sequences=[y, x])
    return (rows**2).sum(), x, {x: LINE}


def folded():
    x = pt.dvector("x")
    made, _ = views.foldr(lambda x, value: x + 1 / (1 + value**2), [x], ONE)
    return made, x, {x: LINE}


def a_shared_counter():
    """Return a loop whose steps update a shared variable."""
    count, x = pytensor.shared(1.0, name="count"), pt.dscalar("x")
    made, _ = with_updates(
        lambda x: (x * count, {count: count + 1.0}), sequences=[pt.stack([x] * 3)]
    )
    return made.sum(), x, {x: 0.5}
