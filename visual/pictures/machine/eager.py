"""An eager recording as a machine: nodes are cells, and gradients flow back from the final node.

Each tape has two rows: the values of its nodes, and the sums of the gradients of its nodes. The
columns are the nodes of all tapes, in the order in which the program appended the nodes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from lab.eager.records import GRADIENTS, NodeRecord, Recording
from lab.equations.events.events import events
from lab.equations.events.records import Event, Slot, Write
from lab.errors import GraphError
from visual.pictures.machine import content
from visual.pictures.machine.parts import State, keys_of, part_of
from visual.pictures.machine.wording import Wording

MOST_NODES = 40


def machine_of_recording(recording: Recording, entry: int | None = None) -> content.MachineContent:
    """Return the machine of a recording of `lab.eager`.

    Cells of arrays show the entry with the index `entry`, or norms if `entry` is None. Raises
    GraphError for a recording without nodes or with more than `MOST_NODES` nodes.
    """
    if not 0 < len(recording.nodes) <= MOST_NODES:
        raise GraphError(
            f"trace: expected a recording of 1 to {MOST_NODES} nodes, got {len(recording.nodes)}. "
            "Draw visual.eager(recording), or record a shorter program."
        )
    return _Builder(recording, entry).machine()


@dataclass(frozen=True, eq=False)
class _Wording(Wording):
    """The sentences of a recording. The formulas contain the names of operations."""

    _: KW_ONLY
    nodes: Mapping[Slot, NodeRecord]  # the node of each slot

    def equation(self, event: Event, write: Write) -> content.Equation:
        """Return the sentence of a write: a sum, an operation on numbers, or the origin."""
        if any(term.factor is not None or write.adds_old for term in write.terms):
            return super().equation(event, write)
        values = (write.new, *(read.value for read in write.reads))
        if write.terms or not write.reads or any(map(np.ndim, values)):
            return self._in_symbols(write)
        node, line = self.nodes[write.slot], [*self._left(write), content.Phrase(" ← ")]
        numbers = {self.nodes[read.slot].number: read.value for read in write.reads if read.slot}
        for n, argument in enumerate(node.arguments):
            line.append(content.Phrase(", " if n else f"{node.operation}("))
            if isinstance(argument, str):
                line.append(content.Phrase(argument))
            else:
                value = numbers[argument]
                line.append(content.Number(self.number(value), content.Ink.PRESERVED, array=value))
        return content.Equation((*line, content.Phrase(")")), (content.Phrase(write.formula),))

    def quantity(self, slot: Slot) -> str:
        """Return the name of the value or the gradient in a slot."""
        return slot.quantity

    def reason(self, event: Event, write: Write) -> str:
        """Return the formula of a write as a sentence, or the origin of a seed."""
        is_seed = any(term.source is None for term in write.terms)
        origin = "The seed is the gradient of the result with respect to itself."
        is_argument = not write.terms and not self.nodes[write.slot].operation
        verb = f"{write.slot} is {write.right}" if is_argument else write.formula
        return origin if is_seed else f"{verb}."

    def _in_symbols(self, write: Write) -> content.Equation:
        """Return the sentence of a write with names instead of numbers."""
        bracket = self._bracket(write.new)
        right = f"({write.right}){bracket}" if bracket else write.right
        sign = " ← " if bracket or not np.ndim(write.new) else " is the norm of "
        return content.Equation((*self._left(write), content.Phrase(sign), content.Phrase(right)))


class _Builder:
    def __init__(self, recording: Recording, entry: int | None) -> None:
        self.recording, self.events = recording, events(recording)
        self.nodes = {slot: recording.nodes_of(slot.scan)[slot.row] for slot in self.events.slots}
        self.wording = _Wording(self.events, entry, nodes=self.nodes)
        # The tape and the argument of every row, in the order of the first writes to the rows.
        self.rows = list(dict.fromkeys((slot.scan, slot.argument) for slot in self.events.slots))
        self.numbers: dict[Slot | None, int] = {slot: n for n, slot in enumerate(self.events.slots)}

    def machine(self) -> content.MachineContent:
        result = self.recording.result.value
        names = ["gradients" if argument else "values" for _, argument in self.rows]
        return content.MachineContent(
            title="Each node sends a contribution to each of its parents",
            unit="node",
            scans=tuple(self._scans()),
            rows=tuple(content.TapeRow(n, name, name) for n, name in enumerate(names)),
            cells=tuple(map(self._cell, self.events.slots)),
            events=tuple(map(self._event, self.events)),
            times=tuple(range(len(self.recording.nodes))),
            results=(("result", (self.wording.number(np.asarray(result)),)),),
        )

    def _scans(self) -> Iterator[content.ScanRows]:
        """Yield a `ScanRows` for each row. Its events precede the first write to the next row."""
        writes = [self._row(write.slot) for event in self.events for write in event.writes]
        starts = [*map(writes.index, range(len(self.rows))), len(writes)]
        for n, (tape, argument) in enumerate(self.rows):
            function = self.recording.tapes[tape].function
            span = range(starts[n], starts[n + 1])
            yield content.ScanRows(n + 1, function, f"tape {tape}", bool(argument), argument, span)

    def _row(self, slot: Slot) -> int:
        return self.rows.index((slot.scan, slot.argument))

    def _cell(self, slot: Slot) -> content.SlotCell:
        writes = {e.number: w for e in self.events for w in e.writes if w.slot == slot}
        states, value = list[State](), None
        for moment in range(len(self.events) + 1):
            value = writes[moment].new if moment in writes else value
            resting = self.events.resting_role(slot, moment)
            states.append((moment, self.events.role(slot, moment), resting, value))
        column, keys = self.nodes[slot].number, keys_of(self.wording, states)
        is_end = slot.argument == GRADIENTS and not any(w.terms[0].source for w in writes.values())
        return content.SlotCell(
            self._row(slot), column, slot.position, slot.label, keys, has_seed=is_end
        )

    def _event(self, event: Event) -> content.MachineEvent:
        (write,) = event.writes
        slot, target = write.slot, self.numbers[write.slot]
        part = part_of(self.wording, lambda read: self.numbers.get(read.slot), event, write, target)
        heading = f"{slot} is appended to the tape"
        if write.terms:
            source = write.terms[0].source
            origin = "its seed" if source is None else f"a contribution from {source.name}"
            heading = f"{slot} receives {origin}"
            part = part if source else replace(part, kind=content.PartKind.FILL)
        groups = (content.PartGroup((part,)),)
        return content.MachineEvent(event.number, self._row(slot), event.step, groups, heading)
