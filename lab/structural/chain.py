"""Chains of the four primitives, and their derivatives by the chain rule.

    >>> output, pullback = vjp(lambda x, y: cat([narrow(x, 0, 0, 2), clamp(y, 0, 1)], 0), [x, y])
    >>> pullback(cotangent)

A function records the primitives that it applies to its arguments as equations.  Tangents
propagate through the equations in order, and cotangents in reverse order.  The cotangent of a value
with several uses is a sum: the transpose of a fan-out is a sum.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NoReturn

import numpy as np

from lab.errors import ArgumentError, check_function, check_sequence
from lab.structural.arrays import Array, sealed
from lab.structural.operands import COMPLEX, REAL, operands, quoted
from lab.structural.primitive import Adjoint, Linearization, LinearMap
from lab.structural.primitives import primitives


@dataclass(frozen=True, eq=False)
class Equation:
    """One application of a primitive: ``result = primitive(arguments; metadata)``.

    Results and arguments are names.
    """

    result: str
    primitive: str
    arguments: tuple[str, ...]
    metadata: Mapping[str, object]

    def __str__(self) -> str:
        fixed = ", ".join(f"{name}={value}" for name, value in self.metadata.items())
        listed = ", ".join(self.arguments) + (f"; {fixed}" if fixed else "")
        return f"{self.result} = {self.primitive}({listed})"


@dataclass(eq=False)
class ChainRecorder:
    """The recorded equations and their constants."""

    equations: list[Equation] = field(default_factory=list)
    constants: dict[str, object] = field(default_factory=dict)

    def name(self, value: object) -> str:
        """Return the name of a value; a constant gets a new name."""
        if isinstance(value, Recorded):
            return value.name
        name = f"c{len(self.constants) + 1}"
        self.constants[name] = value
        return name


@dataclass(frozen=True, eq=False)
class Recorded:
    """A value during the recording of a chain; conditions can use its `value`."""

    name: str
    value: Array
    recorder: ChainRecorder

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise ArgumentError(
            f"{self.name}: a chain consists of where, cat, narrow and clamp only; in a condition, "
            "use the value, as in x.value > 0."
        )

    # otherwise numpy would apply its operations entry by entry
    __array_ufunc__ = None


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
        raise ArgumentError(f"cat: inputs = {quoted(inputs)}: expected a tuple or a list.")
    return _apply("cat", inputs, dim=dim)


def narrow(a: object, dim: object, start: object, length: object) -> Array:
    """Return the part of a with length l from a start s on, along the axis dim = d.

    ::

        forward     z  = a[…, s : s + l, …]
        linearize   J(da) = narrow(da; d, s, l)
        jvp         z, J(da)
        transpose   g ↦ ga = scatter(g; d, s, l): g in that part, zero outside it
        vjp_jax     z, g ↦ (ga,)
        vjp_torch   {a: ga, dim: None, start: None, length: None}

    A start is not negative.  The result is a view of a.
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

    At x = lo or x = hi the derivative does not exist.  By convention, x then has the whole tangent
    and cotangent.  PyTensor and PyTorch use the same convention; JAX's clip divides the cotangent
    equally between x and the bound.  The linearization marks these entries as `nonsmooth`.
    Elsewhere, second derivatives are zero.

    Raise ArgumentError if lo > hi, or if a bound is nan.
    """
    return _apply("clamp", (x, lo, hi))


def _apply(name: str, inputs: Sequence[object], **metadata: object) -> Array:
    """Run the primitive `name`, and record it if an input belongs to a chain."""
    recorders = {value.recorder for value in inputs if isinstance(value, Recorded)}
    if len(recorders) > 1:
        raise ArgumentError(
            "inputs: they belong to two chains; a chain cannot use values of another chain."
        )
    values = [value.value if isinstance(value, Recorded) else value for value in inputs]
    output = primitives[name].forward(*values, **metadata)
    for recorder in recorders:
        names = tuple(map(recorder.name, inputs))
        result = f"z{len(recorder.equations) + 1}"
        recorder.equations.append(Equation(result, name, names, MappingProxyType(metadata)))
        return Recorded(result, output, recorder)
    return output


@dataclass(frozen=True, eq=False)
class Chain:
    """Equations from `inputs` to one `output`, in the order of computation.

    Every name is an input, a constant, or the result of one equation.
    """

    inputs: tuple[str, ...]
    constants: Mapping[str, object]
    equations: tuple[Equation, ...]
    output: str

    def __call__(self, *inputs: object) -> Array:
        """Return the output."""
        return self.linearize(inputs).output

    def linearize(self, inputs: Sequence[object]) -> "ChainLinearization":
        """Return the derivative at the inputs as a linear map with an adjoint."""
        if len(inputs) != len(self.inputs):
            raise ArgumentError(
                f"inputs: there are {len(inputs)}; the chain takes {len(self.inputs)}."
            )
        values = {**self.constants, **dict(zip(self.inputs, inputs, strict=True))}
        links = []
        for equation in self.equations:
            arguments = [values[name] for name in equation.arguments]
            linear = primitives[equation.primitive].linearize(arguments, **equation.metadata)
            values[equation.result] = linear.output
            links.append((equation, linear))
        return ChainLinearization(self, tuple(inputs), tuple(links), values[self.output])

    def __str__(self) -> str:
        lines = [f"{', '.join(self.inputs)} ↦ {self.output}", *map(str, self.equations)]
        return "\n    ".join(lines)


@dataclass(frozen=True, eq=False)
class ChainLinearization(LinearMap):
    """The composition of the linear maps of all equations of a chain."""

    chain: Chain
    inputs: tuple[object, ...]
    links: tuple[tuple[Equation, Linearization], ...]
    output: Array

    def __call__(self, *tangents: object) -> Array:
        """Return J v, the tangent of the output, for a tangent of every input."""
        if len(tangents) != len(self.inputs):
            raise ArgumentError(
                f"tangents: there are {len(tangents)} for {len(self.inputs)} inputs; expected one "
                "for each."
            )
        known = dict(zip(self.chain.inputs, tangents, strict=True))
        for equation, linear in self.links:
            pairs = zip(equation.arguments, linear.values, strict=True)
            known[equation.result] = linear(
                *(known[name] if name in known else np.zeros_like(value) for name, value in pairs)
            )
        return known[self.chain.output]

    def transpose(self, cotangent: object) -> tuple[Array, ...]:
        """Return J* g, a cotangent of every input, which is zero for an unused input."""
        total: dict[str, Array] = {self.chain.output: cotangent}
        for equation, linear in reversed(self.links):
            if equation.result in total:
                parts = linear.transpose(total.pop(equation.result))
                for name, part in zip(equation.arguments, parts, strict=True):
                    total[name] = total[name] + part if name in total else part
        for name, value in zip(self.chain.inputs, self.inputs, strict=True):
            if name not in total:
                ((array,), _) = operands("vjp", [name], [value], REAL + COMPLEX)
                total[name] = np.zeros_like(array)
        return tuple(sealed(total[name]) for name in self.chain.inputs)

    @property
    def nonsmooth(self) -> Mapping[str, Array]:
        """Masks of the entries without a derivative, by the result of an equation."""
        return MappingProxyType({equation.result: map_.nonsmooth for equation, map_ in self.links})


def record(function: Callable[..., object], inputs: Sequence[object]) -> Chain:
    """Return the chain of primitives that `function` applies to `inputs`.

    Other values that the function uses are constants of the chain.
    """
    check_function("function", function)
    inputs = check_sequence("inputs", inputs, "a list of arrays")
    recorder = ChainRecorder()
    given = [Recorded(f"x{n}", value, recorder) for n, value in enumerate(inputs, start=1)]
    result = function(*given)
    if not isinstance(result, Recorded) or result.recorder is not recorder:
        raise ArgumentError(
            f"function: it returned {quoted(result)}; expected a result of where, cat, narrow or "
            "clamp."
        )
    names = tuple(value.name for value in given)
    constants, equations = MappingProxyType(recorder.constants), tuple(recorder.equations)
    return Chain(names, constants, equations, result.name)


def jvp(
    function: Callable[..., object], inputs: Sequence[object], tangents: Sequence[object]
) -> tuple[Array, Array]:
    """Return (f(inputs), J v) for a chain or a function of primitives."""
    output, adjoint = vjp(function, inputs)
    return output, adjoint.T(*check_sequence("tangents", tangents, "a list of arrays"))


def vjp(function: Callable[..., object], inputs: Sequence[object]) -> tuple[Array, Adjoint]:
    """Return (f(inputs), J.T) for a chain or a function of primitives."""
    inputs = check_sequence("inputs", inputs, "a list of arrays")
    chain = function if isinstance(function, Chain) else record(function, inputs)
    linear = chain.linearize(inputs)
    return linear.output, linear.T
