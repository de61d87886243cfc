"""Time series and state spaces, as examples of PyMC write them, by their log-likelihoods."""

import numpy as np
import pytensor.tensor as pt
from graphs import scan

RETURNS = np.sin(np.arange(6.0)) / 2
ONE = pt.constant(1.0, dtype="float64")
ZERO = pt.constant(0.0, dtype="float64")


def normal(value, mean, scale):
    return -(((value - mean) / scale) ** 2) / 2 - pt.log(scale)


def kalman():
    q, r = pt.dscalar("q"), pt.dscalar("r")

    def step(y, mean, variance, q, r):
        ahead = variance + q
        gain = ahead / (ahead + r)
        return mean + gain * (y - mean), (1 - gain) * ahead, normal(y, mean, pt.sqrt(ahead + r))

    *_, told = scan(
        step,
        sequences=[pt.constant(RETURNS)],
        outputs_info=[ZERO, ONE, None],
        non_sequences=[q, r],
    )
    return told.sum(), q, {q: 0.2, r: 0.5}


def kalman_of_two():
    """A position and a speed, and their covariance."""
    q = pt.dscalar("q")
    move, see = pt.constant([[1.0, 1.0], [0.0, 1.0]]), pt.constant([1.0, 0.0])

    def step(y, m, p, q):
        m, p = move @ m, move @ p @ move.T + q * np.eye(2)
        s = see @ p @ see + 0.5
        k = p @ see / s
        return m + k * (y - see @ m), p - pt.outer(k, see) @ p, normal(y, see @ m, pt.sqrt(s))

    *_, told = scan(
        step,
        sequences=[pt.constant(RETURNS)],
        outputs_info=[pt.zeros(2), pt.constant(np.eye(2)), None],
        non_sequences=[q],
    )
    return told.sum(), q, {q: 0.2}


def hidden_markov():
    p, mu = pt.dmatrix("P"), pt.dvector("mu")
    emitted = normal(RETURNS[:, None], mu[None], 1.0)
    forward = scan(
        lambda e, a, p: pt.logsumexp(a[:, None] + pt.log(p), axis=0) + e,
        sequences=[emitted[1:]],
        outputs_info=[emitted[0]],
        non_sequences=[p],
    )
    return pt.logsumexp(forward[-1]), mu, {p: [[0.9, 0.1], [0.2, 0.8]], mu: [-0.5, 0.5]}
