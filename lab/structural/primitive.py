"""What a structural primitive is: a rule forwards, and the two linear maps that belong to it.

A primitive f takes *inputs*, which are differentiated, and *metadata*, which are not.  With
the metadata held fixed, its `Linearization` J at the inputs is a linear map of tangents, and
``J.T`` is its adjoint under the real Frobenius inner product Re sum(conj(a) * b)::

    < g, J v > = < J.T g, v >

Everything else that a primitive offers is made of these two.  After "Structural AD Notes".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lab.errors import ArgumentError, listing
from lab.structural.arrays import Array, sealed
from lab.structural.operands import Form, fitting, unbroadcast


class LinearMap(Protocol):
    """What has an adjoint: a `Linearization`, or that of a chain."""

    def __call__(self, *tangents: object) -> Array:
        """J v: the tangent of the output."""

    def transpose(self, cotangent: object) -> tuple[Array, ...]:
        """J* g: a cotangent for each input."""

    @property
    def nonsmooth(self) -> Array:
        """Which entries of the output have no derivative."""

    @property
    def T(self) -> "Adjoint":  # noqa: N802 (as everybody writes the transpose)
        """The adjoint map, ``J.T(g)``."""
        return Adjoint(self)


@dataclass(frozen=True, eq=False)
class Adjoint:
    """The adjoint of a linear map: from a cotangent of the output to those of the inputs."""

    T: LinearMap

    def __call__(self, cotangent: object) -> tuple[Array, ...]:
        """J* g: a cotangent for each input."""
        return self.T.transpose(cotangent)

    @property
    def nonsmooth(self) -> Array:
        """Which entries of the output have no derivative; see `Linearization`."""
        return self.T.nonsmooth


@dataclass(frozen=True, eq=False)
class Linearization(LinearMap):
    """The linear map J of tangents to the tangent of the output: ``J(*tangents)``.

    Masks, axes, starts and lengths are held fixed in it, even if the arrays that they came
    from change.  `values` and `forms` are those of the inputs, checked, and `whole` is the form
    of the output.  `push` is J v and `pull` is J* g, of what was checked; where inputs were
    repeated to the shape of the output (`broadcasts`), what `pull` gives them is yet to be
    summed.  `value` computes f, where that is not J of the inputs themselves.
    """

    primitive: str
    values: tuple[Array, ...]
    forms: tuple[Form, ...]
    whole: Form
    metadata: Mapping[str, object]
    push: Callable[..., Array]
    pull: Callable[[Array], Sequence[Array]]
    value: Callable[..., Array] | None = None
    broadcasts: bool = False
    kinks: Array | None = None

    def __call__(self, *tangents: object) -> Array:
        """J v: the tangent of the output, for one tangent in the form of each input."""
        if len(tangents) != len(self.forms):
            raise ArgumentError(
                f"{self.primitive}: tangents: there are {len(tangents)} for {len(self.forms)} "
                "inputs; expected one for each."
            )
        pairs = zip(tangents, self.forms, strict=True)
        return sealed(self.push(*(self._given(f"the tangent of {f.name}", v, f) for v, f in pairs)))

    def transpose(self, cotangent: object) -> tuple[Array, ...]:
        """J* g: a cotangent for each input, for one in the form of the output."""
        parts = self.pull(self._given("the cotangent", cotangent, self.whole))
        return tuple(
            sealed(unbroadcast(part, form, self.whole) if self.broadcasts else part)
            for form, part in zip(self.forms, parts, strict=True)
        )

    def _given(self, name: str, value: object, like: Form) -> Array:
        return fitting(self.primitive, name, value, like)

    @property
    def output(self) -> Array:
        """f(inputs; metadata), of what the inputs hold when it is asked for."""
        return sealed((self.value or self.push)(*self.values))

    @property
    def nonsmooth(self) -> Array:
        """Which entries of the output have no derivative: booleans that broadcast to its shape.

        There the linearization is a choice, which the primitive documents.
        """
        nowhere = np.broadcast_to(np.False_, self.whole.shape)
        return nowhere if self.kinks is None else self.kinks


@dataclass(frozen=True)
class Primitive:
    """A function of inputs and metadata, with its derivatives; see the module.

    `arguments` are those of the function, in PyTorch's order; `metadata` those among them that
    are not differentiated.  A lone argument `inputs` stands for any number of them.  The rule
    takes names, inputs and metadata, checks them, and returns the linearization there.
    """

    name: str
    arguments: tuple[str, ...]
    metadata: tuple[str, ...]
    rule: Callable[..., Linearization]

    def forward(self, *inputs: object, **metadata: object) -> Array:
        """f(inputs; metadata): an array (read-only)."""
        return self.linearize(inputs, **metadata).output

    def linearize(self, inputs: Sequence[object], **metadata: object) -> Linearization:
        """J, the derivative at the inputs, as a linear map with an adjoint."""
        if set(metadata) != set(self.metadata):
            raise ArgumentError(
                f"{self.name}: metadata = {listing(metadata)}: expected {listing(self.metadata)}, "
                "by name."
            )
        if not isinstance(inputs, tuple | list):
            raise ArgumentError(
                f"{self.name}: inputs: expected a tuple or a list, not {type(inputs).__name__}."
            )
        names = [name for name in self.arguments if name not in self.metadata]
        if names == ["inputs"]:
            names = [f"inputs[{number}]" for number in range(len(inputs))]
        if len(inputs) != len(names):
            raise ArgumentError(
                f"{self.name}: inputs: there are {len(inputs)}; expected {listing(names)}."
            )
        return self.rule(names, inputs, **metadata)

    def jvp(
        self, inputs: Sequence[object], tangents: Sequence[object], **metadata: object
    ) -> tuple[Array, Array]:
        """(f(inputs), J v): the output, and its tangent for the tangents v of the inputs."""
        linear = self.linearize(inputs, **metadata)
        return linear.output, linear(*tangents)

    def transpose(
        self, cotangent: object, inputs: Sequence[object], **metadata: object
    ) -> tuple[Array, ...]:
        """J* g: a cotangent for each of the inputs, in its shape, for that of the output."""
        return self.linearize(inputs, **metadata).transpose(cotangent)

    def vjp_jax(self, inputs: Sequence[object], **metadata: object) -> tuple[Array, Adjoint]:
        """(f(inputs), J.T), as in JAX: the output, and a function of its cotangent.

        That function returns a cotangent for each input; metadata is not among them.
        """
        linear = self.linearize(inputs, **metadata)
        return linear.output, linear.T

    def vjp_torch(
        self, cotangent: object, inputs: Sequence[object], **metadata: object
    ) -> dict[str, object]:
        """J* g as in PyTorch: a gradient for every argument by name, None for metadata."""
        cotangents = self.transpose(cotangent, inputs, **metadata)
        names = [name for name in self.arguments if name not in self.metadata]
        parts = [list(cotangents)] if names == ["inputs"] else cotangents
        return dict.fromkeys(self.arguments) | dict(zip(names, parts, strict=True))
