"""The content of an unrolled picture: lanes, cells, arrows with factors, and notes.

Each Scan has a block of lanes, and each moment of the loop has a column. The lowest lanes of a
block contain the values that belong to all steps, such as parameters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, count, groupby

from lab.equations.events.events import events
from lab.equations.notes import result_notes
from lab.notation import counted
from visual.layout.arrows import Edge, Moment
from visual.layout.columns import Gap, numbers, timeline, touched_columns, with_gaps
from visual.layout.lanes import LaneGrid, LaneHead, Spot
from visual.layout.names import NamedScan
from visual.layout.table import Cell, Fold
from visual.pictures.unrolled.factors import factor_along
from visual.pictures.unrolled.graph import Lane, QuantityNode, Unrolling
from visual.pictures.unrolled.overview import feeding
from visual.scene.shapes import shortened

MOST_FACTORS, LONGEST = 3, 420.0
OMITTED = "the formulas contain the saved values; arrows from these values are omitted"


class Picture:
    """The shown nodes and arrows of `graph`, in a `grid` on the sheet of `fold`.

    `spots` maps the number of each shown node to its lane and column. `factors` maps arrows, pairs
    of node numbers, to local derivatives. The picture contains the steps of `fold` or, if its
    `ends` is 0, a single step of the last of the chosen Scans.

    An open picture has factors, but no arrows from the values of a loop to its gradients, and all
    boxes of the loop have full colors. Raises ArgumentError if a Scan does not run a selected step.
    """

    def __init__(self, graph: Unrolling, fold: Fold, is_open: bool) -> None:
        self.graph, self.sheet, self.is_open = graph, fold.sheet, is_open
        self.scans, nodes = [*NamedScan.each(graph.trace)], graph.nodes
        self.begin, _ = self.scans[0 if is_open else min(graph.chosen)].moment(0)  # first moment
        places, every = self._places(fold)
        ends = {number for number in places if not nodes[number].lasting}
        arrows = [edge for edge in graph.edges if ends >= {*edge}]
        if is_open:
            scans = [self.scans[node.lane.scan] for node in nodes]
            arrows = [(a, b) for a, b in arrows if scans[b].parent is None or scans[a] == scans[b]]
        lanes = _sorted_lanes(graph, [lane for lane, _ in places.values()], is_open)
        columns = with_gaps((column for _, column in places.values()), every)
        at = {column: n for n, column in enumerate(columns) if not isinstance(column, Gap)}
        self.spots = {n: Spot(lanes.index(lane), at[time]) for n, (lane, time) in places.items()}
        run = events(graph.trace)
        factors = ((edge, factor_along(run, graph, edge)) for edge in arrows if is_open)
        self.factors = {edge: factor for edge, factor in factors if factor}
        cells = {spot: self._cell(number) for number, spot in self.spots.items()}
        edges, heads = [self._edge(*arrow) for arrow in arrows], [*self._heads(lanes)]
        self.grid = LaneGrid(heads, columns, cells, edges, fold.sheet, is_open)

    def _places(self, fold: Fold) -> tuple[dict[int, tuple[Lane, int]], set[int]]:
        """Return the lane and the column of each shown node, and the columns of all nodes."""
        trace, chosen, nodes = self.graph.trace, self.graph.chosen, self.graph.nodes
        times = [timeline(named.root.scan) for named in self.scans]
        last = fold.ends == 0
        fold = replace(fold, requested=fold.requested[:1]) if last else fold
        shown = set[int]()  # the columns that the shown steps read or write
        for number in chosen[-1:] if last else chosen:
            steps = numbers(fold.steps(trace.scans[number]))
            shown |= touched_columns(trace.scans[number], times[number], steps)
        outputs = {(n, tape.argument) for n in chosen[1:] for tape in trace.scans[n].outputs}
        lanes = {node.lane for node in nodes if (node.lane.scan, node.lane.argument) in outputs}
        # The lanes of outputs of derivatives whose values affect no result.
        self.left_out = lanes - {node.lane for node in nodes if not node.faded}
        places, every = dict[int, tuple[Lane, int]](), set[int]()
        for number, node in enumerate(nodes):
            if node.lasting or node.lane in self.left_out:
                continue
            time, index = times[node.lane.scan], node.index
            column = node.row if index is None else time.column(node.variable, index)
            every.add(column)
            if column in shown or index is None:
                places[number] = node.lane, column
        columns = sorted({column for _, column in places.values()}) or [0]
        free: dict[Lane, Iterator[int]] = {}  # the free columns of each lane, from the first column
        for number, node in enumerate(nodes):
            if node.lasting:  # a running total (argument ≥ 0) or a parameter
                scan, is_total = chosen[self.graph.block(node.lane)], node.lane.argument >= 0
                lane = Lane(scan, "", is_total, "sum over steps" if is_total else "each step reads")
                each = free.setdefault(lane, chain(columns, count(columns[-1] + 1)))
                places[number] = lane, next(each)
        return places, every

    def _heads(self, lanes: Sequence[Lane]) -> Iterator[LaneHead]:
        """Yield the name of each lane. The first lane of a Scan has the heading of the Scan."""
        for block, group in groupby(lanes, self.graph.block):
            title, about = self._heading(self.graph.chosen[block])
            for lane in group:
                yield LaneHead(lane.name, bool(lane.variable) and not lane.direct, title, about)
                title = ""

    def _cell(self, number: int) -> Cell:
        """Return the cell of a node."""
        node = self.graph.nodes[number]
        faded = node.faded and not (self.is_open and self.graph.block(node.lane) == 0)
        quantity = self.scans[node.lane.scan].quantity(node.lane.variable)
        cell = replace(node, id=number, label=node.name, quantity=quantity, faded=faded)
        return replace(cell, moment=self._moment(node))

    def _edge(self, source: int, target: int) -> Edge:
        """Return an edge with its factor. It has the moment of its target."""
        start, end = self.graph.nodes[source], self.graph.nodes[target]
        factor = self.factors.get((source, target))
        labels, title = (factor.labels, factor.title) if factor else ((), "")
        faint, moment = start.lane.scan != end.lane.scan, self._moment(end)  # between two Scans
        return Edge(source, target, labels, faint=faint, title=title, moment=moment)

    def notes(self) -> list[str]:
        """Return sentences about hidden moments, arrows, factors, and results."""
        lines = list[str]()
        if moments := sum(c.hidden for c in self.grid.columns if isinstance(c, Gap)):
            hint = self.sheet.hint("step=STEP shows more")
            lines.append(f"⋯ {counted(moments, 'moment')} hidden{hint}")
        if any(edge.faint for edge in self.grid.edges):
            lines.append("gray arrow: a step reads a value of another Scan")
        formulas: dict[object, str] = {}
        for (source, target), factor in self.factors.items():
            start, end = self.spots[source], self.spots[target]
            every_step = start.lane, end.lane, end.column - start.column
            if factor.name:
                equals = ": " if factor.is_applied else " = "
                formulas.setdefault(every_step, f"{factor.name}{equals}{factor.formula}")
        if formulas:
            shown = [shortened(f, LONGEST, 12) for f in formulas.values()][:MOST_FACTORS]
            shown += ["…"] if len(formulas) > MOST_FACTORS else []
            is_applied = any(each.is_applied for each in self.factors.values() if each.name)
            label = "local derivative, ▢ is the gradient" if is_applied else "local derivative"
            lines.append(f"on arrows between gradients: {label}, such as {', '.join(shown)}")
            lines.append(OMITTED)
        derived = any(self.scans[number].scan.order for number in self.graph.chosen)
        return [*lines, *(result_notes(self.graph.trace) if derived else ())]

    def _heading(self, number: int) -> tuple[str, list[str]]:
        """Return the title of a Scan, and the lines about the Scan."""
        named, scan, parent = self.scans[number], self.scans[number].scan, self.scans[number].parent
        steps = counted(scan.steps, "step")
        lines = [f"the loop, {steps}"]
        if parent is not None:
            through = f"backward through {'Scan ' * self.is_open}{parent.number + 1}"
            lines = [through, f"in {steps}", f"gradient of {named.cost}"]
            if scan.steps < parent.scan.steps:
                lines.append(f"truncated: only the last {scan.steps} of {parent.scan.steps}")
        lines += [f"{name}: untraced, not drawn" for name in scan.untraced]
        omitted = {lane.variable for lane in self.left_out if lane.scan == number}
        return named.numbered_name, [*lines, *(f"without {n}: not needed" for n in sorted(omitted))]

    def _moment(self, node: QuantityNode) -> Moment:
        """Return the moment that computes the value of a node.

        The moment of an input is the final moment of the last Scan from which its Scan reads
        results. Return (None, "") without such a Scan, or for a moment before the first shown Scan.
        """
        named, flow, step = self.scans[node.lane.scan], self.graph.flow, node.step
        tape = named.scan.tape(node.lane.argument)
        if step is None and tape and (node.lasting or named.number not in self.graph.chosen):
            write = flow.writes.get(flow.latest(named.number, tape, node.row))
            step = write.step if write is not None else None
        feeds = feeding(named.scan) if tape or not node.lasting else []  # none for a parameter
        if step is None and feeds:
            named = self.scans[feeds[-1]]
            step = named.scan.steps - 1 if named.scan.steps else None
        number, name = (None, "") if step is None else named.moment(step)
        if number is None or number < self.begin:
            return None, ""
        return number, name if node.lane.scan in self.graph.chosen else f"given by {name}"


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
