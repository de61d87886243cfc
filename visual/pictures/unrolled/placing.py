"""The lane and the column of each quantity of an unrolled loop, and arrows that cross no box.

Each Scan has a block of lanes, and each moment of the loop has a column. The lowest lanes of a
block contain the values that belong to all steps, such as parameters.

A straight arrow connects boxes in neighboring columns of the same or a neighboring lane, or stacked
boxes. Any other arrow has corners: it runs along a track below a lane, along a track in the gap
between two columns, or along both. Arrows between the same two lanes use the same track in every
gap, because a loop repeats itself from column to column. Below a lane, two arrows share a track if
they leave the same box or do not overlap.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, count

from lab.traces.scan_of import ScanOf
from visual.layout.arrows import Point
from visual.layout.columns import Gap, numbers, timeline, touched_columns, with_gaps
from visual.layout.table import Fold
from visual.pictures.unrolled.graph import Lane, Unrolling

TRACK, LEAN, HEAD = 7.0, 8, 8.0  # distance of tracks; offset of sloping arrows; distance of heads
FIRST_LABEL, NEXT_LABEL = 57.0, 32.0  # depths of the tracks of arrows with labels


@dataclass(frozen=True)
class Spot:
    """The lane and the column of a box, from 0."""

    lane: int
    column: int


Ends = Sequence[tuple[Spot, Spot]]  # the spots of the source and of the target of each arrow


class Placing:
    """The positions of the shown nodes and arrows of `graph`.

    `lanes` run from top to bottom. `spots` maps the number of each shown node to its lane and
    column. `arrows` are pairs of node numbers, and `left_out` are the omitted lanes.

    The placing contains the steps of a fold or, if its `ends` is 0, a single step of the last of
    the chosen Scans. In an open picture, the placing omits arrows from the values of a loop
    to its gradients. Raises ArgumentError if a Scan does not run a selected step.
    """

    def __init__(self, graph: Unrolling, fold: Fold, is_open: bool) -> None:
        trace, chosen, nodes = graph.trace, graph.chosen, graph.nodes
        times = [timeline(of.root.scan) for of in ScanOf.each(trace)]
        shown = _shown_columns(graph, fold)
        outputs = {(n, tape.argument) for n in chosen[1:] for tape in trace.scans[n].outputs}
        lanes = {node.lane for node in nodes if (node.lane.scan, node.lane.argument) in outputs}
        # The lanes of outputs of derivatives whose values affect no result.
        self.left_out = lanes - {node.lane for node in nodes if not node.faded}
        places: dict[int, tuple[Lane, int]] = {}  # the lane and the column of each node
        for number, node in enumerate(nodes):
            column = node.row
            if node.index is not None:
                column = times[node.lane.scan].column(node.variable, node.index)
            is_shown = column in shown or node.index is None
            if is_shown and not node.lasting and node.lane not in self.left_out:
                places[number] = node.lane, column
        arrows = [edge for edge in graph.edges if places.keys() >= {*edge}]
        if is_open:
            derived = {number for number in chosen if trace.scans[number].parent is not None}
            scans = [node.lane.scan for node in nodes]
            arrows = [(a, b) for a, b in arrows if scans[a] == scans[b] or scans[b] not in derived]
        columns = sorted({column for _, column in places.values()}) or [0]
        free: dict[Lane, Iterator[int]] = {}  # the free columns of each lane, from the first column
        for number, node in enumerate(nodes):
            if node.lasting:  # a running total (argument ≥ 0) or a parameter
                scan, is_total = chosen[graph.block(node.lane)], node.lane.argument >= 0
                lane = Lane(scan, "", is_total, "sum over steps" if is_total else "each step reads")
                each = free.setdefault(lane, chain(columns, count(columns[-1] + 1)))
                places[number] = lane, next(each)
        self.arrows = arrows
        self.lanes = _sorted_lanes(graph, [lane for lane, _ in places.values()], is_open)
        self.columns = with_gaps(column for _, column in places.values())
        at = {column: n for n, column in enumerate(self.columns) if not isinstance(column, Gap)}
        spots = ((n, self.lanes.index(lane), at[column]) for n, (lane, column) in places.items())
        self.spots = {n: Spot(lane, column) for n, lane, column in spots}


def _shown_columns(graph: Unrolling, fold: Fold) -> set[int]:
    """Return the columns that the shown steps of the chosen Scans read or write."""
    last, columns = fold.ends == 0, set[int]()
    fold = replace(fold, requested=fold.requested[:1]) if last else fold
    for of in (ScanOf(graph.trace, n) for n in (graph.chosen[-1:] if last else graph.chosen)):
        steps = numbers(fold.steps(of.scan))
        columns |= touched_columns(of.scan, timeline(of.root.scan), steps)
    return columns


def _sorted_lanes(graph: Unrolling, lanes: Sequence[Lane], is_open: bool) -> list[Lane]:
    """Return the lanes in the order of blocks. Values that belong to all steps are at the bottom.

    The lane of direct parts is below the lane of its gradients. In an open picture, the first lane
    of direct parts is above its block. Gradients with arrows between them are then neighbors.
    """

    def order(lane: Lane, above: int = 0) -> tuple[int, bool, int, int, int]:
        return graph.block(lane), not lane.variable, lane.argument, lane.again, lane.direct - above

    direct = [lane for lane in lanes if lane.direct and is_open]
    first = min(direct, key=order, default=None)
    return sorted(dict.fromkeys(lanes), key=lambda lane: order(lane, 2 * (lane == first)))


class Routes:
    """Arrows between boxes at `taken` spots. `edges` are the spots of the two ends of each arrow.

    `count` is the number of tracks in the gap between two columns. If a `labeled` edge has corners
    and both ends are in the same lane, the tracks of this lane have space for labels.
    """

    def __init__(self, edges: Ends, labeled: Ends, taken: Set[Spot]) -> None:
        self.edges = edges
        self.straight = {edge for edge in edges if _is_straight(*edge, taken)}
        self.labeled = {a.lane for a, b in {*labeled} - self.straight if a.lane == b.lane}
        gaps: dict[tuple[int, int], int] = {}  # the track of an arrow, by the lanes of its ends
        reaches = defaultdict[int, defaultdict[Spot, list[int]]](lambda: defaultdict(list))
        for source, target in (edge for edge in edges if edge not in self.straight):
            is_level = source.lane == target.lane
            if not is_level:
                gaps.setdefault((source.lane, target.lane), len(gaps))
            if is_level or abs(source.column - target.column) > 1:  # the boxes share no gap
                end = 2 * target.column + (0 if is_level else _side(source, target))
                reaches[_lane_above(source, target)][source] += (2 * source.column, end)
        self.gaps, self.count = gaps, len(gaps)
        self.below = {lane: _number_tracks(reach) for lane, reach in reaches.items()}

    def room(self, lane: int) -> float:
        """Return the height of the space for the tracks below a lane."""
        return self._depth(lane, max(self.below.get(lane, {}).values(), default=-1)) + TRACK

    def _depth(self, lane: int, track: int) -> float:
        """Return the distance from a lane to a track below the lane."""
        if lane in self.labeled:
            return FIRST_LABEL + NEXT_LABEL * track
        return TRACK * (track + 1)

    def paths(
        self, lefts: Sequence[float], width: float, tops: Sequence[float], height: float
    ) -> Iterator[tuple[Point, ...]]:
        """Yield the corners of each arrow. Heads at the same side of a box are apart if possible.

        `lefts` are the left edges of columns, and `tops` the upper edges of lanes. All boxes have
        the size `width` by `height`.
        """
        half, high = width / 2, height / 2
        heads = defaultdict[tuple[Spot, int], list[float]](list)  # offsets from a middle, by side
        for source, target in self.straight:
            if source.column != target.column:
                heads[target, _side(source, target)].append(LEAN * (source.lane - target.lane))
        for source, target in self.edges:
            (x0, y0), (x1, y1) = (
                (lefts[spot.column] + half, tops[spot.lane] + high) for spot in (source, target)
            )
            side, way, down = _side(source, target), 1 if x1 > x0 else -1, 1 if y1 > y0 else -1
            if (source, target) in self.straight:
                lean = LEAN * (target.lane - source.lane)
                if source.column == target.column:
                    yield (x0, y0 + down * high), (x1, y1 - down * (high + 1))
                else:
                    yield (x0 + way * half, y0 + lean), (x1 - way * (half + 1), y1 - lean)
                continue
            lane = _lane_above(source, target)
            track = self.below.get(lane, {}).get(source, 0)
            along = tops[lane] + height + self._depth(lane, track)
            if source.lane == target.lane:
                out, end, low = x0 + way * 12, x1 - way * 12, y0 + high
                yield (out, low), (out, along), (end, along), (end, low + 1)
                continue
            number, room = self.gaps[source.lane, target.lane], high - 5
            gap = x1 + side * (half + 8 + TRACK * number)
            offset = side * room / 2
            if self.count > 1:  # arrows to both sides of a gap end at different heights
                offset = room * ((2 * (number + 1) + (side < 0)) / (self.count + 1) - 1)
            used = heads[target, side]
            free = [offset, *range(4 - int(high), int(high) - 3)]
            free = [y for y in free if all(abs(y - head) >= HEAD for head in used)]
            used.append(min(free, key=lambda y: abs(y - offset), default=offset))
            enter = (gap, y1 + used[-1]), (x1 + side * (half + 1), y1 + used[-1])
            if abs(source.column - target.column) <= 1:  # the same gap is next to both boxes
                start = x0 + (half if gap > x0 else -half)
                yield (start, y0 + offset), (gap, y0 + offset), *enter
                continue
            down, out = (1 if along > y0 else -1), x0 + 10 + 4 * track
            yield (out, y0 + down * high), (out, along), (gap, along), *enter


def _is_straight(source: Spot, target: Spot, taken: Set[Spot]) -> bool:
    """Return whether two spots are neighbors, or in one column without a box between them."""
    if abs(source.column - target.column) == 1:
        return abs(source.lane - target.lane) <= 1
    low, high = sorted((source.lane, target.lane))
    between = {Spot(lane, source.column) for lane in range(low + 1, high)}
    return source.column == target.column and low < high and not between & taken


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


def _side(source: Spot, target: Spot) -> int:
    """Return the side where an arrow enters its target: -1 for the left, 1 for the right."""
    return -1 if source.column < target.column else 1


def _lane_above(source: Spot, target: Spot) -> int:
    """Return the lane directly above the horizontal track of an arrow with corners."""
    return source.lane if target.lane >= source.lane else source.lane - 1
