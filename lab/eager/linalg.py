"""Products of vectors, matrices and tensors, and numpy.linalg for nodes.

With C = A·B and the gradient G of C, the gradient of A is G·Bᵀ and that of B is Aᵀ·G.  A
single row to the left or column to the right, which numpy writes with one axis, is a matrix
here while its gradient is formed; stacks of matrices that were broadcast are summed back.

As ``np.linalg`` this module has solve, inv, det, slogdet, cholesky and norm; all else is numpy's
own.
"""

import operator
from collections.abc import Sequence
from string import ascii_letters

import numpy
from numpy import linalg
from numpy.typing import ArrayLike

from lab.eager.elementwise import absolute, multiply, power, square
from lab.eager.rearranging import moveaxis
from lab.eager.reductions import max, min, root
from lab.eager.routing import array, stack
from lab.eager.rules import REGISTERED, composed, rule
from lab.eager.shaping import (
    Axis,
    broadcast_to,
    expand_dims,
    reshape,
    shape_of,
    sum,
    swapaxes,
    unbroadcast,
)
from lab.eager.tape import Function, Gradients, Operand, Plain, Value, primitive, value_of
from lab.errors import ArgumentError, GradientError, quoted


def _matmul_gradient(c: Value, a: Value, b: Value) -> Gradients:
    """The gradients: dA = G·Bᵀ, dB = Aᵀ·G."""
    a_shape, b_shape = shape_of(a), shape_of(b)
    row, column = len(a_shape) == 1, len(b_shape) == 1
    rows = (1, *a_shape) if row else a_shape
    columns = (*b_shape, 1) if column else b_shape

    def matrix(g: Value) -> Value:
        shape = (*shape_of(g), 1) if column else shape_of(g)
        return _as(g, (*shape[:-1], 1, shape[-1]) if row else shape)

    def a_gradient(g: Value) -> Value:
        # a column times a row is every product of their entries
        times = multiply if column else matmul
        whole = times(matrix(g), swapaxes(_as(b, columns), -1, -2))
        return _as(unbroadcast(whole, rows), a_shape)

    def b_gradient(g: Value) -> Value:
        times = multiply if row else matmul
        whole = times(swapaxes(_as(a, rows), -1, -2), matrix(g))
        return _as(unbroadcast(whole, columns), b_shape)

    return [a_gradient, b_gradient]


def _as(x: Value, shape: tuple[int, ...]) -> Value:
    return x if shape_of(x) == shape else reshape(x, shape)


matmul = rule(numpy.matmul, _matmul_gradient)
at_sign = primitive(operator.matmul, _matmul_gradient, "matmul")


def dot(a: object, b: object) -> Value:
    """Sums of products over the last axis of `a` and the last but one, or only one, of `b`."""
    axes = len(shape_of(a)), len(shape_of(b))
    if 0 in axes:
        return multiply(a, b)
    return (
        matmul(a, b) if numpy.max(axes) <= 2 else tensordot(a, b, (-1, -1 if axes[1] == 1 else -2))
    )


REGISTERED[numpy.dot] = dot


@composed(numpy.outer)
def outer(a: object, b: object) -> Value:
    """All products of an entry of `a` with an entry of `b`."""
    return multiply(reshape(a, (-1, 1)), reshape(b, (1, -1)))


@composed(numpy.inner)
def inner(a: object, b: object) -> Value:
    """The sum of products over the last axis of each."""
    return tensordot(a, b, (-1, -1)) if shape_of(a) and shape_of(b) else multiply(a, b)


@composed(numpy.kron)
def kron(a: object, b: object) -> Value:
    """All products of an entry of `a` with an entry of `b`, as blocks of `b`."""
    ndim = numpy.maximum(len(shape_of(a)), len(shape_of(b)))
    first, second = ((1,) * (ndim - len(shape_of(x))) + shape_of(x) for x in (a, b))
    blocks = [n for length in first for n in (length, 1)], [n for m in second for n in (1, m)]
    whole = tuple(m * n for m, n in zip(first, second, strict=True))
    return reshape(multiply(reshape(a, blocks[0]), reshape(b, blocks[1])), whole)


