"""The array operations that every rule uses; `lab.eager` routes nodes with the first two."""

from typing import Any

import numpy as np

Array = Any  # an array; in `lab.eager`, also a node


def kept(mask: Array, value: Array) -> Array:
    """`value` where the mask is true, zero elsewhere: also where `value` is nan."""
    return np.where(mask, value, 0.0)


def part(a: Array, axis: int, start: int, length: int) -> Array:
    """A view of `length` entries from `start` on."""
    return a[_place(axis, start, length)]


def scatter(value: np.ndarray, like: np.ndarray, axis: int, start: int, length: int) -> np.ndarray:
    """Zeros in the shape of `like`, and `value` in the place of that part."""
    result = np.zeros(like.shape, value.dtype)
    result[_place(axis, start, length)] = value
    return result


def _place(axis: int, start: int, length: int) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, slice(start, start + length))


def sealed(a: Array) -> np.ndarray:
    """A view of `a` that cannot be written: some results share memory with an input."""
    view = np.asarray(a).view()
    view.flags.writeable = False
    return view
