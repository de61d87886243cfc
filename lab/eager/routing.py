"""Operations that only route entries: where, clip and concatenate, and those made of them.

Their gradients are routed the same way back, by what `lab.structural` routes with: `kept` and
`part` take nodes as they take arrays, since numpy's functions do.  Conditions and axes are
metadata and never differentiated.  The primitives of `lab.structural` themselves are not called:
their checks (one dtype, the exact form of every cotangent, PyTensor's variables) take two to three
times as long as all else.  A test holds both beside each other.
"""

from collections.abc import Sequence
from typing import Any

import numpy

from lab.eager.rules import REGISTERED, composed, holds_node
from lab.eager.shaping import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    expand_dims,
    ravel,
    shape_of,
    transpose,
    unbroadcast,
)
from lab.eager.tape import Node, primitive, value_of
from lab.errors import ArgumentError, GradientError
from lab.structural.arrays import kept, part


def _where_gradient(z: Any, condition: Any, x: Any, y: Any) -> list:
    """The gradients: dx = g where the condition holds, dy = g elsewhere."""
    x_shape, y_shape = shape_of(x), shape_of(y)
    return [
        None,
        lambda g: unbroadcast(kept(condition, g), x_shape),
        lambda g: unbroadcast(kept(~condition, g), y_shape),
    ]


_where = primitive(numpy.where, _where_gradient)


def _clip_gradient(z: Any, x: Any, lo: Any, hi: Any) -> list:
    """The gradients: dlo = g where x < lo, dhi = g where x > hi, dx = g elsewhere.

    On a bound itself there is no derivative; the gradient goes to x.
    """
    shapes = shape_of(x), shape_of(lo), shape_of(hi)
    below, above = numpy.less(value_of(x), value_of(lo)), numpy.greater(value_of(x), value_of(hi))
    return [
        lambda g: unbroadcast(kept(~(below | above), g), shapes[0]),
        lambda g: unbroadcast(kept(below, g), shapes[1]),
        lambda g: unbroadcast(kept(above, g), shapes[2]),
    ]


_clip = primitive(numpy.clip, _clip_gradient)


def _concatenate_gradient(y: Any, axis: int, *arrays: Any) -> list:
    """The gradients: of each array, its own part of g."""
    axis %= len(shape_of(y))
    lengths = [shape_of(array)[axis] for array in arrays]
    starts = numpy.cumsum([0, *lengths[:-1]]).tolist()
    places = zip(starts, lengths, strict=True)
    return [None, *(lambda g, s=s, n=n: part(g, axis, s, n) for s, n in places)]


_concatenated = primitive(
    lambda axis, *arrays: numpy.concatenate(arrays, axis), _concatenate_gradient, "concatenate"
)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """`x` where the condition holds, `y` elsewhere, broadcast; the places alone without them."""
    if x is None or y is None:
        return numpy.where(value_of(condition))
    return _where(numpy.asarray(value_of(condition), bool), x, y)


def clip(x: Any, lo: Any = None, hi: Any = None, a_min: Any = None, a_max: Any = None) -> Any:
    """`x`, but at least `lo` and at most `hi`, which numpy calls a_min and a_max; None is no bound.

    Raises ArgumentError if lo > hi, which leaves nothing between them.
    """
    lo, hi = (a_min if lo is None else lo), (a_max if hi is None else hi)
    lo = -numpy.inf if lo is None else lo
    hi = numpy.inf if hi is None else hi
    if numpy.any(value_of(lo) > value_of(hi)):
        raise ArgumentError(f"lo = {value_of(lo)}, hi = {value_of(hi)}: lo may not exceed hi.")
    return _clip(x, lo, hi)


@composed(numpy.concatenate)
def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Any:
    """The arrays one after the other along `axis`; all their entries in a row for None."""
    if axis is None:
        return _concatenated(0, *map(ravel, arrays))
    return _concatenated(axis, *arrays)


@composed(numpy.stack)
def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Arrays of one shape, side by side along a new axis."""
    return _concatenated(axis, *(expand_dims(array, axis) for array in arrays))


@composed(numpy.vstack)
def vstack(arrays: Sequence[Any]) -> Any:
    """The arrays, each at least a row, one below the other."""
    return _concatenated(0, *map(atleast_2d, arrays))


@composed(numpy.hstack)
def hstack(arrays: Sequence[Any]) -> Any:
    """The arrays side by side: numbers and rows in one row."""
    found = [*map(atleast_1d, arrays)]
    return _concatenated(0 if len(shape_of(found[0])) == 1 else 1, *found)


@composed(numpy.dstack)
def dstack(arrays: Sequence[Any]) -> Any:
    """The arrays one behind the other along the third axis."""
    return _concatenated(2, *map(atleast_3d, arrays))


@composed(numpy.column_stack)
def column_stack(arrays: Sequence[Any]) -> Any:
    """The arrays side by side: numbers and rows as columns."""
    flat = (atleast_2d(a) if len(shape_of(a)) < 2 else transpose(a) for a in arrays)
    return transpose(_concatenated(0, *flat))


@composed(numpy.append)
def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """`values` after `arr`, along `axis`; all entries in a row for None."""
    return concatenate([array(arr), array(values)], axis)


def array(entries: Any, dtype: Any = None) -> Any:
    """An array of numbers, nodes, or lists of them.

    Raises GradientError if nodes would have to be cast to another dtype.
    """
    if not holds_node(entries):
        return numpy.array(entries, dtype)
    made = entries if isinstance(entries, Node) else stack([array(entry) for entry in entries])
    if dtype is not None and value_of(made).dtype != dtype:
        raise GradientError(f"dtype = {dtype}: nodes keep theirs, {value_of(made).dtype}.")
    return made


REGISTERED.update({numpy.where: where, numpy.clip: clip, numpy.array: array})
