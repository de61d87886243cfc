"""A loop and its derivatives as one graph: a node for every quantity, an edge for every use.

This is what the unrolled picture draws.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lab.expression import Leaf
from lab.flow import Value, flow, is_outer_gradient
from lab.trace import ParameterTrace, SequenceTrace, TapeTrace, Trace
from visual.names import wanted_rows
from visual.quantities import Node, Quantities
from visual.theme import Role

Variable = TapeTrace | SequenceTrace | ParameterTrace | None
Edges = dict[tuple[int, int], None]  # an ordered set


@dataclass(frozen=True, eq=False)
class Unrolling:
    """All nodes, and the edges from what is read to what is made, as pairs of their numbers."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]


def unrolling(
    trace: Trace, scans: Sequence[int] | None = None, all_direct: bool = False
) -> Unrolling:
    """The graph of the Scans with the numbers `scans` (all unless given), the first as the loop.

    The others are its derivatives; what they read of Scans that are not shown are inputs.
    With `all_direct` every gradient has its direct part, also where that is zero.
    """
    chosen = tuple(range(len(trace.scans)) if scans is None else scans)
    found = Quantities(trace, chosen, flow(trace), all_direct)
    for number in chosen:
        scan = trace.scans[number]
        for tape in (*scan.tapes, *scan.outputs):
            found.add_tape(number, tape)
    edges: Edges = dict.fromkeys([*found.parts, *_uses(found), *_contributions(found)])
    results = {node for number in chosen[1:] for node in _results(found, number, edges)}
    nodes = [
        replace(node, role=Role.RESULT) if number in results else node
        for number, node in enumerate(found.nodes)
    ]
    if not results:  # a loop alone leads to its outputs
        results = {number for number, node in enumerate(nodes) if node.role is Role.SEED}
    needed = _leading_to(results, edges) if results else set(range(len(nodes)))
    washed = (
        replace(node, faded=node.faded or number not in needed) for number, node in enumerate(nodes)
    )
    return Unrolling(tuple(washed), tuple(edges))


def _uses(found: Quantities) -> list[tuple[int, int]]:
    """From every quantity that a step reads to what it makes of it."""
    edges = []
    for value, write in found.flow.writes.items():
        if value.scan in found.chosen and value in found.of:
            sources = (found.source(source) for source in write.sources)
            edges += [(source, found.of[value]) for source in sources if source is not None]
    return [(source, target) for source, target in edges if source != target]


def _contributions(found: Quantities) -> Iterator[tuple[int, int]]:
    """From what a derivative puts out to the gradient, in a later Scan, that it is a part of."""
    for later in found.chosen[1:]:
        for feed in found.trace.scans[later].feeds:
            part = _variable(found.trace, feed.scan, feed.variable)
            if feed.scan not in found.chosen[1:] or not isinstance(part, TapeTrace):
                continue
            into = _variable(found.trace, later, feed.into)
            for row, index in enumerate(part.axis.index.tolist() if part.axis else ()):
                source = found.of.get(found.flow.latest(feed.scan, part, row))
                target = _place_of(found, later, into, index)
                if source is not None and target is not None:
                    yield source, target


def _variable(trace: Trace, scan: int, argument: int) -> Variable:
    return trace.scans[scan].variable(Leaf("", None, argument))


def _place_of(found: Quantities, scan: int, into: Variable, index: int) -> int | None:
    """The node through which gradients of other Scans come in, for an index in time."""
    if isinstance(into, TapeTrace) and into.gradient_of is not None:
        return found.acted_on.get((scan, into.gradient_of, index))
    if isinstance(into, SequenceTrace) and is_outer_gradient(into):
        return found.of.get(Value(scan, into.name, -1, index))
    return None


def _results(found: Quantities, number: int, edges: Edges) -> Iterator[int]:
    """The nodes of a derivative that are asked for, or needed by what is not shown."""
    places = [node.place for node in found.nodes]
    sending = {
        (places[a].scan, places[a].argument) for a, b in edges if places[a].scan != places[b].scan
    }
    asked = {(feed.scan, feed.variable) for feed in found.trace.feeds}
    scan = found.trace.scans[number]
    for tape in (*scan.tapes, *scan.outputs):
        place = (number, tape.argument)
        if place in asked or (tape.used and place not in sending):
            wanted = wanted_rows(found.trace, number, tape)
            for row in [len(tape.final) - 1] if tape.is_total else wanted:
                node = found.of.get(found.flow.latest(number, tape, row))
                if node is not None:
                    yield node


def _leading_to(results: set[int], edges: Edges) -> set[int]:
    """`results` and all nodes from which edges lead to them."""
    sources: dict[int, list[int]] = {}
    for source, target in edges:
        sources.setdefault(target, []).append(source)
    found, waiting = set(results), list(results)
    while waiting:
        new = set(sources.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found
