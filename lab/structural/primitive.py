"""Structural primitives and their linearizations.

A primitive f has *inputs*, which are differentiated, and *metadata*, which are constant.  The
`Linearization` J of f at the inputs is a linear map of tangents.  ``J.T`` is the adjoint of J under
the real Frobenius inner product Re sum(conj(a) * b)::

    < g, J v > = < J.T g, v >

All other methods of a primitive use these two maps.  `sources` applies J to the numbers of all
entries, to find the input entry that each output entry copies.  Source: "Structural AD Notes".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from lab.errors import ArgumentError, argument_error, check_type, listing
from lab.records import cached_property
from lab.structural.operands import (
    COMPLEX,
    REAL,
    Array,
    Shape,
    check_operands,
    read_only,
    unbroadcast,
)


class LinearMap(Protocol):
    """A linear map with an adjoint: the linearization of a primitive or a chain."""

    def __call__(self, *tangents: object) -> Array:
        """Return J v, the tangent of the output."""

    def transpose(self, cotangent: object) -> tuple[Array, ...]:
        """Return J* g, a cotangent of each input."""

    @property
    def T(self) -> "Adjoint":  # noqa: N802 (common notation)
        """The adjoint map, ``J.T(g)``."""
        return Adjoint(self)


@dataclass(frozen=True, eq=False)
class Adjoint:
    """The adjoint of a linear map, from a cotangent of the output to cotangents of the inputs."""

    T: LinearMap

    def __call__(self, cotangent: object) -> tuple[Array, ...]:
        """Return J* g, a cotangent of each input."""
        return self.T.transpose(cotangent)


@dataclass(frozen=True, eq=False, kw_only=True)
class Linearization(LinearMap):
    """The linear map J of tangents to the tangent of the output: ``J(*tangents)``.

    `names` and `values` are the names and the checked values of the inputs.  `metadata` contains
    copies of the metadata.  `push` computes J v, and `pull` computes J* g, for checked arguments;
    `transpose` sums each part of J* g over broadcast axes.

    `nonsmooth` is a mask of the output entries without a derivative, which broadcasts to the
    output.  The linearization of these entries is a convention, which the primitive documents.
    """

    primitive: str
    names: tuple[str, ...]
    values: tuple[np.ndarray, ...]
    metadata: Mapping[str, object]
    push: Callable[..., Array]
    pull: Callable[[Array], Sequence[Array]]
    nonsmooth: Array = np.False_

    def __call__(self, *tangents: object) -> Array:
        """Return J v, the tangent of the output, for a tangent in the shape of each input."""
        if len(tangents) != len(self.names):
            reason = f"expected {len(self.names)}, one per input, got {len(tangents)}."
            raise argument_error(f"{self.primitive}: tangents", tangents, reason)
        inputs = zip(self.names, self.values, tangents, strict=True)
        checked = (self._checked("tangent", name, v, like.shape) for name, like, v in inputs)
        return read_only(self.push(*checked))

    def transpose(self, cotangent: object) -> tuple[Array, ...]:
        """Return J* g, a cotangent of each input, for a cotangent in the shape of the output."""
        parts = self.pull(self._checked("cotangent", "the output", cotangent, self.output.shape))
        pairs = zip(parts, self.values, strict=True)
        return tuple(read_only(unbroadcast(part, value.shape)) for part, value in pairs)

    def _checked(self, kind: str, of: str, value: object, shape: Shape) -> Array:
        """Return a tangent or cotangent as an array; raise ArgumentError for another shape."""
        name = f"the {kind} of {of}"
        (array,) = check_operands(self.primitive, [name], [value], [str(self.values[0].dtype)])
        if array.shape != shape:
            reason = f"{name} has shape {array.shape}, but {of} has shape {shape}."
            raise ArgumentError(f"{self.primitive}: {reason}")
        return array

    @cached_property
    def output(self) -> Array:
        """The output f(inputs; metadata), which equals J(inputs), because f only moves entries."""
        return read_only(self.push(*self.values))


@dataclass(frozen=True)
class Primitive:
    """A function of inputs and metadata, with its derivatives.

    `arguments` are the names of all arguments in PyTorch's order; `metadata` are the names of the
    arguments without derivatives.  An argument named `inputs` is a list of inputs.  The dtype of
    all inputs is in `kinds`.  `rule(build, inputs, **metadata)` returns the linearization.
    """

    name: str
    arguments: tuple[str, ...]
    metadata: tuple[str, ...]
    rule: Callable[..., Linearization]
    kinds: tuple[str, ...] = REAL + COMPLEX

    def forward(self, *inputs: object, **metadata: object) -> Array:
        """Return f(inputs; metadata) as a read-only array."""
        return self.linearize(inputs, **metadata).output

    def linearize(self, inputs: Sequence[object], **metadata: object) -> Linearization:
        """Return J, the derivative at the inputs, as a linear map with an adjoint."""
        if set(metadata) != set(self.metadata):
            reason = f"{listing(metadata)}: expected {listing(self.metadata)}, by name."
            raise ArgumentError(f"{self.name}: metadata = {reason}")
        if not isinstance(inputs, tuple | list):
            reason = f"expected a tuple or a list, not {type(inputs).__name__}."
            raise ArgumentError(f"{self.name}: inputs: {reason}")
        names = tuple(name for name in self.arguments if name not in self.metadata)
        if names == ("inputs",):
            names = tuple(f"inputs[{number}]" for number in range(len(inputs)))
        if len(inputs) != len(names):
            reason = f"expected {listing(names)}, got {len(inputs)} inputs."
            raise ArgumentError(f"{self.name}: inputs: {reason}")
        values = check_operands(self.name, names, inputs, self.kinds)
        build = partial(Linearization, primitive=self.name, names=names, values=values)
        return self.rule(build, dict(zip(names, values, strict=True)), **metadata)

    def jvp(
        self, inputs: Sequence[object], tangents: Sequence[object], **metadata: object
    ) -> tuple[Array, Array]:
        """Return (f(inputs), J v): the output and its tangent, for tangents v of the inputs."""
        linear = self.linearize(inputs, **metadata)
        return linear.output, linear(*tangents)

    def transpose(
        self, cotangent: object, inputs: Sequence[object], **metadata: object
    ) -> tuple[Array, ...]:
        """Return J* g, a cotangent in the shape of each input, for a cotangent of the output."""
        return self.linearize(inputs, **metadata).transpose(cotangent)

    def vjp_jax(self, inputs: Sequence[object], **metadata: object) -> tuple[Array, Adjoint]:
        """Return (f(inputs), J.T), like JAX: the output and a function of its cotangent.

        The function returns a cotangent for each input, and none for the metadata.
        """
        linear = self.linearize(inputs, **metadata)
        return linear.output, linear.T

    def vjp_torch(
        self, cotangent: object, inputs: Sequence[object], **metadata: object
    ) -> dict[str, object]:
        """Return J* g, like PyTorch: a gradient for each argument name, None for metadata."""
        cotangents = self.transpose(cotangent, inputs, **metadata)
        names = [name for name in self.arguments if name not in self.metadata]
        parts = [list(cotangents)] if names == ["inputs"] else cotangents
        return dict.fromkeys(self.arguments) | dict(zip(names, parts, strict=True))


@dataclass(frozen=True, eq=False)
class Sources:
    """The source of every output entry, in arrays of the shape of the output.

    `input` contains the number of the input, and `entry` the flat index of the entry in that input.
    """

    input: np.ndarray
    entry: np.ndarray

    def readers(self, number: int, entry: int) -> np.ndarray:
        """Return the flat indices of output entries that copy entry `entry` of input `number`."""
        return np.flatnonzero((self.input == number) & (self.entry == entry))

    def count(self, number: int) -> int:
        """Return the number of output entries that copy input `number`."""
        return int(np.sum(self.input == number))


def sources(linear: Linearization) -> Sources:
    """Return the input entry that each output entry of a linearization copies."""
    check_type("linear", linear, Linearization, "a Linearization of lab.structural")
    sizes = tuple(value.size for value in linear.values)
    starts = np.cumsum([0, *sizes])
    codes = np.split(np.arange(starts[-1]), starts[1:-1])
    parts = (c.reshape(value.shape) for c, value in zip(codes, linear.values, strict=True))
    taken = np.asarray(linear.push(*parts))
    numbers = np.searchsorted(starts[1:], taken, side="right")
    return Sources(numbers, taken - starts[numbers])
