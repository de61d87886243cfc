"""Graphs with wrong gradients by PyTensor's pullback: functions for ``scantape compare``.

Each function returns `(cost, wrt, given)`, as users write it. The tests compute the correct
derivatives.
"""

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import undefined_grad
from pytensor.scan.utils import until

from graphs import graph, scan
from lab.scans.node import LoopVariable, ScanParts, build_scan
from lab.tape import Kind, Tape


@graph("u", u=np.arange(1.0, 7.0), x0=0.0)
def stops(u, x0):
    """Return the loop of pytensor #2217, x[t] = x[t-1] + u[t]**2 until x > 10; the cost is Σ x."""
    step = lambda u, x: (x + u**2, until(x + u**2 > 10))  # noqa: E731
    return scan(step, sequences=[u], outputs_info=[x0]).sum()


@graph("y0", "u", y0=0.5, u=np.array([2.0, 3.0, 4.0]))
def delay_line(y0, u):
    """Return a delay line: y[t] does not depend on y[t−1]."""
    _, zs = scan(lambda u, y: (u, y**3), sequences=[u], outputs_info=[y0, None])
    return zs.sum()


@graph("u", "v", u=np.array([1.0, 2.0]), v=np.array([3.0, 4.0]))
def undefined_twice(u, v):
    """Return a loop without a derivative with respect to its two sequences."""
    return scan(lambda u, v: undefined_grad(u) * undefined_grad(v), sequences=[u, v]).sum()


@graph("buffer", "past", buffer=np.linspace(0.5, 0.8, 4), past=np.linspace(0.5, 0.9, 5))
def mixed(buffer, past):
    """Return a Scan with a mit-mot and a mit-sot, which ``pytensor.scan`` never combines."""
    a, b, older, newer = (pt.dscalar() for _ in range(4))
    taps, read = Tape((-2, -1), (0,)), (older, newer)
    variables = (
        LoopVariable(Kind.MIT_MOT, "buffer", Tape((0, 1), (1,)), buffer, (a, b), (a * b,)),
        LoopVariable(Kind.MIT_SOT, "past", taps, past, read, (older * newer,)),
    )
    node = build_scan(ScanParts("mixed", pt.constant(np.int64(3)), variables))
    return sum(v.sum() for v in node.outputs)


@graph("x0", "w", x0=0.9, w=0.8)
def truncated(x0, w):
    """Return a loop whose gradient is truncated after two steps."""
    start = {"outputs_info": [x0], "non_sequences": [w], "n_steps": 4}
    return scan(lambda x, w: w * x**2, **start, truncate_gradient=2)[-1]
