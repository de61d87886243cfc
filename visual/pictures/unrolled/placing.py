"""The lane and the column of each quantity of an unrolled loop, and arrows that cross no box.

Each Scan has a block of lanes, and each moment of the loop has a column. The lowest lanes of a
block contain the values that belong to all steps, such as parameters.

A straight arrow connects boxes in neighboring columns of the same or a neighboring lane, or stacked
boxes. Any other arrow runs on tracks below a lane or in the gap between two columns.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, count

from lab.traces.scan_of import ScanOf
from visual.layout.canvas import HEIGHT
from visual.layout.columns import Gap, numbers, timeline, touched_columns, with_gaps
from visual.layout.table import Fold
from visual.layout.tracks import Point, Router, tracks_in
from visual.pictures.unrolled.graph import Lane, Unrolling
from visual.scene.shapes import Box
from visual.scene.theme import Role

TRACK, LEAN = 7.0, 8.0  # distance of tracks; offset of the ends of sloping arrows
LABELS = 57.0, 32.0  # tracks with labels: the depth of the first, and the distance of tracks
FAR = 1e4  # the distance between the lines of a grid with enough space for all tracks


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
        every = set[int]()  # the columns of shown and hidden nodes
        for number, node in enumerate(nodes):
            if node.lasting or node.lane in self.left_out:
                continue
            time, index = times[node.lane.scan], node.index
            column = node.row if index is None else time.column(node.variable, index)
            every.add(column)
            if column in shown or index is None:
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
        self.columns = with_gaps((column for _, column in places.values()), every)
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
        self.labeled = {a.lane for a, b in labeled if a.lane == b.lane and not _are_near(a, b)}
        # The arrows of the picture use the same tracks as the arrows of a grid with enough space.
        grid = {s: Box(FAR * s.column, FAR * s.lane, FAR / 2, HEIGHT, Role.PANEL) for s in taken}
        _, router = self.routed(grid, FAR / 2)
        self.count = max(map(tracks_in, router.columns.values()), default=0)
        self.below = {s.lane: tracks_in(router.rows[box.y + HEIGHT]) for s, box in grid.items()}

    def room(self, lane: int) -> float:
        """Return the height of the space for the tracks below a lane."""
        (first, apart), count = self._depths(lane), self.below.get(lane, 0)
        return TRACK + (first + apart * (count - 1) if count else 0.0)

    def _depths(self, lane: int) -> tuple[float, float]:
        """Return the distances from a lane to its first track, and between its tracks."""
        return LABELS if lane in self.labeled else (TRACK, TRACK)

    def routed(
        self, boxes: Mapping[Spot, Box], between: float
    ) -> tuple[list[tuple[Point, ...]], Router]:
        """Return the corners of each arrow. Columns of boxes are `between` pixels apart."""
        depths = {box.y + box.height: self._depths(spot.lane) for spot, box in boxes.items()}
        router, paths = Router(boxes.values(), between, depths), dict[object, tuple[Point, ...]]()
        for a, b in sorted(self.edges, key=lambda edge: not _are_near(*edge)):
            source, target = boxes[a], boxes[b]
            if _are_near(a, b):
                lean = LEAN * (b.lane - a.lane)
                paths[a, b] = router.beside(source, target, lean, -lean)
            elif a.column == b.column:
                middle = source.x + source.width / 2
                paths[a, b] = router.across(source, target, middle, middle)
            else:
                paths[a, b] = (router.below if a.lane == b.lane else router.around)(source, target)
        return [paths[edge] for edge in self.edges], router


def _are_near(source: Spot, target: Spot) -> bool:
    """Return whether two spots are in neighboring columns of the same or a neighboring lane."""
    return abs(source.column - target.column) == 1 and abs(source.lane - target.lane) <= 1
