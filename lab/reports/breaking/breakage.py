"""Compare derivatives by a faulty rule of the pullback with derivatives by the correct rule.

>>> right = Truth(lab.derivative(cost, x0, order=3), {x0: 0.95})
>>> print(right.broken_by("accumulate-overwritten"))
>>> print(right.broken_by("swapped-taps"))  # reuses the correct derivatives
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pytensor.graph.basic import Variable

from lab.checks.check import MovedCost
from lab.checks.finite_differences import Estimate
from lab.equations.events.events import events
from lab.equations.tables import ReportTable
from lab.errors import ArgumentError, LabError, check_type, listing, quote
from lab.gradients.derivative import Derivative, derivative
from lab.gradients.symbols import cost_symbol
from lab.loops.loop import Loop, refuse_options
from lab.notation import parenthesize
from lab.progress import hide_progress
from lab.records import cached_property, record_of_arrays
from lab.reports.breaking.rules import BROKEN, BrokenRule, Mistake
from lab.reports.tables import Report, Section
from lab.traces.differences import Contrast, contrast, far
from lab.traces.run import Values, checked_values
from lab.traces.trace import Trace
from lab.traces.tracing import trace


class Effect(StrEnum):
    """The effect of a faulty rule on one derivative."""

    RIGHT = "correct"
    WRONG = "wrong"
    REFUSED = "refused"

    @classmethod
    def from_values(cls, true: np.ndarray, other: np.ndarray | None) -> "Effect":
        """Return the effect of a rule on one derivative.

        `true` is the correct value, and `other` the value by the rule, or None after an error.
        """
        if other is None:
            return cls.REFUSED
        is_wrong = other.shape != true.shape or far(true[None], other[None])[0]
        return cls.WRONG if is_wrong else cls.RIGHT


@record_of_arrays
class OrderRow:
    """The derivative of one order: by the correct rule, the faulty rule, and finite differences.

    `broken` is None if the faulty rule raises an error with the message `refusal`.  `differences`
    is None if the input has too many entries.
    """

    order: int
    true: np.ndarray
    broken: np.ndarray | None
    differences: Estimate | None
    refusal: str = ""

    @property
    def name(self) -> str:
        """The name of the derivative: C′, C″, and so on."""
        return cost_symbol(self.order)

    @property
    def effect(self) -> Effect:
        """The effect of the faulty rule on this derivative."""
        return Effect.from_values(self.true, self.broken)

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the row: order, correct and faulty derivative, and finite differences."""
        faulty = "refused" if self.broken is None else precise(self.broken)
        checked = "–" if self.differences is None else estimate_text(self.differences)
        return str(self.order), precise(self.true), faulty, checked

    @property
    def confirmed(self) -> bool | None:
        """Whether finite differences agree with the correct rule; None if unknown."""
        return None if self.differences is None else self.differences.confirms(self.true)


@dataclass(frozen=True, eq=False)
class Breakage(Report):
    """The derivatives of a cost by a faulty rule, order by order.

    `true` and `broken` are the runs by the correct and by the faulty rule, up to the last order
    that both compute, or up to a lower order.  `contrast` compares these runs.
    """

    rule: Mistake
    wrt: str
    rows: tuple[OrderRow, ...]
    true: Trace
    broken: Trace
    contrast: Contrast

    @property
    def visible(self) -> int | None:
        """The first order whose derivative is wrong or refused; None if all are correct."""
        return _visible(self.rows)

    @cached_property
    def parts(self) -> str:
        """Sentences about the parts of the highest derivative if it is wrong; otherwise empty."""
        row = next((row for row in self.rows if row.order == len(self.true.outputs) - 1), None)
        if row is None or row.effect is not Effect.WRONG or row.true.ndim:
            return ""
        true, broken = _parts_of(self.true), _parts_of(self.broken)
        scans = sorted(true)
        if len(scans) < 2 or true.keys() != broken.keys():
            return ""
        sums = (" + ".join(parenthesize(f"{p[n]:.6g}") for n in scans) for p in (true, broken))
        equal = "equal " if np.ptp([*true.values()]) <= 1e-9 * abs(true[scans[0]]) else ""
        ratios = listing(f"{broken[n] / true[n]:.4g}" for n in scans)
        return (
            f"{row.name} is the sum of {equal}parts from Scans {listing(scans)}: {next(sums)}. "
            f"With the faulty rule, they are {ratios} times as large: {next(sums)}."
        )

    @property
    def document(self) -> Section:
        """A table of the derivatives of all orders, and a sentence about the first wrong order."""
        header = ("order", "correct rule", "faulty rule", "finite differences")
        table = ReportTable(header, tuple(row.cells for row in self.rows))
        summary = f"The error is visible at order {self.visible}."
        if self.visible is None:
            summary = f"No order up to {len(self.rows)} shows the error."
        title = f"Faulty rule: {self.rule.title}. Derivatives wrt {self.wrt}"
        return Section(title, (table, f"{summary} {self.parts}".rstrip()))


