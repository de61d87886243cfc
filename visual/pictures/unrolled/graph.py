"""The graph of the unrolled picture: a node for every quantity, and an edge for every use.

A quantity is a group of values of a run. Every write creates a new value. All partial sums in a
slot are the same quantity, a gradient. The initial value of the slot is the direct part of the
gradient. A direct part of zero is omitted, unless another Scan computes the part or `all_direct` is
set. If no step adds to a direct part, the direct part is the total gradient, a seed.

An edge leads from a value that a step reads to a value that the step computes. The value that is
read belongs to the same Scan or to a loop that the Scan differentiates. No edge leads to the direct
part of a gradient.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.equations.events.events import events
from lab.equations.quantities import index_of
from lab.notation import Leaf, integers
from lab.records import find_reachable
from lab.traces.flow import SlotWrite, Value, flow
from lab.traces.scan_of import ScanOf
from lab.traces.trace import SequenceTrace, TapeTrace, Trace
from visual.layout.names import NamedScan
from visual.layout.table import Cell
from visual.scene.theme import Role


@dataclass(frozen=True)
class Lane:
    """A lane of the picture: a variable of a Scan, or the direct parts of a gradient.

    `name` is the label of the lane. If a slot contains several quantities, one after another,
    `again` is the number of the quantity, from 0. A lane without a `variable` contains values that
    belong to all steps.
    """

    scan: int
    variable: str
    argument: int
    name: str
    direct: bool = False
    again: int = 0


@dataclass(frozen=True, eq=False)
class QuantityNode(Cell):
    """The cell of the quantity ``variable[index]`` or of its gradient.

    `index` is None if the time is unknown, and `row` is the row of the array. `step` is the step
    that computed the value, or None for an input. A `lasting` quantity belongs to all steps, such
    as a parameter or its gradient. A `faded` quantity does not affect the result.
    """

    value: np.ndarray
    lane: Lane
    variable: str
    index: int | None
    row: int
    step: int | None = None
    lasting: bool = False


class Unrolling:
    """The graph of the Scans with the indices `scans` in ``trace.scans`` (default: all).

    The first of `scans` is the loop; the others are derivatives of the loop, or further loops.
    Values of Scans that are not in `scans` are inputs. With `all_direct`, every gradient has a
    direct part, even a part of zero. A node is faded if no path leads from the node to a result. If
    the readers of a tape are unknown, all rows of the tape count as results.

    `of` maps a value to the number of its node. `parts` are pairs of node numbers: a direct part,
    and its total gradient. `edges` are pairs of node numbers. `uses` maps each edge to pairs of
    values: the computed value, and the value that the computation reads.
    """

    def __init__(
        self, trace: Trace, scans: Sequence[int] | None = None, all_direct: bool = False
    ) -> None:
        chosen = tuple(range(len(trace.scans)) if scans is None else scans)
        self.trace, self.chosen, self.all_direct = trace, chosen, all_direct
        self.flow = flow(trace)
        self.nodes: list[QuantityNode] = []
        self.of: dict[Value, int] = {}
        self.parts: list[tuple[int, int]] = []
        pairs = ((read, w.old) for w in self.flow.writes.values() for read in w.sources)
        self.read = {read for read, old in pairs if read != old}  # values that other slots read
        for named in (NamedScan(trace, number) for number in chosen):
            is_loop = self.is_loop(named.number)
            for tape in named.scan.buffers:
                if tape.is_total:  # a single node
                    row = len(tape.final) - 1
                    chains = (self.flow.chain(named.number, tape, n) for n in range(row + 1))
                    node = slot_node(named, tape, row, Role.INTERMEDIATE)
                    node = replace(node, index=None, value=tape.final[row], lasting=True)
                    self._join([value for chain in chains for value in chain], node)
                    continue
                reached = reached_rows(named, tape) if is_loop else set()
                if is_loop and all_direct and tape.tape.reads:
                    reached = {*range(tape.tape.origin, len(tape.initial))}
                for row in range(len(tape.initial)):
                    role = Role.SEED if row in reached else Role.INTERMEDIATE
                    self._add_slot(named, tape, row, role)
        self._add_edges()

    def _add_edges(self) -> None:
        """Add the edges, then set the roles of nodes from the edges."""
        trace, chosen = self.trace, self.chosen
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
        results, numbered, run = set[int](), [*enumerate(self.nodes)], events(trace)
        for scan in (number for number in chosen if not self.is_loop(number)):
            for tape in trace.scans[scan].buffers:
                results.update(self._last_nodes(scan, tape, run.results(scan, tape)))
        seeds = {number for number, node in numbered if node.role is Role.SEED}
        sources: dict[int, list[int]] = {}
        for before, after in self.edges:
            sources.setdefault(after, []).append(before)
        goals = results | {*self._further_goals()} or seeds or range(len(numbered))
        needed = find_reachable(goals, lambda node: sources.get(node, ()))
        for number, node in numbered:
            role = Role.RESULT if number in results else node.role
            self.nodes[number] = replace(node, role=role, faded=node.faded or number not in needed)

    def is_loop(self, number: int) -> bool:
        """Return whether the picture shows a Scan as a loop, not as a derivative."""
        return self.trace.scans[number].parent not in self.chosen

    def _add_slot(self, named: NamedScan, tape: TapeTrace, row: int, role: Role) -> None:
        """Add nodes with a `role` for all values of a slot. The initial value is an input or seed.

        A node represents all partial sums of the same sum.
        """
        first, *written = self.flow.chain(named.number, tape, row)
        changes = (self.flow.writes[value] for value in written)
        change = next((write for write in changes if not is_copy(write)), None)
        is_sum = change is not None and change.formula.adds_old
        is_zero = not is_fed(named, tape.argument, row) and not np.any(tape.initial[row])
        has_part = self.all_direct and tape.gradient_of is not None and tape.axis is not None
        has_part |= is_sum and (first in self.read or not is_zero)
        is_early = row in named.scan.arrived(tape)  # written by steps that were not recorded
        if has_part and not tape.unwritten[row]:
            # As in the lesson, the direct part of an input has the color of the input.
            is_input = self.all_direct and tape.axis is not None and row in named.wanted_rows(tape)
            part_role = Role.INPUT if is_input else Role.SEED
            part = replace(slot_node(named, tape, row, part_role, direct=True), faded=is_zero)
            if is_early:
                part = replace(part, role=Role.INTERMEDIATE, name="from before")
            self._join([first] * is_sum, part)
        is_start = has_part or first in self.read or not is_zero or not written
        if not is_sum and is_start and not tape.unwritten[row]:
            start = role
            if has_part:
                self.parts.append((len(self.nodes) - 1, len(self.nodes)))
            elif role is Role.INTERMEDIATE and not is_early:
                start = Role.INPUT if self.is_loop(named.number) else Role.SEED
            faded = is_zero and start is Role.SEED and not has_part
            self._join([first], replace(slot_node(named, tape, row, start), faded=faded))
        again = 0
        for value in written:
            write = self.flow.writes[value]
            old = self.of.get(write.old)
            is_held = old is not None and not self.nodes[old].lane.direct
            tap = write.formula.target.tap
            content = next(a.values[write.step] for a in tape.writes if a.tap == tap)
            if old is not None and (is_copy(write) or (is_held and write.formula.adds_old)):
                self.of[value] = old
                step = self.nodes[old].step if is_copy(write) else write.step
                self.nodes[old] = replace(self.nodes[old], value=content, step=step)
                continue
            again += is_held
            node = slot_node(named, tape, row, role, again=again)
            self._join([value], replace(node, value=content, step=write.step))

    def _join(self, values: list[Value], node: QuantityNode) -> None:
        """Add a node that represents `values`."""
        self.of |= dict.fromkeys(values, len(self.nodes))
        self.nodes.append(node)

    def _input(self, value: Value) -> QuantityNode:
        """Return a node for a value that the chosen Scans do not compute."""
        named = NamedScan(self.trace, value.scan)
        tape = named.scan.tape(value.argument)
        if tape is not None:
            node = slot_node(named, tape, value.row, Role.INPUT)
            return replace(node, value=tape.final[value.row])
        name, index = value.variable, value.row
        lane = Lane(value.scan, name, value.argument, name)
        for parameter in (each for each in named.scan.parameters if each.name == name):
            key, known = named.cell_key(name, None, 0), (Role.INPUT, name, parameter.value, lane)
            return QuantityNode(*known, "", None, 0, key=key, lasting=True)
        sequence, step = next(  # the first step that reads the value
            (each, int(step))
            for each in named.scan.sequences
            if each.name == name
            for step in np.flatnonzero(each.axis.index == index)
        )
        content, variable = sequence.values[step], sequence.axis.variable
        lane = replace(lane, name=named.variable_label(sequence))
        label, key = named.quantity_name(name, index), named.cell_key(name, index, step)
        node = QuantityNode(Role.INPUT, label, content, lane, variable, index, index, key=key)
        if not sequence.is_outer_gradient:
            return node
        is_zero = not is_fed(named, sequence.argument, step) and not np.any(content)
        return replace(node, role=Role.SEED, faded=is_zero)

    def block(self, lane: Lane) -> int:
        """Return the index in `chosen` of the Scan of a lane, or 0 for an input."""
        return self.chosen.index(lane.scan) if lane.scan in self.chosen else 0

    def _further_goals(self) -> Iterator[int]:
        """Yield the nodes of tapes with unknown readers. Yield no node if all Scans are loops."""
        trace, loops = self.trace, [*filter(self.is_loop, self.chosen)]
        unknown = set[tuple[int, int]]()
        for later in (trace.scans[number] for number in self.chosen):
            for feed in later.feeds:
                is_known = later.parent is not None or any(row.is_summand for row in feed.rows)
                if not (later.is_reading(feed.into) and is_known):
                    unknown.add((feed.scan, feed.argument))
        unknown |= {  # outputs are derivatives of ascending order
            (feed.scan, feed.argument)
            for feed in trace.feeds
            if feed.into > trace.scans[feed.scan].order or len(trace.outputs) == 1
        }
        for number in loops if len(loops) < len(self.chosen) else ():
            for tape in trace.scans[number].buffers:
                if (number, tape.argument) in unknown:
                    yield from self._last_nodes(number, tape, range(len(tape.final)))

    def _last_nodes(self, number: int, tape: TapeTrace, rows: Iterable[int]) -> Iterator[int]:
        """Yield the nodes of the final values in `rows` of a tape."""
        values = (self.flow.latest(number, tape, row) for row in rows)
        yield from (self.of[value] for value in values if value in self.of)


def slot_node(
    named: NamedScan, tape: TapeTrace, row: int, role: Role, direct: bool = False, again: int = 0
) -> QuantityNode:
    """Return a node for the initial value of a slot, labeled as a direct part if `direct`."""
    index = index_of(tape, row)
    label = named.direct_label(tape, row) if direct else named.tape_label(tape, row)
    if index is None and not tape.is_total:
        label = f"{label} pos {integers(tape.position(row))}"
    name = named.direct_label(tape, None) if direct else named.variable_label(tape)
    name += ", again" * bool(again)
    lane = Lane(named.number, tape.name, tape.argument, name, direct, again)
    variable = tape.axis.variable if tape.axis is not None else ""
    value, key = tape.initial[row], named.row_key(tape, row)
    return QuantityNode(role, label, value, lane, variable, index, row, key=key)


def is_copy(write: SlotWrite) -> bool:
    """Return whether a write only copies the old value of its slot."""
    return write.sources == (write.old,) and isinstance(write.formula.expression, Leaf)


def is_fed(of: ScanOf, argument: int, row: int) -> bool:
    """Return whether a derivative reads a row of an argument from another derivative."""
    scans = [origin.scan for origin in of.trace.origins[of.number].get((argument, row), ())]
    return of.parent is not None and any(of.trace.scans[n].parent is not None for n in scans)


def reached_rows(of: ScanOf, tape: TapeTrace) -> set[int]:
    """Return the rows of a tape that have a seed, a nonzero initial value of their gradient.

    An initial value that the derivative of another loop computes is not a seed.
    """
    reached: set[int] = set()
    for later in ScanOf.each(of.trace):
        scan, starts = later.scan, list[tuple[TapeTrace | SequenceTrace, np.ndarray]]()
        if scan.parent != of.number or scan.order != of.scan.order + 1 or tape.axis is None:
            continue
        starts += [(each, each.initial) for each in scan.tapes if each.gradient_of == tape.name]
        for sequence in (each for each in scan.sequences if each.is_outer_gradient):
            if sequence.source and sequence.source.argument == tape.argument:
                starts.append((sequence, sequence.values))
        for variable, values in starts:
            skipped = scan.arrived(variable) if isinstance(variable, TapeTrace) else ()
            entries = variable.axis.index.tolist() if variable.axis is not None else ()
            for row, (entry, value) in enumerate(zip(entries, values, strict=False)):
                is_seed = of.parent is not None or not is_fed(later, variable.argument, row)
                if row not in skipped and np.any(value) and is_seed:
                    reached.add(tape.axis.rows[entry])
    return reached
