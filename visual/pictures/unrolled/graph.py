"""A loop and its derivatives as one graph: a node for every quantity, an edge for every use.

This is what the unrolled picture draws.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.traces.flow import Flow, Value, flow
from lab.traces.trace import TapeTrace, Trace
from visual.pictures.unrolled.contributions import Contribution, contributions, is_told
from visual.pictures.unrolled.quantities import Node, Quantities
from visual.scene.theme import Role

Edges = dict[tuple[int, int], None]  # an ordered set


@dataclass(frozen=True, eq=False)
class Unrolling:
    """All nodes, and the edges from what is read to what is made, as pairs of their numbers.

    `uses` tells of an edge within a Scan which values were made, and which of those were read.
    """

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]
    uses: Mapping[tuple[int, int], Sequence[tuple[Value, Value]]]
    flow: Flow


def unrolling(
    trace: Trace, scans: Sequence[int] | None = None, all_direct: bool = False
) -> Unrolling:
    """The graph of the Scans with the numbers `scans` (all unless given), the first as the loop.

    The others are its derivatives, or further loops; what they read of Scans that are not shown
    are inputs.  With `all_direct` every gradient has its direct part, also where that is zero.
    Nodes are faded from which no edge leads to a result, and nothing else that is known: a
    tape that goes into something row by row unknown is needed as a whole.
    """
    chosen = tuple(range(len(trace.scans)) if scans is None else scans)
    values = flow(trace)
    parts, unknown = _gradients(trace, chosen, values)
    fed = frozenset(part.place for part in parts)
    quantities = Quantities(trace, chosen, values, all_direct, fed)
    for number in chosen:
        scan = trace.scans[number]
        for tape in scan.held:
            quantities.add_tape(number, tape)
    uses = _uses(quantities)
    edges: Edges = dict.fromkeys([*quantities.parts, *uses, *_joined(quantities, parts)])
    results = set(_results(quantities))
    nodes = [
        replace(node, role=Role.RESULT) if number in results else node
        for number, node in enumerate(quantities.nodes)
    ]
    needed = _leading_to(_goals(quantities, results, unknown, parts), edges)
    washed = (
        node if number in needed else replace(node, faded=True) for number, node in enumerate(nodes)
    )
    return Unrolling(tuple(washed), tuple(edges), uses, values)


def _gradients(
    trace: Trace, chosen: tuple[int, ...], values: Flow
) -> tuple[list[Contribution], set[tuple[int, int]]]:
    """What goes from one derivative into another; and the tapes of which that is not known."""
    parts: list[Contribution] = []
    unknown: set[tuple[int, int]] = set()
    for later in chosen:
        for feed in trace.scans[later].feeds:
            if feed.scan in chosen and not is_told(trace, feed, later):
                known = list(contributions(trace, feed, later, values))
                parts += known
                if not known:
                    unknown.add((feed.scan, feed.variable))
    for feed in trace.feeds:  # into the values asked for, which are derivatives of rising order
        later_order = feed.into > trace.scans[feed.scan].order or len(trace.outputs) == 1
        if feed.scan in chosen and later_order:
            unknown.add((feed.scan, feed.variable))
    return parts, unknown


def _uses(quantities: Quantities) -> dict[tuple[int, int], list[tuple[Value, Value]]]:
    """From every quantity that a step reads to what it makes of it, with the values of both."""
    uses: dict[tuple[int, int], list[tuple[Value, Value]]] = {}
    for value, write in quantities.flow.writes.items():
        target = quantities.of.get(value)
        for read in write.sources if target is not None and value.scan in quantities.chosen else ():
            source = quantities.source(read)
            if source is not None and target is not None and source != target:
                uses.setdefault((source, target), []).append((value, read))
    return uses


def _joined(quantities: Quantities, parts: Sequence[Contribution]) -> Iterator[tuple[int, int]]:
    """From what a derivative puts out to the gradient, in a later Scan, that it is a part of."""
    for part in parts:
        source = quantities.of.get(part.source)
        if isinstance(part.into, TapeTrace):
            target = quantities.acted_on.get((part.scan, part.into.gradient_of or "", part.index))
        else:
            target = quantities.of.get(Value(part.scan, part.into.name, -1, part.index))
        if source is not None and target is not None:
            yield source, target


def _results(quantities: Quantities) -> Iterator[int]:
    """The gradients that are passed on: asked for, or parts of what other Scans collect."""
    for number in quantities.chosen:
        named = quantities.named(number)
        for tape in named.scan.held if not quantities.is_loop(number) else ():
            if named.is_passed_on(tape):
                yield from _last_nodes(quantities, number, tape, named.wanted_rows(tape))


def _goals(
    quantities: Quantities,
    results: set[int],
    unknown: set[tuple[int, int]],
    parts: Sequence[Contribution],
) -> set[int]:
    """What all else is needed for: results that go on to where no edge leads."""
    joined = {(part.source.scan, part.source.argument) for part in parts}
    places = [(node.place.scan, node.place.argument) for node in quantities.nodes]
    goals = {node for node in results if places[node] in unknown or places[node] not in joined}
    derived = any(not quantities.is_loop(number) for number in quantities.chosen)
    for number in quantities.chosen if derived else ():
        scan = quantities.trace.scans[number]
        for tape in scan.held if quantities.is_loop(number) else ():
            if (number, tape.argument) in unknown:
                goals |= {*_last_nodes(quantities, number, tape, range(len(tape.final)))}
    if goals:
        return goals
    seeds = {n for n, node in enumerate(quantities.nodes) if node.role is Role.SEED}
    return seeds or set(range(len(quantities.nodes)))  # a loop alone leads to its outputs


def _last_nodes(
    quantities: Quantities, number: int, tape: TapeTrace, rows: Iterable[int]
) -> Iterator[int]:
    for row in [len(tape.final) - 1] if tape.is_total else rows:
        node = quantities.of.get(quantities.flow.latest(number, tape, row))
        if node is not None:
            yield node


def _leading_to(results: set[int], edges: Edges) -> set[int]:
    """`results` and all nodes from which edges lead to them."""
    sources: dict[int, list[int]] = {}
    for source, target in edges:
        sources.setdefault(target, []).append(source)
    reached, waiting = set(results), list(results)
    while waiting:
        new = set(sources.get(waiting.pop(), ())) - reached
        reached |= new
        waiting += new
    return reached
