"""Scenes as PDF and PNG, drawn by matplotlib: a walk over the same shapes as for SVG.

A pixel of the scene is a CSS pixel, 1/96 inch.  Letters are those of DejaVu, which
matplotlib brings along, and what a person wrote is never taken for mathematics.  The same
scene gives the same bytes.  Tooltips have no place in these formats.

Matplotlib draws by its own defaults and `OURS`: what a person has changed in its settings stays
untouched and changes no picture.
"""

import io
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from typing import Literal

import matplotlib
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text as Letters
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Affine2D, Transform

from visual.backends.svg import heat_colour
from visual.scene.shapes import Arrow, Box, Group, Scene, Shape, Text, hatching
from visual.scene.theme import HATCHING, Line, Theme

INCH = 96
LONGEST_PAGE = 200  # inches: what a PDF reader must accept
SANS, MONO = ("DejaVu Sans",), ("DejaVu Sans Mono", "DejaVu Sans")
ANCHORS: Mapping[str, Literal["left", "center", "right"]] = {
    "start": "left",
    "middle": "center",
    "end": "right",
}
DASHES = {Line.DASHED: (5.0, 3.0), Line.DOTTED: (1.5, 3.0)}
STRIKE, STRIKE_WIDTH = 0.259, 0.049  # DejaVu's own: above the baseline, in em
ROUND = 0.5523  # how far the controls of a Bézier quarter of a circle stand out
INVISIBLE: dict[int, str | None] = {
    **dict.fromkeys((*range(32), 127, *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)),
    **dict.fromkeys((9, 10, 13), " "),  # a line stays a line
}
GROUPS = (
    "agg. axes. figure. font. grid. hatch. image. legend. lines. markers. mathtext. patch. path. "
    "pdf. savefig. svg. text. xaxis. xtick. yaxis. ytick."
)
_ONE_AT_A_TIME = RLock()  # settings, warnings and fonts are the same for all threads
OURS: dict[str, object] = {
    "font.family": ["DejaVu Sans"],
    "pdf.fonttype": 42,  # letters as TrueType, whole, to be selected and searched
    "svg.fonttype": "none",  # letters as letters
    "svg.hashsalt": "scantape",
    "text.hinting": "none",  # letters as wide as in SVG
    "text.parse_math": False,
}


def to_pdf(scene: Scene) -> bytes:
    """The PDF document of a scene; the page of a very large scene is smaller than life."""
    inch = max(INCH, scene.width / LONGEST_PAGE, scene.height / LONGEST_PAGE)
    with settings():
        figure = draw(scene, inch, scene.width / inch, scene.height / inch)
        file = io.BytesIO()
        figure.savefig(file, format="pdf", metadata=metadata(scene.title, scene.description))
    return file.getvalue()


def to_png(scene: Scene, scale: float = 1.0) -> bytes:
    """The PNG image of a scene, `scale` pixels for one of the scene, rounded up."""
    across, down = math.ceil(scene.width * scale), math.ceil(scene.height * scale)
    dots = INCH * scale
    with settings():
        figure = draw(scene, INCH, (across + 0.01) / dots, (down + 0.01) / dots)
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=dots, metadata={"Software": None})
    return file.getvalue()


def draw(scene: Scene, inch: float, width: float, height: float) -> Figure:
    """A figure of `width` by `height` inches; `inch` pixels of the scene make an inch."""
    figure = Figure(figsize=(width, height), facecolor=scene.theme.background)
    place = Affine2D().scale(1 / inch, -1 / inch).translate(0, height) + figure.dpi_scale_trans
    pencil = Pencil(figure, place, 72 / inch, scene.theme)
    for shape in scene.shapes:
        pencil.shape(shape)
    return figure


