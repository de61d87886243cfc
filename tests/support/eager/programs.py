"""Programs with eager tapes to draw."""

from functools import partial

import numpy
from strange_loops import HOSTILE, LONG, loop_of

from lab.eager import grad, np, primitive, recording, steps, unrolled
from lab.loops.gallery import loops

A = numpy.array([1.0, 2.0, 3.0])
squares = unrolled(loops["square"])
strange = primitive(lambda x, y: x * y, lambda z, x, y: [lambda g: g * y, lambda g: g * x], HOSTILE)
long_name = primitive(lambda x: x, lambda z, x: [lambda g: g], LONG)


def program(x):
    y = x * x
    z = np.sin(y) + x
    return z * y + np.exp(x)


def gather(a):
    return np.sum(a[[0, 0]] ** 2) + a[:2][1] * 6


def double(x):
    return x * x


def jump(x):
    """Return (x + 2)⁴ for x near 2.5; the derivatives at 2.5 are 4·4.5³ and 12·4.5²."""
    while x < 100:
        x = x * x if x > 3 else x + 2
    return x


def fan(w):
    s = w
    for _ in range(9):
        s = s * w
    return s


def long(x):
    for _ in steps(1000):
        x = np.sin(x) * 0.999
    return x


def many_tapes(x):
    for _ in range(40):
        x = x + grad(lambda y, x=x: y * y * x)(0.01)
    return x


def hostile(x):
    return strange(long_name(strange(x, 1e-300)), -1.23456789e300)


hostile.__name__ = HOSTILE

CALLS = {  # a function, and its arguments
    "square": (grad(squares), 0.95),
    "second order": (grad(grad(squares)), 0.95),
    "program": (grad(program), 0.7),
    "setters": (grad(gather), A),
    "second order, setters": (grad(lambda a: np.sum(grad(gather)(a) ** 2)), A),
    "second order, slices": (grad(lambda a: np.sum(grad(lambda b: np.sum(b[1:] ** 3))(a))), A),
    "closure": (grad(lambda x: x * grad(lambda y: x * y)(2.0)), 3.0),
    "third order": (grad(grad(grad(lambda x: x * x))), 2.0),
    "independent": (grad(lambda a: 1.0), A),
    "fan": (grad(fan), 1.1),
    "matrices": (grad(lambda w: np.sum(np.tanh(w @ A[:2]))), A[:, None] * A[:2]),
    "not finite": (grad(lambda x: x * numpy.inf + x * numpy.nan), 1.0),
    "hostile": (grad(hostile), 1.0),
    "two inner runs": (grad(lambda x: grad(double)(x) + grad(np.sin)(x)), 0.9),
    "nothing": (lambda: 1.0,),
    "long": (grad(long), 0.5),
    "many tapes": (grad(many_tapes), 0.5),
}
RUNS = {name: partial(recording, *call) for name, call in CALLS.items()}
FOLDED = {name: RUNS.pop(name) for name in ("long", "many tapes")}


# Loops for pictures of both the eager tape and the tapes of the Scan.

TWO_TAPES = [
    *(("square", "x"), ("sequence", "z"), ("sequence", "y"), ("fibonacci", "x")),
    *(("coupled", "prey"), ("coupled", "birth"), ("logistic", "x"), ("logistic", "r")),
    *(("window", "u"), ("newton", "a"), ("lookup", "table"), ("delay", "x"), ("delay", "u")),
]
STRANGE = {
    "hostile": loop_of(HOSTILE, 1.0),
    "long": loop_of(LONG, 0.123456789),
    "vector": loop_of("v", [1.0, 2.0, 3.0]),
    "tiny": loop_of("x", -1.234e-300),
}
