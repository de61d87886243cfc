"""The slots of the tapes of a Scan: columns, roles and values at every step, and arrows."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from lab.equations.events.events import Events
from lab.equations.events.records import Read, Slot, SlotRole, Write
from lab.notation import number_text
from lab.records import cached_property
from lab.tape import Kind
from lab.traces.trace import ScanTrace, TapeTrace
from visual.layout.arrows import Edge
from visual.layout.columns import TimeColumns, column_of, timeline
from visual.layout.names import NamedScan
from visual.layout.table import Key
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


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots of all tapes of a Scan; a running total has one slot."""

    named: NamedScan
    run: Events

    @property
    def scan(self) -> ScanTrace:
        """The Scan of the tapes."""
        return self.named.scan

    @cached_property
    def time(self) -> TimeColumns:
        """The columns in time of the loop and of its derivatives."""
        return timeline(self.named.root.scan)

    @cached_property
    def tapes(self) -> list[TapeTrace]:
        """The tapes without running totals."""
        return [tape for tape in self.scan.tapes if not tape.is_total]

    @cached_property
    def totals(self) -> list[TapeTrace]:
        """The running totals."""
        return [tape for tape in self.scan.tapes if tape.is_total]

    def column(self, tape: TapeTrace, row: int) -> Key:
        """Return the column of a row: in block 1 for a total, otherwise in block 0 by time."""
        if tape.is_total:
            return 1, [total.argument for total in self.totals].index(tape.argument)
        return 0, column_of(tape, row, self.time)

    def extent(self) -> dict[int, range]:
        """Return the range of all columns of block 0."""
        rows = ((tape, row) for tape in self.tapes for row in (0, len(tape.final) - 1))
        columns = [self.column(*slot)[1] for slot in rows]
        return {0: range(min(columns), max(columns) + 1)} if columns else {}

    @staticmethod
    def positions(tape: TapeTrace, step: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the positions that a step reads, and the positions that it writes.

        If the step preserves slots, the first positions contain the preserved slots only.
        """
        taps = tape.tape
        read = taps.positions(step, taps.preserved or taps.reads)
        return read, taps.positions(step, taps.writes)

    def before(self, tape: TapeTrace, row: int) -> State:
        """Return the role and the value of a slot before the first step."""
        if tape.is_total:
            return Role.INTERMEDIATE, tape.initial[row], None
        return self._at(tape, row, self.run.clock.of_step(self.named.number, 0) - 1)

    def after(self, tape: TapeTrace, row: int, step: int) -> State:
        """Return the role, the value, and the old value of a slot after a step."""
        if tape.is_total:
            return Role.OVERWRITTEN, tape.writes[0].values[step], tape.reads[0].values[step]
        return self._at(tape, row, self.run.clock.of_step(self.named.number, step))

    def _at(self, tape: TapeTrace, row: int, moment: int) -> State:
        slot = self.run.slot(self.named.number, tape.argument, row)
        role = ROLES[self.run.role(slot, moment)]
        if role is Role.UNWRITTEN:
            return role, None, None
        if role in (Role.SEED, Role.WAITING) and row in self.scan.arrived(tape):
            role = Role.INTERMEDIATE  # written by steps that were not recorded
        old = self.run.value(slot, moment - 1) if role is Role.OVERWRITTEN else None
        return role, self.run.value(slot, moment), old

    def result(self, tape: TapeTrace, row: int) -> State:
        """Return the role and the value of a slot after the last step."""
        if tape.is_total or row in self.named.wanted_rows(tape):
            return Role.RESULT, tape.final[row], None
        slot = self.run.slot(self.named.number, tape.argument, row)
        last = self.run.clock.of_step(self.named.number, self.scan.steps - 1)
        is_used = max(self.run.moments(slot), default=0) > last
        return Role.INTERMEDIATE if is_used else Role.SPENT, tape.final[row], None


def edges_of(scan: ScanTrace, write: Write, step: int) -> Iterator[Edge]:
    """Yield arrows from the slots that a write reads to the slot that the step writes."""
    tape = scan.tape(write.slot.argument)
    reads = {read.slot: read for read in write.reads if read.is_own and read.slot}
    sources = [read for slot, read in reads.items() if slot != write.slot]
    if tape is None or tape.kind is Kind.NIT_SOT:
        return
    if tape.is_total:
        sources = [read for read in sources if read.argument != tape.argument]
    for read in sources:
        alike = sum(other.argument == read.argument for other in sources)
        is_only = len(sources) == 1 and not tape.is_total
        is_numbered = not is_only and (alike == 1 or tape.is_total)
        yield Edge(
            _id(step, read.slot),
            _id(step, write.slot),
            _labels(write, read) if is_only else (),
            _factor(write, read) if is_numbered else "",
            faint=tape.is_total,
        )


def _id(step: int, slot: Slot | None) -> Hashable:
    return None if slot is None else (slot.scan, step, slot.argument, slot.row)


def _factor(write: Write, read: Read) -> str:
    """Return the factor of the term of a read as text, or an empty text for an array."""
    term = write.term(read.argument, read.tap)
    is_number = term is not None and term.factor is not None and not term.value.ndim
    return f"·{number_text(term.factor)}" if term is not None and is_number else ""


def _labels(write: Write, read: Read) -> tuple[str, ...]:
    """Return possible labels of an arrow, the longest first: ``·2·x₃ + old``, ``·1.327``."""
    term = write.term(read.argument, read.tap)
    if term is None or term.factor is None or term.source is None:
        return ()
    plus = " + old" if write.adds_old and len(write.terms) == 1 else ""
    if term.symbols == "1":
        return (plus.strip(),) if plus else ()
    symbols = term.text.removeprefix(term.source.name)
    if term.value.ndim:
        return symbols + plus, symbols
    numbers = [f"·{number_text(term.factor, digits)}" for digits in (4, 3, 2, 1)]
    return symbols + plus, numbers[0] + plus, *numbers
