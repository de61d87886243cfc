"""What happened on the eager tapes, as frozen data: every node, every gradient, in order.

A `Recording` can be compared, pickled, and drawn.  Numbers count from 0: nodes in
the order in which they were made, on whichever tape; tapes in the order in which they were
opened.
"""

from dataclasses import dataclass

import numpy as np

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
class Held:
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

    Memory that the node keeps alive and no earlier node on its tape does, in bytes:
    `numbers` for values, its own and those that its gradient functions need; `bookkeeping`
    for Python's objects around them.
    """

    number: int
    tape: int
    operation: str
    arguments: tuple[int | str, ...]
    parents: tuple[int, ...]
    value: Held
    step: int | None
    during: int | None
    numbers: int
    bookkeeping: int


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
    gradient: Held


@dataclass(frozen=True)
class Popped:
    """A node was taken off the end of its tape; what it then does, the next events tell."""

    node: int


@dataclass(frozen=True)
class PassedOn:
    """A node's only gradient is its total, as it is."""

    node: int
    total: Held


@dataclass(frozen=True)
class Added:
    """A whole gradient was added to the zeros in which a node sums."""

    node: int
    gradient: Held


@dataclass(frozen=True)
class SetterAdded:
    """A Setter was applied: its entries were added in place, to the zeros or what they held."""

    node: int
    gradient: Held


@dataclass(frozen=True)
class Summed:
    """All gradients of a node have been added."""

    node: int
    total: Held


@dataclass(frozen=True)
class Sent:
    """A gradient went upstream, into the list of a parent."""

    source: int
    target: int
    gradient: Held


@dataclass(frozen=True)
class Closed:
    """A tape is empty again, and no longer active."""

    tape: int


Event = (
    Opened | Appended | Seeded | Popped | PassedOn | Added | SetterAdded | Summed | Sent | Closed
)


@dataclass(frozen=True)
class Memory:
    """Bytes: `numbers` for values, `bookkeeping` for the objects around them."""

    numbers: int
    bookkeeping: int


@record_of_arrays
class Recording:
    """A run: its result, the tapes in order of opening, all nodes, and all events in time."""

    result: Held
    tapes: tuple[TapeRecord, ...]
    nodes: tuple[NodeRecord, ...]
    events: tuple[Event, ...]

    def on(self, tape: int) -> tuple[NodeRecord, ...]:
        """The nodes of a tape, in the order in which they were appended."""
        return tuple(self.nodes[number] for number in self.tapes[tape].nodes)

    def memory(self, tape: int) -> Memory:
        """What a tape held when its function had ended, before its backward pass."""
        nodes = self.on(tape)
        return Memory(sum(n.numbers for n in nodes), sum(n.bookkeeping for n in nodes))
