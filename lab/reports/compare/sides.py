"""Differentiate one cost by our pullback and by PyTensor's own, order by order.

Both differentiate copies of the same graph: derivative k+1 is the gradient of the sum of all
entries of derivative k, wrt the same inputs.  The sum contains only gradients that both pullbacks
can compute, so that both differentiate the same function.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import toposort

from lab.checks.check import value_at
from lab.errors import first_line
from lab.gradients.decisions import scan_names
from lab.gradients.status import (
    Connected,
    Disconnected,
    Status,
    Undefined,
    marker,
    pytensor_gradients,
    status_of,
)
from lab.records import freeze
from lab.scans.node import is_scan
from lab.scans.replacing import with_plain, with_tapes
from lab.traces.run import Values
from lab.traces.trace import Trace
from lab.traces.tracing import trace


@dataclass(frozen=True)
class Refused(Undefined):
    """A gradient whose graph could not be built or run; `reason` is the message of the error."""

    label = "failed"


@dataclass(eq=False)
class Side:
    """The derivatives by one of the two pullbacks, on its copy of the graph.

    `gradients` has a list for every order, with an entry for each input: a graph, or a marker with
    the reason for a missing gradient.
    """

    cost: Variable
    wrt: tuple[Variable, ...]
    gradients: list[list[Variable]] = field(default_factory=list)

    def sum_of(self, places: Sequence[int]) -> Variable:
        """Return the sum of all entries of gradients of the highest order.

        `places` are the indices of the inputs whose gradients are included.
        """
        parts = [pt.sum(self.gradients[-1][place]) for place in places]
        return sum(parts[1:], start=parts[0])


def _gradients(target: Variable, wrt: Sequence[Variable]) -> list[Variable]:
    """Return the gradients wrt all inputs; after an error, compute each gradient separately."""
    try:
        return pytensor_gradients(target, wrt)
    except Exception as error:  # any error of a pullback
        reason = _reason(error)
        if len(wrt) == 1:
            return [marker(Refused(reason))]
        return [gradient for variable in wrt for gradient in _gradients(target, [variable])]


def _reason(error: Exception) -> str:
    """Return the first line of an error of a pullback.

    A MemoryError or a TimeoutError is raised again, because it does not show that a pullback is
    wrong.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError | TimeoutError):
            raise cause
        cause = cause.__cause__
    return first_line(error)


def _is_number(gradient: Variable) -> bool:
    """Return whether a gradient is a graph that can run, not a marker."""
    return isinstance(status_of(gradient), Connected)


Summed = tuple[tuple[int, ...], ...]


def differentiate_both(
    cost: Variable, wrt: Sequence[Variable], order: int
) -> tuple[Side, Side, Summed]:
    """Differentiate `cost` up to `order` by both pullbacks, ours and PyTensor's.

    The graph of `cost` is not modified.  The third result contains, for each order, the numbers of
    the inputs whose gradients both pullbacks compute.  The sum of these gradients is the cost of
    the next order.
    """
    cost, *wrt = with_plain([cost, *wrt])
    theirs = Side(cost, tuple(wrt))
    cost, *wrt = with_tapes([cost, *wrt])
    ours = Side(cost, tuple(wrt))
    targets, summed = (ours.cost, theirs.cost), []
    for _ in range(order):
        for side, target in zip((ours, theirs), targets, strict=True):
            side.gradients.append(_gradients(target, side.wrt))
        pairs = zip(ours.gradients[-1], theirs.gradients[-1], strict=True)
        places = tuple(place for place, pair in enumerate(pairs) if all(map(_is_number, pair)))
        summed.append(places)
        if not places:
            break
        targets = ours.sum_of(places), theirs.sum_of(places)
    return ours, theirs, tuple(summed)


@dataclass(frozen=True, eq=False)
class SideResult:
    """The gradient by one pullback wrt one input: a value, or None and the reason in `status`.

    As in PyTensor, the value is 0 if the cost does not depend on the input.
    """

    value: np.ndarray | None
    status: Status


def run_side(
    side: Side, given: Values, shapes: Sequence[tuple[int, ...]]
) -> tuple[tuple[tuple[SideResult, ...], ...], Trace | None]:
    """Run all gradients of a side; `shapes` are the shapes of the inputs.

    Return the gradients for every order and input, and the trace of the gradients that can be run.
    The trace is None if no gradient can be run, or if the graph has Scans inside other operations.
    """
    gradients = [g for row in side.gradients for g in row if _is_number(g)]
    run, values, failed = _run([side.cost, *gradients], given)
    rows = []
    for row in side.gradients:
        results = []
        for gradient, shape in zip(row, shapes, strict=True):
            status = Refused(failed[gradient]) if gradient in failed else status_of(gradient)
            zeros = freeze(np.zeros(shape)) if isinstance(status, Disconnected) else None
            results.append(SideResult(values.get(gradient, zeros), status))
        rows.append(tuple(results))
    return tuple(rows), run


def _run(
    variables: list[Variable], given: Values
) -> tuple[Trace | None, dict[Variable, np.ndarray], dict[Variable, str]]:
    """Return the trace or None, the values, and the errors of the variables without a value."""
    try:
        run = trace(variables, given)
        values = dict(zip(variables, run.outputs, strict=True))
        nodes = [node for node in toposort(variables) if is_scan(node)]
        is_complete = scan_names(nodes) == tuple(scan.name for scan in run.scans)
        return run if is_complete else None, values, {}  # otherwise, an operation contains a Scan
    except Exception as error:
        _reason(error)  # raises a MemoryError or TimeoutError again
    values, failed = {}, dict[Variable, str]()
    for variable in variables:
        try:
            values[variable] = freeze(np.array(value_at(variable, given)))
        except Exception as error:
            failed[variable] = _reason(error)
    if not failed or not values:  # the graph has no Scan to trace
        return None, values, failed
    return _run([*values], given)[0], values, failed
