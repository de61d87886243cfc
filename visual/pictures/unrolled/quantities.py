"""The quantities of a run: the values of a trace, grouped into boxes of a picture.

Every write creates a new value. All partial sums in a slot are the same quantity, a gradient; the
initial value of the slot is the direct part of the gradient. A direct part of zero is omitted,
unless another Scan computes the part or `all_direct` is set. If no step adds to a direct part, the
direct part is the total gradient, a seed.
"""

from dataclasses import dataclass, replace

import numpy as np

from lab.equations.quantities import index_of
from lab.notation import Leaf, integers
from lab.traces.flow import Flow, SlotWrite, Value, adds_old
from lab.traces.scan_of import ScanOf
from lab.traces.trace import ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.layout.names import NamedScan
from visual.scene.theme import Role


@dataclass(frozen=True)
class LanePlace:
    """A lane of the picture: a variable of a Scan, or the direct parts of a gradient.

    `name` is the label of the lane. If a slot contains several quantities, one after another,
    `again` is the number of the quantity, from 0.
    """

    scan: int
    variable: str
    argument: int
    name: str
    direct: bool = False
    again: int = 0


@dataclass(frozen=True, eq=False)
class QuantityNode:
    """The quantity ``variable[index]`` or its gradient, with its name, its value, and its role.

    `index` is None if the time is unknown, and `row` is the row of the array. `step` is the step
    that computed the value, or None for an input. A `lasting` quantity belongs to all steps, such
    as a parameter or its gradient. A `faded` quantity does not affect the result.
    """

    place: LanePlace
    variable: str
    index: int | None
    row: int
    label: str
    value: np.ndarray
    role: Role
    key: str
    step: int | None = None
    lasting: bool = False
    faded: bool = False


