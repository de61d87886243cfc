"""The shapes of an unrolled picture, for a graph whose nodes have columns and lanes."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import inf

from lab.equations.events.events import events
from lab.equations.notes import result_notes
from lab.notation import counted
from visual.layout.arrows import Moment, Point
from visual.layout.canvas import HEIGHT, GapMark
from visual.layout.cells import draw_cell
from visual.layout.columns import BoxColumns, Gap
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN
from visual.layout.table import Cell, Fold
from visual.pictures.unrolled.factors import SIZE, factor_along, factor_labels
from visual.pictures.unrolled.graph import QuantityNode, Unrolling
from visual.pictures.unrolled.overview import feeding
from visual.pictures.unrolled.placing import TRACK, Placing, Routes
from visual.scene.combinators import Envelope, Piece, envelope_of, over, piece, shifted, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Group, Shape, TextLook, fitted, folded, shortened

MOST_FACTORS, LONGEST = 3, 420.0
OMITTED = "the formulas contain the saved values; arrows from these values are omitted"
LEAST, NARROW = 0.64, 56  # minimum fraction of `narrowest`; minimum gap for factors


class Picture(Placing):
    """A graph with the positions and sizes of its boxes, on the sheet of `fold`.

    In an open picture, arrows show local derivatives, and all boxes of the loop have full colors. A
    picture that is not open has any width (`right` is infinite) if the sheet has the default width.
    `small` is the smallest font size.
    """

    def __init__(self, graph: Unrolling, fold: Fold, is_open: bool) -> None:
        super().__init__(graph, fold, is_open)
        self.trace, self.chosen, self.graph = graph.trace, graph.chosen, graph
        self.sheet, self.is_open = fold.sheet, is_open
        self.top, self.left, self.right = 40.0, 216.0, inf
        narrowest, widest, self.small = 96.0, 150.0, 10.5  # the width of boxes
        if is_open or fold.sheet.width != SCREEN.width:
            self.right = self.sheet.width - self.sheet.margin
            self.top, self.left = 16.0, self.sheet.labels - 2
            narrowest, widest, self.small = 72.0, 110.0, 11.0
        self.nodes = {number: graph.nodes[number] for number in self.spots}
        first = 0 if is_open else min(graph.chosen)  # the first Scan with moments in the picture
        self.begin, _ = NamedScan(graph.trace, first).moment(0)
        self.ends = [(self.spots[a], self.spots[b]) for a, b in self.arrows]
        scans = {number: node.lane.scan for number, node in self.nodes.items()}
        self.faint = [scans[a] != scans[b] for a, b in self.arrows]  # arrows between two Scans
        run, edges = events(graph.trace), enumerate(self.arrows if is_open else ())
        factors = ((number, factor_along(run, graph, edge)) for number, edge in edges)
        self.factors = {number: factor for number, factor in factors if factor}  # by arrow
        self.factored = [self.ends[number] for number in self.factors]
        self.routes = Routes(self.ends, self.factored, {*self.spots.values()})
        shown = ((text_width(n.label, 12, bold=True), n.value.ndim) for n in self.nodes.values())
        # The name of an array fills half of the box.
        wide = (2 * name + 8 if is_open and rank else name + 12 for name, rank in shown)
        sizes = min(max([narrowest, *wide]), widest), 26.0 + TRACK * self.routes.count
        words = max((text_width(f.name, SIZE) + 8 for f in self.factors.values()), default=0.0)
        ends = self.left, self.right
        self.grid = BoxColumns(self.columns, ends, sizes, LEAST * narrowest, words)

    def draw(self) -> Piece:
        """Draw the headings of blocks and the names of lanes, then arrows, then boxes."""
        y, words, tops, headed = self.top, list[Piece](), list[float](), set[int]()
        for number, lane in enumerate(self.lanes):
            block = self.graph.block(lane)
            if block not in headed:
                headed.add(block)
                y += 16 if number else 0
                words.append(shifted(self._heading(self.chosen[block]), 0, y))
                y = words[-1].envelope.bottom
            tops.append(y)
            is_bold, end = bool(lane.variable) and not lane.direct, self.left - 12
            room = end - self.sheet.margin
            size = 13 if is_bold and text_width(lane.name, 13, bold=True) <= room else self.small
            names = [lane.name] if is_bold else folded(lane.name, room, size)
            look = TextLook(bold=is_bold, muted=not is_bold)
            for n, name in enumerate(names):
                low = y + HEIGHT / 2 + 4 + 13 * (n - (len(names) - 1) / 2)
                words.append(piece(fitted(end, low, name, room, size, "end", **look)))
            y += HEIGHT + 20 + self.routes.room(number) + self._below(number)
        boxes, cells, grid = dict[int, Box](), list[Group](), self.grid
        for number, node in self.nodes.items():
            spot, is_first = self.spots[number], self.graph.block(node.lane) == 0
            faded = node.faded and not (self.is_open and is_first)
            corner = grid.lefts[spot.column], tops[spot.lane]
            boxes[number] = box = Box(*corner, grid.width, HEIGHT, node.role, faded=faded)
            cell = Cell(node.role, node.label, node.value, key=node.key, label=node.label)
            named = NamedScan(self.trace, node.lane.scan)
            cell = replace(cell, quantity=named.quantity(node.lane.variable))
            cells.append(draw_cell(replace(cell, moment=self._moment(node)), box))
        at = {self.spots[number]: box for number, box in boxes.items()}
        paths, _ = self.routes.routed(at, grid.between)
        shapes = [*self._arrows(paths, boxes), *cells]
        right = max(grid.lefts, default=0.0) + grid.width + TRACK * (self.routes.count + 2)
        for x, gap in grid.gaps:
            mark, lows = f"⋯{gap.hidden:,}", (top + HEIGHT / 2 + 4 for top in tops)
            shapes += [GapMark(x, low, mark, 11, "middle", muted=True) for low in lows]
        return replace(over(*words, piece(*shapes)), envelope=Envelope(0, 0, right, y))

    def notes(self) -> list[str]:
        """Return sentences about hidden moments, arrows, factors, and results."""
        lines = list[str]()
        if moments := sum(c.hidden for c in self.columns if isinstance(c, Gap)):
            hint = self.sheet.hint("step=STEP shows more")
            lines.append(f"⋯ {counted(moments, 'moment')} hidden{hint}")
        if any(self.faint):
            lines.append("gray arrow: a step reads a value of another Scan")
        formulas: dict[object, str] = {}
        for number, factor in self.factors.items():
            start, end = self.ends[number]
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
        derived = any(self.trace.scans[number].order for number in self.chosen)
        return [*lines, *(result_notes(self.trace) if derived else ())]

    def _heading(self, number: int) -> Piece:
        """Draw the heading of a block: one line, or several lines to the left of the block."""
        named, margin = NamedScan(self.trace, number), self.sheet.margin
        scan, name = named.scan, named.numbered_name
        steps = counted(scan.steps, "step")
        lines = [f"the loop, {steps}"]
        if scan.parent is not None:
            parent = self.trace.scans[scan.parent]
            lines = [f"backward through {'Scan ' * self.is_open}{scan.parent + 1}", f"in {steps}"]
            lines.append(f"gradient of {named.cost}")
            if scan.steps < parent.steps:
                lines.append(f"truncated: only the last {scan.steps} of {parent.steps}")
        lines += [f"{name}: untraced, not drawn" for name in scan.untraced]
        omitted = {lane.variable for lane in self.left_out if lane.scan == number}
        lines += [f"without {name}: not needed" for name in sorted(omitted)]
        title = fitted(margin, 0, name, self.right - margin, 13, bold=True, title=name)
        if self.is_open:
            x = margin + title.width + 12
            more = fitted(x, 0, " · ".join(lines), self.right - x, self.small, muted=True)
            return sized(0, 12, title, more)
        wide = self.left - 12 - margin
        below = enumerate(lines, start=1)
        texts = [fitted(margin, 15 * n, line, wide, self.small, muted=True) for n, line in below]
        return sized(0, 15 * len(lines) + 8, title, *texts)

    def _below(self, lane: int) -> float:
        """Return the space below a lane for the factors on its arrows and on diagonal arrows."""
        near = ((a, b) for a, b in self.factored if {a.lane, b.lane} == {lane, lane + 1})
        if any(a.column != b.column for a, b in near):
            return 44
        along = any(a.lane == b.lane == lane for a, b in self.factored)
        return 16 if along and self.grid.between < NARROW and lane not in self.routes.labeled else 0

    def _arrows(self, paths: Iterable[tuple[Point, ...]], boxes: dict[int, Box]) -> Iterator[Shape]:
        """Yield arrows along `paths` with factors. An arrow has the moment of its target."""
        arrows = list[Arrow]()
        for (first, last), faint, points in zip(self.arrows, self.faint, paths, strict=True):
            faded = boxes[first].faded or boxes[last].faded
            arrows.append(Arrow(points, faint=faint, straight=True, faded=faded))
        names = Envelope(-inf, -inf, self.left - 12, inf)
        outside = Envelope(self.right + self.sheet.margin, -inf, inf, inf)
        obstacles = [names, outside, *map(envelope_of, boxes.values())]
        texts = factor_labels(arrows, self.factors, obstacles)
        for number, (_, last) in enumerate(self.arrows):
            shapes, (step, moment) = texts.get(number, ()), self._moment(self.nodes[last])
            group = Group((arrows[number], *shapes), step, moment=moment)
            yield group if shapes or step is not None else arrows[number]

    def _moment(self, node: QuantityNode) -> Moment:
        """Return the moment that computes the value of a node.

        The moment of an input is the final moment of the last Scan from which its Scan reads
        results. Return (None, "") without such a Scan, or for a moment before the first shown Scan.
        """
        named, flow, step = NamedScan(self.trace, node.lane.scan), self.graph.flow, node.step
        tape = named.scan.tape(node.lane.argument)
        if step is None and tape and (node.lasting or named.number not in self.chosen):
            write = flow.writes.get(flow.latest(named.number, tape, node.row))
            step = write.step if write is not None else None
        feeds = feeding(named.scan) if tape or not node.lasting else []  # none for a parameter
        if step is None and feeds:
            named = NamedScan(self.trace, feeds[-1])
            step = named.scan.steps - 1 if named.scan.steps else None
        number, name = (None, "") if step is None else named.moment(step)
        if number is None or number < self.begin:
            return None, ""
        return number, name if node.lane.scan in self.chosen else f"given by {name}"
