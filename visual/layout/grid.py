"""The entries of an array as a grid of cells; a large array shows some of its entries.

The last axis runs across, all others down. A vector is a column if no matrix is involved, so that
arrows reach its cells from the side.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from visual.layout.columns import Gap, shown
from visual.scene.shapes import Shape, Text

CELL, SPACE, FOLD = 100, 6, 40
MOST_ROWS, MOST_COLUMNS = 8, 6


@dataclass(frozen=True)
class CellGrid:
    """The shown entries of an array of `shape`, in cells of `height`.

    `across` is the number of all columns; `rows` and `columns` are the shown ones, with gaps.
    """

    shape: tuple[int, ...]
    across: int
    rows: tuple[int | Gap, ...]
    columns: tuple[int | Gap, ...]
    height: float

    @property
    def empty(self) -> bool:
        """Whether the array has no entries."""
        return 0 in self.shape

    @property
    def width(self) -> float:
        """The width of the grid."""
        return _length(self.columns, CELL) if not self.empty else CELL

    @property
    def depth(self) -> float:
        """The height of the grid."""
        return _length(self.rows, self.height, fold=20) if not self.empty else self.height

    def places(self) -> Iterator[tuple[int, float, float]]:
        """Yield the index of each shown entry in the flattened array, and its corner."""
        for row, top in _offsets(self.rows, self.height, fold=20):
            for column, left in _offsets(self.columns, CELL):
                yield row * self.across + column, left, top

    def gaps(self, x: float, y: float) -> Iterator[Shape]:
        """Yield the marks of hidden entries, for a grid at x, y."""
        top = y
        for row in self.rows:
            if isinstance(row, Gap):
                words = f"⋮ {row.hidden:,} more" if self.across == 1 else f"⋮ {row.hidden:,} rows"
                yield Text(x + CELL / 2, top + 14, words, 11, "middle", muted=True)
            top += (20 if isinstance(row, Gap) else self.height) + SPACE
        left = x
        for column in self.columns:
            if isinstance(column, Gap):
                words = f"…{column.hidden:,}"
                middle = left + FOLD / 2
                yield Text(middle, y + self.height / 2, words, 11, "middle", muted=True)
            left += (FOLD if isinstance(column, Gap) else CELL) + SPACE


def across(shape: tuple[int, ...], upright: bool) -> int:
    """Return the number of columns of an array."""
    return 1 if upright or not shape else shape[-1]


def cell_grid(
    shape: tuple[int, ...],
    upright: bool,
    wanted: Iterable[int],
    height: float,
    most: tuple[int, int] = (MOST_ROWS, MOST_COLUMNS),
) -> CellGrid:
    """Return the grid of an array with `most` rows and columns, or its ends and `wanted` ones."""
    wide = across(shape, upright)
    size = int(np.prod(shape, dtype=int))
    if not size:
        return CellGrid(shape, wide, (), (), height)
    chosen = [divmod(entry, wide) for entry in wanted]
    rows = shown(size // wide, most[0], [row for row, _ in chosen])
    columns = shown(wide, most[1], [column for _, column in chosen])
    return CellGrid(shape, wide, rows, columns, height)


def _length(items: Iterable[int | Gap], size: float, fold: float = FOLD) -> float:
    return sum((fold if isinstance(i, Gap) else size) + SPACE for i in items) - SPACE


def _offsets(
    items: Iterable[int | Gap], size: float, fold: float = FOLD
) -> Iterator[tuple[int, float]]:
    at = 0.0
    for item in items:
        if not isinstance(item, Gap):
            yield item, at
        at += (fold if isinstance(item, Gap) else size) + SPACE


def entry_name(name: str, shape: tuple[int, ...], entry: int) -> str:
    """Return ``x[0,2]``, or the name of an array without dimensions."""
    if not shape:
        return name
    return f"{name}[{','.join(map(str, np.unravel_index(entry, shape)))}]"
