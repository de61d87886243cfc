"""The rules of `where`, `cat`, `narrow`, and `clamp`: output, tangent map, and cotangent map.

`primitives` contains the primitives by name.  The functions in `lab.structural.chain` state their
equations.
"""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from lab.errors import ArgumentError, Registry, check_integer
from lab.structural.operands import (
    COMPLEX,
    REAL,
    broadcast_shape,
    check_axis,
    check_mask,
    check_operands,
    read_only,
    shape_text,
)
from lab.structural.primitive import Linearization, Primitive

Names = tuple[str, ...]
Inputs = Sequence[object]


def _kept(mask: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return `g` where the mask is true and zero elsewhere, even if `g` is nan."""
    return np.where(mask, g, 0.0)


def _part(axis: int, start: int, length: int) -> tuple[slice, ...]:
    """Return the index of `length` entries from `start` on."""
    return (*[slice(None)] * axis, slice(start, start + length))


def _scatter(value: np.ndarray, shape: tuple[int, ...], part: tuple[slice, ...]) -> np.ndarray:
    """Return zeros in `shape`, with `value` as the given part."""
    result = np.zeros(shape, value.dtype)
    result[part] = value
    return result


def _where(names: Names, inputs: Inputs, condition: object) -> Linearization:
    """Linearize where: the tangent is m dx + (1 - m) dy; x receives m g, and y (1 - m) g."""
    m = check_mask("where", "condition", condition).copy()
    values = check_operands("where", names, inputs, REAL + COMPLEX)
    return Linearization(
        "where",
        names,
        values,
        broadcast_shape("where", {"condition": m, **dict(zip(names, values, strict=True))}),
        {"condition": m},
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
                f"cat: {shape_text(names[0], first)}, but {shape_text(name, value.shape)}; "
                "expected equal numbers of dimensions, and equal lengths except along "
                f"dim = {axis}."
            )
    sizes = [value.shape[axis] for value in values]
    starts = list(accumulate(sizes, initial=0))[:-1]
    return Linearization(
        "cat",
        names,
        values,
        (*first[:axis], sum(sizes), *first[axis + 1 :]),
        {"dim": axis},
        push=lambda *parts: np.concatenate(parts, axis=axis),
        pull=lambda g: [g[_part(axis, *place)] for place in zip(starts, sizes, strict=True)],
    )


def _narrow(
    names: Names, inputs: Inputs, dim: object, start: object, length: object
) -> Linearization:
    """Linearize narrow: the tangent is a part of da; a receives g in that part, zero elsewhere."""
    at, entries = check_integer("narrow: start", start), check_integer("narrow: length", length)
    (a,) = values = check_operands("narrow", names, inputs, REAL + COMPLEX)
    axis = check_axis("narrow", dim, "a", a.ndim)
    size, shape = a.shape[axis], shape_text("a", a.shape)
    if not 0 <= at <= size:
        raise ArgumentError(
            f"narrow: start = {at}: {shape}; along dim = {axis} expected 0 to {size}."
        )
    if not 0 <= entries <= size - at:
        raise ArgumentError(
            f"narrow: length = {entries}: {shape}; from start = {at} along dim = {axis} expected "
            f"0 to {size - at}."
        )
    inside = _part(axis, at, entries)
    return Linearization(
        "narrow",
        names,
        values,
        (*a.shape[:axis], entries, *a.shape[axis + 1 :]),
        {"dim": axis, "start": at, "length": entries},
        push=lambda tangent: tangent[inside],
        pull=lambda g: (_scatter(g, a.shape, inside),),
    )


def _clamp(names: Names, inputs: Inputs) -> Linearization:
    """Linearize clamp: dlo below lo, dhi above hi, dx between; the selected input receives g."""
    x, lo, hi = values = check_operands("clamp", names, inputs, REAL)
    shape = broadcast_shape("clamp", dict(zip(names, values, strict=True)))
    _check_bounds(lo, hi)
    below, above = x < lo, x > hi
    return Linearization(
        "clamp",
        names,
        values,
        shape,
        {},
        push=lambda dx, dlo, dhi: np.where(below, dlo, np.where(above, dhi, dx)),
        pull=lambda g: (_kept(~(below | above), g), _kept(below, g), _kept(above, g)),
        value=np.clip,
        kinks=read_only((x == lo) | (x == hi)),
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
