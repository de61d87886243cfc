"""Compare our pullback of Scan with PyTensor's own: gradients, and the first different step.

    >>> comparison = lab.compare(cost, [x0, u], given={x0: 0.5, u: [1.0, 2.0]}, order=2)
    >>> print(comparison)

Finite differences of the cost use no pullback, and therefore show which gradient is correct.
Nothing is compiled, and the graph of the cost is not altered.
"""

from collections.abc import Sequence

import numpy as np
import pytensor
from numpy.typing import ArrayLike
from pytensor.graph.basic import Variable

from lab.checks.check import MovedCost
from lab.checks.finite_differences import MOST_ENTRIES
from lab.errors import argument_error, printable
from lab.gradients.derivative import check_scan_count
from lab.loops.loop import Loop
from lab.reports.compare.comparison import Agreement, Comparison, GradientRow
from lab.reports.compare.sides import SideResult, differentiate, run_side
from lab.reports.compare.subject import Subject, subject_of
from lab.scans.backtraces import without_backtraces
from lab.traces.differences import Contrast, contrast, far
from lab.traces.run import Values

SIDES = ("by our pullback", "by PyTensor")
ROUNDING = 1e3  # units in the last place, relative to the largest gradient of an order


def compare(
    subject: Loop | Variable,
    wrt: Variable | str | Sequence[Variable | str] | None = None,
    given: Values | None = None,
    order: int = 1,
    cost: str | ArrayLike = "last",
    of: str | None = None,
) -> Comparison:
    """Compare our pullback with PyTensor's own, up to `order`.

    `subject` is a scalar cost or a loop.  For a loop, `cost` and `of` define the cost (see
    `Loop.cost`).  `wrt` is an input or a list of inputs, for a loop their names (default: all real
    inputs).  `given` has values for the inputs of the graph; a real input of known shape has a
    default value.  Derivative k+1 is the gradient of the sum of all entries of derivative k.

    Raises ArgumentError for an invalid argument, and for an order that is too high for the memory.
    Raises GraphError if the graph contains no Scan, and MemoryError if a run needs too much memory.
    """
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise argument_error("order", order, "expected 1, 2, 3, …")
    target = subject_of(subject, wrt, given, cost, of)
    check_scan_count(target.cost, order)
    with without_backtraces():
        return _compared(target, order)


def _compared(target: Subject, order: int) -> Comparison:
    *both, places = differentiate(target.cost, target.wrt, order)
    shapes = [np.shape(value) for value in target.at]
    (ours, our_run), (theirs, their_run) = (run_side(s, target.given, shapes) for s in both)
    values = dict(zip(target.wrt, target.at, strict=True))
    moved = None if target.is_truncated else MovedCost(target.cost, values, target.given)
    rows: list[GradientRow] = []
    for number, pair in enumerate(zip(ours, theirs, strict=True), start=1):
        summed = places[number - 2] if number > 1 else ()
        rows += _rows(number, *pair, summed, target.names, moved)
    where = Contrast(None, 0, 0)
    if our_run is not None and their_run is not None:
        where = contrast(our_run, their_run, SIDES)
    return Comparison(
        cost=printable(target.cost.name or "the cost"),
        order=order,
        version=pytensor.__version__,
        rows=tuple(rows),
        contrast=where,
        ours=our_run,
        theirs=their_run,
        is_truncated=target.is_truncated,
    )


def _rows(
    order: int,
    ours: Sequence[SideResult],
    theirs: Sequence[SideResult],
    summed: Sequence[int],
    names: Sequence[str],
    moved: MovedCost | None,
) -> list[GradientRow]:
    """Compare the gradients of one order, and compute their finite differences."""
    values = [a.value for a in (*ours, *theirs) if a.value is not None and a.value.size]
    finite = [np.abs(v[np.isfinite(v)]) for v in values]
    scale = max((float(np.max(v, initial=0.0)) for v in finite), default=0.0)
    rows = []
    for place, (first, second) in enumerate(zip(ours, theirs, strict=True)):
        verdict = _verdict(first, second, scale)
        differences = None
        needs_differences = verdict not in (Agreement.SAME, Agreement.NEITHER)
        if moved is not None and (needs_differences or moved.at.size <= MOST_ENTRIES):
            differences = moved.differences(place, order, summed)
        rows.append(GradientRow(order, names[place], first, second, verdict, differences))
    return rows


def _verdict(ours: SideResult, theirs: SideResult, scale: float) -> Agreement:
    if ours.value is None and theirs.value is None:
        return Agreement.NEITHER
    if ours.value is None or theirs.value is None:
        return Agreement.THEIRS_ONLY if ours.value is None else Agreement.OURS_ONLY
    if ours.value.shape != theirs.value.shape:
        return Agreement.DIFFERENT
    differs = bool(far(ours.value[None], theirs.value[None])[0])
    if differs and ours.value.dtype.kind == "f":
        tolerance = ROUNDING * float(np.finfo(ours.value.dtype).eps) * scale
        with np.errstate(invalid="ignore"):
            near = np.abs(ours.value - theirs.value) <= tolerance
        differs = bool(far(ours.value[~near][None], theirs.value[~near][None])[0])
    return Agreement.DIFFERENT if differs else Agreement.SAME
