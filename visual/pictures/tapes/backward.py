"""The rows of one backward Scan in a tape picture.

A row is a step.  It shows, from top to bottom, the forward values that the step reads,
every tape after the step, and the gradients of sequences that come out; to the right the
running totals of the parameters' gradients, and the formulas.
"""

from dataclasses import dataclass

import numpy as np

from lab.equations.spelling import Speller
from lab.notation import signed
from lab.traces.trace import SequenceTrace, TapeTrace
from visual.layout.canvas import (
    BETWEEN,
    CELL,
    HEIGHT,
    LABELS,
    MARGIN,
    THIN,
    Canvas,
    Columns,
    gap_text,
)
from visual.layout.cells import PARTS, cell, thin_cell
from visual.layout.columns import Gap, Timeline, column_of, only_step, shown_steps
from visual.layout.headings import block_heading
from visual.layout.names import NamedScan, listed
from visual.pictures.tapes.arrows import Places, step_arrows
from visual.pictures.tapes.lanes import Lane, Slot
from visual.scene.shapes import Box, shortened
from visual.scene.theme import Role

ARROWS, HEADER = 34, 34


@dataclass(frozen=True)
class View:
    """What is shown of the tapes.

    Of long loops the steps next to `around` as well; of all loops only the step `step`, if it
    is given.  `buffer` puts the slots in the order of the buffer instead of that of time, and
    `contributions` tells in every cell what came directly and what through later steps.
    """

    around: int | None = None
    step: int | None = None
    buffer: bool = False
    contributions: bool = False


