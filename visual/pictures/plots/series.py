"""The numbers that plots draw: a `Series` for each quantity, over indices.

`series_of` reads the tapes of a Scan. `table_of` writes series as a table of a text twin.
`plot_scene` assembles a plot.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.equations.tables import ReportTable
from lab.notation import integers, number_text
from lab.reports.tables import Block, Section, as_text
from lab.traces.trace import TapeTrace
from visual.layout.canvas import heading
from visual.layout.cells import values_text
from visual.layout.columns import Gap, shown_steps
from visual.layout.names import NamedScan
from visual.layout.sheet import Sheet
from visual.scene.combinators import Piece, above, gap, shifted
from visual.scene.shapes import Scene

FEW, WRITTEN = 4, 8  # maxima: entries of an array with curves, columns of a map with numbers


@dataclass(frozen=True, eq=False)
class Series:
    """The values of a quantity. ``values[i]``, a number or an array, is the value at ``index[i]``.

    The indices are in ascending order, and `across` names their axis. `cost` is the differentiated
    cost of a gradient.
    """

    name: str
    index: np.ndarray
    values: np.ndarray
    across: str = "index"
    cost: str = ""

    @property
    def is_scalar(self) -> bool:
        """Whether the quantity is a number at every index."""
        return self.values.ndim == 1

    @property
    def table(self) -> np.ndarray:
        """The values as a matrix with a row for each index and a column for each entry."""
        return self.values.reshape(len(self.values), -1)

    @property
    def sizes(self) -> "Series":
        """The absolute values of numbers, or the norms of arrays, without overflow or underflow."""
        with np.errstate(invalid="ignore", over="ignore"):
            values = np.hypot.reduce(np.abs(self.table), 1, keepdims=True)[:, 0]
        bars = "|" if self.is_scalar else "‖"
        return replace(self, name=f"{bars}{self.name}{bars}", values=values)


@dataclass(frozen=True, eq=False)
class PlottedQuantity:
    """A quantity that a panel shows. `rank` is its number among the quantities of its Scan.

    With `is_size`, the panel shows sizes on a logarithmic scale: for example, the sizes of the
    gradients wrt a state, for each order. `table` is the title of the table in the text twin.
    `about` is the note of the panel; if it is empty, the note shows values.
    """

    title: str
    series: tuple[Series, ...]
    about: str = ""
    is_size: bool = False
    table: str = ""
    rank: int = 0

    @property
    def curves(self) -> list[Series]:
        """The curves of numbers. Several curves have costs or entries as names."""
        series = self.series[0]
        if self.is_size:
            return [replace(sizes, name=sizes.cost) for sizes in self.series]
        if not series.is_scalar and series.table.shape[1] <= FEW:
            entries = enumerate(series.table.T)
            return [replace(series, name=f"[{n}]", values=entry) for n, entry in entries]
        return [series if series.is_scalar else series.sizes]

    @property
    def note(self) -> str:
        """`about`, or the first and final value of a single curve; ``‖ ‖`` precedes norms."""
        if self.about:
            return self.about
        values, *others = (curve.values for curve in self.curves)
        ends = " … ".join(number_text(values[end]) for end in {0: 0, len(values) - 1: 0})
        return "" if others else ends if self.series[0].is_scalar else f"‖ ‖ {ends}"


def series_of(
    named: NamedScan, steps: range | None = None, tapes: Iterable[TapeTrace] | None = None
) -> Iterator[Series]:
    """Yield the final values on each of the `tapes` of a Scan (default: all), without empty rows.

    With `steps`, yield only the values with an index from ``steps.start`` to ``steps.stop``.
    Magnitudes replace complex numbers.
    """
    for tape in named.scan.buffers if tapes is None else tapes:
        filled = ~tape.unwritten[: len(tape.final)]  # a loop that stops early leaves a shorter tape
        for write in tape.writes:
            filled[write.rows] = True
        rows = np.flatnonzero(filled)
        index, across = rows - tape.tape.origin, "pos"
        if tape.axis is not None and len(tape.axis.index) >= len(tape.final):
            index, across = tape.axis.index[rows], "index"
        elif tape.is_total:
            index, across = index + 1, "steps"  # the number of added steps
        order = np.argsort(index, kind="stable")
        if steps is not None:
            order = order[(index[order] >= steps.start) & (index[order] <= steps.stop)]
        values, name = tape.final[rows[order]], named.variable_label(tape)
        values = np.abs(values) if values.dtype.kind == "c" else values
        if values.size:
            yield Series(name, index[order], values.astype(float), across, named.cost)


def table_of(series: Sequence[Series]) -> ReportTable:
    """Return a table with a column per series, and the first and last rows of a long series."""
    places = np.unique(np.concatenate([each.index for each in series])).tolist()
    rows = list[tuple[str, ...]]()
    for item in shown_steps(len(places)):
        if isinstance(item, Gap):
            rows.append((f"⋯ {item.hidden:,} more", *[""] * len(series)))
            continue
        entries = (each.values[each.index == places[item]][:1] for each in series)
        rows.append((integers(places[item]), *("".join(map(values_text, e)) for e in entries)))
    return ReportTable((series[0].across, *(each.name for each in series)), tuple(rows))


def plot_scene(
    title: str,
    lines: Iterable[str],
    parts: Iterable[Piece],
    about: str,
    blocks: Iterable[Block],
    sheet: Sheet,
) -> Scene:
    """Return a scene with a title, `lines`, and `parts`. Its text twin contains `blocks`."""
    margin, twin = sheet.margin, "\n".join([*as_text(Section(title, tuple(blocks))), ""])
    whole = above(gap(sheet.line), heading(title, lines, sheet), *parts, apart=8)
    drawn = shifted(whole, margin, margin)
    right, bottom = drawn.envelope.right + margin, drawn.envelope.bottom + margin
    return Scene(right, bottom, drawn.shapes, title, about, twin=twin)
