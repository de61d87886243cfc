"""Record the calls of a Scan's pullback, and identify the variables of the Scans that it builds.

    >>> with record_pullbacks(Scan) as calls:
    ...     grad(cost, wrt)
    >>> calls[0].parent, calls[0].backward()

Recording changes no result.  A variable of PyTensor's backward Scan is identified by its connection
to the forward Scan, not by its position among the arguments.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort
from pytensor.scan.op import Scan

from lab.gradients.decisions import (
    BackwardVariable,
    Classification,
    ReadingGroup,
    ReverseState,
    StepCount,
    StepGradients,
    symbol,
)
from lab.gradients.derivation import Derivation
from lab.gradients.exchange import replace_methods
from lab.scans.node import (
    LoopVariable,
    Pullback,
    ScanParts,
    is_scan,
    label,
    read_node,
    read_scan,
)
from lab.tape import Kind
from lab.traces.origins import sources
from lab.traces.recognition import GROUPS, reading


@dataclass(frozen=True, eq=False)
class PullbackCall:
    """One call of a Scan's pullback: its arguments, and the gradients that it returned."""

    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    cotangents: tuple[Variable, ...]
    gradients: tuple[Variable, ...]

    @property
    def parent(self) -> Apply:
        """The Scan that was differentiated."""
        return self.outputs[0].owner

    def backward(self) -> Apply | None:
        """Return the Scan that computes the gradients; None if they need no Scan."""
        known = {*self.inputs, *self.outputs, *self.cotangents}
        nodes = [node for node in toposort(self.gradients, blockers=known) if is_scan(node)]
        return nodes[-1] if nodes else None


@contextmanager
def record_pullbacks(kind: type[Scan]) -> Iterator[list[PullbackCall]]:
    """Append each call of the pullback of `kind` to a list during a context, and yield the list.

    Calls in other threads are ignored.
    """
    calls: list[PullbackCall] = []

    def watch(own: Pullback, op: Scan, *arguments: Sequence[Variable]) -> list[Variable]:
        gradients = own(op, *arguments)
        inputs, outputs, cotangents = map(tuple, arguments)
        calls.append(PullbackCall(inputs, outputs, cotangents, tuple(gradients)))
        return gradients

    with replace_methods(kind, pullback=watch):
        yield calls


def identify(call: PullbackCall, order: int) -> None:
    """Label the backward Scan of a call with the names of its variables and a `Derivation`.

    Afterward, the Scan can be traced and drawn like a Scan of `lab.pullback`.  The derivation lacks
    the decisions of most phases.
    """
    node = call.backward()
    if node is None:
        return
    forward = read_scan(call.parent.op, call.inputs, call.outputs)
    backward = read_node(node)
    tapes, reads = _gradient_tapes(call, forward, backward), _value_reads(call, forward, backward)
    names = {v: symbol(order, source.name) for v, source in tapes.items()}
    names |= {
        v: symbol(order, source.name) if group is ReadingGroup.NIT_SOT_GRADIENT else source.name
        for v, (source, group) in reads.items()
    }
    old_variables = backward.variables
    labels = tuple(names.get(part, part.name) for part in old_variables)
    label(node.op, labels)
    backward = read_node(node)
    new = dict(zip(old_variables, backward.variables, strict=True))
    derivation = Derivation(
        forward=forward,
        backward=backward,
        order=order,
        steps=StepCount(forward.n_steps, backward.n_steps, "unknown"),
        classes=Classification({}, frozenset()),
        step=StepGradients({}, {}, {}, {}),
        states=tuple(
            ReverseState(source, new[v], (), ())
            for v, source in tapes.items()
            if v.kind is Kind.MIT_MOT
        ),
        readings=tuple(reading(v, new[v], *reads[v]) for v in reads if v.kind is Kind.SEQUENCE),
        totals=tuple(
            BackwardVariable(source, new[v])
            for v, source in tapes.items()
            if v.kind is not Kind.MIT_MOT
        ),
        node=node,
        gradients=call.gradients,
    )
    label(node.op, labels, derivation)


def _gradient_tapes(
    call: PullbackCall, forward: ScanParts, backward: ScanParts
) -> dict[LoopVariable, LoopVariable]:
    """Map variables of the backward Scan to the forward variables whose gradients they contain.

    A variable belongs to the input whose gradient is computed from it.  Another mit-mot belongs to
    the state whose cotangent is part of its initial buffer.
    """
    filled = {v.outer_output: v for v in backward.variables if v.outer_output is not None}
    pairs: dict[LoopVariable, LoopVariable] = {}
    for part, gradient in zip(forward.variables, call.gradients[1:], strict=True):
        for source in sources(gradient, filled):
            pairs.setdefault(filled[source], part)
    states = {part.outer_output: part for part in forward.states}
    starts = {
        gradient: states[output]
        for output, gradient in zip(call.outputs, call.cotangents, strict=True)
        if output in states
    }
    for tape in backward.of_kind(Kind.MIT_MOT):
        start = next(iter(sources(tape.outer_input, starts)), None)
        if tape not in pairs and start is not None and starts[start] not in pairs.values():
            pairs[tape] = starts[start]
    return pairs


def _value_reads(
    call: PullbackCall, forward: ScanParts, backward: ScanParts
) -> dict[LoopVariable, tuple[LoopVariable, ReadingGroup]]:
    """Map inputs of the backward Scan to the forward variables whose values they contain."""
    origin: dict[Variable, tuple[LoopVariable, ReadingGroup]] = {}
    by_output = {v: part for part in forward.variables if (v := part.outer_output) is not None}
    for output, gradient in zip(call.outputs, call.cotangents, strict=True):
        if output in by_output:
            origin[gradient] = by_output[output], ReadingGroup.NIT_SOT_GRADIENT
    for part in forward.variables:
        if part.kind is not Kind.NIT_SOT:
            origin[part.outer_input] = part, ReadingGroup.SEQUENCE
    origin |= {output: (part, GROUPS[part.kind]) for output, part in by_output.items()}
    reads = {}
    for variable in backward.of_kind(Kind.SEQUENCE, Kind.PARAMETER):
        source = next(iter(sources(variable.outer_input, origin)), None)
        if source is not None:
            reads[variable] = origin[source]
    return reads
