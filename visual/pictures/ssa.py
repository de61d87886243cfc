"""The tape next to its static single assignment form (SSA), in which every value has a name.

The left part shows the tape after every step; a write replaces the value in a slot. The right part
shows the successive values of the slots that change and, if there is space, the values of the slots
that steps only read. A letter names a slot, and each write adds 1 to the subscript. On the right,
each slot has a column, and no write replaces a value. The role of a box shows whether its value is
an input, a seed, an intermediate value, or a result.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count
from string import ascii_lowercase

from lab.equations.events.events import events
from lab.errors import GraphError, argument_error, listing
from lab.notation import Leaf, render, value_symbol
from lab.traces.flow import SlotWrite, Value, flow
from lab.traces.trace import SequenceTrace, TapeTrace, Trace
from visual.layout.arrows import Edge
from visual.layout.canvas import scene_with_legend
from visual.layout.columns import Gap, Steps, numbers, requested_steps, touched_rows
from visual.layout.names import NamedScan, seeds_of
from visual.layout.placing import lay_out
from visual.layout.sheet import SCREEN, Sheet
from visual.layout.table import Cell, Fold, Head, Key, Line, Row, Table, TablePart
from visual.options import selected_scan
from visual.pictures.tapes.slots import Slots
from visual.pictures.unrolled.overview import overview
from visual.scene.combinators import above, gap, over, shifted
from visual.scene.shapes import Scene, picture_function
from visual.scene.theme import Role

COLUMN = 100  # the minimum width of a column if the SSA form includes slots that steps only read
COUNTS = "a letter is a slot; its subscript counts the writes; the last value is the gradient"


@picture_function
def ssa(trace: Trace, step: Steps = None, scan: int | None = None, sheet: Sheet = SCREEN) -> Scene:
    """Draw the tapes of a derivative, and the SSA form of the slots that contain several values.

    The picture shows the Scan with the number `scan` (default: the Scan that computes the result).
    A picture of a long loop shows both ends and the steps next to `step`, like `tapes`. Raises
    GraphError if no Scan overwrites a slot, and ArgumentError for a Scan without such slots.
    """
    known = [n for n, s in enumerate(trace.scans) if any(t.tape.overwritten for t in s.tapes)]
    if not known:
        raise GraphError(
            "order = 0: a loop overwrites no slot; expected a derivative of order 1 or higher."
            if len({scan.parent for scan in trace.scans}) == 1
            else f"{trace.scans[0].name}: no step reads a state of an earlier step, and therefore "
            "no derivative overwrites a tape."
        )
    chosen = selected_scan(trace, scan, known)
    if chosen not in known:
        names = listing(f"{n + 1} · {trace.scans[n].name}" for n in known)
        raise argument_error("scan", scan, f"the Scans with shared slots are {names}.")
    requested = requested_steps(step, trace.scans[chosen])
    hint = f"scan={known[0] + 1} opens another Scan"
    parts = [overview(trace, chosen, hint, sheet)] if len(trace.scans) > 2 else []
    table = lay_out(Ssa(NamedScan(trace, chosen), sheet), sheet, requested)
    part = above(*parts, table, gap(0, 4), apart=16)
    return scene_with_legend(
        shifted(over(gap(sheet.line), part), 0, max(4, sheet.margin - 8)),
        sheet=sheet,
        width=max(sheet.width, part.envelope.right + sheet.margin),
        title=f"Tapes of {trace.scans[0].name}, and their SSA form",
        description="The tape after every step, and a separate box for each of its values.",
        seeds=seeds_of(trace, [chosen]),
    )


class Ssa(Table):
    """The tapes of a Scan, and the successive values in the slots of the tapes."""

    parts = (
        TablePart(narrow=26, wide=26, height=22, least=0.2, title="the buffer"),
        TablePart(narrow=54, wide=102, height=44, title="single assignment"),
    )
    label_width = 64.0

    def __init__(self, named: NamedScan, sheet: Sheet) -> None:
        self.named, self.scan, self.sheet = named, named.scan, sheet
        self.flow, self.slots = flow(named.trace), Slots(named, events(named.trace))
        self.writes = {v: w for v, w in self.flow.writes.items() if v.scan == named.number}
        self.read = {source for write in self.writes.values() for source in write.sources}

    def rows(self, fold: Fold, shown: Sequence[Collection[Key]]) -> Iterator[Row]:
        """Yield the tapes before the first step, then the tapes and writes of each shown step."""
        names = {variable.name for scan in self.named.trace.scans for variable in scan.variables}
        letters = chain(ascii_lowercase, (f"s{n}" for n in count(len(ascii_lowercase))))
        unused = (letter for letter in letters if letter not in names)
        tapes, steps = self.slots.tapes, numbers(fold.steps(self.scan))
        touched = [(tape, row) for tape in tapes for row in sorted(touched_rows(tape, steps, 6))]
        slots = ((tape.argument, row) for tape, row in touched)
        self.letters = dict(zip(slots, unused, strict=False))
        shared = [slot for slot in touched if self._is_shared(*slot)]
        both = [s for s in touched if self._is_shared(*s) or self._chain(*s)[0] in self.read]
        chosen = both if len(shared) <= len(both) <= self.sheet.width // COLUMN else shared
        chosen.sort(key=lambda slot: (slot[0].argument, self.slots.column(*slot)))
        # The slot of each column of the SSA form. Each tape has a block of columns.
        self.columns = {(2 + slot[0].argument, n): slot for n, slot in enumerate(chosen)}
        title, line = self.named.heading(in_full=True)
        yield Row(title=title, about=[f"{line} · {COUNTS}"], more=self.named.numbered_name)
        for item in (-1, *fold.steps(self.scan)):
            if isinstance(item, Gap):
                yield Row(note=f"⋯ {item.hidden:,} steps are not shown")
            else:
                yield self._row(item)

    def _row(self, step: int) -> Row:
        """Return the row of a step (-1: before the loop): the tapes, and the written values."""
        lines = []
        for tape in self.slots.tapes:
            cells = list[Cell]()
            for row in (row for argument, row in self.letters if argument == tape.argument):
                cell, value = self.slots.cell(tape, row, step), self._value(tape, row, step)
                cells.append(replace(cell, old=None, label=self._name(value), id=None))
            lines.append(Line(cells, blocks=sorted({c.column[0] for c in cells if c.column})))
        now = {value: w for value, w in self.writes.items() if w.step == step}
        values, heads = list[Cell](), dict[Key, Head]()
        for key, (tape, row) in self.columns.items():
            if step < 0:
                letter = self.letters[tape.argument, row]
                heads[key] = self.named.tape_label(tape, row), f"slot {letter}"
            value = self._value(tape, row, step)
            if value in now or (step < 0 and not tape.unwritten[row]):
                cell = self.slots.cell(tape, row, step)
                role = Role.SEED if cell.role is Role.SEED else Role.INPUT
                role = Role.INTERMEDIATE if value in self.writes else role
                last = self.slots.cell(tape, row, self.scan.steps).role
                if last is Role.RESULT and value == self._chain(tape, row)[-1]:
                    role = last
                look = replace(cell, role=role, old=None, label=self._name(value), id=value)
                values.append(replace(look, column=key))
        blocks = sorted({block for block, _ in self.columns}) if step < 0 else ()
        lines.append(Line(values, heads=heads, part=1, blocks=blocks))
        named = ((v, w) for v, w in now.items() if (v.argument, v.row) in self.letters)
        formulas = [(self._formula(value, write), "") for value, write in named]
        edges = [Edge(source, value) for value, w in now.items() for source in w.sources]
        if step < 0:
            return Row("initial", lines)
        return Row(f"step {step}", lines, edges, formulas, self.named.moment(step))

    def _chain(self, tape: TapeTrace, row: int) -> list[Value]:
        return self.flow.chain(self.named.number, tape, row)

    def _is_shared(self, tape: TapeTrace, row: int) -> bool:
        """Return whether a slot contains several values in the course of the run."""
        return len(self._chain(tape, row)) > 1 + bool(tape.unwritten[row])

    def _value(self, tape: TapeTrace, row: int, step: int) -> Value:
        """Return the value in a slot after a step."""
        first, *later = self._chain(tape, row)
        return [first, *(value for value in later if self.writes[value].step <= step)][-1]

    def _name(self, value: Value) -> str:
        return value_symbol(self.letters.get((value.argument, value.row), "…"), value.version)

    def _formula(self, value: Value, write: SlotWrite) -> str:
        """Return the formula of a write, with the names of the values that it reads."""

        def name(leaf: Leaf) -> str:
            source, variable = write.reads(leaf), self.scan.variable(leaf)
            if source.scan == self.named.number and source.argument >= 0:
                return self._name(source)
            if isinstance(variable, SequenceTrace):
                return self.named.sequence_label(variable, int(variable.axis.index[write.step]))
            return leaf.variable

        return f"{self._name(value)} = {render(write.formula.expression, name)}"
