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
from lab.notation import number_text, value_symbol
from lab.reports.runs.influence import Influence
from lab.reports.runs.influence import influence as influence_in
from lab.reports.tables import Section
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.pictures.plots.series import PlottedQuantity, Series, plot_scene, table_of
from visual.scene.combinators import Piece, above, beside
from visual.scene.shapes import picture_function
from visual.scene.theme import LIGHT, Theme, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HIGH = 64.0  # the height of the curve, in pixels
WIDEST, NARROWEST = 440.0, 300.0  # largest width of a map, least width of a curve next to it
MOST_CELLS, WRITTEN = 28, 8  # the most cells in a row, and the most with numbers
DECADES, PALEST = 6.0, 0.12  # the powers of ten that colors show; the share of the palest color
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
    report = (
        derivative if isinstance(derivative, Influence) else influence_in(derivative, scan=scan)
    )
    if ax is not None:
        from visual.pictures.plots.axes import readers_axes

        with readers_axes(ax) as theme:
            draw_map(ax, shown_cells(report, range(report.steps)), color_span(report), theme)
        return ax
    title = f"Influence in {report.loop}: {report.derivative_label('t', 's')}"
    shown = shown_cells(report, sheet.steps_of(report.steps, report.loop))
    notes = _notes(report, shown) if sheet.legend else ()
    about = "A map of all pairs of values, its last row, and the losses of truncation."
    lines, parts = (*report.summary(), *notes), [_plots(shown, report, sheet.line)]
    return plot_scene(title, lines, parts, about, _tables(report), sheet)


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
    label, last = report.derivative_label("t", "s"), _last(report)
    name = f"{label}: t, of {report.of}, down; s, of {report.by}, across"
    left = line - wide - LABELS - APART
    is_narrow = left < NARROWEST
    sizes = PlottedQuantity(last.name, (last,), is_size=True)
    draw_curve = partial(Panel.add_curves, plotted=sizes)
    curve = draw_panel(line if is_narrow else left, HIGH, last.name, draw_curve)
    span = color_span(report)
    whole = draw_panel(
        wide + LABELS, high, name, lambda panel: draw_map(panel.axes, shown, span), right=0.0
    )
    return above(whole, curve) if is_narrow else beside(whole, curve, apart=APART)


def _last(report: Influence) -> Series:
    """Return the sizes of the derivatives of the final value wrt all values."""
    name = report.derivative_label(report.end, "k")
    series = Series(name, report.index, report.last)
    return series.sizes if report.is_scalar else series


def _tables(report: Influence) -> Iterator[str | Section]:
    """Yield the summary, a table of dx[t]/dx[s], and a table of the last derivatives."""
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


# The map.


def shown_cells(report: Influence, steps: range) -> Influence:
    """Return the report of the values that `steps` read or write, with few enough rows for a map.

    A value is the largest derivative in a block of pairs, or nan if the block contains nan. The
    index of a row or a column is the first index of its block.
    """
    down, across = (
        np.array_split(places, max(1, min(len(places), MOST_CELLS)))
        for those in (report.rows, report.columns)
        for places in np.nonzero((those >= steps.start) & (those <= steps.stop))
    )
    blocks = [[report.sizes[np.ix_(rows, columns)] for columns in across] for rows in down]
    sizes = [[block.flat[np.argmax(np.abs(block))] for block in row] for row in blocks]
    first = [places[0] for places in down], [places[0] for places in across]
    rows, columns = report.rows[first[0]], report.columns[first[1]]
    return replace(report, rows=rows, columns=columns, values=np.array(sizes))


def color_span(report: Influence) -> tuple[float, float]:
    """Return log10 of the largest derivative, and the number of powers of ten that colors show."""
    sizes = np.abs(report.sizes)
    known = np.log10(sizes[np.isfinite(sizes) & (sizes != 0)])
    top, low = (float(known.max()), float(known.min())) if known.size else (0.0, 0.0)
    return top, max(1.0, math.ceil(top - max(low, min(top, 0.0) - DECADES)))


def draw_map(
    axes: "Axes", shown: Influence, span: tuple[float, float], theme: Theme = LIGHT
) -> None:
    """Draw the map on matplotlib axes. A small map has numbers above its cells."""
    from matplotlib.colors import ListedColormap

    table, (top, decades) = shown.sizes, span
    high, wide = table.shape
    with np.errstate(divide="ignore"):
        logs = np.minimum(np.log10(np.abs(table)), top) - top
    shares = np.maximum(PALEST, PALEST + (1 - PALEST) * (1 + logs / decades))
    shares = np.where(table == 0, 0.0, np.sign(table) * shares)
    edges = np.arange(high + 1.0)
    if max(table.shape) <= WRITTEN:  # the numbers are in empty cells above each row
        edges = np.sort([*edges, *(edges[:-1] + 0.55)])
        shares = np.insert(shares, np.arange(high), 0.0, axis=0)
        for row, column in np.argwhere((table != 0) | np.tri(high, wide, dtype=bool)):
            words = number_text(table[row, column], 3)
            axes.text(column + 0.5, row + 0.45, words, ha="center", size=11)
    *colors, nan = shades(theme)
    colormap = ListedColormap(colors).with_extremes(bad=nan)
    axes.pcolormesh(np.arange(wide + 1.0), edges, shares, cmap=colormap, vmin=-1.0, vmax=1.0)
    axes.invert_yaxis()
    for axis, numbers in ((axes.yaxis, shown.rows), (axes.xaxis, shown.columns)):
        places = range(0, len(numbers), -(-len(numbers) // 14))
        axis.set_ticks([n + 0.5 for n in places], [f"{numbers[n]:,}" for n in places])
