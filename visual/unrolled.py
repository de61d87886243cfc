"""The unrolled picture: a loop over time, and below it the loops that differentiate it.

A box is a quantity, an arrow tells that one was computed from the other.  Columns are moments
of the loop, so that a gradient stands below what it belongs to, and backward loops run to the
left.  Below a gradient stands its direct part, through which the cost acts at that moment,
wherever later steps add to it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lab.errors import ArgumentError
from lab.trace import Trace
from visual.columns import Gap, Timeline, root_of, step_timeline, with_gaps
from visual.layout import HEIGHT, MARGIN, THIN, Canvas, legend, touched_columns
from visual.names import cost_name
from visual.routes import TRACK, Grid, Spot, Tracks, is_straight, route, tracks
from visual.scene import Arrow, Box, Scene, Text, shortened, text_width
from visual.theme import Role, theme_named
from visual.unrolling import Node, Place, unrolling
from visual.values import cell, thin_cell

LEFT, FOLD, ARC = 216, 40, 24
NARROWEST, WIDEST = 84, 150


@dataclass(frozen=True)
class Row:
    """A lane of the picture: in the block of a Scan, what of a variable stands there.

    A `repeated` one shows once more what a Scan farther above has made.
    """

    block: int
    repeated: bool
    lasting: bool
    place: Place

    @property
    def order(self) -> tuple[int, bool, bool, int, int, int, bool]:
        """Where the lane stands: what is read on top, what lasts at the bottom."""
        place = self.place
        return (
            self.block,
            not self.repeated,
            self.lasting,
            place.scan if self.repeated else 0,
            place.argument,
            place.again,
            place.direct,
        )


@dataclass(frozen=True, eq=False)
class Item:
    """A node where it stands; `node` is its number in the graph."""

    node: int
    row: Row
    column: int


def unrolled(
    trace: Trace,
    theme: str = "light",
    around: int | None = None,
    scans: Sequence[int] | None = None,
    all_direct: bool = False,
) -> Scene:
    """The unrolled picture of a trace, or of those of its Scans that have the numbers `scans`.

    The first of them is drawn as the loop, the others as its derivatives.  With `all_direct`
    every gradient is drawn with its direct part, also where it is zero.
    """
    chosen = _check(trace, scans)
    graph = unrolling(trace, chosen, all_direct)
    picture = _Picture(trace, chosen, around, graph.nodes, graph.edges)
    canvas = picture.draw()
    width = canvas.right + MARGIN
    shapes, bottom = legend(canvas.roles, canvas.y, width)
    canvas.add(*shapes)
    names = ", ".join(f"{trace.scans[n].name} ({trace.scans[n].steps} steps)" for n in chosen)
    return Scene(
        width=width,
        height=bottom + 12,
        shapes=tuple(canvas.shapes),
        title=f"{trace.scans[chosen[0]].name}, unrolled",
        description=f"What every step computes, and from what, in {names}.",
        theme=theme_named(theme),
    )


def _check(trace: Trace, scans: Sequence[int] | None) -> tuple[int, ...]:
    known = range(len(trace.scans))
    chosen = tuple(known if scans is None else sorted(set(scans)))
    if not chosen or not set(chosen) <= set(known):
        raise ArgumentError(
            f"scans = {scans!r}: this trace has the Scans 0 to {len(known) - 1}; choose some."
        )
    return chosen


class _Picture:
    """The graph, placed in lanes and columns."""

    def __init__(
        self,
        trace: Trace,
        chosen: tuple[int, ...],
        around: int | None,
        nodes: Sequence[Node],
        edges: Sequence[tuple[int, int]],
    ) -> None:
        self.trace, self.chosen, self.nodes = trace, chosen, nodes
        self.blocks = {number: block for block, number in enumerate(chosen)}
        self.time: Timeline = step_timeline(root_of(trace, trace.scans[chosen[0]]))
        widest = max((text_width(node.label, 12, bold=True) for node in nodes), default=0)
        self.width = min(max(widest + 12, NARROWEST), WIDEST)
        self.left_out = self._useless()
        scans = [trace.scans[number] for number in chosen]
        touched = {c for scan in scans for c in touched_columns(scan, self.time, around)}
        self.items: dict[tuple[int, int], Item] = {}  # by node and block
        homes = self._homes()
        for number, node in enumerate(nodes):
            column = self._column(node, homes)
            if node.lasting or node.place in self.left_out:
                continue
            if column in touched or node.index is None:
                self._put(number, self._block(node), column, repeated=False)
        self.arrows: list[tuple[Item, Item]] = []
        for source, target in edges:
            self._arrow(source, target)
        self._put_lasting()

    def _useless(self) -> set[Place]:
        """The outputs of derivatives of which nothing is needed: their lanes are left out."""
        outputs = {
            (number, tape.argument)
            for number in self.chosen[1:]
            for tape in self.trace.scans[number].outputs
        }
        places = {n.place for n in self.nodes if (n.place.scan, n.place.argument) in outputs}
        return places - {node.place for node in self.nodes if not node.faded}

    # places

    def _block(self, node: Node) -> int:
        """The block that a node stands in: that of its Scan, or the first."""
        return self.blocks.get(node.place.scan, 0)

    def _homes(self) -> dict[tuple[int, int], int]:
        """For every step of every Scan a column: that of something that it makes."""
        homes: dict[tuple[int, int], int] = {}
        for node in self.nodes:
            if node.index is not None and node.step is not None:
                column = self.time.column(node.variable, node.index)
                homes.setdefault((node.place.scan, node.step), column)
        return homes

    def _column(self, node: Node, homes: dict[tuple[int, int], int]) -> int:
        if node.index is not None:
            return self.time.column(node.variable, node.index)
        if node.step is not None:
            return homes.get((node.place.scan, node.step), node.step)
        first, second = (homes.get((node.place.scan, step), step) for step in (0, 1))
        return 2 * first - second  # before the first step

    def _put(self, number: int, block: int, column: int, repeated: bool) -> Item:
        node = self.nodes[number]
        row = Row(block, repeated, node.lasting, node.place)
        if node.lasting:  # side by side in one lane
            row = replace(row, place=replace(node.place, variable="", argument=0, scan=0))
        return self.items.setdefault((number, block), Item(number, row, column))

    def _arrow(self, source: int, target: int) -> None:
        """An arrow, if both ends are shown; from far above, out of a repetition of its source."""
        if self.nodes[source].lasting or self.nodes[target].lasting:
            return  # they belong to all steps
        block = self._block(self.nodes[target])
        above = self._block(self.nodes[source])
        first, last = self.items.get((source, above)), self.items.get((target, block))
        if first is None or last is None:
            return
        if block - above > 1:
            first = self._put(source, block, first.column, repeated=True)
        self.arrows.append((first, last))

    def _put_lasting(self) -> None:
        columns = sorted({item.column for item in self.items.values()}) or [0]
        placed: dict[int, int] = {}
        for number, node in enumerate(self.nodes):
            if node.lasting:
                block = self._block(node)
                count = placed.get(block, 0)
                placed[block] = count + 1
                beyond = columns[-1] + 1 + count - len(columns)
                column = columns[count] if count < len(columns) else beyond
                self._put(number, block, column, repeated=False)

    # drawing

    def draw(self) -> Canvas:
        """All blocks with their lanes, then the arrows."""
        canvas = Canvas()
        rows = sorted({item.row for item in self.items.values()}, key=lambda row: row.order)
        lanes = {row: lane for lane, row in enumerate(rows)}
        columns = with_gaps(item.column for item in self.items.values())
        numbered = {c: n for n, c in enumerate(columns) if not isinstance(c, Gap)}
        spots = {item: Spot(lanes[item.row], numbered[item.column]) for item in self.items.values()}
        taken = frozenset(spots.values())
        ways = [(spots[a], spots[b]) for a, b in self.arrows]
        found = tracks(ways, taken)
        lefts = _lefts(columns, self.width, 26 + TRACK * found.count)
        arcs = {a.lane for a, b in ways if a.lane == b.lane and not is_straight(a, b, taken)}

        tops, heights = [], []
        for lane, row in enumerate(rows):
            if lane == 0 or rows[lane - 1].block != row.block:
                self._heading(canvas, self.chosen[row.block])
            canvas.y += ARC if lane in arcs else 0
            height = THIN if row.repeated else HEIGHT
            tops.append(canvas.y)
            heights.append(float(height))
            self._label(canvas, row, canvas.y + height / 2 + 4)
            last = lane + 1 == len(rows) or rows[lane + 1].block != row.block
            canvas.y += height + 20 + found.room(lane) + (16 if last else 0)

        grid = Grid(tuple(tops), tuple(heights), tuple(lefts), self.width, taken)
        for (first, last_item), (source, target) in zip(self.arrows, ways, strict=True):
            canvas.add(self._drawn(first, last_item, source, target, grid, found))
        for item, spot in spots.items():
            self._cell(canvas, item, lefts[spot.column], tops[spot.lane])
        for number, column in enumerate(columns):
            if isinstance(column, Gap):
                for top, height in zip(tops, heights, strict=True):
                    mark = f"⋯{column.hidden:,}"
                    x, y = lefts[number] + FOLD / 2, top + height / 2 + 4
                    canvas.add(Text(x, y, mark, 10.5, "middle", muted=True))
        canvas.right = max(canvas.right, max(lefts) + self.width + TRACK * (found.count + 2))
        return canvas

    def _drawn(
        self, first: Item, last: Item, source: Spot, target: Spot, grid: Grid, found: Tracks
    ) -> Arrow:
        points = route(source, target, grid, found)
        bow = source.lane == target.lane and not is_straight(source, target, grid.taken)
        start, end = self.nodes[first.node], self.nodes[last.node]
        elsewhere = start.place.scan != end.place.scan
        return Arrow(points, faint=elsewhere, straight=not bow, faded=start.faded or end.faded)

    def _cell(self, canvas: Canvas, item: Item, x: float, y: float) -> None:
        node = self.nodes[item.node]
        faded = node.faded and not item.row.repeated
        role = Role.READ if item.row.repeated else node.role
        canvas.roles.append(Role.UNNEEDED if faded else role)
        height = THIN if item.row.repeated else HEIGHT
        box = Box(x, y, self.width, height, role, faded=faded)
        if item.row.repeated:
            canvas.add(thin_cell(box, node.value, node.label, None, node.key))
        else:
            canvas.add(cell(box, node.value, node.label, key=node.key, label=node.label))

    def _heading(self, canvas: Canvas, number: int) -> None:
        """What a block is, to the left of all boxes and arrows."""
        scan = self.trace.scans[number]
        steps = f"{scan.steps} {'step' if scan.steps == 1 else 'steps'}"
        lines = [f"the loop, {steps}"]
        if number != self.chosen[0] and scan.parent is not None:
            lines = [f"backward through {scan.parent + 1}, {steps}"]
            lines.append(f"gradient of {cost_name(scan.order)}")
        lines += [
            f"without {place.variable}: not needed"
            for place in sorted(self.left_out, key=lambda place: place.argument)
            if place.scan == number
        ]
        self._left_text(canvas, f"{number + 1} · {scan.name}", MARGIN, 13, bold=True)
        for line in lines:
            canvas.y += 15
            self._left_text(canvas, line, MARGIN, 10.5, muted=True)
        canvas.y += 8

    def _left_text(
        self,
        canvas: Canvas,
        words: str,
        x: float,
        size: float,
        bold: bool = False,
        muted: bool = False,
    ) -> None:
        """A line in the left margin, as long as there is room."""
        short = shortened(words, LEFT - 12 - x, size)
        title = words if short != words else ""
        canvas.add(Text(x, canvas.y, short, size, bold=bold, muted=muted, title=title))

    def _label(self, canvas: Canvas, row: Row, y: float) -> None:
        if row.lasting:
            words = "at every step"
        elif row.repeated:
            words = f"reads {row.place.variable}"
        else:
            words = "direct part" if row.place.direct else row.place.variable
        strong = not (row.lasting or row.repeated or row.place.direct)
        size = 13 if strong else 10.5
        short = shortened(words, LEFT - MARGIN - 14, size)
        title = words if short != words else ""
        label = Text(LEFT - 12, y, short, size, "end", bold=strong, muted=not strong, title=title)
        canvas.add(label)


def _lefts(columns: Iterable[int | Gap], width: float, between: float) -> list[float]:
    """The left edges of columns; a gap is narrower."""
    x: float = LEFT
    found = []
    for column in columns:
        found.append(x)
        x += (FOLD if isinstance(column, Gap) else width) + between
    return found
