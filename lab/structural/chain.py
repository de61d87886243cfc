"""Chains of primitives, and their derivatives by the chain rule.

    >>> output, pullback = vjp(lambda x, y: cat([narrow(x, 0, 0, 2), clamp(y, 0, 1)], 0), [x, y])
    >>> pullback(cotangent)

Forwards, tangents go from equation to equation; backwards, cotangents do, last equation
first, and add up where a value was used more than once: the transpose of a fan-out is a sum.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lab.errors import ArgumentError, listing
from lab.structural.backends import Array, backend_of
from lab.structural.operands import COMPLEX, REAL, operands, quoted
from lab.structural.primitive import Adjoint, Linearization
from lab.structural.recording import Equation, Recorded, Recorder
from lab.structural.registry import primitives


@dataclass(frozen=True, eq=False)
class Chain:
    """Equations from `inputs` to one `output`, in an order in which they can be computed.

    Every name is an input, a constant, or the result of one equation.
    """

    inputs: tuple[str, ...]
    constants: Mapping[str, Any]
    equations: tuple[Equation, ...]
    output: str

    def __post_init__(self) -> None:
        known = {*self.inputs, *self.constants}
        for equation in self.equations:
            if equation.primitive not in primitives:
                raise ArgumentError(
                    f"equations: {equation.primitive!r}: the primitives are {listing(primitives)}."
                )
            missing = [name for name in equation.arguments if name not in known]
            if missing or equation.result in known:
                raise ArgumentError(
                    f"equations: {equation}: "
                    + (f"{missing[0]!r} is not known there." if missing else "its result is known.")
                )
            known.add(equation.result)
        if self.output not in known:
            raise ArgumentError(f"output = {self.output!r}: the chain has {listing(known)}.")

    def __call__(self, *inputs: Any) -> Array:
        """The output."""
        return self.linearize(inputs).output

    def linearize(self, inputs: Sequence[Any]) -> "ChainLinearization":
        """The derivative at the inputs: a linear map with an adjoint."""
        if len(inputs) != len(self.inputs):
            raise ArgumentError(
                f"inputs: there are {len(inputs)}; the chain takes {len(self.inputs)}."
            )
        values = {**self.constants, **dict(zip(self.inputs, inputs, strict=True))}
        links = []
        for equation in self.equations:
            primitive = primitives[equation.primitive]
            arguments = [values[name] for name in equation.arguments]
            output, adjoint = primitive.vjp_jax(arguments, **equation.metadata)
            values[equation.result] = output
            links.append((equation, adjoint.T))
        given = tuple(values[name] for name in self.inputs)
        return ChainLinearization(self, given, tuple(links), values[self.output])

    def __str__(self) -> str:
        lines = [f"{', '.join(self.inputs)} ↦ {self.output}", *map(str, self.equations)]
        return "\n    ".join(lines)


@dataclass(frozen=True, eq=False)
class ChainLinearization:
    """The linear map of a chain: that of every equation, in order."""

    chain: Chain
    inputs: tuple[Any, ...]
    links: tuple[tuple[Equation, Linearization], ...]
    output: Array

    def __call__(self, *tangents: Any) -> Array:
        """J v: the tangent of the output, for a tangent of every input."""
        if len(tangents) != len(self.inputs):
            raise ArgumentError(
                f"tangents: there are {len(tangents)} for {len(self.inputs)} inputs; expected one "
                "for each."
            )
        known = dict(zip(self.chain.inputs, tangents, strict=True))
        for equation, linear in self.links:
            known[equation.result] = linear(
                *(
                    known[name] if name in known else linear.call.backend.zeros_like(value)
                    for name, value in zip(equation.arguments, linear.call.values, strict=True)
                )
            )
        return known[self.chain.output]

    def transpose(self, cotangent: Any) -> tuple[Array, ...]:
        """J* g: a cotangent for every input; zeros for one that is not used."""
        total: dict[str, Array] = {self.chain.output: cotangent}
        for equation, linear in reversed(self.links):
            if equation.result not in total:
                continue
            for name, part in zip(
                equation.arguments, linear.transpose(total.pop(equation.result)), strict=True
            ):
                total[name] = total[name] + part if name in total else part
        return tuple(
            backend_of(total[name]).sealed(total[name])
            if name in total
            else _zeros_like(name, value)
            for name, value in zip(self.chain.inputs, self.inputs, strict=True)
        )

    @property
    def T(self) -> Adjoint:  # noqa: N802 (as everybody writes the transpose)
        """The adjoint map, ``J.T(g)``."""
        return Adjoint(self)

    @property
    def nonsmooth(self) -> Mapping[str, Array]:
        """For every equation, by the name of its result, which entries have no derivative."""
        return MappingProxyType({equation.result: map_.nonsmooth for equation, map_ in self.links})


def record(function: Callable[..., Any], inputs: Sequence[Any]) -> Chain:
    """The chain of primitives that `function` applies to its arguments, here to `inputs`.

    Whatever else the function uses is a constant of the chain.
    """
    recorder = Recorder()
    given = [Recorded(f"x{n}", value, recorder) for n, value in enumerate(inputs, start=1)]
    result = function(*given)
    if not isinstance(result, Recorded) or result.recorder is not recorder:
        raise ArgumentError(
            f"function: it returned {quoted(result)}; expected what where, cat, narrow or clamp "
            "make of its arguments."
        )
    return Chain(
        inputs=tuple(value.name for value in given),
        constants=MappingProxyType(recorder.constants),
        equations=tuple(recorder.equations),
        output=result.name,
    )


def jvp(
    function: Callable[..., Any], inputs: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Array, Array]:
    """(f(inputs), J v), for a chain or a function made of primitives."""
    linear = _chain(function, inputs).linearize(inputs)
    return linear.output, linear(*tangents)


def vjp(function: Callable[..., Any], inputs: Sequence[Any]) -> tuple[Array, Adjoint]:
    """(f(inputs), J.T), for a chain or a function made of primitives."""
    linear = _chain(function, inputs).linearize(inputs)
    return linear.output, linear.T


def _zeros_like(name: str, value: Any) -> Array:
    """The cotangent of an input that the chain does not use."""
    (array,), _, backend = operands("vjp", [name], [value], REAL + COMPLEX)
    return backend.zeros_like(array)


def _chain(function: Callable[..., Any], inputs: Sequence[Any]) -> Chain:
    return function if isinstance(function, Chain) else record(function, inputs)
