"""The graph of the unrolled picture: a node for every quantity, and an edge for every use.

An edge leads from a value that a step reads to a value that the step computes. The value that is
read belongs to the same Scan or to a loop that the Scan differentiates. No edge leads to the direct
part of a gradient.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.notation import Leaf
from lab.records import find_reachable
from lab.traces.flow import Flow, Value
from lab.traces.scan_of import ScanOf
from lab.traces.trace import Feed, SequenceTrace, TapeTrace, Trace
from visual.pictures.unrolled.quantities import Lane, QuantityNode, QuantityNodes
from visual.scene.theme import Role


@dataclass(frozen=True, eq=False)
class Unrolling:
    """All nodes of the `chosen` Scans, and the edges as pairs of node numbers.

    An edge connects quantities. `uses` has the pairs of values of each edge: first the computed
    value, then the value that the computation reads.
    """

    trace: Trace
    chosen: tuple[int, ...]
    nodes: tuple[QuantityNode, ...]
    edges: tuple[tuple[int, int], ...]
    uses: Mapping[tuple[int, int], Sequence[tuple[Value, Value]]]
    flow: Flow

    def block(self, lane: Lane) -> int:
        """Return the index in `chosen` of the Scan of a lane, or 0 for an input."""
        return self.chosen.index(lane.scan) if lane.scan in self.chosen else 0


def unrolling(
    trace: Trace, scans: Sequence[int] | None = None, all_direct: bool = False
) -> Unrolling:
    """Return the graph of the Scans with the indices `scans` in ``trace.scans`` (default: all).

    The first of `scans` is the loop; the others are derivatives of the loop, or further loops.
    Values of Scans that are not in `scans` are inputs. With `all_direct`, every gradient has a
    direct part, even a part of zero. A node is faded if no path leads from the node to a result. If
    the readers of a tape are unknown, all rows of the tape count as results.
    """
    chosen = tuple(range(len(trace.scans)) if scans is None else scans)
    quantities = QuantityNodes(trace, chosen, all_direct)
    uses: dict[tuple[int, int], list[tuple[Value, Value]]] = {}
    for value, write in quantities.flow.writes.items():
        target = quantities.of.get(value)
        for read in write.sources if target is not None and value.scan in chosen else ():
            source = quantities.node_of(read)
            if source is not None and target is not None and source != target:
                uses.setdefault((source, target), []).append((value, read))
    edges = dict.fromkeys([*quantities.parts, *uses])
    results, numbered = {*_results(quantities)}, [*enumerate(quantities.nodes)]
    seeds = {number for number, node in numbered if node.role is Role.SEED}
    sources: dict[int, list[int]] = {}
    for source, target in edges:
        sources.setdefault(target, []).append(source)
    goals = results | {*_further_goals(quantities)} or seeds or range(len(numbered))
    needed = find_reachable(goals, lambda node: sources.get(node, ()))
    nodes = list[QuantityNode]()
    for number, node in numbered:
        role = Role.RESULT if number in results else node.role
        nodes.append(replace(node, role=role, faded=node.faded or number not in needed))
    return Unrolling(trace, chosen, tuple(nodes), tuple(edges), uses, quantities.flow)


def _results(quantities: QuantityNodes) -> Iterator[int]:
    """Yield the nodes of gradients that are outputs, or that other Scans accumulate."""
    for of in (ScanOf(quantities.trace, number) for number in quantities.chosen):
        for tape in of.scan.held if not quantities.is_loop(of.number) else ():
            if of.is_passed_on(tape):
                yield from _last_nodes(quantities, of.number, tape, of.wanted_rows(tape))


def _further_goals(quantities: QuantityNodes) -> Iterator[int]:
    """Yield the nodes of tapes with unknown readers. Yield none if all Scans are loops."""
    trace, chosen = quantities.trace, quantities.chosen
    loops = [number for number in chosen if quantities.is_loop(number)]
    unknown = {
        (feed.scan, feed.variable)
        for later in chosen
        for feed in trace.scans[later].feeds
        if not _is_read_by_steps(trace, feed, later)
    }
    unknown |= {  # outputs are derivatives of ascending order
        (feed.scan, feed.variable)
        for feed in trace.feeds
        if feed.into > trace.scans[feed.scan].order or len(trace.outputs) == 1
    }
    for number in loops if len(loops) < len(chosen) else ():
        for tape in trace.scans[number].held:
            if (number, tape.argument) in unknown:
                yield from _last_nodes(quantities, number, tape, range(len(tape.final)))


def _last_nodes(
    quantities: QuantityNodes, number: int, tape: TapeTrace, rows: Iterable[int]
) -> Iterator[int]:
    rows = [len(tape.final) - 1] if tape.is_total else rows
    values = (quantities.flow.latest(number, tape, row) for row in rows)
    yield from (quantities.of[value] for value in values if value in quantities.of)


def _is_read_by_steps(trace: Trace, feed: Feed, later: int) -> bool:
    """Return whether the steps of Scan `later` read the feed as a sequence, with known readers."""
    into = trace.scans[later].variable(Leaf("", None, feed.into))
    if not isinstance(into, SequenceTrace) or into.is_outer_gradient:
        return False
    return trace.scans[later].parent is not None or any(row.is_summand for row in feed.rows)
