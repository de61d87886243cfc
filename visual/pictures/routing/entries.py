"""The entries of a routing picture that are shown, and which rows are copied to which rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from visual.layout.columns import Gap, shown
from visual.pictures.routing.routed import Routed, RoutedOperand

MOST, MOST_OF_ALL = (8, 3), (24, 12)  # rows and columns of an array that is shown whole
MOST_INPUTS, ENDS = 6, 2
MOST_ARROWS = 24  # more arrows lead from array to array
Pair = tuple[tuple[str, int], tuple[str, int]]  # names of arrays, and entries


@dataclass(frozen=True, eq=False)
class ShownArray:
    """The shown rows of an array, and its shown columns; the last axis runs across."""

    operand: RoutedOperand | None  # None for the output and the condition
    name: str
    shape: tuple[int, ...]
    across: int
    rows: tuple[int | Gap, ...]
    columns: frozenset[int]

    def entries(self, row: int) -> Iterator[tuple[int, int]]:
        """Yield the shown columns of a row, counted from the last, and their entries."""
        for column in sorted(self.columns):
            yield column - self.across, row * self.across + column

    @property
    def numbers(self) -> list[int]:
        """The shown rows without gaps."""
        return [row for row in self.rows if not isinstance(row, Gap)]


def shown_arrays(call: Routed, is_upright: bool, all: bool) -> tuple[list[ShownArray], ShownArray]:
    """Return the inputs, the last one the condition, and the output of a call."""

    def select(
        operand: RoutedOperand | None, name: str, shape: tuple[int, ...], wanted: list[int]
    ) -> ShownArray:
        """Select rows and columns: all, or both ends and those of `wanted` entries."""
        across = 1 if is_upright or not shape else shape[-1]
        size = int(np.prod(shape, dtype=int))
        if not size:
            return ShownArray(operand, name, shape, across, (), frozenset())
        most = MOST_OF_ALL if all else MOST
        rows = shown(size // across, most[0], [entry // across for entry in wanted])
        columns = shown(across, most[1], [entry % across for entry in wanted])
        chosen = frozenset(column for column in columns if not isinstance(column, Gap))
        return ShownArray(operand, name, shape, across, rows, chosen)

    operands: list[RoutedOperand] = [*call.operands]
    if len(operands) > MOST_INPUTS:
        operands[MOST_INPUTS // 2 : -ENDS] = []
    output = select(None, "z", call.value.shape, _examples(call, operands))
    number, entries = call.sources.input.reshape(-1), call.sources.entry.reshape(-1)
    copied = [entry for row in output.numbers for _, entry in output.entries(row)]
    inputs = []
    for one in operands:
        wanted = [int(entries[entry]) for entry in copied if number[entry] == one.number]
        inputs.append(select(one, one.name, one.value.shape, wanted))
    if "condition" in call.metadata:
        shape = np.asarray(call.metadata["condition"]).shape
        places = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        of = np.broadcast_to(places, call.value.shape).reshape(-1)
        inputs.append(select(None, "condition", shape, [int(of[entry]) for entry in copied]))
    return inputs, output


def _examples(call: Routed, operands: Sequence[RoutedOperand]) -> list[int]:
    """Return the entries of a large output that are shown in addition to its ends."""
    places = [0, 1]
    for operand in operands:
        of = call.sources.input.reshape(-1) == operand.number
        if of.any():
            places += [int(np.argmax(of)), of.size - 1 - int(np.argmax(of[::-1]))]
    kinks = call.nonsmooth.reshape(-1)
    places += [int(np.argmax(kinks))] if kinks.any() else []
    return [place for place in places if place < call.value.size]


def copied_rows(
    call: Routed, inputs: Sequence[ShownArray], output: ShownArray
) -> tuple[list[Pair], list[str]]:
    """Return the last entry of a row of an input, with the first of each row that copies from it.

    If they are many, a single pair for each input. A note explains the arrows.
    """
    found = dict[Pair, None]()
    arrays = {a.operand.number: a for a in inputs if a.operand}
    for row in output.numbers:
        entries = [entry for _, entry in output.entries(row)]
        for entry in entries:
            source = arrays.get(int(call.sources.input.reshape(-1)[entry]))
            place = int(call.sources.entry.reshape(-1)[entry])
            if source is not None:
                *_, (_, last) = source.entries(place // source.across)
                found[(source.name, last), ("z", entries[0])] = None
    if len(found) > MOST_ARROWS:
        coarse = {pair[0][0]: pair for pair in reversed(found)}
        return [*coarse.values()], ["arrows lead from array to array"]
    is_fine = output.across == 1
    return [*found], [] if is_fine else ["arrows lead from row to row"]
