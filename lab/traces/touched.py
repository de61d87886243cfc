"""The rows of a tape that a step reads, overwrites, and preserves."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lab.records import cached_property
from lab.traces.trace import Access, TapeTrace


@dataclass(frozen=True, eq=False)
class Touched:
    """A tape before and after step number `step`, by rows of its array."""

    tape: TapeTrace
    step: int

    @cached_property
    def read(self) -> Mapping[int, Access]:
        """The accesses of the rows that the step reads."""
        return {int(access.rows[self.step]): access for access in self.tape.reads}

    @cached_property
    def written(self) -> Mapping[int, Access]:
        """The accesses of the rows that the step writes."""
        return {int(access.rows[self.step]): access for access in self.tape.writes}

    @property
    def overwritten(self) -> set[int]:
        """The rows that the step reads and then replaces."""
        return self.read.keys() & self.written.keys()

    def before(self, row: int) -> np.ndarray | None:
        """Return the value of a row before the step; None if it is uninitialized."""
        last = self.last_write(row)
        if last is None:
            is_there = row < len(self.tape.initial) and not self.tape.unwritten[row]
            return self.tape.initial[row] if is_there else None
        access, step = last
        return access.values[step]

    def after(self, row: int) -> np.ndarray | None:
        """Return the value of a row after the step."""
        access = self.written.get(row)
        return self.before(row) if access is None else access.values[self.step]

    def last_write(self, row: int) -> tuple[Access, int] | None:
        """Return the last access that wrote a row before this step, and its step."""
        found = [
            (int(steps[-1]), access)
            for access in self.tape.writes
            if (steps := np.flatnonzero(access.rows[: self.step] == row)).size
        ]
        if not found:
            return None
        step, access = max(found, key=lambda each: each[0])
        return access, step
