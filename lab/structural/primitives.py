"""Define the rules of `where`, `cat`, `narrow`, and `clamp`: tangent map and cotangent map.

`primitives` contains the primitives by name.  The docstrings of the functions in
`lab.structural.chain` contain their equations.
"""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from lab.errors import ArgumentError, Registry, argument_error, check_integer
from lab.records import as_array
from lab.structural.operands import (
    COMPLEX,
    REAL,
    broadcast_shape,
    check_axis,
    check_operands,
    read_only,
)
from lab.structural.primitive import Linearization, Primitive

Names = tuple[str, ...]
Inputs = Sequence[object]


def _kept(mask: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return `g` where the mask is true and zero elsewhere, even if `g` is nan."""
    return np.where(mask, g, 0.0)


def _where(names: Names, inputs: Inputs, condition: object) -> Linearization:
    """Linearize where: the tangent is m dx + (1 - m) dy; x receives m g, and y (1 - m) g."""
    m = as_array("where: condition", condition, "an array of booleans").copy()
    if m.dtype != bool:
        raise argument_error("where: condition", condition, f"expected booleans, not {m.dtype}.")
    values = check_operands("where", names, inputs, REAL + COMPLEX)
    return Linearization(
        primitive="where",
        names=names,
        values=values,
        shape=broadcast_shape("where", {"condition": m, **dict(zip(names, values, strict=True))}),
        metadata={"condition": m},
        push=lambda dx, dy: np.where(m, dx, dy),
        pull=lambda g: (_kept(m, g), _kept(~m, g)),
    )


def _cat(names: Names, inputs: Inputs, dim: object) -> Linearization:
    """Linearize cat: the tangent is cat(dx1, …, dxn); every input receives its part of g."""
    if not inputs:
        raise ArgumentError("cat: inputs = []: expected at least one array.")
    values = check_operands("cat", names, inputs, REAL + COMPLEX)
    first = values[0].shape
    axis = check_axis("cat", dim, names[0], len(first))
    for name, value in zip(names, values, strict=True):
        along = first[axis] if value.ndim == len(first) else None
        if (*value.shape[:axis], along, *value.shape[axis + 1 :]) != first:
            raise ArgumentError(
                f"cat: {names[0]} has shape {first}, but {name} has shape {value.shape}; "
                "expected equal numbers of dimensions, and equal lengths except along "
                f"dim = {axis}."
            )
    *ends, length = accumulate(value.shape[axis] for value in values)
    return Linearization(
        primitive="cat",
        names=names,
        values=values,
        shape=(*first[:axis], length, *first[axis + 1 :]),
        metadata={"dim": axis},
        push=lambda *parts: np.concatenate(parts, axis=axis),
        pull=lambda g: np.split(g, ends, axis),
    )


def _narrow(
    names: Names, inputs: Inputs, dim: object, start: object, length: object
) -> Linearization:
    """Linearize narrow: the tangent is a part of da; a receives g in that part, zero elsewhere."""
    at, entries = check_integer("narrow: start", start), check_integer("narrow: length", length)
    (a,) = values = check_operands("narrow", names, inputs, REAL + COMPLEX)
    axis = check_axis("narrow", dim, "a", a.ndim)
    size, shape = a.shape[axis], f"a has shape {a.shape}"
    if not 0 <= at <= size:
        raise ArgumentError(
            f"narrow: start = {at}: {shape}; along dim = {axis} expected 0 to {size}."
        )
    if not 0 <= entries <= size - at:
        raise ArgumentError(
            f"narrow: length = {entries}: {shape}; from start = {at} along dim = {axis} expected "
            f"0 to {size - at}."
        )
    part = (*[slice(None)] * axis, slice(at, at + entries))
    around = [(at, size - at - entries) if n == axis else (0, 0) for n in range(a.ndim)]
    return Linearization(
        primitive="narrow",
        names=names,
        values=values,
        shape=(*a.shape[:axis], entries, *a.shape[axis + 1 :]),
        metadata={"dim": axis, "start": at, "length": entries},
        push=lambda tangent: tangent[part],
        pull=lambda g: (np.pad(g, around),),
    )


def _clamp(names: Names, inputs: Inputs) -> Linearization:
    """Linearize clamp: the tangent is dlo where x < lo, dhi where x > hi, and dx elsewhere.

    The input with the tangent of an entry receives the cotangent of this entry.
    """
    x, lo, hi = values = check_operands("clamp", names, inputs, REAL)
    shape = broadcast_shape("clamp", dict(zip(names, values, strict=True)))
    _check_bounds(lo, hi)
    below, above = x < lo, x > hi
    return Linearization(
        primitive="clamp",
        names=names,
        values=values,
        shape=shape,
        metadata={},
        push=lambda dx, dlo, dhi: np.where(below, dlo, np.where(above, dhi, dx)),
        pull=lambda g: (_kept(~(below | above), g), _kept(below, g), _kept(above, g)),
        nonsmooth=read_only((x == lo) | (x == hi)),
    )


def _check_bounds(lo: np.ndarray, hi: np.ndarray) -> None:
    """Raise ArgumentError unless lo ≤ hi everywhere."""
    fits = np.asarray(lo <= hi)  # the comparison is False for nan, which is no bound
    if fits.all():
        return
    place = np.unravel_index(int(np.argmin(fits)), fits.shape)
    at = f"[{', '.join(map(str, place))}]" if place else ""
    low, high = (np.broadcast_to(value, fits.shape)[place] for value in (lo, hi))
    raise ArgumentError(
        f"clamp: lo{at} = {low} and hi{at} = {high}: expected bounds with lo ≤ hi everywhere."
    )


_PRIMITIVES = (
    Primitive("where", ("condition", "x", "y"), ("condition",), _where),
    Primitive("cat", ("inputs", "dim"), ("dim",), _cat),
    Primitive("narrow", ("a", "dim", "start", "length"), ("dim", "start", "length"), _narrow),
    Primitive("clamp", ("x", "lo", "hi"), (), _clamp),
)
primitives = Registry(
    "primitive", {each.name: each for each in _PRIMITIVES}, "the primitives are {}."
)
