"""The picture of influence: the derivative of each value of a loop wrt each earlier one.

    >>> visual.influence(gallery.loops["rnn"].derivative()).save("influence.svg")
    >>> visual.influence(derivative, ax=axes)  # the map, on axes of your own

Next to the map are its last row and the part of each gradient that `truncate_gradient` loses.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lab.errors import check_type
from lab.gradients.derivative import Derivative
from lab.notation import number_text, value_symbol
from lab.reports.runs.influence import Influence
from lab.reports.runs.influence import influence as influence_in
from lab.reports.tables import Section, as_text
from visual.layout.canvas import heading
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.pictures.plots.series import Series, as_numbers, plot_scene, table_of
from visual.scene.combinators import Piece
from visual.scene.shapes import picture_function
from visual.scene.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from visual.pictures.plots.axes import Panel

APART, TITLE, HIGH, ROW = 24.0, 26.0, 64.0, 112.0  # of a curve; ROW: with its title and labels
WIDEST, NARROWEST = 440.0, 300.0  # of the map; of a curve beside it
MOST_CELLS, WRITTEN, CELL = 28, 8, (48.0, 34.0)  # in a row; with numbers, and their size
DECADES, PALEST, MOST_CURVES = 6.0, 0.12, 4  # of the colors; curves of truncation


@picture_function
def influence(
    derivative: Derivative | Influence,
    scan: int = 1,
    sheet: Sheet = SCREEN,
    ax: "Axes | None" = None,
) -> Any:
    """Plot the result of `lab.influence`, or compute it for a derivative first.

    Colors show sizes by powers of ten, at most six of them. The map has at most 28 rows and
    columns; in a larger one, a cell shows the largest derivative of a block of pairs, or nan.
    With `ax`, matplotlib axes, draw the map there and return `ax`. Raises the errors of
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
            _draw_map(ax, _shown_cells(report, range(report.steps)), _span(report), theme)
        return ax
    title = f"Influence in {report.loop}: {report.called('t', 's')}"
    shown = _shown_cells(report, sheet.steps_within(report.steps, report.loop))
    notes = _notes(report, shown) if sheet.legend else ()
    about = "A map of all pairs of values, its last row, and the losses of truncation."
    parts = [heading(title, (*report.summary, *notes), sheet), _plots(shown, report, sheet.line)]
    return plot_scene(parts, title, about, _twin(title, report), sheet)


class _Map(NamedTuple):
    """The cells of the map: ``sizes[i, j]`` is the largest of the pairs in a block.

    ``rows[i]`` and ``columns[j]`` are the first values of the block.
    """

    rows: np.ndarray
    columns: np.ndarray
    sizes: np.ndarray


def _shown_cells(report: Influence, steps: range) -> _Map:
    """Return the cells of the values that the shown steps read or write; nan is the largest."""
    down, across = (
        np.array_split(places, max(1, min(len(places), MOST_CELLS)))
        for those in (report.rows, report.columns)
        for places in np.nonzero((those >= steps.start) & (those <= steps.stop))
    )
    blocks = [[report.sizes[np.ix_(rows, columns)] for columns in across] for rows in down]
    sizes = [[block.flat[np.abs(block).argmax()] for block in row] for row in blocks]
    first = [places[0] for places in down], [places[0] for places in across]
    return _Map(report.rows[first[0]], report.columns[first[1]], np.array(sizes))


def _notes(report: Influence, shown: _Map) -> Iterator[str]:
    of, by = value_symbol(report.of, "t"), value_symbol(report.by, "s")
    norm = "" if report.is_scalar else ", as a spectral norm"
    yield f"a cell: the derivative of {of}, its row, with respect to {by}, its column{norm}"
    top, decades = _span(report)
    ends = " to ".join(f"{float(f'{10.0**power:.1g}'):g}" for power in (top - decades, top))
    yield f"color: the size by powers of ten, {ends}; olive is positive, magenta negative"
    if report.cuts:
        yield "lost: the part of a gradient that is missing if it is truncated to the last steps"
    yield from _block_note("a cell", shown)


def _block_note(subject: str, pairs: "Influence | _Map") -> tuple[str, ...]:
    """Return a sentence about the blocks of pairs, if a block has several."""
    high, wide = (int(np.diff(those).max(initial=1)) for those in (pairs.rows, pairs.columns))
    note = f"{subject} shows the largest of up to {high:,} × {wide:,} derivatives, or nan"
    return (note,) if high * wide > 1 else ()


