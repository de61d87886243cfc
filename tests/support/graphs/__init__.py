"""Graphs that users write with `pytensor.scan`, for the reports on graphs.

Command lines name their functions, too: ``scantape compare graphs.known_mistakes:stops``.
"""

import numpy as np
import pytensor
import pytensor.tensor as pt

try:
    from pytensor.conditional.op import ifelse as ifelse
except ImportError:  # PyTensor before 3.3
    from pytensor.ifelse import ifelse as ifelse


def scan(step, *variables, **arguments):
    return pytensor.scan(step, *variables, return_updates=False, **arguments)


def squares(n_steps=3):
    """Return an input, and the values of a loop that squares it repeatedly."""
    x0 = pt.dscalar("x0")
    return x0, scan(lambda x: x**2, outputs_info=[x0], n_steps=n_steps)


def variable(name, value):
    """Return an input with the type of a number, a list, or an array; only ranks are fixed."""
    array = np.asarray(value)
    return pt.tensor(name, dtype=array.dtype, shape=(None,) * array.ndim)


def graph(*wrt, **values):
    """Decorate a function of variables, which returns a cost; `values` declares the variables.

    The decorated function needs no arguments and returns (cost, wrt, given), as users write it.
    """

    def decorate(cost_of):
        def build():
            inputs = {name: variable(name, value) for name, value in values.items()}
            chosen = [inputs[name] for name in wrt]
            given = {inputs[name]: value for name, value in values.items()}
            return cost_of(**inputs), chosen[0] if len(wrt) == 1 else chosen, given

        build.__name__, build.__module__ = cost_of.__name__, cost_of.__module__
        return build

    return decorate
