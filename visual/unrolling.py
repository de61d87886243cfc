"""A loop and its derivatives as one graph: a node for every quantity, an edge for every use.

This is what the unrolled picture draws.  It is made from the dataflow of the run, in which
every write makes a new value.  Here the values that a slot collects by mere addition are one
node, the gradient, and what stood in the slot before is its direct part.  A direct part of
zero is left out, unless all are asked for, and one to which nothing is added is the gradient
itself, the seed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.expression import Call, Leaf
from lab.flow import Flow, Value, Write, flow, handed_on
from lab.trace import ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.names import (
    cell_key,
    direct_part,
    indexed,
    is_outer_gradient,
    is_share,
    quantity_name,
    tape_label,
    wanted_rows,
)
from visual.theme import Role


@dataclass(frozen=True)
class Place:
    """A row of the picture: a variable of a Scan, or the direct parts of a gradient.

    `again` counts the values that a slot holds one after another where they are not parts of
    one sum.
    """

    scan: int
    variable: str
    argument: int
    direct: bool = False
    again: int = 0


@dataclass(frozen=True, eq=False)
class Node:
    """A quantity: its name and value, and its role.

    It is ``variable[index]`` in time, or its gradient; `index` is None where no time is known.
    `step` is the step that made it, None for what was given.  A `lasting` one is the same at
    all steps: a parameter, or its gradient.  A `faded` one is not needed for the result.
    """

    place: Place
    variable: str
    index: int | None
    label: str
    value: np.ndarray
    role: Role
    key: str
    step: int | None = None
    lasting: bool = False
    faded: bool = False


@dataclass(frozen=True, eq=False)
class Unrolling:
    """All nodes, and the edges between them: pairs of indices, from what is read to what is made."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]


def unrolling(
    trace: Trace, scans: Sequence[int] | None = None, all_direct: bool = False
) -> Unrolling:
    """The graph of the Scans with the numbers `scans` (all unless given), the first as the loop.

    The others are its derivatives; what they read of Scans that are not shown are inputs.
    """
    chosen = range(len(trace.scans)) if scans is None else scans
    builder = _Builder(trace, tuple(chosen), all_direct)
    for number in chosen:
        scan = trace.scans[number]
        for tape in (*scan.tapes, *scan.outputs):
            builder.add_tape(number, tape)
    builder.add_edges()
    return builder.finish()


