"""The shapes of an unrolled picture, for a graph whose nodes have columns and lanes."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from lab.equations.events.events import events
from lab.equations.quantities import cost_name
from lab.equations.spelling import result_notes
from lab.notation import counted
from visual.layout.arrows import Moment
from visual.layout.canvas import HEIGHT
from visual.layout.cells import draw_cell
from visual.layout.columns import Gap
from visual.layout.names import NamedScan
from visual.layout.routes import TRACK, LaneGrid, assign_tracks, is_straight, routes
from visual.layout.table import Cell
from visual.pictures.unrolled.factors import SIZE, factor_along, factor_labels
from visual.pictures.unrolled.graph import Unrolling
from visual.pictures.unrolled.overview import feeding
from visual.pictures.unrolled.placing import FOLD, Placing, Room
from visual.pictures.unrolled.quantities import Lane, QuantityNode
from visual.scene.combinators import Envelope, Piece, envelope_of, over, piece, shifted, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Group, Shape, Text, fitted, folded, shortened

MOST_FACTORS, LONGEST = 3, 420.0
LEAST, NARROW = 0.64, 56  # fraction of `narrowest`; least gap for factors


class Picture:
    """A graph, its placing, and the room. `fits` states whether the room is wide enough."""

    def __init__(self, graph: Unrolling, placing: Placing, room: Room) -> None:
        self.trace, self.chosen, self.graph = graph.trace, graph.chosen, graph
        self.placing, self.room = placing, room
        self.nodes = {number: graph.nodes[number] for number in placing.spots}
        first = 0 if room.open else min(graph.chosen)  # the first Scan with moments in the picture
        self.begin, _ = NamedScan(graph.trace, first).moment(0)
        self.ends = [(placing.spots[a], placing.spots[b]) for a, b in placing.arrows]
        self.taken = frozenset(placing.spots.values())
        run, edges = events(graph.trace), enumerate(placing.arrows if room.open else ())
        found = {number: factor_along(run, graph, edge) for number, edge in edges}
        self.factors = {n: factor for n, factor in found.items() if factor}  # by arrow
        self.factored = [self.ends[number] for number in self.factors]
        along = [(a, b) for a, b in self.factored if a.lane == b.lane]
        labeled = {a.lane for a, b in along if not is_straight(a, b, self.taken)}
        self.tracks = assign_tracks(self.ends, self.taken, labeled)
        wanted = max(map(self._box_width, self.nodes.values()), default=0)
        names = [text_width(factor.name, SIZE) + 8 for factor in self.factors.values()]
        sizes = room.sizes(placing.columns, wanted, self.tracks.count, max(names, default=0.0))
        width, self.between = sizes
        self.width = max(width, LEAST * room.narrowest)
        self.fits = self.width == width

    def _box_width(self, node: QuantityNode) -> float:
        """Return the preferred width of a box. The name of an array fills half of the box."""
        name = text_width(node.label, 12, bold=True)
        return 2 * name + 8 if self.room.open and node.value.ndim else name + 12

    def draw(self) -> Piece:
        """Draw the headings of blocks and the names of lanes, then arrows, then boxes."""
        y, words, tops, headed = self.room.top, list[Piece](), list[float](), set[int]()
        for number, lane in enumerate(self.placing.lanes):
            block = self.graph.block(lane)
            if block not in headed:
                headed.add(block)
                y += 16 if number else 0
                words.append(shifted(self._heading(self.chosen[block]), 0, y))
                y = words[-1].envelope.bottom
            tops.append(y)
            words.append(piece(*self._lane_name(lane, y + HEIGHT / 2 + 4)))
            y += HEIGHT + 20 + self.tracks.room(number) + self._below(number)
        grid = LaneGrid(tuple(tops), HEIGHT, tuple(self._lefts()), self.width, self.taken)
        boxes = {number: self._box(number, grid) for number in self.nodes}
        cells = (self._cell(self.nodes[number], box) for number, box in boxes.items())
        shapes = [*self._arrows(grid, boxes), *cells]
        right = max(grid.lefts, default=0.0) + self.width + TRACK * (self.tracks.count + 2)
        whole = over(*words, piece(*shapes, *self._gaps(grid)))
        return replace(whole, envelope=Envelope(0, 0, right, y))

    def notes(self) -> list[str]:
        """Return sentences about hidden moments, arrows, factors, and results."""
        lines = list[str]()
        if moments := sum(c.hidden for c in self.placing.columns if isinstance(c, Gap)):
            hint = self.room.sheet.hint("step=STEP shows more")
            lines.append(f"⋯ {counted(moments, 'moment')} hidden{hint}")
        if any(self._is_faint(*arrow) for arrow in self.placing.arrows):
            lines.append("gray arrow: a step reads a value of another Scan")
        formulas: dict[object, str] = {}
        for number, factor in self.factors.items():
            start, end = self.ends[number]
            every_step = start.lane, end.lane, end.column - start.column
            if factor.name:
                equals = ": " if "▢" in factor.formula else " = "
                formulas.setdefault(every_step, f"{factor.name}{equals}{factor.formula}")
        if formulas:
            shown = [shortened(f, LONGEST, 12) for f in formulas.values()][:MOST_FACTORS]
            shown += ["…"] if len(formulas) > MOST_FACTORS else []
            has_arrays = any("▢" in formula for formula in formulas.values())
            label = "local derivative, ▢ is the gradient" if has_arrays else "local derivative"
            lines.append(f"on arrows between gradients: {label}, such as {', '.join(shown)}")
            lines.append(
                "the formulas contain the saved values; arrows from these values are omitted"
            )
        derived = any(self.trace.scans[number].order for number in self.chosen)
        return [*lines, *(result_notes(self.trace) if derived else ())]

    def _heading(self, number: int) -> Piece:
        """Draw the heading of a block: one line, or several lines to the left of the block."""
        named, room = NamedScan(self.trace, number), self.room
        scan, name, margin = named.scan, named.numbered_name, room.sheet.margin
        steps = counted(scan.steps, "step")
        lines = [f"the loop, {steps}"]
        if scan.parent is not None:
            parent = self.trace.scans[scan.parent]
            lines = [f"backward through {'Scan ' * room.open}{scan.parent + 1}", f"in {steps}"]
            lines.append(f"gradient of {cost_name(scan.order)}")
            if scan.steps < parent.steps:
                lines.append(f"truncated: only the last {scan.steps} of {parent.steps}")
        lines += [f"{name}: untraced, not drawn" for name in scan.untraced]
        omitted = {lane.variable for lane in self.placing.left_out if lane.scan == number}
        lines += [f"without {name}: not needed" for name in sorted(omitted)]
        title = Text(margin, 0, name, 13, bold=True, title=name)
        if room.open:
            x = margin + title.width + 12
            more = fitted(x, 0, " · ".join(lines), room.right - x, room.small, muted=True)
            return sized(0, 12, title, more)
        wide = room.left - 12 - margin
        below = enumerate(lines, start=1)
        texts = [fitted(margin, 15 * n, line, wide, room.small, muted=True) for n, line in below]
        return sized(0, 15 * len(lines) + 8, title, *texts)

    def _lane_name(self, lane: Lane, y: float) -> Iterator[Text]:
        """Yield the lines of the name of a lane, to the left of the boxes around height `y`."""
        right, strong = self.room.left - 12, bool(lane.variable) and not lane.direct
        size, room = 13 if strong else self.room.small, right - self.room.sheet.margin
        lines = [lane.name] if strong else folded(lane.name, room, size)
        for number, line in enumerate(lines):
            low = y + 13 * (number - (len(lines) - 1) / 2)
            yield fitted(right, low, line, room, size, "end", bold=strong, muted=not strong)

    def _below(self, lane: int) -> float:
        """Return the space below a lane for the factors on its arrows and on diagonal arrows."""
        near = ((a, b) for a, b in self.factored if {a.lane, b.lane} == {lane, lane + 1})
        if any(a.column != b.column for a, b in near):
            return 44
        along = any(a.lane == b.lane == lane for a, b in self.factored)
        return 16 if along and self.between < NARROW and lane not in self.tracks.labeled else 0

    def _lefts(self) -> Iterator[float]:
        """Yield the left edge of each column or gap."""
        x = self.room.left
        for column in self.placing.columns:
            yield x
            x += (FOLD if isinstance(column, Gap) else self.width) + self.between

    def _arrows(self, grid: LaneGrid, boxes: dict[int, Box]) -> Iterator[Shape]:
        """Yield all arrows with their factors. An arrow belongs to the moment of its target."""
        arrows, paths = list[Arrow](), routes(self.ends, grid, self.tracks)
        for (first, last), points in zip(self.placing.arrows, paths, strict=True):
            faint, faded = self._is_faint(first, last), boxes[first].faded or boxes[last].faded
            arrows.append(Arrow(points, faint=faint, straight=True, faded=faded))
        outside = Envelope(self.room.right + self.room.sheet.margin, -inf, inf, inf)
        obstacles = [outside, *map(envelope_of, boxes.values())]
        texts = factor_labels(arrows, self.factors, obstacles)
        for number, (_, last) in enumerate(self.placing.arrows):
            shapes, (step, moment) = texts.get(number, ()), self._moment(self.nodes[last])
            group = Group((arrows[number], *shapes), step, moment=moment)
            yield group if shapes or step is not None else arrows[number]

    def _is_faint(self, first: int, last: int) -> bool:
        """Return whether an arrow connects two Scans."""
        return self.nodes[first].lane.scan != self.nodes[last].lane.scan

    def _box(self, number: int, grid: LaneGrid) -> Box:
        """Return the box of a node. No box of the first block of an open picture is faded."""
        node, spot = self.nodes[number], self.placing.spots[number]
        faded = node.faded and not (self.room.open and self.graph.block(node.lane) == 0)
        left, top = grid.lefts[spot.column], grid.tops[spot.lane]
        return Box(left, top, grid.width, grid.height, node.role, faded=faded)

    def _cell(self, node: QuantityNode, box: Box) -> Group:
        name, moment = node.label, self._moment(node)
        cell = Cell(node.role, name, node.value, key=node.key, label=name, moment=moment)
        return draw_cell(cell, box)

    def _moment(self, node: QuantityNode) -> Moment:
        """Return the moment that computes the value of a node.

        An input has the final moment of the last Scan whose results its Scan reads. The moment is
        (None, "") before the first shown Scan.
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

    def _gaps(self, grid: LaneGrid) -> Iterator[Text]:
        """Yield the number of hidden columns in each lane."""
        for left, column in zip(grid.lefts, self.placing.columns, strict=True):
            mark = f"⋯{column.hidden:,}" if isinstance(column, Gap) else ""
            for top in grid.tops if mark else ():
                y = top + grid.height / 2 + 4
                yield Text(left + FOLD / 2, y, mark, 11, "middle", muted=True)
