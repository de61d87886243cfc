"""Frozen records of all nodes and gradients of a run on eager tapes.

A `Recording` can be compared, pickled, and drawn.  Numbers start at 0: nodes in the order of
creation on all tapes, tapes in the order of opening.
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
    """A recorded Setter: an array that is `value` at ``[index]`` and zero elsewhere.

    `positions` are the indices of these entries in the flattened array, or None if the shape of
    the array is unknown.
    """

    index: str
    value: np.ndarray
    positions: np.ndarray | None


@record_of_arrays
class RecordedValue:
    """A value and the number of its node on an outer tape (None for a plain value).

    A value that is neither a number nor an array of numbers is stored as text.
    """

    value: np.ndarray | SparseValue | str
    node: int | None = None


@record_of_arrays
class NodeRecord:
    """A recorded node.

    `operation` is the name of the function that computed the value; the start of a tape has an
    empty name.  `arguments` are numbers of nodes, and constants as text.  `parents` are the nodes
    of the same tape that receive gradients from this node.  `step` is the step of a loop over
    `steps`, or None.  `during` is the node of an inner tape that sent its gradients when this node
    was created, or None in a forward pass.
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
        """The size of the value; 0 if the value is a node of another tape."""
        value = self.value.value
        return value.nbytes if isinstance(value, np.ndarray) and self.value.node is None else 0


@dataclass(frozen=True)
class TapeRecord:
    """A recorded tape: its priority, the name of its function, and its nodes in order."""

    number: int
    priority: int
    function: str
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class _OfTape:
    tape: int


class Opened(_OfTape):
    """A tape became active."""


class Closed(_OfTape):
    """A tape ended and is empty."""


@dataclass(frozen=True)
class _OfNode:
    node: int


class Appended(_OfNode):
    """A node was created and appended to its tape."""


class Popped(_OfNode):
    """A node was removed from the end of its tape; the next events belong to this node."""


@dataclass(frozen=True)
class _Received(_OfNode):
    gradient: RecordedValue


class Seeded(_Received):
    """The seed, 1, was appended to the gradients of the end node."""


class Added(_Received):
    """A gradient was added to the sum of a node."""


class SetterAdded(_Received):
    """The entries of a Setter were added in place to the sum of a node."""


@dataclass(frozen=True)
class _Totalled(_OfNode):
    total: RecordedValue


class PassedOn(_Totalled):
    """A single gradient is the total of its node."""


class Summed(_Totalled):
    """The sum of all gradients of a node is complete."""


@dataclass(frozen=True)
class Sent:
    """A gradient was sent to a parent."""

    source: int
    target: int
    gradient: RecordedValue


Event = (
    Opened | Appended | Seeded | Popped | PassedOn | Added | SetterAdded | Summed | Sent | Closed
)


@record_of_arrays
class Recording:
    """A run: its result, its tapes in order of opening, its nodes, and its events in order."""

    result: RecordedValue
    tapes: tuple[TapeRecord, ...]
    nodes: tuple[NodeRecord, ...]
    events: tuple[Event, ...]

    def nodes_of(self, tape: int) -> tuple[NodeRecord, ...]:
        """Return the nodes of a tape in order."""
        return tuple(self.nodes[number] for number in self.tapes[tape].nodes)

    def bytes(self, tape: int) -> int:
        """Return the size of the values of a tape after the forward pass."""
        return sum(node.bytes for node in self.nodes_of(tape))


# The events of a recording for `lab.events`, in the common format of all runs.

VALUES, GRADIENTS = 0, 1  # the two slots of a node


def eager_events(recording: object) -> Listed:
    """Return the events of a recording: appended nodes and sent gradients.

    `Event.scan` is the number of the tape, and `Event.step` counts the events of that tape.  A node
    has two slots in its row of the tape: the value (`argument` 0) and the sum of the gradients
    (`argument` 1).  For numbers, a received gradient is the gradient of the sender times a local
    derivative, which is the factor of the term.
    """
    assert isinstance(recording, Recording), "the type in OTHERS"
    return Listed(tuple(_Run(recording).events()))


