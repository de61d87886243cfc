"""The picture of influence: the derivative of each value of a loop wrt each earlier value.

    >>> visual.influence(derivative, ax=axes)  # the map, on your own axes

A curve next to the map shows the last row of the map.
"""

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
from visual.layout.canvas import heading
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.pictures.plots.cells import WRITTEN, color_span, draw_map, shown_cells
from visual.pictures.plots.series import PlottedQuantity, Series, plot_scene, table_of
from visual.scene.combinators import Piece, above, beside
from visual.scene.shapes import picture_function

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HIGH = 64.0  # the height of the curve, in pixels
WIDEST, NARROWEST = 440.0, 300.0  # largest width of a map, least width of a curve next to it
CELL = 48.0, 34.0  # the width and the height of a cell with a number


@picture_function
def influence(
    derivative: Derivative | Influence,
    scan: int = 1,
    sheet: Sheet = SCREEN,
    ax: "Axes | None" = None,
) -> Any:
    """Plot the result of `lab.influence`, or the influence in the Scan `scan` of a derivative.

    Colors show sizes by powers of ten, at most six of them. The map has at most 28 rows and
    columns. A cell of a larger map shows the largest derivative of a block of pairs, or nan. With
    `ax`, draw the map on these matplotlib axes and return `ax`. Raises the errors of
    `lab.influence`.
    """
    expected = "a Derivative, or the result of lab.influence"
    check_type("derivative", derivative, (Derivative, Influence), expected)
    check_sheet(sheet)
    if isinstance(derivative, Derivative):
        derivative = influence_in(derivative, scan=scan)
    report: Influence = derivative
    if ax is not None:
        from visual.pictures.plots.axes import readers_axes

        with readers_axes(ax) as theme:
            draw_map(ax, shown_cells(report, range(report.steps)), color_span(report), theme)
        return ax
    title = f"Influence in {report.loop}: {report.derivative_label('t', 's')}"
    shown = shown_cells(report, sheet.steps_of(report.steps, report.loop))
    notes = _notes(report, shown) if sheet.legend else ()
    about = "A map of all pairs of values, its last row, and the losses of truncation."
    parts = [heading(title, (*report.summary(), *notes), sheet), _plots(shown, report, sheet.line)]
    return plot_scene(parts, title, about, _tables(report), sheet)


def _notes(report: Influence, shown: Influence) -> Iterator[str]:
    of, by = value_symbol(report.of, "t"), value_symbol(report.by, "s")
    norm = "" if report.is_scalar else ", as a spectral norm"
    yield f"a cell: the derivative of {of}, its row, with respect to {by}, its column{norm}"
    top, decades = color_span(report)
    ends = " to ".join(f"{float(f'{10.0**power:.1g}'):g}" for power in (top - decades, top))
    yield f"color: the size by powers of ten, {ends}; olive is positive, magenta negative"
    yield from _block_note("a cell", shown)


def _block_note(subject: str, pairs: Influence) -> tuple[str, ...]:
    """Return a sentence about the size of the blocks, or () if each block is a single pair."""
    high, wide = (int(np.diff(those).max(initial=1)) for those in (pairs.rows, pairs.columns))
    note = f"{subject} shows the largest of up to {high:,} × {wide:,} derivatives, or nan"
    return (note,) if high * wide > 1 else ()


def _plots(shown: Influence, report: Influence, line: float) -> Piece:
    """Draw the map and the curve. On a wide sheet, the curve is next to the map."""
    from visual.pictures.plots.axes import APART, LABELS, Panel, draw_panel

    wide = high = min(WIDEST, line) - LABELS
    if max(shown.sizes.shape) <= WRITTEN:
        rows, columns = shown.sizes.shape
        wide, high = min(wide, columns * CELL[0]), rows * CELL[1]
    name = (
        f"{report.derivative_label('t', 's')}: t, of {report.of}, down; s, of {report.by}, across"
    )
    left = line - wide - LABELS - APART
    is_narrow = left < NARROWEST
    width = line if is_narrow else left

    last = _last(report)

    def fill(panel: Panel) -> None:
        draw_map(panel.axes, shown, color_span(report))

    sizes = PlottedQuantity(last.name, (last,), is_size=True)
    curve = draw_panel(width, HIGH, last.name, partial(Panel.add_curves, plotted=sizes))
    whole = draw_panel(wide + LABELS, high, name, fill, right=0.0)
    return above(whole, curve) if is_narrow else beside(whole, curve, apart=APART)


def _last(report: Influence) -> Series:
    """Return the sizes of the derivatives of the final value wrt all values."""
    name = report.derivative_label(report.end, "k")
    series = Series(name, report.index, report.last)
    return series.sizes if report.is_scalar else series


def _tables(report: Influence) -> Iterator[str | Section]:
    """Yield the summary, a table of the pairs, and a table of the last row."""
    columns = [
        Series(f"wrt {value_symbol(report.by, s)}", report.rows, report.sizes[:, j], "t")
        for j, s in enumerate(report.columns.tolist())
    ]
    columns = columns if len(columns) <= WRITTEN else [*columns[:3], *columns[-3:]]
    yield from report.summary()
    yield Section(
        report.derivative_label("t", "s"), (*_block_note("an entry", report), table_of(columns))
    )
    yield Section("Last row", (table_of([replace(_last(report), across="k")]),))
