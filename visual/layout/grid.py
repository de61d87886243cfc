"""The entries of an array as a grid of cells, of which a large one shows some.

The last axis runs across, all others down, row by row; a vector stands upright where no
matrix takes part, so that arrows reach its cells from the side.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from visual.layout.columns import Gap, with_gaps
from visual.scene.shapes import Shape, Text

CELL, SPACE, FOLD = 100, 6, 40
MOST_ROWS, MOST_COLUMNS = 8, 6


@dataclass(frozen=True)
class CellGrid:
    """Which entries of an array of `shape` are shown, in cells of `height`.

    `across` is how many entries stand side by side, shown or not; `rows` and `columns` are
    those that are shown, with gaps between them.
    """

    shape: tuple[int, ...]
    across: int
    rows: tuple[int | Gap, ...]
    columns: tuple[int | Gap, ...]
    height: float

    @property
    def empty(self) -> bool:
        """Whether there are no entries at all."""
        return 0 in self.shape

    @property
    def width(self) -> float:
        """How wide the whole grid is."""
        return _length(self.columns, CELL) if not self.empty else CELL

    @property
    def depth(self) -> float:
        """How high the whole grid is."""
        return _length(self.rows, self.height, fold=20) if not self.empty else self.height

    def places(self) -> Iterator[tuple[int, float, float]]:
        """Every entry that is shown, by its place in the flattened array, and its corner."""
        for row, top in _offsets(self.rows, self.height, fold=20):
            for column, left in _offsets(self.columns, CELL):
                yield row * self.across + column, left, top

    def gaps(self, x: float, y: float) -> Iterator[Shape]:
        """The marks of what is not shown, for a grid that stands at x, y."""
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
    """How many entries of an array stand side by side."""
    return 1 if upright or not shape else shape[-1]


def cell_grid(
    shape: tuple[int, ...],
    upright: bool,
    wanted: Iterable[int],
    height: float,
    most: tuple[int, int] = (MOST_ROWS, MOST_COLUMNS),
) -> CellGrid:
    """The grid of an array; of more than `most` rows and columns the ends and what is `wanted`."""
    wide = across(shape, upright)
    size = int(np.prod(shape, dtype=int))
    if not size:
        return CellGrid(shape, wide, (), (), height)
    chosen = [divmod(entry, wide) for entry in wanted]
    rows = shown(size // wide, most[0], [row for row, _ in chosen])
    columns = shown(wide, most[1], [column for _, column in chosen])
    return CellGrid(shape, wide, rows, columns, height)


def shown(count: int, most: int, wanted: Iterable[int]) -> tuple[int | Gap, ...]:
    """0 to `count`, if they are not more than `most`; else the ends, what is wanted, and gaps."""
    if count <= most:
        return tuple(range(count))
    found = with_gaps({0, count - 1, *wanted})
    # a gap of one would take as much room as what it hides
    return tuple(with_gaps(set(_filled(found))))


def _filled(items: Iterable[int | Gap]) -> Iterator[int]:
    """The numbers, and those that a gap of one hides."""
    last = -1
    for item in items:
        if isinstance(item, Gap):
            if item.hidden == 1:
                yield last + 1
        else:
            last = item
            yield item


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
    """``x[0,2]``; a number without dimensions has its bare name."""
    if not shape:
        return name
    return f"{name}[{','.join(map(str, np.unravel_index(entry, shape)))}]"
