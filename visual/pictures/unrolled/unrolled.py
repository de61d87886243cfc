"""The unrolled picture: a loop over time, and below it the loops that differentiate it.

A box is a quantity, an arrow tells that one was computed from the other.  Columns are moments
of the loop, so that a gradient stands below what it belongs to, and backward loops run to the
left.  Below a gradient stands its direct part, through which the cost acts at that moment,
wherever later steps add to it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lab.equations.quantities import cost_name
from lab.traces.trace import SequenceTrace, TapeTrace, Trace
from visual.choices import of_trace, scan_indices, switch, whole_or_none
from visual.layout.canvas import HEIGHT, MARGIN, THIN, Canvas
from visual.layout.cells import cell, thin_cell
from visual.layout.columns import Gap, with_gaps
from visual.layout.names import NamedScan, counted
from visual.layout.routes import TRACK, Grid, Spot, is_straight, route, tracks
from visual.pictures.unrolled.graph import Unrolling, unrolling
from visual.pictures.unrolled.placing import Item, Placing, Row, place
from visual.pictures.unrolled.quantities import Node, Place
from visual.scene.shapes import (
    Arrow,
    Box,
    Scene,
    Shape,
    Text,
    fitted,
    folded,
    of_run,
    shortened,
    text_width,
)
from visual.scene.theme import Role

LEFT, FOLD = 216, 40
NARROWEST, WIDEST = 84, 150


@of_run
def unrolled(
    trace: Trace,
    theme: str = "light",
    around: int | None = None,
    scans: Sequence[int] | None = None,
    all_direct: bool = False,
) -> Scene:
    """The unrolled picture of a trace, or of those of its Scans that have the numbers `scans`.

    They are those of the headings, from 1: number 1 is ``trace.scans[0]``.

    The first of them is drawn as the loop, the others as its derivatives.  With `all_direct`
    every gradient is drawn with its direct part, also where it is zero.  Loops of more than 12
    steps are folded: the ends are shown, and the steps next to the step `around`.
    """
    of_trace(trace)
    chosen = tuple(range(len(trace.scans))) if scans is None else scan_indices(trace, scans)
    around = whole_or_none("around", around)
    canvas = drawn(trace, chosen, around, switch("all_direct", all_direct))
    names = ", ".join(f"{trace.scans[n].name} ({trace.scans[n].steps} steps)" for n in chosen)
    return canvas.finished(
        None,
        width=canvas.right + MARGIN,
        title=f"{trace.scans[chosen[0]].name}, unrolled",
        description=f"What every step computes, and from what, in {names}.",
        theme=theme,
    )


def drawn(
    trace: Trace, chosen: Sequence[int], around: int | None = None, all_direct: bool = False
) -> Canvas:
    """What `unrolled` draws of the Scans with the numbers `chosen`, from 0, without a legend."""
    graph = unrolling(trace, chosen, all_direct)
    return _Picture(trace, chosen, graph, place(trace, chosen, graph, around)).draw()


class _Picture:
    """The graph and its placing, drawn on a canvas."""

    def __init__(
        self, trace: Trace, chosen: Sequence[int], graph: Unrolling, placing: Placing
    ) -> None:
        self.trace, self.chosen, self.nodes, self.placing = trace, chosen, graph.nodes, placing
        self.canvas = Canvas()
        self.rows = sorted({item.row for item in placing.items}, key=lambda row: row.order)
        lanes = {row: lane for lane, row in enumerate(self.rows)}
        self.columns = with_gaps(item.column for item in placing.items)
        numbers = {c: n for n, c in enumerate(self.columns) if not isinstance(c, Gap)}
        self.spots = {i: Spot(lanes[i.row], numbers[i.column]) for i in placing.items}
        self.ways = [(self.spots[a], self.spots[b]) for a, b in placing.arrows]
        self.taken = frozenset(self.spots.values())
        self.tracks = tracks(self.ways, self.taken)

    def draw(self) -> Canvas:
        """The lanes of all blocks, the arrows, and the boxes over them."""
        grid = self._grid()
        for (first, last), (source, target) in zip(self.placing.arrows, self.ways, strict=True):
            bow = source.lane == target.lane and not is_straight(source, target, self.taken)
            start, end = self.nodes[first.node], self.nodes[last.node]
            arrow = Arrow(
                route(source, target, grid, self.tracks),
                faint=start.place.scan != end.place.scan,
                straight=not bow,
                faded=start.faded or end.faded,
            )
            self._add(arrow, end)
        for item, spot in self.spots.items():
            left, top = grid.lefts[spot.column], grid.tops[spot.lane]
            self._cell(item, Box(left, top, grid.width, grid.heights[spot.lane], Role.READ))
        self._gaps(grid)
        right = max(grid.lefts) + grid.width + TRACK * (self.tracks.count + 2)
        self.canvas.right = max(self.canvas.right, right)
        return self.canvas

    def _grid(self) -> Grid:
        """Where lanes and columns begin; headings and labels are drawn on the way."""
        labels = (text_width(node.label, 12, bold=True) for node in self.nodes)
        width = min(max([NARROWEST, *labels]) + 12, WIDEST)
        canvas, tops, heights = self.canvas, [], []
        for lane, row in enumerate(self.rows):
            if lane == 0 or self.rows[lane - 1].block != row.block:
                canvas.y += 16 if lane else 0
                self._heading(self.chosen[row.block])
            canvas.y += self.tracks.room_over(lane)
            height = THIN if row.repeated else HEIGHT
            tops.append(canvas.y)
            heights.append(float(height))
            self._label(row, canvas.y + height / 2 + 4)
            canvas.y += height + 20 + self.tracks.room(lane)
        lefts = _lefts(self.columns, width, 26 + TRACK * self.tracks.count)
        return Grid(tuple(tops), tuple(heights), lefts, width, self.taken)

    def _cell(self, item: Item, box: Box) -> None:
        node = self.nodes[item.node]
        if item.row.repeated:
            role = Role.INTERMEDIATE if self._is_part(item.row) else Role.READ
            box = replace(box, role=role)
            self.canvas.add(thin_cell(box, node.value, node.label, None, node.key))
            return
        box = Box(box.x, box.y, box.width, box.height, node.role, faded=node.faded)
        self._add(cell(box, node.value, node.label, key=node.key, label=node.label), node)

    def _add(self, shape: Shape, node: Node) -> None:
        """Draw what belongs to the step that made a node."""
        start = len(self.canvas.shapes)
        self.canvas.add(shape)
        if node.step is not None:
            self.canvas.group(start, *NamedScan(self.trace, node.place.scan).moment(node.step))

    def _gaps(self, grid: Grid) -> None:
        for left, column in zip(grid.lefts, self.columns, strict=True):
            for top, height in zip(grid.tops, grid.heights, strict=True):
                if isinstance(column, Gap):
                    mark, y = f"⋯{column.hidden:,}", top + height / 2 + 4
                    self.canvas.add(Text(left + FOLD / 2, y, mark, 10.5, "middle", muted=True))

    # words

    def _heading(self, number: int) -> None:
        """What a block is, to the left of all boxes and arrows."""
        scan, canvas = self.trace.scans[number], self.canvas
        steps = counted(scan.steps, "step")
        lines = [f"the loop, {steps}"]
        if number != self.chosen[0] and scan.parent is not None:
            lines = [f"backward through {scan.parent + 1}, {steps}"]
            if shortened(lines[0], LEFT - 12 - MARGIN, 10.5) != lines[0]:
                lines = [f"backward through {scan.parent + 1}", steps]
            lines.append(f"gradient of {cost_name(scan.order)}")
            parent = self.trace.scans[scan.parent]
            if scan.steps < parent.steps:
                lines.append(f"truncated: the last {scan.steps} of {parent.steps} only")
        lines += [f"{name}: untraced, not drawn" for name in scan.untraced]
        left_out = [p.variable for p in self.placing.left_out if p.scan == number]
        lines += [f"without {name}: not needed" for name in sorted(set(left_out))]
        title = f"{number + 1} · {scan.name}"
        for n, line in enumerate(folded(title, LEFT - 12 - MARGIN, 13, bold=True)):
            canvas.y += 17 * (n > 0)
            self._left(line, MARGIN, "start", 13, strong=True)
        for line in lines:
            canvas.y += 15
            self._left(line, MARGIN, "start", 10.5)
        canvas.y += 8

    def _label(self, row: Row, y: float) -> None:
        words = self._name(row.place)
        if row.repeated and not row.lasting:
            words = f"{'adds' if self._is_part(row) else 'reads'} {words}"
        strong = not (row.lasting or row.repeated or row.place.direct)
        height, self.canvas.y = self.canvas.y, y
        self._left(words, LEFT - 12, "end", 13 if strong else 10.5, strong)
        self.canvas.y = height

    def _name(self, place: Place) -> str:
        """What all values in a row are: x, dC/dx, ∂C′/∂x."""
        named = NamedScan(self.trace, place.scan)
        variables: list[TapeTrace | SequenceTrace] = [*named.scan.held, *named.scan.sequences]
        for held in variables:
            found = held.argument == place.argument or place.argument < 0
            if found and held.name == place.variable:
                name = named.row_name(held)
                if place.direct and isinstance(held, TapeTrace):
                    name = named.direct_label(held, None)
                return f"{name}, again" if place.again else name
        return place.variable

    def _is_part(self, row: Row) -> bool:
        """Whether what is repeated is no forward value, but part of a gradient."""
        scan, place = self.trace.scans[self.chosen[row.block]], row.place
        feeds = [f for f in scan.feeds if (f.scan, f.variable) == (place.scan, place.argument)]
        return bool(feeds) and not any(scan.is_reading(feed.into) for feed in feeds)

    def _left(self, words: str, x: float, anchor: str, size: float, strong: bool = False) -> None:
        """A line in the left margin, as long as there is room."""
        y, room = self.canvas.y, LEFT - 12 - MARGIN
        self.canvas.add(fitted(x, y, words, room, size, anchor, bold=strong, muted=not strong))


def _lefts(columns: Iterable[int | Gap], width: float, between: float) -> tuple[float, ...]:
    """The left edges of columns; a gap is narrower."""
    x: float = LEFT
    lefts = []
    for column in columns:
        lefts.append(x)
        x += (FOLD if isinstance(column, Gap) else width) + between
    return tuple(lefts)
