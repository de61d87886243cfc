"""Define the rules of `where`, `cat`, `narrow`, and `clamp`: tangent map and cotangent map.

`primitives` contains the primitives by name.  The docstrings of the functions in
`lab.structural.chain` contain their equations.
"""

from collections.abc import Callable, Mapping
from itertools import accumulate

import numpy as np

from lab.errors import ArgumentError, Registry, argument_error, check_integer
from lab.records import as_array
from lab.structural.operands import REAL, check_axis, check_broadcasting, read_only
from lab.structural.primitive import Linearization, Primitive

Build = Callable[..., Linearization]  # builds a linearization from its maps and metadata
Named = Mapping[str, np.ndarray]  # the checked inputs by name


def _kept(mask: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return `g` where the mask is true and zero elsewhere, even if `g` is nan."""
    return np.where(mask, g, 0.0)


def _where(build: Build, named: Named, condition: object) -> Linearization:
    """Linearize where: the tangent is m dx + (1 - m) dy; x receives m g, and y (1 - m) g."""
    m = as_array("where: condition", condition, "an array of booleans").copy()
    if m.dtype != bool:
        raise argument_error("where: condition", condition, f"expected booleans, not {m.dtype}.")
    check_broadcasting("where", {"condition": m, **named})
    return build(
        metadata={"condition": m},
        push=lambda dx, dy: np.where(m, dx, dy),
        pull=lambda g: (_kept(m, g), _kept(~m, g)),
    )


def _cat(build: Build, named: Named, dim: object) -> Linearization:
    """Linearize cat: the tangent is cat(dx1, …, dxn); every input receives its part of g."""
    if not named:
        raise ArgumentError("cat: inputs = []: expected at least one array.")
    label, first = next((name, value.shape) for name, value in named.items())
    axis = check_axis("cat", dim, label, len(first))
    for name, value in named.items():
        along = first[axis] if value.ndim == len(first) else None
        if (*value.shape[:axis], along, *value.shape[axis + 1 :]) != first:
            raise ArgumentError(
                f"cat: {label} has shape {first}, but {name} has shape {value.shape}; "
                "expected equal numbers of dimensions, and equal lengths except along "
                f"dim = {axis}."
            )
    *ends, _ = accumulate(value.shape[axis] for value in named.values())
    return build(
        metadata={"dim": axis},
        push=lambda *parts: np.concatenate(parts, axis=axis),
        pull=lambda g: np.split(g, ends, axis),
    )


def _narrow(
    build: Build, named: Named, dim: object, start: object, length: object
) -> Linearization:
    """Linearize narrow: the tangent is a part of da; a receives g in that part, zero elsewhere."""
    at, entries = check_integer("narrow: start", start), check_integer("narrow: length", length)
    a = named["a"]
    axis = check_axis("narrow", dim, "a", a.ndim)
    size, shape = a.shape[axis], f"a has shape {a.shape}"
    if not 0 <= at <= size:
        reason = f"{shape}; along dim = {axis} expected 0 to {size}."
        raise argument_error("narrow: start", at, reason)
    if not 0 <= entries <= size - at:
        reason = f"from start = {at} along dim = {axis} expected 0 to {size - at}."
        raise argument_error("narrow: length", entries, f"{shape}; {reason}")
    part = (*[slice(None)] * axis, slice(at, at + entries))
    around = [(at, size - at - entries) if n == axis else (0, 0) for n in range(a.ndim)]
    return build(
        metadata={"dim": axis, "start": at, "length": entries},
        push=lambda tangent: tangent[part],
        pull=lambda g: (np.pad(g, around),),
    )


def _clamp(build: Build, named: Named) -> Linearization:
    """Linearize clamp: the tangent is dlo where x < lo, dhi where x > hi, and dx elsewhere.

    The input with the tangent of an entry receives the cotangent of this entry.
    """
    x, lo, hi = named.values()
    check_broadcasting("clamp", named)
    _check_bounds(lo, hi)
    below, above = x < lo, x > hi
    return build(
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
    reason = "expected bounds with lo ≤ hi everywhere."
    raise ArgumentError(f"clamp: lo{at} = {low} and hi{at} = {high}: {reason}")


_PRIMITIVES = (
    Primitive("where", ("condition", "x", "y"), ("condition",), _where),
    Primitive("cat", ("inputs", "dim"), ("dim",), _cat),
    Primitive("narrow", ("a", "dim", "start", "length"), ("dim", "start", "length"), _narrow),
    Primitive("clamp", ("x", "lo", "hi"), (), _clamp, REAL),
)
primitives = Registry(
    "primitive", {each.name: each for each in _PRIMITIVES}, "the primitives are {}."
)
