"""Time from left to right: the column of each quantity, and the gaps for hidden columns.

Column t contains the results of step t. Initial values are to the left of column 0. A picture of a
long loop shows the first steps, the last steps, and each requested step with its neighbors. A `Gap`
states the number of hidden steps or columns.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral

from lab.errors import check_integer, check_sequence
from lab.traces.trace import Axis, ScanTrace, TapeTrace
from visual.options import check_step

MOST_STEPS = 12
ENDS = 3
Steps = int | Sequence[int] | None  # the requested steps of a long loop


def requested_steps(step: Steps, *scans: ScanTrace) -> tuple[int, ...]:
    """Return the requested steps. Raises ArgumentError for a step that none of `scans` runs."""
    expected = "an integer, or several as in (2, 7)"
    given = () if step is None else step
    listed = (given,) if isinstance(given, Integral) else check_sequence("step", given, expected)
    longest = max(scans, key=lambda scan: scan.steps)
    return tuple(check_step(longest, check_integer("step", n, expected)) for n in listed)


@dataclass(frozen=True)
class Gap:
    """A gap in a list of steps or columns. `hidden` is the number of hidden steps or columns."""

    hidden: int


def shown_steps(steps: int, requested: Steps = None, ends: int | None = None) -> list[int | Gap]:
    """Return the steps to show, and gaps for the other steps.

    The shown steps of a long loop are the first and the last `ends` steps (default: 3), and the
    requested steps. If `ends` exceeds 1, the neighbors of the requested steps are also shown.
    """
    if steps <= (MOST_STEPS if ends is None else 2 * ends):
        return list(range(steps))
    ends = ENDS if ends is None else ends
    chosen = {*range(ends), *range(steps - ends, steps)}
    reach = 1 if ends > 1 else 0
    for step in [requested] if isinstance(requested, int) else requested or ():
        chosen |= {*range(step - reach, step + reach + 1)} & {*range(steps)}
    return with_gaps(chosen)


def with_gaps(chosen: Iterable[int], every: Collection[int] = ()) -> list[int | Gap]:
    """Return the `chosen` numbers in ascending order, with a gap for each range between them.

    With a range `every`, a gap also replaces the numbers of the range below the smallest chosen
    number, and another gap the numbers above the largest chosen number.
    """
    chosen = sorted({*chosen})
    every = every or chosen
    result: list[int | Gap] = []
    for before, number in pairwise([min(every, default=0) - 1, *chosen, max(every, default=0) + 1]):
        if chosen and number > before + 1:
            result.append(Gap(number - before - 1))
        result.append(number)
    return result[:-1]


def with_long_gaps(chosen: Iterable[int], every: Collection[int] = ()) -> list[int | Gap]:
    """Return the result of `with_gaps`, with a number instead of each gap for a single number.

    A gap for one number would save no space.
    """
    chosen = {*chosen}
    edges = chosen | ({min(every) - 1, max(every) + 1} if every else set())
    return with_gaps(chosen | {n + 1 for n in edges if n + 2 in edges}, every)


def shown_numbers(count: int, most: int, wanted: Iterable[int]) -> list[int | Gap]:
    """Return the numbers from 0 to `count` - 1, with gaps if `count` exceeds `most`.

    The first number, the final number, and the `wanted` numbers always remain.
    """
    return with_long_gaps(range(count) if count <= most else {0, count - 1, *wanted})


@dataclass(frozen=True)
class TimeColumns:
    """The columns of a loop and of all its derivatives.

    `starts` maps each variable of the loop to the index of its value in column 0.
    """

    starts: dict[str, int]

    def column(self, variable: str, index: int) -> int:
        """Return the column of ``variable[index]``."""
        return index - self.starts.get(variable, 0)

    def knows(self, axis: Axis | None) -> bool:
        """Return whether `axis` is a time axis of a variable of the loop."""
        return axis is not None and axis.variable in self.starts


def timeline(root: ScanTrace) -> TimeColumns:
    """Return the columns of the forward Scan `root` and of its derivatives.

    The results of a step are in the same column as the values of sequences that the step reads.
    """
    origins = {tape.name: tape.tape.origin for tape in root.tapes}
    others = [sequence.axis.variable for sequence in root.sequences]  # no initial values
    return TimeColumns(dict.fromkeys([*others, *(o.name for o in root.outputs)], 0) | origins)


def column_of(tape: TapeTrace, row: int, time: TimeColumns) -> int:
    """Return the column of a row of a tape or, without a time axis, the position of the row."""
    if tape.axis is not None and time.knows(tape.axis):
        return time.column(tape.axis.variable, int(tape.axis.index[row]))
    return tape.position(row)


def numbers(items: Iterable[int | Gap]) -> list[int]:
    """Return `items` without the gaps."""
    return [item for item in items if not isinstance(item, Gap)]


def touched_rows(tape: TapeTrace, steps: Sequence[int], first: int = 12) -> set[int]:
    """Return the rows of a tape that `steps` access or, without steps, at most `first` rows."""
    if not steps:
        return set(range(min(len(tape.initial), first)))
    return {int(access.rows[s]) for access in (*tape.reads, *tape.writes) for s in steps}


def touched_columns(scan: ScanTrace, time: TimeColumns, steps: Sequence[int]) -> set[int]:
    """Return the columns of the slots and of the sequence values that `steps` of a Scan access."""
    columns: set[int] = set()
    for tape in scan.buffers:
        if not tape.is_total and time.knows(tape.axis):
            columns |= {column_of(tape, row, time) for row in touched_rows(tape, steps)}
    for sequence in scan.sequences:
        if time.knows(sequence.axis):
            indices = (int(sequence.axis.index[step]) for step in steps)
            columns |= {time.column(sequence.axis.variable, index) for index in indices}
    return columns
