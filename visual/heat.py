"""A vector over an index as a heat map: orange is positive, blue negative, as in other pictures.

Cells carry their number where there is room, or the sign of a negative one: colour alone
tells neither in black and white.
"""

from collections import defaultdict

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from lab.spelling import number_text
from visual.panels import AREA, HIGH, POINT, SMALL, Panel, style_axes
from visual.scene import text_width
from visual.series import Series, pooled, stretches
from visual.svg import NEGATIVE, POSITIVE
from visual.theme import Theme, contrast, mixed

MOST_COLUMNS, MOST_ROWS = 48, 16
SHADES = 24  # on either side
LETTERS, SIGN = 9.0, 9.0  # pixels: the smallest that can be read


def draw_heat(axes: Axes, panel: Panel, theme: Theme) -> None:
    """The heat map of the one series of a panel, entry over index, entry 0 on top."""
    series = panel.series[0]
    table = pooled(series.table, MOST_COLUMNS, MOST_ROWS)
    left, top = edges(series, table)
    axes.set_xlim(left[0], left[-1])
    axes.set_ylim(top[-1], top[0])
    style_axes(axes, series.across, theme)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set_ylabel("entry", fontsize=SMALL)
    shares = table / (scale_of(table) or 1.0)
    cells = defaultdict(list)
    for (column, row), share in np.ndenumerate(shares):
        colour = shade(share, theme)
        (x0, x1), (y0, y1) = left[column : column + 2], top[row : row + 2]
        corners: list[tuple[float, float]] = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
        cells[colour].append(Path([*corners, corners[0]], closed=True))
        _inside(axes, corners, float(table[column, row]), table.shape, colour, theme)
    for colour, paths in cells.items():  # all cells of one shade are one shape
        path = Path.make_compound_path(*paths)
        # An edge of the same colour closes the hairlines between cells.
        look = {"facecolor": colour, "edgecolor": colour, "linewidth": 0.3}
        axes.add_patch(PathPatch(path, **look, snap=False, clip_on=False))


def edges(series: Series, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the columns and the rows of a pooled table begin and end."""
    length, entries = series.table.shape
    down, across = table.shape
    starts = [series.index[a] for a, _ in stretches(length, down)]
    left = np.array([*starts, series.index[-1] + 1], "float64") - 0.5
    top = np.array([*(a for a, _ in stretches(entries, across)), entries], "float64") - 0.5
    return left, top


def scale_of(table: np.ndarray) -> float:
    """The largest finite value in size: what the full colours stand for."""
    finite = np.abs(table[np.isfinite(table)])
    return float(finite.max()) if finite.size else 0.0


def shade(share: float, theme: Theme) -> str:
    """One of the shades from blue to orange; what is not finite stands out as grey."""
    if not np.isfinite(share):
        return theme.muted
    level = round(abs(share) * SHADES) / SHADES
    return mixed(theme.background, POSITIVE if share > 0 else NEGATIVE, level)


def caption(series: Series) -> tuple[str, str]:
    """Which values a heat map shows, in two lines."""
    length, entries = series.table.shape
    shape = "×".join(map(str, series.values.shape[1:]))
    flat = f"{shape}, flattened row by row" if series.values.ndim > 2 else f"{entries} entries"
    table = pooled(series.table, MOST_COLUMNS, MOST_ROWS)
    scale = number_text(scale_of(table))
    words = f"blue −{scale} · 0 · orange {scale}"
    if table.shape != (length, entries):
        per = -(-length // table.shape[0]) * -(-entries // table.shape[1])
        words += f" · a cell: largest of up to {per:,}"
    return flat, words


def _inside(
    axes: Axes,
    corners: list[tuple[float, float]],
    value: float,
    shape: tuple[int, ...],
    colour: str,
    theme: Theme,
) -> None:
    """The number in a cell if it fits, or else a minus, or a sign of what is not finite."""
    width, height = AREA / shape[0], HIGH / shape[1]
    words = number_text(value).replace("-", "−").replace("⚠ ", "")
    if height < LETTERS + 3 or width < text_width(words, LETTERS) + 4:
        finite = np.isfinite(value)
        words = ("−" if value < 0 else "") if finite else "?" if np.isnan(value) else "∞"
        if not words or min(width, height) < SIGN:
            return
    letters = max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, colour))
    (x, y), (right, bottom) = corners[0], corners[2]
    axes.text(
        (x + right) / 2,
        (y + bottom) / 2,
        words,
        color=letters,
        fontsize=LETTERS * POINT,
        horizontalalignment="center",
        verticalalignment="center_baseline",
    )
