"""The lane and the column of each quantity of an unrolled loop.

Each Scan has a block of lanes. A column is a moment of the loop. The last lanes of a block have the
values that belong to all steps, such as parameters. Arrows lead from a block to a later block.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from lab.traces.scan_of import ScanOf
from lab.traces.trace import Trace
from visual.layout.columns import (
    Steps,
    TimeColumns,
    numbers,
    one_or_more,
    shown_steps,
    timeline,
    touched_columns,
)
from visual.layout.sheet import Sheet
from visual.pictures.unrolled.graph import Unrolling
from visual.pictures.unrolled.quantities import LanePlace, QuantityNode

PARAMETERS = LanePlace(0, "", 0, "each step reads")
TOTALS = LanePlace(0, "", 1, "sum over steps")
LASTING = PARAMETERS, TOTALS  # values that belong to all steps
Order = tuple[int, bool, int, int, int]


@dataclass(frozen=True)
class Lane:
    """A lane in the block of a Scan, with the values of one variable, or with values of all steps.

    Direct parts are below their gradients, or `on_top` of the block.
    """

    block: int
    place: LanePlace
    on_top: bool = False

    @property
    def is_lasting(self) -> bool:
        """Whether the lane has values that belong to all steps."""
        return self.place in LASTING

    @property
    def order(self) -> Order:
        """The sort key of the lane: lasting values last."""
        order = (self.place.argument, self.place.again, self.place.direct - 2 * self.on_top)
        return (self.block, self.is_lasting, *order)


@dataclass(frozen=True)
class PlacedNode:
    """The number of a node, with its lane and its column."""

    node: int
    row: Lane
    column: int


@dataclass(frozen=True, eq=False)
class Placing:
    """All items, the arrows between items, and the places of omitted lanes.

    `readings` is whether arrows lead from values to gradients.
    """

    items: tuple[PlacedNode, ...]
    arrows: tuple[tuple[PlacedNode, PlacedNode], ...]
    left_out: frozenset[LanePlace]
    readings: bool = True

    def without_far_readings(
        self, nodes: Sequence[QuantityNode], gradients: Container[int]
    ) -> "Placing":
        """Return the placing without the arrows from other Scans to the Scans `gradients`.

        If each of these arrows leads straight down to the next box, the placing is unchanged.
        Otherwise the direct parts of the first gradient move to the top, so that gradients with
        arrows between them are neighbors.
        """
        columns: dict[int, list[Order]] = {}
        for item in self.items:
            columns.setdefault(item.column, []).append(item.row.order)

        def is_reading(first: PlacedNode, last: PlacedNode) -> bool:
            scan = nodes[last.node].place.scan
            return scan in gradients and nodes[first.node].place.scan != scan

        def is_far(first: PlacedNode, last: PlacedNode) -> bool:
            low, high = sorted((first.row.order, last.row.order))
            between = any(low < order < high for order in columns[last.column])
            return first.column != last.column or between

        if not any(is_far(*pair) for pair in self.arrows if is_reading(*pair)):
            return self
        direct = {item.row for item in self.items if item.row.place.direct}
        first = min(direct, key=lambda row: row.order, default=None)
        moved = {
            item: replace(item, row=replace(item.row, on_top=item.row == first))
            for item in self.items
        }
        pairs = (pair for pair in self.arrows if not is_reading(*pair))
        arrows = tuple((moved[a], moved[b]) for a, b in pairs)
        return replace(self, items=tuple(moved.values()), arrows=arrows, readings=False)


def place(
    trace: Trace,
    chosen: Sequence[int],
    graph: Unrolling,
    requested: Steps,
    sheet: Sheet,
    ends: int | None = None,
) -> Placing:
    """Place the nodes of `graph`; of a long loop, only `ends` steps at both ends and `requested`.

    The sheet can select other steps; every chosen Scan must run these. If `ends` is 0, the placing
    has one step of the last Scan.
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
        column, block = _column(node, times), blocks.get(node.place.scan, 0)
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


def _column(node: QuantityNode, times: Sequence[TimeColumns]) -> int:
    """Return the column of a node; without a time, the rows of a tape are side by side."""
    if node.index is None:
        return node.row
    return times[node.place.scan].column(node.variable, node.index)


def _unneeded(
    trace: Trace, chosen: Sequence[int], nodes: Sequence[QuantityNode]
) -> frozenset[LanePlace]:
    """Return the outputs of derivatives that affect no result."""
    outputs = {
        (number, tape.argument) for number in chosen[1:] for tape in trace.scans[number].outputs
    }
    places = {n.place for n in nodes if (n.place.scan, n.place.argument) in outputs}
    return frozenset(places - {node.place for node in nodes if not node.faded})
