"""PyTensor's own pullback, watched: what went in and came out each time that it was called.

    >>> with watched(Scan) as calls:
    ...     grad(cost, wrt)
    >>> calls[0].parent, calls[0].backward()

Nothing is changed by being watched.  What a backward Scan of PyTensor holds is told from how
it hangs together with what it differentiates, never from where it stands among arguments.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort
from pytensor.scan.op import Scan

from lab.gradients.decisions import (
    Classification,
    Reading,
    ReadingGroup,
    ReverseState,
    StepCount,
    StepGradients,
    Total,
    symbol,
)
from lab.gradients.derivation import Derivation
from lab.gradients.exchange import Exchange, exchanged
from lab.scans.node import Labels, LoopVariable, ScanParts, is_scan, label, read_node, read_scan
from lab.scans.node import Pullback as Differentiation
from lab.scans.slices import before_end, sliced
from lab.tape import Kind
from lab.traces.origins import sources


@dataclass(frozen=True, eq=False)
class Pullback:
    """One call of a Scan's pullback: its arguments, and the gradients that it returned."""

    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    given: tuple[Variable, ...]
    gradients: tuple[Variable, ...]

    @property
    def parent(self) -> Apply:
        """The Scan that was differentiated."""
        return self.outputs[0].owner

    def backward(self) -> Apply | None:
        """The Scan that computes the gradients; None where none had to be computed."""
        known = {*self.inputs, *self.outputs, *self.given}
        made = [node for node in toposort(self.gradients, blockers=known) if is_scan(node)]
        return made[-1] if made else None


@contextmanager
def watched(kind: type[Scan]) -> Iterator[list[Pullback]]:
    """While it lasts, this thread's calls of the pullback of `kind` are noted in the list."""
    calls: list[Pullback] = []

    def watch(
        own: Differentiation,
        op: Scan,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Variable]:
        gradients = own(op, inputs, outputs, output_gradients)
        calls.append(
            Pullback(tuple(inputs), tuple(outputs), tuple(output_gradients), tuple(gradients))
        )
        return gradients

    with exchanged(kind, Exchange(watch)):
        yield calls


def identify(call: Pullback, order: int) -> Derivation | None:
    """Tell what every variable of the backward Scan belongs to, whoever has built it.

    The Scan's variables get the names of what they belong to, and the Scan a `Derivation`,
    as those have that `lab.pullback` builds, so that it can be traced and drawn like them.
    It tells nothing of how the phases decided.
    """
    node = call.backward()
    if node is None:
        return None
    forward = read_scan(call.parent.op, call.inputs, call.outputs)
    backward = read_node(node)
    holds, reads = _held(call, forward, backward), _read(call, forward, backward)
    names = {v: symbol(order, source.name) for v, source in holds.items()}
    names |= {
        v: symbol(order, source.name) if group is ReadingGroup.NIT_SOT_GRADIENT else source.name
        for v, (source, group) in reads.items()
    }
    places = {part: place for place, part in enumerate(backward.variables)}
    named_as = tuple(names.get(part, part.name) for part in places)
    label(node.op, Labels(named_as))
    backward = read_node(node)
    named = dict(zip(places, backward.variables, strict=True))
    derivation = Derivation(
        forward=forward,
        backward=backward,
        order=order,
        steps=StepCount(forward.n_steps, backward.n_steps, "not told"),
        classes=Classification({}, frozenset()),
        step=StepGradients({}, {}, {}, {}),
        states=tuple(
            ReverseState(source, named[v], (), ())
            for v, source in holds.items()
            if v.kind is Kind.MIT_MOT
        ),
        readings=tuple(_reading(v, named[v], *reads[v]) for v in reads if v.kind is Kind.SEQUENCE),
        totals=tuple(
            Total(source, named[v]) for v, source in holds.items() if v.kind is not Kind.MIT_MOT
        ),
        node=node,
        gradients=call.gradients,
    )
    label(node.op, Labels(named_as, derivation))
    return derivation


def _reading(
    variable: LoopVariable, named: LoopVariable, source: LoopVariable, group: ReadingGroup
) -> Reading:
    """What a sequence brings, and the tap at which the forward step had read or written it."""
    tap = 0
    if group not in (ReadingGroup.NIT_SOT_GRADIENT, ReadingGroup.SEQUENCE):
        before = before_end(variable.outer_input, source.filled)
        tap = max(source.tape.taps) + (before or 0)
        if tap in source.tape.writes and tap not in source.tape.reads:
            group = ReadingGroup.RESULT
    return Reading(group, source, tap, named, sliced(variable.outer_input))


def _held(
    call: Pullback, forward: ScanParts, backward: ScanParts
) -> dict[LoopVariable, LoopVariable]:
    """Which variables of the backward Scan hold the gradient of which variable of the forward.

    A tape from which no gradient is taken is known by the gradient that it starts with.
    """
    filled = {v.outer_output: v for v in backward.variables if v.outer_output is not None}
    found: dict[LoopVariable, LoopVariable] = {}
    for part, gradient in zip(forward.variables, call.gradients[1:], strict=True):
        for source in sources(gradient, filled):
            found.setdefault(filled[source], part)
    made = {part.outer_output: part for part in forward.states}
    pairs = zip(call.outputs, call.given, strict=True)
    starts = {gradient: made[output] for output, gradient in pairs if output in made}
    for tape in backward.of_kind(Kind.MIT_MOT):
        start = next(iter(sources(tape.outer_input, starts)), None)
        if tape not in found and start is not None and starts[start] not in found.values():
            found[tape] = starts[start]
    return found


def _read(
    call: Pullback, forward: ScanParts, backward: ScanParts
) -> dict[LoopVariable, tuple[LoopVariable, ReadingGroup]]:
    """Which variables of the backward Scan bring values of which variable of the forward."""
    origin: dict[Variable, tuple[LoopVariable, ReadingGroup]] = {}
    by_output = {v: part for part in forward.variables if (v := part.outer_output) is not None}
    for output, gradient in zip(call.outputs, call.given, strict=True):
        if output in by_output:
            origin[gradient] = by_output[output], ReadingGroup.NIT_SOT_GRADIENT
    for part in forward.variables:
        if part.kind is not Kind.NIT_SOT:
            origin[part.outer_input] = part, ReadingGroup.SEQUENCE
    origin |= {output: (part, GROUPS[part.kind]) for output, part in by_output.items()}
    found = {}
    for variable in backward.of_kind(Kind.SEQUENCE, Kind.PARAMETER):
        source = next(iter(sources(variable.outer_input, origin)), None)
        if source is not None:
            found[variable] = origin[source]
    return found


GROUPS = {
    Kind.SIT_SOT: ReadingGroup.SIT_SOT,
    Kind.MIT_SOT: ReadingGroup.TAPS,
    Kind.MIT_MOT: ReadingGroup.TAPS,
    Kind.NIT_SOT: ReadingGroup.RESULT,
    Kind.UNTRACED: ReadingGroup.RESULT,
}
