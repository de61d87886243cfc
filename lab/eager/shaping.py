"""Sums, copies and rearrangements of entries: linear, and one another's gradients.

What one operand's entry was broadcast to, its gradient is summed over: `broadcast_to` and
`unbroadcast` (with `sum` in it) are a pair.  The others keep the entries in another shape.
``take`` and ``untake`` are each the gradient of the other.
"""

import operator
from collections.abc import Sequence

import numpy
from numpy.typing import DTypeLike

from lab.eager.rules import composed, rule
from lab.eager.tape import Function, Gradients, Setter, Value, primitive, value_of

Shape = tuple[int, ...]
Axis = int | tuple[int, ...] | None  # the number of an axis, several, or None for all


def shape_of(x: object) -> Shape:
    """The shape of the value of `x`."""
    value = value_of(x)
    if type(value) is float:  # a constant, mostly: numpy takes ten times as long to see that
        return ()
    return value.shape if hasattr(value, "shape") else numpy.shape(value)


def unbroadcast(g: Value, shape: Shape) -> Value:
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


def _reshape_gradient(y: Value, a: Value, shape: object) -> Gradients:
    old = shape_of(a)
    return [lambda g: reshape(g, old)]


def _broadcast_to_gradient(y: Value, a: Value, shape: object) -> Gradients:
    old = shape_of(a)
    return [lambda g: unbroadcast(g, old)]


def _sum_gradient(
    y: Value,
    a: Value,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    *,
    keepdims: object = False,
    initial: object = 0,
) -> Gradients:
    shape = shape_of(a)
    if axis is None:
        return [lambda g: broadcast_to(g, shape)]
    return [lambda g: broadcast_to(reshape(g, kept_shape(shape, axis)), shape)]


def _transpose_gradient(y: Value, a: Value, axes: Sequence[int] | None = None) -> Gradients:
    if axes is None:
        return [transpose]
    back = tuple(numpy.argsort([axis % len(shape_of(a)) for axis in axes]).tolist())
    return [lambda g: transpose(g, back)]


reshape = rule(numpy.reshape, _reshape_gradient)
broadcast_to = rule(numpy.broadcast_to, _broadcast_to_gradient)
sum = rule(numpy.sum, _sum_gradient)
transpose = rule(numpy.transpose, _transpose_gradient)
swapaxes: Function = rule(
    numpy.swapaxes, lambda y, a, axis1, axis2: [lambda g: swapaxes(g, axis1, axis2)]
)


#: ``a[index]``; its gradient is a `Setter`, which is nothing but in the entries taken.
take: Function = primitive(
    operator.getitem, lambda y, a, index: [lambda g: untake(g, index)], "take"
)

#: The gradient `x` for the entries at `index`, and zero elsewhere, without the zeros.
untake: Function = primitive(
    lambda x, index: Setter(index, x), lambda y, x, index: [lambda g: take(g, index)], "untake"
)


@composed(numpy.ravel)
def ravel(a: object, order: str = "C") -> Value:
    """All entries in one row, the last axis fastest, or with order "F" the first."""
    return reshape(a if order == "C" else transpose(a), (-1,))


@composed(numpy.expand_dims)
def expand_dims(a: object, axis: int | tuple[int, ...]) -> Value:
    """`a` with a new axis of length 1, which is `axis` of the result."""
    return reshape(a, numpy.expand_dims(value_of(a), axis).shape)


@composed(numpy.squeeze)
def squeeze(a: object, axis: Axis = None) -> Value:
    """`a` without its axes of length 1, or without those named."""
    return reshape(a, numpy.squeeze(value_of(a), axis).shape)
