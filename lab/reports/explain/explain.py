"""A graph of one's own, explained: its Scans, their gradient, what it costs, and its traps.

    >>> print(lab.explain(cost, x0))

The report is frozen data; nothing is run, and the graph is not altered.
"""

import warnings
from collections.abc import Iterator, Mapping

import pytensor.tensor as pt
from pytensor.gradient import DisconnectedInputError, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.traversal import toposort

from lab.equations.reading import system
from lab.errors import (
    ArgumentError,
    BroadcastError,
    GradientError,
    GraphError,
    LabError,
    first_line,
    printable,
    quoted,
)
from lab.gradients.derivation import Derivation, derivation_of
from lab.gradients.derivative import (
    Derivative,
    ManyScansWarning,
    check_differentiable,
    derivative,
)
from lab.gradients.pullback import derive
from lab.gradients.status import (
    Connected,
    Disconnected,
    Status,
    Undefined,
    is_continuous,
    pytensor_gradients,
    status_of,
)
from lab.reports.explain.explanation import ORDERS, Explanation, ScanReport
from lab.reports.explain.memory import stored
from lab.reports.explain.traps import called, traps
from lab.scans.graphs import require_scan, scan_nodes, without_batches
from lab.scans.node import inner_graph, is_scan


def explain(cost: Variable, wrt: Variable) -> Explanation:
    """What the Scans in the graph of a scalar `cost` are, and what its gradient wrt `wrt` needs.

    Raises ArgumentError if `cost` is no scalar or `wrt` cannot be differentiated by.  A graph
    without a Scan, a cost that does not depend on `wrt` and a gradient that does not exist
    are no errors, but explained.
    """
    for name, variable in (("cost", cost), ("wrt", wrt)):
        if not isinstance(variable, Variable):
            raise ArgumentError(f"{name} = {quoted(variable)}: expected a PyTensor variable.")
    names = printable(cost.name or "the cost"), called(wrt, "the variable")
    try:
        require_scan([cost])
    except GraphError:
        return Explanation(*names, _without_scan(cost, wrt), (), ())
    (cost,) = without_batches([cost])
    made, status = _differentiated(cost, wrt)
    root = cost if made is None else made.values[0]
    derivations = _derivations(made)
    reports = tuple(
        _report(number, node, inside, derivations, wrt if made is None else made.wrt)
        for number, (node, inside) in enumerate(_all_scans([root]), start=1)
    )
    reached, all_scans = len(derivations), len(reports)
    orders = tuple(all_scans - reached + reached * 2**order for order in ORDERS) if made else ()
    return Explanation(*names, status, reports, orders)


def _without_scan(cost: Variable, wrt: Variable) -> Status:
    """What PyTensor alone says of the gradient."""
    check_differentiable(cost, wrt)
    try:
        (gradient,) = pytensor_gradients(cost, [wrt])
    except TypeError as error:  # as of complex numbers on the way
        return Undefined(first_line(error))
    return status_of(gradient)


def _differentiated(cost: Variable, wrt: Variable) -> tuple[Derivative | None, Status]:
    """The first derivative, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ManyScansWarning)  # the report tells that
            return derivative(cost, wrt, 1), Connected()
    except (BroadcastError, GradientError, GraphError) as error:
        if isinstance(error.__cause__, DisconnectedInputError):
            return None, Disconnected()
        return None, Undefined(str(error))


def _derivations(made: Derivative | None) -> dict[Apply, Derivation]:
    """Which Scan was differentiated how, leaving out what the cost itself had differentiated."""
    if made is None:
        return {}
    before = set(scan_nodes([made.values[0]]))
    nodes = [node for node in scan_nodes([made.value]) if node not in before]
    found = (derivation_of(node) for node in nodes)
    return {d.parent: d for d in found if d is not None}


def _all_scans(outputs: list[Variable], inside: str = "") -> Iterator[tuple[Apply, str]]:
    """All Scans of a graph, and those inside others, with the name of what they are inside."""
    for node in toposort(outputs):
        if is_scan(node):
            yield node, inside
        if isinstance(node.op, HasInnerGraph):
            name = getattr(node.op, "name", None) or str(node.op)
            yield from _all_scans(inner_graph(node.op)[1], name)


def _report(
    number: int,
    node: Apply,
    inside: str,
    derivations: Mapping[Apply, Derivation],
    wrt: Variable,
) -> ScanReport:
    found = system(node)
    derivation = derivations.get(node)
    if not derivations and not inside:  # there is no gradient; what would it need of this Scan?
        derivation = _derived(node)
    symbols = [quantity.symbol for quantity in found.quantities]
    return ScanReport(
        number=number,
        name=found.name,
        system=found,
        inside=inside,
        outcomes=derivation.outcomes if derivation is not None else (),
        stored=stored(derivation, symbols) if derivation is not None else (),
        traps=traps(node, wrt),
    )


def _derived(node: Apply) -> Derivation | None:
    """The derivative of a Scan, were there a gradient of all its results."""
    given = [pt.zeros_like(v) if is_continuous(v) else disconnected_type() for v in node.outputs]
    try:
        return derive(node.op, node.inputs, node.outputs, given)
    except LabError:
        return None