class QuantityNodes:
    """A list of nodes, to which `add_tape` adds the nodes of a tape.

    `of` maps a value to the number of its node. `parts` are pairs of the number of a direct part
    and the number of its total gradient.
    """

    def __init__(
        self,
        trace: Trace,
        chosen: tuple[int, ...],
        flow: Flow,
        all_direct: bool,
    ) -> None:
        self.trace, self.chosen, self.flow, self.all_direct = trace, chosen, flow, all_direct
        self.fed = fed_rows(trace)
        self.nodes: list[QuantityNode] = []
        self.of: dict[Value, int] = {}
        self.parts: list[tuple[int, int]] = []
        self.wanted: set[int] = set()  # rows of the current tape that outputs contain
        self.read = {  # the values that other slots read
            source
            for write in flow.writes.values()
            for source in write.sources
            if source != write.old
        }

    def named(self, number: int) -> NamedScan:
        """Return a Scan of the trace with its names and keys."""
        return NamedScan(self.trace, number)

    def is_loop(self, number: int) -> bool:
        """Return whether the picture shows a Scan as a loop, not as a derivative."""
        return self.trace.scans[number].parent not in self.chosen

    def add_tape(self, number: int, tape: TapeTrace) -> None:
        """Add nodes for all values of a tape."""
        if tape.is_total:
            self._total(number, tape)
            return
        loop = self.is_loop(number)
        reached = self._reached(number, tape) if loop else set()
        self.wanted = self.named(number).wanted_rows(tape) if tape.axis is not None else set()
        arrived = self.trace.scans[number].arrived(tape)
        for row in range(len(tape.initial)):
            role = Role.SEED if row in reached else Role.INTERMEDIATE
            given = Role.INTERMEDIATE if row in arrived else Role.SEED
            self._slot(number, tape, row, role, Role.INPUT if loop else given)

    def _slot(self, number: int, tape: TapeTrace, row: int, role: Role, given: Role) -> None:
        """Add nodes with a `role` for all values of a slot; the initial value has role `given`."""
        first, *written = self.flow.chain(number, tape, row)
        initial = tape.initial[row]
        changes = (self.flow.writes[value] for value in written)
        change = next((write for write in changes if not passes_on(write)), None)
        is_sum = change is not None and adds_old(change.formula)
        acted_on = self.all_direct and tape.gradient_of is not None and tape.axis is not None
        something = first in self.read or self._is_something(number, tape, row)
        if tape.unwritten[row]:
            pass
        elif acted_on or (is_sum and something):
            self._direct(number, tape, row, [first] if is_sum else [])
            if not is_sum:
                self._join([first], self._node(number, tape, row, role, initial))
                self.parts.append((len(self.nodes) - 2, len(self.nodes) - 1))
        elif not is_sum and (something or not written):
            start = given if role is Role.INTERMEDIATE else role
            zero = start is Role.SEED and not self._is_something(number, tape, row)
            node = self._node(number, tape, row, start, initial, faded=zero)
            self._join([first], node)
        self._versions(number, tape, row, role, written)

    def _is_something(self, number: int, tape: TapeTrace, row: int) -> bool:
        """Return whether the initial value of a slot is nonzero, or computed by another Scan."""
        return (number, tape.argument, row) in self.fed or bool(np.any(tape.initial[row] != 0))

    def _versions(
        self, number: int, tape: TapeTrace, row: int, role: Role, written: list[Value]
    ) -> None:
        """Add a node for each group of values that accumulate into the same sum."""
        again = 0
        for value in written:
            write = self.flow.writes[value]
            before = self.of.get(write.old)
            held = before is not None and not self.nodes[before].place.direct
            tap = write.formula.target.tap
            content = next(a.values[write.step] for a in tape.writes if a.tap == tap)
            if before is not None and (passes_on(write) or (held and adds_old(write.formula))):
                self.of[value] = before
                step = self.nodes[before].step if passes_on(write) else write.step
                self.nodes[before] = replace(self.nodes[before], value=content, step=step)
                continue
            again += held
            node = self._node(number, tape, row, role, content, again=again, step=write.step)
            self._join([value], node)

    def _total(self, number: int, tape: TapeTrace) -> None:
        """Add a node for the gradient of a parameter, accumulated over the steps."""
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
        *,
        direct: bool = False,
        again: int = 0,
        step: int | None = None,
        faded: bool = False,
    ) -> QuantityNode:
        index = index_of(tape, row)
        named = self.named(number)
        label = named.direct_label(tape, row) if direct else named.tape_label(tape, row)
        if index is None and not tape.is_total:
            label = f"{label} pos {integers(tape.position(row))}"
        key = named.cell_key(tape.name, index, row)
        name = named.direct_label(tape, None) if direct else named.row_name(tape)
        name += ", again" * bool(again)
        place = LanePlace(number, tape.name, tape.argument, name, direct, again)
        variable = tape.axis.variable if tape.axis is not None else ""
        return QuantityNode(place, variable, index, row, label, value, role, key, step, faded=faded)

    def _direct(self, number: int, tape: TapeTrace, row: int, values: list[Value]) -> None:
        """Add a node for the initial value of a slot, the direct contribution of the cost."""
        # With all direct parts, as in the lesson, the part of an input is blue like the input.
        role = Role.INPUT if self.all_direct and row in self.wanted else Role.SEED
        zero = not self._is_something(number, tape, row)
        node = self._node(number, tape, row, role, tape.initial[row], direct=True, faded=zero)
        if row in self.trace.scans[number].arrived(tape):  # written by steps that were not recorded
            node = replace(node, role=Role.INTERMEDIATE, label="from before")
        self._join(values, node)

    def _join(self, values: list[Value], node: QuantityNode) -> None:
        """Add a node that represents `values`."""
        for value in values:
            self.of[value] = len(self.nodes)
        self.nodes.append(node)

    def _reached(self, number: int, tape: TapeTrace) -> set[int]:
        """Return the rows of a tape of a loop with a direct gradient, which can be zero."""
        if self.all_direct and tape.tape.reads:
            return set(range(tape.tape.origin, len(tape.initial)))
        return reached_rows(self.named(number), tape)

    def source(self, value: Value) -> int | None:
        """Return the node of a value; add a node for an input at its first read."""
        if value not in self.of and (value.argument < 0 or value.scan not in self.chosen):
            self._join([value], self._input(value))
        return self.of.get(value)

    def _input(self, value: Value) -> QuantityNode:
        """Return a node for a value that the chosen Scans do not compute."""
        named = self.named(value.scan)
        scan = named.scan
        if value.argument >= 0:
            tape = scan.tape(value.argument)
            assert tape is not None, f"{value}: a value with an argument is in a slot of a tape"
            return self._node(value.scan, tape, value.row, Role.INPUT, tape.final[value.row])
        name, index = value.variable, value.row
        place = LanePlace(value.scan, name, value.argument, name)
        for parameter in scan.parameters:
            if parameter.name == name:
                key = named.cell_key(name, None, 0)
                node = QuantityNode(place, "", None, 0, name, parameter.value, Role.INPUT, key)
                return replace(node, lasting=True)
        sequence, step = _reading(scan, value)
        content, variable = sequence.values[step], sequence.axis.variable
        place = replace(place, name=named.row_name(sequence))
        label, key = named.quantity_name(name, index), named.cell_key(name, index, step)
        node = QuantityNode(place, variable, index, index, label, content, Role.INPUT, key)
        if not sequence.is_outer_gradient:
            return node
        is_fed = (value.scan, sequence.argument, step) in self.fed
        return replace(node, role=Role.SEED, faded=not (is_fed or np.any(content != 0)))


