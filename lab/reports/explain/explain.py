"""Describe the Scans in a graph and the gradient of its cost.

    >>> print(lab.explain(cost, x0))

The report is frozen data.  The graph is neither run nor modified.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import pytensor.tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import HasInnerGraph, Op
from pytensor.graph.traversal import toposort

from lab.equations.reading import system
from lab.equations.system import System
from lab.errors import KindError, LabError, argument_error, listing, printable
from lab.gradients.decisions import ReadingGroup, relation_of, scan_names
from lab.gradients.derivation import Derivation
from lab.gradients.derivative import check_wrt
from lab.gradients.pullback import derive
from lab.gradients.status import (
    Connected,
    Status,
    Undefined,
    is_continuous,
    marker,
    pytensor_gradients,
    status_of,
)
from lab.loops.model import log_density
from lab.notation import tap_symbol
from lab.reports.explain.explanation import Explanation, SavedArray, ScanReport
from lab.reports.explain.traps import traps, variable_label
from lab.scans.backtraces import line_of, printed_ids, without_backtraces
from lab.scans.node import LoopVariable, copy_graph, is_scan, read_node
from lab.scans.replacing import as_scans, scan_nodes, with_tapes
from lab.tape import Kind


def explain(
    cost: object, wrt: Variable | str | Sequence[Variable | str] | None = None
) -> Explanation:
    """Describe the Scans in a graph and the gradient of its cost.

    The report contains the equations of each Scan, its line in your code, the gradient of each
    input, the memory that the gradient needs, and known traps.

    Parameters
    ----------
    cost : TensorVariable or pymc.Model
        Real scalar to differentiate.  The cost of a PyMC model is its log-density.
    wrt : Variable, str, or sequence of these, optional
        Variables to differentiate with respect to.  Required for a graph.  For a model, variables
        or their names (default: all continuous free variables).

    Returns
    -------
    Explanation
        Frozen data.  ``print`` shows the report.  A graph without a Scan, a disconnected cost, and
        an undefined gradient are part of the report.

    Raises
    ------
    ArgumentError
        If `cost` is not a real scalar, or if `wrt` is not differentiable.
    GraphError
        If PyMC cannot build a log-density with a continuous variable.

    """
    density = log_density(cost)
    if density is not None:
        cost, wrt = density.cost, density.resolve_wrt(wrt)
    if not isinstance(cost, Variable):
        expected = "expected a PyTensor variable, or a PyMC model."
        raise argument_error("cost", cost, expected, KindError)
    variables = check_wrt(cost, wrt)
    labels = [variable_label(v, "the variable") for v in variables]
    original, name, (cost,) = cost, printable(cost.name or "the cost"), as_scans([cost])
    root, targets, gradients = _gradients(cost, variables)
    reports = tuple(_reports(root, gradients, targets, _printed_ids(original, root)))
    status, lacking = _statuses(labels, gradients)
    return Explanation(
        cost=name, wrt=listing(labels), status=status, lacking=lacking, scans=reports
    )


def _printed_ids(original: Variable, root: Variable) -> dict[Apply, str]:
    """Map each Scan in `root` to the id of its original in PyTensor's print of `original`."""
    nodes, copies = scan_nodes([original]), scan_nodes([root])
    if len(nodes) != len(copies):  # Scans of opened operations are not printed
        return {}
    ids = printed_ids([original])
    return {copy: ids.get(node, "") for node, copy in zip(nodes, copies, strict=True)}


def _gradients(
    cost: Variable, wrt: Sequence[Variable]
) -> tuple[Variable, list[Variable], list[Variable]]:
    """Return a copy of the cost that uses our pullback, the copies of `wrt`, and the gradients.

    A missing gradient is a marker.  After an error of the pullback, all gradients are missing.
    """
    root, targets = cost, list(wrt)
    try:
        with without_backtraces():
            root, *targets = with_tapes([cost, *wrt])
            return root, targets, pytensor_gradients(root, targets)
    except LabError as error:
        return root, targets, [marker(Undefined(str(error)))] * len(wrt)


def _statuses(
    names: Sequence[str], gradients: Sequence[Variable]
) -> tuple[Status, tuple[tuple[str, Status], ...]]:
    """Return the status of the gradient, and (name, status) of each variable without a gradient.

    If no variable has a gradient, return the status of the first variable, and no names.
    """
    statuses = [*zip(names, map(status_of, gradients), strict=True)]
    lacking = tuple(pair for pair in statuses if not isinstance(pair[1], Connected))
    if len(lacking) == len(statuses):
        return statuses[0][1], ()
    return Connected(), lacking