def _span(report: Influence) -> tuple[float, float]:
    """Return the power of ten of the largest size, and the powers of ten that colors show."""
    sizes = np.abs(report.sizes)
    known = np.log10(sizes[np.isfinite(sizes) & (sizes != 0)])
    top, low = (float(known.max()), float(known.min())) if known.size else (0.0, 0.0)
    return top, max(1.0, math.ceil(top - max(low, min(top, 0.0) - DECADES)))


def _draw_map(axes: "Axes", shown: _Map, span: tuple[float, float], theme: Theme) -> None:
    """Draw the map, with numbers above the cells if there are few."""
    from visual.pictures.plots.axes import draw_heat

    table, (top, decades) = shown.sizes, span
    high, wide = table.shape
    with np.errstate(divide="ignore"):
        logs = np.minimum(np.log10(np.abs(table)), top) - top
    shares = np.maximum(PALEST, PALEST + (1 - PALEST) * (1 + logs / decades))
    shares = np.where(table == 0, 0.0, np.sign(table) * shares)
    edges = np.arange(high + 1.0)
    if max(table.shape) <= WRITTEN:  # each row has empty cells with the numbers above its colors
        edges = np.sort([*edges, *(edges[:-1] + 0.55)])
        shares = np.insert(shares, np.arange(high), 0.0, axis=0)
        for row, column in np.argwhere((table != 0) | np.tri(high, wide, dtype=bool)):
            words = number_text(table[row, column], 3)
            axes.text(column + 0.5, row + 0.45, words, ha="center", size=11)
    draw_heat(axes, edges, shares, theme)
    for axis, numbers in ((axes.yaxis, shown.rows), (axes.xaxis, shown.columns)):
        places = range(0, len(numbers), -(-len(numbers) // 14))
        axis.set_ticks([n + 0.5 for n in places], [f"{numbers[n]:,}" for n in places])


def _plots(shown: _Map, report: Influence, line: float) -> Piece:
    """Draw the map and the curves, next to each other if the sheet is wide enough."""
    from visual.pictures.plots.axes import LABELS, Panel, draw_panels

    curves = [_last(report), *_losses(report)[:MOST_CURVES]]
    wide = high = min(WIDEST, line) - LABELS
    if max(shown.sizes.shape) <= WRITTEN:
        rows, columns = shown.sizes.shape
        wide, high = min(wide, columns * CELL[0]), rows * CELL[1]
    left, top = wide + LABELS + APART, 0.0
    if line - left < NARROWEST:
        left, top = 0.0, high + 70

    def draw(figure: "Figure") -> "Iterator[Panel]":
        title = f"{report.called('t', 's')}: t, of {report.of}, down; s, of {report.by}, across"
        panel = Panel(figure, (0, TITLE), (wide + LABELS, high), title, right=0.0)
        _draw_map(panel.axes, shown, _span(report), LIGHT)
        yield panel
        for number, series in enumerate(curves):
            corner = left, top + TITLE + ROW * number
            panel = Panel(figure, corner, (line - left, HIGH), series.name)
            panel.label_indices(int(series.index[0]), int(series.index[-1]), series.across)
            panel.draw_curves([(series.index, series.values, "")], log=True)
            yield panel

    return draw_panels(line, max(high + 50, top + ROW * len(curves)), draw)


def _last(report: Influence) -> Series:
    """Return the sizes of the derivatives of the last value."""
    name = report.called(report.end, "k")
    series = Series(name, report.index, report.last)
    return series.sizes if report.is_scalar else series


def _losses(report: Influence) -> list[Series]:
    """Return the part of each gradient that is lost, over the number of steps that are left."""
    losses = [
        (f"lost by truncate_gradient: {cut.name}", as_numbers(cut.errors)) for cut in report.cuts
    ]
    return [Series(name, np.arange(1, len(v) + 1), v, "steps") for name, v in losses]


def _twin(title: str, report: Influence) -> str:
    """Write the sentences, a table of the pairs, and the curves."""
    columns = [
        Series(f"wrt {value_symbol(report.by, s)}", report.rows, report.sizes[:, j], "t")
        for j, s in enumerate(report.columns.tolist())
    ]
    columns = columns if len(columns) <= WRITTEN else [*columns[:3], *columns[-3:]]
    blocks = _block_note("an entry", report)
    tables = {"Last row": [replace(_last(report), across="k")]}
    if report.cuts:
        tables["Part of each gradient that truncate_gradient loses"] = _losses(report)
    sections = [Section(report.called("t", "s"), (*blocks, table_of(columns)))]
    sections += [Section(name, (table_of(series),)) for name, series in tables.items()]
    return "\n".join([*as_text(Section(title, (*report.summary, *sections))), ""])
