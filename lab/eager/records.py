"""What happened on the eager tapes, as frozen data: every node, every gradient, in order.

A `Recording` can be compared, pickled, and drawn.  Numbers count from 0: nodes in
the order in which they were made, on whichever tape; tapes in the order in which they were
opened.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lab.equations.events import records as plain
from lab.equations.events.events import OTHERS, Listed
from lab.notation import value_symbol
from lab.records import record_of_arrays


@record_of_arrays
class SparseValue:
    """A Setter: `value` at ``[index]`` and zero elsewhere.

    `positions` are the places of the entries, counted along the whole array, last axis
    fastest, in the shape of the entries; None where the array is not known.
    """

    index: str
    value: np.ndarray
    positions: np.ndarray | None


@record_of_arrays
class RecordedValue:
    """A value, and the number of the node that it is, on a tape further out (else None).

    A value that is neither a number nor an array of numbers is stored as text.
    """

    value: np.ndarray | SparseValue | str
    node: int | None = None


@record_of_arrays
class NodeRecord:
    """One node.

    `operation` is the name of the function that made it (empty for the start of a tape), and
    `arguments` what that was given: numbers of nodes, and constants as text.  `parents` are
    the nodes to which it will send gradients, all on its own tape.  `step` is that of the
    loop, if the program told it; `during` is the node of a tape further in whose gradients
    were being sent upstream when this one was made (None while a program ran forwards).
    """

    number: int
    tape: int
    operation: str
    arguments: tuple[int | str, ...]
    parents: tuple[int, ...]
    value: RecordedValue
    step: int | None
    during: int | None

    @property
    def bytes(self) -> int:
        """The size of its value; 0 for a value that is a node of another tape."""
        value = self.value.value
        return value.nbytes if isinstance(value, np.ndarray) and self.value.node is None else 0


@dataclass(frozen=True)
class TapeRecord:
    """One tape: its priority, the function that it is a run of, its nodes as appended."""

    number: int
    priority: int
    function: str
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Opened:
    """A tape became active."""

    tape: int


@dataclass(frozen=True)
class Appended:
    """A node was made and appended to its tape."""

    node: int


@dataclass(frozen=True)
class Seeded:
    """The gradient of the result by itself, 1, was put into the end node's list."""

    node: int
    gradient: RecordedValue


@dataclass(frozen=True)
class Popped:
    """A node was taken off the end of its tape; what it then does, the next events tell."""

    node: int


@dataclass(frozen=True)
class PassedOn:
    """A node's only gradient is its total, as it is."""

    node: int
    total: RecordedValue


@dataclass(frozen=True)
class Added:
    """A whole gradient was added to the zeros in which a node sums."""

    node: int
    gradient: RecordedValue


@dataclass(frozen=True)
class SetterAdded:
    """A Setter was applied: its entries were added in place, to the zeros or what they held."""

    node: int
    gradient: RecordedValue


@dataclass(frozen=True)
class Summed:
    """All gradients of a node have been added."""

    node: int
    total: RecordedValue


@dataclass(frozen=True)
class Sent:
    """A gradient went upstream, into the list of a parent."""

    source: int
    target: int
    gradient: RecordedValue


@dataclass(frozen=True)
class Closed:
    """A tape is empty again, and no longer active."""

    tape: int


Event = (
    Opened | Appended | Seeded | Popped | PassedOn | Added | SetterAdded | Summed | Sent | Closed
)


@record_of_arrays
class Recording:
    """A run: its result, the tapes in order of opening, all nodes, and all events in time."""

    result: RecordedValue
    tapes: tuple[TapeRecord, ...]
    nodes: tuple[NodeRecord, ...]
    events: tuple[Event, ...]

    def on(self, tape: int) -> tuple[NodeRecord, ...]:
        """The nodes of a tape, in the order in which they were appended."""
        return tuple(self.nodes[number] for number in self.tapes[tape].nodes)

    def bytes(self, tape: int) -> int:
        """The size of the values of a tape when its function had ended."""
        return sum(node.bytes for node in self.on(tape))


# The events of a recording, as `lab.events` returns them: in the records of all other runs.

VALUES, GRADIENTS = 0, 1  # the two slots of a node


def eager_events(recording: object) -> Listed:
    """Return the events of a recording: a node is appended, a gradient arrives in a node.

    `Event.scan` is the number of the tape, `Event.step` counts the events of that tape. A node has
    two slots: its value (`argument` 0) and the sum of its gradients (`argument` 1), in the row of
    the node on its tape. Of numbers, a gradient that arrives is the gradient of its sender times a
    local derivative, the factor of the term.
    """
    assert isinstance(recording, Recording), "what is registered below"
    return Listed(tuple(_Run(recording).events()))


