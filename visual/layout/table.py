"""Tables of cells: the content of a picture before `placing.lay_out` computes positions.

A `Table` yields rows. A row consists of lines, and a line of cells. A column has a key: the number
of its block of columns, and its number in the block. Blocks are next to each other.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

import numpy as np

from lab.traces.trace import ScanTrace
from visual.layout.arrows import Edge, Moment
from visual.layout.columns import Gap, shown_steps, with_gaps
from visual.layout.sheet import Sheet
from visual.scene.theme import Role

Key = tuple[int, int]  # the number of a block, and the number of a column in the block
Head = tuple[str, str]  # the two lines of text above a column
Note = str | tuple[str, str]  # a text, or two texts that can be on two lines


@dataclass(frozen=True, eq=False)
class Cell:
    """A cell with a named value and its role. `value` is None for uninitialized memory.

    All cells of a `quantity` (default: `name`) share a color scale. The cell is in a `column` or,
    for None, at the left edge of its part. It shows `label`, or `short` if a low cell is too narrow
    for the label and the value. The tooltip is `title` (default: `name` and the values). `lines`
    are further lines of a high cell. A cell with lines and no value shows only text. Edges refer to
    cells by `id`. A `faded` cell is paler.
    """

    role: Role
    name: str
    value: np.ndarray | None
    _: KW_ONLY
    column: Key | None = None
    old: np.ndarray | None = None
    key: str = ""
    quantity: str = ""
    label: str = ""
    short: str = ""
    lines: tuple[str, ...] = ()
    title: str = ""
    digits: int = 4
    id: Hashable = None
    moment: Moment = (None, "")
    faded: bool = False


@dataclass(frozen=True, eq=False)
class Line:
    """Cells next to each other in a `part` of the table, with `notes` to their left.

    In a `low` line, each value is next to its name, and cells of the same column are stacked. The
    line marks the gaps of its `blocks`.
    """

    cells: Sequence[Cell]
    notes: Sequence[Note] = ()
    heads: Mapping[Key, Head] = field(default_factory=dict)
    name: str = ""
    low: bool = False
    part: int = 0
    blocks: Collection[int] = (0,)


@dataclass(frozen=True, eq=False)
class Row:
    """A named row of a table: lines of cells, edges between the cells, formulas, and a moment.

    Each formula is a pair of texts: in symbols, and in numbers or empty. A row can begin with a
    heading: a `title` with the tooltip `more`, and the lines `about`. The `meaning` explains the
    heads of columns. A row with a `note` has no other content: the note replaces hidden rows.
    """

    name: str = ""
    lines: Sequence[Line] = ()
    edges: Sequence[Edge] = ()
    formulas: Sequence[tuple[str, str]] = ()
    moment: Moment = (None, "")
    title: str = ""
    about: Sequence[str] = ()
    more: str = ""
    meaning: str = ""
    note: str = ""


@dataclass(frozen=True)
class TablePart:
    """A part of a table, with columns that are `narrow` to `wide` pixels apart.

    `height` is the height of cells. A cell that is too low for a value shows only its label. The
    part fills at least the fraction `least` of the sheet. The columns of the block `optional` are
    shown if they fit. A cell fills the fraction `full` of its column, and arrows run through the
    rest. Lines without arrows are `apart` pixels apart. `bold` applies to the first line of heads.
    """

    narrow: float = 54.0
    wide: float = 112.0
    height: float = 40.0
    title: str = ""
    least: float = 0.0
    optional: int | None = None
    full: float = 0.82
    apart: float = 10.0
    bold: bool = False


@dataclass(frozen=True)
class Fold:
    """A selection of steps: the first `ends`, the last `ends`, and the `requested` steps.

    If `ends` is None, the selection of a short loop includes all steps. If `ends` is 0, the
    selection is a single step. The steps of the `sheet`, if any, replace the selection.
    """

    ends: int | None
    requested: tuple[int, ...]
    sheet: Sheet

    def steps(self, scan: ScanTrace) -> list[int | Gap]:
        """Return the selected steps of a Scan, and gaps for the other steps."""
        every = range(scan.steps)
        if self.sheet.steps is not None:
            return with_gaps(self.sheet.steps_of(scan.steps, scan.name), every)
        if self.ends == 0:
            return with_gaps({*self.requested[-1:]} & {*every} or {*every[:1]}, every)
        return shown_steps(scan.steps, self.requested, self.ends)


@dataclass(eq=False)
class Table:
    """The rows `content` of a picture of cells, in several `parts`.

    `label_width` is the width of the names of rows. If it is None, the sheet determines the width.
    A gap can replace the first and the last columns of `every` in block 0.
    """

    content: Sequence[Row] = ()
    parts: tuple[TablePart, ...] = (TablePart(),)
    label_width: float | None = None
    every: range = range(0)

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return, for each part, the columns of the heads and cells in the selected rows.

        A table whose rows depend on the shown columns overrides this method.
        """
        columns, self.content = [set[Key]() for _ in self.parts], [*self.rows(fold, ())]
        for line in (line for row in self.content for line in row.lines):
            columns[line.part].update(line.heads, (c.column for c in line.cells if c.column))
        return columns

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the rows of the selected steps, with the cells of the `shown` columns."""
        yield from self.content
