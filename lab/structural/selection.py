"""The primitives that choose entry by entry: where, by a mask, and clamp, by two bounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant, Variable

from lab.errors import ArgumentError
from lab.structural.backends import SYMBOLIC, Array, Backend
from lab.structural.operands import (
    COMPLEX,
    REAL,
    Call,
    Form,
    broadcast,
    form,
    mask,
    operands,
)
from lab.structural.primitive import Linearization, Primitive


@dataclass(frozen=True, eq=False)
class Selecting(Linearization):
    """The linear map of `Where`, with its own copy of the condition."""

    condition: Array

    broadcasts = True

    def push(self, backend: Backend, tangents: Sequence[Array]) -> Array:
        """The tangent m dx + (1 - m) dy."""
        x, y = tangents
        return backend.overlay(y, (self.condition, x))

    def pull(self, backend: Backend, cotangent: Array) -> Sequence[Array]:
        """For x, m g; for y, (1 - m) g."""
        return backend.route(cotangent, self.condition, ~self.condition)


class Where(Primitive):
    """The entries of x where a condition m holds, of y elsewhere; broadcasting as numpy does.

    ::

        forward     z  = x where m, y elsewhere
        linearize   J(dx, dy) = m dx + (1 - m) dy
        jvp         z, J(dx, dy)
        transpose   g ↦ gx = sum(m g), gy = sum((1 - m) g)
        vjp_jax     z, g ↦ (gx, gy)
        vjp_torch   {condition: None, x: gx, y: gy}

    Sums run over the axes along which x or y was repeated.  The condition is metadata; that
    it may have been computed from x does not matter.
    """

    name = "where"
    arguments = ("condition", "x", "y")
    metadata = ("condition",)

    def _checked(self, inputs: tuple[Any, ...], names: Sequence[str], **metadata: Any) -> Call:
        condition = mask(self.name, "condition", metadata["condition"])
        kinds = REAL + COMPLEX
        values, forms, backend = operands(self.name, names, inputs, kinds, [condition])
        shape = broadcast(self.name, (form("condition", condition), *forms))
        output = Form("the output", shape, forms[0].dtype)
        return Call(self.name, values, forms, output, {"condition": condition}, backend)

    def _output(self, call: Call) -> Array:
        x, y = call.values
        selected = call.backend.overlay(y, (call.metadata["condition"], x))
        return call.backend.sealed(selected)

    def _linearization(self, call: Call) -> Linearization:
        condition = call.metadata["condition"]
        kept = condition if isinstance(condition, Variable) else condition.copy()
        return Selecting(call, kept)


@dataclass(frozen=True, eq=False)
class Clamping(Linearization):
    """The linear map of `Clamp`: which entries lie below lo, above hi, and on a bound."""

    below: Array
    above: Array
    surface: Array

    broadcasts = True

    def push(self, backend: Backend, tangents: Sequence[Array]) -> Array:
        """The tangent: dlo below, dhi above, dx between."""
        x, lo, hi = tangents
        return backend.overlay(x, (self.above, hi), (self.below, lo))

    def pull(self, backend: Backend, cotangent: Array) -> Sequence[Array]:
        """All of g goes to one of the three, entry by entry."""
        between = ~(self.below | self.above)
        return backend.route(cotangent, between, self.below, self.above)

    @property
    def nonsmooth(self) -> Array:
        """Where x = lo or x = hi."""
        return self.surface


class Clamp(Primitive):
    """The number nearest to x between lo and hi; real, broadcasting as numpy does.

    ::

        forward     z  = lo where x < lo, hi where x > hi, x between
        linearize   J(dx, dlo, dhi) = dlo where x < lo, dhi where x > hi, dx between
        jvp         z, J(dx, dlo, dhi)
        transpose   g ↦ gx = sum(g between), glo = sum(g where x < lo), ghi = sum(g where x > hi)
        vjp_jax     z, g ↦ (gx, glo, ghi)
        vjp_torch   {x: gx, lo: glo, hi: ghi}

    Where x = lo or x = hi there is no derivative.  The choice made there is that of the region
    between: tangent and cotangent are those of x, all of them, so that the cotangent still goes
    to one input and none is lost.  PyTensor and PyTorch choose the same; JAX's clip gives one
    half to x and one to the bound.  The linearization marks these entries as `nonsmooth`.
    Elsewhere, second derivatives are zero.

    lo > hi, or a bound that is nan, is refused: at once for arrays and constants, by the graph
    when it runs otherwise.
    """

    name = "clamp"
    arguments = ("x", "lo", "hi")
    metadata = ()

    def _checked(self, inputs: tuple[Any, ...], names: Sequence[str], **metadata: Any) -> Call:
        values, forms, backend = operands(self.name, names, inputs, REAL)
        output = Form("the output", broadcast(self.name, forms), forms[0].dtype)
        x, lo, hi = values
        return Call(self.name, (x, lo, _not_below(lo, hi)), forms, output, {}, backend)

    def _output(self, call: Call) -> Array:
        return call.backend.sealed(call.backend.clip(*call.values))

    def _linearization(self, call: Call) -> Linearization:
        return Clamping(call, *map(call.backend.sealed, call.backend.regions(*call.values)))


CROSSED = "clamp: lo > hi: expected bounds with lo ≤ hi everywhere."


def _not_below(lo: Array, hi: Array) -> Array:
    """`hi`, if it is nowhere below lo: checked now if both are known, else by the graph."""
    known = [value.data if isinstance(value, Constant) else value for value in (lo, hi)]
    if any(isinstance(value, Variable) for value in known):
        return SYMBOLIC.ensure(hi, SYMBOLIC.all(lo <= hi), CROSSED)
    apart = np.asarray(known[0] <= known[1])  # not so for nan, which is no bound
    if apart.all():
        return hi
    place = np.unravel_index(int(np.argmin(apart)), apart.shape)
    low, high = (np.broadcast_to(value, apart.shape)[place] for value in known)
    entry = f"[{', '.join(map(str, place))}]" if place else ""
    raise ArgumentError(
        f"clamp: lo{entry} = {low} and hi{entry} = {high}: expected bounds with lo ≤ hi everywhere."
    )
