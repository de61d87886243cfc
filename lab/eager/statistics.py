"""Means and spreads, composed of sums: their gradients need no rules of their own."""

from math import prod
from typing import Any

from lab.eager.elementwise import divide, sqrt, square, subtract
from lab.eager.shaping import Axis, kept_shape, shape_of, sum


def _entries(a: Any, axis: Axis) -> int:
    """How many entries of `a` each sum over `axis` has."""
    shape = shape_of(a)
    lengths = zip(shape, kept_shape(shape, axis), strict=True)
    return prod(length for length, kept in lengths if kept != length)


def mean(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The sum over `axis`, divided by how many entries it has."""
    return divide(sum(a, axis, keepdims), _entries(a, axis))


def var(a: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The mean square distance from the mean; ddof is taken off the number of entries."""
    away = square(subtract(a, mean(a, axis, keepdims=True)))
    return divide(sum(away, axis, keepdims), _entries(a, axis) - ddof)


def std(a: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The root of `var`."""
    return sqrt(var(a, axis, ddof, keepdims))
