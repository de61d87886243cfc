"""Arrows between boxes in lanes and columns; no arrow crosses a box.

Straight arrows connect neighbors in a lane and boxes above each other.  Any other arrow leaves its
box, runs along a track between two lanes or two columns, and enters the side of its target.
Arrows between the same two lanes use the same track in every gap, because a loop repeats itself
from column to column.  Along a lane, arrows share a track only if they leave the same box or do
not touch.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Point = tuple[float, float]
TRACK, BOW, LEAN, HEAD = 7.0, 24.0, 8, 8.0
WORDS, WORD = 50.0, 32.0  # space for labels below the boxes of a lane, and on an arrow


@dataclass(frozen=True)
class Spot:
    """The lane and the column of a box, from 0."""

    lane: int
    column: int


@dataclass(frozen=True)
class LaneGrid:
    """The edges of all lanes and columns, and the spots of the boxes."""

    tops: tuple[float, ...]
    heights: tuple[float, ...]
    lefts: tuple[float, ...]
    width: float
    taken: frozenset[Spot]

    def middle(self, spot: Spot) -> Point:
        """Return the middle of a box."""
        top, height = self.tops[spot.lane], self.heights[spot.lane]
        return self.lefts[spot.column] + self.width / 2, top + height / 2


@dataclass(frozen=True)
class Tracks:
    """The tracks of arrows: between columns by their lanes, along a lane by their source.

    `below` has the tracks below each lane.  `over` has the bows over its boxes; in `low` lanes,
    these arrows turn below the boxes, with space for a label.  `ends` has the distances of
    straight arrows from the middle of the sides of boxes.
    """

    of: Mapping[tuple[int, int], int]
    below: Mapping[int, Mapping[Spot, int]]
    over: Mapping[int, Mapping[Spot, int]]
    low: frozenset[int] = frozenset()
    ends: Mapping[tuple[Spot, int], list[float]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of tracks in the gap between two columns."""
        return max(self.of.values(), default=-1) + 1

    def room(self, lane: int) -> float:
        """Return the height of the tracks below a lane."""
        return self.depth(lane, _used(self.over, lane))

    def depth(self, lane: int, bows: int) -> float:
        """Return the depth of the next arrow below a lane with a number of `bows`."""
        words = WORDS + WORD * bows if lane in self.low else 0.0
        return TRACK * (_used(self.below, lane) + 1) + words

    def room_over(self, lane: int) -> float:
        """Return the height of the bows over a lane."""
        used = 0 if lane in self.low else _used(self.over, lane)
        return BOW + TRACK * (used - 1) if used else 0.0


def is_straight(source: Spot, target: Spot, taken: frozenset[Spot]) -> bool:
    """Return whether a straight arrow touches no other box."""
    if abs(source.column - target.column) == 1:
        return abs(source.lane - target.lane) <= 1
    if source.lane == target.lane:
        return False
    low, high = sorted((source.lane, target.lane))
    between = (Spot(lane, source.column) for lane in range(low + 1, high))
    return source.column == target.column and not any(spot in taken for spot in between)


def tracks(
    edges: Iterable[tuple[Spot, Spot]], taken: frozenset[Spot], low: Iterable[int] = ()
) -> Tracks:
    """Assign tracks to all bent arrows; arrows along `low` lanes bend below their boxes."""
    of: dict[tuple[int, int], int] = {}
    below: dict[int, dict[Spot, list[int]]] = {}
    over: dict[int, dict[Spot, list[int]]] = {}
    ends: dict[tuple[Spot, int], list[float]] = {}
    for source, target in edges:
        if is_straight(source, target, taken):
            if source.column != target.column:
                lean = LEAN * (target.lane - source.lane)
                ends.setdefault((target, _side(source, target)), []).append(-lean)
            continue
        if source.lane == target.lane:
            reach = over.setdefault(source.lane, {}).setdefault(source, [])
            reach += (2 * source.column, 2 * target.column)
            continue
        of.setdefault((source.lane, target.lane), len(of))
        if not _beside(source, target):
            reach = below.setdefault(_channel(source, target), {}).setdefault(source, [])
            reach += (2 * source.column, 2 * target.column + _side(source, target))
    return Tracks(
        of,
        {lane: _apart(reaches) for lane, reaches in below.items()},
        {lane: _apart(reaches) for lane, reaches in over.items()},
        frozenset(low),
        ends,
    )


