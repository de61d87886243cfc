"""The rows of one Scan in a tape picture: the tapes before the first step, and after every step.

A row shows the forward values that the step reads, every tape after the step, the gradients of
sequences, and the formulas in symbols and in numbers. An arrow leads from each slot that the step
reads. Running totals are on the right.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from lab.equations.events.events import Events
from lab.equations.spelling import Speller
from lab.errors import listing
from lab.notation import counted, integers
from lab.traces.trace import SequenceTrace, TapeTrace
from visual.layout.canvas import block_heading
from visual.layout.columns import Gap, numbers, touched_columns, touched_rows
from visual.layout.names import NamedScan
from visual.layout.sheet import Sheet
from visual.layout.table import (
    Cell,
    Fold,
    Head,
    Key,
    Line,
    Row,
    Table,
    TableHeading,
    TablePart,
)
from visual.pictures.tapes.forward import Forward
from visual.pictures.tapes.slots import Slots, State, edges_of
from visual.scene.shapes import Group
from visual.scene.theme import Role

Cells = list[tuple[Key | None, Cell]]


class Backward(Table):
    """The tapes of a Scan, below the table of its `loop` unless `loop` is None.

    With `all`, the table also contains outputs that no result needs.
    """

    parts = (TablePart(optional=1),)

    def __init__(
        self,
        named: NamedScan,
        events: Events,
        sheet: Sheet,
        all: bool = False,
        loop: Forward | None = None,
    ) -> None:
        self.named, self.scan, self.events = named, named.scan, events
        self.sheet, self.all, self.loop = sheet, all, loop
        self.slots, self.spell = Slots(named, events), Speller(named)
        self.outputs = [o for o in self.scan.outputs if all or named.is_passed_on(o)]
        hidden = {o.argument for o in self.scan.outputs} - {o.argument for o in self.outputs}
        self.formulas = [f for f in self.scan.formulas if f.target.argument not in hidden]

    # Columns.

    def every(self) -> dict[int, range]:
        """Return the range of the columns of all tapes."""
        return self.slots.extent()

    def touched(self, fold: Fold) -> Sequence[set[Key]]:
        """Return the columns that the shown steps read or write, and the columns of results."""
        slots, steps = self.slots, numbers(fold.steps(self.scan))
        columns = {slots.column(total, 0) for total in slots.totals}
        if self.loop is not None:
            columns |= self.loop.touched(replace(fold, requested=()))[0]
        columns |= {(0, column) for column in touched_columns(self.scan, slots.time, steps)}
        for tape in slots.tapes:
            if not slots.time.knows(tape.axis):
                columns |= {slots.column(tape, row) for row in touched_rows(tape, steps)}
            results = self.named.wanted_rows(tape) if self._is_result(tape) else set()
            if self.scan.parent is not None and len(results) < len(tape.final):
                columns |= {slots.column(tape, row) for row in results}
        return (columns,)

    # Rows.

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the tapes before the first step, after every shown step, and their results."""
        self.shown, items = shown[0], fold.steps(self.scan)
        if self.loop is not None:
            yield from self.loop.rows(fold, shown)
        yield Row(heading=self._heading(fold))
        yield self._initial(next((item for item in items if not isinstance(item, Gap)), None))
        last = -1
        for item in items:
            if isinstance(item, Gap):
                words = "step is" if item.hidden == 1 else "steps are"
                hint = fold.sheet.hint(f"step={last + 1} shows step {last + 1}")
                hint = hint if fold.sheet.steps is None else ""
                yield Row(note=f"⋯ {item.hidden:,} {words} not shown{hint}")
            else:
                last = item
                yield self._step(item)
        yield self._result()

    def _heading(self, fold: Fold) -> TableHeading:
        """Return the title of the Scan, its lines, and the numbers of hidden totals and outputs."""
        title, lines = block_heading(self.named, self.outputs, in_short=not self.all)
        if not self.all:
            lines = ["; ".join(filter(None, [*lines, self._positions_key(fold)]))]
        totals = sum(self.slots.column(total, 0) not in self.shown for total in self.slots.totals)
        outputs = len(self.scan.outputs) - len(self.outputs)
        counts = (totals, "more running total"), (outputs, "unused output")
        hidden = ", ".join(counted(n, words) for n, words in counts if n)
        if hidden:
            lines.append(f"⋯ {hidden}{self.sheet.hint('all=True shows everything')}")
        return TableHeading(title, lines, self.named.numbered_name)

    def _initial(self, first: int | None) -> Row:
        named, slots = self.named, self.slots
        lines = self._lines(slots.before, self._beginnings, -1)
        heads = [
            {key: self._head(tape, row) for key, row in self._shown(tape, -1)}
            for tape in slots.tapes or slots.totals[:1]
        ]
        for total in slots.totals:
            heads[0] |= {key: self._head(total, row) for key, row in self._shown(total, -1)}
        lines = [replace(line, heads=head) for line, head in zip(lines, heads, strict=True)]
        is_named = any(head.label != head.place for each in heads for head in each.values())
        number, words = (-1, "") if first is None else named.moment(first - 1)
        moment = Group(())
        if number >= 0 and named.parent is not None:  # the tapes are filled before the first step
            moment = Group((), number, moment=words)
        meaning = "accumulates" if is_named and lines else ""
        return Row("initial", lines, moment=moment, meaning=meaning)

    def _step(self, step: int) -> Row:
        event, named = self.events.step(self.named.number, step), self.named
        readings = [cell for s in self.scan.sequences for cell in self._readings(s, step)]
        outputs = [self._output(output, step) for output in self.outputs]
        lines = [Line(readings, low=True)] if readings else []
        lines += self._lines(
            partial(self.slots.after, step=step), partial(self._positions, step=step), step
        )
        lines += [Line(outputs, low=True)] if outputs else []
        written = [(f, event.write(f.target.argument, f.target.tap)) for f in self.formulas]
        formulas = [(w.formula, self.spell.numbers(f, step)) for f, w in written]
        edges = [edge for _, write in written for edge in edges_of(self.scan, write, step)]
        number, moment = named.moment(step)
        group = Group((), number, moment=moment)
        return Row(f"step {step}", lines, edges, formulas, group)

    def _result(self) -> Row:
        """Return the row of the tapes and outputs that are used outside the Scan."""
        scan, slots = self.scan, self.slots
        if scan.carries:
            return Row()
        lines = self._lines(slots.result, self._names, scan.steps, self._is_result)
        low: list[Cells] = [[]]
        for total in slots.totals:
            if scan.parent is not None and self._is_result(total) and not self._shown(total, 0):
                row = len(total.final) - 1
                low[0].append((None, self._cell(total, row, slots.result(total, row), -1)))
        for output in filter(self._is_result, scan.outputs):
            cells = (self._output(output, step) for step in range(scan.steps))
            low.append([cell for cell in cells if cell[0] in self.shown])
        lines += [Line(cells, low=True) for cells in low if cells]
        number, moment = self.named.moment(scan.steps - 1) if scan.steps else (None, "")
        return Row("result" * bool(lines), lines, moment=Group((), number, moment=moment))

    # Cells.

    def _lines(
        self,
        state: Callable[[TapeTrace, int], State],
        notes: Callable[[TapeTrace], list[str]],
        step: int,
        is_drawn: Callable[[TapeTrace], bool] = lambda tape: True,
    ) -> list[Line]:
        """Return a line for each tape; the first line also has the running totals."""
        lines = [
            Line(self._cells(tape, state, step), notes(tape))
            for tape in filter(is_drawn, self.slots.tapes)
        ]
        totals = filter(is_drawn, self.slots.totals)
        cells = [cell for total in totals for cell in self._cells(total, state, step)]
        if cells and lines:
            return [replace(lines[0], cells=[*lines[0].cells, *cells]), *lines[1:]]
        return [*lines, Line(cells)] if cells else lines

    def _cells(self, tape: TapeTrace, state: Callable[[TapeTrace, int], State], step: int) -> Cells:
        shown = self._shown(tape, step)
        return [(key, self._cell(tape, row, state(tape, row), step)) for key, row in shown]

    def _shown(self, tape: TapeTrace, step: int) -> list[tuple[Key, int]]:
        """Return the shown columns and rows of a tape; a running total has one row per step."""
        rows = range(len(tape.final))
        if tape.is_total:
            rows = rows[: step + 2][-1:] if step >= 0 else rows[:1]
        pairs = ((self.slots.column(tape, row), row) for row in rows)
        return [(key, row) for key, row in pairs if key in self.shown]

    def _cell(self, tape: TapeTrace, row: int, state: State, step: int) -> Cell:
        role, value, old = state
        name, key = self.named.slot_label(tape, row), self.named.row_key(tape, row)
        return Cell(
            role, name, value, old=old, key=key, id=(self.named.number, step, tape.argument, row)
        )

    def _head(self, tape: TapeTrace, row: int) -> Head:
        if tape.is_total:
            return Head(self.named.tape_label(tape, None), tape.name)
        label = self.named.tape_label(tape, row) or tape.name
        place = f"pos {integers(tape.position(row))}"
        return Head(label, place)

    def _readings(self, sequence: SequenceTrace, step: int) -> Iterator[tuple[Key | None, Cell]]:
        """Yield the value that a step reads, above every slot that depends on the value.

        If no slot depends on the value, the cell is in the column of its time index.
        """
        slots, index = self.slots, int(sequence.axis.index[step])
        role = Role.SEED if sequence.is_outer_gradient else Role.READ
        label = self.named.sequence_label(sequence, index)
        key = self.named.cell_key(sequence.name, index, step)
        cell = Cell(role, label, sequence.values[step], key=key, label=label)
        targets = {
            (formula.target.argument, formula.target.tap)
            for formula in self.scan.formulas
            if any(leaf.argument == sequence.argument for leaf in formula.leaves)
        }
        columns: list[Key | None] = [
            slots.column(tape, int(write.rows[step]))
            for tape in ([] if sequence.is_outer_gradient else slots.tapes)
            for write in tape.writes
            if (tape.argument, write.tap) in targets
        ]
        columns = [column for column in columns if column in self.shown]
        own = (0, slots.time.column(sequence.axis.variable, index))
        has_own = self.scan.parent is not None and slots.time.knows(sequence.axis)
        if not columns and has_own and own in self.shown:
            columns = [own]
        elif not columns and slots.tapes:
            columns = [slots.column(slots.tapes[0], int(slots.tapes[0].writes[0].rows[step]))]
        yield from ((column, cell) for column in dict.fromkeys(columns or [None]))

    def _output(self, output: TapeTrace, step: int) -> tuple[Key, Cell]:
        """Return the gradient wrt a sequence value from a step, in the column of the value."""
        index = int(output.axis.index[step]) if output.axis is not None else step
        key = self.named.cell_key(output.name, index, step)
        label = self.named.tape_label(output, step)
        role = Role.RESULT if self.named.is_passed_on(output) else Role.UNNEEDED
        known = self.slots.time.knows(output.axis)
        column = self.slots.column(output, step) if known else (0, step)
        return column, Cell(role, label, output.final[step], key=key, label=label)

    def _is_result(self, tape: TapeTrace) -> bool:
        return self.scan.parent is None or self.named.is_passed_on(tape)

    # Words.

    def _names(self, tape: TapeTrace) -> list[str]:
        return [tape.name] if len(self.slots.tapes) > 1 else []

    def _beginnings(self, tape: TapeTrace) -> list[str]:
        """Return the notes on an initial tape: its name, or the source of its initial values."""
        if self.named.parent is None or not self.named.seeded_by(tape.argument):
            return self._names(tape)
        return [self.named.direct_label(tape, None), self.named.seeds]

    def _positions(self, tape: TapeTrace, step: int) -> list[str]:
        """Return a note with the positions that a step reads, and that it writes: ``pos 0 → 1``."""
        read, written = self.slots.positions(tape, step)
        positions = f"pos {integers(*read) or 'none'} → {integers(*written) or 'none'}"
        return [*self._names(tape), positions]

    def _positions_key(self, fold: Fold) -> str:
        """Explain the positions next to the first step, or return an empty text without a tape."""
        step = next((item for item in fold.steps(self.scan) if not isinstance(item, Gap)), None)
        if step is None or not self.slots.tapes:
            return ""
        tape = self.slots.tapes[0]
        read, written = self.slots.positions(tape, step)
        verb = "preserves" if tape.tape.preserved else "reads"
        change = "overwrites" if tape.tape.overwritten else "writes"
        slots = f"slot{'s' * (len(read) > 1)} {listing(map(integers, read))}"
        positions = self._positions(tape, step)[-1]
        changed = listing(map(integers, written))
        return f"{positions}: step {step} {verb} {slots}, {change} {changed}"
