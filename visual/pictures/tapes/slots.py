"""The slots of the tapes of a Scan: their columns, their states at every step, and the arrows."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lab.equations.events.events import Events
from lab.equations.events.records import SlotRole, Term, Write
from lab.equations.factors import ONE
from lab.notation import number_text, parenthesize
from lab.tape import Kind
from lab.traces.trace import ScanTrace, TapeTrace
from visual.layout.arrows import Edge
from visual.layout.columns import column_of, timeline
from visual.layout.names import NamedScan
from visual.layout.table import Cell, Key
from visual.scene.theme import Role

ROLES = {
    SlotRole.PRESERVED: Role.PRESERVED,
    SlotRole.OVERWRITTEN: Role.OVERWRITTEN,
    SlotRole.RESTORED: Role.OVERWRITTEN,
    SlotRole.WRITTEN: Role.INTERMEDIATE,
    SlotRole.EMPTY: Role.UNWRITTEN,
    SlotRole.INPUT: Role.INPUT,
    SlotRole.SEED: Role.SEED,
    SlotRole.PENDING: Role.WAITING,
    SlotRole.INTERMEDIATE: Role.INTERMEDIATE,
    SlotRole.SAVED: Role.INTERMEDIATE,
    SlotRole.RESULT: Role.RESULT,
    SlotRole.DONE: Role.SPENT,
}
State = tuple[Role, np.ndarray | None, np.ndarray | None]  # the role, the value, and the old value


class Slots:
    """The slots of the `tapes` and the running `totals` of a Scan. A total has a single slot.

    `time` maps the time indices of the loop and of its derivatives to columns.
    """

    def __init__(self, named: NamedScan, run: Events) -> None:
        self.named, self.run, self.time = named, run, timeline(named.root.scan)
        self.tapes = [tape for tape in named.scan.tapes if not tape.is_total]
        self.totals = [tape for tape in named.scan.tapes if tape.is_total]
        self.results = {t.argument for t in self.totals if named.is_passed_on(t)}

    def column(self, tape: TapeTrace, row: int) -> Key:
        """Return the column of a row: by time in block 0, or of a total in block 1.

        The totals that are results are in block 2.
        """
        if not tape.is_total:
            return 0, column_of(tape, row, self.time)
        is_result = tape.argument in self.results
        totals = (t.argument for t in self.totals if (t.argument in self.results) == is_result)
        return 1 + is_result, [*totals].index(tape.argument)

    def positions(self, tape: TapeTrace, step: int) -> Iterator[list[int]]:
        """Yield lists of preserved, overwritten, and written positions."""
        event, number = self.run.step(self.named.number, step), tape.argument
        for role in (SlotRole.PRESERVED, SlotRole.OVERWRITTEN):
            reads = (r.slot for r in event.reads if r.role is role and r.argument == number)
            yield [slot.position for slot in reads if slot is not None]
        yield [write.slot.position for write in event.writes if write.slot.argument == number]

    def cell(self, tape: TapeTrace, row: int, step: int) -> Cell:
        """Return the cell of a slot after a step (see `state`)."""
        role, value, old = self.state(tape, row, step)
        name, key = self.named.slot_label(tape, row), self.named.row_key(tape, row)
        place, column = (self.named.number, step, tape.argument, row), self.column(tape, row)
        cell = Cell(role, name, value, quantity=self.named.quantity(tape.name), key=key)
        return replace(cell, column=column, old=old, id=place)

    def state(self, tape: TapeTrace, row: int, step: int) -> State:
        """Return the role, the value, and the old value of a slot after a step.

        Step -1 is the time before the first step. Step `scan.steps` is the time after the Scan.
        """
        run, timeline, number = self.run, self.run.timeline, self.named.number
        slot, moment = run.slot(number, tape.argument, row), timeline.event_number(number, step)
        if step == self.named.scan.steps:
            return ROLES[timeline.resting_role(slot, moment - 1)], tape.final[row], None
        if tape.is_total and step >= 0:
            role = ROLES[run.tap_role(number, step, tape.argument, 0)]
            return role, tape.writes[0].values[step], tape.reads[0].values[step]
        role = ROLES[run.role(slot, moment)]
        if role is Role.UNWRITTEN:
            return role, None, None
        old = run.value(slot, moment - 1) if role is Role.OVERWRITTEN else None
        return role, run.value(slot, moment), old


def edges_of(scan: ScanTrace, write: Write, step: int) -> Iterator[Edge]:
    """Yield arrows from the other slots that a write reads to the slot of the write."""
    tape, slot = scan.tape(write.slot.argument), write.slot
    if tape is None or tape.kind is Kind.NIT_SOT:
        return
    sources = {read.slot: read for read in write.reads if read.is_own and read.slot is not None}
    sources.pop(slot, None)
    if tape.is_total:
        sources = {s: read for s, read in sources.items() if read.argument != tape.argument}
    for source, read in sources.items():
        alike = sum(other.argument == read.argument for other in sources.values())
        is_only = len(sources) == 1 and not tape.is_total
        is_numbered = not is_only and (alike == 1 or tape.is_total)
        start, end = ((each.scan, step, each.argument, each.row) for each in (source, slot))
        term, factor = write.term(read.argument, read.tap), ""
        if is_numbered and term is not None and term.factor is not None and not term.value.ndim:
            factor = f"·{parenthesize(number_text(term.factor))}"
        labels = _labels(write, term) if is_only else ()
        yield Edge(start, end, labels, factor, faint=tape.is_total)


def _labels(write: Write, term: Term | None) -> tuple[str, ...]:
    """Return possible labels of an arrow, the longest first: ``·2·x₃ + old``, then ``·1.327``."""
    if term is None or term.factor is None or term.source is None:
        return ()
    has_old = write.adds_old and len(write.terms) == 1
    if term.expression == ONE:
        return ("+ old",) * has_old
    plus, symbols = " + old" * has_old, replace(term, source=replace(term.source, name="")).text
    if term.value.ndim:
        return symbols + plus, symbols
    numbers = [f"·{parenthesize(number_text(term.factor, n))}" for n in (4, 3, 2, 1)]
    return symbols + plus, numbers[0] + plus, *numbers
