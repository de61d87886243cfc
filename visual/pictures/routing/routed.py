"""The data of a routing picture: the arrays of a call as rows of cells, and the copied rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from lab.errors import ArgumentError, argument_error, check_sequence, listing

if TYPE_CHECKING:  # pictures of loops do not import these modules
    from lab.structural.primitive import Linearization, Sources

MOST_INPUTS, MOST_ROWS, MOST_COLUMNS = 6, 24, 12
Pair = tuple[tuple[str, int], tuple[str, int]]  # an entry of one array and an entry of another


@dataclass(frozen=True, eq=False)
class RoutedOperand:
    """An input of the primitive, with its value, its tangent, and its cotangent."""

    name: str
    number: int
    value: np.ndarray
    tangent: np.ndarray
    cotangent: np.ndarray


@dataclass(frozen=True, eq=False)
class Routed:
    """The inputs of a primitive, and the value, tangent, and cotangent of its output.

    `nonsmooth` marks the entries of the output that have no derivative. `products` contains
    <g, J v> and <J* g, v>.
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
    """Call a primitive, and return its arrays; `visual.routing` explains the arguments."""
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
    """Return the name of an entry, such as ``x[0,2]``, or the name of a number."""
    if not shape:
        return name
    return f"{name}[{','.join(map(str, np.unravel_index(entry, shape)))}]"


@dataclass(frozen=True, eq=False)
class DrawnArray:
    """An array as rows of `across` cells; the last axis runs from left to right."""

    operand: RoutedOperand | None  # None for the output and the condition
    name: str
    shape: tuple[int, ...]
    across: int

    @property
    def rows(self) -> range:
        """The numbers of the rows, from 0."""
        return range(prod(self.shape) // max(self.across, 1))

    @property
    def columns(self) -> range:
        """The numbers of the columns; the last column has number -1."""
        return range(-self.across, 0)

    def entries(self, row: int) -> Iterator[tuple[int, int]]:
        """Yield the number of each column of a row, and the index of its entry in the array."""
        for column in self.columns:
            yield column, (row + 1) * self.across + column


def arrays_of(call: Routed, is_upright: bool) -> tuple[list[DrawnArray], DrawnArray]:
    """Return the inputs of a call, with a condition as the last input, and the output.

    Raises ArgumentError for too many inputs, and for an array that is too large for a picture.
    """
    shapes = [(operand, operand.name, operand.value.shape) for operand in call.operands]
    parts: list[tuple[RoutedOperand | None, str, tuple[int, ...]]] = [*shapes]
    if "condition" in call.metadata:
        parts.append((None, "condition", np.asarray(call.metadata["condition"]).shape))
    parts.append((None, "z", call.value.shape))
    *inputs, output = (
        DrawnArray(operand, name, shape, 1 if is_upright or not shape else shape[-1])
        for operand, name, shape in parts
    )
    if len(call.operands) > MOST_INPUTS:
        raise ArgumentError(f"inputs: expected at most {MOST_INPUTS}, got {len(call.operands)}.")
    for array in (*inputs, output):
        if len(array.rows) > MOST_ROWS or array.across > MOST_COLUMNS:
            raise ArgumentError(
                f"{array.name} has shape {array.shape}: a picture has at most {MOST_ROWS} rows and "
                f"{MOST_COLUMNS} columns. Draw a part of the arrays."
            )
    return inputs, output


def copied_rows(call: Routed, inputs: Sequence[DrawnArray], output: DrawnArray) -> list[Pair]:
    """Return a pair for each row of an input and each row of the output that copies from the row.

    The first item is the last entry of the row of the input, and the second item is the first entry
    of the row of the output.
    """
    numbers, places = call.sources.input.reshape(-1), call.sources.entry.reshape(-1)
    arrays = {a.operand.number: a for a in inputs if a.operand}
    pairs = dict[Pair, None]()
    for row in output.rows:
        entries = [entry for _, entry in output.entries(row)]
        for entry in entries:
            source = arrays[int(numbers[entry])]
            *_, (_, last) = source.entries(int(places[entry]) // source.across)
            pairs[(source.name, last), ("z", entries[0])] = None
    return [*pairs]


def _counted(values: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return the tangents 0.1, 0.2, 0.3 … for the entries of all inputs."""
    tangents, start = [], 1
    for value in values:
        numbers = np.arange(start, start + value.size) / 10
        tangents.append(numbers.reshape(value.shape).astype(value.dtype))
        start += value.size
    return tuple(tangents)
