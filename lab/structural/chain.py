"""Differentiate functions of the four primitives by the chain rule.

    >>> output, pullback = vjp(lambda x, y: cat([narrow(x, 0, 0, 2), clamp(y, 0, 1)], 0), [x, y])
    >>> pullback(cotangent)

A chain is the list of the primitives that a function applies to its arguments.  Tangents propagate
through the primitives in order, and cotangents in reverse order.  A value with several uses
receives the sum of the cotangents of its uses, because the transpose of a fan-out is a sum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from lab.errors import ArgumentError, argument_error, check_function, check_sequence, quote
from lab.structural.operands import Array, read_only
from lab.structural.primitive import Adjoint, Linearization, LinearMap
from lab.structural.primitives import primitives


@dataclass(frozen=True, eq=False)
class Recorded:
    """A value in a recorded function; a condition can use the array `value`.

    `chain` contains all results of the function in order.  `linear` is the derivative of the
    primitive that computed the value from `arguments`, which can be constants.  An input has
    neither `linear` nor `arguments`.
    """

    value: Array
    chain: "list[Recorded]"
    linear: Linearization | None = None
    arguments: tuple[object, ...] = ()

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise ArgumentError(
            "a chain consists of where, cat, narrow, and clamp only. In a condition, use the "
            "value, as in x.value > 0."
        )

    __array_ufunc__ = None  # NumPy must not apply operations entry by entry


def where(condition: object, x: object, y: object) -> Array:
    """Select the entries of x where a condition m is true, and of y elsewhere, with broadcasting.

    ::

        forward     z  = x where m, y elsewhere
        linearize   J(dx, dy) = m dx + (1 - m) dy
        jvp         z, J(dx, dy)
        transpose   g ↦ gx = sum(m g), gy = sum((1 - m) g)
        vjp_jax     z, g ↦ (gx, gy)
        vjp_torch   {condition: None, x: gx, y: gy}

    Sums run over the broadcast axes of x or y.  The condition is metadata, even if it depends on x.
    """
    return _apply("where", (x, y), condition=condition)


def cat(inputs: object, dim: object) -> Array:
    """Join the inputs x1, …, xn along the axis dim = d.

    ::

        forward     z  = cat(x1, …, xn; d)
        linearize   J(dx1, …, dxn) = cat(dx1, …, dxn; d)
        jvp         z, J(dx1, …, dxn)
        transpose   g ↦ gxi = narrow(g; d, si, li)
        vjp_jax     z, g ↦ (gx1, …, gxn)
        vjp_torch   {inputs: [gx1, …, gxn], dim: None}

    where li is the length of xi along d, and si = l1 + … + l(i-1).  The cotangents of arrays
    are views of g.
    """
    if not isinstance(inputs, tuple | list):
        raise ArgumentError(f"cat: inputs = {quote(inputs)}: expected a tuple or a list.")
    return _apply("cat", inputs, dim=dim)


def narrow(a: object, dim: object, start: object, length: object) -> Array:
    """Return the part of a of length l that starts at s, along the axis dim = d.

    ::

        forward     z  = a[…, s : s + l, …]
        linearize   J(da) = narrow(da; d, s, l)
        jvp         z, J(da)
        transpose   g ↦ ga = scatter(g; d, s, l): g in that part, zero outside it
        vjp_jax     z, g ↦ (ga,)
        vjp_torch   {a: ga, dim: None, start: None, length: None}

    The start must not be negative.  The result is a view of a.
    """
    return _apply("narrow", (a,), dim=dim, start=start, length=length)


def clamp(x: object, lo: object, hi: object) -> Array:
    """Limit x to the interval from lo to hi, for real arrays, with broadcasting.

    ::

        forward     z  = lo where x < lo, hi where x > hi, x between
        linearize   J(dx, dlo, dhi) = dlo where x < lo, dhi where x > hi, dx between
        jvp         z, J(dx, dlo, dhi)
        transpose   g ↦ gx = sum(g between), glo = sum(g where x < lo), ghi = sum(g where x > hi)
        vjp_jax     z, g ↦ (gx, glo, ghi)
        vjp_torch   {x: gx, lo: glo, hi: ghi}

    At x = lo or x = hi the derivative does not exist.  By convention, z then has the tangent of x,
    and x receives the whole cotangent.  PyTensor and PyTorch use the same convention; JAX's clip
    divides the cotangent equally between x and the bound.  `Linearization.nonsmooth` marks the
    output entries at which x equals a bound.  At all other entries, second derivatives are zero.

    Raise ArgumentError if lo > hi, or if a bound is nan.
    """
    return _apply("clamp", (x, lo, hi))


def _apply(name: str, inputs: Sequence[object], **metadata: object) -> Array:
    """Return the result of the primitive `name`; record it if an input belongs to a chain."""
    chains = {id(value.chain): value.chain for value in inputs if isinstance(value, Recorded)}
    if len(chains) > 1:
        raise ArgumentError("inputs: values of two chains; expected values of one chain.")
    values = [value.value if isinstance(value, Recorded) else value for value in inputs]
    linear = primitives[name].linearize(values, **metadata)
    for chain in chains.values():
        chain.append(Recorded(linear.output, chain, linear, tuple(inputs)))
        return chain[-1]
    return linear.output


@dataclass(frozen=True, eq=False)
class ChainLinearization(LinearMap):
    """The composition of the linear maps of a chain, from `inputs` to the result `output`."""

    inputs: tuple[Recorded, ...]
    output: Recorded

    @property
    def _links(self) -> list[tuple[Recorded, Linearization]]:
        return [(result, result.linear) for result in self.output.chain if result.linear]

    def __call__(self, *tangents: object) -> Array:
        """Return J v, the tangent of the output, for a tangent of every input."""
        if len(tangents) != len(self.inputs):
            reason = f"expected {len(self.inputs)}, one per input, got {len(tangents)}."
            raise argument_error("tangents", tangents, reason)
        known: dict[object, object] = dict(zip(self.inputs, tangents, strict=True))
        for result, linear in self._links:
            pairs = zip(result.arguments, linear.values, strict=True)
            known[result] = linear(
                *(known[a] if isinstance(a, Recorded) else np.zeros_like(v) for a, v in pairs)
            )
        return known[self.output]

    def transpose(self, cotangent: object) -> tuple[Array, ...]:
        """Return J* g, a cotangent of every input, which is zero for an unused input."""
        total: dict[Recorded, Array] = {self.output: cotangent}
        for result, linear in reversed(self._links):
            if result in total:
                parts = linear.transpose(total.pop(result))
                for argument, part in zip(result.arguments, parts, strict=True):
                    if isinstance(argument, Recorded):
                        total[argument] = total[argument] + part if argument in total else part
        return tuple(
            read_only(total[each] if each in total else np.zeros_like(each.value))
            for each in self.inputs
        )


def linearize(
    function: Callable[..., object], inputs: Sequence[object]
) -> tuple[Array, ChainLinearization]:
    """Return (f(inputs), J) for a function of primitives."""
    check_function("function", function)
    chain: list[Recorded] = []
    given = tuple(
        Recorded(value, chain) for value in check_sequence("inputs", inputs, "a list of arrays")
    )
    result = function(*given)
    if not isinstance(result, Recorded) or result.chain is not chain:
        expected = "expected a result of where, cat, narrow, or clamp."
        raise ArgumentError(f"function: it returned {quote(result)}; {expected}")
    return result.value, ChainLinearization(given, result)


def jvp(
    function: Callable[..., object], inputs: Sequence[object], tangents: Sequence[object]
) -> tuple[Array, Array]:
    """Return (f(inputs), J v) for a function of primitives."""
    output, linear = linearize(function, inputs)
    return output, linear(*check_sequence("tangents", tangents, "a list of arrays"))


def vjp(function: Callable[..., object], inputs: Sequence[object]) -> tuple[Array, Adjoint]:
    """Return (f(inputs), J.T) for a function of primitives."""
    output, linear = linearize(function, inputs)
    return output, linear.T
