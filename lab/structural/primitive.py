"""What a structural primitive is: a rule forwards, and the two linear maps that belong to it.

A primitive f takes *inputs*, which are differentiated, and *metadata*, which are not.  With
the metadata held fixed, its `Linearization` J at the inputs is a linear map of tangents, and
``J.T`` is its adjoint under the real Frobenius inner product Re sum(conj(a) * b)::

    < g, J v > = < J.T g, v >

Everything else that a primitive offers is made of these two.  After "Structural AD Notes".
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lab.errors import ArgumentError, listing
from lab.structural.backends import EAGER, Array, Backend, backend_of
from lab.structural.operands import Call, fitting, summed_axes


@dataclass(frozen=True, eq=False)
class Linearization(ABC):
    """The linear map J of tangents to the tangent of the output: ``J(*tangents)``.

    Masks, axes, starts and lengths are held fixed in it, even if the arrays that they came
    from change.  `broadcasts` tells that inputs were repeated to the shape of the output.
    """

    broadcasts: ClassVar[bool] = False

    call: Call

    def __call__(self, *tangents: Any) -> Array:
        """J v: the tangent of the output, for one tangent in the form of each input."""
        forms = self.call.forms
        if len(tangents) != len(forms):
            raise ArgumentError(
                f"{self.call.primitive}: tangents: there are {len(tangents)} for "
                f"{len(forms)} inputs; expected one for each."
            )
        given = [
            fitting(self.call.primitive, f"the tangent of {f.name}", tangent, f)
            for f, tangent in zip(forms, tangents, strict=True)
        ]
        backend = self._backend(given)
        return backend.sealed(self.push(backend, given))

    def transpose(self, cotangent: Any) -> tuple[Array, ...]:
        """J* g: a cotangent for each input, for one in the form of the output."""
        given = fitting(self.call.primitive, "the cotangent", cotangent, self.call.output)
        backend = self._backend([given])
        return tuple(
            backend.sealed(backend.total(g, form.shape, summed_axes(form, self.call.output)))
            if self.broadcasts
            else backend.sealed(g)
            for form, g in zip(self.call.forms, self.pull(backend, given), strict=True)
        )

    @property
    def T(self) -> "Adjoint":  # noqa: N802 (as everybody writes the transpose)
        """The adjoint map, ``J.T(g)``."""
        return Adjoint(self)

    @property
    def nonsmooth(self) -> Array:
        """Which entries of the output have no derivative: booleans that broadcast to its shape.

        There the linearization is a choice, which the primitive documents.
        """
        known = [length for length in self.call.output.shape if length is not None]
        return np.broadcast_to(np.False_, known if self.call.backend is EAGER else ())

    @abstractmethod
    def push(self, backend: Backend, tangents: Sequence[Array]) -> Array:
        """J v, for checked tangents."""

    @abstractmethod
    def pull(self, backend: Backend, cotangent: Array) -> Sequence[Array]:
        """J* g, for a checked cotangent, before anything that broadcast is summed."""

    def _backend(self, given: Sequence[Array]) -> Backend:
        return backend_of(*given, *self.call.values, *self.call.metadata.values())


@dataclass(frozen=True, eq=False)
class Adjoint:
    """The adjoint of a linear map: from a cotangent of the output to those of the inputs."""

    T: Any

    def __call__(self, cotangent: Any) -> tuple[Array, ...]:
        """J* g: a cotangent for each input."""
        return self.T.transpose(cotangent)

    @property
    def nonsmooth(self) -> Array:
        """Which entries of the output have no derivative; see `Linearization`."""
        return self.T.nonsmooth


class Primitive(ABC):
    """A function of inputs and metadata, with its derivatives; see the module.

    `arguments` are those of the function, in PyTorch's order; `metadata` those among them
    that are not differentiated.
    """

    name: ClassVar[str]
    arguments: ClassVar[tuple[str, ...]]
    metadata: ClassVar[tuple[str, ...]]

    def forward(self, *inputs: Any, **metadata: Any) -> Array:
        """f(inputs; metadata): an array (read-only) or a PyTensor variable."""
        return self._output(self._call(inputs, metadata))

    def linearize(self, inputs: Sequence[Any], **metadata: Any) -> Linearization:
        """J, the derivative at the inputs, as a linear map with an adjoint."""
        return self._linearization(self._call(inputs, metadata))

    def jvp(self, inputs: Sequence[Any], tangents: Sequence[Any], **metadata: Any) -> Any:
        """(f(inputs), J v): the output, and its tangent for the tangents v of the inputs."""
        call = self._call(inputs, metadata)
        return self._output(call), self._linearization(call)(*tangents)

    def transpose(
        self, cotangent: Any, inputs: Sequence[Any], **metadata: Any
    ) -> tuple[Array, ...]:
        """J* g: a cotangent for each of the inputs, in its shape, for that of the output."""
        return self._linearization(self._call(inputs, metadata)).transpose(cotangent)

    def vjp_jax(self, inputs: Sequence[Any], **metadata: Any) -> tuple[Array, Adjoint]:
        """(f(inputs), J.T), as in JAX: the output, and a function of its cotangent.

        That function returns a cotangent for each input; metadata is not among them.
        """
        call = self._call(inputs, metadata)
        return self._output(call), self._linearization(call).T

    def vjp_torch(self, cotangent: Any, inputs: Sequence[Any], **metadata: Any) -> dict[str, Any]:
        """J* g as in PyTorch: a gradient for every argument by name, None for metadata."""
        found = self._by_name(self.transpose(cotangent, inputs, **metadata))
        return {name: found.get(name) for name in self.arguments}

    def _by_name(self, gradients: Sequence[Array]) -> dict[str, Any]:
        names = [name for name in self.arguments if name not in self.metadata]
        return dict(zip(names, gradients, strict=True))

    def _call(self, inputs: Sequence[Any], metadata: dict[str, Any]) -> Call:
        if set(metadata) != set(self.metadata):
            raise ArgumentError(
                f"{self.name}: metadata = {listing(metadata)}: expected {listing(self.metadata)}, "
                "by name."
            )
        if not isinstance(inputs, tuple | list):
            raise ArgumentError(
                f"{self.name}: inputs: expected a tuple or a list, not {type(inputs).__name__}."
            )
        names = self._names(inputs)
        if len(inputs) != len(names):
            raise ArgumentError(
                f"{self.name}: inputs: there are {len(inputs)}; expected {listing(names)}."
            )
        return self._checked(tuple(inputs), names, **metadata)

    def _names(self, inputs: Sequence[Any]) -> tuple[str, ...]:
        return tuple(name for name in self.arguments if name not in self.metadata)

    @abstractmethod
    def _checked(self, inputs: tuple[Any, ...], names: Sequence[str], **metadata: Any) -> Call:
        """The arguments, checked."""

    @abstractmethod
    def _output(self, call: Call) -> Array:
        """What f is."""

    @abstractmethod
    def _linearization(self, call: Call) -> Linearization:
        """What J is."""
