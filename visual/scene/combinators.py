"""Pictures put together from pictures: beside, above, framed, padded, in columns, joined by arrows.

A `Piece` is shapes and their envelope, the rectangle that they take up; every function returns a
new one.  What carries a name can be found by it, wherever it has been put:

    >>> row = beside(named(framed(words("x₀", 12), Role.INPUT), "x"), gap(60), named(step, "step"))
    >>> joined(row, ("x", "step"))

After chalk, https://github.com/chalk-diagrams/chalk, whose envelopes may be of any form.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import zip_longest

from lab.records import cached_property
from visual.scene.shapes import Arrow, Box, Group, Polyline, Scene, Shape, Text, moved
from visual.scene.theme import THEMES, Role

ASCENT, DESCENT = 0.94, 0.24  # of DejaVu, in em: a letter with an accent, and one with a tail
Name = str


@dataclass(frozen=True)
class Envelope:
    """A rectangle; an empty picture has one without extent."""

    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0

    @property
    def width(self) -> float:
        """How wide it is."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """How high it is."""
        return self.bottom - self.top

    def place(self, across: float, down: float) -> tuple[float, float]:
        """A point of it, from (0, 0) in the upper left corner to (1, 1) in the lower right one."""
        return self.left + across * self.width, self.top + down * self.height

    def moved(self, right: float, down: float) -> "Envelope":
        """The same rectangle elsewhere."""
        return Envelope(self.left + right, self.top + down, self.right + right, self.bottom + down)

    def padded(self, across: float, down: float) -> "Envelope":
        """With room on all sides."""
        return Envelope(
            self.left - across, self.top - down, self.right + across, self.bottom + down
        )

    def meets(self, other: "Envelope") -> bool:
        """Whether both have more than an edge in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def around(self, other: "Envelope") -> "Envelope":
        """The smallest rectangle that holds both."""
        return Envelope(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )


