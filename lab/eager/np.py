"""numpy for nodes: the functions that have a gradient rule, and all of numpy besides.

    >>> from lab.eager import grad, np
    >>> grad(lambda x: np.sum(np.tanh(x)))(np.array([0.1, 0.2]))

What is not listed here (``np.pi``, ``np.zeros``, ``np.argmax``, …) is numpy's own; given a
node, a function without a rule says so.
"""

from typing import Any

import numpy

from lab.eager.elementwise import (
    absolute,
    add,
    arccos,
    arcsin,
    arctan,
    arctan2,
    cos,
    cosh,
    divide,
    exp,
    exp2,
    expm1,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    multiply,
    negative,
    power,
    reciprocal,
    remainder,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
)
from lab.eager.operators import REGISTERED
from lab.eager.reductions import dot, matmul, max, maximum, mean, min, minimum, outer, std, var
from lab.eager.routing import array, clip, concatenate, stack, where
from lab.eager.shaping import (
    broadcast_to,
    expand_dims,
    ravel,
    reshape,
    squeeze,
    sum,
    swapaxes,
    transpose,
)

__all__ = [
    "absolute",
    "add",
    "arccos",
    "arcsin",
    "arctan",
    "arctan2",
    "array",
    "broadcast_to",
    "clip",
    "concatenate",
    "cos",
    "cosh",
    "divide",
    "dot",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiply",
    "negative",
    "outer",
    "power",
    "ravel",
    "reciprocal",
    "remainder",
    "reshape",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "swapaxes",
    "tan",
    "tanh",
    "transpose",
    "var",
    "where",
]

abs = absolute
true_divide = divide
mod = remainder

REGISTERED.update({getattr(numpy, name): globals()[name] for name in __all__})


def __getattr__(name: str) -> Any:
    return getattr(numpy, name)
