"""What multiplies a gradient along an arrow, as ∂x₄/∂x₃ = 2·x₃ = 1.327, and where it is told."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import dist

from lab.equations.factors import ONE
from lab.equations.sentences import StepOf
from lab.notation import Term, number_text
from lab.traces.trace import TapeTrace, Trace
from visual.layout.canvas import HEIGHT
from visual.layout.detours import Point, meets
from visual.layout.names import NamedScan
from visual.pictures.unrolled.graph import Unrolling
from visual.scene.combinators import Envelope, envelope_of
from visual.scene.shapes import Arrow, Box, Polyline, Shape, Text, text_width
from visual.scene.theme import Role

SIZE, LINE, NEAR = 11.0, 13.0, 3.0  # letters, their lines, and how near other things may come
STEPS = 12  # of a curve
SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)  # of the way, where a label may stand


@dataclass(frozen=True)
class Factor:
    """The local derivative of one quantity by another: its name, its formula, its number.

    Of arrays the formula tells what becomes of ▢, and there is no number.
    """

    name: str
    formula: str
    number: float | None

    @property
    def title(self) -> str:
        """All of it."""
        parts = (self.name, self.formula, "" if self.number is None else number_text(self.number))
        return " = ".join(dict.fromkeys(part for part in parts if part))


def factor_along(trace: Trace, graph: Unrolling, edge: tuple[int, int]) -> Factor | None:
    """The factor of an arrow on which a gradient goes; None where there is none, or it is 1."""
    told, numbers, terms = list[str](), list[float | None](), list[Term | None]()
    for made, read in graph.uses.get(edge, ()):
        write = graph.flow.writes[made]
        one = StepOf(NamedScan(trace, made.scan), write.step)
        leaf = write.leaves[write.sources.index(read)]
        if one.named.parent is None or not one.is_held(leaf):
            return None
        arrival = one.arrival(write.formula, leaf)
        terms.append(arrival.factor)
        numbers.append(arrival.number)
        told.append(one.factor(arrival) or one.becomes(write.formula, leaf))
    if not told or terms == [ONE]:
        return None
    known = [number for number in numbers if number is not None]
    number = sum(known) if len(known) == len(numbers) else None
    return Factor(_name(trace, graph, edge), " + ".join(told), number)


def _name(trace: Trace, graph: Unrolling, edge: tuple[int, int]) -> str:
    """``∂x₄/∂x₃``: of what the gradients at the two ends of an arrow belong to."""
    above, below = (_differentiated(trace, graph, node) for node in edge)
    return f"∂{above}/∂{below}" if above and below else ""


def _differentiated(trace: Trace, graph: Unrolling, number: int) -> str:
    """What the gradient in a node is a gradient by."""
    node = graph.nodes[number]
    named = NamedScan(trace, node.place.scan)
    tape = next((t for t in named.scan.held if t.argument == node.place.argument), None)
    if not isinstance(tape, TapeTrace) or tape.gradient_of is None or named.parent is None:
        return ""
    name = named.parent.quantity_name(tape.gradient_of, node.index)
    return f"({name})" if "/" in name else name


def labels(
    arrows: Sequence[Arrow], factors: Sequence[Factor | None], boxes: Iterable[Envelope]
) -> list[tuple[Shape, ...]]:
    """What is told of the factor on each arrow, where it meets no box and no other arrow.

    With its name if there is room, or else its number alone; where there is room for neither,
    nothing.  A label on its arrow, and not beside it, stands on a ground of its own.
    """
    ways, taken = [_Way.of(arrow) for arrow in arrows], [*boxes]

    def is_free(room: Envelope, own: _Way) -> bool:
        box = Box(room.left, room.top, room.width, room.height, Role.PANEL)
        return not any(map(room.meets, taken)) and not any(
            room.meets(way.room) and any(meets(*piece, box) for piece in way.pieces)
            for way in ways
            if way is not own
        )

    found = list[tuple[Shape, ...]]()
    for way, factor in zip(ways, factors, strict=True):
        tried = () if factor is None else _candidates(way, factor)
        room, shapes = next((c for c in tried if is_free(c[0].padded(NEAR, 1), way)), (None, ()))
        taken += [] if room is None else [room]
        found.append(shapes)
    return found


@dataclass(frozen=True)
class _Way:
    """The straight pieces of an arrow, and the rectangle around them."""

    pieces: tuple[tuple[Point, Point], ...]
    room: Envelope

    @classmethod
    def of(cls, arrow: Arrow) -> "_Way":
        points = arrow.points
        if arrow.is_curve:
            points = tuple(_on_curve(points, n / STEPS) for n in range(STEPS + 1))
        return cls(tuple(pairwise(points)), envelope_of(Polyline(points)))

    def at(self, share: float) -> tuple[Point, Point]:
        """A point so far along the way, and the piece that it is on, as how far it goes."""
        rest = share * sum(dist(*piece) for piece in self.pieces)
        for (x0, y0), (x1, y1) in self.pieces:
            length = dist((x0, y0), (x1, y1))
            if rest <= length and length:
                part = rest / length
                return (x0 + part * (x1 - x0), y0 + part * (y1 - y0)), (x1 - x0, y1 - y0)
            rest -= length
        return self.pieces[-1][1], (1.0, 0.0)


def _on_curve(points: Sequence[Point], t: float) -> Point:
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    x, y = (sum(w * p[i] for w, p in zip(weights, points, strict=True)) for i in (0, 1))
    return x, y


def _candidates(way: _Way, factor: Factor) -> Iterator[tuple[Envelope, tuple[Shape, ...]]]:
    """Labels for an arrow, the best first, each with the room that it takes."""
    number = "" if factor.number is None else number_text(factor.number)
    both = [part for part in (factor.name, number) if part]
    forms = {(" = ".join(both),): None, tuple(both): None, (number or factor.name,): None}
    for lines, share in product(forms, SHARES):
        wide, high = max(text_width(line, SIZE) for line in lines), LINE * len(lines)
        (x, y), (across, down) = way.at(share)
        out = high / 2 + 4
        if 4 * abs(down) < abs(across):  # above the arrow, below it, around it, below the boxes
            if len(lines) == 2:
                yield _label(lines, x, y, wide, factor, apart=5)
            shifts = [(0.0, -out), (0.0, out)]
            shifts += [(0.0, HEIGHT / 2 + out)] if len(way.pieces) == 1 else []
        elif abs(down) > 4 * abs(across):
            shifts = [(wide / 2 + 5, 0.0), (-wide / 2 - 5, 0.0)]
        else:
            shifts = []
        for right, lower in shifts:
            yield _label(lines, x + right, y + lower, wide, factor)
        if len(lines) == 1:
            room, shapes = _label(lines, x, y, wide, factor)
            ground = room.padded(NEAR, 0)
            box = Box(ground.left, ground.top, ground.width, ground.height, Role.PANEL)
            yield ground, (box, *shapes)


def _label(
    lines: Sequence[str], x: float, y: float, wide: float, factor: Factor, apart: float = 0.0
) -> tuple[Envelope, tuple[Shape, ...]]:
    """Lines around a point, the first two so far `apart`."""
    top = y - (LINE * len(lines) + apart) / 2
    room = Envelope(x - wide / 2, top, x + wide / 2, 2 * y - top)
    baselines = (top + n * (LINE + apart) + 0.8 * LINE for n in range(len(lines)))
    return room, tuple(
        Text(x, baseline, line, SIZE, "middle", title=factor.title)
        for line, baseline in zip(lines, baselines, strict=True)
    )