class BackwardBlock:
    """The rows of one backward Scan, drawn from top to bottom."""

    def __init__(
        self,
        canvas: Canvas,
        named: NamedScan,
        columns: Columns,
        time: Timeline,
        view: View,
    ) -> None:
        self.canvas, self.named, self.scan = canvas, named, named.scan
        self.columns, self.time, self.view = columns, time, view
        self.height = HEIGHT + (PARTS if view.contributions else 0)
        self.spell = Speller(self.named)
        tapes = self.scan.tapes
        self.lanes = [
            Lane(self.scan, t, columns, time, view.around) for t in tapes if not t.is_total
        ]
        right = max([columns.right, *(lane.columns.right for lane in self.lanes)])
        self.totals: list[tuple[TapeTrace, float]] = []
        for tape in (t for t in tapes if t.is_total):
            self.totals.append((tape, right))
            right += CELL + BETWEEN
        self.formula_left = right + 4
        self.reads_height = len(self.scan.sequences) * (THIN + 4)

    def draw(self) -> None:
        """All rows of the block."""
        title, lines = block_heading(self.named)
        if self.view.buffer and self.scan.parent is not None:
            lines.append("in the order of the buffer, which is that of the steps")
        self.canvas.heading(title, lines)
        self._initial_row()
        steps = shown_steps(self.scan.steps, self.view.around)
        if self.view.step is not None:
            steps = only_step(self.scan.steps, self.view.step)
        self.canvas.rows(steps, self._step_row, self._gap_row, self.named.moment)
        start = len(self.canvas.shapes)
        self._result_row()
        self.canvas.group_at_end(start, self.named)
        self.canvas.y += 30

    # rows

    def _initial_row(self) -> None:
        canvas = self.canvas
        canvas.row_label("initial", canvas.y + HEADER + 18)
        for tape, x in self.totals:
            canvas.header(x, canvas.y, self.named.tape_label(tape, None), tape.name)
            slot = Slot(0, x, Role.INTERMEDIATE, tape.initial[0])
            self._slot(tape, slot, canvas.y + HEADER, None)
        for lane in self.lanes:
            canvas.y += HEADER
            for slot in lane.before():
                label = self.named.tape_label(lane.tape, slot.row)
                position = signed(lane.tape.position(slot.row))
                canvas.header(slot.x, canvas.y - HEADER, label or lane.tape.name, f"pos {position}")
                self._slot(lane.tape, slot, canvas.y, None)
            self._gaps(lane)
            self._lane_label(lane)
            canvas.y += self.height + 12
        if not self.lanes:
            canvas.y += HEADER + self.height + 12
        canvas.y += 8

    def _step_row(self, step: int) -> None:
        canvas, top = self.canvas, self.canvas.y
        for number, sequence in enumerate(self.scan.sequences):
            self._reading(sequence, step, top + number * (THIN + 4))
        canvas.y += self.reads_height
        canvas.row_label(f"step {step}", canvas.y + 18)
        for tape, x in self.totals:
            written, read = tape.writes[0], tape.reads[0]
            row, value, old = int(written.rows[step]), written.values[step], read.values[step]
            slot = Slot(row, x, Role.OVERWRITTEN, value, old)
            self._slot(tape, slot, canvas.y, step)
        places: Places = {}
        for lane in self.lanes:
            for slot in lane.after(step):
                box = Box(slot.x, canvas.y, CELL, self.height, slot.role)
                places[lane.tape.argument, slot.row] = box
                self._slot(lane.tape, slot, canvas.y, step)
            self._gaps(lane)
            self._lane_label(lane, self._positions(lane, step))
            canvas.y += self.height + ARROWS
        if self.totals and not self.lanes:
            canvas.y += self.height + ARROWS
        for output in self.scan.outputs:
            passed_on = self.named.is_passed_on(output)
            self._output(output, step, Role.RESULT if passed_on else Role.UNNEEDED)
            canvas.y += THIN + 6
        self.canvas.add(*step_arrows(self.spell, step, places))
        canvas.y = max(canvas.y, self._formulas(step, top + self.reads_height)) + 6

    def _gap_row(self, gap: Gap) -> None:
        self.canvas.gap_row(gap)
        for lane in self.lanes:
            lane.skip()

    def _result_row(self) -> None:
        canvas = self.canvas

        def passed_on(tape: TapeTrace) -> bool:
            return self.scan.parent is None or self.named.is_passed_on(tape)

        lanes = [lane for lane in self.lanes if passed_on(lane.tape)]
        totals = [(tape, x) for tape, x in self.totals if passed_on(tape)]
        outputs = [output for output in self.scan.outputs if passed_on(output)]
        if lanes or totals or outputs:
            middle = 18 if lanes or totals else THIN / 2 + 4
            canvas.row_label("result", canvas.y + middle)
        for tape, x in totals:
            row = len(tape.final) - 1
            self._slot(tape, Slot(row, x, Role.RESULT, tape.final[row]), canvas.y, None)
        for lane in lanes:
            for slot in lane.result(self.named.wanted_rows(lane.tape)):
                self._slot(lane.tape, slot, canvas.y, None)
            self._gaps(lane)
            self._lane_label(lane)
            canvas.y += self.height + 12
        if totals and not lanes:
            canvas.y += self.height + 12
        for output in outputs:
            for step in range(self.scan.steps):
                if self._column(output, step) is not None:
                    self._output(output, step, Role.RESULT)
            canvas.y += THIN + 8

    # cells

    def _slot(self, tape: TapeTrace, slot: Slot, y: float, step: int | None) -> None:
        """A cell of a tape."""
        self.canvas.roles.append(slot.role)
        name = self.named.slot_label(tape, slot.row)
        box = Box(slot.x, y, CELL, self.height, slot.role)
        key = self.named.row_key(tape, slot.row)
        parts = slot.parts if self.view.contributions else None
        self.canvas.add(cell(box, slot.value, name, slot.old, None, key, parts=parts))

    def _reading(self, sequence: SequenceTrace, step: int, y: float) -> None:
        """The value that a step reads of a sequence, in the column that it belongs to."""
        index, x = int(sequence.axis.index[step]), None
        if self.scan.parent is not None and self.time.knows(sequence.axis):
            x = self.columns.left.get(self.time.column(sequence.axis.variable, index))
        elif self.lanes:  # no common time: above what the step writes
            tape = self.lanes[0].tape
            x = self.lanes[0].shown.get(int(tape.writes[0].rows[step]))
        key = self.named.cell_key(sequence.name, index, step)
        name = self.named.sequence_label(sequence, index)
        role = Role.SEED if sequence.is_outer_gradient else Role.READ
        self._thin(x, y, name, sequence.values[step], role, key)

    def _output(self, output: TapeTrace, step: int, role: Role) -> None:
        """The gradient of a sequence that a step puts out, in the column of its value."""
        index = int(output.axis.index[step]) if output.axis is not None else step
        name = self.named.tape_label(output, step)
        key = self.named.cell_key(output.name, index, step)
        self._thin(self._column(output, step), self.canvas.y, name, output.final[step], role, key)

    def _column(self, output: TapeTrace, step: int) -> float | None:
        known = self.time.knows(output.axis)
        return self.columns.left.get(column_of(output, step, self.time) if known else step)

    def _thin(
        self, x: float | None, y: float, name: str, value: np.ndarray, role: Role, key: str
    ) -> None:
        self.canvas.roles.append(role)
        box = Box(LABELS if x is None else x, y, CELL, THIN, role)
        self.canvas.add(thin_cell(box, value, name, None, key))

    def _gaps(self, lane: Lane) -> None:
        for x, gap in lane.columns.gaps:
            self.canvas.add(gap_text(gap, x, self.canvas.y + self.height / 2 + 4))

    # words and arrows

    def _lane_label(self, lane: Lane, words: str = "") -> None:
        """Which tape a lane shows, if there are several, and what a step does to it."""
        y = self.canvas.y + 34
        if len(self.lanes) > 1:
            self.canvas.small_label(lane.tape.name, y)
            y += 13
        for number, line in enumerate(_lines(words)):
            self.canvas.small_label(line, y + 13 * number)

    def _positions(self, lane: Lane, step: int) -> str:
        """``pos 0 → 1``: the positions that a step only reads, and those that it writes."""
        tape = lane.tape.tape
        read = tape.positions(step, tape.preserved or tape.reads)
        written = tape.positions(step, tape.writes)
        return f"pos {listed(read, 'none')} → {listed(written, 'none')}"

    def _formulas(self, step: int, y: float) -> float:
        """The formulas of a step, and the same with numbers in; and where they end."""
        y += 18
        for formula in self.scan.formulas:
            start = len(self.canvas.shapes)
            y = self.canvas.formula(self.formula_left, y, self.spell.at(formula, step))
            numbers = self.spell.numbers(formula, step)
            if numbers:
                y = self.canvas.formula(self.formula_left, y, numbers, muted=True)
            self.canvas.mention(start, self.named.formula_keys(formula, step))
            y += 5
        return y - 10


def _lines(words: str) -> list[str]:
    """The positions read and written in two lines, if there is no room for them in one."""
    if shortened(words, LABELS - MARGIN - 12, 10.5) == words:
        return [words]
    read, written = words.split(" → ")
    return [read, f"→ {written}"]
