"""Tables of cells: a picture lists its rows, and `placing.lay_out` computes positions.

A `Table` has rows, a row has lines, and a line has cells, each with the key of its column. A key
contains a block and a number. Blocks are next to each other, except that blocks 0 and 1 have the
same left edge.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial

import numpy as np

from lab.traces.trace import ScanTrace
from visual.layout.arrows import Edge, Moment
from visual.layout.columns import Gap, shown_steps, with_ends, with_gaps
from visual.layout.sheet import Sheet
from visual.scene.shapes import Group
from visual.scene.theme import Role

Key = tuple[int, int]  # of a column: its block, and its number


@dataclass(frozen=True, eq=False)
class Cell:
    """A quantity in its role; `value` is None in uninitialized memory.

    The cell shows `label`, and the tooltip shows `name`. `short` is a name for a low cell that is
    too narrow for the label, with the meaning for a note; an empty meaning needs no note. `lines`
    are further lines of a high cell. A cell with lines and without a value has only words.
    """

    role: Role
    name: str
    value: np.ndarray | None
    _: KW_ONLY
    old: np.ndarray | None = None
    key: str = ""
    label: str = ""
    short: tuple[str, str] | None = None
    lines: tuple[str, ...] = ()
    title: str = ""
    digits: int = 4
    id: Hashable = None
    moment: Moment = (None, "")


@dataclass(frozen=True, eq=False)
class Head:
    """The two lines above a column, the first in `bold` or not; `short` is as in a `Cell`."""

    label: str
    place: str
    short: tuple[str, str] | None = None
    bold: bool = False


@dataclass(frozen=True, eq=False)
class Line:
    """Cells next to each other, with notes at the left.

    In a `low` line, the value is next to the name, and cells of the same column are below each
    other. Low cells without a column begin at the left edge. The line marks the folds of `blocks`.
    """

    cells: Sequence[tuple[Key | None, Cell]]
    notes: Sequence[str] = ()
    heads: Mapping[Key, Head] = field(default_factory=dict)
    name: str = ""
    low: bool = False
    part: int = 0
    blocks: Collection[int] = (0,)


@dataclass(frozen=True, eq=False)
class FormulaText:
    """A formula in symbols and in numbers."""

    symbols: str
    numbers: str = ""


@dataclass(frozen=True)
class TableHeading:
    """A title with the tooltip `more`, and lines below the title."""

    title: str
    lines: Sequence[str] = ()
    more: str = ""


@dataclass(frozen=True, eq=False)
class Row:
    """A named row of a table: its lines, the edges between their cells, formulas, and a moment.

    A row can begin with a `heading`. The `meaning` of the heads is to their left. A `note`
    replaces hidden rows.
    """

    name: str = ""
    lines: Sequence[Line] = ()
    edges: Sequence[Edge] = ()
    formulas: Sequence[FormulaText] = ()
    moment: Group = field(default_factory=partial(Group, ()))
    heading: TableHeading | None = None
    meaning: str = ""
    note: str = ""


@dataclass(frozen=True)
class TablePart:
    """Columns in a part of the table, at least `narrow` and at most `wide` pixels apart.

    `height` is the height of cells; cells that are too low for a value have only a label. The part
    has at least the fraction `least` of the sheet. The block `optional` is shown if its columns
    fit. A cell fills the fraction `full` of its column, and arrows run through the rest. Lines
    without arrows are `apart` pixels apart.
    """

    narrow: float = 54.0
    wide: float = 112.0
    height: float = 40.0
    title: str = ""
    note: str = ""
    least: float = 0.0
    optional: int | None = None
    full: float = 0.82
    apart: float = 10.0


@dataclass(frozen=True)
class Fold:
    """The rule that selects steps: the `requested` ones, and `ends` steps at both ends.

    For `ends` None, the number of steps at both ends is the default.
    """

    ends: int | None
    requested: tuple[int, ...]
    sheet: Sheet

    def steps(self, scan: ScanTrace) -> list[int | Gap]:
        """Return the shown steps of a Scan, and gaps."""
        if self.sheet.steps is not None:
            return with_ends(self.sheet.steps_of(scan), scan.steps)
        if self.ends == 0:
            every = range(scan.steps)
            return with_gaps({*self.requested[-1:]} & {*every} or {*every[:1]}, every)
        return shown_steps(scan.steps, self.requested, self.ends)


class Table(ABC):
    """The content of a picture of cells."""

    parts: tuple[TablePart, ...] = (TablePart(),)
    label_width: float | None = (
        None  # the width of the names of rows; None is the width on the sheet
    )

    @abstractmethod
    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return for each part the columns that the shown steps read or write."""

    @abstractmethod
    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Return the rows of the shown steps, with the cells of the shown columns."""

    def every(self) -> Mapping[int, range]:
        """Return all columns of each block that can have folds at both ends."""
        return {}
