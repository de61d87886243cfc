"""The frames of a sum: its lines, its factors, and the sum in its slot."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from visual.pictures.machine.arrange import CHIP, Arrangement, Point
from visual.pictures.machine.content import Part, PartKind
from visual.pictures.machine.foot import Stage
from visual.pictures.machine.tracks import Track, divided, factor_size, factor_text
from visual.pictures.machine.wording import bracketed
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Shape, Text, fitted, walk
from visual.scene.shapes import Group as Shapes
from visual.scene.theme import Role

Frame = dict[str, Shape]


def clear_names(shapes: Frame, pill: Shape) -> None:
    """Remove the names of cells that a factor would cover."""
    box = next(shape for shape in walk([pill]) if isinstance(shape, Box))
    for key, cell in shapes.items():
        if key.startswith("cell ") and isinstance(cell, Shapes):
            kept = tuple(s for s in cell.shapes if not (isinstance(s, Text) and _covers(box, s)))
            shapes[key] = replace(cell, shapes=kept)


def _covers(box: Box, name: Text) -> bool:
    across = box.x < name.left + name.width and name.left < box.x + box.width
    return name.muted and across and box.y < name.y and name.y - name.size < box.y + box.height


def moves(arrangement: Arrangement, part: Part, tracks: Sequence[Track], name: str) -> Frame:
    """Return the lines and factors of a part, factors above all lines."""
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
    """Return whether a group contains values that a film carries along their lines."""
    inside = shape.shapes if isinstance(shape, Shapes) else ()
    return any(isinstance(inner, Shapes) and inner.path for inner in inside)


def during(travel: Shapes, start: int, until: int) -> Iterator[Shapes]:
    """Yield the values of a travel, one after the other between the moments `start` and `until`."""
    share = (until - start) / len(travel.shapes)
    for n, value in enumerate(travel.shapes):
        first = start + share * n
        assert isinstance(value, Shapes)
        yield replace(value, step=first, until=first + share)


def travels(part: Part, tracks: Sequence[Track], name: str) -> Frame:
    """Return the values of a part, which travel to their factors and arrive as products."""
    result: Frame = {}
    for n, (term, way) in enumerate(zip(part.terms, tracks, strict=True)):
        if part.kind is not PartKind.SUM or not term.value:
            continue
        product = term.product or term.value
        pills = [(way.points, term.value, Role.PRESERVED)]
        if way.chip is not None and term.factor:
            before, after = divided(way.points, way.turn)
            pills = [(before, term.value, Role.PRESERVED), (after, product, Role.OVERWRITTEN)]
        values = (Shapes((*_pill(p[0], text, 13, role),), path=p) for p, text, role in pills)
        result[f"travel {name} {n}"] = Shapes(tuple(values))
    return result


def adder(arrangement: Arrangement, part: Part, stage: Stage) -> Shapes | None:
    """Return the sum in its slot: its parts below each other, then their sum.

    None if the cell shows it: before the sum, if the terms are 0, or if the cell is too low.
    """
    place = arrangement.boxes[part.target]
    size = 13 if arrangement.is_tall else 11
    products = [term.product or term.value for term in part.terms]
    summands = [*([part.old] if part.adds and part.old not in ("", "0") else []), *products]
    is_array = any(text.startswith("‖") for text in summands)  # norms do not add up
    is_shown = part.kind is PartKind.SUM and len(summands) > 1 and stage is not Stage.READ
    if not is_shown or is_array or all(product in ("", "0") for product in products):
        return None
    line, high = size + 2, max(place.height, (size + 2) * len(summands) + 6)
    wide = max(place.width, *(text_width(text, size, bold=True) + 26 for text in summands))
    above = " + ".join(bracketed(text) if n else text for n, text in enumerate(summands))
    if stage is Stage.REST:
        wide = max(place.width, text_width(above, 11) + 8)
        gap = arrangement.pitch - place.width
        if not arrangement.is_tall or arrangement.is_down or wide > place.width + 0.25 * gap:
            return None
    left = min(max(place.x - wide / 2, 1), arrangement.width - wide - 1)
    inside: list[Shape] = [Box(left, place.top, wide, high, Role.OVERWRITTEN)]
    if stage is Stage.ADD:
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
            fitted(place.x, place.top + 12, above, wide - 6, 11, "middle", role=Role.OVERWRITTEN)
        )
        inside.append(
            Text(place.x, y, part.new, size + 2, "middle", bold=True, role=Role.OVERWRITTEN)
        )
    return Shapes(tuple(inside))


def _pill(center: Point, text: str, size: float, role: Role) -> Iterator[Shape]:
    wide = text_width(text, size, bold=True) + 8
    yield Box(center[0] - wide / 2, center[1] - CHIP / 2, wide, CHIP, role)
    yield Text(center[0], center[1] + 0.36 * size, text, size, "middle", bold=True, role=role)
