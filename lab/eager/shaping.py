"""Sums, copies and rearrangements of entries: linear, and one another's gradients.

What one operand's entry was broadcast to, its gradient is summed over: `broadcast_to` and
`unbroadcast` (with `sum` in it) are a pair.  The others move entries, and their gradients
move them back.
"""

from collections.abc import Sequence
from typing import Any

import numpy

from lab.eager.tape import Function, primitive, value_of

Shape = tuple[int, ...]
Axis = Any  # the number of an axis, several in a tuple, or None for all


def shape_of(x: Any) -> Shape:
    """The shape of the value of `x`."""
    value = value_of(x)
    return value.shape if hasattr(value, "shape") else numpy.shape(value)


def unbroadcast(g: Any, shape: Shape) -> Any:
    """The gradient `g` of a broadcast operand, summed back to the operand's own `shape`."""
    if shape_of(g) == shape:
        return g
    extra = len(shape_of(g)) - len(shape)
    stretched = tuple(
        axis
        for axis, length in enumerate(shape_of(g))
        if axis < extra or (shape[axis - extra] == 1 and length != 1)
    )
    return reshape(sum(g, stretched), shape) if stretched else reshape(g, shape)


def kept_shape(shape: Shape, axis: Axis) -> Shape:
    """`shape` after a reduction over `axis` that keeps every axis, at length 1."""
    if axis is None:
        return (1,) * len(shape)
    reduced = {a % len(shape) for a in (axis if isinstance(axis, Sequence) else (axis,))}
    return tuple(1 if a in reduced else length for a, length in enumerate(shape))


def _reshape(a: Any, shape: Any) -> Any:
    return numpy.reshape(a, shape)


def _reshape_gradient(y: Any, a: Any, shape: Any) -> list:
    old = shape_of(a)
    return [lambda g: reshape(g, old)]


def _broadcast_to_gradient(y: Any, a: Any, shape: Any) -> list:
    old = shape_of(a)
    return [lambda g: unbroadcast(g, old)]


def _sum(a: Any, axis: Axis = None, keepdims: Any = False) -> Any:
    return numpy.sum(a, axis=axis, keepdims=keepdims)


def _sum_gradient(y: Any, a: Any, axis: Axis = None, keepdims: bool = False) -> list:
    shape = shape_of(a)
    if axis is None:
        return [lambda g: broadcast_to(g, shape)]
    return [lambda g: broadcast_to(reshape(g, kept_shape(shape, axis)), shape)]


def _transpose_gradient(y: Any, a: Any, axes: Any = None) -> list:
    if axes is None:
        return [transpose]
    back = tuple(numpy.argsort([axis % len(shape_of(a)) for axis in axes]).tolist())
    return [lambda g: transpose(g, back)]


reshape = primitive(_reshape, _reshape_gradient, "reshape")
broadcast_to = primitive(numpy.broadcast_to, _broadcast_to_gradient)
sum = primitive(_sum, _sum_gradient, "sum")
transpose = primitive(numpy.transpose, _transpose_gradient)
swapaxes: Function = primitive(
    numpy.swapaxes, lambda y, a, first, second: [lambda g: swapaxes(g, first, second)]
)


def ravel(a: Any) -> Any:
    """All entries in one row, the last axis fastest."""
    return reshape(a, (-1,))


def expand_dims(a: Any, axis: int) -> Any:
    """`a` with a new axis of length 1, which is `axis` of the result."""
    return reshape(a, numpy.expand_dims(value_of(a), axis).shape)


def squeeze(a: Any, axis: Axis = None) -> Any:
    """`a` without its axes of length 1, or without those named."""
    return reshape(a, numpy.squeeze(value_of(a), axis).shape)
