"""Largest and smallest entries.

Where entries tie for the largest or smallest there is no derivative; they share it equally.
"""

from typing import Any

import numpy

from lab.eager.shaping import Axis, kept_shape, reshape, shape_of, unbroadcast
from lab.eager.tape import primitive, value_of


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
