"""Pictures as values: frozen boxes, texts, arrows, lines, and groups.

Coordinates are pixels, and y points down. A picture function returns a `Scene`. Jupyter displays
the scene, and `Scene.save` writes the scene to a file. Each backend walks over the same shapes.
"""

import os
import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from html import escape
from inspect import signature
from math import atan2, cos, sin
from pathlib import Path
from typing import TypedDict, TypeVar, Unpack, cast

import numpy as np

from lab.errors import argument_error, check_choice, check_type, listing, quote
from lab.traces.trace import Trace
from visual.retired import PICTURE_OPTIONS, refuse_retired
from visual.scene.fonts import text_width
from visual.scene.formats import SUFFIXES, WRITERS, check_scale, picture_path, write_whole
from visual.scene.theme import LIGHT, THEMES, Hatch, Role, Theme, mixed

Draw = TypeVar("Draw", bound=Callable[..., object])
# The argument types that all picture functions check, with the text of the error.
CHECKED: dict[type, str] = {Trace: "a Trace, such as loop.trace() returns", bool: "True or False"}
INDEX = re.compile(r"(\[[eknt\d.…+−:, -]*\]|[₀-₉₋]+)\)*$")
BEFORE = {"start": 0.0, "middle": 0.5, "end": 1.0}  # the fraction of a text left of its anchor
LEAST_WIDTH = 0.27  # the width of the narrowest letter, in em
HATCH, THIN = 4.5, 0.9  # the distance and the thickness of the lines of a hatch, in pixels
MM = 25.4 / 96  # millimeters per CSS pixel
LARGEST = 1500  # pixels; a wider picture scrolls, because scaled text would be too small