@composed(numpy.cross)
def cross(
    a: object, b: object, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Value:
    """The vectors at right angles to those of three entries along the axes of `a` and `b`."""
    axes = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    vectors: Operand = [moveaxis(part, n, 0) for part, n in zip((a, b), axes, strict=False)]
    (x, y, z), (u, v, w) = vectors
    return stack([y * w - z * v, z * u - x * w, x * v - y * u], axes[2])


@composed(numpy.tensordot)
def tensordot(a: object, b: object, axes: int | Sequence[ArrayLike] = 2) -> Value:
    """The sum of products over pairs of axes: as many as `axes`, or those that it lists."""
    left, right = len(shape_of(a)), len(shape_of(b))
    if isinstance(axes, int):
        axes = range(left - axes, left), range(axes)
    pairs = zip(*(numpy.atleast_1d(numpy.array(side, int)) for side in axes), strict=True)
    firsts, seconds = [*ascii_letters[:left]], [*ascii_letters[left : left + right]]
    for first, second in pairs:
        seconds[second] = firsts[first]
    kept = "".join(n for n in firsts + seconds if (n in firsts) != (n in seconds))
    return einsum(f"{''.join(firsts)},{''.join(seconds)}->{kept}", a, b)


@composed(numpy.einsum)
def einsum(subscripts: Operand, *operands: Operand, optimize: object = True) -> Value:
    """The sum of products over the axes that `subscripts` name, as numpy's."""
    if not isinstance(subscripts, str):  # arrays, each followed by the numbers of its axes
        *pairs, last = (
            (subscripts, *operands) if len(operands) % 2 == 0 else (subscripts, *operands, None)
        )
        operands = tuple(pairs[::2])
        words = ["".join("..." if n is ... else ascii_letters[n] for n in w) for w in pairs[1::2]]
        subscripts = ",".join(words)
        if last is not None:
            subscripts += "->" + "".join("..." if n is ... else ascii_letters[n] for n in last)
    return _einsum(_explicit(subscripts, *map(shape_of, operands)), *operands)


def _explicit(subscripts: str, *shapes: tuple[int, ...]) -> str:
    """The same with an output, and with letters for what dots leave open."""
    words, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = words.split(",")
    if len(inputs) != len(shapes):
        raise ArgumentError(
            f"einsum: subscripts = {quoted(subscripts)}: they name {len(inputs)} arrays, and "
            f"there are {len(shapes)}."
        )
    if not arrow:
        letters = words.replace(",", "").replace(".", "")
        once = "".join(sorted(n for n in set(letters) if letters.count(n) == 1))
        output = ("..." if "." in words else "") + once
    pairs = zip(inputs, shapes, strict=True)
    open_ = [len(s) - len(w.replace(".", "")) if "." in w else 0 for w, s in pairs]
    free = [n for n in ascii_letters if n not in words]
    names = free[: numpy.max([0, *open_])]
    filled = [
        w.replace("...", "".join(names[len(names) - n :]))
        for w, n in zip(inputs, open_, strict=True)
    ]
    return ",".join(filled) + "->" + output.replace("...", "".join(names))


def _einsum_gradient(y: Value, subscripts: str, *operands: object) -> Gradients:
    """The gradients: of one operand, the product of g with all others."""
    words, _, output = subscripts.partition("->")
    inputs = words.split(",")
    free = [n for n in ascii_letters if n not in words]

    def by(number: int) -> Function:
        shape = shape_of(operands[number])
        # a letter that comes twice is a diagonal: the second is another one, tied to it by a unit
        mine, units = "", list[tuple[str, numpy.ndarray]]()
        for letter, length in zip(inputs[number], shape, strict=True):
            if letter in mine:
                units.append((letter + free[len(units)], numpy.eye(length)))
            mine += units[-1][0][1] if letter in mine else letter
        others = [pair for n, pair in enumerate(zip(inputs, operands, strict=True)) if n != number]
        labels, arrays = zip(*others, *units, strict=True) if others or units else ((), ())
        # what was summed within the operand alone gets the same everywhere
        reached = "".join(n for n in mine if n in output + "".join(labels))

        def gradient(g: Value) -> Value:
            product = _einsum(",".join((output, *labels)) + "->" + reached, g, *arrays)
            lengths = dict(zip(reached, shape_of(product), strict=True))
            spread = reshape(product, tuple(lengths.get(n, 1) for n in mine))
            whole = numpy.broadcast_shapes(shape_of(spread), shape)
            return unbroadcast(broadcast_to(spread, whole), shape)

        return gradient

    return [None, *map(by, range(len(operands)))]


def _product(subscripts: str, *operands: numpy.ndarray) -> Value:
    return numpy.einsum(subscripts, *operands, optimize=len(operands) > 1)


_einsum: Function = primitive(_product, _einsum_gradient, "einsum")


def _turned(a: object) -> Value:
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


def _cholesky_gradient(y: Value, a: Value) -> Gradients:
    """The gradient: da = ½(m + mᵀ) with m = y⁻ᵀ·(yᵀ·g, above the diagonal 0 and on it half)·y⁻¹."""
    halves = numpy.tril(numpy.ones(shape_of(a)[-2:])) - numpy.eye(shape_of(a)[-1]) / 2

    def gradient(g: Value) -> Value:
        back = inv(y)
        whole = matmul(matmul(_turned(back), halves * matmul(_turned(y), g)), back)
        return (whole + _turned(whole)) / 2

    return [gradient]


#: Of a symmetric matrix: what moves one entry moves the one across the diagonal as well.
cholesky: Function = rule(linalg.cholesky, _cholesky_gradient)


@composed(linalg.slogdet)
def slogdet(a: object) -> tuple[Value, Value]:
    """The sign of the determinant, a constant, and the logarithm of its absolute value."""
    return linalg.slogdet(value_of(a))[0], _logdet(a)


def _solve_gradient(x: Value, a: Value, b: Value) -> Gradients:
    """With a·x = b, the gradients: db = a⁻ᵀ·g, da = -db·xᵀ."""
    a_shape, b_shape = shape_of(a), shape_of(b)
    column = len(b_shape) == 1

    def b_gradient(g: Value) -> Value:
        return solve(_turned(a), g)

    def a_gradient(g: Value) -> Value:
        back, solution = b_gradient(g), x
        if column:
            back, solution = expand_dims(back, -1), expand_dims(solution, -1)
        return unbroadcast(-matmul(back, _turned(solution)), a_shape)

    return [a_gradient, lambda g: unbroadcast(b_gradient(g), b_shape)]


solve: Function = rule(linalg.solve, _solve_gradient)


@composed(linalg.norm)
def norm(x: object, ord: Operand = None, axis: Axis = None, keepdims: bool = False) -> Value:
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
            f"norm: ord = {quoted(ord)}: of matrices, only the root of the squares (None or "
            "'fro') has a gradient rule."
        )
    size = absolute(x)
    if ord in (numpy.inf, -numpy.inf):
        return (max if ord > 0 else min)(size, axis, keepdims=keepdims)
    total = sum(size if ord == 1 else power(size, ord), axis, keepdims=keepdims)
    nothing = value_of(total) == 0
    return multiply(~nothing, power(total + nothing, 1 / ord))


def __getattr__(name: str) -> Plain:
    return getattr(linalg, name)
