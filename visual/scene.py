"""Pictures as values: frozen boxes, texts, lines and groups, in pixels, y downwards.

A picture function returns a `Scene`.  Jupyter shows it, `save` writes it in the format
that the file's suffix names, and every format is a walk over the same shapes.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import ArgumentError
from lab.errors import listing
from visual.theme import LIGHT, Role, Theme

SUFFIXES = (".svg", ".txt")
INDEX = re.compile(r"(\[[^\[\]]*\]|[₀-₉₋]+)\)*$")

# Advance widths in em, on the wide side of the fonts that browsers fall back to.
MONO_WIDTH = 0.615
NARROW, WIDE = set("iljtfr.,:;|!'()[] ·"), set("mwMWQO@%→←∂Σ″′")


@dataclass(frozen=True)
class Box:
    """A rectangle in a role; `heat` fills it with a value from -1 to 1 instead.

    `faded` washes the role's colours out: what stands in the box is not needed.
    """

    x: float
    y: float
    width: float
    height: float
    role: Role
    heat: float | None = None
    faded: bool = False


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
        """An upper bound of the width when it is drawn."""
        return text_width(self.content, self.size, self.mono, self.bold)

    @property
    def left(self) -> float:
        """Where the text begins."""
        return self.x - {"start": 0.0, "middle": self.width / 2, "end": self.width}[self.anchor]


@dataclass(frozen=True)
class Arrow:
    """A line with a head: Bézier curves, if there are 3n + 1 points, or straight pieces."""

    points: tuple[tuple[float, float], ...]
    accent: bool = False
    faint: bool = False
    straight: bool = False

    @property
    def is_curve(self) -> bool:
        """Whether the points are a start and, for every piece, two controls and an end."""
        return not self.straight and len(self.points) > 2 and len(self.points) % 3 == 1


@dataclass(frozen=True)
class Group:
    """Shapes that belong together: a step, or a cell with its tooltip."""

    shapes: tuple["Shape", ...]
    step: int | None = None
    cell: str = ""
    title: str = ""


Shape = Box | Text | Arrow | Group


def walk(shapes: Iterable[Shape]) -> Iterator[Shape]:
    """All of `shapes` that are no groups, and those inside groups, in drawing order."""
    for shape in shapes:
        if isinstance(shape, Group):
            yield from walk(shape.shapes)
        else:
            yield shape


@dataclass(frozen=True)
class Scene:
    """A whole picture; `title` and `description` are for those who cannot see it."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    title: str
    description: str
    theme: Theme = LIGHT
    dot: str = ""

    def walk(self) -> Iterator[Shape]:
        """All shapes that are no groups, in drawing order."""
        return walk(self.shapes)

    def svg(self) -> str:
        """The picture as an SVG document that stands alone."""
        from visual.svg import to_svg

        return to_svg(self)

    def text(self) -> str:
        """The picture in plain text."""
        from visual.text import to_text

        return to_text(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to `path` in the format of its suffix: .svg or .txt.

        The file appears whole or not at all.  Raises ArgumentError for another suffix or a
        path that cannot be written.
        """
        path = Path(path)
        check_path(path)
        return write_whole(path, self.svg() if path.suffix.lower() == ".svg" else self.text())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        svg = self.svg()
        # As HTML a wide picture scrolls instead of being cut off, and its tooltips show.
        page = f'<div style="overflow-x: auto">{svg}</div>'
        return {"text/html": page, "image/svg+xml": svg, "text/plain": self.text()}


def check_path(path: Path) -> None:
    """Raise ArgumentError unless a picture can be written to `path`."""
    if path.suffix.lower() not in SUFFIXES:
        raise ArgumentError(
            f"path = {str(path)!r}: the suffix tells the format and can be {listing(SUFFIXES)}."
        )
    if not path.parent.is_dir():
        raise ArgumentError(f"path = {str(path)!r}: there is no folder {str(path.parent)!r}.")


def write_whole(path: Path, content: str) -> Path:
    """Write `content` to a file beside `path` and move it there when it is complete."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            part.write_text(content, encoding="utf-8")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArgumentError(f"path = {str(path)!r} cannot be written: {reason}.") from error
    return path


def text_width(content: str, size: float, mono: bool = False, bold: bool = False) -> float:
    """An upper bound of the width of `content` in pixels."""
    if mono:
        return len(content) * size * MONO_WIDTH
    em = sum(0.42 if c in NARROW else 0.95 if c in WIDE else 0.66 for c in content)
    return em * size * (1.08 if bold else 1.0)


def shortened(content: str, width: float, size: float, mono: bool = False) -> str:
    """`content`, with an ellipsis in the place of what does not fit into `width`.

    An index at the end is kept as long as there is room for it: it tells cells apart.
    """
    if text_width(content, size, mono) <= width:
        return content
    found = INDEX.search(content)
    tail = found.group() if found else ""
    if text_width(f"m…{tail}", size, mono) > width:
        tail = ""
    head = content.removesuffix(tail) if tail else content
    while head and text_width(f"{head}…{tail}", size, mono) > width:
        head = head[:-1]
    return f"{head.rstrip()}…{tail}"