@dataclass(frozen=True)
class Piece:
    """Shapes, the rectangle that they take up, and the parts of it that have a name.

    `placed` are shapes and how far they are moved right and down: what is put together again and
    again is moved once, when its `shapes` are asked for.
    """

    placed: tuple[tuple[float, float, tuple[Shape, ...]], ...] = ()
    envelope: Envelope = Envelope()
    anchors: Mapping[Name, Envelope] = field(default_factory=dict)

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes where they are."""
        return tuple(moved(shape, x, y) for x, y, shapes in self.placed for shape in shapes)


def envelope_of(shape: Shape) -> Envelope:
    """The rectangle that a shape takes up, the width of its line excepted."""
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
    """Shapes where they are."""
    return Piece(((0.0, 0.0, shapes),), envelope_of(Group(shapes)))


def gap(width: float = 0.0, height: float = 0.0) -> Piece:
    """Nothing, which takes up room."""
    return Piece(envelope=Envelope(0.0, 0.0, width, height))


def sized(width: float, height: float, *shapes: Shape) -> Piece:
    """Shapes that are known to keep to a rectangle, which is taken up whatever they are."""
    return replace(gap(width, height), placed=((0.0, 0.0, shapes),))


def words(content: str, size: float, **look: object) -> Piece:
    """A line of text, with the room that every line of its size takes up."""
    return piece(Text(0.0, ASCENT * size, content, size, **look))  # type: ignore[arg-type]


def shifted(part: Piece, right: float, down: float) -> Piece:
    """The same picture elsewhere."""
    return Piece(
        tuple((x + right, y + down, shapes) for x, y, shapes in part.placed),
        part.envelope.moved(right, down),
        {name: found.moved(right, down) for name, found in part.anchors.items()},
    )


def over(*parts: Piece) -> Piece:
    """Pictures where they are, each drawn over those before it."""
    if not parts:
        return Piece()
    return Piece(
        tuple(placed for part in parts for placed in part.placed),
        reduce(Envelope.around, (part.envelope for part in parts)),
        {name: found for part in parts for name, found in part.anchors.items()},
    )


def beside(*parts: Piece, apart: float = 0.0, align: float = 0.0) -> Piece:
    """From left to right; `align`: 0 for upper edges in a line, ½ for middles, 1 for lower ones."""
    return _in_a_row(parts, apart, align, across=True)


def above(*parts: Piece, apart: float = 0.0, align: float = 0.0) -> Piece:
    """From top to bottom; `align`: 0 for left edges in a line, ½ for middles, 1 for right ones."""
    return _in_a_row(parts, apart, align, across=False)


def _in_a_row(parts: Sequence[Piece], apart: float, align: float, across: bool) -> Piece:
    placed: list[Piece] = []
    for part in parts:
        if placed:
            before, here = placed[-1].envelope, part.envelope
            (x0, y0), (x1, y1) = before.place(align, align), here.place(align, align)
            if across:
                part = shifted(part, before.right + apart - here.left, y0 - y1)
            else:
                part = shifted(part, x0 - x1, before.bottom + apart - here.top)
        placed.append(part)
    return over(*placed)


def padded(part: Piece, across: float, down: float | None = None) -> Piece:
    """With room on all sides; `down` is that above and below, as much as `across` by default."""
    room = part.envelope.padded(across, across if down is None else down)
    return replace(part, envelope=room)


def cropped(part: Piece, left: float) -> Piece:
    """Without so much of the room at its left."""
    room = replace(part.envelope, left=part.envelope.left + left)
    return shifted(replace(part, envelope=room), -left, 0)


def framed(part: Piece, role: Role, padding: float = 8.0) -> Piece:
    """In a box in a role."""
    room = part.envelope.padded(padding, padding)
    box = Box(room.left, room.top, room.width, room.height, role)
    return replace(part, placed=((0.0, 0.0, (box,)), *part.placed), envelope=room)


def grouped(part: Piece, group: Group) -> Piece:
    """In a group with the moment, the cell and the tooltip of another."""
    return replace(part, placed=((0.0, 0.0, (replace(group, shapes=part.shapes),)),))


def columns(rows: Iterable[Sequence[Piece]], across: float = 0.0, down: float = 0.0) -> Piece:
    """A table: columns as wide as their widest piece, rows as high as their highest."""
    table = [[shifted(p, -p.envelope.left, -p.envelope.top) for p in row] for row in rows]
    upright = zip_longest(*table, fillvalue=Piece())
    widths = [max(part.envelope.width for part in column) for column in upright]
    lines = (beside(*map(over, map(gap, widths), row), apart=across) for row in table)
    return above(*lines, apart=down)


def named(part: Piece, name: Name) -> Piece:
    """With a name, by which `joined` finds it."""
    return replace(part, anchors={**part.anchors, name: part.envelope})


def joined(
    part: Piece,
    *pairs: tuple[Name, Name],
    leave: tuple[float, float] = (1.0, 0.5),
    arrive: tuple[float, float] = (0.0, 0.5),
) -> Piece:
    """With an arrow from one named part to another for every pair; it leaves and arrives level.

    `leave` and `arrive` are points of the two, from (0, 0) in the upper left corner to (1, 1).
    Raises KeyError for a name that no part has.
    """
    arrows = []
    for start, end in pairs:
        (x0, y0), (x1, y1) = part.anchors[start].place(*leave), part.anchors[end].place(*arrive)
        first, middle, last = x0 + 2, (x0 + x1) / 2, x1 - 3
        curve = ((first, y0), (middle, y0), (middle, y1), (last, y1))
        arrows.append(Arrow(curve if y0 != y1 else (curve[0], curve[3])))
    return over(part, piece(*arrows)) if arrows else part


def scene(
    part: Piece, title: str, description: str, theme: str = "light", margin: float = 24.0
) -> Scene:
    """The whole picture, with a margin on all sides."""
    placed = shifted(part, margin - part.envelope.left, margin - part.envelope.top)
    room = placed.envelope.padded(margin, margin)
    return Scene(room.width, room.height, placed.shapes, title, description, THEMES[theme])
