"""Define products of vectors and matrices with their gradients.

For C = A·B, let G be the gradient wrt C.  Then the gradient wrt A is G·Bᵀ, and the gradient wrt B
is Aᵀ·G.  A vector on the left is a row, and a vector on the right is a column.  The gradient wrt a
broadcast stack of matrices is the sum over the broadcast axes.
"""

import operator

import numpy

from lab.eager.elementwise import MULTIPLY, multiply
from lab.eager.shaping import reshape, shape_of, swapaxes, unbroadcast
from lab.eager.tape import Gradients, Value, primitive, register
from lab.errors import GradientError


def _matmul_gradient(c: Value, a: Value, b: Value) -> Gradients:
    """Return the gradient functions of C = A·B: G ↦ G·Bᵀ for A, and G ↦ Aᵀ·G for B."""
    a_shape, b_shape = shape_of(a), shape_of(b)
    row, column = len(a_shape) == 1, len(b_shape) == 1
    rows = (1, *a_shape) if row else a_shape
    columns = (*b_shape, 1) if column else b_shape

    def matrix(g: Value) -> Value:
        shape = (*shape_of(g), 1) if column else shape_of(g)
        return _with_shape(g, (*shape[:-1], 1, shape[-1]) if row else shape)

    def a_gradient(g: Value) -> Value:
        # a column times a row is an outer product
        times = multiply if column else matmul
        whole = times(matrix(g), swapaxes(_with_shape(b, columns), -1, -2))
        return _with_shape(unbroadcast(whole, rows), a_shape)

    def b_gradient(g: Value) -> Value:
        times = multiply if row else matmul
        whole = times(swapaxes(_with_shape(a, rows), -1, -2), matrix(g))
        return _with_shape(unbroadcast(whole, columns), b_shape)

    return [a_gradient, b_gradient]


def _with_shape(x: Value, shape: tuple[int, ...]) -> Value:
    return x if shape_of(x) == shape else reshape(x, shape)


matmul = register(numpy.matmul, _matmul_gradient)
at_sign = primitive(operator.matmul, _matmul_gradient, "matmul")


def _dot_gradient(c: Value, a: Value, b: Value) -> Gradients:
    """Return the gradient functions of a dot product; raise GradientError above two axes."""
    axes = len(shape_of(a)), len(shape_of(b))
    if max(axes) > 2:
        raise GradientError(f"dot: arrays of {axes[0]} and {axes[1]} axes; use np.matmul.")
    return [*(_matmul_gradient if all(axes) else MULTIPLY)(c, a, b)]


dot = register(numpy.dot, _dot_gradient)
