"""The slots of the tapes of one Scan: their columns, and their roles and values at every step."""

from dataclasses import dataclass

import numpy as np

from lab.equations.events.events import Events
from lab.equations.events.records import SlotRole
from lab.records import cached_property
from lab.traces.trace import ScanTrace, TapeTrace
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
State = tuple[Role, np.ndarray | None, np.ndarray | None]  # role, value, the value before


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots of all tapes of a Scan; a running total has one slot."""

    named: NamedScan
    run: Events

    @property
    def scan(self) -> ScanTrace:
        """The Scan."""
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
        """Return the column of a row: in block 0 by time or position, in block 1 of a total."""
        if tape.is_total:
            return 1, [total.argument for total in self.totals].index(tape.argument)
        return 0, column_of(tape, row, self.time)

    def extent(self) -> dict[int, range]:
        """Return the range of the columns in block 0, from the first to the last."""
        rows = ((tape, row) for tape in self.tapes for row in (0, len(tape.final) - 1))
        columns = [self.column(*slot)[1] for slot in rows]
        return {0: range(min(columns), max(columns) + 1)} if columns else {}

    @staticmethod
    def positions(tape: TapeTrace, step: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the positions that a step only reads, and the positions that it writes."""
        taps = tape.tape
        read = taps.positions(step, taps.preserved or taps.reads)
        return read, taps.positions(step, taps.writes)

    def before(self, tape: TapeTrace, row: int) -> State:
        """Return a slot before the first step."""
        if tape.is_total:
            return Role.INTERMEDIATE, tape.initial[row], None
        return self._at(tape, row, self.run.clock.of_step(self.named.number, 0) - 1)

    def after(self, tape: TapeTrace, row: int, step: int) -> State:
        """Return a slot after a step."""
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
        """Return a slot after the last step."""
        if tape.is_total or row in self.named.wanted_rows(tape):
            return Role.RESULT, tape.final[row], None
        slot = self.run.slot(self.named.number, tape.argument, row)
        last = self.run.clock.of_step(self.named.number, self.scan.steps - 1)
        is_used = max(self.run.moments(slot), default=0) > last
        return Role.INTERMEDIATE if is_used else Role.SPENT, tape.final[row], None
