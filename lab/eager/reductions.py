"""Means, variances, extremes and products of all entries or along axes.

Means, variances and products consist of other functions and need no separate rules.  If several
entries tie for an extreme, the derivative does not exist; the rule divides the gradient equally.
"""

from math import prod as size_of

import numpy
from numpy.typing import DTypeLike

from lab.eager.elementwise import divide, multiply, sqrt, square, subtract
from lab.eager.routing import concatenate, select
from lab.eager.rules import composed, rule
from lab.eager.shaping import Axis, kept_shape, reshape, shape_of, sum, transpose, unbroadcast
from lab.eager.tape import Gradients, Operand, Value, value_of


def _entries(a: object, axis: Axis) -> int:
    """Return the number of entries of `a` in each sum over `axis`."""
    shape = shape_of(a)
    lengths = zip(shape, kept_shape(shape, axis), strict=True)
    return size_of(length for length, kept in lengths if kept != length)


@composed(numpy.mean)
def mean(
    a: object, axis: Axis = None, dtype: DTypeLike | None = None, *, keepdims: bool = False
) -> Value:
    """Return the sum over `axis` divided by its number of entries."""
    return divide(sum(a, axis, dtype, keepdims=keepdims), _entries(a, axis))


@composed(numpy.var)
def var(a: object, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False) -> Value:
    """Return the mean squared distance from the mean, with `ddof` entries fewer in the divisor."""
    away = square(subtract(a, mean(a, axis, keepdims=True)))
    return divide(sum(away, axis, keepdims=keepdims), _entries(a, axis) - ddof)


@composed(numpy.std)
def std(a: object, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False) -> Value:
    """Return the root of `var`; see `root`."""
    return root(var(a, axis, ddof=ddof, keepdims=keepdims))


def root(x: Value) -> Value:
    """Return the square root of a sum of squares, with gradient 0 at 0.

    Where the derivative does not exist, 0 is a convention, as for the absolute value.
    """
    is_zero = value_of(x) == 0
    if not is_zero.any():
        return sqrt(x)
    return select(is_zero, 0.0 * x, sqrt(select(is_zero, 1.0, x)))


def _larger_gradient(z: Value, x: Value, y: Value) -> Gradients:
    """Return dx = g where the result is x, dy = g where it is y, and half each for a tie."""
    shapes = shape_of(x), shape_of(y)
    tie = value_of(x) == value_of(y)
    share = numpy.where(tie, 0.5, value_of(x) == value_of(z))
    return [
        lambda g: unbroadcast(g * share, shapes[0]),
        lambda g: unbroadcast(g * (1 - share), shapes[1]),
    ]


def _extreme_gradient(
    y: Value, a: Value, axis: Axis = None, *, keepdims: bool = False, initial: object = None
) -> Gradients:
    """Return da = g at the extreme entry, divided equally among ties.

    The constant `initial` counts as an entry.
    """
    kept = kept_shape(shape_of(a), axis)
    taken = numpy.reshape(value_of(y), kept)
    extreme = value_of(a) == taken
    ties = numpy.sum(extreme, axis=axis, keepdims=True)
    if initial is not None:
        ties = ties + (taken == initial)
    shares = extreme / ties
    return [lambda g: reshape(g, kept) * shares]


maximum = rule(numpy.maximum, _larger_gradient)
minimum = rule(numpy.minimum, _larger_gradient)
max = rule(numpy.max, _extreme_gradient)
min = rule(numpy.min, _extreme_gradient)
rule(numpy.amax, _extreme_gradient)
rule(numpy.amin, _extreme_gradient)


@composed(numpy.prod)
def prod(a: object, axis: Axis = None, *, keepdims: bool = False) -> Value:
    """Return the product over `axis`, computed by halves, which works with zeros."""
    value: Operand = numpy.asarray(value_of(a))
    whole = value.prod(axis, keepdims=keepdims)
    if not value.size:
        return whole
    shape = shape_of(a)
    kept = kept_shape(shape, axis)
    axes = sorted(range(len(shape)), key=lambda n: kept[n] == shape[n] != 1)  # stays: last
    factors = reshape(transpose(a, axes), (_entries(a, axis), -1))
    while (count := shape_of(factors)[0]) > 1:
        half = count // 2
        pairs = multiply(factors[:half], factors[half : 2 * half])
        factors = concatenate([pairs, factors[2 * half :]])
    return reshape(factors, whole.shape)