class _Builder:
    """The graph as far as it is made: nodes, which values they stand for, and edges."""

    def __init__(self, trace: Trace, chosen: tuple[int, ...], all_direct: bool) -> None:
        self.trace, self.chosen, self.all_direct = trace, chosen, all_direct
        self.flow: Flow = flow(trace)
        self.nodes: list[Node] = []
        self.of: dict[Value, int] = {}
        self.direct: dict[tuple[int, str, int], int] = {}  # by Scan, variable and index
        self.edges: dict[tuple[int, int], None] = {}
        self.read = {  # by other slots than their own
            source
            for write in self.flow.writes.values()
            for source in write.sources
            if source != write.old
        }

    # nodes

    def add_tape(self, number: int, tape: TapeTrace) -> None:
        """Nodes for all that a tape holds in the run."""
        if tape.is_total:
            self._total(number, tape)
            return
        loop = number == self.chosen[0]
        reached = self._reached(number, tape) if loop else set()
        for row in range(len(tape.initial)):
            role = Role.SEED if row in reached else Role.INTERMEDIATE
            self._slot(number, tape, row, role, Role.INPUT if loop else Role.SEED)

    def _slot(self, number: int, tape: TapeTrace, row: int, role: Role, given: Role) -> None:
        """Nodes for all that one slot holds; its initial content has the role `given`."""
        first, *written = self.flow.chain(number, tape, row)
        initial = tape.initial[row]
        changes = (self.flow.writes[value] for value in written)
        change = next((write for write in changes if not passes_on(write)), None)
        is_sum = change is not None and adds_old(change)
        acted_on = self.all_direct and tape.gradient_of is not None and tape.axis is not None
        if tape.unwritten[row]:
            pass
        elif acted_on or (is_sum and (first in self.read or np.any(initial != 0))):
            self._direct(number, tape, row, [first] if is_sum else [])
            if not is_sum:
                self._join([first], self._node(number, tape, row, role, initial))
                self.edges[len(self.nodes) - 2, len(self.nodes) - 1] = None
        elif not is_sum and (first in self.read or not written or np.any(initial != 0)):
            start = given if role is Role.INTERMEDIATE else role
            node = self._node(number, tape, row, start, initial)
            self._join([first], replace(node, faded=start is Role.SEED and not np.any(initial)))
            self._acted_on(number, tape, node)
        self._versions(number, tape, row, role, written)

    def _versions(
        self, number: int, tape: TapeTrace, row: int, role: Role, written: list[Value]
    ) -> None:
        """One node for the values that are sums of one another, a new one after a break."""
        again = 0
        for value in written:
            write = self.flow.writes[value]
            before = self.of.get(write.old)
            held = before is not None and not self.nodes[before].place.direct
            made = self._made(tape, write)
            if before is not None and (passes_on(write) or (held and adds_old(write))):
                self.of[value] = before
                step = self.nodes[before].step if passes_on(write) else write.step
                self.nodes[before] = replace(self.nodes[before], value=made, step=step)
                continue
            again += held
            node = self._node(number, tape, row, role, made, again)
            self._join([value], replace(node, step=write.step))

    def _total(self, number: int, tape: TapeTrace) -> None:
        """One node for the gradient of a parameter, which is summed up over the steps."""
        row = len(tape.final) - 1
        node = self._node(number, tape, row, Role.INTERMEDIATE, tape.final[row])
        node = replace(node, index=None, lasting=True)
        self._join([v for r in range(row + 1) for v in self.flow.chain(number, tape, r)], node)

    def _node(
        self,
        number: int,
        tape: TapeTrace,
        row: int,
        role: Role,
        value: np.ndarray,
        again: int = 0,
    ) -> Node:
        index = int(tape.axis.index[row]) if tape.axis is not None else None
        label = tape_label(self.trace, self.trace.scans[number], tape, row)
        if is_share(self.trace, number, tape):
            label = direct_part(label)
        key = cell_key(self.trace, number, tape.name, index, row)
        place = Place(number, tape.name, tape.argument, again=again)
        variable = tape.axis.variable if tape.axis is not None else ""
        return Node(place, variable, index, label or f"{tape.name} {row}", value, role, key)

    def _direct(self, number: int, tape: TapeTrace, row: int, values: list[Value]) -> None:
        """A node for what stood in a slot before the loop: the cost acts on it directly."""
        start = tape.axis is not None and row in wanted_rows(self.trace, number, tape)
        role = Role.INPUT if start else Role.SEED
        node = self._node(number, tape, row, role, tape.initial[row])
        place = replace(node.place, direct=True)
        faded = not np.any(tape.initial[row] != 0)
        self._join(values, replace(node, place=place, label=direct_part(node.label), faded=faded))
        self._acted_on(number, tape, node)

    def _acted_on(self, number: int, tape: TapeTrace, node: Node) -> None:
        """Note that the newest node is where other gradients of the same quantity come in."""
        if tape.gradient_of is not None and node.index is not None:
            self.direct[number, tape.gradient_of, node.index] = len(self.nodes) - 1

    def _join(self, values: list[Value], node: Node) -> None:
        """Add a node that stands for `values`."""
        for value in values:
            self.of[value] = len(self.nodes)
        self.nodes.append(node)

    def _made(self, tape: TapeTrace, write: Write) -> np.ndarray:
        tap = write.formula.target.tap
        return next(a.values[write.step] for a in tape.writes if a.tap == tap)

    def _reached(self, number: int, tape: TapeTrace) -> set[int]:
        """The rows of a tape of the loop on which the cost acts, or may act."""
        if self.all_direct and tape.tape.reads:
            return set(range(tape.tape.origin, len(tape.initial)))
        return reached_rows(self.trace, number, tape)

    # edges

    def add_edges(self) -> None:
        """From every value that a step reads to what it makes of it, and between the Scans."""
        for value, write in self.flow.writes.items():
            if value.scan not in self.chosen or value not in self.of:
                continue
            for source in write.sources:
                self._edge(self._source(source, write), self.of[value])
        for number in self.chosen[1:]:
            for tape in self.trace.scans[number].outputs:
                self._contributions(number, tape)

    def _edge(self, source: int | None, target: int) -> None:
        if source is not None and source != target:
            self.edges[source, target] = None

    def _source(self, value: Value, write: Write) -> int | None:
        """The node of a value; what was given from outside gets one when it is first read."""
        if value not in self.of and (value.argument < 0 or value.scan not in self.chosen):
            self._join([value], self._input(value))
        return self.of.get(value)

    def _input(self, value: Value) -> Node:
        """A node for a value that none of the chosen Scans has made."""
        scan = self.trace.scans[value.scan]
        place = Place(value.scan, value.variable, value.argument)
        if value.argument >= 0:
            tape = next(t for t in (*scan.tapes, *scan.outputs) if t.argument == value.argument)
            return self._node(value.scan, tape, value.row, Role.INPUT, tape.final[value.row])
        for parameter in scan.parameters:
            if parameter.name == value.variable:
                key = cell_key(self.trace, value.scan, value.variable, None, 0)
                label = value.variable
                node = Node(place, "", None, label, parameter.value, Role.INPUT, key)
                return replace(node, lasting=True)
        sequence, step = _reading(scan, value)
        index = value.row
        key = cell_key(self.trace, value.scan, value.variable, index, step)
        role, label = Role.INPUT, indexed(value.variable, index)
        if is_outer_gradient(self.trace, scan, sequence):  # the cost acts on an output
            role, label = Role.SEED, quantity_name(self.trace, scan, sequence.name, index)
        variable = sequence.axis.variable
        return Node(place, variable, index, label, sequence.values[step], role, key)

    def _contributions(self, number: int, tape: TapeTrace) -> None:
        """Edges from what a derivative puts out to the direct parts that it goes into."""
        scan = self.trace.scans[number]
        if not tape.used or tape.axis is None or scan.parent is None:
            return
        parent = self.trace.scans[scan.parent]
        for sequence in parent.sequences:
            if sequence.name != tape.gradient_of:
                continue
            origins = handed_on(self.trace, scan.parent, sequence, self.flow.versions)
            for row, index in enumerate(tape.axis.index.tolist()):
                made = self.of.get(self.flow.latest(number, tape, row))
                origin = origins.get(index)
                for later in self.chosen if origin is not None and made is not None else ():
                    other = self.trace.scans[later]
                    if other.parent == origin.scan and other.order == scan.order:
                        target = self.direct.get((later, origin.variable, index))
                        if target is not None:
                            self.edges[made, target] = None

    # what it is for

    def finish(self) -> Unrolling:
        """The graph: results have their role, and what leads to none of them is washed out."""
        results = {node for number in self.chosen[1:] for node in self._results(number)}
        nodes = [
            replace(node, role=Role.RESULT) if number in results else node
            for number, node in enumerate(self.nodes)
        ]
        if not results:  # a loop alone leads to its outputs
            results = {i for i, node in enumerate(nodes) if node.role is Role.SEED}
        needed = self._leading_to(results or set(range(len(nodes))))
        washed = (
            replace(node, faded=node.faded or number not in needed)
            for number, node in enumerate(nodes)
        )
        return Unrolling(tuple(washed), tuple(self.edges))

    def _results(self, number: int) -> Iterator[int]:
        """The nodes of a derivative that are asked for, or needed by what is not shown."""
        scan = self.trace.scans[number]
        sending = {
            (self.nodes[a].place.scan, self.nodes[a].place.argument)
            for a, b in self.edges
            if self.nodes[a].place.scan != self.nodes[b].place.scan
        }
        for tape in (*scan.tapes, *scan.outputs):
            if tape.asked or (tape.used and (number, tape.argument) not in sending):
                wanted = wanted_rows(self.trace, number, tape)
                rows = [len(tape.final) - 1] if tape.is_total else wanted
                found = (self.of.get(self.flow.latest(number, tape, row)) for row in rows)
                yield from (node for node in found if node is not None)

    def _leading_to(self, results: set[int]) -> set[int]:
        """`results` and all nodes from which edges lead to them."""
        sources: dict[int, list[int]] = {}
        for source, target in self.edges:
            sources.setdefault(target, []).append(source)
        found, waiting = set(results), list(results)
        while waiting:
            new = set(sources.get(waiting.pop(), ())) - found
            found |= new
            waiting += new
        return found


