"""The panels of a plot on axes: lines over an index, gradients on a log axis, vectors as heat maps.

Lines differ by colour, dash and marker.  Long ones are thinned as `series.thinned` says;
what a line cannot show, zeros on a log axis and values that are not finite, is marked at
the edge of the panel.

In heat maps olive is positive and magenta negative, as in other pictures.  Cells carry their number
where there is room, or the sign of a negative one: colour alone tells neither in black and white.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, MaxNLocator

from lab.notation import number_text, signed
from visual.pictures.values.series import (
    AREA,
    HIGH,
    Panel,
    Series,
    pooled,
    stretches,
    thinned,
)
from visual.scene.shapes import shortened, text_width
from visual.scene.theme import NEGATIVE, POSITIVE, Role, Theme, contrast, mixed

POINT = 0.75  # a CSS pixel in points
SMALL = 11 * POINT
BUCKETS = 175  # stretches of a thinned line: one for two pixels
MARKED = 40  # up to so many points all have a marker
HUGE, TINY = 1e100, 1e-100  # beyond, matplotlib's arithmetic gives out
Look = dict[str, Any]  # what matplotlib takes by name
DASHES: tuple[object, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)))
MARKERS = "os^Dv"
STROKES = (Role.INPUT, Role.OVERWRITTEN, Role.PRESERVED, Role.SEED)
TICKS = (1, 1.5, 2, 3, 5, 7)  # on a log axis of less than two decades
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
UNLABELLED = "line"  # matplotlib would leave out labels that begin with _
MOST_COLUMNS, MOST_ROWS = 48, 16
SHADES = 24  # on either side
LETTERS, SIGN = 9.0, 9.0  # pixels: the smallest that can be read


def draw_lines(axes: Axes, panel: Panel, theme: Theme) -> None:
    """A line for every series over its index; what is not finite at the upper edge."""
    finite = _finite(panel.series)
    largest = float(np.abs(finite).max()) if len(finite) else 0.0
    unit = 1.0
    if largest > HUGE or 0 < largest < TINY:
        unit = 10.0 ** math.floor(math.log10(largest))
        axes.set_ylabel(f"in units of {number_text(unit)}", fontsize=SMALL)
    _frame(axes, panel, theme, finite / unit)
    if len(finite):
        _number_ticks(axes)
    for number, series in enumerate(panel.series):
        _line(axes, number, series.index, series.values / unit, theme)
    _edges(axes, panel, theme)
    _legend(axes, panel, theme)


def draw_growth(axes: Axes, panel: Panel, theme: Theme) -> None:
    """The powers of ten of every series; zeros at the lower edge, inf and nan at the upper."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = [np.log10(series.values) for series in panel.series]
    finite = np.concatenate([log[np.isfinite(log)] for log in logs]) if logs else np.zeros(0)
    _frame(axes, panel, theme, finite, least=0.3)
    low, high = axes.get_ylim()
    if len(finite) and high - low < 1.5:
        ticks = [k + math.log10(n) for k in range(math.floor(low), math.ceil(high)) for n in TICKS]
        axes.set_yticks([tick for tick in ticks if low <= tick <= high])
        axes.yaxis.set_major_formatter(FuncFormatter(lambda log, _: number_text(10.0**log)))
    elif len(finite):
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(_power))
    for number, (series, log) in enumerate(zip(panel.series, logs, strict=True)):
        _line(axes, number, series.index, log, theme)
    _edges(axes, panel, theme)
    _legend(axes, panel, theme)


def _finite(series: Sequence[Series]) -> np.ndarray:
    values = np.concatenate([s.values for s in series]) if series else np.zeros(0)
    return values[np.isfinite(values)]


def _frame(axes: Axes, panel: Panel, theme: Theme, heights: np.ndarray, least: float = 0.0) -> None:
    """Limits that hold everything, the labels of the index, and a grid."""
    places = np.concatenate([s.index for s in panel.series])
    left, right = (float(places.min()), float(places.max())) if len(places) else (0.0, 1.0)
    spare = max(0.5, 0.02 * (right - left))
    axes.set_xlim(left - spare, right + spare)
    low, high = (float(heights.min()), float(heights.max())) if len(heights) else (0.0, 0.0)
    extent = high - low
    if extent <= 1e-12 * max(abs(low), abs(high)):
        extent = abs(high) or 1.0
    extent = max(extent, least)
    room = 0.2 if panel.marks else 0.1
    axes.set_ylim(low - room * extent, high + room * extent)
    if not len(heights):
        axes.set_yticks([])
    style_axes(axes, panel.series[0].across if panel.series else "index", theme)
    axes.grid(axis="y", color=theme.muted, linewidth=0.5, alpha=0.35)


def style_axes(axes: Axes, across: str, theme: Theme) -> None:
    """The colours of the theme, whole numbers at the foot, no ticks, no box."""
    axes.set_facecolor("none")
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: signed(round(value))))
    axes.tick_params(colors=theme.text, labelsize=SMALL, length=0)
    axes.set_xlabel(across, fontsize=SMALL, color=theme.muted, labelpad=2)
    axes.yaxis.label.set_color(theme.muted)
    for side, spine in axes.spines.items():
        spine.set(visible=side in ("left", "bottom"), color=theme.muted, linewidth=0.8)


