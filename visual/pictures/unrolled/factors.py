"""Local derivatives of the arrows between gradients: ∂x₄/∂x₃ = 2·x₃ = 1.327, and their labels."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from math import dist
from typing import NamedTuple

from lab.equations.events.events import Events
from lab.equations.factors import without_names
from lab.equations.spelling import Speller
from lab.notation import Leaf, leaves_of, number_text, render, summands_of
from lab.traces.trace import Formula, TapeTrace, Trace
from visual.layout.arrows import Point, meets, points_along
from visual.layout.canvas import HEIGHT
from visual.layout.names import NamedScan
from visual.pictures.unrolled.graph import Unrolling
from visual.scene.combinators import Envelope, envelope_of
from visual.scene.shapes import Arrow, Box, Polyline, Shape, Text, text_width
from visual.scene.theme import Role

SIZE, LINE, NEAR = 11.0, 13.0, 3.0  # letters, their lines, and the distance to other shapes
SHARES = (*(0.5, 0.35, 0.65, 0.25, 0.75, 0.43, 0.57), *(0.3, 0.7, 0.2, 0.8))  # for labels


@dataclass(frozen=True)
class Factor:
    """The local derivative of a quantity wrt another: its name, its formula, its number.

    The formula of an array is applied to the gradient ▢ and has no number.
    """

    name: str
    formula: str
    number: float | None

    @property
    def title(self) -> str:
        """The name, the formula, and the number."""
        parts = (self.name, self.formula, "" if self.number is None else number_text(self.number))
        return " = ".join(dict.fromkeys(part for part in parts if part))


def factor_along(run: Events, graph: Unrolling, edge: tuple[int, int]) -> Factor | None:
    """Return the factor of an arrow between gradients, or None if no factor changes a gradient."""
    formulas, numbers = list[str](), list[float | None]()
    for value, read in graph.uses.get(edge, ()):
        write = graph.flow.writes[value]
        named, leaf = NamedScan(run.trace, value.scan), write.leaves[write.sources.index(read)]
        if named.parent is None or named.scan.tape(leaf.argument) is None:
            return None
        target = write.formula.target
        written = run.step(value.scan, write.step).write(target.argument, target.tap)
        term = written.term(leaf.argument, leaf.tap)
        if written.adds_old and leaf == target:
            formulas.append("1")
            numbers.append(1.0)
        elif term is None or term.factor is None:
            name = partial(Speller(named).position, step=write.step)
            formulas.append(_effect(write.formula, leaf, name))
            numbers.append(None)
        else:
            formulas.append(term.symbols)
            numbers.append(None if term.value.ndim else float(term.factor))
    if not formulas or formulas == ["1"]:
        return None
    known = [number for number in numbers if number is not None]
    number = sum(known) if len(known) == len(numbers) else None
    return Factor(_name(run.trace, graph, edge), " + ".join(formulas), number)


def _effect(formula: Formula, read: Leaf, name: Callable[[Leaf], str]) -> str:
    """Return the summands of a formula that read a slot, written as ▢: ``Wᵀ @ ▢``."""
    expression = without_names(formula.expression) or formula.expression
    return " + ".join(
        render(term, lambda leaf: "▢" if leaf == read else name(leaf))
        for term in summands_of(expression)
        if read in leaves_of(term)
    )


def _name(trace: Trace, graph: Unrolling, edge: tuple[int, int]) -> str:
    """Name the local derivative of an arrow, as ``∂x₄/∂x₃``."""
    above, below = (_differentiated(trace, graph, node) for node in edge)
    return f"∂{above}/∂{below}" if above and below else ""


def _differentiated(trace: Trace, graph: Unrolling, number: int) -> str:
    """Return the name of the quantity that the gradient in a node is wrt."""
    node = graph.nodes[number]
    named = NamedScan(trace, node.place.scan)
    tape = next((t for t in named.scan.held if t.argument == node.place.argument), None)
    if not isinstance(tape, TapeTrace) or tape.gradient_of is None or named.parent is None:
        return ""
    name = named.parent.quantity_name(tape.gradient_of, node.index)
    return f"({name})" if "/" in name else name


class Label(NamedTuple):
    """The place and the shapes of a label; `covers` if its background hides its arrow."""

    room: Envelope
    shapes: tuple[Shape, ...]
    covers: bool = False


def labels(
    arrows: Sequence[Arrow],
    factors: Mapping[int, Factor],
    alike: Sequence[Hashable],
    boxes: Iterable[Envelope],
    edge: float,
) -> dict[int, tuple[Shape, ...]]:
    """Return the labels of factors by the numbers of their arrows, where they touch no other shape.

    Labels end at the left of `edge`.  Arrows that are `alike` have their labels at the same place
    if all of these fit.  If a name does not fit, the label shows only the number.  A label on its
    arrow has a background.
    """
    paths = [_Path.of(arrow) for arrow in arrows]
    taken, shapes = [*boxes], dict[int, tuple[Shape, ...]]()

    def is_free(label: Label, own: int) -> bool:
        wide = label.room if label.covers else label.room.padded(NEAR, 1)
        box = Box(wide.left, wide.top, wide.width, wide.height, Role.PANEL)
        return (
            wide.right <= edge
            and not any(map(wide.meets, taken))
            and not any(
                wide.meets(path.room) and any(meets(*piece, box) for piece in path.pieces)
                for number, path in enumerate(paths)
                if number != own
            )
        )

    groups: dict[Hashable, list[int]] = {}
    for number in factors:
        groups.setdefault(alike[number], []).append(number)
    for group in sorted(groups.values(), key=lambda group: len(paths[group[0]].pieces)):
        tried: list[Iterable[Label]] = [_candidates(paths[n], factors[n]) for n in group]
        for same in zip(*tried, strict=False):
            apart = not any(a.room.meets(b.room) for a, b in combinations(same, 2))
            if apart and all(is_free(label, n) for n, label in zip(group, same, strict=True)):
                tried = [[label] for label in same]
                break
        else:
            tried = [_candidates(paths[n], factors[n]) for n in group]
        for number, own in zip(group, tried, strict=True):
            free = next((label for label in own if is_free(label, number)), None)
            if free is not None:
                taken.append(free.room)
                shapes[number] = free.shapes
    return shapes


@dataclass(frozen=True)
class _Path:
    """The straight pieces of an arrow, and the rectangle around them."""

    pieces: tuple[tuple[Point, Point], ...]
    room: Envelope

    @classmethod
    def of(cls, arrow: Arrow) -> "_Path":
        points = tuple(points_along(arrow)) if arrow.is_curve else arrow.points
        return cls(tuple(pairwise(points)), envelope_of(Polyline(points)))

    def at(self, share: float) -> tuple[Point, Point]:
        """Return the point at a share of the length, and the extent of its piece."""
        rest = share * sum(dist(*piece) for piece in self.pieces)
        for (x0, y0), (x1, y1) in self.pieces:
            length = dist((x0, y0), (x1, y1))
            if rest <= length and length:
                part = rest / length
                return (x0 + part * (x1 - x0), y0 + part * (y1 - y0)), (x1 - x0, y1 - y0)
            rest -= length
        return self.pieces[-1][1], (1.0, 0.0)


def _candidates(path: _Path, factor: Factor) -> Iterator[Label]:
    """Yield possible labels of an arrow, the best first."""
    number = "" if factor.number is None else number_text(factor.number)
    both = [part for part in (factor.name, number) if part]
    whole, short = [" = ".join(both)], [number or factor.name]
    (x, y), (across, down) = path.at(0.5)
    if not down:  # around the arrow
        middle = y if len(both) == 2 else y - LINE / 2 - 3
        yield _label(both, x, middle, factor, apart=5)
    if len(path.pieces) == 1 and not down:  # below its two boxes
        yield _label(both, x, y + HEIGHT / 2 + LINE + 3, factor)
    for lines in (whole, short):
        for share in SHARES if lines is short or len(path.pieces) == 1 else SHARES[:1]:
            (x, y), (across, down) = path.at(share)
            wide = max(text_width(line, SIZE) for line in lines)
            if 4 * abs(down) < abs(across) and len(path.pieces) == 1:
                yield _label(lines, x, y - LINE / 2 - 4, factor)
                yield _label(lines, x, y + LINE / 2 + 4, factor)
            elif abs(down) > 4 * abs(across):
                yield _label(lines, x + wide / 2 + 5, y, factor)
                yield _label(lines, x - wide / 2 - 5, y, factor)
            plain = _label(lines, x, y, factor)
            room = plain.room.padded(NEAR, 0)
            ground = Box(room.left, room.top, room.width, room.height, Role.PANEL)
            yield Label(room, (ground, *plain.shapes), True)


def _label(lines: Sequence[str], x: float, y: float, factor: Factor, apart: float = 0.0) -> Label:
    """Return a label with its lines around a point, the first two `apart` pixels apart."""
    wide = max(text_width(line, SIZE) for line in lines)
    top = y - (LINE * len(lines) + apart) / 2
    room = Envelope(x - wide / 2, top, x + wide / 2, 2 * y - top)
    baselines = (top + n * (LINE + apart) + 0.8 * LINE for n in range(len(lines)))
    texts = (
        Text(x, baseline, line, SIZE, "middle", title=factor.title)
        for line, baseline in zip(lines, baselines, strict=True)
    )
    return Label(room, tuple(texts))