def passes_on(write: Write) -> bool:
    """Whether a write leaves in its slot what stood there."""
    return write.sources == (write.old,) and isinstance(write.formula.expression, Leaf)


def adds_old(write: Write) -> bool:
    """Whether a write keeps what stood in its slot, as it is or as a term of a sum."""
    target, expression = write.formula.target, write.formula.expression
    added = isinstance(expression, Call) and expression.name == "Add"
    terms = expression.arguments if isinstance(expression, Call) and added else (expression,)
    return any(
        isinstance(term, Leaf) and (term.argument, term.tap) == (target.argument, target.tap)
        for term in terms
    )


def reached_rows(trace: Trace, number: int, tape: TapeTrace) -> set[int]:
    """The rows of a tape on which the cost acts directly: their gradient does not begin at 0."""
    scan = trace.scans[number]
    found: set[int] = set()
    for other in trace.scans:
        if other.parent != number or other.order != scan.order + 1 or tape.axis is None:
            continue
        rows = {index: row for row, index in enumerate(tape.axis.index.tolist())}
        for gradient in other.tapes:
            if gradient.gradient_of == tape.name and gradient.axis is not None:
                found |= {rows[i] for i in _nonzero(gradient.axis.index, gradient.initial)}
        for sequence in other.sequences if not tape.tape.reads else ():
            if sequence.axis.variable == tape.name and sequence.name != tape.name:
                found |= {rows[i] for i in _nonzero(sequence.axis.index, sequence.values)}
    return found


def _nonzero(index: np.ndarray, values: np.ndarray) -> list[int]:
    """Those of `index` at which there is something else than zero."""
    different = np.any(values.reshape(len(values), -1) != 0, axis=1) if values.size else []
    return [int(i) for i, found in zip(index, different, strict=False) if found]


def _reading(scan: ScanTrace, value: Value) -> tuple[SequenceTrace, int]:
    """The sequence that brings a value, and the step that reads it."""
    for sequence in scan.sequences:
        steps = np.flatnonzero(sequence.axis.index == value.row)
        if sequence.name == value.variable and len(steps):
            return sequence, int(steps[0])
    raise LookupError(value)
