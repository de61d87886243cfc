"""A loop and its derivatives as one graph: a node for every quantity, an edge for every use.

This is what the unrolled picture draws.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lab.flow import flow, handed_on
from lab.trace import TapeTrace, Trace
from visual.names import wanted_rows
from visual.quantities import Node, Quantities
from visual.theme import Role

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
    for number in found.chosen[1:]:
        scan = found.trace.scans[number]
        for tape in scan.outputs:
            if tape.used and tape.axis is not None:
                indices = tape.axis.index.tolist()
                made = [
                    found.of.get(found.flow.latest(number, tape, row))
                    for row in range(len(indices))
                ]
                for part, index in zip(made, indices, strict=True):
                    for whole in _wholes(found, number, tape, index):
                        if part is not None:
                            yield part, whole


def _wholes(found: Quantities, number: int, tape: TapeTrace, index: int) -> Iterator[int]:
    """Where other Scans of the same derivative take in what a tape holds for an index."""
    scan = found.trace.scans[number]
    for sequence in found.trace.scans[scan.parent].sequences if scan.parent is not None else ():
        if sequence.name != tape.gradient_of or scan.parent is None:
            continue
        origin = handed_on(found.trace, scan.parent, sequence, found.flow.versions).get(index)
        for later in found.chosen if origin is not None else ():
            other = found.trace.scans[later]
            if origin is not None and (other.parent, other.order) == (origin.scan, scan.order):
                whole = found.acted_on.get((later, origin.variable, index))
                if whole is not None:
                    yield whole


def _results(found: Quantities, number: int, edges: Edges) -> Iterator[int]:
    """The nodes of a derivative that are asked for, or needed by what is not shown."""
    places = [node.place for node in found.nodes]
    sending = {
        (places[a].scan, places[a].argument) for a, b in edges if places[a].scan != places[b].scan
    }
    scan = found.trace.scans[number]
    for tape in (*scan.tapes, *scan.outputs):
        if tape.asked or (tape.used and (number, tape.argument) not in sending):
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
