"""Frozen records of all nodes and gradients of a run on eager tapes.

A `Recording` can be compared, pickled, and drawn.  Nodes are numbered from 0 in the order of their
creation on all tapes, and tapes in the order of their opening.
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np

from lab.equations.events import records as plain
from lab.equations.events.events import OTHERS, EventList
from lab.gradients.symbols import derivative_symbol
from lab.notation import PLAIN, value_symbol
from lab.records import record_of_arrays


@record_of_arrays
class SparseValue:
    """A recorded Setter: an array that is `value` at ``[index]`` and zero elsewhere.

    `positions` are the indices of these entries in the flattened array.  They are None if the shape
    of the array is unknown.
    """

    index: str
    value: np.ndarray
    positions: np.ndarray | None


@record_of_arrays
class RecordedValue:
    """A value, and the number of its node on an outer tape (None for a plain value).

    The value is a text if it is neither a number nor an array of numbers.
    """

    value: np.ndarray | SparseValue | str
    node: int | None = None


@record_of_arrays
class NodeRecord:
    """A recorded node.

    `operation` is the name of the function that computed the value; it is empty for the start of a
    tape.  `arguments` are numbers of nodes, and constants as text.  `parents` are the nodes of the
    same tape that receive gradients from this node.  `step` is the step of a loop over `steps`, or
    None.  `during` is None in a forward pass.  In a backward pass, it is the number of the node of
    the inner tape that was sending its gradients when this node was created.
    """

    number: int
    tape: int
    operation: str
    _: KW_ONLY
    arguments: tuple[int | str, ...]
    parents: tuple[int, ...]
    value: RecordedValue
    step: int | None
    during: int | None

    @property
    def bytes(self) -> int:
        """The size of the value in bytes; 0 if it is no array or is a node of another tape."""
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
class _OfNode:
    node: int


class Appended(_OfNode):
    """Event: a node was created and appended to its tape."""


class Popped(_OfNode):
    """Event: a node was removed from the end of its tape; the next events belong to this node."""


@dataclass(frozen=True)
class Sent:
    """Event: node `target` received a gradient from node `source`, or the seed 1 (source None)."""

    source: int | None
    target: int
    gradient: RecordedValue


@dataclass(frozen=True)
class Totaled(_OfNode):
    """Event: a node has its total gradient.

    If `is_sum`, its gradients, or its single `Setter`, were added to zeros. Otherwise, the total
    is its single gradient, without a copy.
    """

    total: RecordedValue
    is_sum: bool


Event = Appended | Sent | Popped | Totaled


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
        """Return the size in bytes of the values on a tape after the forward pass."""
        return sum(node.bytes for node in self.nodes_of(tape))


# The conversion of a recording to the events that `lab.events` returns.

VALUES, GRADIENTS = 0, 1  # the two slots of a node


def eager_events(recording: object) -> EventList:
    """Return the events of a recording: appended nodes and sent gradients.

    `Event.scan` is the number of the tape, and `Event.step` the number of the event on that tape.
    A node has two slots in its row of the tape: the value (`argument` 0) and the sum of the
    gradients (`argument` 1).  A received number is the gradient of the sender times a local
    derivative, which is the factor of the term.
    """
    assert isinstance(recording, Recording), "the type in OTHERS"
    return EventList(tuple(_Run(recording).events()))


OTHERS[Recording] = eager_events


class _Run:
    """A replay of a recording; `gradients` contains the sum of received gradients of each node."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.gradients: dict[int, np.ndarray] = {}
        self.steps = [0] * len(recording.tapes)
        self.rows = {n: row for t in recording.tapes for row, n in enumerate(t.nodes)}

    def events(self) -> Iterator[plain.Event]:
        """Yield all events, numbered from 1."""
        changes = (e for e in self.recording.events if isinstance(e, Appended | Sent))
        for number, event in enumerate(changes, start=1):
            write = self._appended(event.node) if isinstance(event, Appended) else self._sent(event)
            target = event.node if isinstance(event, Appended) else event.target
            tape = self.recording.nodes[target].tape
            step = self.steps[tape]
            yield plain.Event(number, tape, step, reads=write.reads, writes=(write,))
            self.steps[tape] += 1

    def _appended(self, number: int) -> plain.Write:
        """Return the write that stores the value of an appended node in its slot."""
        node = self.recording.nodes[number]
        others = dict.fromkeys(a for a in node.arguments if isinstance(a, int))
        reads = tuple(self._read(self._slot(n, VALUES), self._value(n)) for n in others)
        names = [a if isinstance(a, str) else value_symbol("n", a) for a in node.arguments]
        computed = f"{node.operation}({', '.join(names)})" if node.operation else "an argument"
        slot, new, role = self._slot(number, VALUES), self._value(number), plain.SlotRole.WRITTEN
        return plain.Write(slot=slot, new=new, role=role, right=computed, reads=reads)

    def _sent(self, sent: Sent) -> plain.Write:
        """Return the write that adds a received gradient to the gradient slot of its target."""
        value, number = self._array(sent.gradient, sent.target), sent.target
        term, reads = plain.Term(value, label="the seed"), tuple[plain.Read, ...]()
        if sent.source is not None:
            source = self._read(self._slot(sent.source, GRADIENTS), self.gradients[sent.source])
            term, reads = _contribution(sent.source, number, source, value), (source,)
        slot, old = self._slot(number, GRADIENTS), self.gradients.get(number)
        self.gradients[number] = new = value if old is None else np.asarray(old + value)
        role = plain.SlotRole.WRITTEN if old is None else plain.SlotRole.OVERWRITTEN
        both = f"{slot} + {term.text}" if term.factor is None else f"{term.text} + {slot}"
        right = term.text if old is None else both
        write = partial(plain.Write, slot=slot, old=old, new=new, role=role, sign=PLAIN.arrow)
        return write(right=right, reads=reads, terms=(term,), adds_old=old is not None)

    def _read(self, slot: plain.Slot, value: np.ndarray) -> plain.Read:
        argument, role = slot.argument, plain.SlotRole.PRESERVED
        return plain.Read(
            slot.label, value, slot, tap=0, argument=argument, variable=slot.tape, role=role
        )

    def _slot(self, number: int, which: int) -> plain.Slot:
        scan, row = self.recording.nodes[number].tape, self.rows[number]
        tape, quantity = "values", value_symbol("n", number)
        label = quantity
        if which == GRADIENTS:
            tape, quantity, label = "gradients", f"gradient wrt {label}", f"∇{label}"
        return plain.Slot(scan, which, row, tape=tape, position=row, quantity=quantity, label=label)

    def _value(self, number: int) -> np.ndarray:
        """Return the value of node `number` as an array; for a sparse value, return its entries."""
        value = self.recording.nodes[number].value.value
        return np.asarray(value.value if isinstance(value, SparseValue) else value)

    def _array(self, recorded: RecordedValue, number: int) -> np.ndarray:
        """Return `recorded` as an array; fill a sparse value with zeros to the shape of a node."""
        value = recorded.value
        if isinstance(value, SparseValue):
            whole = np.zeros(self._value(number).shape)
            if value.positions is not None:
                np.add.at(whole.reshape(-1), value.positions.ravel(), value.value.ravel())
            return whole
        return np.asarray(value)


def _contribution(sender: int, receiver: int, source: plain.Read, value: np.ndarray) -> plain.Term:
    """Return a sent gradient as a `Term`; for scalars, the factor is the local derivative."""
    if value.ndim or source.value.ndim or not np.isfinite(source.value) or not source.value:
        return plain.Term(value, source, label=f"the contribution from {source.name}")
    of, wrt = value_symbol("n", sender), value_symbol("n", receiver)
    factor, symbols = np.asarray(value / source.value), derivative_symbol(of, wrt, direct=True)
    label = f"{source.name}·{symbols}"
    return plain.Term(value, source, factor, label=label, factor_label=symbols)
