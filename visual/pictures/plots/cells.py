"""The map of influence: the cells, the colors of cells, and the axes of the map."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lab.notation import number_text
from lab.reports.runs.influence import Influence
from visual.scene.theme import LIGHT, Theme, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CELLS, WRITTEN = 28, 8  # the most cells in a row, and the most with numbers
DECADES, PALEST = 6.0, 0.12  # the powers of ten that colors show; the share of the palest color


def shown_cells(report: Influence, steps: range) -> Influence:
    """Return the report of the values that `steps` read or write, with few enough rows for a map.

    A value is the largest derivative in a block of pairs; nan is the largest of all. The index of a
    row or a column is the first index of its block.
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
