"""The forward loop on top of a tape picture: values over time, and an arrow for every read."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from lab.equations.spelling import Speller, loop_offsets
from lab.notation import Leaf, leaves_of, value_symbol
from lab.traces.scan_of import ScanOf
from lab.traces.trace import ScanTrace, SequenceTrace, TapeTrace
from visual.layout.canvas import BETWEEN, CELL, Columns, gap_text, heading, kind_text
from visual.layout.cells import cell, thin_cell
from visual.layout.columns import Timeline
from visual.layout.detours import Detours
from visual.layout.names import NamedScan, counted
from visual.layout.sheet import Sheet
from visual.pictures.unrolled.overview import outputs_reached
from visual.scene.combinators import Piece, above, gap, over, shifted, sized
from visual.scene.shapes import Arrow, Box, Group, Shape, Text, fitted
from visual.scene.theme import Role

HEIGHT, LOW = 40, 20
LANE = HEIGHT + 26
MOST_PARAMETERS = 5
Slot = tuple[str, int]
Cell = tuple[int, Role, np.ndarray]  # its index, how it looks, and what it holds


def forward_block(
    named: NamedScan,
    columns: Columns,
    time: Timeline,
    sheet: Sheet,
    faded: bool = False,
) -> Piece:
    """A loop as lanes of cells over time, one for each of its variables.

    `faded` washes out what the result does not need.
    """
    head = shifted(heading(*_heading(named, faded), sheet, named.whereabouts), sheet.margin, 0)
    head = over(gap(sheet.width - sheet.margin), head)
    return above(head, _Lanes(named, columns, time, sheet, faded).all())


def _heading(named: NamedScan, whole: bool) -> tuple[str, list[str]]:
    scan, spell = named.scan, Speller(named)
    lines = [f"forward · {counted(scan.steps, 'step')}"]
    if scan.stopped_early:
        lines[0] += " until its condition was met"
    lines[0] += f" · {loop_offsets(named)}"
    if whole:
        lines += [f"{tape.name} · {kind_text(tape)}" for tape in scan.tapes]
    if scan.untraced:
        lines.append(f"{', '.join(scan.untraced)} · untraced: replaced at every step, no tape")
    title = f"{named.number + 1} · {named.called}"
    if len(scan.formulas) == 1:
        title += f": {spell.equation(scan.formulas[0])}"
    else:
        lines += [spell.equation(formula) for formula in scan.formulas]
    return title, ["; ".join(lines)]


class _Lanes:
    """The lanes, the arrows between them, and the parameters."""

    def __init__(
        self,
        named: NamedScan,
        columns: Columns,
        time: Timeline,
        sheet: Sheet,
        faded: bool,
    ) -> None:
        self.named, self.scan, self.sheet, self.faded = named, named.scan, sheet, faded
        self.made = {
            (tape.name, int(row)): step
            for tape in self.scan.held
            for access in tape.writes
            for step, row in enumerate(access.rows)
        }
        self.columns, self.time = columns, time
        self.outputs = outputs_reached(named)
        goals = self.outputs | read_backwards(named) if faded else self.outputs
        self.needed = _needed(self.scan, goals) if faded and self.outputs else None
        self.tops: dict[str, float] = {}
        self.ways = Detours([])

    def all(self) -> Piece:
        """All lanes, and what belongs to them."""
        shapes: list[Shape] = []
        y = 0.0
        for name, bows, cells in self._lanes():
            y += bows
            self.tops[name] = y
            shapes += self._lane(name, cells, y)
            y += LANE
        lefts, tops = self.columns.left.values(), self.tops.values()
        self.ways = Detours([self._box(x, top) for x in lefts for top in tops])
        for step in range(self.scan.steps):
            if self.columns.has(step):  # a state's column is the step that computed it
                arrows, (moment, told) = [*self._reads(step)], self.named.moment(step)
                shapes += [Group(tuple(arrows), moment, moment=told)] if arrows else []
        if not self.scan.parameters:
            return sized(0, y - 14, *shapes)
        return above(sized(0, y, *shapes), self._parameters())

    def _lanes(self) -> Iterator[tuple[str, float, Iterable[Cell]]]:
        """For every variable its name, the room of arrows over its lane, and its cells."""
        for sequence in self.scan.sequences:
            name = sequence.axis.variable
            if name not in self.tops:  # one lane, at however many taps it is read
                yield name, 0, self._sequence_cells(name)
        for tape in self.scan.held:
            bows = 20 if any(tap < -1 for tap in tape.tape.reads) else 0
            yield tape.name, bows, self._state_cells(tape)

    def _lane(self, name: str, cells: Iterable[Cell], y: float) -> Iterator[Shape]:
        """A cell for every index that is shown."""
        labels, wide = self.sheet.labels, self.columns.cell
        room = labels - self.sheet.margin - 14
        yield fitted(labels - 12, y + HEIGHT / 2 + 4, name, room, 13, "end", bold=True)
        for index, role, value in cells:
            x = self.columns.left.get(self.time.column(name, index))
            if x is not None:
                label, key = value_symbol(name, index), f"{self.named.number}:{name}:{index}"
                drawn = cell(Box(x, y, wide, HEIGHT, role), value, label, key=key, label=label)
                step = self.made.get((name, index))
                moment, told = (None, "") if step is None else self.named.moment(step)
                yield replace(drawn, step=moment, moment=told)
        for x, fold in self.columns.gaps:
            yield gap_text(fold, x, y + HEIGHT / 2 + 4, wide)

    def _sequence_cells(self, name: str) -> Iterator[Cell]:
        values = {
            int(index): value
            for sequence in self.scan.sequences
            if sequence.axis.variable == name
            for index, value in zip(sequence.axis.index, sequence.values, strict=True)
        }
        for index, value in sorted(values.items()):
            yield index, self._role((name, index), Role.INPUT), value

    def _state_cells(self, tape: TapeTrace) -> Iterator[Cell]:
        for row, value in enumerate(tape.final):
            index = int(tape.axis.index[row]) if tape.axis is not None else row
            role = Role.INPUT if row < tape.tape.origin else Role.INTERMEDIATE
            yield index, self._role((tape.name, index), role), value

    def _role(self, slot: Slot, otherwise: Role) -> Role:
        if slot in self.outputs:
            return Role.SEED
        return Role.UNNEEDED if self.needed is not None and slot not in self.needed else otherwise

    def _reads(self, step: int) -> Iterator[Arrow]:
        """An arrow from every value that a step reads to every value that it computes from it."""
        for formula in self.scan.formulas:
            target = self._place(formula.target, step)
            for leaf in dict.fromkeys(leaves_of(formula.expression)):
                source = self._place(leaf, step)
                if source is not None and target is not None:
                    yield self._read_arrow(source, target)

    def _read_arrow(self, source: tuple[float, float], target: tuple[float, float]) -> Arrow:
        """From cell to cell: straight to the neighbour, over the others, or to another lane."""
        (x0, y0), (x1, y1) = source, target
        wide = self.columns.cell
        if y0 == y1 and 0 < x1 - x0 <= wide + BETWEEN:
            return Arrow(((x0 + wide, y0 + HEIGHT / 2), (x1 - 1, y1 + HEIGHT / 2)))
        out, into = x0 + wide / 2, x1 + wide / 2
        if y0 == y1:
            return Arrow(((out, y0), (out, y0 - 24), (into - 8, y1 - 24), (into - 8, y1 - 1)))
        into += 6 if x0 == x1 else -6 if x0 < x1 else 18  # arrows from all sides find room
        ends = ((out, y0 + HEIGHT), (into, y1 - 1))
        if y1 < y0:
            ends = ((out, y0), (into, y1 + HEIGHT + 1))
        return self.ways.arrow(ends, self._box(x0, y0), self._box(x1, y1), faint=True)

    def _box(self, x: float, y: float) -> Box:
        """A cell that arrows lead to, or around."""
        return Box(x, y, self.columns.cell, HEIGHT, Role.INTERMEDIATE)

    def _place(self, leaf: Leaf, step: int) -> tuple[float, float] | None:
        slot = _slot(self.scan, leaf, step)
        x = self.columns.left.get(self.time.column(*slot)) if slot is not None else None
        known = slot is not None and slot[0] in self.tops
        return (x, self.tops[slot[0]]) if known and x is not None and slot is not None else None

    def _parameters(self) -> Piece:
        """What does not change: numbers in low cells, arrays in high ones, as many as fit."""
        x, wide, margin = self.sheet.labels, self.columns.cell, self.sheet.margin
        high = HEIGHT if any(p.value.ndim for p in self.scan.parameters) else LOW
        shapes: list[Shape] = [
            fitted(x - 12, 15, "parameters", x - margin - 10, 13, "end", bold=True)
        ]
        shown = self.scan.parameters[: None if self.faded else MOST_PARAMETERS]
        for one in shown:
            box, key = Box(x, 0, wide, high, Role.INPUT), f"{self.named.number}:{one.name}:r0"
            shapes.append(
                cell(box, one.value, one.name, key=key, label=one.name)
                if high > LOW
                else thin_cell(box, one.value, one.name, None, key)
            )
            x += wide + BETWEEN * wide / CELL
        hidden = len(self.scan.parameters) - len(shown)
        if hidden:
            shapes.append(Text(x, 15, f"⋯{hidden} more: all", 11, muted=True))
        return sized(x, high + 2, *shapes)


def read_backwards(of: ScanOf) -> set[Slot]:
    """The slots of a loop that its derivatives read for something that is not left alone."""
    return {
        (held.name, index)
        for later in of.each(of.trace)
        if later.parent is not None and later.root.number == of.number
        for sequence in _useful_sequences(later)
        for reader, held in [later.first_reader(sequence)]
        if reader.number == of.number
        for index in sequence.axis.index.tolist()
    }


def _useful_sequences(of: ScanOf) -> list[SequenceTrace]:
    """The sequences of a derivative that its tapes depend on, or outputs that are passed on."""
    scan = of.scan
    idle = {output.argument for output in scan.outputs if not of.is_passed_on(output)}
    read = {
        leaf.argument
        for formula in scan.formulas
        if formula.target.argument not in idle
        for leaf in leaves_of(formula.expression)
    }
    return [sequence for sequence in scan.sequences if sequence.argument in read]


def _needed(scan: ScanTrace, outputs: set[Slot]) -> set[Slot]:
    """All slots from which an arrow leads, step by step, to one of `outputs`."""
    needed = set(outputs)
    for step in reversed(range(scan.steps)):
        for formula in scan.formulas:
            if _slot(scan, formula.target, step) in needed:
                reads = (_slot(scan, leaf, step) for leaf in leaves_of(formula.expression))
                needed |= {slot for slot in reads if slot is not None}
    return needed


def _slot(scan: ScanTrace, leaf: Leaf, step: int) -> Slot | None:
    """The variable and index that a leaf of a formula stands for at a step."""
    variable = scan.variable(leaf)
    if isinstance(variable, TapeTrace) and leaf.tap is not None:
        return (variable.name, variable.tape.row(step, leaf.tap))
    if isinstance(variable, SequenceTrace):
        return (variable.axis.variable, int(variable.axis.index[step]))
    return None
