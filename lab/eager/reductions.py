"""Means and spreads, composed of sums: their gradients need no rules of their own.

Largest and smallest entries.

Where entries tie for the largest or smallest there is no derivative; they share it equally.

Matrix products.

With C = A·B and the gradient G of C, the gradient of A is G·Bᵀ and that of B is Aᵀ·G.  A
single row to the left or column to the right, which numpy writes with one axis, is a matrix
here while its gradient is formed; stacks of matrices that were broadcast are summed back.
"""

import operator
from math import prod
from typing import Any

import numpy

from lab.eager.elementwise import divide, multiply, sqrt, square, subtract
from lab.eager.shaping import Axis, kept_shape, reshape, shape_of, sum, swapaxes, unbroadcast
from lab.eager.tape import primitive, value_of
from lab.errors import ArgumentError


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


def _larger_gradient(z: Any, x: Any, y: Any) -> list:
    """The gradients: dx = g where x was taken, dy = g where y was, half each where they tie."""
    shapes = shape_of(x), shape_of(y)
    tie = value_of(x) == value_of(y)
    share = numpy.where(tie, 0.5, value_of(x) == value_of(z))
    return [
        lambda g: unbroadcast(g * share, shapes[0]),
        lambda g: unbroadcast(g * (1 - share), shapes[1]),
    ]


def _extreme_gradient(y: Any, a: Any, axis: Axis = None, keepdims: bool = False) -> list:
    """The gradient: da = g at the extreme entry; entries that tie get equal shares."""
    kept = kept_shape(shape_of(a), axis)
    extreme = value_of(a) == numpy.reshape(value_of(y), kept)
    shares = extreme / numpy.sum(extreme, axis=axis, keepdims=True)
    return [lambda g: reshape(g, kept) * shares]


def _max(a: Any, axis: Axis = None, keepdims: Any = False) -> Any:
    return numpy.max(a, axis=axis, keepdims=keepdims)


def _min(a: Any, axis: Axis = None, keepdims: Any = False) -> Any:
    return numpy.min(a, axis=axis, keepdims=keepdims)


maximum = primitive(numpy.maximum, _larger_gradient)
minimum = primitive(numpy.minimum, _larger_gradient)
max = primitive(_max, _extreme_gradient, "max")
min = primitive(_min, _extreme_gradient, "min")


def _matmul_gradient(c: Any, a: Any, b: Any) -> list:
    """The gradients: dA = G·Bᵀ, dB = Aᵀ·G."""
    a_shape, b_shape = shape_of(a), shape_of(b)
    row, column = len(a_shape) == 1, len(b_shape) == 1
    rows = (1, *a_shape) if row else a_shape
    columns = (*b_shape, 1) if column else b_shape

    def matrix(g: Any) -> Any:
        shape = (*shape_of(g), 1) if column else shape_of(g)
        return _as(g, (*shape[:-1], 1, shape[-1]) if row else shape)

    def a_gradient(g: Any) -> Any:
        # a column times a row is every product of their entries
        times = multiply if column else matmul
        whole = times(matrix(g), swapaxes(_as(b, columns), -1, -2))
        return _as(unbroadcast(whole, rows), a_shape)

    def b_gradient(g: Any) -> Any:
        times = multiply if row else matmul
        whole = times(swapaxes(_as(a, rows), -1, -2), matrix(g))
        return _as(unbroadcast(whole, columns), b_shape)

    return [a_gradient, b_gradient]


def _as(x: Any, shape: tuple[int, ...]) -> Any:
    return x if shape_of(x) == shape else reshape(x, shape)


matmul = primitive(numpy.matmul, _matmul_gradient)
at_sign = primitive(operator.matmul, _matmul_gradient, "matmul")


def dot(a: Any, b: Any) -> Any:
    """The product of two matrices or vectors, or by a number.

    Raises ArgumentError for arrays of more than two axes, for which `matmul` is clearer.
    """
    axes = len(shape_of(a)), len(shape_of(b))
    if 0 in axes:
        return multiply(a, b)
    if numpy.max(axes) > 2:
        raise ArgumentError(
            f"dot: arrays of shapes {shape_of(a)} and {shape_of(b)}; expected at most two axes "
            "each, use matmul for stacks of matrices."
        )
    return matmul(a, b)


def outer(a: Any, b: Any) -> Any:
    """All products of an entry of `a` with an entry of `b`."""
    return multiply(reshape(a, (-1, 1)), reshape(b, (1, -1)))