class Pencil:
    """Draws shapes into a figure, one over the other; `points` are the size of a pixel."""

    def __init__(self, figure: Figure, place: Transform, points: float, theme: Theme) -> None:
        self.figure, self.place, self.points, self.theme = figure, place, points, theme
        self.drawn = 0

    def shape(self, shape: Shape) -> None:
        """Draw a shape, or all shapes of a group."""
        if isinstance(shape, Group):
            for member in shape.shapes:
                self.shape(member)
        elif isinstance(shape, Box):
            self._box(shape)
        elif isinstance(shape, Text):
            self._text(shape)
        else:
            self._arrow(shape)

    def _add(self, artist: Artist) -> None:
        self.drawn += 1
        artist.set(transform=self.place, zorder=self.drawn)
        self.figure.add_artist(artist)

    def _path(self, path: Path, fill: str, edge: str, width: float, **options: object) -> None:
        width *= self.points
        look = {"facecolor": fill, "edgecolor": edge, "linewidth": width, **options}
        # Snapping to whole pixels would move thin lines away from where they stand.
        self._add(PathPatch(path, capstyle="butt", joinstyle="miter", snap=False, **look))

    def _box(self, box: Box) -> None:
        if box.heat is not None:
            self._path(rounded(box, 0, 0), heat_colour(box.heat, self.theme), "none", 0)
            return
        look = self.theme.look(box.role, box.faded)
        width = 2.4 if look.line is Line.HEAVY else 1.3
        dashes = tuple(length / width for length in DASHES.get(look.line, ()))
        line = {"linestyle": (0, dashes)} if dashes else {}
        self._path(rounded(box, 0, 5), look.fill, look.stroke, width, **line)
        for ends in hatching(box, look.hatch):
            self._path(Path(ends), "none", HATCHING, 0.7)
        if look.line is Line.DOUBLE:
            self._path(rounded(box, 3, 3), "none", look.stroke, 0.9)

    def _text(self, text: Text) -> None:
        colour = text.colour(self.theme)
        font = FontProperties(
            family=MONO if text.mono else SANS,
            weight="bold" if text.bold else "normal",
            size=text.size * self.points,
        )
        content = text.content.translate(INVISIBLE)
        self._add(
            Letters(
                text.x,
                text.y,
                content,
                color=colour,
                fontproperties=font,
                horizontalalignment=ANCHORS[text.anchor],
                verticalalignment="baseline",
                parse_math=False,
            )
        )
        if text.struck:
            self._strike(text, content, font, colour)

    def _strike(self, text: Text, content: str, font: FontProperties, colour: str) -> None:
        """The line through a text, which matplotlib does not know."""
        width, _, _ = text_to_path.get_text_width_height_descent(content, font, ismath=False)
        width /= self.points
        left = text.x - {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
        y = text.y - STRIKE * text.size
        line = Path([(left, y), (left + width, y)])
        self._path(line, "none", colour, STRIKE_WIDTH * text.size)

    def _arrow(self, arrow: Arrow) -> None:
        colour = arrow.colour(self.theme)
        step = Path.CURVE4 if arrow.is_curve else Path.LINETO
        codes = [Path.MOVETO, *[step] * (len(arrow.points) - 1)]
        self._path(Path(arrow.points, codes), "none", colour, 1.4)
        self._path(Path([*arrow.head, arrow.head[0]], closed=True), colour, "none", 0)


def rounded(box: Box, inset: float, radius: float) -> Path:
    """The outline of a box, moved inwards by `inset`, with rounded corners."""
    left, top = box.x + inset, box.y + inset
    right, bottom = box.x + box.width - inset, box.y + box.height - inset
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    if not radius:
        return Path([*corners, corners[0]], closed=True)
    rx, ry = min(radius, (right - left) / 2), min(radius, (bottom - top) / 2)
    # Clockwise from the upper left: along which way a side arrives at, and leaves, its corner.
    ways = [((0, 1), (1, 0)), ((-1, 0), (0, 1)), ((0, -1), (-1, 0)), ((1, 0), (0, -1))]
    points: list[tuple[float, float]] = []
    codes: list[object] = []
    for (x, y), (into, out) in zip(corners, ways, strict=True):
        for (dx, dy), share in ((into, 1.0), (into, 1 - ROUND), (out, 1 - ROUND), (out, 1.0)):
            points.append((x + dx * rx * share, y + dy * ry * share))
        codes += [Path.LINETO, *[Path.CURVE4] * 3]
    codes[0] = Path.MOVETO
    return Path([*points, points[0]], [*codes, Path.CLOSEPOLY])


@contextmanager
def settings() -> Iterator[None]:
    """Matplotlib's defaults and ours, while something is drawn: by one thread at a time."""
    groups = tuple(GROUPS.split())
    defaults = {k: v for k, v in matplotlib.rcParamsDefault.items() if k.startswith(groups)}
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        # Among the defaults are settings that a later matplotlib will no longer have.
        warnings.simplefilter("ignore", matplotlib.MatplotlibDeprecationWarning)
        # A letter that no font has is drawn as a box with its number, as in a browser.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        with matplotlib.rc_context(defaults | OURS):
            yield


def metadata(title: str, description: str) -> dict[str, str | None]:
    """What a PDF says about itself, the date excepted: the same picture gives the same bytes."""
    return {
        "Title": title,
        "Subject": description,
        "Creator": "Scantape",
        "CreationDate": None,
    }
