"""Recurrent networks, as deep-learning tutorials write them."""

import numpy as np
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


def a_clockwork():
    """States two and three steps back: a network that skips."""
    u, h0 = pt.dmatrix("u"), pt.dmatrix("h0")
    hs = scan(
        lambda u, three, two: pt.tanh(three @ W + two @ W.T + u @ V),
        sequences=[u],
        outputs_info=[{"initial": h0, "taps": [-3, -2]}],
    )
    return hs[-1].sum(), h0, {u: U, h0: np.full((3, 3), 0.2)}


def attention():
    """Attention: earlier values with weights by their agreement with the present state."""
    u, w = pt.dmatrix("u"), pt.dmatrix("W")

    def step(u, h, seen, w):
        weights = pt.exp(seen @ w @ h)
        return pt.tanh((weights / weights.sum()) @ seen @ w + u @ V)

    hs = scan(
        step,
        sequences=[u],
        outputs_info=[pt.constant(np.full(3, 0.1))],
        non_sequences=[pt.constant(STACK[0]), w],
    )
    return hs[-1].sum(), w, {u: U, w: W}


def residual():
    h0, scale = pt.dvector("h0"), pt.dvector("scale")
    hs = scan(
        lambda scale, h: h + scale * pt.maximum(h @ W, 0.0), sequences=[scale], outputs_info=[h0]
    )
    return (hs[-1] ** 2).sum(), scale, {h0: [0.5, -0.3, 0.8], scale: [0.1, 0.4, 0.2, 0.3]}
