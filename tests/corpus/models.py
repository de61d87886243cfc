"""A recurrent network, a state space, and iterations of numerical mathematics."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from graphs import graph, scan

W = np.random.default_rng(4).normal(size=(3, 3)) / 2
MATRICES = np.linspace(-0.8, 0.9, 12).reshape(3, 2, 2)


@graph("scale", h0=[0.5, -0.3, 0.8], scale=[0.1, 0.4, 0.2, 0.3])
def residual(h0, scale):
    hs = scan(
        lambda scale, h: h + scale * pt.maximum(h @ W, 0.0), sequences=[scale], outputs_info=[h0]
    )
    return (hs[-1] ** 2).sum()


RETURNS = np.sin(np.arange(6.0)) / 2
ZERO, ONE = (pt.constant(number, dtype="float64") for number in (0.0, 1.0))


def normal(value, mean, scale):
    return -(((value - mean) / scale) ** 2) / 2 - pt.log(scale)


@graph("q", q=0.2, r=0.5)
def kalman(q, r):
    def step(y, mean, variance, q, r):
        ahead = variance + q
        gain = ahead / (ahead + r)
        return mean + gain * (y - mean), (1 - gain) * ahead, normal(y, mean, pt.sqrt(ahead + r))

    start = {"outputs_info": [ZERO, ONE, None], "non_sequences": [q, r]}
    *_, log_densities = scan(step, sequences=[pt.constant(RETURNS)], **start)
    return log_densities.sum()


@graph("drift", drift=0.1)
def noise(drift):
    """Return a random walk with a generator as a state."""
    rng = pytensor.shared(np.random.default_rng(3), name="rng")

    def step(x, rng, drift):
        rng, draw = pt.random.normal(rng=rng, return_next_rng=True)
        return 0.9 * x + drift + draw, rng

    xs, _ = scan(step, outputs_info=[ZERO, rng], non_sequences=[drift], n_steps=4)
    return (xs**2).sum()


@graph("m", m=MATRICES, u=np.linspace(0.4, 1.3, 6))
def matrices_with_gaps(m, u):
    """Return a loop over 2 × 2 matrices with the taps −3 and −1, and a sequence with −1 and 1."""
    ms = scan(
        lambda before, after, oldest, newest: pt.sin(oldest @ newest.T) * before + after,
        sequences=[{"input": u, "taps": [-1, 1]}],
        outputs_info=[{"initial": m, "taps": [-3, -1]}],
    )
    return (ms[-1] * MATRICES[0]).sum()


@graph("a", p=np.array([0.4, -0.3]), a=0.7)
def linear_algebra(p, a):
    """Return a loop whose step contains a linear system, a determinant, and an inverse."""

    def step(p, a):
        matrix = pt.stack([pt.stack([2 + a, p[0]]), pt.stack([0.3 * a, 1.5 + p[1] ** 2])])
        return pt.linalg.solve(matrix, p) * pt.linalg.det(matrix) + pt.linalg.inv(matrix)[0]

    return scan(step, outputs_info=[p], non_sequences=[a], n_steps=2).sum()
