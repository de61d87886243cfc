"""The picture of influence: the derivative of each value of a loop wrt each earlier one.

    >>> visual.influence(gallery.loops["rnn"].derivative()).save("influence.svg")
    >>> visual.influence(derivative, ax=axes)  # the map, on axes of your own

Next to the map are its last row and the part of each gradient that `truncate_gradient` loses.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.errors import check_type, printable
from lab.gradients.derivative import Derivative
from lab.notation import number_text, value_symbol
from lab.reports.runs.influence import Influence
from lab.reports.runs.influence import influence as influence_in
from lab.reports.tables import Section, as_text
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.pictures.plots.series import Series, as_numbers, table_of
from visual.scene.combinators import Piece, above, beside, gap, piece, scene, sized
from visual.scene.shapes import Box, Text, fitted, folded, picture_function, shortened
from visual.scene.theme import Role, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS, APART, HIGH, ROOM = 46.0, 32.0, 64.0, 108.0  # ROOM: of a curve with its name and labels
WIDEST, NARROWEST = 440.0, 300.0  # of the map; of a curve beside it
MOST_CELLS, WRITTEN, CELL, ROW = 28, 8, 48.0, 34.0  # in a row; with numbers, and their size
DECADES, PALEST, SAMPLES = 6.0, 0.12, 4
MOST_CURVES = 4  # of truncation


@picture_function
def influence(
    derivative: Derivative | Influence,
    scan: int = 1,
    sheet: Sheet = SCREEN,
    ax: "Axes | None" = None,
) -> Any:
    """Plot the result of `lab.influence`, or compute it for a derivative first.

    Colors show sizes by powers of ten, at most six of them. Of more than 28 rows or columns, a
    cell shows the largest entry of its block. With `ax`, matplotlib axes, draw the map there and
    return `ax`. Raises the errors of `lab.influence`.
    """
    expected = "a Derivative, or the result of lab.influence"
    check_type("derivative", derivative, (Derivative, Influence), expected)
    check_sheet(sheet)
    if isinstance(derivative, Derivative):
        derivative = influence_in(derivative, scan=scan)
    found: Influence = derivative
    colors = Colors(as_numbers(found.sizes))
    if ax is not None:
        from matplotlib.axes import Axes

        check_type("ax", ax, Axes, "matplotlib axes")
        from visual.pictures.plots.axes import theme_of
        from visual.pictures.plots.renderer import literal

        with literal():
            _draw_map(ax, found, colors, theme_of(ax))
        return ax
    title = f"Influence in {found.loop}: {found.called('t', 's')}"
    heads = [piece(fitted(0, 0, title, sheet.line, 16, bold=True))]
    for muted, lines in enumerate((found.summary, _notes(found) if sheet.legend else ())):
        for words in (line for one in lines for line in folded(one, sheet.line, 12)):
            heads.append(piece(Text(0, 0, words, muted=bool(muted))))
    shown = _within(found, sheet.steps_within(found.steps, found.loop))
    parts = [above(*heads, apart=4), _plots(shown, found, colors, sheet)]
    parts += [colors.legend()] * sheet.legend
    about = "A map of all pairs of values, its last row, and the losses of truncation."
    drawn = scene(above(gap(sheet.line), *parts, apart=14), title, about, sheet.margin)
    return replace(drawn, twin=_twin(title, found))


def _within(found: Influence, steps: range) -> Influence:
    """Return the pairs of the values that the shown steps read or write."""
    rows, columns = (
        (those >= steps.start) & (those <= steps.stop) for those in (found.rows, found.columns)
    )
    values = found.values[rows][:, columns]
    return replace(found, rows=found.rows[rows], columns=found.columns[columns], values=values)


def _notes(found: Influence) -> Iterator[str]:
    of, by = value_symbol(found.of, "t"), value_symbol(found.by, "s")
    norm = "" if found.is_scalar else ", as a spectral norm"
    yield f"a cell: the derivative of {of}, its row, with respect to {by}, its column{norm}"
    yield "of the loop itself, whatever the order of the derivative"
    if found.cuts:
        yield "lost: the part of a gradient that is missing if it is truncated to the last steps"
    if len(found.columns) <= found.steps:
        yield f"rows and columns: {len(found.columns):,} of {found.steps + 1:,}, at equal distances"


class Colors:
    """The color of each size: by powers of ten, from the largest down to 10⁻⁶."""

    def __init__(self, sizes: np.ndarray) -> None:
        known = np.log10(np.abs(sizes[np.isfinite(sizes) & (sizes != 0)]))
        self.signs = (1, -1) if (sizes < 0).any() else (1,)
        ends = (known.max(), known.min()) if known.size else (0.0, 0.0)
        self.top, low = map(float, ends)
        self.decades = max(1.0, math.ceil(self.top - max(low, min(self.top, 0.0) - DECADES)))

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return shares of the full color, from -1 to 1; 0 for zeros, nan for nan."""
        with np.errstate(divide="ignore"):
            sizes = np.minimum(np.log10(np.abs(values)), self.top)
        shares = PALEST + (1 - PALEST) * (1 + (sizes - self.top) / self.decades)
        return np.where(values == 0, 0.0, np.sign(values) * np.maximum(PALEST, shares))

    def legend(self) -> Piece:
        """Return samples of colors with their sizes."""
        parts = []
        for size in 10.0 ** (self.top - np.linspace(0, self.decades, SAMPLES)):
            shares = self.of(np.array(self.signs) * size).tolist()
            patches = [sized(14, 14, Box(0, 0, 14, 14, Role.PANEL, share)) for share in shares]
            words = f"{'±' * (len(shares) > 1)}{float(f'{size:.1g}'):g}"
            parts.append(beside(*patches, piece(Text(0, 11, words, 11, muted=True)), apart=4))
        return beside(*parts, apart=16)


