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
    Form,
    broadcast_shape,
    check_axis,
    check_mask,
    check_operands,
    form_of,
    read_only,
)
from lab.structural.primitive import Linearization, Primitive

Names = Sequence[str]
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
    given = check_mask("where", "condition", condition)
    values, forms = check_operands("where", names, inputs, REAL + COMPLEX)
    shape = broadcast_shape("where", (form_of("condition", given), *forms))
    m = given.copy()
    return Linearization(
        "where",
        values,
        forms,
        Form("the output", shape, forms[0].dtype),
        {"condition": m},
        push=lambda dx, dy: np.where(m, dx, dy),
        pull=lambda g: (_kept(m, g), _kept(~m, g)),
        broadcasts=True,
    )


def _cat(names: Names, inputs: Inputs, dim: object) -> Linearization:
    """Linearize cat: the tangent is cat(dx1, …, dxn); every input receives its part of g."""
    if not inputs:
        raise ArgumentError("cat: inputs = []: expected at least one array.")
    values, forms = check_operands("cat", names, inputs, REAL + COMPLEX)
    first = forms[0]
    axis = check_axis("cat", dim, first)
    shape = list(first.shape)
    for other in forms[1:]:
        if other.ndim != first.ndim:
            raise ArgumentError(f"cat: {first}, but {other}; expected equal numbers of dimensions.")
        for n, (known, new) in enumerate(zip(shape, other.shape, strict=True)):
            if n == axis:
                shape[n] = known + new
            elif new != known:
                raise ArgumentError(
                    f"cat: {first}, but {other}; expected equal lengths except along dim = {axis}."
                )
    sizes = [form.shape[axis] for form in forms]
    starts = list(accumulate(sizes, initial=0))[:-1]
    return Linearization(
        "cat",
        values,
        forms,
        Form("the output", tuple(shape), first.dtype),
        {"dim": axis},
        push=lambda *parts: np.concatenate(parts, axis=axis),
        pull=lambda g: [g[_part(axis, *place)] for place in zip(starts, sizes, strict=True)],
    )


def _narrow(
    names: Names, inputs: Inputs, dim: object, start: object, length: object
) -> Linearization:
    """Linearize narrow: the tangent is a part of da; a receives g in that part, zero elsewhere."""
    at, entries = check_integer("narrow: start", start), check_integer("narrow: length", length)
    values, (a,) = check_operands("narrow", names, inputs, REAL + COMPLEX)
    axis = check_axis("narrow", dim, a)
    size = a.shape[axis]
    if not 0 <= at <= size:
        raise ArgumentError(f"narrow: start = {at}: {a}; along dim = {axis} expected 0 to {size}.")
    if entries < 0:
        raise ArgumentError(f"narrow: length = {entries}: expected 0 or more.")
    if entries > size - at:
        raise ArgumentError(
            f"narrow: length = {entries}: {a}; from start = {at} along dim = {axis} expected 0 to "
            f"{size - at}."
        )
    inside = _part(axis, at, entries)
    return Linearization(
        "narrow",
        values,
        (a,),
        Form("the output", (*a.shape[:axis], entries, *a.shape[axis + 1 :]), a.dtype),
        {"dim": axis, "start": at, "length": entries},
        push=lambda tangent: tangent[inside],
        pull=lambda g: (_scatter(g, a.shape, inside),),
    )


def _clamp(names: Names, inputs: Inputs) -> Linearization:
    """Linearize clamp: dlo below lo, dhi above hi, dx between; the selected input receives g."""
    (x, lo, hi), forms = check_operands("clamp", names, inputs, REAL)
    output = Form("the output", broadcast_shape("clamp", forms), forms[0].dtype)
    _check_bounds(lo, hi)
    below, above, kinks = x < lo, x > hi, read_only((x == lo) | (x == hi))
    return Linearization(
        "clamp",
        (x, lo, hi),
        forms,
        output,
        {},
        push=lambda dx, dlo, dhi: np.where(below, dlo, np.where(above, dhi, dx)),
        pull=lambda g: (_kept(~(below | above), g), _kept(below, g), _kept(above, g)),
        value=np.clip,
        broadcasts=True,
        kinks=kinks,
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
