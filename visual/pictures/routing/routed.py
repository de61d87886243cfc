"""The data of a routing picture: values, tangents, cotangents, and their sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.errors import argument_error, check_sequence, listing

if TYPE_CHECKING:  # pictures of loops do not import these modules
    from lab.structural.primitive import Linearization, Sources


@dataclass(frozen=True, eq=False)
class RoutedOperand:
    """An input: its name, its number among the inputs, and its arrays."""

    name: str
    number: int
    value: np.ndarray
    tangent: np.ndarray
    cotangent: np.ndarray


@dataclass(frozen=True, eq=False)
class Routed:
    """The inputs of a primitive, and the value, tangent, and cotangent of its output.

    `nonsmooth` marks the entries of the output without a derivative. `products` are <g, J v> and
    <J* g, v>.
    """

    primitive: str
    metadata: Mapping[str, object]
    operands: tuple[RoutedOperand, ...]
    value: np.ndarray
    tangent: np.ndarray
    cotangent: np.ndarray
    nonsmooth: np.ndarray
    linear: "Linearization"
    sources: "Sources"
    products: tuple[float, float]


def route_call(
    primitive: str,
    inputs: Sequence[object],
    cotangent: object,
    tangents: Sequence[object] | None,
    metadata: Mapping[str, object],
) -> Routed:
    """Return the data of a call of a primitive; see `visual.routing`."""
    from lab.checks.check import inner
    from lab.structural import primitives
    from lab.structural.primitive import sources

    if not isinstance(primitive, str) or primitive not in primitives:
        raise argument_error("primitive", primitive, f"expected {listing(primitives)}.")
    linear = primitives[primitive].linearize(inputs, **metadata)
    if tangents is None:
        tangents = _counted(linear.values)
    tangents = check_sequence("tangents", tangents, "one for each input")
    output = np.asarray(linear.output)
    if cotangent is None:
        cotangent = (10 * np.arange(1, output.size + 1)).reshape(output.shape).astype(output.dtype)
    pushed, gradients = np.asarray(linear(*tangents)), linear.transpose(cotangent)
    v = tuple(np.asarray(t, output.dtype) for t in tangents)
    g = np.asarray(cotangent, output.dtype)
    nonsmooth = np.broadcast_to(linear.nonsmooth, output.shape)
    names = [form.name for form in linear.forms]
    if primitive == "cat":
        names = [f"x{number}" for number in range(1, len(names) + 1)]
    parts = zip(names, linear.values, v, gradients, strict=True)
    return Routed(
        primitive=primitive,
        metadata=linear.metadata,
        operands=tuple(RoutedOperand(part[0], n, *part[1:]) for n, part in enumerate(parts)),
        value=output,
        tangent=pushed,
        cotangent=g,
        nonsmooth=nonsmooth,
        linear=linear,
        sources=sources(linear),
        products=(inner([(g, pushed)]), inner(zip(gradients, v, strict=True))),
    )


def entry_name(name: str, shape: tuple[int, ...], entry: int) -> str:
    """Return ``x[0,2]``, or the name of an array without dimensions."""
    if not shape:
        return name
    return f"{name}[{','.join(map(str, np.unravel_index(entry, shape)))}]"


def _counted(values: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return the tangents 0.1, 0.2, 0.3 … over all inputs: no two entries are equal."""
    tangents, start = [], 1
    for value in values:
        numbers = np.arange(start, start + value.size) / 10
        tangents.append(numbers.reshape(value.shape).astype(value.dtype))
        start += value.size
    return tuple(tangents)
