"""Graphs with nested Scans, batches of Scans, Scans in other operations, and Scans in sequence."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from graphs import graph, ifelse, scan
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.replace import vectorize_graph

LINE = np.array([0.4, -0.7, 1.1])
LINES = [LINE, 2 * LINE]


def last(step, start, n_steps=3, *parameters):
    """Return the last value of a loop."""
    return scan(step, outputs_info=[start], non_sequences=parameters, n_steps=n_steps)[-1]


def squares(x, n_steps=3):
    return last(lambda x: x**2, x, n_steps)


def roots(x, a):
    return last(lambda x, a: (x + a / x) / 2, x, 2, a)


@graph("a", a=2.0, x=1.5)
def a_loop_in_a_step(a, x):
    return last(lambda x, a: 1 + roots(x, a), x, 3, a)


@graph("xs", xs=LINE)
def a_batch(xs):
    x = pt.dscalar("x")
    return vectorize_graph(squares(x), {x: xs}).sum()


@graph("weights", xs=LINES, weights=LINE)
def a_batch_of_two_axes(xs, weights):
    x, a = pt.dscalar("x"), pt.dscalar("a")
    y = last(lambda y, a: pt.tanh(a * y) + 0.1, x, 3, a)
    return vectorize_graph(y, {x: xs, a: weights}).sum()


@graph("w", x=[LINE, 1 - LINE], w=LINE, start=0.4)
def rows_with_weights(x, w, start):
    """Return a loop over the rows of a matrix, with a loop over the entries of each row."""

    def row(row, s, w):
        sums = scan(lambda v, k, s: s * k + pt.sin(v), sequences=[row, w], outputs_info=[s])
        return sums[-1], sums.sum()

    last, sums = scan(row, sequences=[x], outputs_info=[start, None], non_sequences=[w])
    return last[-1] + sums.sum()


@graph("x", x=0.9)
def cost_with_a_gradient(x):
    """Return a cost that contains a gradient, for example a penalty on slopes."""
    cost = squares(x)
    return cost + pt.grad(cost, x) ** 2


@graph("x", x=0.9)
def one_step(x):
    """Return a loop with one step as a constant number of steps; PyTensor builds no Scan."""
    return squares(x, n_steps=1)


@graph("x", x=0.9, k=0)
def no_step(x, k):
    return scan(lambda x: x**2, outputs_info=[x], n_steps=k).sum()


@graph("other", x=0.9, other=0.3)
def independent_cost(x, other):
    """Return a cost whose derivative with respect to the variable is zero."""
    return squares(x) + 0.0 * pt.floor(other)


@graph("n", n=2)
def integer_state(n):
    return last(lambda x: x + 1, n) * 1.0


@graph("angle", angle=0.4)
def complex_state(angle):
    turn = pt.complex(pt.cos(angle), pt.sin(angle))
    return pt.real(last(lambda z, turn: z * turn, pt.constant(1.0 + 0.0j), 3, turn))


@graph("x", x=LINE)
def sorted_state(x):
    """Return a loop whose step sorts its state."""
    return (last(lambda x: pt.sort(x) * 0.9, x) * LINE).sum()


@graph("x", x=0.5)
def random_walk(x):
    """Return a loop whose steps draw from the same generator, without updates."""
    rng = pytensor.shared(np.random.default_rng(3), name="rng")
    draw = lambda x: x + pt.random.normal(rng=rng, return_next_rng=True)[1]  # noqa: E731
    return (scan(draw, outputs_info=[x], n_steps=3) ** 2).sum()


@graph("x", x=0.8, u=np.full(3, 0.5))
def scan_in_operations(x, u):
    """Return a loop that starts at a Scan inside two operations; PyTensor omits a contribution."""
    a, v = pt.dscalar("a"), pt.dvector("v")
    inner = scan(lambda _, b: b * b, sequences=[v], outputs_info=[a])
    hidden = OpFromGraph([a, v], [inner.owner.inputs[0].sum() * a])
    outer = OpFromGraph([a, v], [hidden(a, v) + 0.1])
    return squares(outer(x, u), n_steps=2)


@graph("x", x=0.9)
def in_the_selected_branch(x):
    return ifelse(x > 0, squares(x), roots(x, x)) * 2


@graph("x", x=0.9)
def in_the_other_branch(x):
    return ifelse(x < 0, squares(x), roots(x, 2 * x))


@graph("x", x=0.4, flag=np.int8(1))
def operations_in_a_step(x, flag):
    """Return a loop with an IfElse, an OpFromGraph, and a shared variable in its step."""
    a = pt.dscalar("a")
    twice = OpFromGraph([a], [a * a * 2 + 1])
    weight = pytensor.shared(0.7, name="weight")
    return last(lambda x, w: twice(ifelse(flag, pt.sin(x) * w, x + 1)), x, 3, weight) * weight


@graph("x", x=0.6)
def a_result_returned_twice(x):
    xs, ys = scan(lambda x, y: [pt.sin(x * y)] * 2, outputs_info=[x, x * 2], n_steps=3)
    return xs[-1] + 3 * ys[-1] * ys[0]


@graph("rows", rows=LINES, x=0.5)
def a_batch_of_sequences(rows, x):
    """Return a batch of loops that read two earlier values of their state."""
    u = pt.dvector("u")
    xs = scan(
        lambda u, before, x: pt.tanh(0.8 * x) + u * before,
        sequences=[u],
        outputs_info=[{"initial": pt.stack([x, x]), "taps": [-2, -1]}],
    )
    return vectorize_graph(xs[-1], {u: rows}).sum()


@graph("xs", xs=LINE)
def a_batch_of_gradients(xs):
    x = pt.dscalar("x")
    slope = pytensor.grad(squares(pt.sin(x)), x)
    return vectorize_graph(slope, {x: xs}).sum()
