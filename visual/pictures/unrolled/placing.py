"""The lane and the column of each quantity in an unrolled loop.

Lanes form a block for each Scan. A column is a time of the loop. A quantity without a time, such as
a parameter, is in a separate lane at the end of its block. Arrows connect neighboring blocks; a
value from farther above is repeated on top of its reader's block.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from lab.traces.scan_of import ScanOf
from lab.traces.trace import Trace
from visual.layout.canvas import touched_columns
from visual.layout.columns import Steps, one_or_more, timeline
from visual.pictures.unrolled.graph import Unrolling
from visual.pictures.unrolled.quantities import Node, Place

PARAMETERS, TOTALS = Place(0, "each step reads", 0), Place(0, "sum over steps", 1)
Order = tuple[int, bool, bool, int, int, int, int]


@dataclass(frozen=True)
class Row:
    """A lane in the block of a Scan.

    A `repeated` lane shows values of a Scan farther above again; a `lasting` lane shows quantities
    of all steps, with the place `PARAMETERS` or `TOTALS`. Direct contributions are below their
    gradient, or `on_top`.
    """

    block: int
    repeated: bool
    lasting: bool
    place: Place
    on_top: bool = False

    @property
    def order(self) -> Order:
        """The sort key: repeated values on top, lasting quantities at the bottom."""
        scan = self.place.scan if self.repeated else 0
        order = (self.place.argument, self.place.again, self.place.direct - 2 * self.on_top)
        return (self.block, not self.repeated, self.lasting, scan, *order)


@dataclass(frozen=True)
class Item:
    """The lane and the column of the node with a number."""

    node: int
    row: Row
    column: int


@dataclass(frozen=True, eq=False)
class Placing:
    """All items, the arrows between them, the omitted places, and the number of `hidden` rows.

    It has `readings` if arrows lead from values to gradients.
    """

    items: tuple[Item, ...]
    arrows: tuple[tuple[Item, Item], ...]
    left_out: frozenset[Place]
    hidden: int = 0
    readings: bool = True

    def thinned(self, nodes: Sequence[Node], gradients: Container[int]) -> "Placing":
        """Return the placing without arrows from other Scans to the Scans `gradients`.

        The arrows stay if all of them lead straight down. Otherwise, the direct contributions of
        the first gradient move above it, so that gradients are next to each other.
        """
        columns: dict[int, list[Order]] = {}
        for item in self.items:
            columns.setdefault(item.column, []).append(item.row.order)

        def is_reading(first: Item, last: Item) -> bool:
            scan = nodes[last.node].place.scan
            return scan in gradients and nodes[first.node].place.scan != scan

        def is_far(first: Item, last: Item) -> bool:
            low, high = sorted((first.row.order, last.row.order))
            between = any(low < order < high for order in columns[last.column])
            return first.column != last.column or between

        if not any(is_far(*pair) for pair in self.arrows if is_reading(*pair)):
            return self
        direct = {item.row for item in self.items if item.row.place.direct}
        first = min(direct, key=lambda row: row.order, default=None)
        risen = {
            item: replace(item, row=replace(item.row, on_top=item.row == first))
            for item in self.items
        }
        kept = (pair for pair in self.arrows if not is_reading(*pair))
        arrows = tuple((risen[a], risen[b]) for a, b in kept)
        return replace(self, items=tuple(risen.values()), arrows=arrows, readings=False)

    def within(self, most: int, own: int) -> "Placing":
        """Return at most `most` rows, first those that the Scan with the index `own` writes."""

        def is_read(row: Row) -> bool:
            return row.repeated or row.lasting or row.place.scan != own or row.place.argument < 0

        rows = sorted({item.row for item in self.items}, key=lambda row: (is_read(row), row.order))
        kept = {*rows[:most]}
        items = tuple(item for item in self.items if item.row in kept)
        arrows = tuple(pair for pair in self.arrows if {pair[0].row, pair[1].row} <= kept)
        return replace(self, items=items, arrows=arrows, hidden=len(rows) - len(kept))


def place(
    trace: Trace,
    chosen: Sequence[int],
    graph: Unrolling,
    requested: Steps,
    ends: int | None = None,
    only: range | None = None,
    most: int | None = None,
) -> Placing:
    """Return the placing of the nodes of `graph` at the shown steps.

    A folded loop shows `ends` steps at both ends, and the `requested` ones; 0 `ends` show a single
    step of the last Scan. With `only`, exactly these steps are shown. With `most`, only the last
    block is placed, with at most this number of rows.
    """
    if ends == 0 and only is None:
        first = (*one_or_more("step", requested), 0)[0]
        only = range(first, first + 1)
    placer = _Placer(trace, chosen, graph, requested, ends, only, most)
    placer.place_moments()
    arrows = [pair for edge in graph.edges if (pair := placer.arrow(*edge)) is not None]
    placer.place_lasting()
    items, last = list(placer.items.values()), len(chosen) - 1
    if most is None:
        return Placing(tuple(items), tuple(arrows), frozenset(placer.left_out))
    items = [item for item in items if item.row.block == last]
    arrows = [pair for pair in arrows if {pair[0].row.block, pair[1].row.block} == {last}]
    placing = Placing(tuple(items), tuple(arrows), frozenset(placer.left_out))
    return placing.within(most, chosen[-1])


class _Placer:
    """The items placed so far, by node and block."""

    def __init__(
        self,
        trace: Trace,
        chosen: Sequence[int],
        graph: Unrolling,
        requested: Steps,
        ends: int | None,
        only: range | None,
        most: int | None,
    ) -> None:
        self.nodes, self.repeats = graph.nodes, 1 if most is None else 0
        self.blocks = {number: block for block, number in enumerate(chosen)}
        self.times = [timeline(of.root.scan) for of in ScanOf.each(trace)]
        seen = chosen[-1:] if ends == 0 else chosen
        scans = ((trace.scans[n], self.times[n]) for n in seen)
        shown = (touched_columns(*scan, requested, ends, only) for scan in scans)
        self.shown = set().union(*shown)
        self.homes = self._homes()
        self.left_out = self._useless(trace, chosen)
        self.items: dict[tuple[int, int], Item] = {}

    def place_moments(self) -> None:
        """Place all nodes of shown times."""
        for number, node in enumerate(self.nodes):
            column = self._column(node)
            shown = column in self.shown or node.index is None
            if shown and not node.lasting and node.place not in self.left_out:
                self._put(number, self._block(node), column)

    def arrow(self, source: int, target: int) -> tuple[Item, Item] | None:
        """Return the ends of an edge if both are shown; lasting quantities have no arrows."""
        block, above = self._block(self.nodes[target]), self._block(self.nodes[source])
        first, last = self.items.get((source, above)), self.items.get((target, block))
        if first is None or last is None:
            return None
        if block - above > self.repeats:
            first = self._put(source, block, first.column, repeated=True)
        return first, last

    def place_lasting(self) -> None:
        """Place parameters and their gradients next to each other, from the first column."""
        columns = sorted({item.column for item in self.items.values()}) or [0]
        for block in self.blocks.values():
            here = [n for n in enumerate(self.nodes) if n[1].lasting and self._block(n[1]) == block]
            for summed in (False, True):
                lasting = [n for n, node in here if (node.place.argument >= 0) is summed]
                more = range(columns[-1] + 1, columns[-1] + 1 + len(lasting))
                for number, column in zip(lasting, [*columns, *more], strict=False):
                    self._put(number, block, column)

    def _put(self, number: int, block: int, column: int, repeated: bool = False) -> Item:
        node = self.nodes[number]
        where = node.place
        if node.lasting:  # running totals are variables of their Scan, parameters are not
            where = TOTALS if where.argument >= 0 else PARAMETERS
        item = Item(number, Row(block, repeated, node.lasting, where), column)
        return self.items.setdefault((number, block), item)

    def _block(self, node: Node) -> int:
        """Return the block of a node's Scan, or the first block."""
        return self.blocks.get(node.place.scan, 0)

    def _homes(self) -> dict[tuple[int, int], int]:
        """Return a column for every step of every Scan: that of one of its results."""
        homes: dict[tuple[int, int], int] = {}
        for node in self.nodes:
            if node.index is not None and node.step is not None:
                column = self.times[node.place.scan].column(node.variable, node.index)
                homes.setdefault((node.place.scan, node.step), column)
        return homes

    def _column(self, node: Node) -> int:
        """Return the column of a node; without a time, the rows of a tape have separate columns."""
        if node.index is not None:
            return self.times[node.place.scan].column(node.variable, node.index)
        first, second = (self.homes.get((node.place.scan, step), step) for step in (0, 1))
        return first + (node.row - 1) * (1 if second >= first else -1)

    def _useless(self, trace: Trace, chosen: Sequence[int]) -> set[Place]:
        """Return the unused outputs of derivatives."""
        outputs = {
            (number, tape.argument) for number in chosen[1:] for tape in trace.scans[number].outputs
        }
        places = {n.place for n in self.nodes if (n.place.scan, n.place.argument) in outputs}
        return places - {node.place for node in self.nodes if not node.faded}
