"""The slots of the tapes of one Scan: their columns, and their roles and values at every step."""

from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from lab.notation import value_symbol
from lab.records import cached_property
from lab.tape import Kind
from lab.traces.trace import Access, ScanTrace, SequenceTrace, TapeTrace
from visual.layout.columns import TimeColumns, column_of, timeline
from visual.layout.names import NamedScan
from visual.layout.table import Key
from visual.scene.theme import Role

State = tuple[Role, np.ndarray | None, np.ndarray | None]  # role, value, the value before


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots of all tapes of a Scan; a running total has one slot."""

    named: NamedScan

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
        """The column of a row: in time or, in block 1, by its position."""
        if tape.is_total:
            return 2, [total.argument for total in self.totals].index(tape.argument)
        return int(not self.time.knows(tape.axis)), column_of(tape, row, self.time)

    def extent(self) -> dict[int, range]:
        """All columns of the tapes, by block."""
        found: dict[int, range] = {}
        for tape in self.tapes:
            ends = [self.column(tape, row) for row in (0, len(tape.final) - 1)]
            numbers = [number for _, number in ends]
            known = found.get(ends[0][0], numbers)
            low, high = min(*numbers, *known[:1]), max(*numbers, *known[-1:])
            found[ends[0][0]] = range(low, high + 1)
        return found

    @staticmethod
    def positions(tape: TapeTrace, step: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The positions that a step only reads, and the positions that it writes."""
        taps = tape.tape
        read = taps.positions(step, taps.preserved or taps.reads)
        return read, taps.positions(step, taps.writes)

    def touched(self, tape: TapeTrace, steps: list[int]) -> set[int]:
        """The rows of a tape that steps read or write; without steps, its first rows."""
        if not steps:
            return set(range(min(len(tape.initial), 6)))
        return {int(access.rows[s]) for access in (*tape.reads, *tape.writes) for s in steps}

    def short(self, variable: TapeTrace | SequenceTrace, index: int | None) -> tuple[str, str]:
        """A short name of a value, and its meaning; a letter tells names apart that are equal."""
        whole, scan = self.named.row_name(variable), self.scan
        known: list[TapeTrace | SequenceTrace] = [*scan.held, *scan.sequences]
        alike = (one for one in known if one.name == variable.name)
        names = [*dict.fromkeys(map(self.named.row_name, alike))]
        letter = ascii_lowercase[names.index(whole)] if len(names) > 1 else ""
        own = f"{variable.name}{letter}"
        return value_symbol(own, index), f"{own} is {whole}"

    def before(self, tape: TapeTrace, row: int) -> State:
        """A slot before the first step."""
        value = tape.initial[row]
        if tape.is_total:
            return Role.INTERMEDIATE, value, None
        if tape.unwritten[row]:
            return Role.UNWRITTEN, None, None
        if not self._accesses(tape, row):
            return Role.UNNEEDED, value, None
        if row in self.scan.arrived(tape):
            return Role.INTERMEDIATE, value, None
        seed = Role.SEED if tape.kind is Kind.MIT_MOT else Role.INPUT
        return seed if np.any(value != 0) else Role.WAITING, value, None

    def after(self, tape: TapeTrace, row: int, step: int) -> State:
        """A slot after a step."""
        if tape.is_total:
            return Role.OVERWRITTEN, tape.writes[0].values[step], tape.reads[0].values[step]
        accesses = self._accesses(tape, row)
        now = [access for n, access in accesses if n == step]
        past = [(n, access) for n, access in accesses if n <= step and access.before is not None]
        _, last = max(past, key=lambda pair: pair[0], default=(0, None))
        value = tape.initial[row]
        if last is not None:
            value = last.values[int(np.searchsorted(last.rows, row))]
        if last is not None and any(last is one for one in now):
            is_read = any(access.before is None for access in now)
            old = last.before[step] if is_read and last.before is not None else None
            return Role.OVERWRITTEN if is_read else Role.INTERMEDIATE, value, old
        if now:
            return Role.PRESERVED, value, None
        steps = [n for n, _ in accesses]
        if tape.unwritten[row] and min(steps, default=step + 1) > step:
            return Role.UNWRITTEN, None, None
        if not steps:
            return Role.UNNEEDED, value, None
        if max(steps) <= step:
            return Role.SPENT, value, None
        return Role.INTERMEDIATE if min(steps) <= step else Role.WAITING, value, None

    def result(self, tape: TapeTrace, row: int) -> State:
        """A slot after the last step."""
        wanted = tape.is_total or row in self.named.wanted_rows(tape)
        return Role.RESULT if wanted else Role.SPENT, tape.final[row], None

    def _accesses(self, tape: TapeTrace, row: int) -> list[tuple[int, Access]]:
        """The steps that read or write a row, each with its access; only a write has `before`."""
        found = []
        for access in (*tape.reads, *tape.writes):
            step = int(np.searchsorted(access.rows, row))
            if step < len(access.rows) and access.rows[step] == row:
                found.append((step, access))
        return found
