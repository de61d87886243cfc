"""A graph of one's own, explained: its Scans, their gradient, what it costs, and its traps.

    >>> print(lab.explain(cost, x0))

The report is frozen data; nothing is run, and the graph is not altered.
"""

from collections.abc import Iterator, Mapping, Sequence

import pytensor.tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import HasInnerGraph, Op
from pytensor.graph.traversal import toposort

from lab.equations.reading import system
from lab.errors import (
    ArgumentError,
    BroadcastError,
    GradientError,
    GraphError,
    KindError,
    LabError,
    expect,
    first_line,
    listing,
    printable,
    quoted,
    several,
)
from lab.gradients.decisions import decisions_of
from lab.gradients.derivation import Derivation, deciding, derivation_of
from lab.gradients.derivative import check_differentiable
from lab.gradients.pullback import derive, shared
from lab.gradients.status import (
    Connected,
    Status,
    Undefined,
    is_continuous,
    pytensor_gradients,
    status_of,
)
from lab.loops.model import log_density
from lab.reports.explain.explanation import ORDERS, Explanation, ScanReport, Stand
from lab.reports.explain.finders import called, traps
from lab.reports.explain.memory import stored
from lab.reports.explain.timing import timed
from lab.scans.backtraces import without_backtraces
from lab.scans.node import inner_graph, is_scan, read_node
from lab.scans.printed import Ids, line_of, places_of, printed_ids
from lab.scans.replacing import as_scans, require_scan, scan_nodes, with_tapes
from lab.traces.run import Values

PRINTED = "pytensor.dprint(lab.derivative(cost, wrt).value)"


def explain(
    cost: object,
    wrt: Variable | str | Sequence[Variable | str] | None = None,
    given: Mapping[Variable | str, object] | None = None,
) -> Explanation:
    """What the Scans in the graph of a scalar `cost` are, and what its gradient wrt `wrt` needs.

    `wrt` is a variable, or several.  A PyMC model in the place of the cost stands for its
    log-density, and then `wrt` are variables of the model or their names, or all that are free.
    With the values of all inputs `given` (of a model by their names, as its initial_point), the
    gradient is compiled, which takes seconds, and the time of its Scans' steps is told.

    Raises ArgumentError if `cost` is no scalar or `wrt` cannot be differentiated by.  A graph
    without a Scan, a cost that does not depend on `wrt` and a gradient that does not exist
    are no errors, but explained.
    """
    cost, by, values = _posed(cost, wrt, given)
    for variable in by:
        check_differentiable(cost, variable)
    names = printable(cost.name or "the cost"), listing(called(v, "the variable") for v in by)
    asked, (cost,) = cost, as_scans([cost])
    try:
        require_scan([cost])
    except GraphError:
        try:  # what PyTensor alone says
            told = _told(by, pytensor_gradients(cost, by), None)
        except TypeError as error:  # as of complex numbers on the way
            told = Undefined(first_line(error)), ()
        return Explanation(*names, *told, (), ())
    root, targets, gradients, problem = _gradients(cost, by)
    derivations, within = _derivations(root, gradients)
    stands = _stands(asked, root, derivations, gradients)
    reports = tuple(
        _report(number, node, inside, derivations, within, targets, stands.get(node, ()))
        for number, (node, inside) in enumerate(_all_scans([root]), start=1)
    )
    reached, all_scans = len(derivations), sum(not report.inside for report in reports)
    status, lacking = _told(by, gradients, problem)
    is_made = isinstance(status, Connected)
    orders = tuple(all_scans - reached + reached * 2**order for order in ORDERS)
    times = () if values is None or not is_made else timed(root, gradients, values)
    return Explanation(*names, status, lacking, reports, orders if is_made else (), times)


def _stands(
    asked: Variable,
    root: Variable,
    derivations: Mapping[Apply, Derivation],
    gradients: Sequence[Variable],
) -> dict[Apply, tuple[Stand, ...]]:
    """The places of the Scans of `root` in PyTensor's print of what was asked for.

    Those of gradients are told where there is one gradient, which a person can print as well.
    """
    nodes, copies = scan_nodes([asked]), scan_nodes([root])
    if len(nodes) != len(copies):  # some were opened, and are not in the print
        return {}
    ids = printed_ids([asked])
    back = printed_ids(gradients) if len(gradients) == 1 else {}
    found: dict[Apply, tuple[Stand, ...]] = {}
    for node, copy in zip(nodes, copies, strict=True):
        derivation = derivations.get(copy)
        stands = [_stand(node, ids, "pytensor.dprint(cost)")]
        if derivation is not None and derivation.node is not None and derivation.node in back:
            stands.append(_stand(derivation.node, back, PRINTED))
        found[copy] = tuple(stand for stand in stands if stand.id)
    return found


