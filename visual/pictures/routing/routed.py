"""A structural primitive at numbers: values, tangents, cotangents, and who goes where.

Everything that its picture shows, before anything is drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.errors import ArgumentError, check_sequence, listing, quote

if TYPE_CHECKING:  # imported when a picture is asked for: pictures of loops do without
    from lab.structural.primitive import Linearization
    from lab.structural.sources import Sources


@dataclass(frozen=True, eq=False)
class Operand:
    """An input: its name, its number among the inputs, and its arrays.

    `kinks` are the entries whose share of the cotangent was a choice, where there is no
    derivative.
    """

    name: str
    number: int
    value: np.ndarray
    tangent: np.ndarray
    cotangent: np.ndarray
    kinks: np.ndarray


@dataclass(frozen=True, eq=False)
class Routed:
    """A primitive's inputs, and its output's value, tangent and cotangent.

    `nonsmooth` are the entries of the output that have no derivative.  `products` are
    <g, J v> and <J* g, v>.
    """

    primitive: str
    metadata: Mapping[str, object]
    operands: tuple[Operand, ...]
    value: np.ndarray
    tangent: np.ndarray
    cotangent: np.ndarray
    nonsmooth: np.ndarray
    linear: "Linearization"
    sources: "Sources"
    products: tuple[float, float]


def routed(
    primitive: str,
    inputs: Sequence[object],
    cotangent: object,
    tangents: Sequence[object] | None,
    metadata: Mapping[str, object],
) -> Routed:
    """The primitive with a name, at arrays; see `visual.routing`."""
    from lab.checks.check import inner
    from lab.structural import primitives
    from lab.structural.sources import sources

    if not isinstance(primitive, str) or primitive not in primitives:
        raise ArgumentError(f"primitive = {quote(primitive)}: expected {listing(primitives)}.")
    linear = primitives[primitive].linearize(inputs, **metadata)
    given = None if tangents is None else check_sequence("tangents", tangents, "one for each input")
    output = np.asarray(linear.output)
    given = _counted(linear.values) if given is None else given
    if cotangent is None:
        cotangent = (10 * np.arange(1, output.size + 1)).reshape(output.shape).astype(output.dtype)
    tangent, gradients = np.asarray(linear(*given)), linear.transpose(cotangent)
    v = tuple(np.asarray(t, output.dtype) for t in given)
    g = np.asarray(cotangent, output.dtype)
    nonsmooth = np.broadcast_to(linear.nonsmooth, output.shape)
    names = [form.name for form in linear.forms]
    if primitive == "cat":
        names = [f"x{number}" for number in range(1, len(names) + 1)]
    parts = zip(names, linear.values, v, gradients, _kinks(primitive, linear.values), strict=True)
    return Routed(
        primitive=primitive,
        metadata=linear.metadata,
        operands=tuple(Operand(part[0], n, *part[1:]) for n, part in enumerate(parts)),
        value=output,
        tangent=tangent,
        cotangent=g,
        nonsmooth=nonsmooth,
        linear=linear,
        sources=sources(linear),
        products=(inner([(g, tangent)]), inner(zip(gradients, v, strict=True))),
    )


def _counted(values: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """0.1, 0.2, 0.3 … through all inputs: every entry has a number of its own."""
    found, start = [], 1
    for value in values:
        numbers = np.arange(start, start + value.size) / 10
        found.append(numbers.reshape(value.shape).astype(value.dtype))
        start += value.size
    return tuple(found)


def _kinks(primitive: str, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Which entries of the inputs meet a bound somewhere; only a clamp's do."""
    if primitive != "clamp":
        return [np.zeros(value.shape, bool) for value in values]
    x, lo, hi = values
    low, high = x == lo, x == hi
    return [_anywhere(met, value.shape) for met, value in ((low | high, x), (low, lo), (high, hi))]


def _anywhere(met: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Whether a condition holds for any of the entries that an array was repeated to."""
    met = np.asarray(met)
    extra = met.ndim - len(shape)
    ones = tuple(extra + axis for axis, length in enumerate(shape) if length == 1)
    return np.asarray(np.any(met, axis=(*range(extra), *ones), keepdims=True)).reshape(shape)
