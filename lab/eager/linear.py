"""Matrix products.

With C = A·B and the gradient G of C, the gradient of A is G·Bᵀ and that of B is Aᵀ·G.  A
single row to the left or column to the right, which numpy writes with one axis, is a matrix
here while its gradient is formed; stacks of matrices that were broadcast are summed back.
"""

import operator
from typing import Any

import numpy

from lab.eager.elementwise import multiply
from lab.eager.shaping import reshape, shape_of, swapaxes, unbroadcast
from lab.eager.tape import primitive
from lab.errors import ArgumentError


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
