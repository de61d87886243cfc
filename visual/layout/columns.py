"""Time from left to right: which column a quantity stands in, and which columns are folded.

A column is one moment of the loop.  Column t holds what step t computed; initial values
stand to the left of column 0.  Long loops are folded: first steps, last steps, and the
neighbourhood of a chosen one are shown; between them stands a gap that tells its size.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral

from lab.errors import check_integer, check_sequence
from lab.traces.trace import Axis, ScanTrace, TapeTrace

MOST_STEPS = 12
ENDS = 3
Steps = int | Sequence[int] | None  # a step, or several, that are shown of a long loop


def one_or_more(name: str, values: object) -> tuple[int, ...]:
    """A whole number, or several; none where nothing was chosen."""
    expected = "a whole number, or several as in (2, 7)"
    given = () if values is None else values
    listed = (given,) if isinstance(given, Integral) else check_sequence(name, given, expected)
    return tuple(check_integer(name, number, expected) for number in listed)


@dataclass(frozen=True)
class Gap:
    """Steps, or columns, that are not shown."""

    hidden: int


def shown_steps(
    steps: int, requested: Steps = None, ends: int | None = None, only: range | None = None
) -> list[int | Gap]:
    """The steps to show, of any loop at most two times `ends`, and a gap for those left out.

    The `requested` ones and those next to them are shown as well.  If `only` some are wanted,
    these are.
    """
    if only is not None:
        return with_ends(only, steps)
    if steps <= (MOST_STEPS if ends is None else 2 * ends):
        return list(range(steps))
    ends = ENDS if ends is None else ends
    chosen = {*range(ends), *range(steps - ends, steps)}
    near = 1 if ends > 1 else 0
    for step in [requested] if isinstance(requested, int) else requested or ():
        chosen |= {*range(step - near, step + near + 1)} & {*range(steps)}
    return with_gaps(chosen)


def with_ends(chosen: range, steps: int) -> list[int | Gap]:
    """Some steps of a loop, and gaps for those before and after them."""
    before, after = chosen.start, steps - chosen.stop
    return [*([Gap(before)] if before else []), *chosen, *([Gap(after)] if after else [])]


def with_gaps(chosen: Iterable[int], every: Collection[int] = ()) -> list[int | Gap]:
    """The numbers in ascending order, with gaps between those that are not neighbours.

    Of `every` number, those before the first and after the last one are in a gap as well.
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


@dataclass(frozen=True)
class Timeline:
    """The columns of one loop and of all its derivatives.

    `starts` holds, for every variable of the loop, the index that stands in column 0.
    """

    starts: dict[str, int]

    def column(self, variable: str, index: int) -> int:
        """The column of ``variable[index]``."""
        return index - self.starts.get(variable, 0)

    def knows(self, axis: Axis | None) -> bool:
        """Whether the rows of an array with `axis` belong to columns."""
        return axis is not None and axis.variable in self.starts


def timeline(root: ScanTrace) -> Timeline:
    """The columns of a loop: what a step reads of sequences stands where its results do.

    States with the same number of initial values have the same index in a column.
    """
    origins = {tape.name: tape.tape.origin for tape in root.tapes}
    others = [sequence.axis.variable for sequence in root.sequences]  # without initial values
    return Timeline(dict.fromkeys([*others, *(o.name for o in root.outputs)], 0) | origins)


def column_of(tape: TapeTrace, row: int, time: Timeline) -> int:
    """The column of a row of a tape; its position where it belongs to no time axis."""
    if tape.axis is not None and time.knows(tape.axis):
        return time.column(tape.axis.variable, int(tape.axis.index[row]))
    return tape.position(row)