OTHERS[Recording] = eager_events


class _Run:
    """The run up to the present event: the gradients in the slots of all nodes."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.gradients: dict[int, np.ndarray] = {}
        self.steps = [0] * len(recording.tapes)
        self.rows = {n: row for t in recording.tapes for row, n in enumerate(t.nodes)}

    def events(self) -> Iterator[plain.Event]:
        """Yield all events, numbered from 1."""
        number = 0
        for event in self.recording.events:
            result = self._event(event)
            if result is not None:
                number += 1
                tape, reads, write = result
                yield plain.Event(number, tape, self.steps[tape], tuple(reads), (write,))
                self.steps[tape] += 1

    def _event(self, event: object) -> tuple[int, Sequence[plain.Read], plain.Write] | None:
        if isinstance(event, Appended):
            return self._appended_event(event.node)
        if isinstance(event, Seeded):
            term = plain.Term(self._array(event.gradient, event.node), None, None, "1", "")
            return (
                self.recording.nodes[event.node].tape,
                (),
                self._add_gradient(event.node, term, ()),
            )
        return self._sent_event(event) if isinstance(event, Sent) else None

    def _appended_event(self, number: int) -> tuple[int, Sequence[plain.Read], plain.Write]:
        node = self.recording.nodes[number]
        others = [a for a in node.arguments if isinstance(a, int)]
        reads = [self._read(self._slot(n, VALUES), self._value(n)) for n in dict.fromkeys(others)]
        names = [a if isinstance(a, str) else value_symbol("n", a) for a in node.arguments]
        computed = f"{node.operation}({', '.join(names)})" if node.operation else "given"
        slot, new = self._slot(number, VALUES), self._value(number)
        formula = f"{slot} = {computed}"
        write = plain.Write(slot, None, new, plain.WriteKind.WRITTEN, None, formula, tuple(reads))
        return node.tape, reads, write

    def _sent_event(self, sent: Sent) -> tuple[int, Sequence[plain.Read], plain.Write]:
        """Return the event of a sent gradient; for numbers, with the local derivative as factor."""
        source = self._read(self._slot(sent.source, GRADIENTS), self.gradients[sent.source])
        value, factor, symbols = self._array(sent.gradient, sent.target), None, ""
        if not value.ndim and not source.value.ndim and np.isfinite(source.value) and source.value:
            factor = np.asarray(value / source.value)
            symbols = f"∂{value_symbol('n', sent.source)}/∂{value_symbol('n', sent.target)}"
        written = f"{source.name}·{symbols}" if symbols else f"from {source.name}"
        write = self._add_gradient(
            sent.target, plain.Term(value, source, factor, written, symbols), (source,)
        )
        return self.recording.nodes[sent.target].tape, (source,), write

    def _add_gradient(
        self, number: int, term: plain.Term, reads: tuple[plain.Read, ...]
    ) -> plain.Write:
        slot, old = self._slot(number, GRADIENTS), self.gradients.get(number)
        new = self.gradients[number] = term.value if old is None else np.asarray(old + term.value)
        kind = plain.WriteKind.WRITTEN if old is None else plain.WriteKind.OVERWRITTEN
        formula = f"{slot} ← {term.text}{'' if old is None else f' + {slot}'}"
        adds = old is not None
        return plain.Write(slot, old, new, kind, None, formula, reads, (term,), adds)

    def _read(self, slot: plain.Slot, value: np.ndarray) -> plain.Read:
        return plain.Read(
            slot.label, value, slot, 0, slot.argument, slot.tape, plain.SlotRole.PRESERVED
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
        """Return a value as an array; a Setter is zero outside of its entries."""
        value = held.value
        if isinstance(value, SparseValue):
            whole = np.zeros(self._value(number).shape)
            if value.positions is not None:
                np.add.at(whole.reshape(-1), value.positions.ravel(), value.value.ravel())
            return whole
        return np.asarray(value)