def _look(number: int, theme: Theme) -> Look:
    """How line `number` looks: no two of the first twenty alike, also in black and white."""
    colours = [theme.looks[role].stroke for role in STROKES]
    return {
        "color": colours[number % len(colours)],
        "linestyle": DASHES[number % len(DASHES)],
        "marker": MARKERS[number % len(MARKERS)],
        "linewidth": 1.6 * POINT,
        "markersize": 5 * POINT,
        "markerfacecolor": theme.background,
    }


def _line(axes: Axes, number: int, x: np.ndarray, y: np.ndarray, theme: Theme) -> None:
    kept = thinned(y, BUCKETS)
    x, y = x[kept].astype("float64"), np.where(np.isfinite(y[kept]), y[kept], np.nan)
    every = 1 if len(x) <= MARKED else max(1, len(x) // 8)
    look = _look(number, theme)
    axes.plot(x, y, **look, markevery=every, clip_on=False, label=UNLABELLED)
    if every > 1:  # a point without neighbours has no line
        there = np.isfinite(np.concatenate([[np.nan], y, [np.nan]]))
        alone = there[1:-1] & ~there[:-2] & ~there[2:]
        if alone.any():
            look = {**look, "linestyle": "none"}
            axes.plot(x[alone], y[alone], **look, clip_on=False)


def _edges(axes: Axes, panel: Panel, theme: Theme) -> None:
    """The marks of a panel at its edges, one for every stretch of them."""
    for mark in panel.marks:
        places = np.unique(np.concatenate([s.index[mark.where(s.values)] for s in panel.series]))
        starts = [a for a, _ in stretches(len(places), BUCKETS // 3)]
        places = places[starts].astype("float64")
        at = np.full(len(places), mark.height)
        look = _mark_look(mark.marker, theme)
        axes.plot(places, at, **look, transform=axes.get_xaxis_transform(), clip_on=False)


def _mark_look(marker: str, theme: Theme) -> Look:
    look = {"marker": marker, "markersize": 6 * POINT, "markerfacecolor": "none"}
    return {**look, "color": theme.text, "linestyle": "none", "markeredgewidth": 1.2 * POINT}


def _legend(axes: Axes, panel: Panel, theme: Theme) -> None:
    """The names of the lines above the axes; set afterwards, as what a person wrote."""
    handles = [Line2D([], [], **_look(n, theme)) for n in range(len(panel.series))]
    room = AREA / panel.legend_columns - 40
    names = [shortened(" ".join(s.name.split()), room, 11) for s in panel.series]
    place = {"loc": "lower left", "borderaxespad": 0, "frameon": False, "fontsize": SMALL}
    place |= {"handlelength": 2.6, "columnspacing": 1.0, "labelcolor": theme.text}
    columns = panel.legend_columns
    legend = axes.legend(
        handles, [UNLABELLED] * len(handles), ncols=columns, bbox_to_anchor=(0, 1.0), **place
    )
    for letters, name in zip(legend.get_texts(), names, strict=True):
        letters.set(text=name, parse_math=False)
    if panel.marks:
        axes.add_artist(legend)
        lines = -(-len(names) // columns)
        handles = [Line2D([], [], **_mark_look(mark.marker, theme)) for mark in panel.marks]
        words = [mark.words for mark in panel.marks]
        above = (0, 1 + 17 * lines / HIGH)
        axes.legend(handles, words, ncols=2, bbox_to_anchor=above, **place)


def _number_ticks(axes: Axes) -> None:
    """Numbers with as many digits as tell neighbouring ticks apart, or what is beyond a base."""
    axes.yaxis.set_major_locator(MaxNLocator(5))
    low, high = axes.get_ylim()
    base, largest = 0.0, max(abs(low), abs(high))
    if high - low < 1e-4 * largest:  # more digits than there is room for
        known = math.floor(math.log10(largest / (high - low))) + 1
        base = float(f"{(low + high) / 2:.{known}g}")
        axes.set_ylabel(f"{base!r} + …", fontsize=SMALL)
        largest = max(high - base, base - low)
    digits = max(4, math.ceil(math.log10(largest / (high - low))) + 3)

    def tick(value: float, _: int | None) -> str:
        value -= base
        value = 0.0 if abs(value) < 1e-9 * largest else value
        mantissa, e, exponent = f"{value:.{digits}g}".replace("-", "−").partition("e")
        return f"{mantissa}e{exponent[:1].strip('+')}{exponent[1:].lstrip('0')}" if e else mantissa

    axes.yaxis.set_major_formatter(FuncFormatter(tick))


def _power(value: float, _: int | None) -> str:
    return "10" + str(round(value)).translate(SUPERSCRIPTS)


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
    """One of the shades from magenta to olive; what is not finite stands out as grey."""
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
    words = f"magenta −{scale} · 0 · olive {scale}"
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
