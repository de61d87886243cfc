"""Array operations of the rules; `lab.eager` applies the first two to nodes."""

from typing import Any

import numpy as np

Array = Any  # an array; in `lab.eager`, also a node


def kept(mask: Array, value: Array) -> Array:
    """Return `value` where the mask is true and zero elsewhere, even if `value` is nan."""
    return np.where(mask, value, 0.0)


def part(a: Array, axis: int, start: int, length: int) -> Array:
    """Return a view of `length` entries from `start` on."""
    return a[_slices(axis, start, length)]


def scatter(value: np.ndarray, like: np.ndarray, axis: int, start: int, length: int) -> np.ndarray:
    """Return zeros in the shape of `like`, with `value` as the given part."""
    result = np.zeros(like.shape, value.dtype)
    result[_slices(axis, start, length)] = value
    return result


def _slices(axis: int, start: int, length: int) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, slice(start, start + length))


def sealed(a: Array) -> np.ndarray:
    """Return a read-only view of `a`: some results share memory with an input."""
    view = np.asarray(a).view()
    view.flags.writeable = False
    return view
