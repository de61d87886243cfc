"""Operations that only route entries: where, clip and concatenate.

Their gradients are routed the same way back, by what `lab.structural` routes with: `kept` and
`part` take nodes as they take arrays, since numpy's functions do.  Conditions and axes are
metadata and never differentiated.  The primitives of `lab.structural` themselves are not called:
their checks (one dtype, the exact form of every cotangent, PyTensor's variables) take two to three
times as long as all else.  A test holds both beside each other.
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
    """The gradients: dx = g where the condition holds, dy = g elsewhere."""
    x_shape, y_shape = shape_of(x), shape_of(y)
    return [
        None,
        lambda g: unbroadcast(kept(condition, g), x_shape),
        lambda g: unbroadcast(kept(~condition, g), y_shape),
    ]


#: `where` for a condition that is an array of truth values.
select = primitive(numpy.where, _where_gradient)


def _clip_gradient(z: Value, x: Value, lo: Value, hi: Value) -> Gradients:
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


def _concatenate_gradient(y: Value, axis: int, *arrays: object) -> Gradients:
    """The gradients: of each array, its own part of g."""
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
    """`x` where the condition holds, `y` elsewhere, broadcast; the places alone without them."""
    if x is None or y is None:
        return numpy.where(value_of(condition))
    return select(numpy.asarray(value_of(condition), bool), x, y)


def clip(
    x: object, lo: object = None, hi: object = None, a_min: object = None, a_max: object = None
) -> Value:
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
def concatenate(arrays: Sequence[object], axis: int | None = 0) -> Value:
    """The arrays one after the other along `axis`; all their entries in a row for None."""
    if axis is None:
        return _concatenated(0, *map(ravel, arrays))
    return _concatenated(axis, *arrays)


@composed(numpy.stack)
def stack(arrays: Sequence[object], axis: int = 0) -> Value:
    """Arrays of one shape, side by side along a new axis."""
    return _concatenated(axis, *(expand_dims(array, axis) for array in arrays))


def array(entries: object, dtype: DTypeLike | None = None) -> Value:
    """An array of numbers, nodes, or lists of them.

    Raises GradientError if nodes would have to be cast to another dtype.
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