def _derivations(root: Variable, graphs: Sequence[Variable]) -> dict[Apply | Op, Derivation]:
    """Map each differentiated Scan to the derivation of its gradient, a Scan in `graphs`.

    Gradient Scans that the cost itself contains are excluded.  The key is the node of the forward
    Scan.  For a Scan inside a step, the key is its operation, because the step of the gradient
    contains a copy of the node.
    """
    before = set(scan_nodes([root]))
    outer = (relation_of(node.op) for node in scan_nodes(graphs) if node not in before)
    inner = (relation_of(node.op) for node, _, inside in _all_scans(graphs) if inside)
    within = {d.parent.op: d for d in inner if isinstance(d, Derivation)}
    return {**within, **{d.parent: d for d in outer if isinstance(d, Derivation)}}


def _all_scans(
    outputs: Sequence[Variable], names: Mapping[Apply, str] = MappingProxyType({}), inside: str = ""
) -> Iterator[tuple[Apply, str, str]]:
    """Yield each Scan of a graph, its name, and the name of the operation around it, or ""."""
    nodes = scan_nodes(outputs)
    names = {**dict(zip(nodes, scan_names(nodes), strict=True)), **names}
    for node in toposort(outputs):
        if is_scan(node):
            yield node, names[node], inside
            yield from _all_scans(read_node(node).inner_outputs, names, names[node])
        elif isinstance(node.op, HasInnerGraph):
            name = getattr(node.op, "name", None) or str(node.op)
            yield from _all_scans(copy_graph(node.op.fgraph)[1], names, name)


def _reports(
    root: Variable, gradients: Sequence[Variable], wrt: Sequence[Variable], ids: Mapping[Apply, str]
) -> Iterator[ScanReport]:
    """Yield the report on each Scan of the graph of `root`, including the Scans inside steps.

    `ids` are the ids of Scans in ``dprint``.
    """
    graphs = [v for v in gradients if isinstance(status_of(v), Connected)]
    is_undefined = any(isinstance(status_of(v), Undefined) for v in gradients)
    nodes, derivations = scan_nodes([root, *graphs]), _derivations(root, graphs)
    names = dict(zip(nodes, scan_names(nodes), strict=True))
    for number, (node, name, inside) in enumerate(_all_scans([root], names), start=1):
        equations = system(node, name=name)
        derivation = derivations.get(node.op if inside else node)
        if is_undefined and not derivations and not inside:
            derivation = _derived(node)
        yield ScanReport(
            number=number,
            name=equations.name,
            system=equations,
            inside=inside,
            outcomes=derivation.outcomes if derivation is not None else (),
            saved=tuple(_saved_arrays(derivation, equations)) if derivation is not None else (),
            traps=tuple(replace(trap, scan=equations.name) for trap in traps(node, *wrt)),
            line=line_of(node.outputs[0]),
            id=ids.get(node, ""),
        )


def _saved_arrays(derivation: Derivation, forward: System) -> Iterator[SavedArray]:
    """Yield the arrays that the backward Scan of a derivation reads and fills."""
    limit = derivation.forward.truncate_gradient
    n_steps = forward.step_count
    n_backward = n_steps if limit == -1 or n_steps is None else min(n_steps, limit)
    labels = map(forward.label, forward.quantities)
    names = dict(zip(derivation.forward.variables, labels, strict=True))

    def array(part: LoopVariable, use: str, more: int, n: int | None, name: str = "") -> SavedArray:
        row = (part.inner_outputs or part.inner_inputs)[0].type
        name = name or f"gradient of {names[part]}"
        return SavedArray(name, use, n, more=more, shape=tuple(row.shape), dtype=str(row.dtype))

    taps: dict[LoopVariable, list[int]] = {}
    for reading in derivation.readings:
        part = reading.source
        if reading.group is ReadingGroup.NIT_SOT_GRADIENT:
            yield array(part, "one value per step", 0, n_backward)
        elif part.kind is not Kind.SEQUENCE:
            taps.setdefault(part, []).append(reading.tap)
    for part, read in taps.items():
        values = listing(tap_symbol(names[part], tap) for tap in dict.fromkeys(read))
        purpose = f"saved values: the backward step for step t reads {values}"
        yield array(part, purpose, part.tape.rows(1) - 1, n_steps, names[part])
    for reverse in derivation.states:
        purpose = "tape: mit-mot buffer of the backward Scan"
        yield array(reverse.source, purpose, reverse.source.tape.rows(1) - 1, n_steps)
    for total in derivation.totals:
        is_sum = total.source.kind is not Kind.SEQUENCE
        purpose = "running sum; compiled code stores fewer rows" if is_sum else "one value per step"
        yield array(total.source, purpose, int(is_sum), n_backward)


def _derived(node: Apply) -> Derivation | None:
    """Return the derivation of a Scan whose outputs all have a gradient; None after an error."""
    zeros = [pt.zeros_like(v) if is_continuous(v) else disconnected_type() for v in node.outputs]
    try:
        return derive(node.op, node.inputs, node.outputs, zeros)
    except LabError:
        return None