@dataclass(frozen=True, eq=False)
class Truth:
    """The derivatives of a cost by the correct rule, for comparison with faulty rules.

    `given` contains values of all inputs of the graph.  The trace and the finite differences are
    computed at first use.
    """

    derivative: Derivative
    given: Values

    def __post_init__(self) -> None:
        if self.derivative.order < 1:
            raise ArgumentError(f"order = {self.derivative.order}: expected 1 or more.")
        if self.derivative.wrt not in self.given:
            raise ArgumentError(f"given: expected a value for {self.derivative.wrt}.")

    @cached_property
    def trace(self) -> Trace:
        """The trace of all derivatives by the correct rule."""
        return trace(self.derivative.values, self.given, names=self.derivative.names)

    @cached_property
    def differences(self) -> tuple[Estimate | None, ...]:
        """An estimate by finite differences for each order from 1; None for too many entries."""
        wrt, orders = self.derivative.wrt, range(1, self.derivative.order + 1)
        moved = MovedCost(self.derivative.values[0], {wrt: self.given[wrt]}, self.given)
        return tuple(moved.differences(order=order) for order in orders)

    def broken_by(self, rule: BrokenRule | str, order: int | None = None) -> Breakage:
        """Return the `Breakage` by a faulty rule; `rule` is the rule or its name in `BROKEN`.

        The runs of the result end at `order` (default: the highest), or at the first wrong order if
        that order is higher.
        """
        rule = rule if isinstance(rule, BrokenRule) else BROKEN[rule]
        result, run, refusal = _run(self, rule)
        numbers = dict(enumerate(run.outputs))
        pairs = enumerate(zip(self.trace.outputs[1:], self.differences, strict=True), start=1)
        rows = tuple(
            OrderRow(order, true, numbers.get(order), estimate, "" if order in numbers else refusal)
            for order, (true, estimate) in pairs
        )
        last = self.derivative.order if order is None else max(order, _visible(rows) or 0)
        true, count = self.trace, min(last + 1, len(numbers))
        if count <= self.derivative.order:
            true = _trace(self, self.derivative, count)
        if count < len(numbers):
            run = _trace(self, result, count)
        name = self.derivative.wrt.name or "the input"
        mistake = Mistake(rule.name, rule.title, rule.change, lines=rule.lines)
        return Breakage(mistake, name, rows, true, run, contrast(true, run))


@lru_cache(maxsize=8)  # all rules are compared with the same correct runs
def _trace(truth: Truth, derived: Derivative, count: int) -> Trace:
    """Return the trace of the cost and of its first `count` - 1 derivatives."""
    with np.errstate(all="ignore"):  # `truth.trace` shows these warnings
        return trace(derived.values[:count], truth.given, names=truth.derivative.names[:count])


