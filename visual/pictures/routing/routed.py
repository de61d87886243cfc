"""The data of a routing picture: the arrays of a call as rows, and the rows that others copy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.errors import ArgumentError, argument_error, check_sequence, listing

if TYPE_CHECKING:  # pictures of loops do not import these modules
    from lab.structural.primitive import Linearization, Sources

MOST_INPUTS, MOST_ROWS, MOST_COLUMNS = 6, 24, 12
Pair = tuple[tuple[str, int], tuple[str, int]]  # an entry of one array and an entry of another


@dataclass(frozen=True, eq=False)
class RoutedArray:
    """An array of a call, as rows of `across` cells. The last axis runs from left to right.

    `values` are the value, the tangent, and the cotangent. A condition has only a value. `number`
    is the number of an input, and None for the output and for a condition.
    """

    name: str
    number: int | None
    values: Sequence[np.ndarray]
    across: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.values[0].shape

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.values[0].size

    @property
    def rows(self) -> range:
        """The numbers of the rows, from 0."""
        return range(self.size // max(self.across, 1))

    @property
    def columns(self) -> range:
        """The numbers of the columns, from `-across` to -1."""
        return range(-self.across, 0)

    def entries(self, row: int) -> Iterator[tuple[int, int]]:
        """Yield the number of each column of a row, and the index of the entry in this column."""
        for column in self.columns:
            yield column, (row + 1) * self.across + column

    def entry_name(self, entry: int, prefix: str = "") -> str:
        """Return the name of an entry, such as ``x[0,2]``, or of an array without axes, ``x``."""
        if not self.shape:
            return f"{prefix}{self.name}"
        return f"{prefix}{self.name}[{','.join(map(str, np.unravel_index(entry, self.shape)))}]"


@dataclass(frozen=True, eq=False)
class RoutedCall:
    """A call of a primitive: its linearization and its arrays. The output has the name z."""

    linear: "Linearization"
    sources: "Sources"
    inputs: Sequence[RoutedArray]
    condition: RoutedArray | None
    output: RoutedArray

    @property
    def primitive(self) -> str:
        """The name of the primitive."""
        return self.linear.primitive

    @property
    def metadata(self) -> Mapping[str, object]:
        """The arguments without derivatives, by name."""
        return self.linear.metadata

    @property
    def arguments(self) -> list[RoutedArray]:
        """The inputs, then the condition."""
        return [*self.inputs, *([self.condition] if self.condition else [])]

    def source(self, entry: int) -> tuple[RoutedArray, int]:
        """Return the input and the index of the entry that an entry of the output copies."""
        numbers, entries = (a.reshape(-1) for a in (self.sources.input, self.sources.entry))
        return self.inputs[int(numbers[entry])], int(entries[entry])

    def is_repeated(self, array: RoutedArray) -> bool:
        """Return whether the primitive broadcasts an input."""
        return self.primitive in ("where", "clamp") and 0 < array.size < self.output.size

    def copied_rows(self) -> list[Pair]:
        """Return a pair for each row of an input and each row of the output that copies from it.

        The first item is the last entry of the row of the input, and the second item is the first
        entry of the row of the output.
        """
        pairs = dict[Pair, None]()
        for row in self.output.rows:
            entries = [entry for _, entry in self.output.entries(row)]
            for source, place in map(self.source, entries):
                *_, (_, last) = source.entries(place // source.across)
                pairs[(source.name, last), ("z", entries[0])] = None
        return [*pairs]


def route_call(
    primitive: str,
    inputs: Sequence[object],
    cotangent: object,
    tangents: Sequence[object] | None,
    metadata: Mapping[str, object],
) -> RoutedCall:
    """Call a primitive, and return the call. `visual.routing` explains the arguments.

    Vectors and numbers have a single column. Raises ArgumentError for too many
    inputs, and for an array that is too large for a picture.
    """
    from lab.structural import primitives
    from lab.structural.primitive import sources

    if not isinstance(primitive, str) or primitive not in primitives:
        raise argument_error("primitive", primitive, f"expected {listing(primitives)}.")
    linear = primitives[primitive].linearize(inputs, **metadata)
    output = np.asarray(linear.output)
    if tangents is None:
        sizes = [value.size for value in linear.values]
        parts = np.split(np.arange(1, sum(sizes) + 1) / 10, np.cumsum(sizes[:-1]))
        pairs = zip(parts, linear.values, strict=True)
        tangents = [part.reshape(value.shape).astype(value.dtype) for part, value in pairs]
    tangents = check_sequence("tangents", tangents, "one for each input")
    if cotangent is None:
        cotangent = (10 * np.arange(1, output.size + 1)).reshape(output.shape).astype(output.dtype)
    pushed, gradients = np.asarray(linear(*tangents)), linear.transpose(cotangent)

    def array(name: str, number: int | None, *values: object) -> RoutedArray:
        arrays = [np.asarray(value) for value in values]
        is_narrow = output.ndim <= 1 or not arrays[0].ndim
        return RoutedArray(name, number, arrays, 1 if is_narrow else arrays[0].shape[-1])

    names = list(linear.names)
    if primitive == "cat":
        names = [f"x{number}" for number in range(1, len(names) + 1)]
    v = (np.asarray(tangent, output.dtype) for tangent in tangents)
    columns = zip(names, range(len(names)), linear.values, v, gradients, strict=True)
    condition = linear.metadata.get("condition")
    call = RoutedCall(
        linear,
        sources(linear),
        [array(*column) for column in columns],
        None if condition is None else array("condition", None, condition),
        array("z", None, output, pushed, np.asarray(cotangent, output.dtype)),
    )
    if len(names) > MOST_INPUTS:
        raise ArgumentError(f"inputs: expected at most {MOST_INPUTS}, got {len(names)}.")
    for each in (*call.arguments, call.output):
        if len(each.rows) > MOST_ROWS or each.across > MOST_COLUMNS:
            raise ArgumentError(
                f"{each.name} has shape {each.shape}: a picture has at most {MOST_ROWS} rows and "
                f"{MOST_COLUMNS} columns. Draw a part of the arrays."
            )
    return call
