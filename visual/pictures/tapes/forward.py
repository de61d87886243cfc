"""The forward loop on top of a tape picture: values over time, and an arrow for every read."""

from collections.abc import Iterable, Iterator

import numpy as np

from lab.equations.spelling import Speller, loop_offsets
from lab.notation import Leaf, indexed, leaves_of
from lab.traces.scan_of import ScanOf
from lab.traces.trace import ScanTrace, SequenceTrace, TapeTrace
from visual.layout.canvas import (
    BETWEEN,
    CELL,
    Canvas,
    Columns,
    gap_text,
    kind_text,
)
from visual.layout.cells import cell, thin_cell
from visual.layout.columns import Timeline
from visual.layout.detours import Detours
from visual.layout.names import NamedScan, counted
from visual.pictures.unrolled.overview import outputs_reached
from visual.scene.shapes import Arrow, Box, Text, fitted
from visual.scene.theme import Role

HEIGHT, LOW = 40, 20
LANE = HEIGHT + 26
MOST_PARAMETERS = 5
Slot = tuple[str, int]


class ForwardBlock:
    """A loop as lanes of cells over time, one for each of its variables, up to `most`.

    `faded` washes out what the result does not need.
    """

    def __init__(
        self,
        canvas: Canvas,
        named: NamedScan,
        columns: Columns,
        time: Timeline,
        most: int | None = None,
        faded: bool = False,
    ) -> None:
        self.canvas, self.named, self.scan = canvas, named, named.scan
        self.most, self.hidden = most, 0
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
        self.ways, self.labels = Detours([]), canvas.sheet.labels

    def draw(self) -> None:
        """All lanes, the arrows between them, and the parameters."""
        self._heading()
        for sequence in self.scan.sequences:
            name = sequence.axis.variable
            if name not in self.tops:  # one lane, at however many taps it is read
                self._lane(name, self._sequence_cells(name))
        for tape in self.scan.held:
            if any(tap < -1 for tap in tape.tape.reads):
                self.canvas.y += 20
            self._lane(tape.name, self._state_cells(tape))
        if self.hidden:
            words = f"⋯ {counted(self.hidden, 'more variable')}: all=True shows everything"
            self.canvas.add(Text(self.labels, self.canvas.y, words, 12, muted=True))
            self.canvas.y += 20
        lefts, tops = self.columns.left.values(), self.tops.values()
        self.ways = Detours([self._box(x, y) for x in lefts for y in tops])
        for step in range(self.scan.steps):
            if self.columns.has(step):  # a state's column is the step that computed it
                start = len(self.canvas.shapes)
                self._reads(step)
                self._at(start, step)
        if self.scan.parameters:
            self._parameters()
        self.canvas.y -= 14

    def _heading(self) -> None:
        scan, spell = self.scan, Speller(self.named)
        lines = [f"forward · {counted(scan.steps, 'step')}"]
        if scan.stopped_early:
            lines[0] += " until its condition was met"
        lines[0] += f" · {loop_offsets(self.named)}"
        lines += [f"{tape.name} · {kind_text(tape)}" for tape in scan.tapes]
        if scan.untraced:
            lines.append(f"{', '.join(scan.untraced)} · untraced: replaced at every step, no tape")
        title = f"{self.named.number + 1} · {scan.name}"
        if len(scan.formulas) == 1:
            title += f": {spell.equation(scan.formulas[0])}"
        else:
            lines += [spell.equation(formula) for formula in scan.formulas]
        self.canvas.heading(title, ["; ".join(lines)])

    def _lane(self, name: str, cells: Iterable[tuple[int, Role, np.ndarray]]) -> None:
        """A lane with a cell for every index that is shown, if there is room for it."""
        if self.most is not None and len(self.tops) >= self.most:
            self.hidden += 1
            return
        self.tops[name] = self.canvas.y
        self._label(name)
        for index, role, value in cells:
            x = self.columns.left.get(self.time.column(name, index))
            if x is not None:
                step = self.made.get((name, index))
                self._cell(x, role, value, indexed(name, index), str(index), name, step)
        for x, gap in self.columns.gaps:
            self.canvas.add(gap_text(gap, x, self.canvas.y + HEIGHT / 2 + 4, self.columns.cell))
        self.canvas.y += LANE

    def _sequence_cells(self, name: str) -> Iterator[tuple[int, Role, np.ndarray]]:
        values = {
            int(index): value
            for sequence in self.scan.sequences
            if sequence.axis.variable == name
            for index, value in zip(sequence.axis.index, sequence.values, strict=True)
        }
        for index, value in sorted(values.items()):
            yield index, self._role((name, index), Role.INPUT), value

    def _state_cells(self, tape: TapeTrace) -> Iterator[tuple[int, Role, np.ndarray]]:
        for row, value in enumerate(tape.final):
            index = int(tape.axis.index[row]) if tape.axis is not None else row
            role = Role.INPUT if row < tape.tape.origin else Role.INTERMEDIATE
            yield index, self._role((tape.name, index), role), value

    def _role(self, slot: Slot, otherwise: Role) -> Role:
        if slot in self.outputs:
            return Role.SEED
        return Role.UNNEEDED if self.needed is not None and slot not in self.needed else otherwise

    def _cell(
        self,
        x: float,
        role: Role,
        value: np.ndarray,
        label: str,
        place: str,
        name: str,
        step: int | None = None,
    ) -> None:
        box = Box(x, self.canvas.y, self.columns.cell, HEIGHT, role)
        key = f"{self.named.number}:{name}:{place}"
        start = len(self.canvas.shapes)
        self.canvas.add(cell(box, value, label, key=key, label=label))
        self._at(start, step)

    def _at(self, start: int, step: int | None) -> None:
        """What was drawn since `start` belongs to a step of the loop."""
        if step is not None and len(self.canvas.shapes) > start:
            self.canvas.group(start, *self.named.moment(step))

    def _label(self, name: str) -> None:
        y, room = self.canvas.y + HEIGHT / 2 + 4, self.labels - self.canvas.sheet.margin - 14
        if not self.canvas.sheet.bare:
            self.canvas.add(fitted(self.labels - 12, y, name, room, 13, "end", bold=True))

    def _reads(self, step: int) -> None:
        """An arrow from every value that a step reads to every value that it computes from it."""
        for formula in self.scan.formulas:
            target = self._place(formula.target, step)
            for leaf in dict.fromkeys(leaves_of(formula.expression)):
                source = self._place(leaf, step)
                if source is not None and target is not None:
                    self.canvas.add(self._read_arrow(source, target))

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

    def _parameters(self) -> None:
        """What does not change: numbers in low cells, arrays in high ones, as many as fit."""
        canvas, x, wide = self.canvas, self.labels, self.columns.cell
        room = self.labels - canvas.sheet.margin - 10
        high = HEIGHT if any(p.value.ndim for p in self.scan.parameters) else LOW
        canvas.add(
            fitted(self.labels - 12, canvas.y + 15, "parameters", room, 13, "end", bold=True)
        )
        shown = self.scan.parameters[: None if self.most is None else MOST_PARAMETERS]
        for parameter in shown:
            box, key = Box(x, canvas.y, wide, high, Role.INPUT), f"{self.named.number}:"
            key, name, value = f"{key}{parameter.name}:r0", parameter.name, parameter.value
            canvas.add(
                cell(box, value, name, key=key, label=name)
                if high > LOW
                else thin_cell(box, value, name, None, key)
            )
            x += wide + BETWEEN * wide / CELL
        hidden = len(self.scan.parameters) - len(shown)
        if hidden:
            canvas.add(Text(x, canvas.y + 15, f"⋯{hidden} more: all", 11, muted=True))
        canvas.right = max(canvas.right, x)
        canvas.y += high + 16


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
