"""The shapes of a frame: cells, and the lines, factors, and numbers of the present sum."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from visual.pictures.machine.arrange import CHIP, ENTRY, Arrangement, CellBox, Point
from visual.pictures.machine.content import LISTED, Key, Part, PartKind, key_at
from visual.pictures.machine.states import ADDED, COLORED, MOVED, Moment
from visual.pictures.machine.tracks import Track, factor_size, factor_text, split_line
from visual.pictures.machine.wording import parenthesize
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Polyline, Shape, Text, fitted, outline, walk
from visual.scene.shapes import Group as Shapes
from visual.scene.theme import Role

Frame = dict[str, Shape]
NEW = ("result", "written")  # roles with a heavy border
ROLES = {
    "overwritten": Role.OVERWRITTEN,
    "preserved": Role.PRESERVED,
    "restored": Role.PRESERVED,
    "saved": Role.READ,
    "read": Role.READ,
    "pending": Role.WAITING,
    "empty": Role.WAITING,
}


def clear_names(shapes: Frame) -> None:
    """Remove the names of cells that a factor or a line from a saved value would cover."""
    covers = [*_covers_of(shapes)]
    for key, cell in shapes.items():
        if key.startswith("cell ") and isinstance(cell, Shapes):
            uncovered = tuple(
                s
                for s in cell.shapes
                if not (isinstance(s, Text) and any(_covers(box, s) for box in covers))
            )
            shapes[key] = replace(cell, shapes=uncovered)


def _covers_of(shapes: Frame) -> Iterator[Box]:
    """Yield the boxes of factors, and a box for each piece of a line from a saved value."""
    for shape in walk(shape for key, shape in shapes.items() if key.startswith(("pill ", "move "))):
        if isinstance(shape, Box):
            yield shape
        elif isinstance(shape, Arrow) and shape.saved:
            for (x0, y0), (x1, y1) in pairwise(shape.points):
                yield Box(min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0), Role.READ)


def _covers(box: Box, name: Text) -> bool:
    across = box.x < name.left + name.width and name.left < box.x + box.width
    return name.muted and across and box.y < name.y and name.y - name.size < box.y + box.height


def moves(arrangement: Arrangement, part: Part, tracks: Sequence[Track], name: str) -> Frame:
    """Return the shapes of the lines of a part, and of the factors on the lines."""
    shapes: Frame = {}
    if part.kind is PartKind.RESTORED:
        return shapes
    size = factor_size(arrangement)
    for n, (term, way) in enumerate(zip(part.terms, tracks, strict=True)):
        lines = [Arrow(line, saved=True, straight=True) for line in way.drops]
        lines.append(Arrow(way.points, accent=True, straight=True))
        shapes[f"move {name} {n}"] = Shapes(tuple(lines))
        if way.chip is not None and (term.factor or term.symbol):
            pill = _pill(way.chip, factor_text(term), size, Role.READ)
            shapes[f"pill {name} {n}"] = Shapes(tuple(pill))
    return shapes


def is_travel(shape: Shape | None) -> bool:
    """Return whether a shape is a group of values that a film moves along lines."""
    inside = shape.shapes if isinstance(shape, Shapes) else ()
    return any(isinstance(inner, Shapes) and inner.path for inner in inside)


def timed_values(travel: Shapes, start: int, until: int) -> Iterator[Shapes]:
    """Yield the moving values one after the other, between the frames `start` and `until`."""
    share = (until - start) / len(travel.shapes)
    for n, value in enumerate(travel.shapes):
        first = start + share * n
        assert isinstance(value, Shapes)
        yield replace(value, step=first, until=first + share)


def travels(part: Part, tracks: Sequence[Track], name: str) -> Frame:
    """Return the moving values of a part. A value that passes its factor becomes the product."""
    result: Frame = {}
    for n, (term, way) in enumerate(zip(part.terms, tracks, strict=True)):
        if part.kind is not PartKind.SUM or not term.value:
            continue
        product = term.product or term.value
        pills = [(way.points, term.value, Role.PRESERVED)]
        if way.chip is not None and term.factor:
            before, after = split_line(way.points, way.turn)
            pills = [(before, term.value, Role.PRESERVED), (after, product, Role.OVERWRITTEN)]
        values = (Shapes((*_pill(p[0], text, 13, role),), path=p) for p, text, role in pills)
        result[f"travel {name} {n}"] = Shapes(tuple(values))
    return result


def adder(arrangement: Arrangement, part: Part, share: float) -> Shapes | None:
    """Return the shapes of an addition in its slot: the summands, and from `ADDED` on the equation.

    The result is None if the cell shows only its number: before `MOVED`, if nothing is added, or if
    the cell has no space for the equation.
    """
    place = arrangement.boxes[part.target]
    size = 13 if arrangement.is_tall else 11
    summands = [part.old, *(term.product or term.value for term in part.terms)]
    if not part.is_addition or share < MOVED:
        return None
    line, high = size + 2, max(place.height, (size + 2) * len(summands) + 6)
    wide = max(place.width, *(text_width(text, size, bold=True) + 26 for text in summands))
    equation = " + ".join(parenthesize(text) if n else text for n, text in enumerate(summands))
    if share >= ADDED:
        wide = max(place.width, text_width(equation, 11) + 8)
        gap = arrangement.pitch - place.width
        if not arrangement.is_tall or wide > place.width + 0.25 * gap:
            return None
    left = min(max(place.x - wide / 2, 1), arrangement.width - wide - 1)
    inside: list[Shape] = [Box(left, place.top, wide, high, Role.OVERWRITTEN)]
    if share < ADDED:
        for n, text in enumerate(summands):
            y = place.top + 3 + line * (n + 0.8)
            if n:
                inside.append(Text(left + 6, y, "+", size, bold=True, role=Role.OVERWRITTEN))
            inside.append(
                Text(left + wide - 7, y, text, size, "end", bold=True, role=Role.OVERWRITTEN)
            )
    else:
        y = place.top + high - (high - 14) / 2 + size * 0.42
        inside.append(
            fitted(place.x, place.top + 12, equation, wide - 6, 11, "middle", role=Role.OVERWRITTEN)
        )
        inside.append(
            Text(place.x, y, part.new, size + 2, "middle", bold=True, role=Role.OVERWRITTEN)
        )
    return Shapes(tuple(inside))


def _pill(center: Point, text: str, size: float, role: Role) -> Iterator[Shape]:
    wide = text_width(text, size, bold=True) + 8
    yield Box(center[0] - wide / 2, center[1] - CHIP / 2, wide, CHIP, role)
    yield Text(center[0], center[1] + 0.36 * size, text, size, "middle", bold=True, role=role)


def _numbers(place: CellBox, key: Key, role: Role) -> Iterator[Shape]:
    """Yield the number of a cell, the numbers of a short array, or a strip of bars."""
    count = len(key.entries)
    widest = max((text_width(number, 11, bold=True) for number in key.entries), default=0.0)
    if 1 < count <= LISTED and widest <= place.width - 4:
        for n, number in enumerate(key.entries):
            y = place.y + ENTRY * (n - (count - 1) / 2) + 4
            yield fitted(place.x, y, number, place.width - 4, 11, "middle", bold=True, role=role)
        return
    if count:
        yield from _strip(place, key.entries)
        return
    middle, room = place.y + 0.36 * place.letters, place.width - 4
    yield fitted(place.x, middle, key.text, room, place.letters, "middle", bold=True, role=role)


def _strip(place: CellBox, entries: Sequence[str]) -> Iterator[Shape]:
    """Yield a bar for each number, upward or downward from the middle of the cell."""
    values = [float(number) for number in entries]
    largest = max((abs(v) for v in values if np.isfinite(v)), default=0.0) or 1.0
    apart = (place.width - 8) / len(values)
    for n, value in enumerate(values):
        x = place.left + 4 + apart * (n + 0.5)
        high = (place.height / 2 - 3) * max(
            -1.0, min(1.0, value / largest if value == value else 0)
        )
        yield Polyline(((x, place.y), (x, place.y - high)))


def cells(arrangement: Arrangement, moment: Moment) -> Frame:
    """Return the shapes of all cells at a moment."""
    machine, shapes = arrangement.machine, Frame()
    few, open_scan = len(machine.scans) < 3, moment.event and moment.event.scan
    places = zip(machine.cells, arrangement.states, arrangement.boxes, strict=True)
    for number, (cell, keys, place) in enumerate(places):
        key = key_at(keys, moment.p)
        role = key.role
        is_near = few or machine.rows[cell.row].scan == open_scan
        named = arrangement.is_tall or is_near or role in COLORED
        is_wrong = cell.wrong_from is not None and cell.wrong_from <= moment.p
        look = Role.WRONG if is_wrong else ROLES.get(role, Role.INTERMEDIATE)
        box = Box(place.left, place.top, place.width, place.height, look)
        inside: list[Shape] = [box]
        if role in NEW:
            inside.append(
                outline(place.left + 1.5, place.top + 1.5, place.width - 3, place.height - 3)
            )
        if cell.has_seed and role != "empty":
            size = 6 if key.entries else 8  # numbers of an array reach into the corner
            corner = (
                (place.left + 1, place.top + 1 + size),
                (place.left + 1, place.top + 1),
                (place.left + 1 + size, place.top + 1),
            )
            inside.append(Polyline((*corner, corner[0])))
        if role == "restored":
            inside.append(Text(place.right - 3, place.top + 11, "↺", 11, "end", role=box.role))
        inside += _numbers(place, key, box.role)
        if named and place.label:
            inside.append(Text(place.x, place.top - 4, place.label, 11, "middle", muted=True))
        title = f"{cell.name} = {key.full}" if key.full else f"{cell.name}: empty"
        shapes[f"cell {number}"] = Shapes(tuple(inside), title=title)
    return shapes
