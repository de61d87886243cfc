"""The picture of influence: the derivative of each value of a loop wrt each earlier value.

    >>> visual.influence(derivative, ax=axes)  # the map, on your own axes

A curve next to the map shows the last row of the map.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.errors import check_type
from lab.gradients.derivative import Derivative
from lab.notation import value_symbol
from lab.reports.runs.influence import Influence
from lab.reports.runs.influence import influence as influence_in
from lab.reports.tables import Section
from visual.layout.sheet import SCREEN, Sheet
from visual.pictures.plots.series import WRITTEN, PlottedQuantity, Series, plot_scene, table_of
from visual.scene.combinators import above, beside
from visual.scene.shapes import picture_function

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HIGH = 64.0  # the height of the curve, in pixels
WIDEST, NARROWEST = 440.0, 300.0  # maximum width of a map, minimum width of a curve next to it
MOST_CELLS, DECADES = 28, 6.0  # maximum numbers: cells in a row, powers of ten below 1 in color
CELL = 48.0, 34.0  # the width and the height of a cell with a number


@picture_function
def influence(
    derivative: Derivative | Influence,
    scan: int = 1,
    sheet: Sheet = SCREEN,
    ax: "Axes | None" = None,
) -> Any:
    """Plot the result of `lab.influence`, or the influence in the Scan `scan` of a derivative.

    Colors show sizes on a logarithmic scale of at most six powers of ten; if the largest size
    exceeds 1, the scale ends at 10⁻⁶ or above. The map has at most 28 rows and columns; a cell of
    a larger map shows the largest derivative of a block of pairs, or nan. With `ax`, draw the map
    on these matplotlib axes and return `ax`. Raises the errors of `lab.influence`.
    """
    expected = "a Derivative, or the result of lab.influence"
    check_type("derivative", derivative, (Derivative, Influence), expected)
    if isinstance(derivative, Derivative):
        derivative = influence_in(derivative, scan=scan)
    from visual.pictures.plots.axes import APART, LABELS, add_curves, add_map, draw_on, draw_panel

    report, draw = derivative, partial(add_map, span=color_span(derivative))
    if ax is not None:
        whole = shown_cells(report, range(report.steps))
        return draw_on(ax, partial(draw, table=whole.sizes, heads=(whole.rows, whole.columns)))
    shown = shown_cells(report, sheet.steps_of(report.steps, report.loop))
    rows, columns = shown.sizes.shape
    wide = high = min(WIDEST, sheet.line) - LABELS
    if max(rows, columns) <= WRITTEN:
        wide, high = min(wide, columns * CELL[0]), rows * CELL[1]
    last = Series(report.derivative_label(report.end, "k"), report.index, report.last)
    last = last.sizes if report.is_scalar else last
    label = report.derivative_label("t", "s")
    fill = partial(draw, table=shown.sizes, heads=(shown.rows, shown.columns))
    heat_map = draw_panel(wide + LABELS, high, f"{label}: row t, column s", fill, right=0.0)
    left = sheet.line - wide - LABELS - APART
    is_narrow = left < NARROWEST
    fill = partial(add_curves, plotted=PlottedQuantity(last.name, (last,), is_size=True))
    curve = draw_panel(sheet.line if is_narrow else left, HIGH, last.name, fill)
    return plot_scene(
        f"Influence in {report.loop}: {label}",
        (*report.summary(), *(_notes(report, shown) if sheet.legend else ())),
        [above(heat_map, curve) if is_narrow else beside(heat_map, curve, apart=APART)],
        "A map of all pairs of values, its last row, and the losses of truncation.",
        (*report.summary(), *_tables(report, last)),
        sheet,
    )


def _notes(report: Influence, shown: Influence) -> Iterator[str]:
    """Yield the meaning of the `shown` cells and of their colors."""
    of, by = value_symbol(report.of, "t"), value_symbol(report.by, "s")
    norm = "" if report.is_scalar else ", as a spectral norm"
    yield f"a cell: the derivative of {of}, its row, with respect to {by}, its column{norm}"
    top, decades = color_span(report)
    ends = " to ".join(f"{float(f'{10.0**power:.1g}'):g}" for power in (top - decades, top))
    yield f"color: the size by powers of ten, {ends}; olive is positive, magenta negative"
    yield from _block_note("a cell", shown)


def _tables(report: Influence, last: Series) -> Iterator[Section]:
    """Yield a table of derivatives, with at most `WRITTEN` columns, and a table of the last row."""
    pairs = zip(report.columns.tolist(), report.sizes.T, strict=True)
    columns = [Series(f"wrt {value_symbol(report.by, s)}", report.rows, v, "t") for s, v in pairs]
    columns = columns if len(columns) <= WRITTEN else [*columns[:3], *columns[-3:]]
    note = _block_note("an entry", report)
    yield Section(report.derivative_label("t", "s"), (*note, table_of(columns)))
    yield Section("Last row", (table_of([replace(last, across="k")]),))


def _block_note(subject: str, pairs: Influence) -> tuple[str, ...]:
    """Return a sentence about the size of the blocks, or () if each block is a single pair."""
    high, wide = (int(np.diff(those).max(initial=1)) for those in (pairs.rows, pairs.columns))
    note = f"{subject} shows the largest of up to {high:,} × {wide:,} derivatives, or nan"
    return (note,) if high * wide > 1 else ()


def shown_cells(report: Influence, steps: range) -> Influence:
    """Return the report of the values of `steps`, with at most `MOST_CELLS` rows and columns.

    A value is the largest derivative in a block of pairs, or nan if the block contains nan. The
    index of a row or a column is the first index of its block.
    """
    down, across = (
        np.array_split(places, max(1, min(len(places), MOST_CELLS)))
        for those in (report.rows, report.columns)
        for places in np.nonzero((those >= steps.start) & (those <= steps.stop))
    )
    blocks = [[report.sizes[np.ix_(rows, columns)] for columns in across] for rows in down]
    sizes = np.array([[block.flat[np.argmax(np.abs(block))] for block in row] for row in blocks])
    rows, columns = ([places[0] for places in side] for side in (down, across))
    return replace(report, rows=report.rows[rows], columns=report.columns[columns], values=sizes)


def color_span(report: Influence) -> tuple[float, float]:
    """Return log10 of the largest derivative, and the number of powers of ten that colors show."""
    sizes = np.abs(report.sizes)
    known = np.log10(sizes[np.isfinite(sizes) & (sizes != 0)])
    top, low = (float(known.max()), float(known.min())) if known.size else (0.0, 0.0)
    return top, max(1.0, math.ceil(top - max(low, min(top, 0.0) - DECADES)))