def _draw_map(axes: "Axes", found: Influence, colors: Colors, theme: Theme) -> None:
    """Draw the map, with numbers above the cells if there are few."""
    from visual.pictures.plots.axes import draw_heat, pooled
    from visual.pictures.plots.renderer import INK

    table, rows, columns = pooled(as_numbers(found.sizes), MOST_CELLS, MOST_CELLS)
    high, wide = table.shape
    written, shares = max(table.shape) <= WRITTEN, colors.of(table)
    edges = np.arange(high + 1.0)
    if written:  # each row has empty cells with the numbers above its colors
        edges = np.sort([*edges, *(edges[:-1] + 0.55)])
        shares = np.insert(shares, np.arange(high), 0.0, axis=0)
        known = (table != 0) | np.tri(high, wide, dtype=bool)
        for row, column in np.argwhere(known):
            words = number_text(table[row, column], 3)
            axes.text(column + 0.5, row + 0.45, words, ha="center", size=11, gid=INK)
    draw_heat(axes, np.arange(wide + 1), edges, shares, theme)
    axes.set_ylim(high, 0)
    labels = (axes.yaxis, found.rows, rows), (axes.xaxis, found.columns, columns)
    for axis, numbers, places in labels:
        shown = range(0, len(places), max(1, -(-len(places) // 14)))
        axis.set_ticks([n + 0.5 for n in shown], [f"{numbers[places[n]]:,}" for n in shown])


def _plots(shown: Influence, found: Influence, colors: Colors, sheet: Sheet) -> Piece:
    """Draw the map and the curves, next to each other if the sheet is wide enough."""
    from visual.pictures.plots.axes import draw_curves, label_indices, panel, write
    from visual.pictures.plots.renderer import drawn
    from visual.scene.theme import LIGHT

    curves = [_last(found), *_losses(found)[:MOST_CURVES]]
    few = max(shown.sizes.shape) <= WRITTEN
    across, down = shown.sizes.shape[::-1] if few else (1, 1)
    side = min(WIDEST, sheet.line) - LABELS
    wide, high = (min(side, across * CELL), down * ROW) if few else (side, side)
    is_wide = sheet.line - wide - LABELS - APART >= NARROWEST
    left, top = (wide + LABELS + APART, 0.0) if is_wide else (0.0, high + 60)
    height = max(high + 50, top + ROOM * len(curves))

    def draw(figure: "Figure") -> None:
        axes = panel(
            figure, LABELS, 16, wide, high, f"{found.called('t', 's')}: a map of all pairs"
        )
        _draw_map(axes, shown, colors, LIGHT)
        write(axes, -LABELS, -5, shortened(f"t, of {found.of}", wide + LABELS, 11))
        write(axes, wide, high + 32, shortened(f"s, of {found.by}", wide + LABELS, 11), "right")
        for number, series in enumerate(curves):
            down, room = top + 22 + ROOM * number, sheet.line - left - LABELS - 8
            axes = panel(figure, left + LABELS, down, room, HIGH, series.name)
            label_indices(axes, int(series.index[0]), int(series.index[-1]), series.across)
            name = shortened(printable(series.name), room + LABELS, 12, bold=True)
            write(axes, -LABELS, -10, name, bold=True)
            draw_curves(axes, [(series.index, series.values, "")], log=True)

    return sized(sheet.line, height, *drawn(sheet.line, height, draw))


def _last(found: Influence) -> Series:
    """Return the sizes of the derivatives of the last value."""
    name = found.called(int(found.rows[-1]), "k")
    series = Series(name, found.index, as_numbers(found.last))
    return series.sizes if found.is_scalar else series


def _losses(found: Influence) -> list[Series]:
    """Return the part of each gradient that is lost, over the number of steps that are left."""
    losses = [
        (f"lost by truncate_gradient: {cut.name}", as_numbers(cut.errors)) for cut in found.cuts
    ]
    return [Series(name, np.arange(1, len(v) + 1), v, "steps") for name, v in losses]


def _twin(title: str, found: Influence) -> str:
    """Write the sentences, a table of the pairs, and the curves."""
    columns = [
        Series(f"wrt {value_symbol(found.by, s)}", found.rows, as_numbers(found.sizes[:, j]), "t")
        for j, s in enumerate(found.columns.tolist())
    ]
    columns = columns if len(columns) <= WRITTEN else [*columns[:3], *columns[-3:]]
    tables = {found.called("t", "s"): columns, "Last row": [replace(_last(found), across="k")]}
    if found.cuts:
        tables["Part of each gradient that truncate_gradient loses"] = _losses(found)
    sections = (Section(name, (table_of(series),)) for name, series in tables.items())
    return "\n".join([*as_text(Section(title, (*found.summary, *sections))), ""])
