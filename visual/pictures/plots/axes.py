"""Panels of plots: matplotlib computes scales and ticks, and shapes replace the artists.

Shapes have roles and no colors. Therefore, every backend can draw a plot in every theme. Import
this module only to draw, because it loads matplotlib (without pyplot).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import RLock

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import ListedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Affine2D

from lab.errors import check_type, printable
from lab.notation import integers, number_text
from visual.layout.arrows import Point
from visual.pictures.plots.series import WRITTEN, PlottedQuantity
from visual.scene.combinators import Piece, above, beside, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Group, Polyline, Shape, Text, shortened
from visual.scene.theme import DARK, LIGHT, Role, Theme, contrast, shades

SMALL, NAME, LABELS, LINE = 11.0, 12.0, 50.0, 13.0  # font sizes; left margin; height of a line
DOTTED, MARKS = 50, 8  # maximum numbers: points of a curve with dots, marks at an edge
TITLE, FOOT, APART = 22.0, 28.0, 24.0  # space above and below the axes; space between panels
HIGH, RIGHT, NARROWEST = 78.0, 44.0, 240.0  # a small panel: height, right margin, minimum width
BARS, MUTED, PALEST = Role.INTERMEDIATE, "gray", 0.12  # the share of the palest color of a map
ANCHORS = {"left": "start", "center": "middle", "right": "end"}
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOCK = RLock()  # all threads share the parameters of matplotlib


Fill = Callable[[Axes], object]  # draws on the axes of a panel


def draw_panel(
    width: float, high: float, title: str, fill: Fill, note: str = "", right: float = 8.0
) -> Piece:
    """Return a panel of `width` pixels with a title, a note, and the content that `fill` draws.

    The axes are `high` pixels high, with `right` pixels to their right.
    """
    name = printable(title), max(width - text_width(note, SMALL) - 8, 60), NAME
    head = Text(0, TITLE - 10, shortened(*name, bold=True), NAME, bold=True)
    end = printable(shortened(note, width - head.width - 8, SMALL))
    words = head, *[Text(width, TITLE - 10, end, SMALL, "end", muted=True)] * bool(end)
    with _LOCK, mpl.rc_context():
        mpl.rcdefaults()  # ignore the style of the user
        mpl.rcParams["path.simplify_threshold"] = 1.0  # the precision of lines, in pixels
        size = (width - LABELS - right) / width, high / (TITLE + high)
        figure = Figure((width / 72, (TITLE + high) / 72), dpi=72)
        axes = figure.add_axes((LABELS / width, 0, *size))
        fill(axes)
        shapes = Group((*words, *_shapes(axes)), title=f"{title}: {note}" if note else title)
        return sized(width, TITLE + high + (FOOT if len(axes.get_xticks()) else 0.0), shapes)


def multiples(
    plotted: Sequence[PlottedQuantity], line: float, limits: Sequence[float] = ()
) -> Piece:
    """Return rows of panels of equal size. All panels have the same range of indices."""
    across = min(3, max(1, int((line + APART) / (NARROWEST + APART))))
    width = (line + APART) / across - APART
    indices = np.concatenate([series.index for each in plotted for series in each.curves])
    fill = partial(add_curves, ends=(int(indices.min()), int(indices.max())), limits=limits)
    panels = [
        draw_panel(width, HIGH, each.title, partial(fill, plotted=each), each.note, RIGHT)
        for each in plotted
    ]
    rows = (panels[start : start + across] for start in range(0, len(panels), across))
    return above(*(beside(*row, apart=APART) for row in rows))


def draw_on(axes: object, draw: Callable[[Axes, Theme], object]) -> Axes:
    """Call `draw` with the matplotlib axes of a user and the theme for their background.

    The sign ``$`` in a name does not start a formula. Return the axes. Raises KindError if `axes`
    is another object.
    """
    checked = check_type("ax", axes, Axes, "matplotlib axes")
    is_light = contrast(to_hex(checked.get_facecolor()), LIGHT.text) > 4.5
    with _LOCK, mpl.rc_context({"text.parse_math": False}):
        draw(checked, LIGHT if is_light else DARK)
    return checked


def add_curves(
    axes: Axes, plotted: PlottedQuantity, ends: Sequence[int] = (), limits: Sequence[float] = ()
) -> None:
    """Draw curves on a common scale. The axis of indices runs between the two `ends`.

    The default `ends` are the ends of the first curve. If there are several curves, each name is at
    the end of its curve. A linear scale contains the `limits`. Marks show the zeros on a
    logarithmic scale, and the values that are not finite.
    """
    curves, log = plotted.curves, plotted.is_size
    wide, tall = np.round(axes.bbox.size, 6)
    first, last = ends or curves[0].index[[0, -1]].tolist()
    axes.set_xlim(first - 0.5, last + 0.5)
    locator = MaxNLocator(max(1, int(wide / 42)), integer=True, steps=[1, 2, 5, 10])
    ticks = [int(tick) for tick in locator.tick_values(first, last) if first <= tick <= last]
    axes.set_xticks(ticks, [integers(tick) for tick in ticks])
    pixels = Affine2D().translate(axes.bbox.x0, 0)  # from the lower left corner of the axes
    axes.text(-6, -16, curves[0].across, color=MUTED, ha="right", transform=pixels)
    every = np.concatenate([*(curve.values for curve in curves), limits])
    sizes = np.abs(every[np.isfinite(every)])
    unit = 10.0 ** max(np.floor(np.log10(sizes.max(initial=0) or 1)), -300)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = [np.log10(c.values) if log else c.values / unit for c in curves]
    for curve, values in zip(curves, scaled, strict=True):
        finite = np.where(np.isfinite(values), values, np.nan)
        axes.plot(curve.index, finite, marker="o" if len(finite) <= DOTTED else "")
    if limits:
        axes.update_datalim(np.c_[[0, 0], limits] / unit, updatex=False)
    axes.margins(y=0)
    low, high = axes.get_ylim()
    if log:
        low, high = np.floor(low + 1e-9), np.ceil(high - 1e-9)
    below = 0.3 if log and not every.all() else 0.06
    axes.set_ylim(low - below * (high - low), high + 0.06 * (high - low))
    heights = np.array(MaxNLocator(4, integer=log, steps=[1, 2, 5, 10]).tick_values(low, high))
    heights = heights[(heights > low - 1e-9) & (heights < high + 1e-9)]
    powers = (str(round(height)).translate(SUPERSCRIPTS) for height in heights)
    labels = [f"10{power}" for power in powers] if log else _labels(heights * unit + 0.0)
    axes.set_yticks(heights, labels)
    axes.grid(axis="y")
    zeros = [curve.index[(curve.values == 0) & log] for curve in curves]
    odd = [curve.index[~np.isfinite(curve.values)] for curve in curves]
    for sign, up, marks in (("↓0", 0.03, zeros), ("×", 0.9, odd)):
        places = np.unique(np.concatenate(marks))  # several curves share a mark
        for place in places[:: -(-len(places) // MARKS) or 1]:
            axes.text(place, up, sign, ha="center", transform=axes.get_xaxis_transform())
    ends_of_curves = [
        (tall - axes.transData.transform((0, height))[1], curve.name)
        for curve, heights in zip(curves, scaled, strict=True)
        for height in heights[np.isfinite(heights)][-1:]
        if curves[1:]
    ]
    bottom, y = tall - LINE * (len(ends_of_curves) - 1), -tall
    for number, (end, name) in enumerate(sorted(ends_of_curves)):  # the names do not overlap
        y = min(max(end, y + LINE), bottom + LINE * number)
        axes.text(wide + 4, tall - y - 4, name, transform=pixels)


def add_map(
    axes: Axes,
    theme: Theme = LIGHT,
    *,
    table: np.ndarray,
    heads: Sequence[np.ndarray],
    span: tuple[float, float],
) -> None:
    """Draw a heat map of `table`. A small map shows numbers above its cells.

    `heads` are the labels of rows and of columns. `span` is log10 of the size with the full color,
    and the number of powers of ten that colors show.
    """
    high, wide = table.shape
    with np.errstate(divide="ignore"):
        logs = np.log10(np.abs(table))
    shares = np.sign(table) * np.interp(logs, (span[0] - span[1], span[0]), (PALEST, 1.0))
    edges = np.arange(high + 1.0)
    if max(table.shape) <= WRITTEN:  # the numbers are in empty cells above each row
        edges = np.sort([*edges, *(edges[:-1] + 0.55)])
        shares = np.insert(shares, np.arange(high), 0.0, axis=0)
        for row, column in np.argwhere((table != 0) | np.tri(high, wide, dtype=bool)):
            words = number_text(table[row, column], 3)
            axes.text(column + 0.5, row + 0.45, words, ha="center", size=SMALL)
    *colors, nan = shades(theme)
    colormap = ListedColormap(colors).with_extremes(bad=nan)
    axes.pcolormesh(np.arange(wide + 1.0), edges, shares, cmap=colormap, vmin=-1.0, vmax=1.0)
    axes.invert_yaxis()
    for axis, numbers in zip((axes.yaxis, axes.xaxis), heads, strict=True):
        places = range(0, len(numbers), -(-len(numbers) // 14))
        axis.set_ticks([n + 0.5 for n in places], [f"{numbers[n]:,}" for n in places])


def _shapes(axes: Axes) -> Iterator[Shape]:
    """Yield the shapes of matplotlib's artists: ticks, bars, heat maps, lines, and texts."""
    left, _, wide, high = np.round(axes.bbox.bounds, 6).tolist()

    def flip(pixel: np.ndarray) -> Point:
        x, y = pixel.tolist()
        return round(x, 1), round(TITLE + high - y, 1)

    def place(x: float, y: float) -> Point:
        return flip(axes.transData.transform((x, y)))

    for tick, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True):
        x, y = place(tick, 0)[0], TITLE + high + 16
        yield Text(x, y, label.get_text(), SMALL, "middle", muted=True)
    for tick in axes.yaxis.get_major_ticks():
        _, y = place(0, tick.get_loc())
        yield Text(left - 6, y + 4, tick.label1.get_text(), SMALL, "end", muted=True)
        if tick.gridline.get_visible():
            yield Polyline(((left, y), (left + wide, y)), faded=True)
    for bar in axes.patches:
        (x, low), (right, y) = map(flip, bar.get_window_extent().get_points())
        yield Box(x, y, right - x, low - y, BARS)
    for mesh in axes.findobj(QuadMesh):
        corners = np.asarray(mesh.get_coordinates())
        for (i, j), share in np.ndenumerate(np.asarray(mesh.get_array())):
            (x, y), (right, low) = (place(*corners[i + n, j + n]) for n in (0, 1))
            if share != 0:
                yield Box(x, y, right - x - 1, low - y - 1, Role.PANEL, float(share))
    for line in axes.lines:
        xy, dots = np.asarray(line.get_xydata()), line.get_marker() == "o"
        for part in np.ma.clump_unmasked(np.ma.masked_invalid(xy[:, 1])):  # between nan values
            path = Path(xy[part]).cleaned(line.get_transform(), simplify=not dots)
            points = tuple(map(flip, np.asarray(path.vertices)[:-1]))  # without STOP
            yield Polyline(points, dots=dots or len(points) == 1)  # a dot for a single point
    for text in axes.texts:
        point, look = flip(text.get_transform().transform(text.get_position())), text.get_color()
        anchor = ANCHORS[text.get_horizontalalignment()]
        yield Text(*point, printable(text.get_text()), SMALL, anchor, muted=look == MUTED)


def _labels(ticks: np.ndarray) -> list[str]:
    """Return a different label for each tick.

    If a label is too wide, each later label contains the difference from the first tick.
    """
    for digits in range(4, 16):
        words = [f"{tick:.{digits}g}".replace("e+", "e") for tick in ticks]
        if len(set(words)) == len(words):
            break
    if max((text_width(word, SMALL) for word in words), default=0.0) <= LABELS - 6:
        return words
    return [f"{ticks[0]:.2g}", *(f"… +{tick - ticks[0]:.2g}" for tick in ticks[1:])]
