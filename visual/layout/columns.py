"""Time from left to right: the column of each quantity, and the folded columns.

Column t has the results of step t; initial values are to the left of column 0. Long loops have
folds: a picture shows the first and last steps, and the neighbors of a requested step. A gap shows
the number of hidden columns.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral

from lab.errors import check_integer, check_sequence
from lab.traces.trace import Axis, ScanTrace, TapeTrace

MOST_STEPS = 12
ENDS = 3
Steps = int | Sequence[int] | None  # the requested steps of a long loop


def one_or_more(name: str, values: object) -> tuple[int, ...]:
    """Return an integer, or several integers, as a tuple; for None, return an empty tuple."""
    expected = "an integer, or several as in (2, 7)"
    given = () if values is None else values
    listed = (given,) if isinstance(given, Integral) else check_sequence(name, given, expected)
    return tuple(check_integer(name, number, expected) for number in listed)


@dataclass(frozen=True)
class Gap:
    """Hidden steps or columns."""

    hidden: int


def shown_steps(
    steps: int, requested: Steps = None, ends: int | None = None, only: range | None = None
) -> list[int | Gap]:
    """Return the shown steps: `ends` at both ends, and the requested steps with their neighbors.

    Gaps replace the other steps. With `only`, exactly these steps are shown.
    """
    if only is not None:
        return with_ends(only, steps)
    if steps <= (MOST_STEPS if ends is None else 2 * ends):
        return list(range(steps))
    ends = ENDS if ends is None else ends
    chosen = {*range(ends), *range(steps - ends, steps)}
    reach = 1 if ends > 1 else 0
    for step in [requested] if isinstance(requested, int) else requested or ():
        chosen |= {*range(step - reach, step + reach + 1)} & {*range(steps)}
    return with_gaps(chosen)


def with_ends(chosen: range, steps: int) -> list[int | Gap]:
    """Return some steps of a loop, with gaps for the steps before and after."""
    before, after = chosen.start, steps - chosen.stop
    return [*([Gap(before)] if before else []), *chosen, *([Gap(after)] if after else [])]


def with_gaps(chosen: Iterable[int], every: Collection[int] = ()) -> list[int | Gap]:
    """Return the numbers in ascending order, with gaps between numbers that are not neighbors.

    With `every` number, gaps also replace the numbers before the first and after the last.
    """
    chosen = sorted(set(chosen))
    if chosen and every:
        before, after = chosen[0] - min(every), max(every) - chosen[-1]
        ends = [[Gap(n)] if n > 0 else [] for n in (before, after)]
        return [*ends[0], *with_gaps(chosen), *ends[1]]
    result: list[int | Gap] = []
    previous: int | None = None
    for number in chosen:
        if previous is not None and number > previous + 1:
            result.append(Gap(number - previous - 1))
        result.append(number)
        previous = number
    return result


def shown_numbers(count: int, most: int, wanted: Iterable[int]) -> tuple[int | Gap, ...]:
    """Return 0 to `count` - 1; of more than `most`, both ends, the `wanted` numbers, and gaps."""
    if count <= most:
        return tuple(range(count))
    items = with_gaps({0, count - 1, *wanted})
    # A gap needs as much space as a single number.
    return tuple(with_gaps(set(_filled(items))))


def _filled(items: Iterable[int | Gap]) -> Iterator[int]:
    """Yield the numbers, and the hidden number of each gap with one number."""
    last = -1
    for item in items:
        if isinstance(item, Gap):
            if item.hidden == 1:
                yield last + 1
        else:
            last = item
            yield item


@dataclass(frozen=True)
class TimeColumns:
    """The columns of one loop and of all its derivatives.

    `starts` has, for every variable of the loop, the index in column 0.
    """

    starts: dict[str, int]

    def column(self, variable: str, index: int) -> int:
        """Return the column of ``variable[index]``."""
        return index - self.starts.get(variable, 0)

    def knows(self, axis: Axis | None) -> bool:
        """Return whether the rows of an array with this `axis` have columns in the picture."""
        return axis is not None and axis.variable in self.starts


def timeline(root: ScanTrace) -> TimeColumns:
    """Return the columns of a loop.

    The results of a step and the values of sequences that the step reads have the same column.
    States with the same number of initial values have the same index in a column.
    """
    origins = {tape.name: tape.tape.origin for tape in root.tapes}
    others = [sequence.axis.variable for sequence in root.sequences]  # without initial values
    return TimeColumns(dict.fromkeys([*others, *(o.name for o in root.outputs)], 0) | origins)


def column_of(tape: TapeTrace, row: int, time: TimeColumns) -> int:
    """Return the column of a row of a tape; without a time axis, the position of the row."""
    if tape.axis is not None and time.knows(tape.axis):
        return time.column(tape.axis.variable, int(tape.axis.index[row]))
    return tape.position(row)


def numbers(items: Iterable[int | Gap]) -> list[int]:
    """Return the items except gaps."""
    return [item for item in items if not isinstance(item, Gap)]


def touched_rows(tape: TapeTrace, steps: Sequence[int], first: int = 12) -> set[int]:
    """Return the rows of a tape that steps access; without steps, its `first` rows."""
    if not steps:
        return set(range(min(len(tape.initial), first)))
    return {int(access.rows[s]) for access in (*tape.reads, *tape.writes) for s in steps}


def touched_columns(scan: ScanTrace, time: TimeColumns, steps: Sequence[int]) -> set[int]:
    """Return the columns of the slots and sequences that steps of a Scan access."""
    columns: set[int] = set()
    for tape in scan.held:
        if not tape.is_total and time.knows(tape.axis):
            columns |= {column_of(tape, row, time) for row in touched_rows(tape, steps)}
    for sequence in scan.sequences:
        if time.knows(sequence.axis):
            indices = (int(sequence.axis.index[step]) for step in steps)
            columns |= {time.column(sequence.axis.variable, index) for index in indices}
    return columns
