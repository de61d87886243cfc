"""Arrows between the cells of a table: `route` draws the edges of a row.

An arrow within a line of cells is an arc below or above the cells. An arrow to another line is
straight, or runs through the gap between two columns if the straight arrow meets a cell. The factor
of an edge is a text on its arrow, at a point where it touches no cell, other arrow, or other text.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise, product

import numpy as np

from visual.scene.combinators import Envelope, Piece, envelope_of
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Group, Polyline, Shape, Text, fitted
from visual.scene.theme import Role

Point = tuple[float, float]
Moment = tuple[int | None, str]  # the number and the name of a moment in a run
LETTERS, FINE = 11, 24  # the font size of a label; the number of segments of a curve
DEPTH, NEST, OVER = 14, 3, 24  # sizes of arcs: depth, more depth per faint arc, height
# Tracks between two columns: offset of the first, minimum and maximum distance, minimum number.
FIRST, APART, WIDEST, MOST = 9.0, 3.0, 7.0, 4
ROOM = 60.0  # the maximum width of the space for tracks next to a column
BELOW = 5.0  # the distance between the cells of a line and the first track
SIDES = 0.3, -0.3, 0.17, -0.17, 0.4, -0.4  # offsets from the middle of a side, in cell heights
ASIDE = 0.3  # offset of an end from the middle of a side, as a fraction of the cell width
NEIGHBOR = 30.0  # the maximum distance between two neighboring cells
# The positions of points along a segment or a curve, and the weights of the corners of a curve.
ALONG = np.linspace(0.0, 1.0, FINE + 1)[:, None]
BEZIER = np.hstack(
    [(1 - ALONG) ** 3, 3 * ALONG * (1 - ALONG) ** 2, 3 * ALONG * ALONG * (1 - ALONG), ALONG**3]
)


@dataclass(frozen=True)
class Edge:
    """An arrow between two cells. `source` and `target` are the ids of the cells.

    `labels` are texts for the space below the target, from the longest to the shortest; the picture
    shows the first label that fits. `factor` is a text on the arrow if there is space. An arrow
    within a line is an arc below the cells or, with `over`, above them. With `beside`, the arrow
    connects the sides of the cells that face each other. `plain` and `faint` arrows do not have the
    color of gradients.
    """

    source: Hashable
    target: Hashable
    labels: tuple[str, ...] = ()
    factor: str = ""
    faint: bool = False
    over: bool = False
    beside: bool = False
    plain: bool = False
    title: str = ""
    moment: Moment = (None, "")


def route(
    edges: Iterable[Edge], cells: Mapping[Hashable, Box], detours: "Detours"
) -> Iterator[Shape]:
    """Yield the arrows, labels, and factors of edges between `cells`, which maps ids to boxes."""
    known = {(e.source, e.target): e for e in edges if {e.source, e.target} <= cells.keys()}
    if not known:
        return
    heights = [cells[id].y for pair in known for id in pair]
    obstacles = [box for box in cells.values() if min(heights) <= box.y <= max(heights)]
    ports, nested = _ports(known, cells), count()
    arrows, labels = list[Arrow](), list[Text]()
    for pair, edge in known.items():
        source, target, end_x = cells[edge.source], cells[edge.target], ports[pair]
        if edge.beside:
            levels = sorted({cells[start].y for start, end in known if end == edge.target})
            arrows.append(_beside(edge, source, target, levels))
        elif source.y != target.y:
            arrows.append(_across(edge, source, target, end_x, detours))
        else:
            depth = DEPTH + NEST * next(nested) if edge.faint else DEPTH
            arrows.append(_bow(edge, source, target, end_x, depth))
            labels += _label(edge, target, end_x)
    for edge, arrow in zip(known.values(), arrows, strict=True):
        step, moment = edge.moment
        is_group = edge.title or step is not None
        yield Group((arrow,), step, title=edge.title, moment=moment) if is_group else arrow
    yield from labels
    yield from _factors([*known.values()], arrows, [*obstacles, *labels])


def _ports(
    known: Mapping[tuple[Hashable, Hashable], Edge], cells: Mapping[Hashable, Box]
) -> dict[tuple[Hashable, Hashable], float]:
    """Return the x coordinate of the head of each arrow.

    Heads at the same side of a cell are in the order of their sources, from left to right.
    """
    sides: dict[tuple[Hashable, bool], list[tuple[Hashable, Hashable]]] = {}
    for pair, edge in known.items():
        start, box = cells[edge.source], cells[edge.target]
        is_above = start.y < box.y or (start.y == box.y and edge.over)
        if not (edge.over and _is_next(start, box)):
            sides.setdefault((edge.target, is_above), []).append(pair)
    ports = dict.fromkeys(known, 0.0)
    for (target, _), pairs in sides.items():
        pairs.sort(key=lambda pair: cells[pair[0]].x)
        end, first = cells[target], cells[pairs[0][0]]
        is_alone = all(cells[start].x == end.x for start, _ in pairs) or not pairs[1:]
        for n, pair in enumerate(pairs):
            share = 0.5 if is_alone else 0.5 - ASIDE + 2 * ASIDE * n / (len(pairs) - 1)
            ports[pair] = end.x + end.width * share
        if not pairs[1:] and known[pairs[0]].factor and first.y != end.y:
            ports[pairs[0]] += _aside(end, first)
    return ports


def _aside(box: Box, other: Box) -> float:
    """Return the offset of the end of an arrow from the middle of `box`, away from `other`."""
    return -ASIDE * box.width if other.x > box.x else ASIDE * box.width


def _is_next(source: Box, target: Box) -> bool:
    return source.y == target.y and 0 < target.x - source.x <= source.width + NEIGHBOR


def _bow(edge: Edge, source: Box, target: Box, end_x: float, depth: float) -> Arrow:
    """Return an arc within a line or, for an edge `over` to the next cell, a straight arrow."""
    start_x, y, end_y = source.x + source.width / 2, source.y, source.y - 1
    if edge.over and _is_next(source, target):
        middle = source.y + source.height / 2
        return Arrow(((source.x + source.width, middle), (target.x - 1, middle)))
    if not edge.over:
        y = end_y = source.y + source.height + 2
    along = y - OVER if edge.over else y + depth
    points = (start_x, y), (start_x, along), (end_x, along), (end_x, end_y)
    return Arrow(points, accent=not (edge.over or edge.plain or edge.faint), faint=edge.faint)


def _across(edge: Edge, source: Box, target: Box, end_x: float, detours: "Detours") -> Arrow:
    """Return an arrow to another line."""
    start_x, faint = source.x + source.width / 2, edge.faint or edge.over
    if source.y < target.y:
        straight = (start_x, source.y + source.height), (end_x, target.y - 1)
    else:
        start_x += _aside(source, target) if edge.factor else 0.0
        straight = (start_x, source.y), (end_x, target.y + target.height + 1)
    return detours.arrow(straight, source, target, accent=not (faint or edge.plain), faint=faint)


def _beside(edge: Edge, source: Box, target: Box, heights: Sequence[float]) -> Arrow:
    """Return an arrow between facing sides. `heights` are the y of the sources of the target."""
    way = 1 if source.x < target.x else -1
    x0 = source.x + source.width * (way > 0) + way
    x1 = target.x + target.width * (way < 0) - way
    share = (heights.index(source.y) + 1) / (len(heights) + 1)
    ends = (x0, source.y + source.height / 2), (x1, target.y + target.height * share)
    return Arrow(ends, accent=not (edge.plain or edge.faint), faint=edge.faint)


def _label(edge: Edge, target: Box, end_x: float) -> Iterator[Text]:
    """Yield the first label that fits below the target. If none fits, shorten the last label."""
    room = target.width + 14
    fitting = (label for label in edge.labels if text_width(label, LETTERS, mono=True) <= room)
    label = next(fitting, edge.labels[-1] if edge.labels else "")
    if label:
        y = target.y + target.height + 24
        yield fitted(end_x, y, label, room, LETTERS, "middle", mono=True, muted=True)


def _factors(
    edges: Sequence[Edge], arrows: Sequence[Arrow], shapes: Sequence[Shape]
) -> Iterator[Group]:
    """Yield the labels of the factors that fit on their arrows.

    The other factors have no label, because the formulas below the cells contain all factors.
    """
    if not any(edge.factor for edge in edges):
        return
    along = [points_along(arrow) for arrow in arrows]
    pairs = zip(arrows, along, strict=True)
    paths = [points if arrow.is_curve else arrow.points for arrow, points in pairs]
    occupied = [envelope_of(s) for s in (*shapes, *(Polyline(arrow.head) for arrow in arrows))]
    chips = {n: _chips(along[n], edge.factor) for n, edge in enumerate(edges) if edge.factor}
    for chip in place_labels(chips, paths, occupied).values():
        yield Group(chip.shapes)


def place_labels(
    candidates: Mapping[int, Iterable[Piece]],
    paths: Sequence[Sequence[Point]],
    occupied: Iterable[Envelope],
) -> dict[int, Piece]:
    """Map the number of each arrow to the first of its `candidates` that fits.

    The envelope of a label can touch the path of its own arrow, but no other path, no other label,
    and no `occupied` rectangle. The result omits arrows for which no label fits.
    """
    # The padding gives a height to a horizontal path.
    rooms = [envelope_of(Polyline(tuple(path))).padded(1, 1) for path in paths]
    occupied_rooms, labels_by_arrow = [*occupied], dict[int, Piece]()

    def is_free(room: Envelope, own: int) -> bool:
        left, top, right, bottom = room  # a loop without calls: `room.meets` takes twice as long
        for x, y, end, low in occupied_rooms:
            if left < end and x < right and top < low and y < bottom:
                return False
        others = (n for n, other in enumerate(rooms) if n != own and room.meets(other))
        return not any(meets(*part, room) for n in others for part in pairwise(paths[n]))

    for number, labels in candidates.items():
        free = next((label for label in labels if is_free(label.envelope, number)), None)
        if free is not None:
            occupied_rooms.append(free.envelope.padded(3, 1))
            labels_by_arrow[number] = free
    return labels_by_arrow


def _chips(path: Sequence[Point], factor: str) -> Iterator[Piece]:
    """Yield labels for a factor on its arrow, from the middle of the arrow to its ends."""
    half, middle = text_width(factor, LETTERS, mono=True) / 2 + 4, len(path) // 2
    chip = Box(1 - half, -6.5, 2 * half - 2, 13, Role.PANEL)
    shapes = (chip, Text(0, 4, factor, LETTERS, "middle", mono=True))
    for number in sorted(range(len(path)), key=lambda n: abs(n - middle)):
        x, y = path[number]
        for center in (x, x + (half - 1) / 2, x + (1 - half) / 2):
            room = Envelope(center - half, y - 7.5, center + half, y + 7.5)
            yield Piece(((center, y, shapes),), room)


def points_along(arrow: Arrow) -> list[Point]:
    """Return points along an arrow, from its start to its end."""
    corners = np.array(arrow.points)
    if arrow.is_curve:
        points = BEZIER @ corners
    else:
        points = np.concatenate([a + (b - a) * ALONG for a, b in pairwise(corners)])
    return [(x, y) for x, y in points.tolist()]


class Detours:
    """Arrows around the cells `boxes`, on tracks: parallel lines between columns or rows.

    Overlapping arrows from different cells use different tracks while tracks are free. `taken`
    contains the tracks in use. `ends` contains the sources of the arrows at each side of a cell,
    and `rooms` contains the width of the gap next to each column.
    """

    def __init__(self, boxes: Collection[Box]) -> None:
        self.boxes = boxes
        self.taken = defaultdict[tuple[str, float], list[tuple[float, float, Box, int]]](list)
        self.ends = defaultdict[tuple[float, float, int], list[Box]](list)
        self.rooms: dict[tuple[float, int], float] = {}

    def arrow(self, straight: tuple[Point, Point], source: Box, target: Box, **look: bool) -> Arrow:
        """Return an arrow along the line `straight`, or around the cells that the line meets."""
        top, bottom = sorted((source.y, target.y))
        between = (b for b in self.boxes if top <= b.y <= bottom and b not in (source, target))
        if not any(meets(*straight, envelope_of(box)) for box in between):
            return Arrow(straight, **look)
        return Arrow(self._around(source, target), straight=True, **look)

    def _around(self, source: Box, target: Box) -> tuple[Point, ...]:
        side = 1 if source.x >= target.x else -1
        edge = target.x + (target.width if side > 0 else 0)
        enter = self._end(target, side, source)
        if abs(source.x - target.x) <= source.width + NEIGHBOR:  # the cells share a gap
            facing = side if source.x == target.x else -side
            start_x = source.x + (source.width if facing > 0 else 0)
            leave = self._end(source, facing, source)
            x = self._down(edge, side, leave, enter, source)
            return (start_x, leave), (x, leave), (x, enter), (edge + side, enter)
        down = 1 if target.y > source.y else -1
        start = source.y + (source.height if down > 0 else 0)
        middle = source.x + source.width / 2
        number = self._track(("along", start), (middle, edge), source, count())
        along = start + down * (BELOW + (APART + 1) * number)
        x = self._down(edge, side, along, enter, source)
        middle += 4 * number
        return (middle, start), (middle, along), (x, along), (x, enter), (edge + side, enter)

    def _down(self, edge: float, side: int, start: float, end: float, source: Box) -> float:
        """Return the x coordinate of a free track in the gap next to the edge of a column."""
        if (edge, side) not in self.rooms:
            others = (b.x if side > 0 else b.x + b.width for b in self.boxes)
            away = [side * (x - edge) for x in others if side * (x - edge) > 0]
            self.rooms[edge, side] = min([ROOM, *away])
        room = self.rooms[edge, side] - FIRST - APART
        apart = min(max(APART, room / MOST), WIDEST)
        numbers = range(max(MOST, int(room / apart)))
        number = self._track(("down", edge), (start, end), source, numbers)
        return edge + side * (FIRST + apart * number)

    def _track(
        self,
        where: tuple[str, float],
        ends: tuple[float, float],
        source: Box,
        numbers: Iterable[int],
    ) -> int:
        """Return the number of a track for an arrow from `source`, and record its use.

        The track is the first of `numbers` that no arrow from another cell uses between the two
        `ends`, or the last of `numbers`.
        """
        (low, high), taken, number = sorted(ends), self.taken[where], 0
        for number in numbers:
            if all(n != number or box is source or high < a or b < low for a, b, box, n in taken):
                break
        taken.append((low, high, source, number))
        return number

    def _end(self, box: Box, side: int, source: Box) -> float:
        """Return the y coordinate of the end of an arrow from `source` at a side of a cell."""
        used = self.ends[box.x, box.y, side]
        if source not in used:
            used.append(source)
        return box.y + box.height * (0.5 + SIDES[used.index(source) % len(SIDES)])


def meets(start: Point, end: Point, room: Envelope) -> bool:
    """Return whether a straight line crosses or touches a rectangle."""
    (x0, y0), (x1, y1) = start, end
    if max(x0, x1) < room.left or min(x0, x1) > room.right:
        return False
    if max(y0, y1) < room.top or min(y0, y1) > room.bottom:
        return False
    corners = product((room.left, room.right), (room.top, room.bottom))
    sides = [(x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) for x, y in corners]
    return min(sides) <= 0 <= max(sides)
