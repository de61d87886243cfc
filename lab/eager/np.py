"""numpy for nodes: the functions that have a gradient rule, and all of numpy besides.

    >>> from lab.eager import grad, np
    >>> grad(lambda x: np.sum(np.tanh(x)))(np.array([0.1, 0.2]))

`__all__` lists the functions that take nodes.  What is not listed there (``np.pi``, ``np.zeros``,
``np.argmax``, …) is numpy's own; given a node, a function without a rule says so.
"""

from collections.abc import Hashable
from typing import Any

import numpy

from lab.eager import elementwise, operators, products, reductions, routing, shaping
from lab.eager.rules import REGISTERED

# each registers its functions of numpy, and the last what one can write with a node
_MODULES = elementwise, products, reductions, routing, shaping, operators
_OURS = {
    name: REGISTERED[theirs]
    for name, theirs in vars(numpy).items()
    if isinstance(theirs, Hashable) and theirs in REGISTERED
}
globals().update(_OURS)
__all__ = sorted(_OURS)


def __getattr__(name: str) -> Any:
    return getattr(numpy, name)
