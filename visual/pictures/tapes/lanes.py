"""One tape of a picture: its slots, and the role and value of each slot at every step."""

from collections.abc import Container, Iterator
from dataclasses import dataclass

import numpy as np

from lab.tape import Kind
from lab.traces.trace import ScanTrace, TapeTrace
from visual.layout.canvas import Columns
from visual.layout.columns import Timeline, column_of
from visual.layout.sheet import SCREEN, Sheet
from visual.scene.theme import Role


@dataclass(frozen=True)
class View:
    """The parts of the tapes that are shown.

    Of long loops, the `requested` steps as well; with `all`, everything in a picture of any size.
    What is `said` of them, and of their `seeds`, stands below.
    """

    requested: tuple[int, ...] = ()
    all: bool = False
    sheet: Sheet = SCREEN
    said: tuple[str, ...] = ()
    seeds: str = Role.SEED.value


@dataclass(frozen=True, eq=False)
class Slot:
    """A slot at one moment: its row in the array, its left edge, its role, and its value.

    `value` is None in uninitialized memory; `old` is the value that was replaced.
    """

    row: int
    x: float
    role: Role
    value: np.ndarray | None
    old: np.ndarray | None = None


class Lane:
    """A tape over the steps of its Scan, in columns."""

    def __init__(self, scan: ScanTrace, tape: TapeTrace, columns: Columns, time: Timeline) -> None:
        self.tape, self.arrived, self.columns = tape, scan.arrived(tape), columns
        rows = range(len(tape.initial))
        placed = ((row, columns.left.get(column_of(tape, row, time))) for row in rows)
        self.shown = {row: x for row, x in placed if x is not None}

        # The first and the last step that touch a row.
        size, steps = len(tape.initial), np.arange(scan.steps)
        self.first, self.last = np.full(size, scan.steps), np.full(size, -1)
        for access in (*tape.reads, *tape.writes):
            np.minimum.at(self.first, access.rows, steps)
            np.maximum.at(self.last, access.rows, steps)
        self.held: dict[int, np.ndarray] = {}

    def before(self) -> Iterator[Slot]:
        """The tape before the first step."""
        for row, x in self.shown.items():
            value, role = self.tape.initial[row], Role.WAITING
            if self.tape.unwritten[row]:
                yield Slot(row, x, Role.UNWRITTEN, None)
                continue
            if self.last[row] < 0:
                role = Role.UNNEEDED
            elif row in self.arrived:
                role = Role.INTERMEDIATE
            elif np.any(value != 0):
                role = Role.SEED if self.tape.kind is Kind.MIT_MOT else Role.INPUT
            yield Slot(row, x, role, value)

    def after(self, step: int) -> Iterator[Slot]:
        """The tape after a step."""
        if not self.held or step == 0:
            contents = self.tape.contents(step - 1)
            self.held = {row: contents[row] for row in self.shown}
        written = {int(access.rows[step]): access for access in self.tape.writes}
        read = {int(access.rows[step]) for access in self.tape.reads}
        for row, x in self.shown.items():
            if row in written:
                access = written[row]
                self.held[row] = access.values[step]
                old = access.before[step] if row in read and access.before is not None else None
                role = Role.INTERMEDIATE if old is None else Role.OVERWRITTEN
                yield Slot(row, x, role, self.held[row], old)
            elif self.tape.unwritten[row] and self.first[row] > step:
                yield Slot(row, x, Role.UNWRITTEN, None)
            else:
                role = Role.PRESERVED if row in read else self._idle(row, step)
                yield Slot(row, x, role, self.held[row])

    def skip(self) -> None:
        """Steps follow that are not shown: look up what they leave when it is needed."""
        self.held = {}

    def result(self, wanted: Container[int]) -> Iterator[Slot]:
        """The tape after the last step; the rows that are `wanted` are results."""
        for row, x in self.shown.items():
            role = Role.RESULT if row in wanted else Role.SPENT
            yield Slot(row, x, role, self.tape.final[row])

    def _idle(self, row: int, step: int) -> Role:
        """The role of a slot that a step neither reads nor writes."""
        if self.last[row] < 0:
            return Role.UNNEEDED
        if self.last[row] <= step:
            return Role.SPENT
        return Role.WAITING if self.first[row] > step else Role.INTERMEDIATE
