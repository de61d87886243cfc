"""The lane and the column of each quantity of an unrolled loop.

Each Scan has a block of lanes, and each moment of the loop has a column. The lowest lanes of a
block contain the values that belong to all steps, such as parameters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, count

from lab.traces.scan_of import ScanOf
from visual.layout.columns import Gap, numbers, timeline, touched_columns, with_gaps
from visual.layout.routes import Spot
from visual.layout.table import Fold
from visual.pictures.unrolled.graph import Lane, Unrolling


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
        place = not lane.variable, lane.argument, lane.again, lane.direct - above
        return graph.block(lane), *place

    direct = [lane for lane in lanes if lane.direct and is_open]
    first = min(direct, key=order, default=None)
    return sorted(dict.fromkeys(lanes), key=lambda lane: order(lane, 2 * (lane == first)))
