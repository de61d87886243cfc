"""Our pullback of Scan beside PyTensor's own: gradients, backward Scans, and where they part.

    >>> comparison = lab.compare(cost, [x0, u], given={x0: 0.5, u: [1.0, 2.0]}, order=2)
    >>> print(comparison)
    >>> print(comparison.report())  # a script without Scantape, for a maintainer

Finite differences of the cost, in which no pullback takes part, tell which of two is right.
Nothing is compiled, and the graph that is compared is not altered.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytensor
from numpy.typing import ArrayLike
from pytensor.graph.basic import Apply, Variable

from lab.checks.finite_differences import along
from lab.errors import ArgumentError, printable, quoted
from lab.gradients.derivative import check_scan_count
from lab.gradients.status import Disconnected
from lab.loops.loop import Loop
from lab.reports.compare.comparison import Agreement, Check, Comparison, Pair, Row
from lab.reports.compare.facets import facets
from lab.reports.compare.script import script
from lab.reports.compare.sides import Answer, MovedCost, Outcome, differentiate, outcome
from lab.reports.compare.subject import Subject, subject_of
from lab.scans.backtraces import without_backtraces
from lab.traces.parting import Contrast, contrast, far
from lab.traces.run import Values

SIDES = ("by our pullback", "by PyTensor's")
ROUNDING = 1e3  # units in the last place of the largest gradient of an order


def compare(
    subject: Loop | Apply | Variable,
    wrt: Variable | str | Sequence[Variable | str] | None = None,
    given: Values | None = None,
    order: int = 1,
    cotangents: Sequence[ArrayLike] | None = None,
    cost: str | ArrayLike = "last",
    of: str | None = None,
    origin: tuple[str, str] | None = None,
) -> Comparison:
    """Compare our pullback with PyTensor's own, up to `order`.

    `subject` is a scalar cost; or a Scan node, whose `cotangents`, all ones unless given, make
    the cost; or a loop, of which `cost` and `of` make one as in `Loop.cost`.  `wrt` are one or
    several inputs (for a loop, their names), all real ones unless given.  `given` has values
    for the graph's inputs; what is of a known shape may be left out.  `origin` is the module and
    the function that make the graph, which the report imports where it cannot be written down.

    Derivative k+1 is the gradient of the sum of all entries of derivative k.  Raises
    ArgumentError for what cannot be asked and for orders that `lab.derivative` refuses, GraphError
    if there is no Scan, and MemoryError where a derivative does not fit into memory.
    """
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ArgumentError(f"order = {quoted(order)}: expected 1, 2, 3, …")
    asked = replace(subject_of(subject, wrt, given, cotangents, cost, of), origin=origin)
    check_scan_count(asked.cost, order)
    with without_backtraces():
        return _compared(asked, order)


def _compared(asked: Subject, order: int) -> Comparison:
    *both, places = differentiate(asked.cost, asked.wrt, order)
    shapes = [np.shape(value) for value in asked.at]
    ours, theirs = (outcome(side, asked.given, shapes) for side in both)
    moved = MovedCost(asked)
    rows: list[Row] = []
    checks: list[Check] = []
    orders = zip(ours.answers, theirs.answers, strict=True)
    for number, (first, second) in enumerate(orders, start=1):
        summed = places[number - 2] if number > 1 else ()
        rows += _rows(number, first, second, summed, moved)
        checks += _checks(number, first, second, summed, moved)
    where = Contrast(None, 0, 0)
    if ours.trace is not None and theirs.trace is not None:
        where = contrast(ours.trace, theirs.trace, SIDES)
    comparison = Comparison(
        cost=printable(asked.cost.name or "the cost"),
        order=order,
        version=pytensor.__version__,
        rows=tuple(rows),
        checks=tuple(checks),
        pairs=_pairs(ours, theirs),
        contrast=where,
        summed=places,
        ours=ours.trace,
        theirs=theirs.trace,
        truncated=asked.truncated,
        judged=moved.is_judge,
    )
    return replace(comparison, script=script(comparison, asked))


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
    entries = sum(direction[moved.part(place)].size for place in places)
    if entries == 1:
        oblique = np.ones_like(oblique)
    for place in places:
        direction[moved.part(place)] = oblique[moved.part(place)]
    estimate = along(moved.cost, moved.at, direction, order, moved.through(summed))

    def product(answers: Sequence[Answer]) -> float:
        values = [answers[p].value for p in places]
        parts = [direction[moved.part(p)] for p in places]
        return float(
            sum(np.ravel(v) @ part for v, part in zip(values, parts, strict=True) if v is not None)
        )

    return [Check(order, entries, product(ours), product(theirs), estimate)]


def _pairs(ours: Outcome, theirs: Outcome) -> tuple[Pair, ...]:
    """The backward Scans that both sides have, held against one another."""
    if ours.trace is None or theirs.trace is None:
        return ()
    shared = [p for p in ours.numbers if p in theirs.numbers and len(p) > 1]
    pairs = []
    for path in sorted(shared, key=lambda path: (max(path[1:]), path)):
        (node, number), (twin, other) = ours.numbers[path], theirs.numbers[path]
        scan, twin_scan = ours.trace.scans[number], theirs.trace.scans[other]
        aspects = facets(node, twin, scan, twin_scan)
        pairs.append(Pair(scan.name, max(path[1:]), number, other, aspects))
    return tuple(pairs)
