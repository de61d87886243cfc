"""Where the arrays of a routing picture stand, and which entries of large ones are shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from visual.layout.grid import CELL, MOST_COLUMNS, MOST_ROWS, CellGrid, cell_grid
from visual.pictures.routing.cells import HIGH, MASK_HIGH
from visual.pictures.routing.routed import Operand, Routed
from visual.pictures.routing.words import given_line, taken_line
from visual.scene.shapes import text_width

LANE, NARROW_LANE, LINE_SIZE = 130, 88, 11
MOST_INPUTS, ENDS = 6, 2
FEW = 2, 3  # rows and columns that are shown whole where there is no room for more


@dataclass(frozen=True, eq=False)
class Layout:
    """Which entries are shown, and where; None stands for inputs that are left out."""

    blocks: tuple[tuple[Operand, CellGrid] | None, ...]
    output: CellGrid
    mask: CellGrid | None
    mask_of: np.ndarray | None  # the entry of the mask for every entry of the output
    right: float
    out_x: float
    upright: bool


def laid_out(found: Routed, fewer: bool = False) -> Layout:
    """Which entries of a call are shown, and how wide that is; on demand `fewer` of them."""
    operands: list[Operand | None] = list(found.operands)
    if len(operands) > MOST_INPUTS:
        operands[1 if fewer else 3 : -1 if fewer else -ENDS] = [None]
    upright = found.value.ndim <= 1
    most = FEW if fewer else (MOST_ROWS, MOST_COLUMNS)
    looked_at = [] if fewer else _looked_at(found, [operand for operand in operands if operand])
    output = cell_grid(found.value.shape, upright, looked_at, HIGH, most)
    shown = [entry for entry, *_ in output.places()]
    blocks: list[tuple[Operand, CellGrid] | None] = []
    for operand in operands:
        if operand is None:
            blocks.append(None)
            continue
        number = found.sources.input.reshape(-1)
        entries = found.sources.entry.reshape(-1)
        wanted = [int(entries[e]) for e in shown if number[e] == operand.number]
        blocks.append((operand, cell_grid(operand.value.shape, upright, wanted, HIGH, most)))
    mask = mask_of = None
    if "condition" in found.metadata:
        shape = np.shape(found.metadata["condition"])
        size = int(np.prod(shape, dtype=int))
        mask_of = np.broadcast_to(np.arange(size).reshape(shape), found.value.shape).reshape(-1)
        mask = cell_grid(shape, upright, [int(mask_of[e]) for e in shown], MASK_HIGH, most)
    grids = [block[1] for block in blocks if block] + ([mask] if mask else [])
    lines = [
        text_width(piece, LINE_SIZE)
        for block in blocks
        if block
        for line in (given_line(found, block[0]), taken_line(found, block[0]))
        for piece in pieces(line, upright)
    ]
    right = max([CELL, *(grid.width for grid in grids), *lines])
    return Layout(
        blocks=tuple(blocks),
        output=output,
        mask=mask,
        mask_of=mask_of,
        right=right,
        out_x=right + (NARROW_LANE if upright else LANE),
        upright=upright,
    )


def pieces(line: str, upright: bool) -> list[str]:
    """The lines about an array, as they stand above it: three panels share the width if upright."""
    return line.split("; ") if upright else [line]


def _looked_at(found: Routed, operands: Sequence[Operand]) -> list[int]:
    """Entries of a large output that its picture shows besides the ends."""
    places = [0, 1]
    for operand in operands:
        of = found.sources.input.reshape(-1) == operand.number
        places += [int(np.argmax(of))] if of.any() else []
        if found.value.ndim <= 1 and of.any():
            places.append(of.size - 1 - int(np.argmax(of[::-1])))
    kinks = found.nonsmooth.reshape(-1)
    places += [int(np.argmax(kinks))] if kinks.any() else []
    return [place for place in places if place < found.value.size]
