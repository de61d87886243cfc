"""Programming tasks that compare the function of a learner with the right function.

    >>> Work("cubes", lambda x: loop.trace(at={"x": x}), cases=((0.9,), (1.1,)))(mine)
    Wrong. With 0.9: later slots are right, but dC/dx₁ is not 0.45: step 1 computes …

With several cases, a function that always returns the same number fails the check.
"""

import os
import traceback
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

import numpy as np

from lab import errors
from lab.notation import counted, number_text
from lab.traces.trace import Trace
from visual.exercises.answers import TRY, AnswerOutcome, AnswerVerdict, flatten
from visual.exercises.progress import MOST, AnswerRecord, load, save
from visual.layout.names import NamedScan

Function = Callable[..., object]
TOLERANCE = 1e-6  # the largest relative error of a correct result, such as a finite difference
are_near = partial(np.isclose, rtol=TOLERANCE, atol=TOLERANCE * 1e-3)
LONGEST = 100_000  # the maximum number of values that the check reads from a result
NOTHING = (
    "Nothing to check yet: the function returns nothing. In a notebook, complete and run the cell "
    "above, and run this cell again."
)


@dataclass(frozen=True)
class Work:
    """A task: write a function that returns the same numbers as `right` in all `cases`.

    `name` identifies the task in the results file. A case is a tuple of arguments. The function
    returns numbers as a list, tuple, array, generator, set (in any order), or a nested combination.
    The numbers of a `Trace` are the final values on the first tape of the last Scan that
    differentiates the loop, in reverse order. `also` contains other correct functions, and `slips`
    maps feedback to functions with a typical mistake. Each wrong try receives the next of `hints`,
    or the last hint again. Raises ArgumentError for invalid arguments.
    """

    name: str
    right: Function
    cases: tuple[tuple[object, ...], ...]
    hints: tuple[str, ...] = ()
    slips: Mapping[str, Function] = field(default_factory=dict, hash=False)
    also: tuple[Function, ...] = ()

    def __post_init__(self) -> None:
        errors.check_type("name", self.name, str, "a text")
        errors.check_type("slips", self.slips, Mapping, "functions by feedback")
        errors.check_sequence("also", self.also, "a tuple of functions")
        named = {"right": [self.right], "slips": self.slips.values(), "also": self.also}
        for name, functions in named.items():
            for function in functions:
                errors.check_function(name, function)
        are_cases = isinstance(self.cases, tuple) and self.cases
        if not are_cases or not all(isinstance(case, tuple) for case in self.cases):
            raise errors.argument_error("cases", self.cases, "expected tuples of arguments.")
        errors.check_sequence("hints", self.hints, "a tuple of texts", str)

    def __call__(self, written: Function) -> AnswerVerdict:
        """Return the verdict on a function. Save a right result, and each wrong try before it.

        In nbgrader, raises AssertionError unless the function is right.
        """
        before = load().get(self.name, AnswerRecord())
        verdict = self.check(written, before.tries + 1)
        if verdict.is_right:
            save({self.name: AnswerRecord(before.tries, MOST, True)})
        elif verdict.outcome is AnswerOutcome.WRONG and not before.done:
            save({self.name: AnswerRecord(before.tries + 1)})
        if os.environ.get("NBGRADER_EXECUTION") and not verdict.is_right:
            raise AssertionError(verdict.reason)
        return verdict

    def check(self, written: Function, tries: int = 1) -> AnswerVerdict:
        """Return the verdict on the first case with a wrong result, or a verdict on all cases."""
        errors.check_integer("tries", tries, TRY, least=1)
        errors.check_function("written", written)
        verdicts = (self._find_mistake(written, case, tries) for case in self.cases)
        tested = f"Tested with {errors.listing(map(_arguments, self.cases))}."
        return next(filter(None, verdicts), AnswerVerdict(AnswerOutcome.RIGHT, tested))

    def _find_mistake(
        self, written: Function, case: tuple[object, ...], tries: int
    ) -> AnswerVerdict | None:
        """Return the verdict on a wrong or missing result in one case, or None if it is right."""
        wrong = partial(AnswerVerdict, AnswerOutcome.WRONG)
        try:
            returned = written(*deepcopy(case))
            if isinstance(returned, Iterator):
                returned = list(islice(returned, LONGEST))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the learner's code can raise any error
            where = traceback.extract_tb(error.__traceback__)[-1]
            message = f"{errors.first_line(error)} (line {where.lineno}: {where.line})"
            return wrong(f"With {_arguments(case)} the function stops: {message}.")
        if returned is None or returned is ...:
            return AnswerVerdict(AnswerOutcome.UNREADABLE, NOTHING)
        try:
            numbers = _numbers(returned)
        except (TypeError, ValueError, ArithmeticError, RecursionError):
            return wrong(f"The function returns {errors.quote(returned)}: expected numbers.")
        is_set = isinstance(returned, set | frozenset)

        def is_result(function: Function) -> bool:
            values = _numbers(function(*deepcopy(case)))
            return _is_same(numbers, sorted(set(values)) if is_set else values)

        if any(map(is_result, (self.right, *self.also))):
            return None
        slips = (text for text, slip in self.slips.items() if is_result(slip))
        reason = next(slips, "") or _difference(numbers, self.right(*deepcopy(case)), is_set, tries)
        hint = self.hints[min(tries, len(self.hints)) - 1] if self.hints else ""
        return wrong(f"With {_arguments(case)}: {reason} {hint}".rstrip())


