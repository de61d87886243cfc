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
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors

from lab.checks.check import MovedCost
from lab.checks.finite_differences import MOST_ENTRIES
from lab.errors import ArgumentError, argument_error, check_integer, printable
from lab.gradients.derivative import check_scan_count, check_wrt
from lab.gradients.status import is_real
from lab.loops.loop import Loop, refuse_options
from lab.reports.compare.comparison import Agreement, Comparison, GradientRow
from lab.reports.compare.sides import SideResult, differentiate_both, run_side
from lab.scans.backtraces import without_backtraces
from lab.scans.names import unique_names
from lab.scans.replacing import as_scans, require_scan, scan_nodes
from lab.traces.differences import Contrast, contrast, far
from lab.traces.run import Values, check_inputs, checked_values, run

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
    inputs).  `given` contains values of inputs of the graph; a real input of known shape has a
    default value.  Derivative k+1 is the gradient of the sum of all entries of derivative k.

    Raises ArgumentError for an invalid argument, and for an order with more than 16,384 Scans.
    Raises GraphError if the graph contains no Scan, and MemoryError if a run needs too much memory.
    """
    order = check_integer("order", order, "1, 2, 3, …", least=1)
    target, at, known = read_subject(subject, wrt, given, cost, of)
    check_scan_count(target, order)
    with without_backtraces():
        *both, places = differentiate_both(target, [*at], order)
        shapes = [value.shape for value in at.values()]
        (ours, our_run), (theirs, their_run) = (run_side(side, known, shapes) for side in both)
    is_truncated = any(node.op.truncate_gradient != -1 for node in scan_nodes([target]))
    moved = None if is_truncated else MovedCost(target, at, known)
    names, rows = unique_names([v.name or "v" for v in at]), list[GradientRow]()
    for number, pair in enumerate(zip(ours, theirs, strict=True), start=1):
        summed = places[number - 2] if number > 1 else ()
        rows += _rows(number, *pair, summed, names, moved)
    where = Contrast(None, 0, 0)
    if our_run is not None and their_run is not None:
        where = contrast(our_run, their_run, SIDES)
    return Comparison(
        cost=printable(target.name or "the cost"),
        order=order,
        version=pytensor.__version__,
        rows=tuple(rows),
        contrast=where,
        ours=our_run,
        theirs=their_run,
        is_truncated=is_truncated,
    )


def read_subject(
    subject: object, wrt: object, given: Values | None, cost: str | ArrayLike, of: str | None
) -> tuple[Variable, dict[Variable, np.ndarray], Values]:
    """Return the cost, the variables `wrt` with their values, and the values of all inputs."""
    if isinstance(subject, Loop):
        refuse_options(given=given)
        graph = subject.build()
        wrt, known = [*graph.select_inputs(wrt).values()], dict(graph.given)
        target: Variable = subject.cost(graph, cost, of)
    else:
        refuse_options(cost=cost, of=of)
        if not isinstance(subject, Variable) or getattr(subject.type, "ndim", None) != 0:
            kind = getattr(subject, "type", type(subject).__name__)
            reason = f"expected a scalar cost or a loop, got {kind}."
            raise argument_error("subject", subject, reason)
        target, known = subject, checked_values({} if given is None else given)
    (target,) = as_scans([target])
    require_scan([target])
    real = [v for v in _complete(target, known) if is_real(v)]
    if wrt is None and not real:
        raise argument_error("wrt", wrt, "no input of the graph is real.")
    variables = check_wrt(target, real if wrt is None else wrt)
    _check_independent(variables)
    values, _ = run([target, *variables], known, record=False)
    return target, {v: np.array(values[v]) for v in variables}, known


def _check_independent(variables: Sequence[Variable]) -> None:
    """Raise ArgumentError for repeated `variables`, or if they compute each other.

    Finite differences change one variable and leave all other values the same.
    """
    for variable in variables:
        if variables.count(variable) > 1:
            raise ArgumentError(f"wrt: {variable} occurs more than once.")
        others = (v for v in ancestors([variable]) if v in variables and v is not variable)
        if (cause := next(others, None)) is not None:
            reason = f"{variable} is computed from {cause}. Pass only one of these variables."
            raise ArgumentError(f"wrt: {reason}")


def _complete(cost: Variable, given: dict[Variable, object]) -> list[Variable]:
    """Return the inputs of the graph of `cost`, and add missing values to `given`.

    A real input of known shape has default values between 0.5 and 1.5, the same in every run.
    """
    inputs = [v for v in ancestors([cost]) if v.owner is None and not isinstance(v, Constant)]
    check_inputs(given, inputs)
    for number, variable in enumerate(inputs):
        if variable in given or isinstance(variable, SharedVariable):
            continue
        kind = variable.type
        if not is_real(variable) or None in kind.shape:
            reason = "Only real variables of known shape have a default value."
            raise ArgumentError(f"given: there is no value for {variable} ({kind}). {reason}")
        value = np.random.default_rng(number).uniform(0.5, 1.5, kind.shape)
        given[variable] = value.astype(kind.dtype)
    return inputs


def _rows(
    order: int,
    ours: Sequence[SideResult],
    theirs: Sequence[SideResult],
    summed: Sequence[int],
    names: Sequence[str],
    moved: MovedCost | None,
) -> list[GradientRow]:
    """Return a row for each input: both gradients of one order, and finite differences."""
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
