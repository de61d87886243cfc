"""The unrolled picture: a loop over time, and below it the loops that differentiate it.

A box is a quantity.  An arrow leads from a value to a value that is computed from it.  A column
is a moment of the loop: each gradient is below the value that it belongs to, and backward Scans
run to the left.  If later steps add to a gradient, its direct part is in the row below it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import starmap
from math import inf

from lab.equations.events.events import events
from lab.equations.quantities import cost_name
from lab.equations.spelling import result_words
from lab.errors import ArgumentError
from lab.traces.trace import SequenceTrace, TapeTrace, Trace
from visual.layout.canvas import HEIGHT, THIN
from visual.layout.canvas import finished as with_legend
from visual.layout.cells import cell, thin_cell
from visual.layout.columns import Gap, Steps, one_or_more, with_gaps
from visual.layout.names import NamedScan, counted, listed, seeds_of, wholes_of
from visual.layout.routes import TRACK, Grid, Spot, is_straight, route, tracks
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import of_trace, opened, scan_indices, switch
from visual.pictures.unrolled.factors import SIZE, factor_along, labels
from visual.pictures.unrolled.graph import Unrolling, unrolling
from visual.pictures.unrolled.overview import given_at, overview
from visual.pictures.unrolled.placing import Item, Placing, Row, place
from visual.pictures.unrolled.quantities import Node, Place
from visual.pictures.unrolled.room import FOLD, FREE, Room, opened_on
from visual.scene.combinators import (
    Envelope,
    Piece,
    above,
    envelope_of,
    gap,
    named,
    over,
    piece,
    shifted,
    sized,
)
from visual.scene.shapes import (
    Arrow,
    Box,
    Group,
    Scene,
    Shape,
    Text,
    fitted,
    folded,
    picture_function,
    shortened,
    text_width,
)
from visual.scene.theme import Role

MOST_FACTORS, LONGEST = 3, 420.0
LEAST, NARROW = 0.64, 56  # the smallest fraction of a box's width; too narrow for a factor
ENDS = None, 3, 2, 1, 0  # steps at both ends of a loop, all of a short one; the first that fit


@picture_function
def unrolled(
    trace: Trace,
    step: Steps = None,
    scans: Sequence[int] | None = None,
    all_direct: bool = False,
    scan: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """Draw the unrolled picture of a trace, as wide as `sheet`: 840 pixels by default.

    The picture shows the Scan with the number `scan`, by default the Scan that computes the
    result, below the Scan that it differentiates.  Its arrows carry local derivatives.  If the
    trace has more Scans, a strip of small tapes shows all of them at the top.

    With `all`, or with the numbers of several `scans`, the Scans are drawn below one another in a
    picture of any size: the first as the loop, the others as its derivatives.  Scans are numbered
    as in the headings, from 1: number 1 is ``trace.scans[0]``.

    With `all_direct`, every gradient has its direct part, even if it is zero.  If a loop has more
    than 12 steps, or is too wide, the picture shows both of its ends and the steps next to `step`.
    """
    of_trace(trace)
    check_sheet(sheet)
    one_or_more("step", step)  # raises an error before anything is drawn
    all_direct = switch("all_direct", all_direct)
    if scans is not None and (scan is not None or all):
        raise ArgumentError("scans and scan: expected one of them, got both.")
    if switch("all", all) or scans is not None:
        chosen = tuple(range(len(trace.scans))) if scans is None else scan_indices(trace, scans)
        graph = unrolling(trace, chosen, all_direct)
        placing = place(trace, chosen, graph, step, None, cut_out(trace, chosen, sheet))
        room = FREE if sheet.width == SCREEN.width else opened_on(sheet, is_open=False)
        picture = _Picture(trace, chosen, graph, placing, room)
        part = picture.draw()
        is_bound = room is not FREE and picture.fits
        width = sheet.width if is_bound else part.envelope.right + sheet.margin
        return finished(part, (), trace, chosen, width, sheet=sheet)
    number = opened(trace, scan)
    chosen = tuple(n for n in (trace.scans[number].parent, number) if n is not None)
    alone = len(chosen) == len(trace.scans)
    top = gap() if alone else overview(trace, number, sheet=sheet)
    return fitting(trace, chosen, top, step, all_direct, sheet=sheet)


def cut_out(trace: Trace, chosen: Sequence[int], sheet: Sheet) -> range | None:
    """Return the steps that the sheet selects, which all chosen Scans must run, or None."""
    if sheet.steps is not None:
        for number in chosen:
            sheet.steps_of(trace.scans[number])
    return sheet.steps


@picture_function
def fitting(
    trace: Trace,
    chosen: Sequence[int],
    top: Piece,
    step: Steps = None,
    all_direct: bool = False,
    verb: str = "unrolled",
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """Draw the Scans with the numbers `chosen`, from 0, below `top`, with the steps that fit.

    With `all`, the picture shows all of them and is as wide as they need.
    """
    graph, only = unrolling(trace, chosen, all_direct), cut_out(trace, chosen, sheet)
    room = replace(opened_on(sheet), right=inf) if all else opened_on(sheet)
    for ends in ENDS:
        placing = place(trace, chosen, graph, step, ends, only)
        picture = _Picture(trace, chosen, graph, placing, room)
        if picture.fits or all:
            break
    part = shifted(above(top, picture.draw(), apart=20), 0, max(4, sheet.margin - 8))
    width = max(
        sheet.width, (top if picture.fits and not all else part).envelope.right + sheet.margin
    )
    return finished(part, picture.notes(), trace, chosen, width, verb, sheet)


def finished(
    part: Piece,
    notes: Sequence[str],
    trace: Trace,
    chosen: Sequence[int],
    width: float,
    verb: str = "unrolled",
    sheet: Sheet = SCREEN,
) -> Scene:
    """Return the picture with its legend and the `notes` below it."""
    names = ", ".join(f"{trace.scans[n].name} ({trace.scans[n].steps} steps)" for n in chosen)
    title = f"{trace.scans[chosen[0]].name}, {verb}"
    caption = f"Each value of {names}, with the values it is computed from."
    close = width == sheet.width
    seeds, wholes = seeds_of(trace, chosen[::-1]), wholes_of(trace)
    return with_legend(
        part, None, title, caption, sheet, width, notes, close=close, seeds=seeds, wholes=wholes
    )


class _Picture:
    """The graph and its placing, drawn within a width; `fits` if that width is large enough."""

    def __init__(
        self,
        trace: Trace,
        chosen: Sequence[int],
        graph: Unrolling,
        placing: Placing,
        room: Room = FREE,
    ) -> None:
        self.trace, self.chosen, self.graph = trace, chosen, graph
        self.nodes, self.room = graph.nodes, room
        first = 0 if room.open else min(chosen)  # a picture of some Scans plays only these
        self.begin, _ = NamedScan(trace, first).moment(0)
        gradients = [n for n in chosen if trace.scans[n].parent is not None]
        if room.open:
            placing = placing.thinned(graph.nodes, gradients)
        self.placing = placing
        self.rows = sorted({item.row for item in placing.items}, key=lambda row: row.order)
        lanes = {row: lane for lane, row in enumerate(self.rows)}
        self.columns = with_gaps(item.column for item in placing.items)
        numbers = {c: n for n, c in enumerate(self.columns) if not isinstance(c, Gap)}
        self.spots = {i: Spot(lanes[i.row], numbers[i.column]) for i in placing.items}
        self.ends = [(self.spots[a], self.spots[b]) for a, b in placing.arrows]
        self.taken = frozenset(self.spots.values())
        edges = [(a.node, b.node) for a, b in placing.arrows] if room.open else []
        run = events(trace)
        factors = ((n, factor_along(run, graph, edge)) for n, edge in enumerate(edges))
        self.factors = {number: factor for number, factor in factors if factor is not None}
        ends = [self.ends[number] for number in self.factors]
        low = {a.lane for a, b in ends if a.lane == b.lane and not is_straight(a, b, self.taken)}
        self.tracks = tracks(self.ends, self.taken, low)
        widths = (self._box_width(self.nodes[item.node]) for item in placing.items)
        wanted = max(widths, default=0.0)
        names = (text_width(factor.name, SIZE) + 8 for factor in self.factors.values())
        words = max(names, default=0.0)
        width, self.between = room.sizes(self.columns, wanted, self.tracks.count, words)
        self.width = max(width, LEAST * room.narrowest)
        self.fits = self.width == width

    def _box_width(self, node: Node) -> float:
        """Return the preferred width of a box; the name of an array takes half of it."""
        name = text_width(node.label, 12, bold=True)
        return 2 * name + 8 if self.room.open and node.value.ndim else name + 12

    def draw(self) -> Piece:
        """Draw the lanes of all blocks, then arrows, then boxes."""
        lanes = shifted(above(*self._lanes()), 0, self.room.top)
        rooms = [lanes.anchors[str(lane)] for lane, _ in enumerate(self.rows)]
        tops, highs = tuple(r.top for r in rooms), tuple(r.height for r in rooms)
        grid = Grid(tops, highs, tuple(self._lefts()), self.width, self.taken)
        boxes = {item: self._box(item, spot, grid) for item, spot in self.spots.items()}
        shapes = [*self._arrows(grid, [*boxes.values()]), *starmap(self._cell, boxes.items())]
        right = max(grid.lefts, default=0.0) + self.width + TRACK * (self.tracks.count + 2)
        whole = over(lanes, piece(*shapes, *self._gaps(grid)))
        return replace(whole, envelope=Envelope(0, 0, right, lanes.envelope.bottom))

    def notes(self) -> list[str]:
        """Return sentences about hidden moments, arrows, and the formulas of the factors."""
        lines = list[str]()
        if moments := sum(c.hidden for c in self.columns if isinstance(c, Gap)):
            hint = self.room.sheet.hint("step=STEP shows more")
            lines.append(f"⋯ {counted(moments, 'moment')} not shown{hint}")
        if any(self._is_faint(*pair) for pair in self.placing.arrows):
            lines.append("gray arrow: a step reads a value of another Scan")
        formulas: dict[object, str] = {}
        alike = self._alike()
        for number, factor in self.factors.items():
            if factor.name:
                equals = ": " if "▢" in factor.formula else " = "
                formulas.setdefault(alike[number], f"{factor.name}{equals}{factor.formula}")
        if formulas:
            shown = [shortened(f, LONGEST, 12) for f in formulas.values()][:MOST_FACTORS]
            shown += ["…"] if len(formulas) > MOST_FACTORS else []
            has_arrays = any("▢" in formula for formula in formulas.values())
            label = "local derivative, ▢ is the gradient" if has_arrays else "local derivative"
            lines.append(f"on arrows between gradients: {label}, as {', '.join(shown)}")
            if not self.placing.readings:
                lines.append("these formulas contain the saved values; arrows to them are omitted")
        derived = any(self.trace.scans[number].order for number in self.chosen)
        return [*lines, *(result_words(self.trace) if derived else ())]

    def _alike(self) -> list[tuple[Row, Row, int]]:
        """Return a key for each arrow, equal for the same arrow of other steps."""
        return [(a.row, b.row, b.column - a.column) for a, b in self.placing.arrows]

    # lanes

    def _lanes(self) -> Iterator[Piece]:
        """Yield the headings of blocks and the labeled lanes, from top to bottom."""
        for lane, row in enumerate(self.rows):
            if lane == 0 or self.rows[lane - 1].block != row.block:
                yield gap(0, 16 if lane else 0)
                if lane == 0 or self.room.has_headings or not self.placing.readings:
                    yield self._heading(self.chosen[row.block])
            yield gap(0, self.tracks.room_over(lane))
            height = THIN if row.repeated else HEIGHT
            yield named(sized(0, height, *self._label(row, height / 2 + 4)), str(lane))
            yield gap(0, 20 + self.tracks.room(lane) + self._below(lane))

    def _below(self, lane: int) -> float:
        """Return the space for factors of arrows along a lane and of diagonal arrows below it."""
        ends = [self.ends[number] for number in self.factors]
        near = ((a, b) for a, b in ends if {a.lane, b.lane} == {lane, lane + 1})
        slanted = any(a.column != b.column for a, b in near)
        along = any(a.lane == b.lane == lane for a, b in ends)
        along = along and self.between < NARROW and lane not in self.tracks.low
        return 44 if slanted else 16 if along else 0

    def _lefts(self) -> Iterator[float]:
        """Yield the left edges of columns; a gap is narrower."""
        x = self.room.left
        for column in self.columns:
            yield x
            x += (FOLD if isinstance(column, Gap) else self.width) + self.between

    def _heading(self, number: int) -> Piece:
        """Draw the title of a block: in a line above it, or left of the arrows that lead to it."""
        scan, small, room = self.trace.scans[number], self.room.small, self.room.headings
        in_line = self.room.open and (number == self.chosen[0] or not self.placing.readings)
        margin = self.room.margin
        of = NamedScan(self.trace, number)
        steps = counted(scan.steps, "step")
        lines = [f"the loop, {steps}"]
        if scan.parent is not None:
            lines = [f"backward through Scan {scan.parent + 1} in {steps}"]
            if not in_line and shortened(lines[0], room, small) != lines[0]:
                lines = [f"backward through {scan.parent + 1}", f"in {steps}"]
            lines.append(f"gradient of {cost_name(scan.order)}")
            parent = self.trace.scans[scan.parent]
            if scan.steps < parent.steps:
                lines.append(f"truncated: the last {scan.steps} of {parent.steps} only")
        lines += [f"{name}: untraced, not drawn" for name in scan.untraced]
        left_out = [p.variable for p in self.placing.left_out if p.scan == number]
        lines += [f"without {name}: not needed" for name in sorted(set(left_out))]
        titles = folded(f"{number + 1} · {of.called}", room, 13, bold=True)
        if in_line:
            title = Text(
                margin, 0, f"{number + 1} · {of.called}", 13, bold=True, title=of.whereabouts
            )
            x = margin + title.width + 12
            more = fitted(x, 0, " · ".join(lines), self.room.right - x, small, muted=True)
            return sized(0, 12, title, more)
        if self.room.open:
            lines = [part for line in lines for part in folded(line, room, small)]
        heads = enumerate(titles)
        texts = [Text(margin, 17 * n, t, 13, bold=True, title=of.whereabouts) for n, t in heads]
        top = 17 * (len(titles) - 1)
        below = enumerate(lines, start=1)
        texts += [fitted(margin, top + 15 * n, line, room, small, muted=True) for n, line in below]
        return sized(0, top + 15 * len(lines) + 8, *texts)

    def _label(self, row: Row, y: float) -> Iterator[Text]:
        """Yield the lines of the name of a lane, at its left."""
        words, right = self._name(row.place), self.room.left - 12
        if row.repeated and not row.lasting:
            words = f"{'adds' if self._is_part(row) else 'reads'} {words}"
        strong = not (row.lasting or row.repeated or row.place.direct)
        size = 13 if strong else self.room.small
        room = right - self.room.margin
        lines = [words] if strong else folded(words, room, size)
        if row.place.direct and self.room.open:
            lines += self._sources(row.place)
        for number, line in enumerate(lines):
            low = y + 13 * (number - (len(lines) - 1) / 2)
            yield fitted(right, low, line, room, size, "end", bold=strong, muted=not strong)

    def _name(self, place: Place) -> str:
        """Return the name of the values in a row: x, dC/dx, ∂C′/∂x."""
        of = NamedScan(self.trace, place.scan)
        variables: list[TapeTrace | SequenceTrace] = [*of.scan.held, *of.scan.sequences]
        for variable in variables:
            is_same = variable.argument == place.argument or place.argument < 0
            if is_same and variable.name == place.variable:
                name = of.row_name(variable)
                if place.direct and isinstance(variable, TapeTrace):
                    name = of.direct_label(variable, None)
                return f"{name}, again" if place.again else name
        return place.variable

    def _sources(self, place: Place) -> list[str]:
        """Name the Scans that compute a direct part, if any."""
        feeds = self.trace.scans[place.scan].feeds
        scans = sorted({feed.scan + 1 for feed in feeds if feed.into == place.argument})
        return [f"from {'Scan' if len(scans) == 1 else 'Scans'} {listed(scans)}"] if scans else []

    def _is_part(self, row: Row) -> bool:
        """Return whether a repeated row contains contributions, not saved values."""
        scan, place = self.trace.scans[self.chosen[row.block]], row.place
        feeds = [f for f in scan.feeds if (f.scan, f.variable) == (place.scan, place.argument)]
        return bool(feeds) and not any(scan.is_reading(feed.into) for feed in feeds)

    # boxes and arrows

    def _arrows(self, grid: Grid, boxes: Iterable[Box]) -> Iterator[Shape]:
        """Yield all arrows with their factors, each in the moment of its target."""
        arrows = []
        for (first, last), (source, target) in zip(self.placing.arrows, self.ends, strict=True):
            bow = source.lane == target.lane and not is_straight(source, target, self.taken)
            bow = bow and source.lane not in self.tracks.low
            start, end = self.nodes[first.node], self.nodes[last.node]
            arrow = Arrow(
                route(source, target, grid, self.tracks),
                faint=self._is_faint(first, last),
                straight=not bow,
                faded=(start.faded and not self._is_top(first))
                or (end.faded and not self._is_top(last)),
            )
            arrows.append(arrow)
        rooms = map(envelope_of, boxes)
        texts = labels(
            arrows, self.factors, self._alike(), rooms, self.room.right + self.room.margin
        )
        for number, (arrow, (first, last)) in enumerate(
            zip(arrows, self.placing.arrows, strict=True)
        ):
            drawn = self._at(self.nodes[last.node], (arrow, *texts.get(number, ())))
            reads = (self.nodes[first.node].key,)
            yield replace(drawn, reads=reads) if isinstance(drawn, Group) else drawn

    def _is_faint(self, first: Item, last: Item) -> bool:
        """Return whether an arrow leads to another Scan."""
        return self.nodes[first.node].place.scan != self.nodes[last.node].place.scan

    def _is_top(self, item: Item) -> bool:
        """Return whether an item is in the first block of an open picture."""
        return self.room.open and item.row.block == 0

    def _box(self, item: Item, spot: Spot, grid: Grid) -> Box:
        node, role = self.nodes[item.node], Role.READ
        faded = node.faded and not item.row.repeated and not self._is_top(item)
        if not item.row.repeated:
            role = node.role
        elif self._is_part(item.row):
            role = Role.INTERMEDIATE
        left, top = grid.lefts[spot.column], grid.tops[spot.lane]
        return Box(left, top, grid.width, grid.heights[spot.lane], role, faded=faded)

    def _cell(self, item: Item, box: Box) -> Shape:
        node = self.nodes[item.node]
        if item.row.repeated:
            drawn = thin_cell(box, node.value, node.label, None, node.key)
            return self._at(node, (drawn,)) if self.room.open else drawn
        return self._at(node, (cell(box, node.value, node.label, key=node.key, label=node.label),))

    def _at(self, node: Node, shapes: tuple[Shape, ...]) -> Shape:
        """Return the shapes in the moment of a node, if it has one."""
        moment = self._moment(node)
        if moment is None or moment[0] < self.begin:
            return shapes[0] if len(shapes) == 1 else Group(shapes)
        (number, name), first = moment, shapes[0]
        if node.place.scan not in self.chosen:
            name = f"given by {name}"
        if len(shapes) == 1 and isinstance(first, Group):
            return replace(first, step=number, moment=name)
        return Group(shapes, number, moment=name)

    def _moment(self, node: Node) -> tuple[int, str] | None:
        """Return the moment of the run that computes the value of a node, and its name."""
        of, values = NamedScan(self.trace, node.place.scan), self.graph.flow
        step = node.step
        if step is not None:
            return of.moment(step)
        tape = next((t for t in of.scan.held if t.argument == node.place.argument), None)
        if node.lasting and tape is None:  # a parameter
            return None
        if tape is not None and (node.lasting or node.place.scan not in self.chosen):
            write = values.writes.get(values.latest(of.number, tape, node.row))
            if write is not None:
                return of.moment(write.step)
        return given_at(of)

    def _gaps(self, grid: Grid) -> Iterator[Text]:
        for left, column in zip(grid.lefts, self.columns, strict=True):
            for top, height in zip(grid.tops, grid.heights, strict=True):
                if isinstance(column, Gap):
                    mark, y = f"⋯{column.hidden:,}", top + height / 2 + 4
                    yield Text(left + FOLD / 2, y, mark, 11, "middle", muted=True)