@dataclass(frozen=True)
class Box:
    """A rectangle with the look of a role, or with a fill that encodes a number.

    The number is `heat`. The fill has its full color at ±`scale`, and a negative number fills only
    the lower half. A `faded` box is paler, because no result depends on its value.
    """

    x: float
    y: float
    width: float
    height: float
    role: Role
    heat: float | None = None
    faded: bool = False
    scale: float = 1.0
    past: bool = False  # paler, with the line style of its role: the picture explains others

    @property
    def share(self) -> float:
        """The number as a fraction of the scale, from -1 to 1 if the number is finite."""
        return (self.heat or 0.0) / (self.scale or 1.0)

    @property
    def filled(self) -> "Box":
        """The part of the box that the number fills."""
        if (self.heat or 0.0) >= 0 or self.heat != self.heat:
            return self
        low = self.height / 2 if self.height % 1 else max(1, self.height // 2)
        return replace(self, y=self.y + self.height - low, height=low)


@dataclass(frozen=True)
class Text:
    """A line of text with the baseline `y`, in the text color of `role` or of the page."""

    x: float
    y: float
    content: str
    size: float = 12
    anchor: str = "start"
    mono: bool = False
    bold: bool = False
    muted: bool = False
    struck: bool = False
    role: Role | None = None
    title: str = ""
    faded: bool = False

    @property
    def width(self) -> float:
        """The width in pixels."""
        return text_width(self.content, self.size, self.mono, self.bold)

    def color(self, theme: Theme) -> str:
        """Return the color of the text in a theme."""
        if self.role is not None:
            return theme.look(self.role, self.faded).text
        return theme.muted if self.muted else theme.text

    def ground(self, theme: Theme) -> "Box | None":
        """Return the box that covers a hatch behind the text, or None without a hatch."""
        if self.role is None or theme.look(self.role, self.faded).hatch is Hatch.NONE:
            return None
        high = 0.95 * self.size
        return Box(self.left - 2, self.y - 0.8 * self.size, self.width + 4, high, self.role)

    @property
    def left(self) -> float:
        """The x coordinate of the left end."""
        return self.x - BEFORE[self.anchor] * self.width


class TextLook(TypedDict, total=False):
    """Optional arguments of a `Text`: its font, its weight, its color, and its tooltip."""

    mono: bool
    bold: bool
    muted: bool
    struck: bool
    title: str


@dataclass(frozen=True)
class Polyline:
    """Straight segments between points. With `dots`, each point has a dot. A line can be `filled`.

    The color is the color of text, weaker if `faint`, and weakest if `faded`.
    """

    points: tuple[tuple[float, float], ...]
    faint: bool = False
    faded: bool = False
    dots: bool = False
    filled: bool = False

    def color(self, theme: Theme) -> str:
        """Return the color of the line and its dots in a theme."""
        if self.faded:
            return mixed(theme.text, theme.background, 0.7)
        return theme.muted if self.faint else theme.text


@dataclass(frozen=True)
class Arrow(Polyline):
    """A line with a head.

    If `straight`, the points define segments; otherwise, 3n + 1 points define n Bézier curves.
    `accent` and `faint` select a stronger or a weaker color. A `faded` arrow is pale, because no
    result depends on its value. A `saved` arrow has the color of saved values.
    """

    accent: bool = False
    straight: bool = False
    saved: bool = False

    @property
    def is_curve(self) -> bool:
        """Whether the points define curves: a start, then 2 control points and an end per curve."""
        return not self.straight and len(self.points) > 2 and len(self.points) % 3 == 1

    @property
    def head(self) -> tuple[tuple[float, float], ...]:
        """The corners of the arrowhead. The first corner is the tip."""
        (x0, y0), (x1, y1) = self.points[-2:]
        angle = atan2(y1 - y0, x1 - x0)
        turned = (angle + 0.42, angle - 0.42)
        return (x1, y1), *((x1 - 8 * cos(turn), y1 - 8 * sin(turn)) for turn in turned)

    def color(self, theme: Theme) -> str:
        """Return the color of the line and of the head in a theme."""
        if self.saved:
            return theme.look(Role.READ).stroke
        return theme.arrow if self.accent and not self.faded else super().color(theme)


def outline(x: float, y: float, wide: float, high: float) -> Polyline:
    """Return the edge of a rectangle. (`x`, `y`) is the upper left corner."""
    right, low = x + wide, y + high
    return Polyline(((x, y), (right, y), (right, low), (x, low), (x, y)))


@dataclass(frozen=True)
class Group:
    """Shapes that belong together, such as the shapes of a moment or of a cell.

    A moment is one state of a moving picture: `step` is its number, and `moment` is its name.
    Several groups can have the same moment. `title` is a tooltip. `cell` and `label` are the key
    and the name of the value in a cell. `value` is the number, or the array whose norm the cell
    shows. `quantity` is the name without its index. All cells of a quantity share a color scale.

    A film shows the group from moment `step` until just before moment `until`; fractions of moments
    are possible. A moving SVG moves a group along `path`, which starts at the center of the group.
    """

    shapes: tuple["Shape", ...]
    step: float | None = None
    cell: str = ""
    title: str = ""
    moment: str = ""
    until: float | None = None
    path: tuple[tuple[float, float], ...] = ()
    quantity: str = ""
    label: str = ""
    value: np.ndarray | None = field(default=None, compare=False, repr=False)


Shape = Box | Text | Arrow | Polyline | Group
Segment = tuple[tuple[float, float], tuple[float, float]]


def hatching(box: Box, hatch: Hatch) -> Iterator[Segment]:
    """Yield the lines of a hatch in a box, at least one pixel from the edge of the box."""
    left, top, wide, high = box.x + 1, box.y + 1, box.width - 2, box.height - 2
    if hatch is Hatch.LEVEL:
        ys = np.arange(HATCH, high, HATCH).tolist()
        yield from (((left, top + y), (left + wide, top + y)) for y in ys)
    if hatch is Hatch.UPRIGHT:
        xs = np.arange(HATCH, wide, HATCH).tolist()
        yield from (((left + x, top), (left + x, top + high)) for x in xs)
    # The sum of x and y is `over` on a slanted line.
    for over in np.arange(1.5 * HATCH, wide + high, 1.5 * HATCH).tolist():
        first, last = max(0.0, over - wide), min(high, over)
        if hatch is Hatch.CROSSED:
            right = left + wide - over
            yield (right + first, top + first), (right + last, top + last)
        if hatch in (Hatch.RISING, Hatch.CROSSED):
            yield (left + over - first, top + first), (left + over - last, top + last)


def walk(shapes: Iterable[Shape]) -> Iterator[Shape]:
    """Yield all shapes except groups in drawing order, including the shapes inside groups."""
    for shape in shapes:
        yield from walk(shape.shapes) if isinstance(shape, Group) else (shape,)


def groups_of(shapes: Iterable[Shape]) -> Iterator[Group]:
    """Yield all groups in drawing order, each before the groups inside it."""
    for shape in shapes:
        if isinstance(shape, Group):
            yield shape
            yield from groups_of(shape.shapes)


def replaced(shapes: Iterable[Shape], changes: Mapping[int, Shape]) -> tuple[Shape, ...]:
    """Return the shapes with replacements. `changes` maps the `id` of a shape to another shape."""
    if not changes:
        return tuple(shapes)
    return tuple(
        replace(shape, shapes=replaced(shape.shapes, changes))
        if isinstance(shape, Group)
        else changes.get(id(shape), shape)
        for shape in shapes
    )


def moved(shape: Shape, right: float, down: float) -> Shape:
    """Return a copy of a shape, moved by `right` and `down` pixels."""
    if not (right or down):
        return shape
    copy: Shape = object.__new__(type(shape))  # `replace` takes five times as long
    attributes = vars(copy)
    attributes.update(vars(shape))
    if isinstance(shape, Group):
        attributes["shapes"] = tuple([moved(inner, right, down) for inner in shape.shapes])
        attributes["path"] = tuple([(x + right, y + down) for x, y in shape.path])
    elif isinstance(shape, Polyline):
        attributes["points"] = tuple([(x + right, y + down) for x, y in shape.points])
    else:
        attributes["x"], attributes["y"] = shape.x + right, shape.y + down
    return copy


@dataclass(frozen=True)
class Scene:
    """A complete picture, with a `title` and a `description` for screen readers.

    `width` and `height` are pixels of the layout. `millimeters` is the width on paper, or 0 if the
    width is in pixels. Shapes have roles and no colors; backends read the colors of `theme`, which
    `themed` replaces. `dot` is the source of a graph for Graphviz. `twin` is the picture as text;
    if it is empty, `text` derives the text from the shapes. `film`, if not None, returns the scene
    for the animated formats.
    """

    width: float
    height: float
    shapes: tuple[Shape, ...]
    title: str
    description: str
    theme: Theme = LIGHT
    dot: str = ""
    twin: str = ""
    millimeters: float = 0.0
    film: "Callable[[], Scene] | None" = field(default=None, compare=False)

    def __repr__(self) -> str:
        size = f"{self.width:g} by {self.height:g}"
        return f"Scene({quote(self.title)}, {size}, {len(self.shapes)} shapes)"

    def walk(self) -> Iterator[Shape]:
        """Yield all shapes except groups, in drawing order."""
        return walk(self.shapes)

    def groups(self) -> Iterator[Group]:
        """Yield all groups, each before the groups inside it."""
        return groups_of(self.shapes)

    @property
    def zoom(self) -> float:
        """The number of CSS pixels (1/96 inch) per pixel of the layout."""
        return self.millimeters / MM / self.width if self.millimeters else 1.0

    @property
    def moments(self) -> dict[int, str]:
        """The name of each moment, by its number."""
        named = dict[int, str]()
        for group in self.groups():
            if isinstance(group.step, int) and not group.path:
                named[group.step] = group.moment or named.get(group.step, "")
        return {step: named[step] for step in sorted(named)}

    def themed(self, theme: str | None) -> "Scene":
        """Return the picture in a theme (None: unchanged); raise ArgumentError if it is unknown."""
        return self if theme is None else replace(self, theme=THEMES[theme])

    def svg(self) -> str:
        """Return the picture as a self-contained SVG document."""
        return str(self.rendered(".svg"))

    def text(self) -> str:
        """Return the picture as plain text."""
        return str(self.rendered(".txt"))

    def pdf(self) -> bytes:
        """Return the picture as a PDF document of one page."""
        return cast(bytes, self.rendered(".pdf"))

    def png(self, scale: float = 1.0) -> bytes:
        """Return the picture as a PNG image, with `scale` pixels per CSS pixel (1/96 inch)."""
        return cast(bytes, self.rendered(".png", scale))

    def save(
        self,
        path: str | os.PathLike[str],
        scale: float = 1.0,
        animate: bool = False,
        theme: str | None = None,
    ) -> Path:
        """Write the picture to `path` as .svg, .pdf, .png, .html, or .txt, and return the path.

        A picture with moments can also be a .gif with one frame per moment or, with `animate`, a
        moving .svg. A picture that Graphviz laid out can also be .dot. `scale` is the number of
        pixels of a .png or .gif per CSS pixel (1/96 inch). `theme` is light, dark, or print
        (default: the theme of the picture).

        The file is written atomically. Raises ArgumentError for an unknown suffix, a path that
        cannot be written, or a scale below 0.1. An image can have at most 100 megapixels, and at
        most 65,000 pixels on a side.
        """
        path = picture_path(path, check_type("animate", animate, bool, "True or False"))
        suffix = path.suffix.lower()
        if not self.can_be(suffix) or (animate and not self.can_move):
            others = listing(s for s in SUFFIXES if self.can_be(s))
            reason = "only a picture with several moments can move."
            if suffix == ".dot":
                reason = "only a step graph and a genealogy, laid out by Graphviz, can be .dot."
            raise argument_error("path", str(path), f"this picture can be {others}; {reason}")
        return write_whole(path, self.themed(theme).rendered(suffix, scale, animate))

    def can_be(self, suffix: str) -> bool:
        """Return whether the picture can be written in the format with a suffix, such as .svg."""
        is_possible = {".dot": bool(self.dot), ".gif": self.can_move}
        return suffix in SUFFIXES and is_possible.get(suffix, True)

    @property
    def can_move(self) -> bool:
        """Whether the picture has a film or more than one moment."""
        return self.film is not None or len(self.moments) > 1

    def rendered(self, suffix: str, scale: float = 1.0, animate: bool = False) -> str | bytes:
        """Return the content of a file with this suffix. Raises ArgumentError like `save`."""
        check_choice("suffix", suffix, [known for known in SUFFIXES if self.can_be(known)])
        check_type("animate", animate, bool, "True or False")
        check_scale(scale)
        if self.film is not None and (animate or suffix == ".gif"):
            return replace(self.film(), theme=self.theme).rendered(suffix, scale, animate)
        if suffix in (".png", ".gif"):
            check_scale(scale, self.width * self.zoom, self.height * self.zoom)
        return WRITERS[suffix](self, scale, animate)

    def framed(self) -> str:
        """Return the picture as HTML. A wide picture scrolls."""
        size = " vast" if self.width > LARGEST else ""
        return (
            f'<div class="picture scene {self.theme.name}{size}" role="group" tabindex="0" '
            f'aria-label="{escape(self.title)}" style="overflow-x: auto">{self.svg()}</div>'
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.framed(), "image/svg+xml": self.svg(), "text/plain": self.text()}


def picture_function(draw: Draw) -> Draw:
    """Return `draw` with a check of its arguments (see `CHECKED`)."""
    kinds = {name: kind for name, kind in draw.__annotations__.items() if kind in CHECKED}

    @wraps(draw)
    def checked(*arguments: object, **options: object) -> object:
        for name in options:
            refuse_retired(name, PICTURE_OPTIONS)
            refuse_retired(f"{draw.__name__}.{name}", PICTURE_OPTIONS)
        for name, value in signature(draw).bind_partial(*arguments, **options).arguments.items():
            if name in kinds:
                check_type(name, value, kinds[name], CHECKED[kinds[name]])
        return draw(*arguments, **options)

    return cast(Draw, checked)


def fitted(
    x: float,
    y: float,
    content: str,
    room: float,
    size: float,
    anchor: str = "start",
    role: Role | None = None,
    **look: Unpack[TextLook],
) -> Text:
    """Return a text of at most `room` pixels. The tooltip of a shortened text is the whole text."""
    short = shortened(content, room, size, look.get("mono", False), look.get("bold", False))
    if short != content:
        look["title"] = content
    return Text(x, y, short, size, anchor, role=role, **look)


def folded(content: str, room: float, size: float, bold: bool = False) -> list[str]:
    """Return `content` as lines of at most `room` pixels. Wider words are broken."""
    lines = [""]
    for word in content.split():
        line = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and text_width(line, size, bold=bold) > room:
            lines.append(line := word)
        lines[-1] = line
        while text_width(lines[-1], size, bold=bold) > room and len(lines[-1]) > 1:
            rest, counts = lines[-1], range(2, len(lines[-1]))  # a line has at least one letter
            fits = 1 + bisect(counts, room, key=lambda n: text_width(rest[:n], size, bold=bold))
            lines[-1:] = [rest[:fits], rest[fits:]]
    return lines


def shortened(
    content: str, width: float, size: float, mono: bool = False, bold: bool = False
) -> str:
    """Return `content`, shortened with an ellipsis if it is wider than `width` pixels.

    If possible, an index at the end remains, because the index distinguishes cells.
    """
    if text_width(content, size, mono, bold) <= width:
        return content
    most = int(width / (LEAST_WIDTH * size)) + 2  # an upper bound of the number of letters
    index = INDEX.search(content[-most:])
    tail = index.group() if index else ""
    if text_width(f"m…{tail}", size, mono, bold) > width:
        tail = ""
    head = content.removesuffix(tail)[:most]
    while head and text_width(f"{head}…{tail}", size, mono, bold) > width:
        head = head[:-1]
    return f"{head.rstrip()}…{tail}"
