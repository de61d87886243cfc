"""The rows of one backward Scan in a tape picture.

A row is a step.  It shows, from top to bottom, the forward values that the step reads,
every tape after the step, and the gradients of sequences that come out; to the right the
running totals of the parameters' gradients, and the formulas.
"""

from textwrap import wrap

import numpy as np

from lab.formula import Leaf
from lab.spelling import Speller, leaves_of
from lab.tape import Kind
from lab.trace import Formula, TapeTrace, Trace
from visual.columns import Gap, Timeline, column_of, shown_steps
from visual.factors import factor_label
from visual.layout import (
    BETWEEN,
    CELL,
    HEIGHT,
    LABELS,
    THIN,
    Canvas,
    Columns,
    gap_text,
    kind_text,
    place_columns,
    touched_rows,
)
from visual.names import cost_name, gradient_name, indexed, tape_label
from visual.scene import MONO_WIDTH, Arrow, Box, Group, Shape, Text, shortened
from visual.theme import Role
from visual.values import cell, thin_cell

ARROWS, HEADER, FORMULA = 34, 34, 12.5
LONGEST_FORMULA = 64

_Places = dict[tuple[int, int], tuple[float, float]]  # by tape and row: where a cell stands


class _Lane:
    """One tape in a block: its columns, and when each of its rows is touched."""

    def __init__(self, block: "BackwardBlock", tape: TapeTrace) -> None:
        self.tape = tape
        scan = block.scan
        rows = touched_rows(scan, tape, block.around)
        if block.time.knows(tape.axis):
            self.columns = block.columns
            self.row_in = {column_of(tape, row, block.time): row for row in sorted(rows)}
        else:
            self.row_in = {tape.position(row): row for row in sorted(rows)}
            self.columns = place_columns(self.row_in)
        everything = np.concatenate([a.rows for a in (*tape.reads, *tape.writes)])
        steps = np.tile(np.arange(scan.steps), len(tape.reads) + len(tape.writes))
        size = len(tape.initial)
        self.first, self.last = np.full(size, scan.steps), np.full(size, -1)
        np.minimum.at(self.first, everything, steps)
        np.maximum.at(self.last, everything, steps)
        self.values: dict[int, np.ndarray] = {}

    @property
    def shown(self) -> list[tuple[int, float]]:
        """Pairs of a row and the left edge of its column."""
        return [
            (row, self.columns.left[c]) for c, row in self.row_in.items() if self.columns.has(c)
        ]

    def left(self, row: int) -> float | None:
        """The left edge of a row's column, if it is shown."""
        return next((x for shown, x in self.shown if shown == row), None)


