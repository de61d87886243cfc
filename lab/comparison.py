"""Our pullback of Scan beside PyTensor's own: gradients, backward Scans, and where they part.

>>> comparison = lab.compare(cost, [x0, u], given={x0: 0.5, u: [1.0, 2.0]}, order=2)
>>> print(comparison)
>>> print(comparison.report())  # a script without Scantape, for a maintainer

Finite differences of the cost, in which no pullback takes part, tell which of two is right.
Nothing is compiled, and the graph that is compared is not altered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import pytensor
from pytensor.graph.basic import Apply, Variable

from lab import storing
from lab.arrays import same
from lab.both_pullbacks import Answer, Outcome, differentiate, outcome
from lab.cotangent import Disconnected
from lab.differences import Estimate, along
from lab.errors import ArgumentError
from lab.facets import Facet, facets
from lab.loop import Loop
from lab.moved_cost import MovedCost
from lab.parting import Contrast, contrast, far
from lab.scan import without_backtraces
from lab.subject import Subject, subject_of
from lab.trace import Trace

SIDES = ("by our pullback", "by PyTensor's")
ROUNDING = 1e3  # units in the last place of the largest gradient of an order


@storing.record
class Agreement(StrEnum):
    """How the gradients of the two pullbacks for one input compare."""

    SAME = "the same"
    DIFFERENT = "different"
    OURS_ONLY = "a number by our pullback only"
    THEIRS_ONLY = "a number by PyTensor's only"
    NEITHER = "no number by either"


@dataclass(frozen=True, eq=False)
class Row:
    """The gradient of one order by one input, by both pullbacks, and by finite differences.

    `differences` are entry by entry; they are None where both pullbacks agree, since `Check`
    looks at those, and for more entries than can be differenced in reasonable time.
    """

    order: int
    wrt: str
    ours: Answer
    theirs: Answer
    verdict: Agreement
    differences: Estimate | None = None

    __eq__ = same

    @property
    def is_found(self) -> bool:
        """Whether this is a difference worth reporting."""
        return self.verdict not in (Agreement.SAME, Agreement.NEITHER)

    def confirmed(self, answer: Answer) -> bool | None:
        """Whether finite differences agree with one of the answers; None if they cannot tell."""
        if self.differences is None or answer.value is None:
            return None
        if not np.isfinite(self.differences.error).all():
            return None
        return self.differences.admits(answer.value)

    @property
    def error(self) -> float | None:
        """The largest difference of an entry, relative to the largest entry of ours."""
        if self.ours.value is None or self.theirs.value is None:
            return None
        if self.ours.value.shape != self.theirs.value.shape:
            return float("inf")
        size = float(np.max(np.abs(self.ours.value), initial=0.0))
        away = float(np.max(np.abs(self.ours.value - self.theirs.value), initial=0.0))
        return away / size if size else (float("inf") if away else 0.0)


@dataclass(frozen=True, eq=False)
class Check:
    """All gradients of an order along one direction: by both pullbacks, and by differences.

    The direction is the same in every run, and oblique, so that no entry is without influence.
    """

    order: int
    ours: float
    theirs: float
    differences: Estimate

    __eq__ = same

    def admits(self, value: float) -> bool | None:
        """Whether finite differences agree; None if they cannot tell."""
        if not np.isfinite(self.differences.error).all():
            return None
        return self.differences.admits(np.asarray(value))


@storing.record
@dataclass(frozen=True)
class Pair:
    """Two backward Scans that differentiate the same Scan: `ours` and `theirs` in the runs."""

    name: str
    order: int
    ours: int
    theirs: int
    facets: tuple[Facet, ...]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything in which the two pullbacks agree and differ.

    `ours` and `theirs` are the two runs, of which `contrast` tells the first step and tape at
    which they part; they are None if a graph cannot be run, or has Scans inside other
    operations.  ``summed[k]`` are the places of the inputs whose gradients of order k + 1 were
    differentiated again, since both pullbacks give numbers for them.
    """

    cost: str
    order: int
    version: str
    rows: tuple[Row, ...]
    checks: tuple[Check, ...]
    pairs: tuple[Pair, ...]
    contrast: Contrast
    summed: tuple[tuple[int, ...], ...]
    ours: Trace | None
    theirs: Trace | None
    subject: Subject = field(repr=False, compare=False)

    __eq__ = same

    @property
    def found(self) -> tuple[Row, ...]:
        """The gradients that are not the same, the lowest order first."""
        return tuple(row for row in self.rows if row.is_found)

    @property
    def agree(self) -> bool:
        """Whether both pullbacks give the same for every input, up to the order asked for."""
        return not self.found

    @property
    def visible(self) -> int | None:
        """The first order at which they do not; None if they do."""
        return min((row.order for row in self.found), default=None)

    @cached_property
    def _page(self) -> str:
        from lab.comparison_text import page  # which reads this module's records

        return page(self)

    def __str__(self) -> str:
        return self._page

    def report(self) -> str:
        """A Python script with pytensor and numpy alone, which a maintainer can run.

        It builds the graph, prints PyTensor's gradients beside finite differences, and exits
        with status 1 if they differ.  What cannot be written down is imported, or shown.
        """
        from lab.comparison_report import script  # which reads this module's records

        return script(self)