def _difference(numbers: list[float], result: object, is_set: bool, tries: int) -> str:
    """Return a sentence about a wrong result: its count, its order, or a wrong number."""
    right = _numbers(result)
    if len(numbers) != len(right):
        return f"the function returns {counted(len(numbers), 'number')}; expected {len(right)}."
    if is_set:
        return "the set contains a wrong number."
    if _is_same(numbers[::-1], right):
        return "these are the right numbers, in the opposite order."
    wrong = np.flatnonzero(~are_near(numbers, right)).tolist()
    if isinstance(result, Trace):  # the backward loop writes the final slot first
        return _slot_difference(result, len(right) - 1 - wrong[-1], numbers[wrong[-1]], tries > 1)
    named = "the function returns" if len(right) == 1 else f"number {wrong[0] + 1} is"
    return f"{named} {number_text(numbers[wrong[0]])}, which is wrong."


def _arguments(case: tuple[object, ...]) -> str:
    return ", ".join(map(errors.quote, case))


def _gradient(trace: Trace) -> NamedScan:
    """Return the last Scan that differentiates the loop itself."""
    return NamedScan(trace, max(n for n, scan in enumerate(trace.scans) if scan.parent == 0))


def _numbers(value: object) -> list[float]:
    """Return the numbers of a result in order; raise TypeError or ValueError for other values."""
    if isinstance(value, Trace):
        value = _gradient(value).scan.tapes[0].final[::-1]
    return list(islice(flatten(value), LONGEST))


def _is_same(numbers: list[float], right: list[float]) -> bool:
    return len(numbers) == len(right) and bool(are_near(numbers, right).all())


def _slot_difference(trace: Trace, row: int, number: float, with_numbers: bool) -> str:
    """Return a sentence about a wrong slot of a gradient's tape and the steps that write it."""
    named = _gradient(trace)
    tape, write = named.scan.tapes[0], named.numbers if with_numbers else named.formula_at
    steps = [
        f"step {step} computes {write(formula, step)}"
        for formula in named.scan.formulas
        if formula.target.argument == tape.argument
        for step in range(named.scan.steps)
        if tape.tape.row(step, formula.target.tap or 0) == row
    ]
    reason = "; ".join(steps) or "no step writes it: it is the direct gradient of the cost"
    name = named.tape_label(tape, row)
    return f"later slots are right, but {name} is not {number_text(number)}: {reason}."
