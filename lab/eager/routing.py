"""Operations that only move entries: where, clip and concatenate.

`kept` and `part` of `lab.structural` route their gradients; both accept nodes, because numpy's
functions do.  Conditions and axes are metadata without gradients.  This module does not call the
primitives of `lab.structural`, whose checks would triple the time; a test compares the results.
"""

from collections.abc import Sequence

import numpy
from numpy.typing import DTypeLike

from lab.eager.rules import REGISTERED, composed, holds_node
from lab.eager.shaping import expand_dims, ravel, shape_of, unbroadcast
from lab.eager.tape import Gradients, Node, Value, primitive, value_of
from lab.errors import ArgumentError, GradientError
from lab.structural.arrays import kept, part


def _where_gradient(z: Value, condition: numpy.ndarray, x: Value, y: Value) -> Gradients:
    """Return dx = g where the condition is true and dy = g elsewhere."""
    x_shape, y_shape = shape_of(x), shape_of(y)
    return [
        None,
        lambda g: unbroadcast(kept(condition, g), x_shape),
        lambda g: unbroadcast(kept(~condition, g), y_shape),
    ]


#: `where` for an array of booleans.
select = primitive(numpy.where, _where_gradient)


def _clip_gradient(z: Value, x: Value, lo: Value, hi: Value) -> Gradients:
    """Return dlo = g where x < lo, dhi = g where x > hi, and dx = g elsewhere.

    On a bound the derivative does not exist; x receives the gradient.
    """
    shapes = shape_of(x), shape_of(lo), shape_of(hi)
    below, above = numpy.less(value_of(x), value_of(lo)), numpy.greater(value_of(x), value_of(hi))
    return [
        lambda g: unbroadcast(kept(~(below | above), g), shapes[0]),
        lambda g: unbroadcast(kept(below, g), shapes[1]),
        lambda g: unbroadcast(kept(above, g), shapes[2]),
    ]


_clip = primitive(numpy.clip, _clip_gradient)


def _concatenate_gradient(y: Value, axis: int, *arrays: object) -> Gradients:
    """Return the part of g that belongs to each array."""
    axis %= len(shape_of(y))
    lengths = [shape_of(array)[axis] for array in arrays]
    starts = numpy.cumsum([0, *lengths[:-1]]).tolist()
    places = zip(starts, lengths, strict=True)
    return [None, *(lambda g, s=s, n=n: part(g, axis, s, n) for s, n in places)]


_concatenated = primitive(
    lambda axis, *arrays: numpy.concatenate(arrays, axis), _concatenate_gradient, "concatenate"
)


def where(
    condition: object, x: object = None, y: object = None
) -> Value | tuple[numpy.ndarray, ...]:
    """Return `x` where the condition is true and `y` elsewhere, or indices without both."""
    if x is None or y is None:
        return numpy.where(value_of(condition))
    return select(numpy.asarray(value_of(condition), bool), x, y)


def clip(
    x: object, lo: object = None, hi: object = None, a_min: object = None, a_max: object = None
) -> Value:
    """Limit `x` to the interval from `lo` to `hi`, which numpy calls a_min and a_max.

    Raise ArgumentError if lo > hi.
    """
    lo, hi = (a_min if lo is None else lo), (a_max if hi is None else hi)
    lo = -numpy.inf if lo is None else lo
    hi = numpy.inf if hi is None else hi
    if numpy.any(value_of(lo) > value_of(hi)):
        raise ArgumentError(f"lo = {value_of(lo)}, hi = {value_of(hi)}: lo may not exceed hi.")
    return _clip(x, lo, hi)


@composed(numpy.concatenate)
def concatenate(arrays: Sequence[object], axis: int | None = 0) -> Value:
    """Join arrays along `axis`, or all entries into one row for None."""
    if axis is None:
        return _concatenated(0, *map(ravel, arrays))
    return _concatenated(axis, *arrays)


@composed(numpy.stack)
def stack(arrays: Sequence[object], axis: int = 0) -> Value:
    """Join arrays of equal shape along a new axis."""
    return _concatenated(axis, *(expand_dims(array, axis) for array in arrays))


def array(entries: object, dtype: DTypeLike | None = None) -> Value:
    """Return an array of numbers, nodes, or nested lists.

    Raise GradientError if a node would need a cast to another dtype.
    """
    if isinstance(entries, Node):
        nodes: Value = entries
    elif isinstance(entries, list | tuple) and holds_node(entries):
        nodes = stack([array(entry) for entry in entries])
    else:
        return numpy.array(value_of(entries), dtype)
    if dtype is not None and value_of(nodes).dtype != dtype:
        raise GradientError(f"dtype = {dtype}: nodes keep theirs, {value_of(nodes).dtype}.")
    return nodes


REGISTERED.update({numpy.where: where, numpy.clip: clip, numpy.array: array})
