"""All names of numpy; the functions in `__all__` also accept nodes.

    >>> from lab.eager import grad, np
    >>> grad(lambda x: np.sum(np.tanh(x)))(np.array([0.1, 0.2]))

All other names, such as ``np.pi`` and ``np.zeros``, are the objects of numpy.  Such a function
raises an error for a node, unless its derivative is zero, as for ``np.sign``.
"""

from collections.abc import Hashable
from typing import Any

import numpy

from lab.eager import elementwise, operators, products, shaping
from lab.eager.tape import REGISTERED

# importing these modules registers their functions, and sets the methods of Node
_MODULES = elementwise, products, shaping, operators
_OURS = {
    name: REGISTERED[theirs]
    for name, theirs in vars(numpy).items()
    if isinstance(theirs, Hashable) and theirs in REGISTERED
}
globals().update(_OURS)
__all__ = sorted(_OURS)


def __getattr__(name: str) -> Any:
    return getattr(numpy, name)
