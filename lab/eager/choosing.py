"""Functions that choose, entry by entry, which operand goes on: so do their gradients.

Which operand was chosen is metadata and never differentiated.  Where operands tie there is
no derivative; what is returned instead is said at every function.
"""

from math import prod
from typing import Any

import numpy

from lab.eager.shaping import Axis, kept_shape, reshape, shape_of, unbroadcast
from lab.eager.shaping import sum as total
from lab.eager.tape import primitive, value_of
from lab.errors import ArgumentError


def _where_gradient(z: Any, condition: Any, x: Any, y: Any) -> list:
    """Dx = g where the condition holds, dy = g elsewhere."""
    shapes = shape_of(x), shape_of(y)
    return [
        None,
        lambda g: unbroadcast(_where(condition, g, 0.0), shapes[0]),
        lambda g: unbroadcast(_where(condition, 0.0, g), shapes[1]),
    ]


def _clip_gradient(z: Any, x: Any, lo: Any, hi: Any) -> list:
    """Dlo = g where x < lo, dhi = g where x > hi, dx = g elsewhere, so on the bounds as well."""
    shapes = shape_of(x), shape_of(lo), shape_of(hi)
    below, above = value_of(x) < value_of(lo), value_of(x) > value_of(hi)
    return [
        lambda g: unbroadcast(_where(below | above, 0.0, g), shapes[0]),
        lambda g: unbroadcast(_where(below, g, 0.0), shapes[1]),
        lambda g: unbroadcast(_where(above, g, 0.0), shapes[2]),
    ]


def _larger_gradient(z: Any, x: Any, y: Any) -> list:
    """Dx = g where x was taken, dy = g where y was; operands that tie get half each."""
    shapes = shape_of(x), shape_of(y)
    tie = value_of(x) == value_of(y)
    share = numpy.where(tie, 0.5, value_of(x) == value_of(z))
    return [
        lambda g: unbroadcast(g * share, shapes[0]),
        lambda g: unbroadcast(g * (1 - share), shapes[1]),
    ]


def _extreme_gradient(y: Any, a: Any, axis: Axis = None, keepdims: bool = False) -> list:
    """Da = g at the extreme entry; entries that tie get equal shares."""
    kept = kept_shape(shape_of(a), axis)
    extreme = value_of(a) == numpy.reshape(value_of(y), kept)
    shares = extreme / numpy.sum(extreme, axis=axis, keepdims=True)
    return [lambda g: reshape(g, kept) * shares]


def _max(a: Any, axis: Axis = None, keepdims: Any = False) -> Any:
    return numpy.max(a, axis=axis, keepdims=keepdims)


def _min(a: Any, axis: Axis = None, keepdims: Any = False) -> Any:
    return numpy.min(a, axis=axis, keepdims=keepdims)


_where = primitive(numpy.where, _where_gradient)
_clip = primitive(numpy.clip, _clip_gradient)
maximum = primitive(numpy.maximum, _larger_gradient)
minimum = primitive(numpy.minimum, _larger_gradient)
max = primitive(_max, _extreme_gradient, "max")
min = primitive(_min, _extreme_gradient, "min")


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


def mean(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The sum over `axis`, divided by how many entries it has."""
    shape = shape_of(a)
    reduced = zip(shape, kept_shape(shape, axis), strict=True)
    entries = prod(length for length, kept in reduced if kept != length)
    return total(a, axis, keepdims) / entries
