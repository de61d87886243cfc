"""The rows of a Scan in a tape picture: the tapes before the first step and after every step.

A row shows the forward values that the step reads, every tape after the step, the gradients of
sequences, and the formulas in symbols and in numbers. An arrow leads from each slot that the step
reads. Running totals are on the right.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from lab.equations.events.events import Events
from lab.errors import listing
from lab.notation import counted, integers
from lab.traces.trace import SequenceTrace, TapeTrace
from visual.layout.columns import Gap, numbers, touched_columns, touched_rows
from visual.layout.names import NamedScan
from visual.layout.table import Cell, Fold, Head, Key, Line, Note, Row, Table, TablePart
from visual.pictures.tapes.forward import Forward
from visual.pictures.tapes.slots import Slots, edges_of
from visual.scene.theme import Role


class Backward(Table):
    """The tapes of a Scan. Unless `loop` is None, the table of the loop is above the tapes.

    With `all`, the table also contains outputs that no result needs, and its heading is longer.
    """

    parts = (TablePart(optional=1),)

    def __init__(
        self, named: NamedScan, events: Events, all: bool = False, loop: Forward | None = None
    ) -> None:
        self.named, self.scan, self.events = named, named.scan, events
        self.all, self.loop = all, loop
        self.slots = Slots(named, events)
        ends = ((tape, row) for tape in self.slots.tapes for row in (0, len(tape.final) - 1))
        if columns := [self.slots.column(*slot)[1] for slot in ends]:
            self.every = range(min(columns), max(columns) + 1)
        self.outputs = [o for o in self.scan.outputs if all or named.is_passed_on(o)]
        hidden = {o.argument for o in self.scan.outputs} - {o.argument for o in self.outputs}
        self.formulas = [f for f in self.scan.formulas if f.target.argument not in hidden]

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

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the loop, if any, the tapes before and after the shown steps, and the results."""
        self.shown, items, column = shown[0], fold.steps(self.scan), self.slots.column
        self.shown_rows = {  # by argument; a total is in a shown column with all rows or with none
            tape.argument: [n for n in range(len(tape.final)) if column(tape, n) in self.shown]
            for tape in self.scan.tapes
        }
        if self.loop is not None:
            yield from self.loop.rows(fold, shown)
        first = next(iter(numbers(items)), None)
        yield self._heading(fold, first)
        last = -1
        for item in (-1, *items):
            if not isinstance(item, Gap):
                last = item
                yield self._row(item, first)
                continue
            words = "step is" if item.hidden == 1 else "steps are"
            hint = fold.sheet.hint(f"step={last + 1} shows step {last + 1}")
            hint = hint if fold.sheet.steps is None else ""
            yield Row(note=f"⋯ {item.hidden:,} {words} not shown{hint}")
        yield self._result()

    def _heading(self, fold: Fold, first: int | None) -> Row:
        """Return the title of the Scan with lines about its tapes and hidden totals and outputs."""
        title, *lines = self.named.heading()
        lines += self.named.tape_lines([*self.scan.tapes, *self.outputs], in_short=not self.all)
        if not self.all:
            lines += [] if first is None else self._explain_positions(first)
            lines = ["; ".join(lines)]
        totals = sum(self.slots.column(total, 0) not in self.shown for total in self.slots.totals)
        outputs = len(self.scan.outputs) - len(self.outputs)
        counts = (totals, "more running total"), (outputs, "unused output")
        if hidden := ", ".join(counted(n, words) for n, words in counts if n):
            lines.append(f"⋯ {hidden}{fold.sheet.hint('all=True shows everything')}")
        return Row(title=title, about=lines, more=self.named.numbered_name)

    def _row(self, step: int, first: int | None) -> Row:
        """Return the tapes after a step (-1: before all steps). `first` is the first shown step."""
        lines, named = self._lines(step), self.named
        if step < 0:
            is_named = any(a != b for line in lines for a, b in line.heads.values())
            meaning = "accumulates" * (is_named and not self.scan.is_pushforward)
            if first is None or named.parent is None or named.moment(first - 1)[0] < 0:
                return Row("initial", lines, meaning=meaning)
            return Row("initial", lines, moment=named.moment(first - 1), meaning=meaning)
        event = self.events.step(named.number, step)
        readings = [cell for s in self.scan.sequences for cell in self._readings(s, step)]
        outputs = [self._output(output, step) for output in self.outputs]
        above, below = ([Line(low, low=True)] if low else [] for low in (readings, outputs))
        written = [(f, event.write(f.target.argument, f.target.tap)) for f in self.formulas]
        formulas = [(w.formula, self.named.numbers(f, step)) for f, w in written]
        edges = [edge for _, write in written for edge in edges_of(self.scan, write, step)]
        return Row(f"step {step}", [*above, *lines, *below], edges, formulas, named.moment(step))

    def _result(self) -> Row:
        """Return the row of the tapes and outputs that are used outside the Scan."""
        scan = self.scan
        if scan.is_pushforward:
            return Row()
        lines = self._lines(scan.steps)
        totals = filter(self._is_result, self.slots.totals if scan.parent is not None else ())
        cells = [self.slots.cell(total, len(total.final) - 1, scan.steps) for total in totals]
        hidden = (cell for cell in cells if cell.column not in self.shown)
        low = [[replace(cell, column=None, label=cell.name) for cell in hidden]]
        for output in filter(self._is_result, scan.outputs):
            outputs = (self._output(output, step) for step in range(scan.steps))
            low.append([cell for cell in outputs if cell.column in self.shown])
        lines += [Line(cells, low=True) for cells in low if cells]
        moment = self.named.moment(scan.steps - 1) if scan.steps else (None, "")
        return Row("result" * bool(lines), lines, moment=moment)

    def _lines(self, step: int) -> list[Line]:
        """Return a line for each tape after a step.

        The first line also contains the running totals. The lines before the first step (step -1)
        include heads. The lines after the Scan (step `scan.steps`) contain only the tapes that are
        used outside the Scan.
        """
        lines = list[Line]()
        for tape in (*self.slots.tapes, *self.slots.totals):
            if step == self.scan.steps and not self._is_result(tape):
                continue
            rows = self.shown_rows[tape.argument]
            if tape.is_total and rows:
                rows = [min(step + 1, rows[-1])]
            cells = [self.slots.cell(tape, row, step) for row in rows]
            heads = {self.slots.column(tape, n): self._head(tape, n) for n in rows if step < 0}
            if not tape.is_total:
                lines.append(Line(cells, self._notes(tape, step), heads))
            elif cells:
                first, *others = lines or [Line([])]
                heads = {**first.heads, **heads}
                lines = [replace(first, cells=[*first.cells, *cells], heads=heads), *others]
        return lines

    def _head(self, tape: TapeTrace, row: int) -> Head:
        place = tape.name if tape.is_total else f"pos {integers(tape.position(row))}"
        return self.named.tape_label(tape, row) or tape.name, place

    def _readings(self, sequence: SequenceTrace, step: int) -> Iterator[Cell]:
        """Yield cells with the value that a step reads, above each slot that depends on the value.

        A seed, or a value on which no shown slot depends, is in the column of its time or, without
        this column, above the first written slot.
        """
        slots, index = self.slots, int(sequence.axis.index[step])
        role = Role.SEED if sequence.is_outer_gradient else Role.READ
        label = self.named.sequence_label(sequence, index)
        own_key = self.named.cell_key(sequence.name, index, step)
        cell = Cell(role, label, sequence.values[step], key=own_key, label=label)
        cell = replace(cell, quantity=self.named.quantity(sequence.name))
        tapes = {tape.argument: tape for tape in slots.tapes}
        event = self.events.step(self.named.number, step)
        writes = [write for write in event.writes if write.slot.argument in tapes]
        columns = [slots.column(tapes[w.slot.argument], w.slot.row) for w in writes]
        reads = [{read.argument for read in write.reads} for write in writes]
        readers = [c for c, read in zip(columns, reads, strict=True) if sequence.argument in read]
        readers = [c for c in readers if role is Role.READ and c in self.shown]
        own = (0, slots.time.column(sequence.axis.variable, index))
        has_own = self.scan.parent is not None and slots.time.knows(sequence.axis)
        owns = [own] if has_own and own in self.shown else []
        keys: list[Key | None] = [*dict.fromkeys(readers or owns or columns[:1])] or [None]
        yield from (replace(cell, column=key) for key in keys)

    def _output(self, output: TapeTrace, step: int) -> Cell:
        """Return the cell of the gradient wrt a sequence value, in the column of the value."""
        cell = self.slots.cell(output, step, self.scan.steps)
        role = Role.UNNEEDED if cell.role is Role.SPENT else cell.role
        column = cell.column if self.slots.time.knows(output.axis) else (0, step)
        return replace(cell, role=role, label=cell.name, id=None, column=column)

    def _is_result(self, tape: TapeTrace) -> bool:
        return self.scan.parent is None or self.named.is_passed_on(tape)

    def _notes(self, tape: TapeTrace, step: int) -> list[Note]:
        """Return the notes on a tape after a step: its name, and positions such as ``pos 0 → 1``.

        The notes on an initial tape can state the source of its initial values.
        """
        names = list[Note]([tape.name] if len(self.slots.tapes) > 1 else [])
        if step < 0 and self.named.parent is not None and self.named.seeded_by(tape.argument):
            return [self.named.direct_label(tape, None), self.named.seeds]
        if not 0 <= step < self.scan.steps:
            return names
        preserved, overwritten, written = self.slots.positions(tape, step)
        before, after = (integers(*each) or "none" for each in (preserved or overwritten, written))
        return [*names, (f"pos {before}", f"→ {after}")]

    def _explain_positions(self, step: int) -> Iterator[str]:
        """Yield an explanation of the positions next to a step, if the Scan has a tape."""
        for tape in self.slots.tapes[:1]:
            preserved, overwritten, written = self.slots.positions(tape, step)
            read, verb = preserved or overwritten, "preserves" if preserved else "reads"
            change = "overwrites" if overwritten else "writes"
            slots = f"slot{'s' * (len(read) > 1)} {listing(map(integers, read))}"
            changed = listing(map(integers, written))
            positions = " ".join(self._notes(tape, step)[-1])
            yield f"{positions}: step {step} {verb} {slots}, {change} {changed}"
