"""Means and extremes of all entries or along axes; `sum` is in `shaping`.

If several entries are extreme, the derivative does not exist.  By convention, these entries divide
the gradient equally.
"""

import numpy

from lab.eager.rules import rule
from lab.eager.shaping import Axis, kept_shape, reshape, shape_of, sum_gradient
from lab.eager.tape import Gradients, Value, value_of


def _mean_gradient(y: Value, a: Value, axis: Axis = None, *, keepdims: bool = False) -> Gradients:
    """Return da = (the gradient of the sum) / (the number of entries of each mean)."""
    (of_sum,) = sum_gradient(y, a, axis, keepdims=keepdims)
    assert of_sum is not None, "a sum has a gradient"
    count = numpy.size(value_of(a)) / max(1, numpy.size(value_of(y)))
    return [lambda g: of_sum(g) / count]


def _extreme_gradient(
    y: Value, a: Value, axis: Axis = None, *, keepdims: bool = False
) -> Gradients:
    """Return da: g at the extreme entry; several extreme entries divide g equally."""
    kept = kept_shape(shape_of(a), axis)
    extreme = value_of(a) == numpy.reshape(value_of(y), kept)
    shares = extreme / numpy.sum(extreme, axis=axis, keepdims=True)
    return [lambda g: reshape(g, kept) * shares]


mean = rule(numpy.mean, _mean_gradient)
for _theirs in (numpy.max, numpy.min, numpy.amax, numpy.amin):
    rule(_theirs, _extreme_gradient)
