"""The derivatives of one cost by our pullback and by PyTensor's own, order by order.

Both differentiate copies of the same graph by the same recipe: derivative k+1 is the gradient
of the sum of all entries of derivative k, with regard to the same inputs.  Only gradients that
are numbers on both sides go into that sum, so that both always differentiate the same thing.
`MovedCost` is the judge of both: the cost itself at nearby points, for finite differences.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort
from pytensor.scan.op import Scan

from lab.checks.check import value_at
from lab.checks.finite_differences import MOST_ENTRIES, Estimate, along, remembered
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
from lab.reports.compare.subject import Subject
from lab.reports.compare.watching import Pullback, identify, watched
from lab.scans.node import TapeScan, is_scan
from lab.scans.replacing import scan_nodes, with_plain, with_tapes
from lab.traces.run import Ready, Values
from lab.traces.trace import Trace
from lab.traces.tracing import trace


@dataclass(frozen=True)
class Refused(Undefined):
    """There is no gradient since building or running its graph failed, with these words."""

    def __str__(self) -> str:
        return f"failed: {self.reason}"


@dataclass(eq=False)
class Side:
    """One of the two pullbacks at work on its copy of a graph.

    `gradients` has, for every order, one entry for each input: a graph, or a marker with the reason
    why there is none.  `scans` are those of the cost, and `known` also those of its derivatives.
    """

    kind: type[Scan]
    cost: Variable
    wrt: tuple[Variable, ...]
    gradients: list[list[Variable]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scans = tuple(scan_nodes([self.cost]))
        self.known = {*self.scans}

    def differentiate(self, target: Variable) -> None:
        """One order more: the gradient of `target` with regard to all inputs."""
        order = len(self.gradients) + 1
        with watched(self.kind) as calls:
            found = _gradients(target, self.wrt)
        self.gradients.append(found)
        made = set(scan_nodes(list(filter(_is_number, found))))
        for call in calls:
            self._note(call, made, order)

    def _note(self, call: Pullback, made: set[Apply], order: int) -> None:
        node = call.backward()
        if call.parent not in self.known or node not in made or node in self.known:
            return  # the step of a Scan was differentiated, or the result is not used
        self.known.add(node)
        if not isinstance(node.op, TapeScan):
            identify(call, order)

    def sum_of(self, places: Sequence[int]) -> Variable:
        """The sum of all entries of the last gradients at some places."""
        parts = [pt.sum(self.gradients[-1][place]) for place in places]
        return sum(parts[1:], start=parts[0])


def _gradients(target: Variable, wrt: Sequence[Variable]) -> list[Variable]:
    """The gradient by every input; if they cannot be had together, one by one."""
    try:
        return pytensor_gradients(target, wrt)
    except Exception as error:  # whatever a pullback stumbles over
        reason = _reason(error)
        if len(wrt) == 1:
            return [marker(Refused(reason))]
        return [gradient for one in wrt for gradient in _gradients(target, [one])]


def _reason(error: Exception) -> str:
    """Return the first line of an error of a pullback.

    Lack of memory or time does not show that a pullback is wrong, and is raised again.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError | TimeoutError):
            raise cause
        cause = cause.__cause__
    return first_line(error)


def _is_number(gradient: Variable) -> bool:
    """Whether there is a graph that can be run."""
    return isinstance(status_of(gradient), Connected)


Summed = tuple[tuple[int, ...], ...]


def differentiate(cost: Variable, wrt: Sequence[Variable], order: int) -> tuple[Side, Side, Summed]:
    """Differentiate `cost` up to `order` by both pullbacks, ours and PyTensor's.

    The graph itself is not altered.  What is summed tells what went on after each order: the places
    of the inputs whose gradients of that order are numbers on both sides.
    """
    plain = with_plain([cost])
    cost, wrt = plain.get(cost, cost), [plain.get(v, v) for v in wrt]
    tapes = with_tapes([cost])
    ours = Side(TapeScan, tapes.get(cost, cost), tuple(tapes.get(v, v) for v in wrt))
    theirs = Side(Scan, cost, tuple(wrt))
    targets, summed = (ours.cost, theirs.cost), []
    for _ in range(order):
        for side, target in zip((ours, theirs), targets, strict=True):
            side.differentiate(target)
        pairs = zip(ours.gradients[-1], theirs.gradients[-1], strict=True)
        places = tuple(place for place, pair in enumerate(pairs) if all(map(_is_number, pair)))
        summed.append(places)
        if not places:
            break
        targets = ours.sum_of(places), theirs.sum_of(places)
    return ours, theirs, tuple(summed)


