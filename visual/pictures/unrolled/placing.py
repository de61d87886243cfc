"""The lane and the column of each quantity of an unrolled loop, and the space for the boxes.

Each Scan has a block of lanes, and each moment of the loop has a column. The lowest lanes of a
block contain the values that belong to all steps, such as parameters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from math import inf

from lab.traces.scan_of import ScanOf
from visual.layout.columns import Gap, numbers, timeline, touched_columns, with_gaps
from visual.layout.routes import TRACK, Spot
from visual.layout.sheet import SCREEN, Sheet
from visual.layout.table import Fold
from visual.pictures.unrolled.graph import Lane, Unrolling

FOLD = 34  # the width of a gap, in pixels
SLIM = 0.85  # a box may shrink to this fraction of its width to make space for labels


@dataclass(frozen=True)
class Room:
    """The space for the boxes, their minimum and maximum widths, and the smallest font size.

    The width of the picture is unlimited if `right` is infinite. In an `open` picture, arrows show
    local derivatives, and all boxes of the loop have full colors.
    """

    top: float = 40.0
    left: float = 216.0
    right: float = inf
    narrowest: float = 96.0
    widest: float = 150.0
    small: float = 10.5
    open: bool = False
    sheet: Sheet = SCREEN

    def sizes(
        self, columns: Sequence[int | Gap], wanted: float, count: int, words: float
    ) -> tuple[float, float]:
        """Return the width of boxes, and the gap between columns for `count` tracks.

        The boxes are slightly narrower if labels of width `words` then fit into the gap.
        """
        width = min(max(self.narrowest, wanted), self.widest)
        between = 26.0 + TRACK * count
        gaps = sum(isinstance(column, Gap) for column in columns)
        boxes, distances = len(columns) - gaps, max(1, len(columns) - 1)
        room = self.right - self.left - FOLD * gaps
        if self.right == inf or not boxes:
            return width, between
        between += max(0.0, min(60.0, (room - boxes * width) / distances - between))
        if boxes * width + distances * between > room:
            between -= 8.0
            width = (room - distances * between) / boxes
        slim = (room - distances * words) / boxes
        return (slim, words) if words > between and slim >= SLIM * width else (width, between)


def room_on(sheet: Sheet, is_open: bool = True) -> Room:
    """Return the space for a picture on a sheet."""
    sizes = sheet.labels - 2, sheet.width - sheet.margin, 72.0, 110.0
    return Room(16.0, *sizes, 11.0, is_open, sheet)


class Placing:
    """The positions of the shown nodes and arrows of `graph`.

    `lanes` run from top to bottom. `spots` maps the number of each shown node to its lane and
    column. `arrows` are pairs of node numbers, and `left_out` are the omitted lanes.

    For a long loop, the placing contains `ends` steps at both ends and the `requested` steps, or
    only the steps that the sheet selects. If `ends` is 0, the placing contains a single step of the
    last of the chosen Scans. In an open picture, the placing omits arrows from the values of a loop
    to its gradients. Raises ArgumentError if a Scan does not run a selected step.
    """

    def __init__(
        self, graph: Unrolling, requested: tuple[int, ...], room: Room, ends: int | None
    ) -> None:
        trace, chosen, nodes = graph.trace, graph.chosen, graph.nodes
        times = [timeline(of.root.scan) for of in ScanOf.each(trace)]
        shown = _shown_columns(graph, requested, room.sheet, ends)
        outputs = {(n, tape.argument) for n in chosen[1:] for tape in trace.scans[n].outputs}
        lanes = {node.lane for node in nodes if (node.lane.scan, node.lane.argument) in outputs}
        # The outputs of derivatives that affect no result.
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
        if room.open:
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
        self.lanes = _sorted_lanes(graph, [lane for lane, _ in places.values()], room.open)
        self.columns = with_gaps(column for _, column in places.values())
        at = {column: n for n, column in enumerate(self.columns) if not isinstance(column, Gap)}
        spots = ((n, self.lanes.index(lane), at[column]) for n, (lane, column) in places.items())
        self.spots = {n: Spot(lane, column) for n, lane, column in spots}


def _shown_columns(
    graph: Unrolling, requested: tuple[int, ...], sheet: Sheet, ends: int | None
) -> set[int]:
    """Return the columns that the shown steps of the chosen Scans read or write."""
    last, columns = ends == 0, set[int]()
    fold = Fold(ends, requested[:1] if last else requested, sheet)
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
        place = not lane.variable, lane.argument, lane.again, lane.direct - above
        return graph.block(lane), *place

    direct = [lane for lane in lanes if lane.direct and is_open]
    first = min(direct, key=order, default=None)
    return sorted(dict.fromkeys(lanes), key=lambda lane: order(lane, 2 * (lane == first)))
