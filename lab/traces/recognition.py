"""Relate a Scan that PyTensor's own pullback has built to the Scan that it differentiates.

A graph that contains the result of `pytensor.grad` has such Scans. The graph does not store the
relation: it follows from the names, the variables, and the arrays that the Scans read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors

from lab.errors import LabError
from lab.gradients.decisions import (
    GROUPS,
    BackwardVariable,
    Reading,
    ReadingGroup,
    Relation,
    relation_of,
)
from lab.gradients.status import Connected
from lab.gradients.step import classify, differentiate_step
from lab.gradients.symbols import gradient_name
from lab.scans.node import LoopVariable, ScanParts, label, read_node
from lab.scans.slices import cut_of, links
from lab.tape import Kind

PREFIX = "grad_of_"
OF_OUTPUT = ReadingGroup.NIT_SOT_GRADIENT


def label_derivatives(nodes: Sequence[Apply]) -> None:
    """Label the Scans of PyTensor's own pullback with the names of their values and gradients.

    `nodes` are all Scans of a graph in topological order.
    """
    if not any(map(_is_of_pytensor, nodes)):  # reading the nodes takes time
        return
    scans = [read_node(node) for node in nodes]
    names: dict[LoopVariable, str] = {}
    for scan, relation in zip(scans, relations(scans), strict=True):
        if relation is None or not _is_of_pytensor(scan.node):
            continue
        values = {r.variable for r in relation.readings if r.group is not OF_OUTPUT}
        for variable, source in relation.sources.items():
            name = names.get(source, source.name)
            names[variable] = name if variable in values else gradient_name(relation.order, name)
        label(scan.node.op, tuple(names.get(v, v.name) for v in scan.variables))


def relations(scans: Sequence[ScanParts]) -> list[Relation | None]:
    """Return the relation of each Scan to the Scan that it differentiates, or None for a loop.

    `scans` are in topological order. If the relation of one of PyTensor's derivatives is not
    certain, all of them count as loops, because their orders depend on each other.
    """
    built = [relation_of(scan.node.op) for scan in scans]
    known: list[Relation | None] = []
    orders: dict[Variable, int] = {}
    for number, scan in enumerate(scans):
        relation: Relation | None = built[number]
        if _is_of_pytensor(scan.node):
            possible = (_match(forward, scan) for forward in reversed(scans[:number]))
            relation = next(filter(None, possible), None)
            if relation is None:
                return [*built]
            relation = replace(relation, order=_order(relation, orders))
        known.append(relation)
        orders |= dict.fromkeys(scan.node.outputs, relation.order if relation else 0)
    return known


def _is_of_pytensor(node: Apply) -> bool:
    """Return whether a Scan has the name of a derivative and was not built by our pullback."""
    return (node.op.name or "").startswith(PREFIX) and relation_of(node.op) is None


def _match(forward: ScanParts, backward: ScanParts) -> Relation | None:
    """Return the relation of two Scans, or None if `backward` is no pullback of `forward`.

    A pullback has a mit-mot for each state, a nit-sot for each sequence with a gradient, and a
    sit-sot for each parameter with a gradient, in this order. Its sequences are reversed rows of
    the arrays of the loop, or gradients of all outputs. The order of the result is not yet known.
    """
    tapes, states = backward.of_kind(Kind.MIT_MOT), forward.states
    if backward.name != PREFIX + forward.name or len(tapes) != len(states):
        return None
    arrays = {v.outer_output: v for v in (*forward.states, *forward.of_kind(Kind.NIT_SOT))}
    arrays |= {v.outer_input: v for v in forward.of_kind(Kind.SEQUENCE)}
    sequences = backward.of_kind(Kind.SEQUENCE)
    cuts = {v: [link.base for link in links(v.outer_input)] for v in sequences}
    sources = {v: next((arrays[b] for b in cuts[v] if b in arrays), None) for v in sequences}
    others = [variable for variable, source in sources.items() if source is None]
    outputs = forward.of_kind(Kind.NIT_SOT) if others else ()
    # A mit-mot starts with a reversed gradient of the cost, or with zeros.
    seeded = [s for s, v in zip(states, tapes, strict=True) if any(links(v.outer_input))]
    connected = [*_connected(forward, [v.filled for v in (*seeded, *outputs)])]
    pairs = (
        (states, tapes),
        ([v for v in connected if v.kind is Kind.SEQUENCE], backward.of_kind(Kind.NIT_SOT)),
        ([v for v in connected if v.kind is Kind.PARAMETER], backward.of_kind(Kind.SIT_SOT)),
        (outputs, others),
    )
    if any(len(forwards) != len(variables) for forwards, variables in pairs):
        return None
    gradients, nit_sots, sit_sots, received = (
        tuple(map(BackwardVariable, forwards, variables)) for forwards, variables in pairs
    )
    if not all(map(_has_reversed_taps, gradients)):
        return None
    readings = [_reading(v, source) for v, source in sources.items() if source is not None]
    readings += [Reading(each.source, each.variable, OF_OUTPUT, 0, "unknown") for each in received]
    relation = partial(Relation, forward, backward, 1, states=gradients, readings=tuple(readings))
    return relation(totals=(*nit_sots, *sit_sots))


def _reading(variable: LoopVariable, source: LoopVariable) -> Reading:
    """Return the `Reading` of a sequence of the backward Scan.

    The reading contains the tap at which the forward step read or wrote the values of the sequence.
    """
    tap, group = 0, GROUPS[source.kind]
    if group is not ReadingGroup.SEQUENCE:
        cut = cut_of(variable.outer_input)
        from_end = cut.first + 1 if cut.base is source.filled and cut.stride == -1 else 0
        tap = max(source.tape.taps) + from_end
        if tap in source.tape.writes and tap not in source.tape.reads:
            group = ReadingGroup.RESULT
    return Reading(source, variable, group, tap, "unknown")


def _connected(forward: ScanParts, outputs: Iterable[Variable]) -> Iterator[LoopVariable]:
    """Yield the variables whose gradients are numbers if the `outputs` of a Scan have gradients."""
    try:
        step = differentiate_step(forward, classify(forward, {v: v for v in outputs}))
    except LabError:  # PyTensor cannot differentiate the step again
        return
    for variable in forward.variables:
        if any(isinstance(step.statuses.get(v), Connected) for v in variable.inner_inputs):
            yield variable


def _has_reversed_taps(pair: BackwardVariable) -> bool:
    """Return whether a mit-mot has the taps of the gradient of a state."""
    expected, gradient = pair.source.tape.reverse(), pair.variable.tape
    same_reads = {*gradient.reads} == {*expected.reads}
    return same_reads and {*gradient.writes} == {*expected.writes}


def _order(relation: Relation, orders: Mapping[Variable, int]) -> int:
    """Return the order of a derivative; `orders` has the orders of the outputs of other Scans.

    The order is larger than the order of the forward Scan, and at least the order of the Scans that
    compute the gradients that the backward Scan receives.
    """
    received = [pair.variable.outer_input for pair in relation.states]
    received += [r.variable.outer_input for r in relation.readings if r.group is OF_OUTPUT]
    least = orders[relation.parent.outputs[0]] + 1
    return max(least, *(orders.get(v, 0) for v in ancestors(received, blockers=orders)))