OTHERS[Recording] = eager_events


class _Run:
    """What the slots of all nodes hold while the run is told."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.gradients: dict[int, np.ndarray] = {}
        self.steps = [0] * len(recording.tapes)
        self.rows = {n: row for t in recording.tapes for row, n in enumerate(t.nodes)}

    def events(self) -> Iterator[plain.Event]:
        """All events, on one clock."""
        number = 0
        for one in self.recording.events:
            found = self._event(one)
            if found is not None:
                number += 1
                tape, reads, write = found
                yield plain.Event(number, tape, self.steps[tape], tuple(reads), (write,))
                self.steps[tape] += 1

    def _event(self, one: object) -> tuple[int, Sequence[plain.Read], plain.Write] | None:
        if isinstance(one, Appended):
            return self._appended(one.node)
        if isinstance(one, Seeded):
            term = plain.Term(self._array(one.gradient, one.node), None, None, "1", "")
            return self.recording.nodes[one.node].tape, (), self._arrives(one.node, term, ())
        return self._sent(one) if isinstance(one, Sent) else None

    def _appended(self, number: int) -> tuple[int, Sequence[plain.Read], plain.Write]:
        node = self.recording.nodes[number]
        others = [a for a in node.arguments if isinstance(a, int)]
        reads = [self._read(self._slot(n, VALUES), self._value(n)) for n in dict.fromkeys(others)]
        names = [a if isinstance(a, str) else value_symbol("n", a) for a in node.arguments]
        made = f"{node.operation}({', '.join(names)})" if node.operation else "given"
        slot, new = self._slot(number, VALUES), self._value(number)
        formula = f"{slot} = {made}"
        write = plain.Write(slot, None, new, plain.WriteKind.WRITTEN, None, formula, tuple(reads))
        return node.tape, reads, write

    def _sent(self, one: Sent) -> tuple[int, Sequence[plain.Read], plain.Write]:
        """A gradient arrives; of numbers, the local derivative is what it was multiplied by."""
        source = self._read(self._slot(one.source, GRADIENTS), self.gradients[one.source])
        value, factor, symbols = self._array(one.gradient, one.target), None, ""
        if not value.ndim and not source.value.ndim and np.isfinite(source.value) and source.value:
            factor = np.asarray(value / source.value)
            symbols = f"∂{value_symbol('n', one.source)}/∂{value_symbol('n', one.target)}"
        written = f"{source.name}·{symbols}" if symbols else f"from {source.name}"
        write = self._arrives(
            one.target, plain.Term(value, source, factor, written, symbols), (source,)
        )
        return self.recording.nodes[one.target].tape, (source,), write

    def _arrives(self, number: int, term: plain.Term, reads: tuple[plain.Read, ...]) -> plain.Write:
        slot, old = self._slot(number, GRADIENTS), self.gradients.get(number)
        new = self.gradients[number] = term.value if old is None else np.asarray(old + term.value)
        kind = plain.WriteKind.WRITTEN if old is None else plain.WriteKind.OVERWRITTEN
        formula = f"{slot} ← {term.text}{'' if old is None else f' + {slot}'}"
        adds = old is not None
        return plain.Write(slot, old, new, kind, None, formula, reads, (term,), adds)

    def _read(self, slot: plain.Slot, value: np.ndarray) -> plain.Read:
        return plain.Read(
            slot.label, value, slot, 0, slot.argument, slot.tape, plain.Role.PRESERVED
        )

    def _slot(self, number: int, which: int) -> plain.Slot:
        node, row = self.recording.nodes[number], self.rows[number]
        name = value_symbol("n", number)
        label = name if which == VALUES else f"∇{name}"
        tape = "values" if which == VALUES else "gradients"
        quantity = name if which == VALUES else f"gradient wrt {name}"
        return plain.Slot(node.tape, which, row, tape, row, quantity, label)

    def _value(self, number: int) -> np.ndarray:
        return self._array(self.recording.nodes[number].value, number)

    def _array(self, held: RecordedValue, number: int) -> np.ndarray:
        """A value as an array; of a Setter, with zeros where it sets nothing."""
        value = held.value
        if isinstance(value, SparseValue):
            whole = np.zeros(self._value(number).shape)
            if value.positions is not None:
                np.add.at(whole.reshape(-1), value.positions.ravel(), value.value.ravel())
            return whole
        return np.asarray(value)
