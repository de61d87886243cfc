"""What is shown of tapes, and one of them: its slots, and what each of them is at every step."""

from collections.abc import Container, Iterator
from dataclasses import dataclass

import numpy as np

from lab.tape import Kind
from lab.traces.flow import adds_old
from lab.traces.trace import ScanTrace, TapeTrace
from visual.layout.canvas import Columns, place_columns, touched_rows
from visual.layout.columns import Timeline, Unfold, column_of
from visual.layout.sheet import SCREEN, Sheet
from visual.scene.theme import Role


@dataclass(frozen=True)
class View:
    """What is shown of the tapes.

    Of long loops the steps next to `unfold` as well; of all loops only the step `step`, if it
    is given.  `buffer` puts the slots in the order of the buffer instead of that of time, and
    `contributions` tells in every cell what came directly and what through later steps.
    All that has to find room on `sheet`; what is `said` of it, and of its `seeds`, stands below.
    Where a click opens steps, those beside the `usual` ones have a word that folds them again.
    """

    unfold: tuple[int, ...] = ()
    step: int | None = None
    buffer: bool = False
    contributions: bool = False
    sheet: Sheet = SCREEN
    said: tuple[str, ...] = ()
    seeds: str = Role.SEED.value
    usual: frozenset[int] | None = None


@dataclass(frozen=True, eq=False)
class Slot:
    """One slot at one moment: its row in the array, where it stands, what is in it, and why.

    `value` is None in memory that nobody has written; `old` is what was replaced.  In a
    gradient's tape `direct` is what of the value stood there before the loop.
    """

    row: int
    x: float
    role: Role
    value: np.ndarray | None
    old: np.ndarray | None = None
    direct: np.ndarray | None = None

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray] | None:
        """What came from the cost directly, and what came through later steps."""
        if self.value is None or self.direct is None:
            return None
        return self.direct, np.asarray(self.value - self.direct)


class Lane:
    """A tape over the steps of its Scan, in the `columns` of its loop, or in its `own`."""

    def __init__(
        self,
        scan: ScanTrace,
        tape: TapeTrace,
        columns: Columns,
        time: Timeline,
        unfold: Unfold,
        own: Columns | None = None,
    ) -> None:
        self.tape, self.arrived, self.time = tape, scan.arrived(tape), time
        if time.knows(tape.axis) or own is not None:
            self.columns = own if own is not None else columns
            rows = list(range(len(tape.initial)))
        else:  # in the order of the buffer, in columns of its own
            rows = sorted(touched_rows(scan, tape, unfold))
            self.columns = place_columns(tape.position(row) for row in rows)
        placed = ((row, self.columns.left.get(column_of(tape, row, time))) for row in rows)
        self.shown = {row: x for row, x in placed if x is not None}

        # The first and the last step that touch a row.
        accesses = (*tape.reads, *tape.writes)
        size, steps = len(tape.initial), np.arange(scan.steps)
        self.first, self.last = np.full(size, scan.steps), np.full(size, -1)
        for access in accesses:
            np.minimum.at(self.first, access.rows, steps)
            np.maximum.at(self.last, access.rows, steps)
        self.held: dict[int, np.ndarray] = {}
        # The first step after which nothing is left of what stood in a row before the loop.
        self.steps = scan.steps
        self.replaced = np.full(size, scan.steps)
        kept = {
            f.target.tap
            for f in scan.formulas
            if f.target.argument == tape.argument and adds_old(f)
        }
        for access in tape.writes:
            if access.tap not in kept:
                np.minimum.at(self.replaced, access.rows, steps)

    def first_of(
        self, columns: Container[int], shown: Container[object], otherwise: int | None
    ) -> int | None:
        """The first step that is not shown and touches one of these columns, or else another."""
        if otherwise is None:  # no step can be opened
            return None
        rows = [n for n in range(len(self.first)) if column_of(self.tape, n, self.time) in columns]
        accesses = (*self.tape.reads, *self.tape.writes)
        found = {int(n) for one in accesses for n in np.flatnonzero(np.isin(one.rows, rows))}
        return min((step for step in found if step not in shown), default=otherwise)

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
            yield Slot(row, x, role, value, direct=self._direct(row, -1))

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
                yield Slot(row, x, role, self.held[row], old, self._direct(row, step))
            elif self.tape.unwritten[row] and self.first[row] > step:
                yield Slot(row, x, Role.UNWRITTEN, None)
            else:
                role = Role.PRESERVED if row in read else self._idle(row, step)
                yield Slot(row, x, role, self.held[row], direct=self._direct(row, step))

    def skip(self) -> None:
        """Steps follow that are not shown: look up what they leave when it is needed."""
        self.held = {}

    def result(self, wanted: Container[int]) -> Iterator[Slot]:
        """The tape after the last step; the rows that are `wanted` are results."""
        for row, x in self.shown.items():
            role = Role.RESULT if row in wanted else Role.SPENT
            direct = self._direct(row, self.steps - 1)
            yield Slot(row, x, role, self.tape.final[row], direct=direct)

    def _direct(self, row: int, step: int) -> np.ndarray | None:
        """What is left in a row, after a step, of what stood there before the loop."""
        if self.tape.gradient_of is None:
            return None
        initial = self.tape.initial[row]
        left = self.replaced[row] > step and not self.tape.unwritten[row]
        return initial if left else np.zeros_like(initial)

    def _idle(self, row: int, step: int) -> Role:
        """The role of a slot that a step neither reads nor writes."""
        if self.last[row] < 0:
            return Role.UNNEEDED
        if self.last[row] <= step:
            return Role.SPENT
        return Role.WAITING if self.first[row] > step else Role.INTERMEDIATE
