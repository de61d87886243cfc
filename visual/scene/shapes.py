"""Pictures as values: frozen boxes, texts, arrows, lines and groups, in pixels, y downwards.

A picture function returns a `Scene`.  Jupyter shows it, `save` writes it in the format
that the file's suffix names, and every format is a walk over the same shapes.
"""

import os
import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import wraps
from html import escape
from math import atan2, ceil, cos, sin
from pathlib import Path
from typing import Concatenate, ParamSpec

from lab.errors import expect, listing, one_of, quoted, refused
from lab.traces.trace import Trace
from visual.scene.fonts import text_width
from visual.scene.formats import (
    MOVING,
    SUFFIXES,
    as_path,
    check_path,
    check_scale,
    content,
    write_whole,
)
from visual.scene.theme import LIGHT, Hatch, Role, Theme, mixed

Others = ParamSpec("Others")
INDEX = re.compile(r"(\[[^\[\]]*\]|[₀-₉₋]+)\)*$")
LEAST_WIDTH = 0.27  # of a letter, in em
HATCH, THIN = 4.5, 0.9  # pixels from line to line, and how thick they are
MM = 25.4 / 96  # a CSS pixel in millimetres
LARGEST = 1500  # a wider picture is never fitted to a page: its words would be too small


@dataclass(frozen=True)
class Box:
    """A rectangle in a role; `heat` fills it with a number instead, which is a share of a `scale`.

    Of a negative number only the lower half is filled.  `faded` washes the role's colours out: what
    stands in the box is not needed.
    """

    x: float
    y: float
    width: float
    height: float
    role: Role
    heat: float | None = None
    faded: bool = False
    scale: float = 1.0

    @property
    def share(self) -> float:
        """How much of the full colour, -1 to 1 if it is finite."""
        return (self.heat or 0.0) / (self.scale or 1.0)

    @property
    def filled(self) -> "Box":
        """What the number fills, on whole pixels where the box is."""
        if (self.heat or 0.0) >= 0 or self.heat != self.heat:
            return self
        low = self.height / 2 if self.height % 1 else max(1, self.height // 2)
        return replace(self, y=self.y + self.height - low, height=low)


@dataclass(frozen=True)
class Text:
    """A line of text at its baseline; `role` gives its colour, None for that of the page."""

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
        """How wide it is drawn."""
        return text_width(self.content, self.size, self.mono, self.bold)

    def colour(self, theme: Theme) -> str:
        """The colour of its letters."""
        if self.role is not None:
            return theme.look(self.role, self.faded).text
        return theme.muted if self.muted else theme.text

    def ground(self, theme: Theme) -> "Box | None":
        """What keeps the lines of a hatch off its letters, where it stands on one."""
        if self.role is None or theme.look(self.role, self.faded).hatch is Hatch.NONE:
            return None
        high = 0.95 * self.size
        return Box(self.left - 2, self.y - 0.8 * self.size, self.width + 4, high, self.role)

    @property
    def left(self) -> float:
        """Where the text begins."""
        return self.x - {"start": 0.0, "middle": self.width / 2, "end": self.width}[self.anchor]


@dataclass(frozen=True)
class Arrow:
    """A line with a head: Bézier curves, if there are 3n + 1 points, or straight pieces.

    `accent` and `faint` give it a stronger or a weaker colour; a `faded` one is not needed.
    A line from a `saved` value has the color of saved values.
    """

    points: tuple[tuple[float, float], ...]
    accent: bool = False
    faint: bool = False
    straight: bool = False
    faded: bool = False
    saved: bool = False

    @property
    def is_curve(self) -> bool:
        """Whether the points are a start and, for every piece, two controls and an end."""
        return not self.straight and len(self.points) > 2 and len(self.points) % 3 == 1

    @property
    def head(self) -> tuple[tuple[float, float], ...]:
        """The corners of the arrowhead, the tip first."""
        (x0, y0), (x1, y1) = self.points[-2:]
        angle = atan2(y1 - y0, x1 - x0)
        turned = (angle + 0.42, angle - 0.42)
        return (x1, y1), *((x1 - 8 * cos(turn), y1 - 8 * sin(turn)) for turn in turned)

    def colour(self, theme: Theme) -> str:
        """The colour of line and head."""
        if self.saved:
            return theme.look(Role.READ).stroke
        plain = self.faded or not self.accent
        return ink(theme, self.faint, self.faded) if plain else theme.arrow


@dataclass(frozen=True)
class Polyline:
    """Straight pieces from point to point, and a dot at each point if `dots` says so.

    It has the colour of letters, a weaker one if it is `faint`, the weakest if it is `faded`.
    """

    points: tuple[tuple[float, float], ...]
    faint: bool = False
    faded: bool = False
    dots: bool = False

    def colour(self, theme: Theme) -> str:
        """The colour of the line and its dots."""
        return ink(theme, self.faint, self.faded)


def outline(x: float, y: float, wide: float, high: float) -> Polyline:
    """The edge of a rectangle, which covers nothing."""
    right, low = x + wide, y + high
    return Polyline(((x, y), (right, y), (right, low), (x, low), (x, y)))


def ink(theme: Theme, faint: bool, faded: bool) -> str:
    """The colour of a line that has no role."""
    if faded:
        return mixed(theme.text, theme.background, 0.7)
    return theme.muted if faint else theme.text


@dataclass(frozen=True)
class Group:
    """Shapes that belong together: a moment of the run, or a cell with its tooltip.

    `step` numbers the moments of a picture that can be walked through, `moment` is what one is
    called; several groups may belong to one.  `cell` is the key of the quantity in a cell,
    `mentions` are those of the quantities in a formula, first the one that it makes, and `reads`
    are those that the moment reads, which stay as they are while others before it are dimmed.
    With `until`, the shapes of a film are seen from moment `step` to the one before `until`.
    """

    shapes: tuple["Shape", ...]
    step: int | None = None
    cell: str = ""
    title: str = ""
    moment: str = ""
    mentions: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    until: int | None = None


Shape = Box | Text | Arrow | Polyline | Group
LINES = (Arrow, Polyline)


Segment = tuple[tuple[float, float], tuple[float, float]]


def hatching(box: Box, hatch: Hatch) -> Iterator[Segment]:
    """The lines with which the ground of a box is drawn, none nearer than a pixel to its edge."""
    left, top, wide, high = box.x + 1, box.y + 1, box.width - 2, box.height - 2
    if hatch is Hatch.LEVEL:
        for y in _every(HATCH, high):
            yield (left, top + y), (left + wide, top + y)
    if hatch is Hatch.UPRIGHT:
        for x in _every(HATCH, wide):
            yield (left + x, top), (left + x, top + high)
    for over in _every(1.5 * HATCH, wide + high):  # slanted: where x + y is `over`
        first, last = max(0.0, over - wide), min(high, over)
        falling = (left + wide - over + first, top + first), (left + wide - over + last, top + last)
        if hatch in (Hatch.FALLING, Hatch.CROSSED):
            yield falling
        if hatch in (Hatch.RISING, Hatch.CROSSED):
            yield (left + over - first, top + first), (left + over - last, top + last)


def _every(pace: float, length: float) -> Iterator[float]:
    """``pace, 2 * pace`` and so on, below a length."""
    return (pace * number for number in range(1, ceil(length / pace)))


def walk(shapes: Iterable[Shape]) -> Iterator[Shape]:
    """All of `shapes` that are no groups, and those inside groups, in drawing order."""
    for shape in shapes:
        if isinstance(shape, Group):
            yield from walk(shape.shapes)
        else:
            yield shape


def moved(shape: Shape, right: float, down: float) -> Shape:
    """The same shape elsewhere."""
    if not (right or down):
        return shape
    made: Shape = object.__new__(type(shape))  # `replace` takes five times as long
    here = vars(made)
    here.update(vars(shape))
    if isinstance(shape, Group):
        here["shapes"] = tuple([moved(inner, right, down) for inner in shape.shapes])
    elif isinstance(shape, LINES):
        here["points"] = tuple([(x + right, y + down) for x, y in shape.points])
    else:
        here["x"], here["y"] = shape.x + right, shape.y + down
    return made


@dataclass(frozen=True)
class Scene:
    """A whole picture; `title` and `description` are for those who cannot see it.

    `dot` is the same graph in Graphviz's language, for pictures that Graphviz laid out; `twin` is
    its text, if that is another than what the texts of its shapes say; `trace` is the run that
    its numbers are from, for who wants to know where one of them comes from.  A picture for a paper
    is so many `millimetres` wide there, whatever `width` its shapes are laid out on.
    `film` returns the scene that is written where the picture is to move, if it is another.
    """

    width: float
    height: float
    shapes: tuple[Shape, ...]
    title: str
    description: str
    theme: Theme = LIGHT
    dot: str = ""
    twin: str = ""
    trace: Trace | None = field(default=None, compare=False)
    millimetres: float = 0.0
    film: "Callable[[], Scene] | None" = field(default=None, compare=False)

    def __repr__(self) -> str:
        size = f"{self.width:g} by {self.height:g}"
        return f"Scene({quoted(self.title)}, {size}, {len(self.shapes)} shapes)"

    def walk(self) -> Iterator[Shape]:
        """All shapes that are no groups, in drawing order."""
        return walk(self.shapes)

    def groups(self) -> Iterator[Group]:
        """All groups, each before those inside it."""
        waiting = list(reversed(self.shapes))
        while waiting:
            shape = waiting.pop()
            if isinstance(shape, Group):
                yield shape
                waiting += reversed(shape.shapes)

    @property
    def zoom(self) -> float:
        """How many CSS pixels, 1/96 inch, a pixel of the shapes takes."""
        return self.millimetres / MM / self.width if self.millimetres else 1.0

    @property
    def moments(self) -> dict[int, str]:
        """The moments through which the picture can be walked, and what they are called."""
        named = {g.step: g.moment for g in self.groups() if g.step is not None}
        return {step: named[step] for step in sorted(named)}

    def svg(self) -> str:
        """The picture as an SVG document that stands alone."""
        return str(content(".svg", self))

    def text(self) -> str:
        """The picture in plain text."""
        return str(content(".txt", self))

    def pdf(self) -> bytes:
        """The picture as a PDF document of one page."""
        return bytes(content(".pdf", self))

    def png(self, scale: float = 1.0) -> bytes:
        """The picture as a PNG image, `scale` pixels for every pixel of the picture."""
        check_scale(scale, self.width * self.zoom, self.height * self.zoom)
        return bytes(content(".png", self, scale))

    def save(self, path: str | os.PathLike[str], scale: float = 1.0, animate: bool = False) -> Path:
        """Write the picture to `path`: .svg, .pdf, .png, .html or .txt, as the suffix says.

        A picture with steps can be a .gif, one frame per step, or an .svg that is to `animate`.
        Pictures laid out by Graphviz can be .dot as well.  `scale` is the number of pixels of a
        .png or .gif per pixel of the picture; the other formats have no pixels.

        The file appears whole or not at all.  Raises ArgumentError for another suffix,
        a path that cannot be written, or a scale that is no number of 0.1 or more or makes an image
        of more than 100 megapixels.
        """
        path = as_path(path)
        check_path(path, expect("animate", animate, bool, "True or False"))
        suffix = path.suffix.lower()
        if not self.can_be(suffix) or (animate and not self.can_move):
            others = listing(s for s in SUFFIXES if self.can_be(s))
            reason = "moving pictures are made of those that have steps to walk through."
            if suffix == ".dot":
                reason = (
                    ".dot exists only for pictures laid out by Graphviz, the step graph and the "
                    "genealogy."
                )
            raise refused("path", str(path), f"this picture can be {others}; {reason}")
        return write_whole(path, self.rendered(suffix, scale, animate))

    def can_be(self, suffix: str) -> bool:
        """Whether there is such a file of it: not all pictures have a graph, or steps."""
        if not isinstance(suffix, str) or suffix not in SUFFIXES:
            return False
        if suffix == ".dot":
            return bool(self.dot)
        return suffix not in MOVING or self.can_move

    @property
    def can_move(self) -> bool:
        """Whether the picture has a film, or moments to show one after the other."""
        return self.film is not None or len(self.moments) > 1

    def rendered(self, suffix: str, scale: float = 1.0, animate: bool = False) -> str | bytes:
        """Return the content of its file that has this suffix; ArgumentError if it has none."""
        one_of("suffix", suffix, [known for known in SUFFIXES if self.can_be(known)])
        expect("animate", animate, bool, "True or False")
        check_scale(scale)
        if suffix == ".dot":
            return self.dot
        if self.film is not None and (animate or suffix in MOVING):
            return self.film().rendered(suffix, scale, animate)
        options: tuple[float, ...] = (animate,) if suffix == ".svg" else ()
        if suffix in (".png", *MOVING):
            check_scale(scale, self.width * self.zoom, self.height * self.zoom)
            options = (scale,)
        found = content(suffix, self, *options)
        assert isinstance(found, str | bytes)
        return found

    def framed(self) -> str:
        """The picture as HTML; a wide one scrolls instead of being cut off."""
        size = " vast" if self.width > LARGEST else ""
        return (
            f'<div class="picture scene {self.theme.name}{size}" role="group" tabindex="0" '
            f'aria-label="{escape(self.title)}" style="overflow-x: auto">{self.svg()}</div>'
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        page, svg = self.framed(), self.svg()
        if ' data-moments="' in svg[:2000]:  # a page can have a script that walks through them
            page = f'<div class="scantape" data-scantape data-whole>{page}</div>'
        return {"text/html": page, "image/svg+xml": svg, "text/plain": self.text()}


def of_run(
    draw: Callable[Concatenate[Trace, Others], Scene],
) -> Callable[Concatenate[Trace, Others], Scene]:
    """A function that draws a run, and whose picture knows which."""

    @wraps(draw)
    def drawn(trace: Trace, *others: Others.args, **options: Others.kwargs) -> Scene:
        return replace(draw(trace, *others, **options), trace=trace)

    return drawn


def fitted(
    x: float,
    y: float,
    content: str,
    room: float,
    size: float,
    anchor: str = "start",
    mono: bool = False,
    bold: bool = False,
    muted: bool = False,
    role: Role | None = None,
) -> Text:
    """`content` as a text no wider than `room`; if it is shortened, the whole is its tooltip."""
    short = shortened(content, room, size, mono, bold)
    title = content if short != content else ""
    return Text(x, y, short, size, anchor, mono, bold, muted, role=role, title=title)


def folded(content: str, room: float, size: float, bold: bool = False) -> list[str]:
    """`content` in as many lines as it needs, none wider than `room`; long words are broken."""
    lines = [""]
    for word in content.split():
        one = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and text_width(one, size, bold=bold) > room:
            lines.append(one := word)
        lines[-1] = one
        while text_width(lines[-1], size, bold=bold) > room and len(lines[-1]) > 1:
            rest = lines[-1]
            most = min(len(rest) - 1, int(room / (LEAST_WIDTH * size)) + 1)
            counts = range(1, most + 1)

            def width(count: int, word: str = rest) -> float:
                return text_width(word[:count], size, bold=bold)

            fits = max(1, bisect(counts, room, key=width))
            lines[-1:] = [rest[:fits], rest[fits:]]
    return lines


def shortened(
    content: str, width: float, size: float, mono: bool = False, bold: bool = False
) -> str:
    """`content`, with an ellipsis in the place of what does not fit into `width`.

    An index at the end is kept as long as there is room for it: it tells cells apart.
    """
    if text_width(content, size, mono, bold) <= width:
        return content
    most = int(width / (LEAST_WIDTH * size)) + 2  # letters, however narrow; so that none is in vain
    found = INDEX.search(content[-most:])
    tail = found.group() if found else ""
    if text_width(f"m…{tail}", size, mono, bold) > width:
        tail = ""
    head = content.removesuffix(tail)[:most]
    while head and text_width(f"{head}…{tail}", size, mono, bold) > width:
        head = head[:-1]
    return f"{head.rstrip()}…{tail}"
