"""Axes of plots: labels, curves on a linear or a logarithmic scale, and heat maps."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from lab.errors import printable
from lab.notation import integers, number_text
from visual.pictures.plots.renderer import INK, SMALL
from visual.scene.fonts import text_width
from visual.scene.theme import DARK, LIGHT, SHADES, Role, Theme, contrast, shades

DOTTED = 50  # values; a longer line has no dots
BUCKETS = 50  # stretches of a long line: each keeps its extremes
MARKS = 8  # of values that have no place on a scale
NAME = 12.0  # of a title
LABELS = 46.0  # pixels for the labels at the left
LINE = 13.0  # between the names of curves
Curve = tuple[np.ndarray, np.ndarray, str]  # indices, values, name
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def panel(figure: Figure, left: float, top: float, wide: float, high: float, title: str) -> Axes:
    """Add axes without spines, in pixels from the upper left corner; `title` is the tooltip."""
    across, down = figure.get_size_inches() * 72
    axes = figure.add_axes((left / across, 1 - (top + high) / down, wide / across, high / down))
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, pad=5)
    axes.set_gid(title)
    return axes


def write(
    axes: Axes,
    x: float,
    y: float,
    words: str,
    align: str = "left",
    bold: bool = False,
    gid: str | None = None,
) -> None:
    """Write words at a point in pixels, from the upper left corner of the axes."""
    box = axes.get_window_extent()
    x, y = x / box.width, 1 - y / box.height
    written = axes.text(x, y, printable(words), ha=align, transform=axes.transAxes, gid=gid)
    if bold:
        written.set(size=NAME, weight="bold")


def label_indices(axes: Axes, first: int, last: int, name: str) -> None:
    """Label round indices below the axes, which end half an index beyond `first` and `last`."""
    box = axes.get_window_extent()
    axes.set_xlim(first - 0.5, last + 0.5)
    places = MaxNLocator(max(1, int(box.width / 42)), integer=True, steps=[1, 2, 5, 10])
    ticks = [int(tick) for tick in places.tick_values(first, last) if first <= tick <= last]
    axes.set_xticks(ticks, [integers(tick) for tick in ticks])
    write(axes, -6, box.height + 16, name, "right")


def draw_curves(
    axes: Axes, curves: Sequence[Curve], log: bool = False, limits: Sequence[float] = ()
) -> None:
    """Draw curves on one scale, `log` by powers of ten; several have their names at their ends.

    A linear scale contains the `limits`. Marks at the edges show zeros on a logarithmic scale, and
    values that are not finite.
    """
    every = np.concatenate([*(values for _, values, _ in curves), limits])
    sizes = np.abs(every[np.isfinite(every)])
    unit = 10.0 ** max(np.floor(np.log10(sizes.max(initial=0) or 1)), -300)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = [np.log10(values) if log else values / unit for _, values, _ in curves]
    low, high = _limits(np.concatenate([*scaled, np.divide(limits, unit)]), log)
    below = 0.3 if log and not every.all() else 0.06
    axes.set_ylim(low - below * (high - low), high + 0.06 * (high - low))
    ticks = np.array(MaxNLocator(4, integer=log, steps=[1, 2, 5, 10]).tick_values(low, high))
    ticks = ticks[(ticks > low - 1e-9) & (ticks < high + 1e-9)]
    axes.set_yticks(ticks, _powers(ticks) if log else _labels(ticks * unit))
    axes.grid(axis="y")
    for (index, _, _), heights in zip(curves, scaled, strict=True):
        kept = thinned(heights)
        x, y = index[kept], np.where(np.isfinite(heights[kept]), heights[kept], np.nan)
        marker = "o" if len(x) <= DOTTED else ""
        axes.plot(x, y, marker=marker, color=LIGHT.text, gid=INK)
        around = np.concatenate([[np.nan], y, [np.nan]])
        alone = np.isnan(around[:-2]) & np.isfinite(y) & np.isnan(around[2:])
        if alone.any() and not marker:
            axes.plot(x[alone], y[alone], "o", color=LIGHT.text, gid=INK)
    zeros = [index[log & (values == 0)] for index, values, _ in curves]
    odd = [index[~np.isfinite(values)] for index, values, _ in curves]
    for mark, places, height in (("↓0", zeros, 0.03), ("×", odd, 0.9)):
        every = np.unique(np.concatenate(places))
        for place in every[:: -(-len(every) // MARKS) or 1]:
            at = axes.get_xaxis_transform()
            axes.text(place, height, mark, ha="center", transform=at, gid=INK)
    if len(curves) > 1:
        _write_names(axes, curves, scaled)


def _limits(heights: np.ndarray, log: bool) -> tuple[float, float]:
    """Return the ends of a scale that holds all finite `heights`."""
    heights = heights[np.isfinite(heights)]
    low, high = (heights.min(), heights.max()) if heights.size else (0.0, 0.0)
    if log:
        low, high = np.floor(low + 1e-9), np.ceil(high - 1e-9)
        return low, max(high, low + 1)
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        low, high = low - (abs(high) / 2 or 1.0), high + (abs(high) / 2 or 1.0)
    return low, high


def _powers(ticks: np.ndarray) -> list[str]:
    return [f"10{str(round(tick)).translate(SUPERSCRIPTS)}" for tick in ticks]


def _labels(ticks: np.ndarray) -> list[str]:
    """Return numbers with digits that differ; if they are too wide, the distance to the first."""
    for digits in range(4, 16):
        words = [short_text(tick, digits) for tick in ticks]
        if len(set(words)) == len(words):
            break
    if max((text_width(word, SMALL) for word in words), default=0.0) <= LABELS - 6:
        return words
    first = short_text(ticks[0], 2)
    return [first, *(f"… +{short_text(tick - ticks[0], 2)}" for tick in ticks[1:])]


def short_text(value: float, digits: int) -> str:
    """Return a number with so many digits, with an exponent if that is shorter."""
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return min(number_text(value, digits), f"{mantissa}e{int(exponent)}", key=len)


def _write_names(axes: Axes, curves: Sequence[Curve], scaled: Sequence[np.ndarray]) -> None:
    """Write names at the right, one below the other, each joined to the end of its curve."""
    box, ends = axes.get_window_extent(), []
    for (index, _, name), heights in zip(curves, scaled, strict=True):
        known = np.flatnonzero(np.isfinite(heights))
        if known.size:
            place = axes.transData.transform((index[known[-1]], heights[known[-1]]))
            ends.append((box.y1 - place[1], place[0] - box.x0, name))
    low, bottom = -box.height, box.height - LINE * (len(ends) - 1)
    for number, (down, right, name) in enumerate(sorted(ends)):
        low = min(max(down, low + LINE), bottom + LINE * number)
        write(axes, box.width + 4, low + 4, name, gid=INK)
        x, y = np.array([right, box.width + 1]) / box.width, 1 - np.array([down, low]) / box.height
        axes.plot(x, y, transform=axes.transAxes, color=LIGHT.muted, clip_on=False)


def thinned(values: np.ndarray) -> np.ndarray:
    """Return the places of `values` to draw: the ends, and the extremes of every stretch."""
    if len(values) <= 3 * BUCKETS + 2:
        return np.arange(len(values))
    kept = [0, len(values) - 1]
    for part in np.array_split(np.arange(len(values)), BUCKETS):
        finite = np.isfinite(values[part])
        kept += part[[np.argmin(finite)]].tolist()  # the first that is not finite, if any
        if finite.any():
            inside = part[finite]
            kept += [inside[np.argmin(values[inside])], inside[np.argmax(values[inside])]]
    return np.unique(kept)


def draw_heat(axes: Axes, x: np.ndarray, y: np.ndarray, shares: np.ndarray, theme: Theme) -> None:
    """Draw ``shares[i, j]``, from -1 to 1, in the cell from ``x[j], y[i]`` to the next edges."""
    *colors, bad = shades(theme)
    levels, end = np.round(shares * SHADES), SHADES + 0.5
    colormap = ListedColormap(colors).with_extremes(bad=bad)
    axes.pcolormesh(x, y, levels, cmap=colormap, vmin=-end, vmax=end)


def draw_bar(axes: Axes, x: float, y: float, wide: float, high: float, role: Role) -> None:
    """Draw a rectangle with the look of a role."""
    look = theme_of(axes).look(role)
    bar = Rectangle((x, y), wide, high, facecolor=look.fill, edgecolor=look.stroke, gid=role.name)
    axes.add_patch(bar)


def theme_of(axes: Axes) -> Theme:
    """Return the theme for axes of the reader's own, by the contrast of their background."""
    return LIGHT if contrast(to_hex(axes.get_facecolor()), LIGHT.text) > 4.5 else DARK


def pooled(table: np.ndarray, rows: int, columns: int) -> tuple[np.ndarray, list[int], list[int]]:
    """Return the entry of each block that is largest in size, and the first indices of blocks.

    A block that contains nan or an infinity has that value.
    """
    limits = zip(table.shape, (rows, columns), strict=True)
    down, across = (np.array_split(np.arange(n), min(n, most)) for n, most in limits)
    sizes = np.where(np.isnan(table), np.inf, np.abs(table))
    values = np.zeros((len(down), len(across)))
    for i, row in enumerate(down):
        for j, column in enumerate(across):
            block = slice(row[0], row[-1] + 1), slice(column[0], column[-1] + 1)
            values[i, j] = table[block].flat[np.argmax(sizes[block])]
    return values, [int(part[0]) for part in down], [int(part[0]) for part in across]
