"""Paths around cells, on tracks: parallel lines between rows or columns of cells."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from itertools import count, product
from math import inf

from visual.scene.combinators import Envelope, envelope_of
from visual.scene.shapes import Box

Point = tuple[float, float]
Gap = tuple[float, float]  # the left and the right end of the space between two columns
Uses = list[tuple[float, float, Box, int]]  # both ends, the source, and the track of each path
# Tracks between two columns: offset of the first, minimum and maximum distance, minimum number.
FIRST, APART, WIDEST, MOST = 9.0, 3.0, 7.0, 4
ROOM = 60.0  # the maximum width of the space for tracks next to a column
BELOW = 5.0, 4.0  # tracks below a row: offset of the first track, distance of tracks
ASIDE = 12.0  # offset of the ends of a path below a row, from the middle of a cell
# Offsets of the ends of paths from the middle of a side, in cell heights, and their distance.
SIDES, HEAD = (0.36, -0.36, 0.18, -0.18, 0.0, 0.27, -0.27, 0.09, -0.09), 7.5


class Router:
    """Paths between the cells `boxes`.

    `room` is the maximum width of the space for tracks next to a column. `depths` maps the lower
    edge of a row to the offset and the distance of its tracks. `right` is the edge of the sheet.
    """

    def __init__(
        self,
        boxes: Collection[Box],
        room: float = ROOM,
        depths: Mapping[float, tuple[float, float]] | None = None,
        right: float = inf,
    ) -> None:
        self.boxes, self.room, self.right, self.depths = boxes, room, right, depths or {}
        # The tracks in use: below the lower edge of each row, and in each gap between columns.
        self.rows, self.columns = defaultdict[float, Uses](list), defaultdict[Gap, Uses](list)
        self.gaps: dict[tuple[float, int], Gap] = {}
        # The ends of arrows from each source, by the gap and the y of the cell.
        self.ends = defaultdict[Hashable, dict[Hashable, float]](dict)

    def across(self, source: Box, target: Box, start: float, end: float) -> tuple[Point, ...]:
        """Return a path to another row: straight between these x, or around the cells between."""
        if source.y < target.y:
            ends = (start, source.y + source.height), (end, target.y - 1)
        else:
            ends = (start, source.y), (end, target.y + target.height + 1)
        top, bottom = sorted((source.y, target.y))
        between = (b for b in self.boxes if top <= b.y <= bottom and b not in (source, target))
        is_blocked = any(meets(*ends, envelope_of(box)) for box in between)
        return self.around(source, target) if is_blocked else ends

    def beside(self, source: Box, target: Box, start: float, end: float) -> tuple[Point, Point]:
        """Return a straight path between facing sides, with these offsets from their middles."""
        side, y = 1 if source.x > target.x else -1, target.y + target.height / 2 + end
        edge = _edge(target, side)
        self.ends[self._gap(edge, side), target.y][source, target] = y
        return (_edge(source, -side), source.y + source.height / 2 + start), (edge + side, y)

    def below(self, source: Box, target: Box) -> tuple[Point, ...]:
        """Return a path below the row of both cells."""
        way, y = ASIDE if source.x < target.x else -ASIDE, source.y + source.height
        start, end = source.x + source.width / 2 + way, target.x + target.width / 2 - way
        along = self._along(y, start, end, source)
        return (start, y), (start, along), (end, along), (end, y + 1)

    def around(self, source: Box, target: Box) -> tuple[Point, ...]:
        """Return a path that enters its target from the gap next to the target."""
        side = 1 if source.x >= target.x else -1
        facing = side if source.x == target.x else -side
        edge, x = _edge(target, side), _edge(source, facing)
        enter, (left, right) = self._end(target, side, source, source), self._gap(edge, side)
        if source.x == target.x or left <= x <= right:  # the cells share the gap
            y = self._end(source, facing, source, target)
            down = self._down(edge, side, y, enter, source)
            return (x, y), (down, y), (down, enter), (edge + side, enter)
        x, y = source.x + (source.width + ASIDE) / 2, source.y + source.height
        low = y
        if target.y < source.y:  # the path runs below the previous row
            y = source.y
            bottoms = (b.y + b.height for b in self.boxes)
            low = max((bottom for bottom in bottoms if bottom <= y), default=y - sum(BELOW))
        along = self._along(low, x, edge, source)
        down = self._down(edge, side, along, enter, source)
        return (x, y), (x, along), (down, along), (down, enter), (edge + side, enter)

    def _along(self, low: float, start: float, end: float, source: Box) -> float:
        """Return the y coordinate of a free track below the lower edge of a row."""
        first, apart = self.depths.get(low, BELOW)
        return low + first + apart * _take_track(self.rows[low], (start, end), source, count())

    def _down(self, edge: float, side: int, start: float, end: float, source: Box) -> float:
        """Return the x coordinate of the free track that is nearest to the edge of a column."""
        gap = self._gap(edge, side)
        room = gap[1] - gap[0] - 2 * FIRST
        numbers = range(max(MOST, 1 + int(room / WIDEST)))[::side]
        number = _take_track(self.columns[gap], (start, end), source, numbers)
        apart = max(APART, room / (len(numbers) - 1))
        return edge + side * (FIRST + apart * numbers.index(number))

    def _end(self, box: Box, side: int, source: Box, other: Box) -> float:
        """Return the y of the ends of arrows from `source` at a side of a cell, near `other`."""
        used = self.ends[self._gap(_edge(box, side), side), box.y]
        if source not in used:
            ends, high = used.values(), box.height if other.y > box.y else -box.height
            choices = [box.y + box.height / 2 + high * share for share in SIDES]
            used[source] = max(choices, key=lambda y: min([HEAD, *(abs(y - e) for e in ends)]))
        return used[source]

    def _gap(self, edge: float, side: int) -> Gap:
        """Return the gap at an edge of a column."""
        if (edge, side) not in self.gaps:
            others = (b.x if side > 0 else b.x + b.width for b in self.boxes)
            away = [side * (x - edge) for x in (*others, self.right) if side * (x - edge) > 0]
            ends = edge, edge + side * min([self.room, *away])
            self.gaps[edge, side] = min(ends), max(ends)
        return self.gaps[edge, side]


def tracks_in(uses: Uses) -> int:
    """Return the number of different tracks."""
    return len({number for *_, number in uses})


def _take_track(taken: Uses, ends: Point, source: Box, numbers: Iterable[int]) -> int:
    """Return the number of the track of a path between two `ends`, and add it to `taken`.

    The track is the first of `numbers` that no path from another source uses between the ends, or
    the last of `numbers`.
    """
    (low, high), number = sorted(ends), 0
    for number in numbers:
        if all(n != number or box == source or high < a or b < low for a, b, box, n in taken):
            break
    taken.append((low, high, source, number))
    return number


def _edge(box: Box, side: int) -> float:
    """Return the x coordinate of the left (-1) or the right (1) side of a cell."""
    return box.x + box.width * (side > 0)


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