def passes_on(write: SlotWrite) -> bool:
    """Return whether a write only copies the old value of its slot."""
    return write.sources == (write.old,) and isinstance(write.formula.expression, Leaf)


def fed_rows(trace: Trace) -> frozenset[tuple[int, int, int]]:
    """Return the Scan, the argument, and the row of each input that another derivative computes."""
    return frozenset(
        (number, feed.into, row)
        for number, scan in enumerate(trace.scans)
        for feed in scan.feeds
        if scan.parent is not None and trace.scans[feed.scan].parent is not None
        for row, _, _ in feed.rows
        if row is not None
    )


def reached_rows(of: ScanOf, tape: TapeTrace) -> set[int]:
    """Return the rows of a tape that have a seed: a nonzero initial value of their gradient.

    A gradient that comes from the derivative of another loop is no seed.
    """
    fed = fed_rows(of.trace) if of.parent is None else frozenset()
    reached: set[int] = set()
    for later, other in enumerate(of.trace.scans):
        if other.parent != of.number or other.order != of.scan.order + 1 or tape.axis is None:
            continue
        starts: list[tuple[int, np.ndarray, np.ndarray]] = []
        for gradient in other.tapes:
            if gradient.gradient_of == tape.name and gradient.axis is not None:
                initial = gradient.initial.copy()
                initial[sorted(other.arrived(gradient))] = 0
                starts.append((gradient.argument, gradient.axis.index, initial))
        for sequence in other.sequences:
            source = sequence.source
            if sequence.is_outer_gradient and source and source.argument == tape.argument:
                starts.append((sequence.argument, sequence.axis.index, sequence.values))
        for argument, index, values in starts:
            for row, (entry, value) in enumerate(zip(index.tolist(), values, strict=False)):
                if np.any(value) and (later, argument, row) not in fed:
                    reached.add(tape.axis.rows[entry])
    return reached


def _reading(scan: ScanTrace, value: Value) -> tuple[SequenceTrace, int]:
    """Return the sequence that contains a value, and the first step that reads it."""
    for sequence in scan.sequences:
        steps = np.flatnonzero(sequence.axis.index == value.row)
        if sequence.name == value.variable and len(steps):
            return sequence, int(steps[0])
    raise LookupError(value)
