"""Panels of plots: matplotlib computes scales and ticks, and shapes replace the artists.

Shapes have roles and no colors. Therefore, every backend can draw a plot in every theme. Import
this module only to draw, because it loads matplotlib (without pyplot).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import RLock

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from lab.errors import check_type, printable
from lab.notation import integers
from visual.layout.arrows import Point
from visual.pictures.plots.series import PlottedQuantity
from visual.scene.combinators import Piece, above, beside, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Group, Polyline, Shape, Text, shortened
from visual.scene.theme import DARK, LIGHT, Role, Theme, contrast

SMALL, NAME, LABELS, LINE = 11.0, 12.0, 50.0, 13.0  # font sizes; left margin; height of a line
DOTTED, MARKS = 50, 8  # the most points of a curve with dots; the most marks at an edge
TITLE, FOOT, APART = 22.0, 28.0, 24.0  # space above and below the axes; space between panels
HIGH, RIGHT, NARROWEST = 78.0, 44.0, 240.0  # a small panel: height, right margin, least width
BARS = Role.INTERMEDIATE
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOCK = RLock()  # all threads share the parameters of matplotlib


Fill = Callable[["Panel"], object]  # draws on the axes of a panel


def draw_panel(
    width: float, high: float, title: str, fill: Fill, note: str = "", right: float = 8.0
) -> Piece:
    """Return a panel of `width` pixels with a title, a note, and the content that `fill` draws.

    The axes are `high` pixels high, with `right` pixels to their right.
    """
    with _LOCK, mpl.rc_context():
        mpl.rcdefaults()  # ignore the style of the user
        mpl.rcParams["path.simplify_threshold"] = 1.0  # the precision of lines, in pixels
        panel = Panel(width, high, title, note, right)
        fill(panel)
        return panel.piece


def multiples(
    plotted: Sequence[PlottedQuantity], line: float, limits: Sequence[float] = ()
) -> Piece:
    """Return rows of panels of equal size. All panels have the same range of indices."""
    across = min(3, max(1, int((line + APART) / (NARROWEST + APART))))
    width = (line + APART) / across - APART
    indices = np.concatenate([series.index for each in plotted for series in each.curves])
    ends = int(indices.min()), int(indices.max())
    fill = partial(Panel.add_curves, ends=ends, limits=limits)
    panels = [
        draw_panel(width, HIGH, each.title, partial(fill, plotted=each), each.note, RIGHT)
        for each in plotted
    ]
    rows = (panels[start : start + across] for start in range(0, len(panels), across))
    return above(*(beside(*row, apart=APART) for row in rows))


@contextmanager
def readers_axes(axes: object) -> Iterator[Theme]:
    """Yield the theme for the background of the matplotlib axes of a user.

    In the context, the sign ``$`` in a name does not start a formula. Raises KindError for other
    objects.
    """
    checked = check_type("ax", axes, Axes, "matplotlib axes")
    is_light = contrast(to_hex(checked.get_facecolor()), LIGHT.text) > 4.5
    with _LOCK, mpl.rc_context({"text.parse_math": False}):
        yield LIGHT if is_light else DARK


class Panel:
    """Axes with a title. Coordinates are pixels from the upper left corner of the axes."""

    def __init__(self, width: float, high: float, title: str, note: str, right: float) -> None:
        self.wide, self.high, self.whole = width - LABELS - right, high, width
        figure = Figure((width / 72, (TITLE + high) / 72), dpi=72)
        size = self.wide / width, high / (TITLE + high)
        self.axes = figure.add_axes((LABELS / width, 0, *size))
        self.title, self.words = f"{title}: {note}" if note else title, list[Text]()
        room = max(width - text_width(note, SMALL) - 8, 60)
        name = shortened(printable(title), room, NAME, bold=True)
        self.words.append(Text(0, TITLE - 10, name, NAME, bold=True))
        room = width - text_width(name, NAME, bold=True) - 8
        self.write(width - LABELS, -10, shortened(note, room, SMALL), "end")

    def write(
        self, x: float, y: float, words: str, anchor: str = "start", ink: bool = False
    ) -> None:
        """Add the text `words` at the point (x, y) of the axes."""
        x, y = LABELS + x, TITLE + y
        self.words += [Text(x, y, printable(words), SMALL, anchor, muted=not ink)] * bool(words)

    def add_curves(
        self, plotted: PlottedQuantity, ends: Sequence[int] = (), limits: Sequence[float] = ()
    ) -> None:
        """Draw curves on a common scale. The axis of indices has these `ends`.

        By default, the first curve determines the ends. Several curves have names. A linear scale
        contains the `limits`. Marks show the zeros on a logarithmic scale, and the values that are
        not finite.
        """
        curves, log = plotted.curves, plotted.is_size
        first, last = ends or curves[0].index[[0, -1]].tolist()
        self.axes.set_xlim(first - 0.5, last + 0.5)
        locator = MaxNLocator(max(1, int(self.wide / 42)), integer=True, steps=[1, 2, 5, 10])
        ticks = [int(tick) for tick in locator.tick_values(first, last) if first <= tick <= last]
        self.axes.set_xticks(ticks, [integers(tick) for tick in ticks])
        self.write(-6, self.high + 16, curves[0].across, "end")
        every = np.concatenate([*(curve.values for curve in curves), limits])
        sizes = np.abs(every[np.isfinite(every)])
        unit = 10.0 ** max(np.floor(np.log10(sizes.max(initial=0) or 1)), -300)
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = [np.log10(c.values) if log else c.values / unit for c in curves]
        for curve, values in zip(curves, scaled, strict=True):
            finite = np.where(np.isfinite(values), values, np.nan)
            self.axes.plot(curve.index, finite, marker="o" if len(finite) <= DOTTED else "")
        if limits:
            self.axes.update_datalim(np.c_[[0, 0], limits] / unit, updatex=False)
        self.axes.margins(y=0)
        low, high = self.axes.get_ylim()
        if log:
            low, high = np.floor(low + 1e-9), np.ceil(high - 1e-9)
        below = 0.3 if log and not every.all() else 0.06
        self.axes.set_ylim(low - below * (high - low), high + 0.06 * (high - low))
        heights = np.array(MaxNLocator(4, integer=log, steps=[1, 2, 5, 10]).tick_values(low, high))
        heights = heights[(heights > low - 1e-9) & (heights < high + 1e-9)]
        powers = (str(round(height)).translate(SUPERSCRIPTS) for height in heights)
        labels = [f"10{power}" for power in powers] if log else _labels(heights * unit + 0.0)
        self.axes.set_yticks(heights, labels)
        self.axes.grid(axis="y")
        zeros = [curve.index[(curve.values == 0) & log] for curve in curves]
        odd = [curve.index[~np.isfinite(curve.values)] for curve in curves]
        for sign, down, marks in (("↓0", 0.97, zeros), ("×", 0.1, odd)):
            places = np.unique(np.concatenate(marks))  # several curves share a mark
            for place in places[:: -(-len(places) // MARKS) or 1]:
                x, _ = self._pixel(place, 0)
                self.write(x - LABELS, down * self.high, sign, "middle", ink=True)
        if len(curves) > 1:
            self._write_names([curve.name for curve in curves], scaled)

    def _write_names(self, names: Sequence[str], scaled: Sequence[np.ndarray]) -> None:
        """Write the name of each curve to the right of its end. Names do not overlap."""
        ends = [
            (self._pixel(0, height)[1] - TITLE, name)
            for name, heights in zip(names, scaled, strict=True)
            for height in heights[np.isfinite(heights)][-1:]
        ]
        bottom, low = self.high - LINE * (len(ends) - 1), -self.high
        for number, (y, name) in enumerate(sorted(ends)):
            low = min(max(y, low + LINE), bottom + LINE * number)
            self.write(self.wide + 4, low + 4, name, ink=True)

    @property
    def piece(self) -> Piece:
        """The shapes of the panel, with space for the labels of ticks below the axes."""
        shapes = Group((*self._shapes(), *self.words), title=self.title)
        foot = FOOT if len(self.axes.get_xticks()) else 0.0
        return sized(self.whole, TITLE + self.high + foot, shapes)

    def _shapes(self) -> Iterator[Shape]:
        """Yield the shapes of matplotlib's artists: ticks, bars, heat maps, lines, and texts."""
        for place, label in zip(self.axes.get_xticks(), self.axes.get_xticklabels(), strict=True):
            (x, _), y = self._pixel(place, 0), TITLE + self.high + 16
            yield Text(x, y, label.get_text(), SMALL, "middle", muted=True)
        for tick in self.axes.yaxis.get_major_ticks():
            _, y = self._pixel(0, tick.get_loc())
            yield Text(LABELS - 6, y + 4, tick.label1.get_text(), SMALL, "end", muted=True)
            if tick.gridline.get_visible():
                yield Polyline(((LABELS, y), (LABELS + self.wide, y)), faded=True)
        for bar in self.axes.patches:
            (x, low), (right, y) = map(self._flip, bar.get_window_extent().get_points())
            yield Box(x, y, right - x, low - y, BARS)
        for mesh in self.axes.findobj(QuadMesh):
            corners = np.asarray(mesh.get_coordinates())
            for (i, j), share in np.ndenumerate(np.asarray(mesh.get_array())):
                (x, y), (right, low) = (self._pixel(*corners[i + n, j + n]) for n in (0, 1))
                if share != 0:
                    yield Box(x, y, right - x - 1, low - y - 1, Role.PANEL, float(share))
        for line in self.axes.lines:
            yield from self._pieces(line)
        for text in self.axes.texts:
            yield Text(*self._pixel(*text.get_position()), text.get_text(), SMALL, "middle")

    def _pixel(self, x: float, y: float) -> Point:
        """Convert a point of the data to pixels from the upper left corner of the panel."""
        return self._flip(self.axes.transData.transform((x, y)))

    def _flip(self, pixel: np.ndarray) -> Point:
        x, y = pixel.tolist()
        return round(x, 1), round(TITLE + self.high - y, 1)

    def _pieces(self, line: Line2D) -> Iterator[Polyline]:
        """Yield the pieces of a line between its nan values. A single point is drawn as a dot."""
        xy, dots = np.asarray(line.get_xydata()), line.get_marker() == "o"
        for part in np.ma.clump_unmasked(np.ma.masked_invalid(xy[:, 1])):
            path = Path(xy[part]).cleaned(line.get_transform(), simplify=not dots)
            points = tuple(map(self._flip, np.asarray(path.vertices)[:-1]))  # without STOP
            yield Polyline(points, dots=dots or len(points) == 1)


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