def compare(
    subject: "Loop | Apply | Variable",
    wrt: Any = None,
    given: Mapping[Variable, Any] | None = None,
    order: int = 1,
    cotangents: Sequence[Any] | None = None,
    cost: Any = "last",
    of: str | None = None,
) -> Comparison:
    """Compare our pullback with PyTensor's own, up to `order`.

    `subject` is a scalar cost; or a Scan node, whose `cotangents`, all ones unless given, make
    the cost; or a loop, of which `cost` and `of` make one as in `Loop.cost`.  `wrt` are one or
    several inputs (for a loop, their names), all real ones unless given.  `given` has values
    for the graph's inputs; what is of a known shape may be left out.

    Derivative k+1 is the gradient of the sum of all entries of derivative k.  Raises
    ArgumentError for what cannot be asked, and GraphError if there is no Scan.
    """
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ArgumentError(f"order = {order!r}: expected 1, 2, 3, …")
    asked = subject_of(subject, wrt, given, cotangents, cost, of)
    # Where in a program a variable was made, PyTensor notes for its error messages, at length.
    with without_backtraces():
        return _compared(asked, order)


def _compared(asked: Subject, order: int) -> Comparison:
    both = differentiate(asked.cost, asked.wrt, order)
    shapes = [np.shape(value) for value in asked.at]
    ours, theirs = (outcome(side, asked.given, shapes) for side in (both.ours, both.theirs))
    moved = MovedCost(asked)
    rows: list[Row] = []
    checks: list[Check] = []
    orders = zip(ours.answers, theirs.answers, strict=True)
    for number, (first, second) in enumerate(orders, start=1):
        summed = both.summed[number - 2] if number > 1 else ()
        rows += _rows(number, first, second, summed, moved)
        checks += _checks(number, first, second, summed, moved)
    told = Contrast(None, 0, 0)
    if ours.trace is not None and theirs.trace is not None:
        told = contrast(ours.trace, theirs.trace, SIDES)
    return Comparison(
        cost=asked.cost.name or "the cost",
        order=order,
        version=pytensor.__version__,
        rows=tuple(rows),
        checks=tuple(checks),
        pairs=_pairs(ours, theirs),
        contrast=told,
        summed=both.summed,
        ours=ours.trace,
        theirs=theirs.trace,
        subject=asked,
    )


def _rows(
    order: int,
    ours: Sequence[Answer],
    theirs: Sequence[Answer],
    summed: Sequence[int],
    moved: MovedCost,
) -> list[Row]:
    """The gradients of one order; differences are taken of those that are not the same."""
    values = [a.value for a in (*ours, *theirs) if a.value is not None and a.value.size]
    finite = [np.abs(v[np.isfinite(v)]) for v in values]
    scale = max((float(np.max(v, initial=0.0)) for v in finite), default=0.0)
    rows = []
    for place, (first, second) in enumerate(zip(ours, theirs, strict=True)):
        verdict = _verdict(first, second, scale)
        differences = None
        if verdict not in (Agreement.SAME, Agreement.NEITHER):
            differences = moved.entries(place, order, summed)
        rows.append(Row(order, moved.asked.names[place], first, second, verdict, differences))
    return rows


def _verdict(ours: Answer, theirs: Answer, scale: float) -> Agreement:
    if ours.value is None and theirs.value is None:
        return Agreement.NEITHER
    if ours.value is None or theirs.value is None:
        return Agreement.THEIRS_ONLY if ours.value is None else Agreement.OURS_ONLY
    if ours.value.shape != theirs.value.shape:
        return Agreement.DIFFERENT
    apart = bool(far(ours.value[None], theirs.value[None])[0])
    if apart and ours.value.dtype.kind == "f":
        room = ROUNDING * float(np.finfo(ours.value.dtype).eps) * scale
        with np.errstate(invalid="ignore"):
            near = np.abs(ours.value - theirs.value) <= room
        apart = bool(far(ours.value[~near][None], theirs.value[~near][None])[0])
    return Agreement.DIFFERENT if apart else Agreement.SAME


def _checks(
    order: int,
    ours: Sequence[Answer],
    theirs: Sequence[Answer],
    summed: Sequence[int],
    moved: MovedCost,
) -> list[Check]:
    """All gradients of an order that both sides have, along one direction."""
    pairs = enumerate(zip(ours, theirs, strict=True))
    places = [p for p, (a, b) in pairs if a.value is not None and b.value is not None]
    if not places or all(isinstance(ours[p].status, Disconnected) for p in places):
        return []
    direction = np.zeros_like(moved.at)
    oblique = np.random.default_rng(order).uniform(0.5, 1.5, len(moved.at))
    for place in places:
        direction[moved.part(place)] = oblique[moved.part(place)]
    estimate = along(moved.cost, moved.at, direction, order, moved.through(summed))

    def product(answers: Sequence[Answer]) -> float:
        values = [answers[p].value for p in places]
        parts = [direction[moved.part(p)] for p in places]
        return float(
            sum(np.ravel(v) @ part for v, part in zip(values, parts, strict=True) if v is not None)
        )

    return [Check(order, product(ours), product(theirs), estimate)]


def _pairs(ours: Outcome, theirs: Outcome) -> tuple[Pair, ...]:
    """The backward Scans that both sides have, held against one another."""
    if ours.trace is None or theirs.trace is None:
        return ()
    shared = [p for p in ours.numbers if p in theirs.numbers and len(p) > 1]
    found = []
    for path in sorted(shared, key=lambda path: (max(path[1:]), path)):
        (node, number), (twin, other) = ours.numbers[path], theirs.numbers[path]
        scan, twin_scan = ours.trace.scans[number], theirs.trace.scans[other]
        told = facets(node, twin, scan, twin_scan)
        found.append(Pair(scan.name, max(path[1:]), number, other, told))
    return tuple(found)
