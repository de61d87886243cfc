"""The graph of the unrolled picture: a node for every quantity, an edge for every use.

The gradient of a slot accumulates the contributions of its own Scan, and outputs of earlier Scans
of the same derivative for the same slot. Each of these outputs is an edge from Scan to Scan.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.notation import Leaf
from lab.records import find_reachable
from lab.traces.flow import Flow, Value, flow
from lab.traces.trace import Feed, SequenceTrace, TapeTrace, Trace
from visual.pictures.unrolled.quantities import QuantityNode, QuantityNodes
from visual.scene.theme import Role


@dataclass(frozen=True, eq=False)
class Contribution:
    """A summand, `source`, of the initial value at an `index` of the variable `into` of a Scan."""

    source: Value
    scan: int
    into: TapeTrace | SequenceTrace
    index: int

    @property
    def place(self) -> tuple[int, int, int]:
        """The Scan, the argument number of the variable, and the index."""
        return self.scan, self.into.argument, self.index


@dataclass(frozen=True, eq=False)
class Unrolling:
    """All nodes, and the edges from read to computed values, as pairs of node numbers.

    `uses` maps an edge within a Scan to pairs of a computed value and a value that it reads.
    """

    nodes: tuple[QuantityNode, ...]
    edges: tuple[tuple[int, int], ...]
    uses: Mapping[tuple[int, int], Sequence[tuple[Value, Value]]]
    flow: Flow


def unrolling(
    trace: Trace, scans: Sequence[int] | None = None, all_direct: bool = False
) -> Unrolling:
    """Build the graph of the Scans with the numbers `scans` (default: all), the first as the loop.

    The other Scans are derivatives of the loop, or further loops. Values of Scans without a number
    in `scans` are inputs. With `all_direct`, every gradient has its direct part, even if the part
    is zero. A node is faded if no path leads from the node to a result. If the reader of a tape's
    rows is unknown, all rows count as results.
    """
    chosen = tuple(range(len(trace.scans)) if scans is None else scans)
    values = flow(trace)
    parts, unknown = _gradients(trace, chosen, values)
    fed = frozenset(part.place for part in parts)
    quantities = QuantityNodes(trace, chosen, values, all_direct, fed)
    for number in chosen:
        scan = trace.scans[number]
        for tape in scan.held:
            quantities.add_tape(number, tape)
    uses = _uses(quantities)
    edges = dict.fromkeys([*quantities.parts, *uses, *_joined(quantities, parts)])
    results = set(_results(quantities))
    nodes = [
        replace(node, role=Role.RESULT) if number in results else node
        for number, node in enumerate(quantities.nodes)
    ]
    sources: dict[int, list[int]] = {}
    for source, target in edges:
        sources.setdefault(target, []).append(source)
    goals = _goals(quantities, results, unknown, parts)
    needed = find_reachable(goals, lambda node: sources.get(node, ()))
    faded = (n if number in needed else replace(n, faded=True) for number, n in enumerate(nodes))
    return Unrolling(tuple(faded), tuple(edges), uses, values)


def _gradients(
    trace: Trace, chosen: tuple[int, ...], values: Flow
) -> tuple[list[Contribution], set[tuple[int, int]]]:
    """Return the contributions between derivatives, and the tapes whose readers are unknown."""
    parts: list[Contribution] = []
    unknown: set[tuple[int, int]] = set()
    for later in chosen:
        for feed in trace.scans[later].feeds:
            if feed.scan in chosen and not is_read_by_steps(trace, feed, later):
                known = list(contributions(trace, feed, later, values))
                parts += known
                if not known:
                    unknown.add((feed.scan, feed.variable))
    for feed in trace.feeds:  # into the outputs, which are derivatives of rising order
        later_order = feed.into > trace.scans[feed.scan].order or len(trace.outputs) == 1
        if feed.scan in chosen and later_order:
            unknown.add((feed.scan, feed.variable))
    return parts, unknown


def _uses(quantities: QuantityNodes) -> dict[tuple[int, int], list[tuple[Value, Value]]]:
    """Return the edges within Scans, each with its pairs of a computed and a read value."""
    uses: dict[tuple[int, int], list[tuple[Value, Value]]] = {}
    for value, write in quantities.flow.writes.items():
        target = quantities.of.get(value)
        for read in write.sources if target is not None and value.scan in quantities.chosen else ():
            source = quantities.source(read)
            if source is not None and target is not None and source != target:
                uses.setdefault((source, target), []).append((value, read))
    return uses


def _joined(quantities: QuantityNodes, parts: Sequence[Contribution]) -> Iterator[tuple[int, int]]:
    """Yield the edges from outputs of derivatives to the gradients that accumulate them."""
    for part in parts:
        source = quantities.of.get(part.source)
        if isinstance(part.into, TapeTrace):
            target = quantities.acted_on.get((part.scan, part.into.gradient_of or "", part.index))
        else:
            target = quantities.of.get(Value(part.scan, part.into.name, -1, part.index))
        if source is not None and target is not None:
            yield source, target


def _results(quantities: QuantityNodes) -> Iterator[int]:
    """Yield the gradients that are outputs, or that other Scans accumulate."""
    for number in quantities.chosen:
        named = quantities.named(number)
        for tape in named.scan.held if not quantities.is_loop(number) else ():
            if named.is_passed_on(tape):
                yield from _last_nodes(quantities, number, tape, named.wanted_rows(tape))


def _goals(
    quantities: QuantityNodes,
    results: set[int],
    unknown: set[tuple[int, int]],
    parts: Sequence[Contribution],
) -> set[int]:
    """Return the results from which no edge leads to another gradient."""
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
    quantities: QuantityNodes, number: int, tape: TapeTrace, rows: Iterable[int]
) -> Iterator[int]:
    for row in [len(tape.final) - 1] if tape.is_total else rows:
        node = quantities.of.get(quantities.flow.latest(number, tape, row))
        if node is not None:
            yield node


def contributions(trace: Trace, feed: Feed, later: int, flow: Flow) -> Iterator[Contribution]:
    """Yield one contribution for each known row of a feed into Scan `later`."""
    part = trace.scans[feed.scan].tape(feed.variable)
    into = trace.scans[later].variable(Leaf("", None, feed.into))
    if part is None or part.axis is None or part.gradient_of is None:
        return
    if isinstance(into, TapeTrace | SequenceTrace) and into.axis is not None:
        for row, source, _ in feed.rows:
            if row is not None and row < len(into.axis.index) and source < len(part.final):
                value = flow.latest(feed.scan, part, source)
                yield Contribution(value, later, into, int(into.axis.index[row]))


def is_read_by_steps(trace: Trace, feed: Feed, later: int) -> bool:
    """Return whether the steps of Scan `later` read the feed as a sequence of known values."""
    into = trace.scans[later].variable(Leaf("", None, feed.into))
    if not isinstance(into, SequenceTrace) or into.is_outer_gradient:
        return False
    return trace.scans[later].parent is not None or into.taken is not None


def fed_places(trace: Trace) -> frozenset[tuple[int, int, int]]:
    """Return where gradients of one loop enter another loop; empty for a single loop."""
    if sum(scan.parent is None for scan in trace.scans) < 2:
        return frozenset()
    parts, _ = _gradients(trace, tuple(range(len(trace.scans))), flow(trace))
    return frozenset(part.place for part in parts)
