"""Operations that only route entries: where, clip and concatenate, and with them stack and array.

Their gradients are routed the same way back.  Conditions and axes are metadata and never
differentiated.  These are the rules of the structural primitives where, clamp and cat, and a
test holds them beside each other.  They are written again because gradients here must be made
of nodes, to be differentiated again, and because the checks of `lab.structural` (one dtype, the
exact form of every cotangent, PyTensor's variables) take two to three times as long as all else.
"""

from collections.abc import Sequence
from typing import Any

import numpy

from lab.eager.indexing import take
from lab.eager.shaping import expand_dims, ravel, shape_of, unbroadcast
from lab.eager.tape import Node, primitive, value_of
from lab.errors import ArgumentError, GradientError


def _where_gradient(z: Any, condition: Any, x: Any, y: Any) -> list:
    """The gradients: dx = g where the condition holds, dy = g elsewhere."""
    shapes = shape_of(x), shape_of(y)
    return [
        None,
        lambda g: unbroadcast(_where(condition, g, 0.0), shapes[0]),
        lambda g: unbroadcast(_where(condition, 0.0, g), shapes[1]),
    ]


def _clip_gradient(z: Any, x: Any, lo: Any, hi: Any) -> list:
    """The gradients: dlo = g where x < lo, dhi = g where x > hi, dx = g elsewhere.

    On a bound itself there is no derivative; the gradient goes to x.
    """
    shapes = shape_of(x), shape_of(lo), shape_of(hi)
    below, above = value_of(x) < value_of(lo), value_of(x) > value_of(hi)
    return [
        lambda g: unbroadcast(_where(below | above, 0.0, g), shapes[0]),
        lambda g: unbroadcast(_where(below, g, 0.0), shapes[1]),
        lambda g: unbroadcast(_where(above, g, 0.0), shapes[2]),
    ]


def _concatenate(axis: int, *arrays: Any) -> Any:
    return numpy.concatenate(arrays, axis)


def _concatenate_gradient(y: Any, axis: int, *arrays: Any) -> list:
    axis %= len(shape_of(y))

    def part(stop: int, length: int) -> Any:
        index = (slice(None),) * axis + (slice(stop - length, stop),)
        return lambda g: take(g, index)

    lengths = [shape_of(array)[axis] for array in arrays]
    stops = numpy.cumsum(lengths).tolist()
    return [None, *map(part, stops, lengths)]


_where = primitive(numpy.where, _where_gradient)
_clip = primitive(numpy.clip, _clip_gradient)
_concatenated = primitive(_concatenate, _concatenate_gradient, "concatenate")


def where(condition: Any, x: Any, y: Any) -> Any:
    """`x` where the condition holds, `y` elsewhere, broadcast."""
    return _where(value_of(condition), x, y)


def clip(x: Any, lo: Any = None, hi: Any = None) -> Any:
    """`x`, but at least `lo` and at most `hi`; None is no bound.

    Raises ArgumentError if lo > hi, which leaves nothing between them.
    """
    lo = -numpy.inf if lo is None else lo
    hi = numpy.inf if hi is None else hi
    if numpy.any(value_of(lo) > value_of(hi)):
        raise ArgumentError(f"lo = {value_of(lo)}, hi = {value_of(hi)}: lo may not exceed hi.")
    return _clip(x, lo, hi)


def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Any:
    """The arrays one after the other along `axis`; all their entries in a row for None."""
    if axis is None:
        return _concatenated(0, *map(ravel, arrays))
    return _concatenated(axis, *arrays)


def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Arrays of one shape, side by side along a new axis."""
    return _concatenated(axis, *(expand_dims(array, axis) for array in arrays))


def array(entries: Any, dtype: Any = None) -> Any:
    """An array of numbers, nodes, or lists of them.

    Raises GradientError if nodes would have to be cast to another dtype.
    """
    if not _holds_node(entries):
        return numpy.array(entries, dtype)
    made = entries if isinstance(entries, Node) else stack([array(entry) for entry in entries])
    if dtype is not None and value_of(made).dtype != dtype:
        raise GradientError(f"dtype = {dtype}: nodes keep theirs, {value_of(made).dtype}.")
    return made


def _holds_node(entries: Any) -> bool:
    if isinstance(entries, list | tuple):
        return any(map(_holds_node, entries))
    return isinstance(entries, Node)
