"""Graphs like the examples in PyTensor's documentation of Scan, loops, and gradients."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from graphs import graph, scan
from pytensor.scan import views
from pytensor.scan.basic import scan as with_updates
from pytensor.scan.utils import until

ONE = pt.constant(1.0, dtype="float64")
LINE = np.array([0.4, -0.7, 1.1])


@graph("x", coefficients=[1.0, 0.0, 2.0, -0.5], x=1.2)
def polynomial(coefficients, x):
    """Return a loop over two sequences, without a state."""
    sequences = [coefficients, pt.arange(100)]
    terms = scan(lambda c, power, x: c * x**power, sequences=sequences, non_sequences=[x])
    return terms.sum()


@graph("u", u=np.linspace(-0.5, 0.9, 6), x=[0.3, 0.6])
def sequence_taps(u, x):
    """Return a loop that reads three entries of a sequence and two earlier values."""
    values = scan(
        lambda before, now, after, two, one: pt.tanh(before + 0.5 * after * two) + now * one,
        sequences=[{"input": u, "taps": [-1, 0, 1]}],
        outputs_info=[{"initial": x, "taps": [-2, -1]}],
    )
    return values[-1]


@graph("x", x=0.7, limit=9.0)
def double_until(x, limit):
    """Return a loop that doubles its state until the state exceeds a limit."""

    def step(x, limit):
        return x * 2, until(x * 2 > limit)

    return scan(step, outputs_info=[x], non_sequences=[limit], n_steps=50)[-1]


@graph("x", x=LINE)
def jacobian(x):
    """Return a loop whose step computes a gradient, a row of a Jacobian."""
    y = x**2 * x[::-1]
    rows = scan(lambda i, y, x: pt.grad(y[i], x), sequences=[pt.arange(3)], non_sequences=[y, x])
    return (rows**2).sum()


@graph("x", x=LINE)
def folded(x):
    return views.foldr(lambda x, value: x + 1 / (1 + value**2), [x], ONE)[0]


@graph("x", x=0.5)
def a_shared_counter(x):
    """Return a loop whose steps update a shared variable."""
    count = pytensor.shared(1.0, name="count")
    products, _ = with_updates(
        lambda x: (x * count, {count: count + 1.0}), sequences=[pt.stack([x] * 3)]
    )
    return products.sum()
