"""The lane and the column of each quantity of an unrolled loop, and the space for the boxes.

Each Scan has a block of lanes, and each moment of the loop has a column. The last lanes of a block
contain the values that belong to all steps, such as parameters.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from math import inf

from lab.traces.scan_of import ScanOf
from lab.traces.trace import Trace
from visual.layout.columns import (
    Gap,
    Steps,
    numbers,
    one_or_more,
    shown_steps,
    timeline,
    touched_columns,
)
from visual.layout.routes import TRACK
from visual.layout.sheet import SCREEN, Sheet
from visual.pictures.unrolled.graph import Unrolling
from visual.pictures.unrolled.quantities import LanePlace, QuantityNode

PARAMETERS = LanePlace(0, "", 0, "each step reads")
TOTALS = LanePlace(0, "", 1, "sum over steps")
LASTING = PARAMETERS, TOTALS  # values that belong to all steps
FOLD = 34  # the width of a gap
SLIM = 0.85  # smallest fraction of the width of a box, to leave space for labels


@dataclass(frozen=True)
class Room:
    """The edges of the boxes, their least and greatest widths, and the size of the smallest text.

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
        """Return the width of boxes, and their distance with `count` tracks between two columns.

        The boxes are slightly narrower if this makes space for labels of width `words`.
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


FREE = Room()


def room_on(sheet: Sheet, is_open: bool = True) -> Room:
    """Return the space for a picture on a sheet."""
    sizes = sheet.labels - 2, sheet.width - sheet.margin, 72.0, 110.0
    return Room(16.0, *sizes, 11.0, is_open, sheet)


@dataclass(frozen=True)
class Lane:
    """A lane in the block of a Scan, with the values of one variable, or with lasting values.

    Direct parts of a gradient are below the gradient or, with `on_top`, above the block.
    """

    block: int
    place: LanePlace
    on_top: bool = False

    @property
    def is_lasting(self) -> bool:
        """Whether the lane has values that belong to all steps."""
        return self.place in LASTING

    @property
    def order(self) -> tuple[int, bool, int, int, int]:
        """The sort key of the lane. In a block, lanes with values of all steps are last."""
        order = (self.place.argument, self.place.again, self.place.direct - 2 * self.on_top)
        return (self.block, self.is_lasting, *order)


@dataclass(frozen=True)
class PlacedNode:
    """A node of the graph, by its number, with the lane and the column of the node."""

    node: int
    row: Lane
    column: int


@dataclass(frozen=True, eq=False)
class Placing:
    """All nodes with their places, the arrows between nodes, and the omitted lanes."""

    items: tuple[PlacedNode, ...]
    arrows: tuple[tuple[PlacedNode, PlacedNode], ...]
    left_out: frozenset[LanePlace]

    def without_readings(
        self, nodes: Sequence[QuantityNode], gradients: Container[int]
    ) -> "Placing":
        """Return the placing without arrows from the values of a loop to the Scans `gradients`.

        The direct parts of the first gradient move to the top of their block. Gradients with
        arrows between them are then neighbors.
        """

        def is_reading(first: PlacedNode, last: PlacedNode) -> bool:
            scan = nodes[last.node].place.scan
            return scan in gradients and nodes[first.node].place.scan != scan

        direct = {item.row for item in self.items if item.row.place.direct}
        first = min(direct, key=lambda row: row.order, default=None)
        moved = {
            item: replace(item, row=replace(item.row, on_top=item.row == first))
            for item in self.items
        }
        pairs = (pair for pair in self.arrows if not is_reading(*pair))
        arrows = tuple((moved[a], moved[b]) for a, b in pairs)
        return replace(self, items=tuple(moved.values()), arrows=arrows)


def place(
    trace: Trace,
    chosen: Sequence[int],
    graph: Unrolling,
    requested: Steps,
    sheet: Sheet,
    ends: int | None = None,
) -> Placing:
    """Return the lanes and columns of the nodes of `graph`, and of the arrows between them.

    From a long loop, the placing contains `ends` steps at both ends and the `requested` steps, or
    only the steps that the sheet selects. If `ends` is 0, the placing contains one step of the last
    Scan. Raises ArgumentError if a Scan does not run a selected step.
    """
    only = sheet.steps
    for number in chosen:
        sheet.steps_of(trace.scans[number])
    if ends == 0 and only is None:
        first = (*one_or_more("step", requested), 0)[0]
        only = range(first, first + 1)
    times = [timeline(of.root.scan) for of in ScanOf.each(trace)]
    shown: set[int] = set()
    for number in chosen[-1:] if ends == 0 else chosen:
        steps = numbers(shown_steps(trace.scans[number].steps, requested, ends, only))
        shown |= touched_columns(trace.scans[number], times[number], steps)
    blocks = {number: block for block, number in enumerate(chosen)}
    left_out, items = _unneeded(trace, chosen, graph.nodes), dict[int, PlacedNode]()
    for number, node in enumerate(graph.nodes):
        column, block = node.row, blocks.get(node.place.scan, 0)
        if node.index is not None:
            column = times[node.place.scan].column(node.variable, node.index)
        is_shown = column in shown or node.index is None
        if is_shown and not node.lasting and node.place not in left_out:
            items[number] = PlacedNode(number, Lane(block, node.place), column)
    pairs = ((items.get(source), items.get(target)) for source, target in graph.edges)
    arrows = tuple((a, b) for a, b in pairs if a is not None and b is not None)
    columns = sorted({item.column for item in items.values()}) or [0]
    lasting: dict[Lane, list[int]] = {}
    for number, node in enumerate(graph.nodes):
        if node.lasting:  # a total is a variable of a Scan; a parameter is not
            place = TOTALS if node.place.argument >= 0 else PARAMETERS
            lane = Lane(blocks.get(node.place.scan, 0), place)
            lasting.setdefault(lane, []).append(number)
    for lane, nodes in lasting.items():  # side by side, from the first column on
        more = range(columns[-1] + 1, columns[-1] + 1 + len(nodes))
        for number, column in zip(nodes, [*columns, *more], strict=False):
            items[number] = PlacedNode(number, lane, column)
    return Placing(tuple(items.values()), arrows, left_out)


def _unneeded(
    trace: Trace, chosen: Sequence[int], nodes: Sequence[QuantityNode]
) -> frozenset[LanePlace]:
    """Return the lanes of the outputs of derivatives that affect no result."""
    outputs = {
        (number, tape.argument) for number in chosen[1:] for tape in trace.scans[number].outputs
    }
    places = {n.place for n in nodes if (n.place.scan, n.place.argument) in outputs}
    return frozenset(places - {node.place for node in nodes if not node.faded})
