"""Iterations of numerical mathematics: roots, fixed points, differential equations, optimizers."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from graphs import scan

A = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]])


def newton_root():
    a, x = pt.dscalar("a"), pt.dscalar("x")
    xs = scan(lambda x, a: (x + a / x) / 2, outputs_info=[x], non_sequences=[a], n_steps=5)
    return xs[-1], a, {a: 2.0, x: 1.5}


def runge_kutta():
    rate, y = pt.dscalar("rate"), pt.dvector("y")

    def slope(y, rate):
        return pt.stack([y[1], -pt.sin(y[0]) - rate * y[1]])

    def step(y, rate):
        a = slope(y, rate)
        b = slope(y + 0.05 * a, rate)
        c = slope(y + 0.05 * b, rate)
        d = slope(y + 0.1 * c, rate)
        return y + 0.1 / 6 * (a + 2 * b + 2 * c + d)

    ys = scan(step, outputs_info=[y], non_sequences=[rate], n_steps=4)
    return ys[-1].sum(), rate, {rate: 0.3, y: [0.7, 0.0]}


def gradient_in_a_step():
    """Gradient descent with PyTensor's gradient in the step: learning to learn."""
    rate, x = pt.dscalar("rate"), pt.dvector("x")
    xs = scan(
        lambda x, rate: x - rate * pt.grad((pt.cos(x) * x).sum(), x),
        outputs_info=[x],
        non_sequences=[rate],
        n_steps=4,
    )
    return (xs[-1] ** 2).sum(), rate, {rate: 0.1, x: [1.0, -0.5]}


def cumulated_in_single_precision():
    u = pt.fvector("u")
    sums = scan(
        lambda u, s: s + pt.sin(u),
        sequences=[u],
        outputs_info=[pt.constant(0.0, dtype="float32")],
    )
    return (sums**2).sum(), u, {u: np.array([0.3, 0.6, -0.2], "float32")}


def noise():
    """A random walk that passes its generator on, for its derivative wrt the drift."""
    drift, rng = pt.dscalar("drift"), pytensor.shared(np.random.default_rng(3), name="rng")

    def step(x, rng, drift):
        rng, draw = pt.random.normal(rng=rng, return_next_rng=True)
        return 0.9 * x + drift + draw, rng

    xs, _ = scan(
        step,
        outputs_info=[pt.constant(0.0, dtype="float64"), rng],
        non_sequences=[drift],
        n_steps=4,
    )
    return (xs**2).sum(), drift, {drift: 0.1}
