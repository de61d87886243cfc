"""Time series and state spaces, as examples of PyMC write them, by their log-likelihoods."""

import numpy as np
import pytensor.tensor as pt
from graphs import scan

RETURNS = np.sin(np.arange(6.0)) / 2
ONE = pt.constant(1.0, dtype="float64")
ZERO = pt.constant(0.0, dtype="float64")


def normal(value, mean, scale):
    return -(((value - mean) / scale) ** 2) / 2 - pt.log(scale)


def arma():
    """Two earlier observations and an earlier error: taps of a sequence and a state."""
    phi, theta = pt.dvector("phi"), pt.dscalar("theta")
    errors = scan(
        lambda before, one, now, e, phi, theta: now - phi[0] * one - phi[1] * before - theta * e,
        sequences=[{"input": pt.constant(RETURNS), "taps": [-2, -1, 0]}],
        outputs_info=[ZERO],
        non_sequences=[phi, theta],
    )
    return -(errors**2).sum(), phi, {phi: [0.5, 0.1], theta: 0.4}


def stochastic_volatility():
    noise, phi = pt.dvector("noise"), pt.dscalar("phi")
    logs = scan(
        lambda e, h, phi: phi * h + 0.3 * e,
        sequences=[noise],
        outputs_info=[ZERO],
        non_sequences=[phi],
    )
    return normal(RETURNS, 0.0, pt.exp(logs / 2)).sum(), noise, {noise: RETURNS[::-1], phi: 0.9}


def seasons():
    """A season of four: the value four steps earlier."""
    gamma, start = pt.dscalar("gamma"), pt.dvector("start")
    made = scan(
        lambda y, four, gamma: gamma * y + (1 - gamma) * four,
        sequences=[pt.constant(RETURNS)],
        outputs_info=[{"initial": start, "taps": [-4]}],
        non_sequences=[gamma],
    )
    return (made**2).sum(), gamma, {gamma: 0.3, start: [0.1, 0.2, 0.3, 0.4]}


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


def lotka_volterra():
    rates, start = pt.dvector("rates"), pt.dvector("start")

    def step(x, rates):
        hares, lynx = x[0], x[1]
        eaten = rates[1] * hares * lynx
        return x + 0.1 * pt.stack([rates[0] * hares - eaten, 0.5 * eaten - rates[2] * lynx])

    xs = scan(step, outputs_info=[start], non_sequences=[rates], n_steps=6)
    return pt.log(xs).sum(), rates, {rates: [0.9, 0.4, 0.3], start: [1.0, 0.5]}


def stick_breaking():
    parts = pt.dvector("parts")
    left, weights = scan(
        lambda b, left: (left * (1 - b), left * b),
        sequences=[parts],
        outputs_info=[ONE, None],
    )
    return (weights**2).sum() + left[-1], parts, {parts: [0.3, 0.5, 0.2]}