@dataclass(frozen=True, eq=False)
class Answer:
    """What one pullback gives for one input: a number, or why there is none.

    Where the cost does not depend on an input, the number is 0, as everywhere in PyTensor.
    """

    value: np.ndarray | None
    status: Status


@dataclass(frozen=True, eq=False)
class SideGradients:
    """What one pullback gave: for every order an answer for each input, and the run.

    `trace` is None where there are Scans inside other operations, or nothing can be run.
    """

    answers: tuple[tuple[Answer, ...], ...]
    trace: Trace | None


def run_side(side: Side, given: Values, shapes: Sequence[tuple[int, ...]]) -> SideGradients:
    """Run all gradients of a side; `shapes` are those of the inputs.

    A gradient whose graph cannot be run is left out of the trace.
    """
    asked = [g for row in side.gradients for g in row if _is_number(g)]
    values, failed, run_of_all = _run([side.cost, *asked], given)

    def answer(gradient: Variable, shape: tuple[int, ...]) -> Answer:
        status = status_of(gradient)
        if isinstance(status, Disconnected):
            return Answer(freeze(np.zeros(shape)), status)
        if gradient in failed:
            return Answer(None, Refused(failed[gradient]))
        return Answer(values.get(gradient), status)

    rows = tuple(
        tuple(answer(g, shape) for g, shape in zip(row, shapes, strict=True))
        for row in side.gradients
    )
    if failed:
        rest = [v for v in (side.cost, *asked) if v in values]
        run_of_all = _run(rest, given)[2] if rest else None
    if run_of_all is None:
        return SideGradients(rows, None)
    found, nodes = run_of_all
    if scan_names(nodes) != tuple(scan.name for scan in found.scans):
        return SideGradients(rows, None)  # there are some inside other operations
    return SideGradients(rows, found)


def _run(
    asked: list[Variable], given: Values
) -> tuple[dict[Variable, np.ndarray], dict[Variable, str], tuple[Trace, list[Apply]] | None]:
    """The values of variables, all at once if possible, and of those that fail, why."""
    try:
        found = trace(asked, given)
        # in the order in which they run, to which what is given belongs
        nodes = [node for node in toposort(asked, blockers=set(given)) if is_scan(node)]
        return dict(zip(asked, found.outputs, strict=True)), {}, (found, nodes)
    except Exception as error:
        told = _reason(error)
    if len(asked) == 1:
        try:  # a gradient with which no Scan has to do
            value = freeze(np.array(value_at(asked[0], given)))
            return {asked[0]: value}, {}, None
        except Exception as error:
            return {}, {asked[0]: _reason(error) or told}, None
    values: dict[Variable, np.ndarray] = {}
    failed: dict[Variable, str] = {}
    for variable in asked:
        one, failure, _ = _run([variable], given)
        values |= one
        failed |= failure
    return values, failed, None


class MovedCost:
    """The cost as a function of all inputs that are differentiated by, laid out in a row."""

    def __init__(self, asked: Subject) -> None:
        self.asked, self.ready = asked, Ready()
        sizes = [np.size(value) for value in asked.at]
        self.ends = np.cumsum([0, *sizes])
        flat = [np.ravel(np.asarray(value, dtype="float64")) for value in asked.at]
        self.at = np.concatenate(flat) if flat else np.zeros(0)
        self.cost = remembered(self._cost)

    def _cost(self, flat: np.ndarray) -> float:
        given = dict(self.asked.given)
        pairs = zip(self.asked.wrt, self.asked.at, strict=True)
        for place, (variable, value) in enumerate(pairs):
            part = flat[self.part(place)].reshape(np.shape(value))
            given[variable] = part.astype(variable.type.dtype)
        with np.errstate(all="ignore"):
            return float(value_at(self.asked.cost, given, self.ready))

    def part(self, place: int) -> slice:
        """Where an input stands in the row."""
        return slice(int(self.ends[place]), int(self.ends[place + 1]))

    def through(self, places: Sequence[int]) -> np.ndarray:
        """Ones for all entries of some inputs, zeros for the others."""
        found = np.zeros_like(self.at)
        for place in places:
            found[self.part(place)] = 1.0
        return found

    def entries(self, place: int, order: int, summed: Sequence[int]) -> Estimate | None:
        """The derivative of an order by every entry of one input; None if they are too many."""
        shape = np.shape(self.asked.at[place])
        if np.prod(shape, dtype=int) > MOST_ENTRIES:
            return None
        found = []
        for entry in range(*self.part(place).indices(len(self.at))):
            unit = np.zeros_like(self.at)
            unit[entry] = 1.0
            found.append(along(self.cost, self.at, unit, order, self.through(summed)))
        value = np.array([float(e.value) for e in found]).reshape(shape)
        error = np.array([float(e.error) for e in found]).reshape(shape)
        return Estimate(value, error)
