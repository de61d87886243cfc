"""Draw with matplotlib: the artists of a figure become shapes of a scene.

Shapes have roles and no colors, so that every backend draws a plot in every theme. An artist whose
`gid` is `INK` is data; grids and labels have none. This module loads matplotlib, without pyplot:
import it only to draw.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock

import matplotlib as mpl
import numpy as np
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.text import Text as Artist
from matplotlib.transforms import Transform
from numpy.typing import ArrayLike

from visual.scene.combinators import ASCENT, DESCENT
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Group, Polyline, Shape, Text
from visual.scene.theme import LIGHT, SHADES, Role, shades

INK = "ink"
SMALL = 11.0  # pixels; a point of these figures is a pixel
LEVELS = [*(level / SHADES for level in range(-SHADES, SHADES + 1)), float("nan")]
ANCHORS = {"left": "start", "center": "middle", "right": "end"}
_LOCK = RLock()  # matplotlib's parameters belong to the process


class Renderer(RendererBase):
    """A matplotlib renderer whose output is the list `shapes`."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__()
        self.size = width, height
        self.gid: str | None = None
        self.shapes: list[Shape] = []
        self.titles: list[tuple[str, int]] = []

    def get_canvas_width_height(self) -> tuple[float, float]:
        """Return the size of the figure in pixels."""
        return self.size

    def points_to_pixels(self, points: ArrayLike) -> ArrayLike:
        """Return lengths in points, which are pixels here."""
        return points

    def open_group(self, s: str, gid: str | None = None) -> None:
        """Keep the `gid` of the next artist; axes become a group with their `gid` as its title."""
        self.gid = gid
        if s == "axes":
            self.titles.append((gid or "", len(self.shapes)))

    def close_group(self, s: str) -> None:
        """End an artist; `s` is its kind."""
        self.gid = None
        if s == "axes":
            title, start = self.titles.pop()
            self.shapes[start:] = [Group(tuple(self.shapes[start:]), title=title)]

    def _down(self, points: np.ndarray) -> list[tuple[float, float]]:
        return [(round(float(x), 1), round(self.size[1] - float(y), 1)) for x, y in points]

    def draw_path(
        self, gc: GraphicsContextBase, path: Path, transform: Transform, face: object = None
    ) -> None:
        """Add the role of a bar, or a line in pieces without gaps."""
        if self.gid is not None and self.gid in Role.__members__:
            corners = self._down(transform.transform(path.vertices))
            (x, *_, right), (y, *_, low) = (sorted(side) for side in zip(*corners, strict=True))
            self.shapes.append(Box(x, y, right - x, low - y, Role[self.gid]))
        if face is not None:  # or the background of a figure or of axes
            return
        drawn = path.cleaned(transform, remove_nans=True)
        ends = np.flatnonzero(drawn.codes == Path.MOVETO)
        stops = [*ends[1:], np.flatnonzero(drawn.codes == Path.STOP)[0]]
        for start, stop in zip(ends, stops, strict=False):  # a line of nan has no start
            points = tuple(self._down(np.asarray(drawn.vertices)[start:stop]))
            self.shapes.append(Polyline(points, faded=self.gid != INK))

    def draw_markers(
        self,
        gc: GraphicsContextBase,
        marker: Path,
        marker_trans: Transform,
        path: Path,
        trans: Transform,
        face: object = None,
    ) -> None:
        """Add a dot for each marker."""
        points = self._down(trans.transform(path.vertices))
        last = self.shapes[-1] if self.shapes else None
        if isinstance(last, Polyline) and last.points == tuple(points):
            self.shapes[-1] = replace(last, dots=True)
            return
        shown = (point for point in points if np.isfinite(point).all())
        self.shapes += [Polyline((point,), dots=True) for point in shown]

    def draw_quad_mesh(  # type: ignore[override]  # the names of arguments
        self,
        gc: GraphicsContextBase,
        master: Transform,
        wide: int,
        high: int,
        corners: np.ndarray,
        *others: np.ndarray,
    ) -> None:
        """Add a patch for every cell that is not 0."""
        points = master.transform(np.asarray(corners).reshape(-1, 2)).reshape(corners.shape)
        heats = dict(zip(shades(LIGHT), LEVELS, strict=True))
        colors = iter(others[2])
        for row in range(high):
            for column in range(wide):
                ((x, y), (right, low)) = self._down(points[[row, row + 1], [column, column + 1]])
                y, low = sorted((y, low))
                if heat := heats[to_hex(next(colors))]:
                    self.shapes.append(Box(x, y, right - x - 1, low - y - 1, Role.PANEL, heat))

    def draw_text(
        self, gc: GraphicsContextBase, x: float, y: float, s: str, prop: FontProperties,
        angle: float, ismath: bool | str = False, mtext: Artist | None = None,
    ) -> None:  # fmt: skip
        """Add a line of text at its baseline."""
        anchor = ANCHORS[mtext.get_horizontalalignment() if mtext else "left"]
        bold = prop.get_weight() == "bold"
        wide = text_width(s, prop.get_size(), bold=bold)
        x += {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        x, y, muted = round(float(x), 1), round(float(y), 1), not bold and self.gid != INK
        role = Role.__members__.get(self.gid or "")
        muted &= role is None
        self.shapes.append(Text(x, y, s, prop.get_size(), anchor, False, bold, muted, role=role))

    def get_text_width_height_descent(
        self, s: str, prop: FontProperties, ismath: bool | str
    ) -> tuple[float, float, float]:
        """Measure a text as every picture does."""
        size = prop.get_size()
        high = (ASCENT + DESCENT) * size
        return text_width(s, size, bold=prop.get_weight() == "bold"), high, DESCENT * size


def drawn(width: float, height: float, draw: Callable[[Figure], None]) -> list[Shape]:
    """Return the shapes of a figure of `width` by `height` pixels."""
    with _LOCK, mpl.rc_context():
        mpl.rcdefaults()  # the reader's own style changes no picture
        mpl.rcParams["text.parse_math"] = False
        mpl.rcParams["font.size"] = SMALL
        figure = Figure((width / 72, height / 72), dpi=72, frameon=False)
        draw(figure)
        renderer = Renderer(width, height)
        figure.draw(renderer)
    return renderer.shapes


@contextmanager
def literal() -> Iterator[None]:
    """Draw names as they are: a dollar sign in a name starts no formula."""
    with _LOCK, mpl.rc_context({"text.parse_math": False}):
        yield
