"""What one step does to one tape: which rows it reads, overwrites and preserves."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lab.records import cached_property
from lab.traces.trace import Access, TapeTrace


@dataclass(frozen=True, eq=False)
class Touched:
    """A tape before, at and after the step number `step`; all by rows of its array."""

    tape: TapeTrace
    step: int

    @cached_property
    def read(self) -> Mapping[int, Access]:
        """The rows that the step reads."""
        return {int(access.rows[self.step]): access for access in self.tape.reads}

    @cached_property
    def written(self) -> Mapping[int, Access]:
        """The rows that the step writes."""
        return {int(access.rows[self.step]): access for access in self.tape.writes}

    @property
    def overwritten(self) -> set[int]:
        """The rows that the step reads and then replaces."""
        return self.read.keys() & self.written.keys()

    def before(self, row: int) -> np.ndarray | None:
        """What stands in a row when the step begins; None where nobody has written."""
        last = self.last_write(row)
        if last is None:
            is_there = row < len(self.tape.initial) and not self.tape.unwritten[row]
            return self.tape.initial[row] if is_there else None
        access, step = last
        return access.values[step]

    def after(self, row: int) -> np.ndarray | None:
        """What stands there when the step has ended."""
        access = self.written.get(row)
        return self.before(row) if access is None else access.values[self.step]

    def last_write(self, row: int) -> tuple[Access, int] | None:
        """Who wrote into a row last, of the steps before this one."""
        found = [
            (int(steps[-1]), access)
            for access in self.tape.writes
            if (steps := np.flatnonzero(access.rows[: self.step] == row)).size
        ]
        if not found:
            return None
        step, access = max(found, key=lambda each: each[0])
        return access, step
