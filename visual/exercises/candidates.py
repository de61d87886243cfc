"""Questions that could be asked about a trace; each is made when it is chosen.

A question is made from what the trace recorded; its reasons come from the rule of tapes and
from the formulas of the step.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lab.traces.trace import TapeTrace, Trace
from visual.exercises.answers import Task
from visual.layout.names import listed as in_words

ENDS = 50


@dataclass(frozen=True, eq=False)
class Candidate:
    """One question that could be asked; it is made when it is chosen."""

    order: int
    make: Callable[[str], Task]


def tapes_of(trace: Trace) -> Iterator[tuple[int, TapeTrace]]:
    """All tapes that are no running totals, with the numbers of their Scans."""
    for number, scan in enumerate(trace.scans):
        yield from ((number, tape) for tape in scan.tapes if not tape.is_total)


def asked_steps(steps: int) -> list[int]:
    """The steps that are asked about: all, or of a long loop the first and the last ones."""
    if steps <= 2 * ENDS:
        return list(range(steps))
    return [*range(ENDS), *range(steps - ENDS, steps)]


def listed(numbers: tuple[int, ...]) -> str:
    """``−1, 0``; ``none`` for nothing."""
    return in_words(sorted(numbers), "none")


def taps_text(taps: tuple[int, ...]) -> str:
    """``tap 1`` or ``taps 0, 1``."""
    return f"{'tap' if len(taps) == 1 else 'taps'} {listed(taps)}"
