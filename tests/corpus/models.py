"""Recurrent networks, a state space, and iterations of numerical mathematics."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from graphs import scan

RNG = np.random.default_rng(4)
U = RNG.normal(size=(4, 2)) / 2
W = RNG.normal(size=(3, 3)) / 2
V = RNG.normal(size=(2, 3)) / 2
STACK = RNG.normal(size=(4, 3, 3)) / 2
STACK_IN = RNG.normal(size=(4, 2, 3)) / 2


def lstm():
    u, w, into = pt.dmatrix("u"), pt.dtensor3("W"), pt.dtensor3("V")

    def step(u, h, c, w, into):
        keep, take, show = (pt.sigmoid(h @ w[n] + u @ into[n]) for n in range(3))
        c = keep * c + take * pt.tanh(h @ w[3] + u @ into[3])
        return show * pt.tanh(c), c

    start = pt.constant(np.full(3, 0.1))
    hs, _ = scan(step, sequences=[u], outputs_info=[start, start], non_sequences=[w, into])
    return (hs[-1] ** 2).sum(), w, {u: U, w: STACK, into: STACK_IN}


def residual():
    h0, scale = pt.dvector("h0"), pt.dvector("scale")
    hs = scan(
        lambda scale, h: h + scale * pt.maximum(h @ W, 0.0), sequences=[scale], outputs_info=[h0]
    )
    return (hs[-1] ** 2).sum(), scale, {h0: [0.5, -0.3, 0.8], scale: [0.1, 0.4, 0.2, 0.3]}


RETURNS = np.sin(np.arange(6.0)) / 2
ZERO, ONE = (pt.constant(number, dtype="float64") for number in (0.0, 1.0))


def normal(value, mean, scale):
    return -(((value - mean) / scale) ** 2) / 2 - pt.log(scale)


def kalman():
    q, r = pt.dscalar("q"), pt.dscalar("r")

    def step(y, mean, variance, q, r):
        ahead = variance + q
        gain = ahead / (ahead + r)
        return mean + gain * (y - mean), (1 - gain) * ahead, normal(y, mean, pt.sqrt(ahead + r))

    start = {"outputs_info": [ZERO, ONE, None], "non_sequences": [q, r]}
    *_, told = scan(step, sequences=[pt.constant(RETURNS)], **start)
    return told.sum(), q, {q: 0.2, r: 0.5}


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
    """Return a loop of gradient descent, whose step contains PyTensor's gradient."""
    rate, x = pt.dscalar("rate"), pt.dvector("x")

    def step(x, rate):
        return x - rate * pt.grad((pt.cos(x) * x).sum(), x)

    xs = scan(step, outputs_info=[x], non_sequences=[rate], n_steps=4)
    return (xs[-1] ** 2).sum(), rate, {rate: 0.1, x: [1.0, -0.5]}


def noise():
    """Return a random walk with a generator as a state."""
    drift, rng = pt.dscalar("drift"), pytensor.shared(np.random.default_rng(3), name="rng")

    def step(x, rng, drift):
        rng, draw = pt.random.normal(rng=rng, return_next_rng=True)
        return 0.9 * x + drift + draw, rng

    xs, _ = scan(step, outputs_info=[ZERO, rng], non_sequences=[drift], n_steps=4)
    return (xs**2).sum(), drift, {drift: 0.1}


def matrices_with_gaps():
    """Return a loop over 2 × 2 matrices with the taps −3 and −1, and a sequence with −1 and 1."""
    m, u = pt.dtensor3("m"), pt.dvector("u")
    ms = scan(
        lambda before, after, oldest, newest: pt.sin(oldest @ newest.T) * before + after,
        sequences=[{"input": u, "taps": [-1, 1]}],
        outputs_info=[{"initial": m, "taps": [-3, -1]}],
    )
    values = np.linspace(-0.8, 0.9, 12).reshape(3, 2, 2)
    return (ms[-1] * values[0]).sum(), m, {m: values, u: np.linspace(0.4, 1.3, 6)}


def linear_algebra():
    """Return a loop whose step contains a linear system, a determinant, and an inverse."""
    p, a = pt.dvector("p"), pt.dscalar("a")

    def step(p, a):
        matrix = pt.stack([pt.stack([2 + a, p[0]]), pt.stack([0.3 * a, 1.5 + p[1] ** 2])])
        return pt.linalg.solve(matrix, p) * pt.linalg.det(matrix) + pt.linalg.inv(matrix)[0]

    ps = scan(step, outputs_info=[p], non_sequences=[a], n_steps=2)
    return ps.sum(), a, {p: np.array([0.4, -0.3]), a: 0.7}
