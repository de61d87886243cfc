"""Graphs with wrong gradients by PyTensor's pullback: functions for ``scantape compare``.

Each function returns `(cost, wrt, given)`, as users write it. The tests compute the correct
derivatives.
"""

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import undefined_grad
from pytensor.scan.utils import until

from graphs import scan
from lab.scans.node import LoopVariable, ScanParts, build_scan
from lab.tape import Kind, Tape


def stops():
    """pymc-devs/pytensor #2217: x[t] = x[t-1] + u[t]**2 until x > 10; cost is their sum."""
    u, x0 = pt.dvector("u"), pt.dscalar("x0")
    xs = scan(lambda u, x: (x + u**2, until(x + u**2 > 10)), sequences=[u], outputs_info=[x0])
    return xs.sum(), [u], {u: np.arange(1.0, 7.0), x0: 0.0}


STOPS = [2 * 1 * 3, 2 * 2 * 2, 2 * 3 * 1, 0, 0, 0]  # 1, 5, 14: three steps


def delay_line():
    """Return a delay line: y[t] does not depend on y[t−1]."""
    y0, u = pt.dscalar("y0"), pt.dvector("u")
    _, zs = scan(lambda u, y: (u, y**3), sequences=[u], outputs_info=[y0, None])
    return zs.sum(), [y0, u], {y0: 0.5, u: np.array([2.0, 3.0, 4.0])}


# The cost is y0**3 + 8 + 27.
DELAY = [3 * 0.5**2, 6 * 0.5]


def undefined_twice():
    """Return a loop without a derivative with respect to its two sequences."""
    u, v = pt.dvector("u"), pt.dvector("v")
    ys = scan(lambda u, v: undefined_grad(u) * undefined_grad(v), sequences=[u, v])
    return ys.sum(), [u, v], {u: np.array([1.0, 2.0]), v: np.array([3.0, 4.0])}


def mixed():
    """Return a Scan with a mit-mot and a mit-sot, which ``pytensor.scan`` never combines."""
    buffer, past = pt.dvector("buffer"), pt.dvector("past")
    a, b, older, newer = (pt.dscalar() for _ in range(4))
    taps, read = Tape((-2, -1), (0,)), (older, newer)
    variables = (
        LoopVariable(Kind.MIT_MOT, "buffer", Tape((0, 1), (1,)), buffer, (a, b), (a * b,)),
        LoopVariable(Kind.MIT_SOT, "past", taps, past, read, (older * newer,)),
    )
    node = build_scan(ScanParts("mixed", pt.constant(np.int64(3)), variables))
    given = {buffer: np.array([0.5, 0.6, 0.7, 0.8]), past: np.linspace(0.5, 0.9, 5)}
    return sum(v.sum() for v in node.outputs), [buffer, past], given


def truncated():
    """Return a loop whose gradient is truncated after two steps."""
    x0, w = pt.dscalar("x0"), pt.dscalar("w")
    start = {"outputs_info": [x0], "non_sequences": [w], "n_steps": 4}
    xs = scan(lambda x, w: w * x**2, **start, truncate_gradient=2)
    return xs[-1], [x0, w], {x0: 0.9, w: 0.8}
