"""The lane and the column of each quantity of an unrolled loop.

Each Scan has a block of lanes.  A column is a moment of the loop.  The last lane of a block
contains the values that belong to no single moment, such as parameters.  Arrows lead from one
block to a later one.
"""

from collections.abc import Collection, Container, Sequence
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

PARAMETERS, TOTALS = LanePlace(0, "each step reads", 0), LanePlace(0, "sum over steps", 1)
Order = tuple[int, bool, int, int, int]


@dataclass(frozen=True)
class Lane:
    """A lane in the block of a Scan, with values of one variable.

    A `lasting` lane shows values that belong to all steps; its place is `PARAMETERS` or `TOTALS`.
    Direct parts are below their gradients, or `on_top` of the block.
    """

    block: int
    lasting: bool
    place: LanePlace
    on_top: bool = False

    @property
    def order(self) -> Order:
        """The sort key of the lane: lasting values last."""
        order = (self.place.argument, self.place.again, self.place.direct - 2 * self.on_top)
        return (self.block, self.lasting, *order)


@dataclass(frozen=True)
class PlacedNode:
    """The number of a node, with its lane and its column."""

    node: int
    row: Lane
    column: int


@dataclass(frozen=True, eq=False)
class Placing:
    """All items, the arrows between them, and the places of omitted rows.

    It has `readings` if arrows lead from values to gradients.
    """

    items: tuple[PlacedNode, ...]
    arrows: tuple[tuple[PlacedNode, PlacedNode], ...]
    left_out: frozenset[LanePlace]
    readings: bool = True

    def thinned(self, nodes: Sequence[QuantityNode], gradients: Container[int]) -> "Placing":
        """Return the placing without the arrows from other Scans to the Scans `gradients`.

        If each of these values is directly above its reader, they are kept.  Otherwise the direct
        parts of the first gradient move to the top, and gradients that feed each other are next to
        each other.
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
    """Place the nodes of `graph`; of a long loop, the nodes of `ends` and `requested` steps.

    The sheet can select other steps, which all chosen Scans must run.  With 0 `ends`, one step of
    the last Scan is shown.
    """
    only = sheet.steps
    for number in chosen:
        sheet.steps_of(trace.scans[number])
    if ends == 0 and only is None:
        first = (*one_or_more("step", requested), 0)[0]
        only = range(first, first + 1)
    seen = chosen[-1:] if ends == 0 else chosen
    times = [timeline(of.root.scan) for of in ScanOf.each(trace)]
    shown = []
    for number in seen:
        scan = trace.scans[number]
        steps = numbers(shown_steps(scan.steps, requested, ends, only))
        shown.append(touched_columns(scan, times[number], steps))
    placer = _Placer(trace, chosen, graph, times, set().union(*shown))
    placer.place_moments()
    arrows = [pair for edge in graph.edges if (pair := placer.arrow(*edge)) is not None]
    placer.place_lasting()
    return Placing(tuple(placer.items.values()), tuple(arrows), frozenset(placer.left_out))


class _Placer:
    """The items placed so far, by node."""

    def __init__(
        self,
        trace: Trace,
        chosen: Sequence[int],
        graph: Unrolling,
        times: Sequence[TimeColumns],
        shown: Collection[int],
    ) -> None:
        self.nodes, self.times, self.shown = graph.nodes, times, shown
        self.blocks = {number: block for block, number in enumerate(chosen)}
        self.step_columns = self._assign_columns()
        self.left_out = self._find_unneeded(trace, chosen)
        self.items: dict[int, PlacedNode] = {}

    def place_moments(self) -> None:
        """Place all nodes of the shown moments."""
        for number, node in enumerate(self.nodes):
            column = self._column(node)
            shown = column in self.shown or node.index is None
            if shown and not node.lasting and node.place not in self.left_out:
                self._put(number, column)

    def arrow(self, source: int, target: int) -> tuple[PlacedNode, PlacedNode] | None:
        """Return the two ends of an edge if both are shown; lasting values have no arrows."""
        first, last = self.items.get(source), self.items.get(target)
        return None if first is None or last is None else (first, last)

    def place_lasting(self) -> None:
        """Place parameters and their gradients side by side, from the first column on."""
        columns = sorted({item.column for item in self.items.values()}) or [0]
        for block in self.blocks.values():
            here = [n for n in enumerate(self.nodes) if n[1].lasting and self._block(n[1]) == block]
            for summed in (False, True):
                lasting = [n for n, node in here if (node.place.argument >= 0) is summed]
                more = range(columns[-1] + 1, columns[-1] + 1 + len(lasting))
                for number, column in zip(lasting, [*columns, *more], strict=False):
                    self._put(number, column)

    def _put(self, number: int, column: int) -> None:
        node = self.nodes[number]
        where = node.place
        if node.lasting:  # a total is a variable of a Scan; a parameter is not
            where = TOTALS if where.argument >= 0 else PARAMETERS
        self.items[number] = PlacedNode(
            number, Lane(self._block(node), node.lasting, where), column
        )

    def _block(self, node: QuantityNode) -> int:
        """Return the block of a node's Scan, or the first block."""
        return self.blocks.get(node.place.scan, 0)

    def _assign_columns(self) -> dict[tuple[int, int], int]:
        """Return a column for every step of every Scan: the column of a value that it computes."""
        columns: dict[tuple[int, int], int] = {}
        for node in self.nodes:
            if node.index is not None and node.step is not None:
                column = self.times[node.place.scan].column(node.variable, node.index)
                columns.setdefault((node.place.scan, node.step), column)
        return columns

    def _column(self, node: QuantityNode) -> int:
        """Return the column of a node; without a time, the rows of a tape are side by side."""
        if node.index is not None:
            return self.times[node.place.scan].column(node.variable, node.index)
        first, second = (self.step_columns.get((node.place.scan, step), step) for step in (0, 1))
        return first + (node.row - 1) * (1 if second >= first else -1)

    def _find_unneeded(self, trace: Trace, chosen: Sequence[int]) -> set[LanePlace]:
        """Return the outputs of derivatives that affect no result."""
        outputs = {
            (number, tape.argument) for number in chosen[1:] for tape in trace.scans[number].outputs
        }
        places = {n.place for n in self.nodes if (n.place.scan, n.place.argument) in outputs}
        return places - {node.place for node in self.nodes if not node.faded}
