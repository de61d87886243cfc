"""Means and extremes of all entries or along axes; `sum` is in `shaping`.

If several entries are extreme, the derivative does not exist.  By convention, these entries divide
the gradient equally.
"""

from math import prod

import numpy

from lab.eager.elementwise import divide
from lab.eager.rules import composed, rule
from lab.eager.shaping import Axis, kept_shape, reshape, shape_of, sum
from lab.eager.tape import Gradients, Value, value_of


@composed(numpy.mean)
def mean(a: object, axis: Axis = None, *, keepdims: bool = False) -> Value:
    """Return the sum over `axis` divided by its number of entries."""
    shape = shape_of(a)
    lengths = zip(shape, kept_shape(shape, axis), strict=True)
    count = prod(length for length, kept in lengths if kept != length)
    return divide(sum(a, axis, keepdims=keepdims), count)


def _extreme_gradient(
    y: Value, a: Value, axis: Axis = None, *, keepdims: bool = False
) -> Gradients:
    """Return da: g at the extreme entry; several extreme entries divide g equally."""
    kept = kept_shape(shape_of(a), axis)
    extreme = value_of(a) == numpy.reshape(value_of(y), kept)
    shares = extreme / numpy.sum(extreme, axis=axis, keepdims=True)
    return [lambda g: reshape(g, kept) * shares]


max = rule(numpy.max, _extreme_gradient)
min = rule(numpy.min, _extreme_gradient)
rule(numpy.amax, _extreme_gradient)
rule(numpy.amin, _extreme_gradient)