def _apart(reaches: Mapping[Spot, Iterable[int]]) -> dict[Spot, int]:
    """Return the first free track for the stretch of each source."""
    numbers: dict[Spot, int] = {}
    ends: list[int] = []  # of the last arrow on each track
    for source, reach in sorted(reaches.items(), key=lambda pair: min(pair[1])):
        low, high = min(reach), max(reach)
        number = next((n for n, end in enumerate(ends) if end < low), len(ends))
        ends[number : number + 1] = [high]
        numbers[source] = number
    return numbers


def _used(tracks_of: Mapping[int, Mapping[Spot, int]], lane: int) -> int:
    """Return the number of tracks of a lane."""
    return max(tracks_of.get(lane, {}).values(), default=-1) + 1


def routes(
    edges: Iterable[tuple[Spot, Spot]], grid: LaneGrid, tracks: Tracks
) -> Iterator[tuple[Point, ...]]:
    """Yield the corners of all arrows from box to box, with heads next to each other."""
    taken = {side: [*offsets] for side, offsets in tracks.ends.items()}
    for source, target in edges:
        heads = taken.setdefault((target, _side(source, target)), [])
        yield _route(source, target, grid, tracks, heads)


def _route(
    source: Spot, target: Spot, grid: LaneGrid, tracks: Tracks, heads: list[float]
) -> tuple[Point, ...]:
    """Return the corners of an arrow; `heads` are the offsets of other heads at its side."""
    (x0, y0), (x1, y1) = grid.middle(source), grid.middle(target)
    half = grid.width / 2
    above = [grid.heights[spot.lane] / 2 for spot in (source, target)]
    if is_straight(source, target, grid.taken):
        if source.column != target.column:
            way, lean = (1 if x1 > x0 else -1), LEAN * (target.lane - source.lane)
            return (x0 + way * half, y0 + lean), (x1 - way * (half + 1), y1 - lean)
        way = 1 if y1 > y0 else -1
        return (x0, y0 + way * above[0]), (x1, y1 - way * (above[1] + 1))
    if source.lane == target.lane:  # over the boxes in between, or below them
        way = 1 if x1 > x0 else -1
        out, end, top = x0 + way * 12, x1 - way * 12, y0 - above[0]
        number = tracks.over[source.lane][source]
        if source.lane in tracks.low:
            bottom = y0 + above[0]
            deep = bottom + tracks.depth(source.lane, number)
            return (out, bottom), (out, deep), (end, deep), (end, bottom + 1)
        # The middle of such a curve is three quarters as high as its controls.
        high = top - BOW + 2 - TRACK / 0.75 * number
        return (out, top), (out, high), (end, high), (end, top - 1)
    number = tracks.of[source.lane, target.lane]
    side = _side(source, target)
    gap = x1 + side * (half + 8 + TRACK * number)
    wanted = _offset(number, tracks.count, above[1], side)
    heads.append(_free(wanted, heads, above[1]))
    enter = y1 + heads[-1]
    into = (x1 + side * (half + 1), enter)
    if _beside(source, target):
        leave = y0 + _offset(number, tracks.count, above[0], side)
        way = 1 if gap > x0 else -1
        return (x0 + way * half, leave), (gap, leave), (gap, enter), into
    lane = _channel(source, target)
    place = tracks.below[lane][source]
    along = grid.tops[lane] + grid.heights[lane] + TRACK * (place + 1)
    way = 1 if along > y0 else -1
    out = x0 + 10 + 4 * place
    return (out, y0 + way * above[0]), (out, along), (gap, along), (gap, enter), into


def _side(source: Spot, target: Spot) -> int:
    """Return the side where an arrow enters its target: toward its source, or the right."""
    return -1 if source.column < target.column else 1


def _beside(source: Spot, target: Spot) -> bool:
    """Return whether source and target have a common gap."""
    return abs(source.column - target.column) <= 1


def _channel(source: Spot, target: Spot) -> int:
    """Return the lane above the track of an arrow to a farther column."""
    return source.lane if target.lane > source.lane else source.lane - 1


def _offset(number: int, count: int, half: float, side: int) -> float:
    """Return the distance of a track's end from the middle of a side; ends differ by track.

    Arrows to the two sides of a gap end at different heights, because they pass each other.
    """
    room = half - 5
    shift = 0 if side > 0 else 1
    return room * ((2 * (number + 1) + shift) / (count + 1) - 1) if count > 1 else side * room / 2


def _free(wanted: float, taken: Collection[float], half: float) -> float:
    """Return the free place for an arrowhead nearest to the `wanted` place on a side of a box."""

    def is_free(offset: float) -> bool:
        return all(abs(offset - other) >= HEAD for other in taken)

    places = filter(is_free, range(4 - int(half), int(half) - 3))
    return (
        wanted
        if is_free(wanted)
        else min(places, key=lambda place: abs(place - wanted), default=wanted)
    )
