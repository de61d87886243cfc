"""What a person writes in a cell: it is run, compared, and told what is wrong and why.

    >>> Work("cubes", lambda x: loop.trace(at={"x": x}), cases=((0.9,), (1.1,)))(mine)
    Wrong. With 0.9 it is not right at dC/dx₁: step 1 makes buf[1]·3·x₁² + buf[2] of it. …

What is right is computed anew for every case, so an answer that was copied fits none but one.
"""

import os
import traceback
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np

from lab.equations.spelling import Speller
from lab.errors import ArgumentError, check_function, check_type, first_line, listing, quote
from lab.notation import number_text
from lab.traces.trace import Trace
from visual.exercises.answers import Outcome, Verdict, check_tries
from visual.exercises.progress import MOST, Answered, keep, kept
from visual.layout.names import NamedScan

Function = Callable[..., object]
CLOSE = 1e-6  # relative: as near as finite differences of a person's own come
NOTHING = (
    "Nothing is written yet, or `return` is missing: in a notebook, write in the cell above, run "
    "it, then this one."
)


@dataclass(frozen=True)
class Checked:
    """A verdict as a notebook shows it."""

    verdict: Verdict

    def __repr__(self) -> str:
        is_open = self.verdict.outcome is Outcome.UNREADABLE
        return self.verdict.reason if is_open else str(self.verdict)


@dataclass(frozen=True)
class Work:
    """A task called `name`: a function that gives what `right` gives, for every one of the `cases`.

    A case is a tuple of arguments.  What is compared are numbers, in lists, tuples or arrays of any
    depth, or in a set from the smallest on; of a `Trace` the tape of its last gradient, in the
    order of time, so that it can be told which step makes what is wrong.  `hints` are said one by
    one, with each wrong try; `slips` are other functions, by what is to be said of them.
    """

    name: str
    right: Function
    cases: tuple[tuple[object, ...], ...]
    hints: tuple[str, ...] = ()
    slips: Mapping[str, Function] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_type("name", self.name, str, "a text")
        if not isinstance(self.slips, Mapping):
            raise ArgumentError(f"slips = {quote(self.slips)}: expected functions by words.")
        for function in (self.right, *self.slips.values()):
            check_function("right", function)
        are_cases = isinstance(self.cases, tuple) and self.cases
        if not are_cases or not all(isinstance(case, tuple) for case in self.cases):
            raise ArgumentError(f"cases = {quote(self.cases)}: expected tuples of arguments.")
        if not isinstance(self.hints, tuple) or not all(isinstance(h, str) for h in self.hints):
            raise ArgumentError(f"hints = {quote(self.hints)}: expected a tuple of texts.")

    def __call__(self, written: Function) -> Checked:
        """Check a function, and keep what came of it; nbgrader gets an AssertionError."""
        before = kept(self.name)
        verdict = self.check(written, before.tries + 1)
        if verdict.is_right:
            keep({self.name: Answered(before.tries, MOST, True)})
        elif verdict.outcome.is_try and not before.done:
            keep({self.name: Answered(before.tries + 1)})
        if os.environ.get("NBGRADER_EXECUTION") and not verdict.is_right:
            raise AssertionError(verdict.reason)
        return Checked(verdict)

    def check(self, written: Function, tries: int = 1) -> Verdict:
        """Whether a function does what it should, and what is wrong with it."""
        check_tries(tries)
        check_function("written", written)
        for case in self.cases:
            wrong = self._wrong(written, case, tries)
            if wrong is not None:
                return wrong
        tried = listing(_called(case) for case in self.cases)
        return Verdict(Outcome.RIGHT, f"It was tried with {tried}.")

    def _wrong(self, written: Function, case: tuple[object, ...], tries: int) -> Verdict | None:
        try:
            returned = written(*deepcopy(case))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever the reader writes, exit() as well
            where = traceback.extract_tb(error.__traceback__)[-1]
            told = f"{first_line(error)} (line {where.lineno}: {where.line})"
            return Verdict(Outcome.WRONG, f"With {_called(case)} it stops: {told}.")
        if returned is None or returned is ...:
            return Verdict(Outcome.UNREADABLE, NOTHING)
        try:
            given = _numbers(returned)
        except (TypeError, ValueError):
            return Verdict(Outcome.WRONG, f"It returns {quote(returned)}: expected numbers.")
        made = self.right(*deepcopy(case))
        right = _numbers(made)
        if _same(given, right):
            return None
        hint = self.hints[min(tries, len(self.hints)) - 1] if self.hints else ""
        reason = f"{self._reason(case, given, right, made, tries)} {hint}".rstrip()
        return Verdict(Outcome.WRONG, f"With {_called(case)}: {reason}")

    def _reason(
        self,
        case: tuple[object, ...],
        given: list[float],
        right: list[float],
        made: object,
        tries: int,
    ) -> str:
        """What is wrong: a known slip, the order, how many numbers, or the first wrong one."""
        for words, slip in self.slips.items():
            if _same(given, _numbers(slip(*deepcopy(case)))):
                return words
        if len(given) != len(right):
            return f"it returns {len(given)} numbers, and {len(right)} are expected."
        if _same(given[::-1], right):
            return "these are the right numbers, in the opposite order."
        wrong = [n for n, pair in enumerate(zip(given, right, strict=True)) if not _near(*pair)]
        place = wrong[-1] if isinstance(made, Trace) else wrong[0]  # backwards, the first one
        told = number_text(given[place])
        if isinstance(made, Trace):
            return _derived(made, len(right) - 1 - place, told, tries > 1)
        which = f"number {place + 1} is" if len(right) > 1 else "it returns"
        return f"{which} {told}, and that is not right."


def _called(case: tuple[object, ...]) -> str:
    return ", ".join(quote(one) for one in case)


def _gradient(trace: Trace) -> int:
    """The last Scan that differentiates the loop itself."""
    return max(n for n, scan in enumerate(trace.scans) if scan.parent == 0)


def _numbers(value: object) -> list[float]:
    """All numbers of what was returned, in their order; TypeError or ValueError for others."""
    if isinstance(value, Trace):
        return _numbers(value.scans[_gradient(value)].tapes[0].final[::-1])
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if isinstance(value, list | tuple):
        return [number for part in value for number in _numbers(part)]
    return [float(number) for number in np.asarray(value, dtype="float64").ravel()]


def _near(given: float, right: float) -> bool:
    return bool(np.isclose(given, right, rtol=CLOSE, atol=CLOSE * 1e-3))


def _same(given: list[float], right: list[float]) -> bool:
    return len(given) == len(right) and all(map(_near, given, right))


def _derived(trace: Trace, row: int, told: str, with_numbers: bool) -> str:
    """How the tape comes to what it holds in a row."""
    number = _gradient(trace)
    named, scan = NamedScan(trace, number), trace.scans[number]
    tape, speller = scan.tapes[0], Speller(named)
    name = named.tape_label(tape, row)
    steps = [
        f"step {step} makes {speller.numbers(one, step) if with_numbers else speller.at(one, step)}"
        for one in scan.formulas
        if one.target.argument == tape.argument
        for step in range(scan.steps)
        if tape.tape.row(step, one.target.tap or 0) == row
    ]
    made = "; ".join(steps) or "no step writes there: it is what the cost says directly"
    return f"later slots are right, but {name} is not {told}: {made}."