class BackwardBlock:
    """The rows of one backward Scan."""

    def __init__(
        self,
        canvas: Canvas,
        trace: Trace,
        number: int,
        columns: Columns,
        time: Timeline,
        around: int | None,
    ) -> None:
        self.canvas, self.trace, self.number = canvas, trace, number
        self.columns, self.time, self.around = columns, time, around
        self.scan = trace.scans[number]
        self.spell = Speller(self.scan)
        self.totals = [tape for tape in self.scan.tapes if tape.is_total]
        self.lanes = [_Lane(self, t) for t in self.scan.tapes if t not in self.totals]
        right = max([columns.right, *(lane.columns.right for lane in self.lanes)])
        self.total_left = {id(t): right + i * (CELL + BETWEEN) for i, t in enumerate(self.totals)}
        self.formula_left = right + len(self.totals) * (CELL + BETWEEN) + 4
        self.reads_height = len(self.scan.sequences) * (THIN + 4)
        self.outputs_height = len(self.scan.outputs) * (THIN + 6)

    def draw(self) -> None:
        """All rows of the block."""
        canvas = self.canvas
        canvas.heading(self._title(), self._subtitles())
        self._initial_row()
        for item in shown_steps(self.scan.steps, self.around):
            if isinstance(item, Gap):
                self._gap_row(item)
            else:
                self._step_row(item)
        self._result_row()
        canvas.y += 30

    def _title(self) -> str:
        if self.scan.parent is None:
            return f"{self.scan.name}: a loop of tapes"
        return f"{self.scan.name}: the tape, order {self.scan.order}"

    def _subtitles(self) -> list[str]:
        scan, lines = self.scan, []
        if scan.parent is None:
            lines.append("in buffer order: its rows belong to no time axis")
        else:
            parent = self.trace.scans[scan.parent]
            differentiated = cost_name(scan.order)
            lines.append(f"backward through {parent.name} · gradient of {differentiated}")
        for tape in scan.tapes:
            meaning = gradient_name(self.trace, scan, tape.gradient_of, None)
            equals = f" = {meaning}" if meaning else ""
            kind = (
                "running total over the steps"
                if tape in self.totals
                else kind_text(self.trace, tape)
            )
            lines.append(f"{tape.name}{equals} · {kind}")
        for output in scan.outputs:
            meaning = gradient_name(self.trace, scan, output.gradient_of, None)
            lines.append(f"{output.name} = {meaning} · nit-sot: one value at every step")
        return lines

    # rows

    def _initial_row(self) -> None:
        canvas = self.canvas
        self.canvas.row_label("initial", [], canvas.y + HEADER + HEIGHT / 2 + 4)
        for tape in self.totals:
            x = self.total_left[id(tape)]
            label = gradient_name(self.trace, self.scan, tape.gradient_of, None)
            self.canvas.header(x, canvas.y, label, "total")
            self._cell(x, canvas.y + HEADER, tape, 0, tape.initial[0], Role.INTERMEDIATE, -1)
        for lane in self.lanes:
            canvas.y += HEADER
            for row, x in lane.shown:
                label = tape_label(self.trace, self.scan, lane.tape, row)
                position = str(lane.tape.position(row)).replace("-", "−")
                self.canvas.header(x, canvas.y - HEADER, label or lane.tape.name, f"pos {position}")
                value = None if lane.tape.unwritten[row] else lane.tape.initial[row]
                lane.values[row] = lane.tape.initial[row]
                self._cell(x, canvas.y, lane.tape, row, value, self._before(lane, row), -1)
            self._gaps(lane)
            canvas.y += HEIGHT + 12
        if not self.lanes:
            canvas.y += HEADER + HEIGHT + 12
        canvas.y += 8

    def _step_row(self, step: int) -> None:
        canvas, top = self.canvas, self.canvas.y
        start = len(canvas.shapes)
        canvas.y += self.reads_height
        self.canvas.row_label(f"step {step}", self._positions(step), canvas.y + 18)
        for number in range(len(self.scan.sequences)):
            self._reading(number, step, top + number * (THIN + 4))
        places: _Places = {}
        for lane in self.lanes:
            self._tape_after(lane, step, places)
            canvas.y += HEIGHT + ARROWS
        for tape in self.totals:
            row = int(tape.writes[0].rows[step])
            y = top + self.reads_height
            value, old = tape.writes[0].values[step], tape.reads[0].values[step]
            x = self.total_left[id(tape)]
            self._cell(x, y, tape, row, value, Role.OVERWRITTEN, step, old)
        if not self.lanes:
            canvas.y += HEIGHT + ARROWS if self.totals else 0
        for number, output in enumerate(self.scan.outputs):
            self._output(output, step, canvas.y + number * (THIN + 6))
        canvas.y += self.outputs_height
        for formula in self.scan.formulas:
            self._arrows(formula, step, places)
        bottom = self._formulas(step, top + self.reads_height)
        canvas.y = max(canvas.y, bottom) + 6
        drawn = tuple(canvas.shapes[start:])
        del canvas.shapes[start:]
        canvas.add(Group(drawn, step=step))

    def _gap_row(self, gap: Gap) -> None:
        self.canvas.y += 6
        words = f"⋯ {gap.hidden:,} steps are not shown"
        self.canvas.add(Text(LABELS, self.canvas.y + 8, words, 12, muted=True))
        for lane in self.lanes:  # what they did to the tapes that are shown
            lane.values.clear()
        self.canvas.y += 30

    def _result_row(self) -> None:
        canvas = self.canvas
        used = [lane for lane in self.lanes if lane.tape.used]
        outputs = [output for output in self.scan.outputs if output.used]
        totals = [tape for tape in self.totals if tape.used]
        if not used and not outputs and not totals:
            return
        self.canvas.row_label("result", [], canvas.y + HEIGHT / 2 + 4)
        for tape in totals:
            row = len(tape.final) - 1
            x = self.total_left[id(tape)]
            self._cell(x, canvas.y, tape, row, tape.final[row], Role.RESULT, None)
        for lane in used:
            wanted = self._result_rows(lane.tape)
            for row, x in lane.shown:
                role = Role.RESULT if row in wanted else Role.SPENT
                self._cell(x, canvas.y, lane.tape, row, lane.tape.final[row], role, None)
            self._gaps(lane)
            canvas.y += HEIGHT + 12
        if totals and not used:
            canvas.y += HEIGHT + 12
        for output in outputs:
            for step in range(self.scan.steps):
                left = self._column(output, step)
                if left is not None:
                    self._chip(left, canvas.y, output, step, output.final[step], Role.RESULT, None)
            canvas.y += THIN + 8

    # cells

    def _tape_after(self, lane: _Lane, step: int, places: _Places) -> None:
        """One tape after a step; where its slots stand is noted in `places`."""
        tape, y = lane.tape, self.canvas.y
        if not lane.values:
            contents = tape.contents(step - 1)
            lane.values = {row: contents[row] for row, _ in lane.shown}
        written = {int(access.rows[step]): access for access in tape.writes}
        read = {int(access.rows[step]) for access in tape.reads}
        for row, x in lane.shown:
            places[id(tape), row] = (x, y)
            old = None
            if row in written:
                role = Role.OVERWRITTEN if row in read else Role.INTERMEDIATE
                before = written[row].before
                old = before[step] if row in read and before is not None else None
                lane.values[row] = written[row].values[step]
            elif row in read:
                role = Role.PRESERVED
            elif lane.last[row] > step:
                waiting = lane.first[row] > step
                role = Role.WAITING if waiting else Role.INTERMEDIATE
                if waiting and tape.unwritten[row]:
                    role = Role.UNWRITTEN
            else:
                role = Role.SPENT if lane.last[row] >= 0 else Role.UNNEEDED
            value: np.ndarray | None = lane.values[row]
            if tape.unwritten[row] and lane.first[row] > step:
                value = None
            self._cell(x, y, tape, row, value, role, step, old)
        self._gaps(lane)

    def _before(self, lane: _Lane, row: int) -> Role:
        """The role of a slot before the first step."""
        if lane.tape.unwritten[row]:
            return Role.UNWRITTEN
        if lane.last[row] < 0:
            return Role.UNNEEDED
        return Role.SEED if np.any(lane.tape.initial[row] != 0) else Role.WAITING

    def _result_rows(self, tape: TapeTrace) -> set[int]:
        """The rows that hold gradients of what the parent loop was given."""
        size = len(tape.final)
        if self.scan.parent is None:
            return set(range(size))
        parent = self.trace.scans[self.scan.parent]
        for source in parent.tapes:
            if source.name == tape.gradient_of and source.kind is not Kind.MIT_MOT:
                return {size - 1 - row for row in range(source.tape.origin)}
        return set(range(size))

    def _cell(
        self,
        x: float,
        y: float,
        tape: TapeTrace,
        row: int,
        value: np.ndarray | None,
        role: Role,
        step: int | None,
        old: np.ndarray | None = None,
    ) -> None:
        self.canvas.roles.append(role)
        name = tape_label(self.trace, self.scan, tape, row) or f"{tape.name} row {row}"
        key = self._key(tape, row)
        inside = step if step is not None and step >= 0 else None
        self.canvas.add(cell(Box(x, y, CELL, HEIGHT, role), value, name, old, inside, key))

    def _reading(self, number: int, step: int, y: float) -> None:
        """The value that a step reads of a sequence, in the column that it belongs to."""
        sequence = self.scan.sequences[number]
        index = int(sequence.axis.index[step])
        x: float | None = None
        if self.time.knows(sequence.axis):
            x = self.columns.left.get(self.time.column(sequence.axis.variable, index))
        x = x if x is not None else LABELS
        name = indexed(sequence.name, index)
        key = f"{self.number}:{sequence.name}:{index}"
        self._thin(x, y, name, sequence.values[step], Role.READ, step, key)

    def _output(self, output: TapeTrace, step: int, y: float) -> None:
        role = Role.RESULT if output.used else Role.UNNEEDED
        x = self._column(output, step)
        self._chip(x if x is not None else LABELS, y, output, step, output.final[step], role, step)

    def _column(self, output: TapeTrace, step: int) -> float | None:
        if not self.time.knows(output.axis):
            return self.columns.left.get(step)
        return self.columns.left.get(column_of(output, step, self.time))

    def _chip(
        self,
        x: float,
        y: float,
        tape: TapeTrace,
        row: int,
        value: np.ndarray,
        role: Role,
        step: int | None,
    ) -> None:
        index = int(tape.axis.index[row]) if tape.axis is not None else row
        key = self._key(tape, row)
        self._thin(x, y, indexed(tape.name, index), value, role, step, key)

    def _key(self, tape: TapeTrace, row: int) -> str:
        """Which quantity a cell shows: the same wherever it is shown."""
        ordered = [id(t) for t in (*self.scan.tapes, *self.scan.outputs)]
        return f"{self.number}:{tape.name}.{ordered.index(id(tape))}:{row}"

    def _thin(
        self,
        x: float,
        y: float,
        name: str,
        value: np.ndarray,
        role: Role,
        step: int | None,
        key: str,
    ) -> None:
        self.canvas.roles.append(role)
        self.canvas.add(thin_cell(Box(x, y, CELL, THIN, role), value, name, step, key))

    # words

    def _positions(self, step: int) -> list[str]:
        """``pos 0 → 1``: the positions that a step reads besides, and those that it writes."""

        def listed(positions: tuple[int, ...]) -> str:
            return ", ".join(str(p).replace("-", "−") for p in positions) or "none"

        lines = []
        for lane in self.lanes:
            tape = lane.tape.tape
            only_read = tape.preserved or tape.reads
            name = f"{lane.tape.name} " if len(self.lanes) > 1 else ""
            reads = listed(tape.positions(step, only_read))
            lines.append(f"{name}pos {reads} → {listed(tape.positions(step, tape.writes))}")
        return lines

    def _gaps(self, lane: _Lane) -> None:
        for x, gap in lane.columns.gaps:
            self.canvas.add(gap_text(gap, x, self.canvas.y + HEIGHT / 2 + 4))

    def _arrows(self, formula: Formula, step: int, places: _Places) -> None:
        """From every slot that a formula reads to the slot that it writes, itself excepted."""
        target = self._place(formula.target, step, places)
        if target is None:
            return
        old = next(
            (v for v in leaves_of(formula.expression) if self._same(v, formula.target)), None
        )
        reads = [v for v in dict.fromkeys(leaves_of(formula.expression)) if v != old]
        for leaf in reads:
            source = self._place(leaf, step, places)
            if source is None:
                continue
            label = factor_label(
                formula.expression, leaf, old, lambda v: self.spell.position(v, step)
            )
            self.canvas.add(*_arrow(source, target, label))

    @staticmethod
    def _same(leaf: Leaf, target: Leaf) -> bool:
        return (leaf.argument, leaf.tap) == (target.argument, target.tap)

    def _place(self, leaf: Leaf, step: int, places: _Places) -> tuple[float, float] | None:
        tape = self.scan.variable(leaf)
        if not isinstance(tape, TapeTrace) or leaf.tap is None:
            return None
        return places.get((id(tape), tape.tape.row(step, leaf.tap)))

    def _formulas(self, step: int, y: float) -> float:
        """The formulas of a step, and the same with numbers in; and where they end."""
        y += 18
        for formula in self.scan.formulas:
            y = self._formula_lines(y, self.spell.at(formula, step), muted=False)
            found = self.spell.numbers(formula, step)
            if found:
                y = self._formula_lines(y, found, muted=True)
            y += 5
        return y - 10

    def _formula_lines(self, y: float, content: str, muted: bool) -> float:
        """A formula in as many lines as it needs, up to three; and where the next one starts."""
        size = FORMULA - 1 if muted else FORMULA
        lines = wrap(
            content,
            LONGEST_FORMULA,
            subsequent_indent="    ",
            break_long_words=True,
            break_on_hyphens=False,
            max_lines=3,
            placeholder=" …",
        )
        title = content if lines[-1].endswith("…") else ""
        for line in lines:
            indent = (len(line) - len(line.lstrip())) * size * MONO_WIDTH
            x = self.formula_left + indent
            shape = Text(x, y, line.lstrip(), size, mono=True, muted=muted, title=title)
            self.canvas.add(shape)
            self.canvas.right = max(self.canvas.right, shape.x + shape.width)
            y += 17
        return y


def _arrow(source: tuple[float, float], target: tuple[float, float], label: str) -> list[Shape]:
    """A curve below the cells from one slot to another, or straight to another tape."""
    (x0, y0), (x1, y1) = source, target
    out, into, bottom = x0 + CELL / 2, x1 + CELL / 2, y0 + HEIGHT
    if y1 > y0:
        return [Arrow(((out, bottom), (into + 8, y1 - 1)), accent=True)]
    if y1 < y0:
        return [Arrow(((out, y0), (into + 8, y1 + HEIGHT + 1)), accent=True)]
    curve = ((out, bottom + 2), (out, bottom + 22), (into, bottom + 22), (into, bottom + 2))
    shapes: list[Shape] = [Arrow(curve, accent=True)]
    if label:
        short = shortened(label, abs(into - out) + CELL - 20, 10.5, mono=True)
        title = label if short != label else ""
        x, y = (out + into) / 2, bottom + 28
        shapes.append(Text(x, y, short, 10.5, "middle", mono=True, muted=True, title=title))
    return shapes
