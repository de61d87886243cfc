"""The graph of the unrolled picture: a node for every quantity, and an edge for every use.

An edge leads from a value that a step reads to a value that the step computes. The value that is
read belongs to the same Scan or to a loop that the Scan differentiates. No edge leads to the direct
part of a gradient.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lab.notation import Leaf
from lab.records import find_reachable
from lab.traces.flow import Value
from lab.traces.scan_of import ScanOf
from lab.traces.trace import SequenceTrace, TapeTrace, Trace
from visual.pictures.unrolled.quantities import Lane, QuantityNodes
from visual.scene.theme import Role


class Unrolling(QuantityNodes):
    """The graph of the Scans with the indices `scans` in ``trace.scans`` (default: all).

    The first of `scans` is the loop; the others are derivatives of the loop, or further loops.
    Values of Scans that are not in `scans` are inputs. With `all_direct`, every gradient has a
    direct part, even a part of zero. A node is faded if no path leads from the node to a result. If
    the readers of a tape are unknown, all rows of the tape count as results.

    `edges` are pairs of node numbers. `uses` has the pairs of values of each edge: first the
    computed value, then the value that the computation reads.
    """

    def __init__(
        self, trace: Trace, scans: Sequence[int] | None = None, all_direct: bool = False
    ) -> None:
        chosen = tuple(range(len(trace.scans)) if scans is None else scans)
        super().__init__(trace, chosen, all_direct)
        self.uses: dict[tuple[int, int], list[tuple[Value, Value]]] = {}
        for value, write in self.flow.writes.items():
            target = self.of.get(value)
            for read in write.sources if target is not None and value.scan in chosen else ():
                if read not in self.of and (read.argument < 0 or read.scan not in chosen):
                    self._join([read], self._input(read))
                source = self.of.get(read)
                if source is not None and target is not None and source != target:
                    self.uses.setdefault((source, target), []).append((value, read))
        self.edges = tuple(dict.fromkeys([*self.parts, *self.uses]))
        results, numbered = set[int](), [*enumerate(self.nodes)]
        for of in (ScanOf(trace, number) for number in chosen if not self.is_loop(number)):
            for tape in filter(of.is_passed_on, of.scan.held):
                results |= {*self._last_nodes(of.number, tape, of.wanted_rows(tape))}
        seeds = {number for number, node in numbered if node.role is Role.SEED}
        sources: dict[int, list[int]] = {}
        for before, after in self.edges:
            sources.setdefault(after, []).append(before)
        goals = results | {*self._further_goals()} or seeds or range(len(numbered))
        needed = find_reachable(goals, lambda node: sources.get(node, ()))
        for number, node in numbered:
            role, faded = node.role, node.faded or number not in needed
            role = Role.RESULT if number in results else role
            self.nodes[number] = replace(node, role=role, faded=faded)

    def block(self, lane: Lane) -> int:
        """Return the index in `chosen` of the Scan of a lane, or 0 for an input."""
        return self.chosen.index(lane.scan) if lane.scan in self.chosen else 0

    def _further_goals(self) -> Iterator[int]:
        """Yield the nodes of tapes with unknown readers. Yield none if all Scans are loops."""
        trace, loops = self.trace, [*filter(self.is_loop, self.chosen)]
        unknown = set[tuple[int, int]]()
        for later in (trace.scans[number] for number in self.chosen):
            for feed in later.feeds:
                into = later.variable(Leaf("", None, feed.into))
                is_sequence = isinstance(into, SequenceTrace) and not into.is_outer_gradient
                is_known = later.parent is not None or any(row.is_summand for row in feed.rows)
                if not (is_sequence and is_known):
                    unknown.add((feed.scan, feed.variable))
        unknown |= {  # outputs are derivatives of ascending order
            (feed.scan, feed.variable)
            for feed in trace.feeds
            if feed.into > trace.scans[feed.scan].order or len(trace.outputs) == 1
        }
        for number in loops if len(loops) < len(self.chosen) else ():
            for tape in trace.scans[number].held:
                if (number, tape.argument) in unknown:
                    yield from self._last_nodes(number, tape, range(len(tape.final)))

    def _last_nodes(self, number: int, tape: TapeTrace, rows: Iterable[int]) -> Iterator[int]:
        """Yield the nodes of the final values in `rows` of a tape, or of the total of a tape."""
        rows = [len(tape.final) - 1] if tape.is_total else rows
        values = (self.flow.latest(number, tape, row) for row in rows)
        yield from (self.of[value] for value in values if value in self.of)
