"""numpy.linalg for nodes: solve, inv, det, slogdet and norm; all else is numpy's own."""

from typing import Any

import numpy
from numpy import linalg

from lab.eager.elementwise import absolute, multiply, power, square
from lab.eager.products import matmul
from lab.eager.reductions import max, min, root
from lab.eager.routing import array
from lab.eager.rules import composed, rule
from lab.eager.shaping import (
    Axis,
    expand_dims,
    reshape,
    shape_of,
    sum,
    swapaxes,
    unbroadcast,
)
from lab.eager.tape import Function, primitive, value_of
from lab.errors import GradientError


def _turned(a: Any) -> Any:
    return swapaxes(a, -1, -2)


inv: Function = rule(
    linalg.inv, lambda y, a: [lambda g: -matmul(matmul(_turned(y), g), _turned(y))]
)
det: Function = rule(
    linalg.det, lambda y, a: [lambda g: reshape(g * y, (*shape_of(y), 1, 1)) * _turned(inv(a))]
)
_logdet = primitive(
    lambda a: linalg.slogdet(a)[1],
    lambda y, a: [lambda g: reshape(g, (*shape_of(y), 1, 1)) * _turned(inv(a))],
    "slogdet",
)


@composed(linalg.slogdet)
def slogdet(a: Any) -> Any:
    """The sign of the determinant, a constant, and the logarithm of its absolute value."""
    return linalg.slogdet(value_of(a))[0], _logdet(a)


def _solve_gradient(x: Any, a: Any, b: Any) -> list:
    """With a·x = b, the gradients: db = a⁻ᵀ·g, da = -db·xᵀ."""
    a_shape, b_shape = shape_of(a), shape_of(b)
    column = len(b_shape) == 1

    def b_gradient(g: Any) -> Any:
        return solve(_turned(a), g)

    def a_gradient(g: Any) -> Any:
        back, found = b_gradient(g), x
        if column:
            back, found = expand_dims(back, -1), expand_dims(found, -1)
        return unbroadcast(-matmul(back, _turned(found)), a_shape)

    return [a_gradient, lambda g: unbroadcast(b_gradient(g), b_shape)]


solve: Function = rule(linalg.solve, _solve_gradient)


@composed(linalg.norm)
def norm(x: Any, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Any:
    """The length of vectors by any order, and of matrices by the root of their squares ("fro").

    Where x is 0 there is no derivative; 0 is chosen.
    """
    x = array(x)
    if axis is None and ord is None:
        axis = tuple(range(len(shape_of(x))))
    elif axis is None and len(shape_of(x)) == 1:
        axis = 0
    elif axis is None:
        axis = (-2, -1)
    if ord in (None, "fro") or (ord == 2 and not isinstance(axis, tuple)):
        return root(sum(square(x), axis, keepdims=keepdims))
    if isinstance(axis, tuple) and len(axis) > 1:
        raise GradientError(
            f"norm: ord = {ord!r}: of matrices, only the root of the squares (None or 'fro') has "
            "a gradient rule."
        )
    size = absolute(x)
    if ord in (numpy.inf, -numpy.inf):
        return (max if ord > 0 else min)(size, axis, keepdims=keepdims)
    total = sum(size if ord == 1 else power(size, ord), axis, keepdims=keepdims)
    nothing = value_of(total) == 0
    return multiply(~nothing, power(total + nothing, 1 / ord))


def __getattr__(name: str) -> Any:
    return getattr(linalg, name)
