"""Arrows between boxes in lanes and columns. No arrow crosses a box.

A straight arrow connects boxes in neighboring columns of the same or a neighboring lane, or stacked
boxes. Any other arrow has corners: it runs along a track below a lane, along a track in the gap
between two columns, or along both. Arrows between the same two lanes use the same track in every
gap, because a loop repeats itself from column to column. Below a lane, two arrows share a track if
they leave the same box or do not overlap.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

Point = tuple[float, float]
TRACK, LEAN, HEAD = 7.0, 8, 8.0  # distance of tracks; offset of sloping arrows; distance of heads
FIRST_LABEL, NEXT_LABEL = 57.0, 32.0  # depths of the tracks of arrows with labels


@dataclass(frozen=True)
class Spot:
    """The lane and the column of a box, from 0."""

    lane: int
    column: int


@dataclass(frozen=True)
class LaneGrid:
    """The upper edges of lanes, the left edges of columns, the size of boxes, and `taken` spots."""

    tops: tuple[float, ...]
    height: float
    lefts: tuple[float, ...]
    width: float
    taken: frozenset[Spot]

    def middle(self, spot: Spot) -> Point:
        """Return the middle of the box at a spot."""
        return self.lefts[spot.column] + self.width / 2, self.tops[spot.lane] + self.height / 2


@dataclass(frozen=True)
class Tracks:
    """The numbers of the tracks for arrows with corners, from 0.

    `gaps` maps the lanes of the two ends of an arrow to the track between two columns. `below` maps
    a lane, then the box that an arrow leaves, to the track below the lane. `labeled` lanes have
    space for labels between these tracks. `ends` maps a side of a box to the vertical distances
    between the middle of the side and the ends of straight arrows.
    """

    gaps: Mapping[tuple[int, int], int]
    below: Mapping[int, Mapping[Spot, int]]
    labeled: Container[int]
    ends: Mapping[tuple[Spot, int], list[float]]

    @property
    def count(self) -> int:
        """The number of tracks in the gap between two columns."""
        return len(self.gaps)

    def room(self, lane: int) -> float:
        """Return the height of the space for the tracks below a lane."""
        return self.depth(lane, max(self.below.get(lane, {}).values(), default=-1)) + TRACK

    def depth(self, lane: int, track: int) -> float:
        """Return the distance from a lane to a track below the lane."""
        if lane in self.labeled:
            return FIRST_LABEL + NEXT_LABEL * track
        return TRACK * (track + 1)


def is_straight(source: Spot, target: Spot, taken: frozenset[Spot]) -> bool:
    """Return whether a straight arrow between two spots touches no other box."""
    if abs(source.column - target.column) == 1:
        return abs(source.lane - target.lane) <= 1
    low, high = sorted((source.lane, target.lane))
    between = {Spot(lane, source.column) for lane in range(low + 1, high)}
    return source.column == target.column and low < high and not between & taken


def assign_tracks(
    edges: Iterable[tuple[Spot, Spot]], taken: frozenset[Spot], labeled: Container[int] = ()
) -> Tracks:
    """Return the tracks of the arrows that are not straight."""
    gaps: dict[tuple[int, int], int] = {}
    below: dict[int, dict[Spot, list[int]]] = {}
    ends: dict[tuple[Spot, int], list[float]] = {}
    for source, target in edges:
        side, down = _side(source, target), target.lane - source.lane
        if is_straight(source, target, taken):
            if source.column != target.column:
                ends.setdefault((target, side), []).append(-LEAN * down)
            continue
        if down:
            gaps.setdefault((source.lane, target.lane), len(gaps))
        if not down or not _share_gap(source, target):
            reach = below.setdefault(_lane_above(source, target), {}).setdefault(source, [])
            reach += (2 * source.column, 2 * target.column + side * (down != 0))
    numbers = {lane: _number_tracks(reaches) for lane, reaches in below.items()}
    return Tracks(gaps, numbers, labeled, ends)


def _number_tracks(reaches: Mapping[Spot, Iterable[int]]) -> dict[Spot, int]:
    """Return the number of a track for each box with arrows. The arrows of a box share the track.

    `reaches` maps a box to the horizontal positions of both ends of its arrows.
    """
    numbers: dict[Spot, int] = {}
    ends: list[int] = []  # the rightmost end on each track
    for source, reach in sorted(reaches.items(), key=lambda pair: min(pair[1])):
        number = next((n for n, end in enumerate(ends) if end < min(reach)), len(ends))
        ends[number : number + 1] = [max(reach)]
        numbers[source] = number
    return numbers


def routes(
    edges: Iterable[tuple[Spot, Spot]], grid: LaneGrid, tracks: Tracks
) -> Iterator[tuple[Point, ...]]:
    """Yield the corners of each arrow. Arrowheads at the same side of a box do not overlap."""
    taken = {side: [*offsets] for side, offsets in tracks.ends.items()}
    for source, target in edges:
        heads = taken.setdefault((target, _side(source, target)), [])
        yield _route(source, target, grid, tracks, heads)


def _route(
    source: Spot, target: Spot, grid: LaneGrid, tracks: Tracks, heads: list[float]
) -> tuple[Point, ...]:
    """Return the corners of an arrow. Append the offset of the arrowhead to `heads`."""
    (x0, y0), (x1, y1) = grid.middle(source), grid.middle(target)
    half, high, way = grid.width / 2, grid.height / 2, 1 if x1 > x0 else -1
    if is_straight(source, target, grid.taken):
        if source.column != target.column:
            lean = LEAN * (target.lane - source.lane)
            return (x0 + way * half, y0 + lean), (x1 - way * (half + 1), y1 - lean)
        down = 1 if y1 > y0 else -1
        return (x0, y0 + down * high), (x1, y1 - down * (high + 1))
    lane = _lane_above(source, target)
    track = tracks.below.get(lane, {}).get(source, 0)
    along = grid.tops[lane] + grid.height + tracks.depth(lane, track)
    if source.lane == target.lane:
        out, end, low = x0 + way * 12, x1 - way * 12, y0 + high
        return (out, low), (out, along), (end, along), (end, low + 1)
    number, side = tracks.gaps[source.lane, target.lane], _side(source, target)
    gap, room, count = x1 + side * (half + 8 + TRACK * number), high - 5, tracks.count
    offset = side * room / 2
    if count > 1:  # arrows to both sides of a gap end at different heights
        offset = room * ((2 * (number + 1) + (side < 0)) / (count + 1) - 1)
    free = [offset, *range(4 - int(high), int(high) - 3)]
    free = [y for y in free if all(abs(y - head) >= HEAD for head in heads)]
    heads.append(min(free, key=lambda y: abs(y - offset), default=offset))
    enter = (gap, y1 + heads[-1]), (x1 + side * (half + 1), y1 + heads[-1])
    if _share_gap(source, target):
        return (x0 + (half if gap > x0 else -half), y0 + offset), (gap, y0 + offset), *enter
    down, out = (1 if along > y0 else -1), x0 + 10 + 4 * track
    return (out, y0 + down * high), (out, along), (gap, along), *enter


def _side(source: Spot, target: Spot) -> int:
    """Return the side where an arrow enters its target: -1 for the left, 1 for the right."""
    return -1 if source.column < target.column else 1


def _share_gap(source: Spot, target: Spot) -> bool:
    """Return whether the same gap between columns is next to both boxes."""
    return abs(source.column - target.column) <= 1


def _lane_above(source: Spot, target: Spot) -> int:
    """Return the lane directly above the horizontal track of an arrow with corners."""
    return source.lane if target.lane >= source.lane else source.lane - 1
