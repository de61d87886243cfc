"""Circular buffers: which slot of a shortened buffer holds the value of which step.

Counted are the rows of the whole buffer, as on a tape: a state with k initial values has them
in rows 0 to k−1, and step t writes row t + k.  A buffer of L slots holds row r in slot ::

    slot(r) = r mod L

so that row r is overwritten when row r + L is written, at step r + L − k.  After the last step
PyTensor turns the slots until the oldest row comes first.  A buffer with a slot for every row is
the case in which nothing is overwritten.
"""

from dataclasses import dataclass

from lab.errors import ArgumentError


@dataclass(frozen=True)
class Ring:
    """A buffer of `length` slots for a state with `initial` given rows, in a loop of `steps`.

    An output that feeds nothing back has no given rows.  A buffer must have room for the given
    rows, and for one row at least.
    """

    initial: int
    length: int
    steps: int

    def __post_init__(self) -> None:
        if self.initial < 0 or self.steps < 0:
            raise ArgumentError(f"{self}: a number of rows or steps is 0 or more.")
        if self.length < max(1, self.initial) and self.rows:
            raise ArgumentError(
                f"length = {self.length}: a buffer of {self.initial} initial values has "
                f"{max(1, self.initial)} slots or more."
            )

    @property
    def rows(self) -> int:
        """How many rows there are in all: the given ones, and one a step."""
        return self.initial + self.steps

    @property
    def is_circular(self) -> bool:
        """Whether there are fewer slots than rows, so that some rows are overwritten."""
        return self.length < self.rows

    def slot(self, row: int) -> int:
        """The slot in which `row` is, or was."""
        return row % self.length

    def written(self, step: int) -> int:
        """The row that a step writes."""
        return step + self.initial

    def step_of(self, row: int) -> int | None:
        """The step that writes `row`; None for a row that is given."""
        return row - self.initial if row >= self.initial else None

    def replaced(self, step: int) -> int | None:
        """The row that a step overwrites; None where its slot was free."""
        row = self.written(step) - self.length
        return row if row >= 0 else None

    def gone(self, row: int) -> int | None:
        """The step that overwrites `row`; None if it lasts until the loop has ended."""
        step = row + self.length - self.initial
        return step if step < self.steps else None

    def held(self, done: int) -> tuple[int | None, ...]:
        """The row in every slot when `done` steps are made; None where nobody has written."""
        newest = self.initial + done - 1
        rows = (newest - (newest - slot) % self.length for slot in range(self.length))
        return tuple(row if row >= 0 else None for row in rows)

    def returned(self) -> tuple[int | None, ...]:
        """The row in every place of the result: turned, the oldest first."""
        held = self.held(self.steps)
        if not self.is_circular:
            return held
        first = self.slot(self.rows)  # where the next row would go stands the oldest
        return held[first:] + held[:first]
