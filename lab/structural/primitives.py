"""Where, cat, narrow and clamp: their rules, each forwards and in both linear directions.

`primitives` has them by name: that is how functions, chains and pictures find them.  What each
of them computes is written at the functions of `lab.structural.chain`.
"""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Constant
from pytensor.raise_op import Assert

from lab.errors import ArgumentError, Named
from lab.structural.arrays import Array, choose, is_symbolic, kept, library, part, scatter, sealed
from lab.structural.operands import (
    COMPLEX,
    REAL,
    Form,
    axis_of,
    broadcast,
    count,
    form,
    mask,
    operands,
)
from lab.structural.primitive import Linearization, Primitive

Names = Sequence[str]
Inputs = Sequence[object]


def _where(names: Names, inputs: Inputs, condition: object) -> Linearization:
    """The tangent is m dx + (1 - m) dy; of g, x gets m g, and y (1 - m) g."""
    given = mask("where", "condition", condition)
    values, forms = operands("where", names, inputs, REAL + COMPLEX)
    shape = broadcast("where", (form("condition", given), *forms))
    m = given.copy()
    return Linearization(
        "where",
        values,
        forms,
        Form("the output", shape, forms[0].dtype),
        {"condition": m},
        push=lambda dx, dy: choose(m, dx, dy),
        pull=lambda g: (kept(m, g), kept(~m, g)),
        broadcasts=True,
    )


def _cat(names: Names, inputs: Inputs, dim: object) -> Linearization:
    """The tangent is cat(dx1, …, dxn); every input gets its own part of g."""
    if not inputs:
        raise ArgumentError("cat: inputs = []: expected at least one array.")
    values, forms = operands("cat", names, inputs, REAL + COMPLEX)
    first = forms[0]
    axis = axis_of("cat", dim, first.ndim, first.name)
    shape = list(first.shape)
    for other in forms[1:]:
        if other.ndim != first.ndim:
            raise ArgumentError(f"cat: {first}, but {other}; all need as many dimensions.")
        for n, (known, new) in enumerate(zip(shape, other.shape, strict=True)):
            if n == axis:
                shape[n] = None if known is None or new is None else known + new
            elif known is None:
                shape[n] = new
            elif new not in (known, None):
                raise ArgumentError(
                    f"cat: {first}, but {other}; apart from dim = {axis} they must be the same."
                )
    sizes = [_size(f, value, axis) for f, value in zip(forms, values, strict=True)]
    starts = list(accumulate(sizes, initial=0))[:-1]
    return Linearization(
        "cat",
        values,
        forms,
        Form("the output", tuple(shape), first.dtype),
        {"dim": axis},
        push=lambda *parts: library(*parts).concatenate(parts, axis=axis),
        pull=lambda g: [part(g, axis, *place) for place in zip(starts, sizes, strict=True)],
    )


def _narrow(
    names: Names, inputs: Inputs, dim: object, start: object, length: object
) -> Linearization:
    """The tangent is the same part; a gets g in that part, and zero outside of it."""
    at, entries = count("narrow", "start", start), count("narrow", "length", length)
    values, (a,) = operands("narrow", names, inputs, REAL + COMPLEX)
    axis = axis_of("narrow", dim, a.ndim, a.name)
    size = a.shape[axis]
    end = " or more" if size is None else f" to {size}"
    if isinstance(at, int) and (at < 0 or (size is not None and at > size)):
        raise ArgumentError(f"narrow: start = {at}: {a}; along dim = {axis} expected 0{end}.")
    if isinstance(entries, int) and entries < 0:
        raise ArgumentError(f"narrow: length = {entries}: expected 0 or more.")
    room = None if size is None else size - at if isinstance(at, int) else size
    if isinstance(entries, int) and room is not None and entries > room:
        raise ArgumentError(
            f"narrow: length = {entries}: {a}; from start = {at} along dim = {axis} expected 0 to "
            f"{room}."
        )
    if is_symbolic(at, entries):
        values = tuple(map(pt.as_tensor_variable, values))
        at = _within(at, entries, _size(a, values[0], axis))
    shape = list(a.shape)
    shape[axis] = entries if isinstance(entries, int) else None
    unknown = size is None or is_symbolic(at, entries)  # then the graph checks how many there are
    lengths = [entries if n == axis else None for n in range(a.ndim)]

    def push(tangent: Array) -> Array:
        found = part(tangent, axis, at, entries)
        return pt.specify_shape(found, lengths) if unknown else found

    (value,) = values
    return Linearization(
        "narrow",
        values,
        (a,),
        Form("the output", tuple(shape), a.dtype),
        {"dim": axis, "start": at, "length": entries},
        push=push,
        pull=lambda g: (scatter(g, value, axis, at, entries),),
    )


def _size(form: Form, value: Array, axis: int) -> Array:
    """How many entries there are along an axis: a number where it is known."""
    known = form.shape[axis]
    return value.shape[axis] if known is None else known


def _within(start: Array, length: Array, size: Array) -> Array:
    """`start`, in a graph that refuses to run if the part reaches beyond `size` entries.

    A slice would count a start below 0 from the end.
    """
    start, length = (pt.cast(pt.as_tensor_variable(n), "int64") for n in (start, length))
    fits = (start >= 0) & (length >= 0) & (length <= size - start)
    words = "narrow: the part from start, length long, must lie within a: 0 ≤ start, 0 ≤ length."
    return Assert(words)(start, fits)


def _clamp(names: Names, inputs: Inputs) -> Linearization:
    """The tangent is dlo below, dhi above, dx between; g goes to the same one of the three."""
    (x, lo, hi), forms = operands("clamp", names, inputs, REAL)
    whole = Form("the output", broadcast("clamp", forms), forms[0].dtype)
    hi = _not_below(lo, hi)
    xp = library(x, lo, hi)
    below, above, surface = x < lo, x > hi, sealed(xp.equal(x, lo) | xp.equal(x, hi))
    return Linearization(
        "clamp",
        (x, lo, hi),
        forms,
        whole,
        {},
        push=lambda dx, dlo, dhi: choose(below, dlo, choose(above, dhi, dx)),
        pull=lambda g: (kept(~(below | above), g), kept(below, g), kept(above, g)),
        value=xp.clip,
        broadcasts=True,
        kinks=surface,
    )


def _not_below(lo: Array, hi: Array) -> Array:
    """`hi`, if it is nowhere below lo: checked now if both are known, else by the graph."""
    low, high = (value.data if isinstance(value, Constant) else value for value in (lo, hi))
    if is_symbolic(low, high):
        words = "clamp: lo > hi: expected bounds with lo ≤ hi everywhere."
        return Assert(words)(hi, pt.all(lo <= hi))
    apart = np.asarray(low <= high)  # not so for nan, which is no bound
    if apart.all():
        return hi
    place = np.unravel_index(int(np.argmin(apart)), apart.shape)
    at = f"[{', '.join(map(str, place))}]" if place else ""
    low, high = (np.broadcast_to(value, apart.shape)[place] for value in (low, high))
    raise ArgumentError(
        f"clamp: lo{at} = {low} and hi{at} = {high}: expected bounds with lo ≤ hi everywhere."
    )


_PRIMITIVES = (
    Primitive("where", ("condition", "x", "y"), ("condition",), _where),
    Primitive("cat", ("inputs", "dim"), ("dim",), _cat),
    Primitive("narrow", ("a", "dim", "start", "length"), ("dim", "start", "length"), _narrow),
    Primitive("clamp", ("x", "lo", "hi"), (), _clamp),
)
primitives = Named("primitive", {one.name: one for one in _PRIMITIVES}, "the primitives are {}.")