def _stand(node: Apply, ids: Ids, printed: str) -> Stand:
    """Where a Scan stands in what is printed."""
    parts, decisions = read_node(node), decisions_of(node.op)
    places = places_of(node, parts, ids, deciding(decisions) if decisions is not None else ())
    line = line_of(node.outputs[0])
    return Stand(parts.called, printed, ids.get(node, ""), line, tuple(places))


def _posed(
    cost: object, wrt: object, given: object
) -> tuple[Variable, tuple[Variable, ...], Values | None]:
    """The cost, the variables and the values that are meant, of a graph or of a model."""
    density = log_density(cost)
    told = "the values of the inputs"
    values = None if given is None else expect("given", given, Mapping, told)
    if density is not None:
        return density.cost, density.by(wrt), None if values is None else density.at(values)
    if not isinstance(cost, Variable):
        raise KindError(f"cost = {quoted(cost)}: expected a PyTensor variable, or a PyMC model.")
    asked = (wrt,) if isinstance(wrt, Variable) else wrt
    by = several("wrt", asked, "PyTensor variables", Variable)
    if not by:
        raise ArgumentError("wrt = (): expected PyTensor variables.")
    return cost, by, values


def _gradients(
    cost: Variable, by: Sequence[Variable]
) -> tuple[Variable, list[Variable], list[Variable], Exception | None]:
    """The cost with our Scans, what it is differentiated by, and its gradients.

    Gradients may be markers; or there are none, and it is told why.
    """
    root, targets = cost, list(by)
    try:
        with without_backtraces(), shared():
            copies = with_tapes([cost])
            root, targets = copies.get(cost, cost), [copies.get(v, v) for v in by]
            return root, targets, pytensor_gradients(root, targets), None
    except (BroadcastError, GradientError, GraphError, TypeError) as error:
        return root, targets, [], error


def _told(
    by: Sequence[Variable], gradients: Sequence[Variable], problem: Exception | None
) -> tuple[Status, tuple[tuple[str, Status], ...]]:
    """Whether there is a gradient wrt any of the variables; and wrt which others there is none."""
    if problem is not None:
        return Undefined(str(problem)), ()
    found = [(called(v, "the variable"), status_of(g)) for v, g in zip(by, gradients, strict=True)]
    lacking = tuple((name, status) for name, status in found if not isinstance(status, Connected))
    if len(lacking) == len(found):
        return found[0][1], ()
    return Connected(), lacking


def _derivations(
    root: Variable, gradients: Sequence[Variable]
) -> tuple[dict[Apply, Derivation], dict[Op, Derivation]]:
    """Which Scan was differentiated how, leaving out what the cost itself had differentiated.

    Of those inside a step, which are copies in the step of its gradient, which operations.
    """
    before = set(scan_nodes([root]))
    made = [v for v in gradients if isinstance(status_of(v), Connected)]
    nodes = [node for node in scan_nodes(made) if node not in before]
    found = (derivation_of(node) for node in nodes)
    inner = (derivation_of(node) for node, inside in _all_scans(made) if inside)
    within = {d.parent.op: d for d in inner if d is not None}
    return {d.parent: d for d in found if d is not None}, within


def _all_scans(outputs: list[Variable], inside: str = "") -> Iterator[tuple[Apply, str]]:
    """All Scans of a graph, and those inside others, with the name of what they are inside."""
    for node in toposort(outputs):
        if is_scan(node):
            yield node, inside
            parts = read_node(node)
            yield from _all_scans(parts.inner_outputs, parts.called)
        elif isinstance(node.op, HasInnerGraph):
            name = getattr(node.op, "name", None) or str(node.op)
            yield from _all_scans(inner_graph(node.op)[1], name)


def _report(
    number: int,
    node: Apply,
    inside: str,
    derivations: Mapping[Apply, Derivation],
    within: Mapping[Op, Derivation],
    by: Sequence[Variable],
    stands: tuple[Stand, ...],
) -> ScanReport:
    found = system(node)
    derivation = within.get(node.op) if inside else derivations.get(node)
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
        traps=traps(node, *by),
        stands=stands,
    )


def _derived(node: Apply) -> Derivation | None:
    """The derivative of a Scan, were there a gradient of all its results."""
    given = [pt.zeros_like(v) if is_continuous(v) else disconnected_type() for v in node.outputs]
    try:
        return derive(node.op, node.inputs, node.outputs, given)
    except LabError:
        return None
