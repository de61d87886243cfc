"""The layout of sums: lines, factors, lines from saved values, additions, and hidden names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, pairwise
from math import dist

from lab.notation import parenthesize
from visual.layout.arrows import Point, meets
from visual.pictures.machine.arrange import NAME, Arrangement, Density
from visual.pictures.machine.content import Movement, Part, PartGroup, PartKind
from visual.scene.combinators import Envelope, envelope_of
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Polyline, Text
from visual.scene.theme import Role

# Other positions of a factor on its line, the middle first.
TURNS = sorted((n / 20 for n in range(1, 20)), key=lambda turn: abs(turn - 0.5))


@dataclass(frozen=True)
class Track:
    """The line of a term, the position of its factor, and lines from saved values to the factor.

    `turn` is the position of the factor as a fraction of the length of the line. The value moves
    `shift` pixels below the line. A line that `is_drawn` is always visible.
    """

    points: tuple[Point, ...]
    chip: Point | None = None
    turn: float = 0.5
    drops: tuple[tuple[Point, ...], ...] = ()
    shift: float = 0.0
    is_drawn: bool = False


@dataclass(frozen=True)
class PartLayout:
    """The track of each term of a part, the hidden names of cells, and the shapes of an addition.

    An addition shows `summands` in its cell, and then `total`: the equation with the sum. If the
    equation does not fit, the cell shows the sum instead.
    """

    tracks: tuple[Track, ...]
    hidden: tuple[int, ...]
    summands: tuple[Box | Text, ...] = ()
    total: tuple[Box | Text, ...] = ()


def part_layouts(arrangement: Arrangement, group: PartGroup) -> list[PartLayout]:
    """Return the layout of each part of a group. Factors do not cover each other.

    A factor is near its line. If possible, it covers no cell, no text on a strip, no row except the
    row of the target, and no name of the source or the target, and lines to it cross no other cell;
    the former conditions have priority. A factor that would cover another factor is not shown.
    """
    factors, boxes = list[Envelope](), arrangement.boxes

    def placed(part: Part, term: Movement) -> Track:
        """Return the track of a term with the best position of its factor, and with its drops."""
        way = track(arrangement, part, term)
        chip = None if term.label and group.hides_factors else way.chip
        if chip is None or not term.label:
            is_rest = part.kind is PartKind.SUM and not term.value  # "… 3 more terms": no lines
            drops = () if chip is None or is_rest else _drops(arrangement, term, chip)
            return replace(way, chip=chip, drops=drops)
        turns = TURNS if term.source not in (None, part.target) else ()
        factor, _ = pill(chip, term.label, arrangement.density, Role.READ)
        span = envelope_of(Polyline((*way.points, chip))).padded(factor.width, factor.height)
        cells, own = [box.area for box in boxes if span.meets(box.area)], boxes[part.target].row
        away = [area for row, area in arrangement.rows.items() if row != own]
        texts = [text for text in arrangement.texts if span.meets(text)]
        names = [arrangement.names[n] for n in (part.target, term.source) if n in arrangement.names]
        others = [box.area for n, box in enumerate(boxes) if n not in term.saved]
        across, down = factor.width / 2 - 1, factor.height / 2 - 1
        # Each rank is less than this rank. Without a position, the factor is not shown.
        best: tuple[list[bool], Envelope | None, Track] = [True] * 6, None, replace(way, chip=None)
        spots = ((turn, split_line(way.points, turn)[0][-1]) for turn in turns)
        for turn, (x, y) in chain([(way.turn, chip)], spots):
            area = Envelope(x, y, x, y).padded(across, down)
            covered = [any(map(area.meets, areas)) for areas in (cells, texts, away, names)]
            if any(map(area.meets, factors)) or covered > best[0]:
                continue
            drops = _drops(arrangement, term, (x, y))
            lines = [Envelope(a, min(b, c), a, max(b, c)) for *_, (a, b), (_, c) in drops]
            lines = [line.padded(-2, -2) for line in lines]  # they can run along an edge
            rank = [*covered, any(any(map(line.meets, others)) for line in lines)]
            if rank < best[0]:
                best = rank, area, replace(way, chip=(x, y), turn=turn, drops=drops)
            if not any(rank):
                break
        _, place, way = best
        if place is not None:
            factors.append(place)
        return way

    ways = [tuple(placed(part, term) for term in part.terms) for part in group.parts]
    return [
        PartLayout(tracks, _hidden(arrangement, part, tracks), *_addition(arrangement, part))
        for part, tracks in zip(group.parts, ways, strict=True)
    ]


def _hidden(sheet: Arrangement, part: Part, tracks: Sequence[Track]) -> tuple[int, ...]:
    """Return the cells whose names are behind a factor or a line."""
    covers, lines = list[Envelope](), list[tuple[Point, Point]]()
    for term, way in zip(part.terms, tracks, strict=True):
        if way.chip is not None and term.label:
            covers.append(envelope_of(pill(way.chip, term.label, sheet.density, Role.READ)[0]))
        lines += chain.from_iterable(map(pairwise, (way.points, *way.drops)))
    corners = Polyline((*chain.from_iterable(lines),) or ((0, 0),))
    near = reduce(Envelope.around, covers, envelope_of(corners)).padded(1, 1)
    return tuple(
        number
        for number, area in sheet.names.items()
        if near.meets(area)
        and (any(map(area.meets, covers)) or any(meets(*line, area) for line in lines))
    )


def _addition(arrangement: Arrangement, part: Part) -> tuple[tuple[Box | Text, ...], ...]:
    """Return the shapes of an addition without and with its sum; empty for other parts.

    In compact rows, more than two summands would cover another row.
    """
    place, is_tall, role = arrangement.boxes[part.target], arrangement.is_tall, Role.OVERWRITTEN
    if not part.is_addition or (len(part.terms) > 1 and not is_tall):
        return (), ()
    texts = [part.old, *(term.product for term in part.terms)]
    size, pad = arrangement.density.factor, 3 if is_tall else 2
    high = max(place.height, (size + 2) * len(texts) + 2 * pad)
    top = place.y - high / 2 if is_tall else place.area.bottom - high

    def box(wide: float) -> Box:
        """Return a box on the sheet that is at least as wide as the cell."""
        wide = max(place.width, wide)
        left = min(max(place.x - wide / 2, 1), arrangement.width - wide - 1)
        return Box(left, top, wide, high, role)

    ground = box(max(text_width(text, size, bold=True) for text in texts) + 26)
    summands: list[Box | Text] = [ground]
    for n, text in enumerate(texts):
        y = top + pad + (size + 2) * (n + 0.8)
        if n:
            summands.append(Text(ground.x + 6, y, "+", size, bold=True, role=role))
        right = ground.x + ground.width - 7
        summands.append(Text(right, y, text, size, "end", bold=True, role=role))
    equation = " + ".join(parenthesize(text) if n else text for n, text in enumerate(texts))
    ground, middle = box(text_width(equation, 11) + 8), top + high / 2 + 7 + size * 0.42
    total = (
        ground,
        Text(place.x, top + 12, equation, 11, "middle", role=role),
        Text(place.x, middle, part.new, size + 2, "middle", bold=True, role=role),
    )
    fits = is_tall and ground.width <= place.width + 0.25 * (arrangement.pitch - place.width)
    return tuple(summands), total if fits else ()


def pill(center: Point, text: str, density: Density, role: Role) -> tuple[Box, Text]:
    """Return a small box around a point, and the text in the box."""
    (x, y), size, high = center, density.factor, density.chip
    wide = text_width(text, size, bold=True) + 8
    box = Box(x - wide / 2, y - high / 2, wide, high, role)
    return box, Text(x, y + 0.36 * size, text, size, "middle", bold=True, role=role)


def split_line(
    points: Sequence[Point], share: float
) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    """Return the two parts of a line. The length of the first part is the fraction `share`."""
    lengths = [dist(a, b) for a, b in pairwise(points)]
    left, n = share * sum(lengths), 1
    while n < len(lengths) and left > lengths[n - 1]:
        left, n = left - lengths[n - 1], n + 1
    (x0, y0), (x1, y1) = points[n - 1], points[n]
    share = left / lengths[n - 1] if lengths[n - 1] else 1.0
    middle = x0 + (x1 - x0) * share, y0 + (y1 - y0) * share
    return (*points[:n], middle), (middle, *points[n:])


def track(sheet: Arrangement, part: Part, term: Movement) -> Track:
    """Return the track of a term, without the lines from saved values."""
    to = sheet.boxes[part.target]
    if part.kind is PartKind.FILL and term.source is None:
        # The line starts above the name of the cell below or, in compact rows, next to the name.
        x, length = to.x, 14.0 if sheet.is_tall else 7.0
        x -= 0 if sheet.is_tall and not to.below else 0.42 * to.width
        return Track(((x, to.area.bottom + length), (x, to.area.bottom)), turn=0.0)
    # The middle of the gap to the next box or, if the gap is not on the sheet, to the previous box.
    scan, points = sheet.machine.scans[sheet.machine.rows[to.row].scan], tuple[Point, ...]()
    apart = -sheet.pitch / 2 if scan.is_backward else sheet.pitch / 2
    side = to.x + (apart if to.width / 2 < to.x + apart < sheet.width - 18 else -apart)
    if term.source in (None, part.target):
        # The line of a value without another cell starts beside the target, or below the target.
        edge, out = (to.area.left, -14) if side < to.x else (to.area.right, 14)
        points = (side, to.y), (edge, to.y)
        if term.source is not None and not term.label:  # the value of the slot itself: a loop
            ahead = edge + out
            points = (edge, to.y - 5), (ahead, to.y - 5), (ahead, to.y + 5), (edge, to.y + 5)
        if sheet.is_cramped:
            low, foot = to.area.bottom + to.below + sheet.density.under, 0.36 if to.below else 0.2
            edge = to.x + (foot if side > to.x else -foot) * to.width
            points = (side, low), (edge, low), (edge, to.area.bottom)
        return Track(points, points[0], 0.3)
    start = sheet.boxes[term.source]
    way, low = 1 if to.column > start.column else -1, start.area.bottom
    apart, is_level = abs(to.column - start.column), start.row == to.row
    if is_level and apart == 1 and sheet.is_cramped and term.factor:  # below the boxes
        foot = start.width * (0.36 if start.below else 0.2)  # next to the position
        first, last = start.x + way * foot, to.x - way * foot
        y, turn = low + start.below + sheet.density.under, 0.5
        points = (first, low), (first, y), (last, y), (last, to.area.bottom)
    elif is_level and apart > 1:  # an arc above the boxes; overlapping arcs have other heights
        first, last = start.x + way * start.width * 0.42, to.x - way * to.width * 0.42
        up = NAME + 3 + sheet.density.lane * (1 + start.column % min(apart, 3))
        turn = (up + abs(to.x - way * sheet.pitch / 2 - first)) / (2 * up + abs(last - first))
        high, top = start.area.top - up, start.area.top
        points = (first, top), (first, high), (last, high), (last, to.area.top)
    elif apart == 0:  # the line passes through the gap at the side
        right, turn = 1 if side > to.x else -1, 0.5
        first, last = start.x + right * start.width / 2, to.x + right * to.width / 2
        points = (first, start.y), (side, start.y), (side, to.y), (last, to.y)
    else:
        first, last = start.x + way * start.width / 2, to.x - way * to.width / 2
        points = (first, start.y), (last, to.y)
        turn = 0.5 if is_level else 0.3 if sheet.is_cramped else 0.4
        between = (box.area for box in sheet.boxes if start.row < box.row < to.row)
        if sheet.is_tall and any(meets(*points, area) for area in between):
            # The line runs below the row of the source, and through the gap beside the target.
            first, x = start.x + way * start.width * 0.42, to.x - way * sheet.pitch / 2
            down = start.below + sheet.density.under + 10 + sheet.density.lane * (start.column % 3)
            points = (first, low), (first, low + down), (x, low + down), (x, to.y), (last, to.y)
            turn = (down + abs(x - first) / 2) / (to.y - low + abs(x - first) + abs(last - x))
    is_drawn = part.kind is not PartKind.FILL and (sheet.is_tall or start.row == to.row)
    # A value starts below its number or its array; above, if its line starts above the middle.
    chip = sheet.density.chip
    shift = (chip + start.height) / 2 if start.entries else chip + 1
    shift = -chip / 2 if points[0][1] < start.y else shift
    return Track(points, split_line(points, turn)[0][-1], turn, shift=shift, is_drawn=is_drawn)


def _drops(sheet: Arrangement, term: Movement, chip: Point) -> tuple[tuple[Point, ...], ...]:
    """Return the lines from saved values to the factor at `chip`, or to `chip` without a factor."""
    drops, reach = list[tuple[Point, ...]](), sheet.density.chip / 2 if term.label else 0.0
    half = text_width(term.label, sheet.density.factor, bold=True) / 2  # of the factor
    for number, box in enumerate(sheet.boxes[n] for n in term.saved):
        aside = (number + 1) // 2 * (5 if number % 2 else -5)
        gap = box.x + sheet.pitch * ((chip[0] - box.x) // sheet.pitch + 0.5)  # between columns
        middle = gap if abs(gap - chip[0]) < half else chip[0]
        x = box.x if abs(box.x - chip[0]) < 1 else middle + aside
        corner = box.x + box.width * 0.42 * (1 if x > box.x else -1)  # next to the name or position
        if chip[1] > box.y:
            first, low = corner if box.below else box.x, box.area.bottom
            y, end = low + box.below + 3 + 3 * number, chip[1] - reach
        else:
            first, low = corner, box.area.top
            y, end = low - NAME - 3 - 3 * number, chip[1] + reach
        drops.append(((first, low), (first, y), (x, y), (x, end)))
    return tuple(drops)
