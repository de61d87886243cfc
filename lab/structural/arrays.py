"""The few array operations that routing needs, on numpy arrays and on PyTensor variables alike.

Both libraries call most of them by the same names, so that every rule is written once.
"""

from types import ModuleType
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable

Array = Any  # a numpy array, or a PyTensor variable


def is_symbolic(*values: object) -> bool:
    """Whether one of the values is a PyTensor variable, so that what is made of them is one."""
    for value in values:  # noqa: SIM110 (no `any`, arrays first: each eager rule asks)
        if type(value) is not np.ndarray and isinstance(value, Variable):
            return True
    return False


def library(*values: object) -> ModuleType:
    """The functions to use on these values: PyTensor's, or numpy's where all are numbers."""
    return pt if is_symbolic(*values) else np


def choose(mask: Array, x: Array, y: Array) -> Array:
    """`x` where the mask is true, `y` elsewhere."""
    return library(mask, x, y).where(mask, x, y)


def kept(mask: Array, value: Array) -> Array:
    """`value` where the mask is true, zero elsewhere: also where `value` is nan."""
    return choose(mask, value, 0.0)


def part(a: Array, axis: int, start: Array, length: Array) -> Array:
    """`length` entries from `start` on; of an array, a view."""
    return a[_place(axis, start, length)]


def scatter(value: Array, like: Array, axis: int, start: Array, length: Array) -> Array:
    """Zeros in the shape of `like`, and `value` in the place of that part."""
    place = _place(axis, start, length)
    if is_symbolic(value, like, start, length):
        return pt.set_subtensor(pt.zeros_like(like, dtype=value.dtype)[place], value)
    result = np.zeros(like.shape, value.dtype)
    result[place] = value
    return result


def _place(axis: int, start: Array, length: Array) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, slice(start, start + length))


def sealed(a: Array) -> Array:
    """`a`, so that nobody writes into it by mistake: some results share memory with an input."""
    if is_symbolic(a):
        return a
    view = np.asarray(a).view()
    view.flags.writeable = False
    return view
