"""The primitives that move entries to other places: cat joins arrays, narrow takes a part."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from lab.errors import ArgumentError
from lab.structural.backends import SYMBOLIC, Array, Backend
from lab.structural.operands import (
    COMPLEX,
    REAL,
    Call,
    Form,
    axis_of,
    count,
    operands,
)
from lab.structural.primitive import Linearization, Primitive


@dataclass(frozen=True, eq=False)
class Joining(Linearization):
    """The linear map of `Cat`."""

    def push(self, backend: Backend, tangents: Sequence[Array]) -> Array:
        """The tangent cat(dx1, …, dxn)."""
        return backend.join(tangents, self.call.metadata["dim"])

    def pull(self, backend: Backend, cotangent: Array) -> Sequence[Array]:
        """Every input gets its own part of g."""
        dim = self.call.metadata["dim"]
        sizes = [self.call.backend.size(value, dim) for value in self.call.values]
        starts = accumulate(sizes, initial=0)
        return tuple(
            backend.part(cotangent, dim, start, size, known=True)
            for start, size in zip(starts, sizes, strict=False)  # the last start is the end
        )


class Cat(Primitive):
    """The inputs x1, …, xn, one behind the other along the axis dim = d.

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

    name = "cat"
    arguments = ("inputs", "dim")
    metadata = ("dim",)

    def _names(self, inputs: Sequence[Any]) -> tuple[str, ...]:
        return tuple(f"inputs[{number}]" for number in range(len(inputs)))

    def _by_name(self, gradients: Sequence[Array]) -> dict[str, Any]:
        return {"inputs": list(gradients)}

    def _checked(self, inputs: tuple[Any, ...], names: Sequence[str], **metadata: Any) -> Call:
        if not inputs:
            raise ArgumentError(f"{self.name}: inputs = []: expected at least one array.")
        values, forms, backend = operands(self.name, names, inputs, REAL + COMPLEX)
        first = forms[0]
        dim = axis_of(self.name, metadata["dim"], first.ndim, first.name)
        shape = list(first.shape)
        for other in forms[1:]:
            if other.ndim != first.ndim:
                raise ArgumentError(
                    f"{self.name}: {first}, but {other}; all need as many dimensions."
                )
            for axis, (known, new) in enumerate(zip(shape, other.shape, strict=True)):
                if axis == dim:
                    shape[axis] = None if known is None or new is None else known + new
                elif known is None:
                    shape[axis] = new
                elif new not in (known, None):
                    raise ArgumentError(
                        f"{self.name}: {first}, but {other}; apart from dim = {dim} they must be "
                        "the same."
                    )
        output = Form("the output", tuple(shape), first.dtype)
        return Call(self.name, values, forms, output, {"dim": dim}, backend)

    def _output(self, call: Call) -> Array:
        return call.backend.sealed(call.backend.join(call.values, call.metadata["dim"]))

    def _linearization(self, call: Call) -> Linearization:
        return Joining(call)


@dataclass(frozen=True, eq=False)
class Narrowing(Linearization):
    """The linear map of `Narrow`."""

    def push(self, backend: Backend, tangents: Sequence[Array]) -> Array:
        """The same part of the tangent."""
        (tangent,) = tangents
        return _part(self.call, backend, tangent)

    def pull(self, backend: Backend, cotangent: Array) -> Sequence[Array]:
        """The scatter of g: zero outside the part."""
        (a,) = self.call.values
        dim, start, length = self.call.metadata.values()
        return (backend.scatter(cotangent, a, dim, start, length),)


class Narrow(Primitive):
    """The part of a of some length l from a start s on, along the axis dim = d.

    ::

        forward     z  = a[…, s : s + l, …]
        linearize   J(da) = narrow(da; d, s, l)
        jvp         z, J(da)
        transpose   g ↦ ga = scatter(g; d, s, l): g in that part, zero outside it
        vjp_jax     z, g ↦ (ga,)
        vjp_torch   {a: ga, dim: None, start: None, length: None}

    A start counts from 0, never from the end.  On PyTensor variables start and length may be
    variables, too; what cannot be known before is then checked when the graph runs.  The part
    of an array is a view of it.
    """

    name = "narrow"
    arguments = ("a", "dim", "start", "length")
    metadata = ("dim", "start", "length")

    def _checked(self, inputs: tuple[Any, ...], names: Sequence[str], **metadata: Any) -> Call:
        start = count(self.name, "start", metadata["start"])
        length = count(self.name, "length", metadata["length"])
        kinds = REAL + COMPLEX
        values, forms, backend = operands(self.name, names, inputs, kinds, [start, length])
        (a,) = forms
        dim = axis_of(self.name, metadata["dim"], a.ndim, a.name)
        _check_range(self.name, start, length, a, dim)
        shape = list(a.shape)
        shape[dim] = length if isinstance(length, int) else None
        if not (isinstance(start, int) and isinstance(length, int)):
            start = _within(start, length, SYMBOLIC.size(values[0], dim))
        place = {"dim": dim, "start": start, "length": length}
        output = Form("the output", tuple(shape), a.dtype)
        return Call(self.name, values, forms, output, place, backend)

    def _output(self, call: Call) -> Array:
        (a,) = call.values
        return call.backend.sealed(_part(call, call.backend, a))

    def _linearization(self, call: Call) -> Linearization:
        return Narrowing(call)


def _part(call: Call, backend: Backend, a: Array) -> Array:
    """The part of `a`, which has the form of the input."""
    (like,) = call.forms
    dim, start, length = call.metadata.values()
    numbers = isinstance(start, int) and isinstance(length, int)
    return backend.part(a, dim, start, length, known=numbers and like.shape[dim] is not None)


OUTSIDE = "narrow: the part from start, length long, must lie within a: 0 ≤ start, 0 ≤ length."


def _within(start: Any, length: Any, size: Any) -> Array:
    """`start`, in a graph that refuses to run if the part reaches beyond `size` entries.

    A slice would count a start below 0 from the end.
    """
    start, length = SYMBOLIC.whole(start), SYMBOLIC.whole(length)
    fits = (start >= 0) & (length >= 0) & (length <= size - start)
    return SYMBOLIC.ensure(start, fits, OUTSIDE)


def _check_range(primitive: str, start: Any, length: Any, a: Form, dim: int) -> None:
    """Raise ArgumentError if the part is known to reach beyond `a`."""
    size = a.shape[dim]
    end = "" if size is None else f" to {size}"
    if isinstance(start, int) and (start < 0 or (size is not None and start > size)):
        raise ArgumentError(
            f"{primitive}: start = {start}: {a}; along dim = {dim} expected 0{end or ' or more'}."
        )
    if isinstance(length, int) and length < 0:
        raise ArgumentError(f"{primitive}: length = {length}: expected 0 or more.")
    if size is None or not isinstance(length, int):
        return
    room = size - start if isinstance(start, int) else size
    if length > room:
        raise ArgumentError(
            f"{primitive}: length = {length}: {a}; from start = {start} along dim = {dim} expected "
            f"0 to {room}."
        )
