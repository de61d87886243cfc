"""Arrange pieces of a picture in rows and stacks.

A `Piece` consists of shapes and an envelope, the rectangle that the shapes occupy. All functions
except `envelope_of` return a new piece:

    >>> row = beside(words("x₀", 12), gap(60), words("x₁", 12))
    >>> row.envelope.width

The design follows https://github.com/chalk-diagrams/chalk, whose envelopes can have any form.
"""

from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple, Unpack

from lab.records import cached_property
from visual.scene.shapes import Arrow, Box, Group, Polyline, Shape, Text, TextLook, moved

ASCENT, DESCENT = 0.94, 0.24  # heights of a line of DejaVu above and below the baseline, in em


class Envelope(NamedTuple):
    """A rectangle in pixels. The envelope of an empty picture has size 0."""

    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0

    @property
    def width(self) -> float:
        """The width in pixels."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """The height in pixels."""
        return self.bottom - self.top

    def padded(self, across: float, down: float) -> "Envelope":
        """Return the rectangle with margins `across` at its sides, and `down` above and below."""
        left, top = self.left - across, self.top - down
        return Envelope(left, top, self.right + across, self.bottom + down)

    def meets(self, other: "Envelope") -> bool:
        """Return whether the rectangles overlap. A common edge is not an overlap."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def around(self, other: "Envelope") -> "Envelope":
        """Return the smallest rectangle that contains both rectangles."""
        left, top = min(self.left, other.left), min(self.top, other.top)
        return Envelope(left, top, max(self.right, other.right), max(self.bottom, other.bottom))


@dataclass(frozen=True)
class Piece:
    """Shapes, and the rectangle that the shapes occupy.

    `placed` contains groups of shapes with their offsets (right, down). Only `shapes` applies the
    offsets. Therefore, each shape is moved only once.
    """

    placed: tuple[tuple[float, float, tuple[Shape, ...]], ...] = ()
    envelope: Envelope = Envelope()  # noqa: RUF009 (immutable)

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes at their final coordinates."""
        return tuple(moved(shape, x, y) for x, y, shapes in self.placed for shape in shapes)


def envelope_of(shape: Shape) -> Envelope:
    """Return the rectangle that a shape occupies. The width of lines is ignored."""
    if isinstance(shape, Group):
        return reduce(Envelope.around, map(envelope_of, shape.shapes or (Polyline(((0, 0),)),)))
    if isinstance(shape, Box):
        return Envelope(shape.x, shape.y, shape.x + shape.width, shape.y + shape.height)
    if isinstance(shape, Text):
        top, bottom = shape.y - ASCENT * shape.size, shape.y + DESCENT * shape.size
        return Envelope(shape.left, top, shape.left + shape.width, bottom)
    points = [*shape.points, *(shape.head if isinstance(shape, Arrow) else ())]
    across, down = zip(*points, strict=True)
    return Envelope(min(across), min(down), max(across), max(down))


def piece(*shapes: Shape) -> Piece:
    """Return a piece with these shapes, without moving them."""
    return Piece(((0.0, 0.0, shapes),), envelope_of(Group(shapes)))


def gap(width: float = 0.0, height: float = 0.0) -> Piece:
    """Return an empty piece of this size."""
    return Piece(envelope=Envelope(0.0, 0.0, width, height))


def sized(width: float, height: float, *shapes: Shape) -> Piece:
    """Return the shapes as a piece whose envelope starts at (0, 0) and has this size."""
    return replace(gap(width, height), placed=((0.0, 0.0, shapes),))


def words(content: str, size: float, **look: Unpack[TextLook]) -> Piece:
    """Return a line of text. The envelope has the full height of a line."""
    return piece(Text(0.0, ASCENT * size, content, size, **look))


def shifted(part: Piece, right: float, down: float) -> Piece:
    """Return a copy of the piece, moved by `right` and `down` pixels."""
    placed, old = tuple((x + right, y + down, s) for x, y, s in part.placed), part.envelope
    new = Envelope(old.left + right, old.top + down, old.right + right, old.bottom + down)
    return Piece(placed, new)


def over(*parts: Piece) -> Piece:
    """Return the pieces as one piece. Later pieces cover earlier pieces."""
    placed = tuple(placed for part in parts for placed in part.placed)
    envelopes = [part.envelope for part in parts] or [Envelope()]
    return Piece(placed, reduce(Envelope.around, envelopes))


def beside(*parts: Piece, apart: float = 0.0) -> Piece:
    """Return the pieces from left to right, with aligned upper edges, `apart` pixels apart."""
    pieces = list(parts[:1])
    for part in parts[1:]:
        before, own = pieces[-1].envelope, part.envelope
        pieces.append(shifted(part, before.right + apart - own.left, before.top - own.top))
    return over(*pieces)


def above(*parts: Piece, apart: float = 0.0) -> Piece:
    """Return the pieces from top to bottom, with aligned left edges, `apart` pixels apart."""
    pieces = list(parts[:1])
    for part in parts[1:]:
        before, own = pieces[-1].envelope, part.envelope
        pieces.append(shifted(part, before.left - own.left, before.bottom + apart - own.top))
    return over(*pieces)


def grouped(part: Piece, step: int, moment: str, title: str = "") -> Piece:
    """Return the piece as a single group with a moment (see `Group`) and the tooltip `title`."""
    group = Group(part.shapes, step, moment=moment, title=title)
    return replace(part, placed=((0.0, 0.0, (group,)),))
