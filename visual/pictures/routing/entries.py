"""The arrays of a routing picture, and which rows are copied to which rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from lab.errors import ArgumentError
from visual.pictures.routing.routed import Routed, RoutedOperand

MOST_INPUTS, MOST_ROWS, MOST_COLUMNS = 6, 24, 12
Pair = tuple[tuple[str, int], tuple[str, int]]  # names of arrays, and entries


@dataclass(frozen=True, eq=False)
class DrawnArray:
    """An array as rows of cells; the last axis runs from left to right, with `across` entries."""

    operand: RoutedOperand | None  # None for the output and the condition
    name: str
    shape: tuple[int, ...]
    across: int

    @property
    def rows(self) -> range:
        """The numbers of the rows; an empty array has none."""
        return range(prod(self.shape) // max(self.across, 1))

    @property
    def columns(self) -> range:
        """The columns, counted from the last."""
        return range(-self.across, 0)

    def entries(self, row: int) -> Iterator[tuple[int, int]]:
        """Yield the columns of a row, counted from the last, and their entries."""
        for column in self.columns:
            yield column, (row + 1) * self.across + column


def arrays_of(call: Routed, is_upright: bool) -> tuple[list[DrawnArray], DrawnArray]:
    """Return the inputs, with the condition as the last input, and the output of a call.

    Raises ArgumentError for arrays, or a number of inputs, that are too large for a picture.
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
    """Return pairs: the last entry of an input's row, and the first of a row that copies it."""
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
