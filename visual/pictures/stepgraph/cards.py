"""The pieces that a step graph is drawn of: boxes with values, curves, a key."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.notation import number_text
from lab.records import cached_property
from visual.layout.cells import (
    SEGMENTS,
    full_text,
    is_told,
    strip,
    value_text,
    values_text,
)
from visual.layout.graphviz import Edge, Layout
from visual.scene.shapes import Arrow, Box, Group, Shape, Text, fitted, shortened, text_width
from visual.scene.theme import Role

SIGN, LABEL, VALUE, CAPTION = 17, 12.5, 12, 11
LINE, ABOVE = 17, 15
NARROWEST, WIDE = 58, 190  # a card
IN_A_COLUMN, READ = 96, 232  # its greatest width in a figure for a paper, and on a screen
STRIP = 20
DIGITS, LONG = 4, "-0.01234, "  # of a number, and in a vector


@dataclass(frozen=True)
class Entry:
    """A line of the key: a role, and what it stands for in this picture."""

    role: Role
    words: str


@dataclass(frozen=True)
class Card:
    """A box with a name and a value, and a caption above (or below) it, or within.

    `strips` tells whether arrays are shown as colours.  A sum whose parts cancel has fewer `digits`
    left, and says so.  With a `formula` it stands in the place of the name, and the same in
    `numbers`, if there are any, in the place of the value; both are lines.  `title` is the whole.
    """

    role: Role
    label: str
    value: np.ndarray | None
    caption: str = ""
    below: bool = False
    title: str = ""
    strips: bool = True
    widest: float = WIDE
    digits: int = DIGITS
    formula: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    within: bool = False

    @cached_property
    def shows_strip(self) -> bool:
        """Whether there is an array, and room for its colours."""
        return self.strips and segments(self.value) > 0 and not self.tells

    @cached_property
    def tells(self) -> bool:
        """Whether a short vector has its numbers, for which there is room whatever they are."""
        if self.value is None or not self.within or not is_told(self.value):
            return False
        return 14 + text_width(LONG * len(self.value), VALUE, mono=True) <= self.widest

    @cached_property
    def value_line(self) -> str:
        """The value in a line."""
        if self.value is None:
            return ""
        if self.value.ndim == 0:
            if self.digits == DIGITS:
                return number_text(self.value)
            return f"≈ {number_text(self.value, self.digits)}: its parts cancel"
        if self.tells:
            return values_text(self.value)
        return f"{value_text(self.value)} {'×'.join(map(str, self.value.shape))}"

    @cached_property
    def box_width(self) -> float:
        """The width of the box."""
        label = 0 if self.formula else text_width(self.label, LABEL, bold=True)
        lines = (self.value_line, *self.formula, *self.numbers)
        value = max(text_width(line, VALUE, mono=True) for line in lines)
        told = text_width(self.caption, CAPTION) if self.within else 0
        return min(max(label + 16, value + 14, told + 14, NARROWEST), self.widest)

    @cached_property
    def width(self) -> float:
        """The width of the box with its caption."""
        told = 0 if self.within else text_width(self.caption, CAPTION)
        return max(self.box_width, min(told, self.widest))

    @property
    def words(self) -> str:
        """All that stands in it."""
        lines = (*self.formula, *self.numbers) if self.formula else (self.label,)
        return "\n".join(lines if self.numbers else (*lines, self.value_line))

    @property
    def box_height(self) -> float:
        """The height of the box."""
        lines = len(self.formula or " ") + (len(self.numbers) or bool(self.value_line))
        return 9 + LINE * lines + (STRIP if self.shows_strip else 0) + self.told

    @property
    def told(self) -> float:
        """The height of a caption within the box."""
        return ABOVE if self.caption and self.within else 0

    @property
    def height(self) -> float:
        """The height of the box with its caption."""
        return self.box_height + (ABOVE if self.caption and not self.within else 0)

    def box(self, x: float, y: float) -> Box:
        """The box of the card with its upper left corner at a place."""
        top = y + (ABOVE if self.caption and not self.below and not self.within else 0)
        left = x + (self.width - self.box_width) / 2
        return Box(left, top, self.box_width, self.box_height, self.role)

    def shapes(self, x: float, y: float, key: str) -> list[Shape]:
        """The card with its upper left corner at a place."""
        box = self.box(x, y)
        middle, top = x + self.width / 2, box.y + self.told
        shapes: list[Shape] = []
        inside: list[Shape] = [box]
        last = box.y + self.box_height - 8
        if self.formula:
            inside += _lines(box, top + 17, self.formula, bold=True, title=self.title)
        else:
            label = shortened(self.label, self.box_width - 10, LABEL, bold=True)
            size = SIGN if len(label) == 1 and not label.isalnum() else LABEL
            inside.append(Text(middle, top + 17, label, size, "middle", bold=True, role=self.role))
        if self.shows_strip and self.value is not None:
            down = LINE * len(self.formula or " ")
            room = Box(box.x + 4, top + down, box.width - 8, STRIP + 24, self.role)
            inside += strip(room, self.value, 0)
        if self.numbers:
            inside += _lines(box, last - LINE * (len(self.numbers) - 1), self.numbers)
        elif self.value_line:
            value = shortened(self.value_line, self.box_width - 6, VALUE, mono=True)
            inside.append(Text(middle, last, value, VALUE, "middle", mono=True, role=self.role))
        if self.caption:
            line = 15 if self.within else self.box_height + 12 if self.below else 10
            above = y + line
            role = self.role if self.within else None
            told = fitted(
                middle,
                above,
                self.caption,
                self.width,
                CAPTION,
                "middle",
                muted=not role,
                role=role,
            )
            (inside if self.within else shapes).append(told)
        title = self.label if self.formula else self.title or self.label
        if self.value is not None:
            title += f" = {full_text(self.value)}"
        return [*shapes, Group(tuple(inside), cell=key, title=title)]


def _lines(
    box: Box, y: float, lines: Sequence[str], bold: bool = False, title: str = ""
) -> Iterator[Shape]:
    """Lines of a formula in a box, from its left edge on; `title` is the whole, if it is cut."""
    title = title if lines[-1].endswith("…") else ""
    for n, line in enumerate(lines):
        x = box.x + 7 + text_width(line[: len(line) - len(line.lstrip())], VALUE, mono=True)
        y_of_line = y + LINE * n
        yield Text(
            x, y_of_line, line.lstrip(), VALUE, mono=True, bold=bold, role=box.role, title=title
        )


def segments(value: np.ndarray | None) -> int:
    """Into how many colours an array is drawn."""
    if value is None or value.ndim == 0 or value.size == 0:
        return 0
    rows = 1 if value.ndim == 1 else value.shape[0]
    return min(rows, SEGMENTS) * min(value.size // rows, SEGMENTS)


def arrows(
    layout: Layout,
    edges: Sequence[Edge],
    boxes: Mapping[str, Box],
    faint: Container[str],
    ordered: Container[str],
    rightwards: bool = False,
) -> list[Arrow]:
    """The curves of a layout, from box to box; of one that is turned `rightwards`, so are they.

    Graphviz lets all of them aim at the middles of boxes; here those that leave through the lower
    edge, or arrive at the upper one, stand side by side there.  Those from `faint` boxes are
    fainter; those into `ordered` ones arrive in the order of the edges.
    """
    if rightwards:
        turned = {
            key: replace(b, x=b.y, y=b.x, width=b.height, height=b.width)
            for key, b in boxes.items()
        }
        found = arrows(layout, edges, turned, faint, ordered)
        return [replace(one, points=tuple((y, x) for x, y in one.points)) for one in found]
    leaving: dict[str, list[int]] = {}
    arriving: dict[str, list[int]] = {}
    for n, (edge, curve) in enumerate(zip(edges, layout.curves, strict=True)):
        if curve[0][1] >= boxes[edge.tail].y + boxes[edge.tail].height - 1:
            leaving.setdefault(edge.tail, []).append(n)
        if curve[-1][1] <= boxes[edge.head].y + 1:
            arriving.setdefault(edge.head, []).append(n)
    starts, ends = dict[int, float](), dict[int, float]()
    for key, numbers in leaving.items():
        aims = sorted(numbers, key=lambda n: layout.curves[n][1][0])
        starts |= _side_by_side(boxes[key], [(n, layout.curves[n][0][0]) for n in aims])
    for key, numbers in arriving.items():
        aims = numbers if key in ordered else sorted(numbers, key=lambda n: layout.curves[n][-2][0])
        ends |= _side_by_side(boxes[key], [(n, layout.curves[n][-1][0]) for n in aims])
    shapes: list[Arrow] = []
    for n, edge in enumerate(edges):
        tail, head, (start, *middle, end) = boxes[edge.tail], boxes[edge.head], layout.curves[n]
        first = starts.get(n, _clamped(start[0], tail.x, tail.width))
        last = ends.get(n, _clamped(end[0], head.x, head.width))
        low = _clamped(end[1], head.y, head.height)
        moved = ((first, _clamped(start[1], tail.y, tail.height)), *middle, (last, low))
        shapes.append(Arrow(moved, faint=edge.tail in faint))
    return shapes


def _side_by_side(box: Box, aims: Sequence[tuple[int, float]]) -> dict[int, float]:
    """Places on an edge of a box, from left to right, as near to what is aimed at as may be."""
    apart = min(14.0, (box.width - 12) / len(aims))
    places: dict[int, float] = {}
    left = box.x + 6
    for later, (number, aim) in zip(range(len(aims) - 1, -1, -1), aims, strict=True):
        most = box.x + box.width - 6 - apart * later
        places[number] = left = min(max(aim, left), most)
        left += apart
    return places


def _clamped(value: float, start: float, length: float) -> float:
    return min(max(value, start), start + length)