@lru_cache(maxsize=8)  # the runs of all orders of a rule start with the same derivatives
def _run(truth: Truth, rule: BrokenRule) -> tuple[Derivative, Trace, str]:
    """Run the derivatives by a faulty rule, up to the highest order without an error.

    Return the derivatives, the trace, and the message of the error at the next order.
    """
    cost, wrt, refusal = truth.derivative.values[0], truth.derivative.wrt, ""
    for order in range(truth.derivative.order, -1, -1):
        try:
            with hide_progress():
                result = derivative(cost, wrt, order, rule=rule.rule)
                return result, _trace(truth, result, order + 1), refusal
        except LabError as error:
            refusal = str(error)
    raise LabError(f"rule = {quote(rule.name)}: the cost itself cannot be computed. {refusal}")


def _visible(rows: Sequence[OrderRow]) -> int | None:
    """Return the first order whose derivative is wrong or refused; None if all are correct."""
    return next((row.order for row in rows if row.effect is not Effect.RIGHT), None)


def break_rule(
    loop: Loop | Variable,
    rule: BrokenRule | str,
    order: int = 3,
    wrt: Any = None,
    cost: str | ArrayLike = "last",
    of: str | None = None,
    at: Mapping[str, ArrayLike] | None = None,
    given: Values | None = None,
) -> Breakage:
    """Compare derivatives by a faulty rule with the correct derivatives.

    `rule` is a `BrokenRule`, or its name in `BROKEN`.  For a loop, the arguments `wrt` to `at` have
    the same meaning as in `Loop.trace`.  A graph has a scalar cost as `loop`, a variable `wrt`,
    and values `given` for its inputs.  Raises ArgumentError for an invalid argument.
    """
    if isinstance(loop, Loop):
        refuse_options(given=given)
        loop = loop if at is None else loop.with_values(at, "at")
        graph = loop.build()
        return Truth(loop.derivative(order, wrt, cost, of, graph), graph.given).broken_by(rule)
    check_type("loop", loop, Variable, "a lab.Loop or a scalar PyTensor variable")
    refuse_options(cost=cost, of=of, at=at)
    return Truth(derivative(loop, wrt, order), checked_values(given)).broken_by(rule)


def _parts_of(trace: Trace) -> dict[int, float]:
    """Return the parts of the highest derivative, by the number of the Scan that they come from.

    The last Scan multiplies outputs of earlier Scans by local derivatives, and adds the products.
    If another value contributes, or if the last event does not write the derivative, return {}.
    """
    goal, sequence = trace.outputs[-1], events(trace)
    ends = [w.slot for last in sequence[-1:] for w in last.writes if np.array_equal(w.new, goal)]
    # The derivatives of the result wrt the slots of the last Scan, before the event.
    weights = defaultdict(float, dict.fromkeys(ends[:1], 1.0))
    parts = defaultdict[int, float](float)
    for event in takewhile(lambda event: event.scan == sequence[-1].scan, reversed(sequence)):
        for write, weight in [(w, weights.pop(w.slot, 0.0)) for w in event.writes]:
            weights[write.slot] += weight * write.adds_old
            for term in write.terms if weight else ():
                slot = term.source.slot if term.source and not term.source.value.ndim else None
                if slot is None:
                    return {}
                if slot.scan != event.scan:
                    parts[slot.scan + 1] += weight * float(term.value)
                elif term.factor is not None:
                    weights[slot] += weight * float(term.factor)
    is_sum = np.allclose(sum(parts.values()), goal, rtol=1e-9, atol=0)
    return {scan: part for scan, part in parts.items() if part} if is_sum else {}


def precise(value: np.ndarray | None, digits: int = 6) -> str:
    """Write a value with some digits, without the middle of a large array; "no number" for None."""
    if value is None:
        return "no number"
    if not value.ndim:
        return f"{value:.{digits}g}"
    text = np.array2string(
        value, precision=digits, threshold=24, separator=", ", max_line_width=9999
    )
    return " ".join(text.split())


def estimate_text(estimate: Estimate) -> str:
    """Return finite differences and their largest error as text.

    An entry whose magnitude does not exceed its own error is shown as 0.
    """
    if not np.isfinite(estimate.error).all():
        return "no number near this point"
    value = np.where(np.abs(estimate.value) <= estimate.error, 0.0, estimate.value)
    return f"{precise(value)} ± {float(np.max(estimate.error, initial=0.0)):.0e}"
