"""The events of a recording by node, the moments of a recording, and the selection of nodes.

A moment begins when a node is appended or receives a gradient. The number of the moment is the
number of this event in ``lab.events(recording)``.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from lab.eager.records import (
    Appended,
    NodeRecord,
    PassedOn,
    Popped,
    Recording,
    Sent,
    Summed,
)
from lab.notation import counted, number_text
from lab.records import cached_property
from visual.layout.columns import Gap, shown_numbers
from visual.pictures.eager.words import node_name

# The most rows. Of a longer run: the rows next to each end of the run, and of each shown tape.
MOST_ROWS, AT_ENDS, AT_TAPES = 26, 4, 2


@dataclass
class NodeStory:
    """The events of a node.

    `creation` and `removal` are moments. `received` has the received gradients by moment, and
    `sent` the moments at which the node sends gradients. `end` is the event with the total
    gradient, or None for a node without a gradient.
    """

    record: NodeRecord
    creation: int
    received: dict[int, Sent] = field(default_factory=dict)
    sent: list[int] = field(default_factory=list)
    removal: int | None = None
    end: PassedOn | Summed | None = None
    end_moment: int = 0

    @property
    def number(self) -> int:
        """The number of the node."""
        return self.record.number

    @property
    def is_seeded(self) -> bool:
        """Whether a received gradient is the seed of a backward pass."""
        return any(sent.source is None for sent in self.received.values())

    @cached_property
    def digits(self) -> int:
        """The least number of digits, 4 or 5, for which the printed sum is exact; otherwise 4."""
        if not isinstance(self.end, Summed):
            return 4
        gradients = [sent.gradient for sent in self.received.values()]
        values = [gradient.value for gradient in (*gradients, self.end.total)]
        arrays = [value for value in values if isinstance(value, np.ndarray)]
        numbers = [array for array in arrays if not array.ndim and array.dtype.kind in "fiu"]
        if len(numbers) == len(values) and np.isfinite(numbers).all():
            for digits in (4, 5):
                *summands, total = (Decimal(number_text(value, digits)) for value in numbers)
                if sum(summands) == total:
                    return digits
        return 4


def stories(recording: Recording) -> list[NodeStory]:
    """Return a `NodeStory` for each node of a recording."""
    nodes, now = list[NodeStory](), 0
    for event in recording.events:
        now += isinstance(event, Appended | Sent)
        match event:
            case Appended(node):
                nodes.append(NodeStory(recording.nodes[node], now))
            case Sent(source, target):
                nodes[target].received[now] = event
                if source is not None:
                    nodes[source].sent.append(now)
            case Popped(node):
                nodes[node].removal = now
            case PassedOn(node) | Summed(node):
                nodes[node].end, nodes[node].end_moment = event, now
    return nodes


def moments(recording: Recording) -> list[tuple[int, str]]:
    """Return the number and the name of each moment. Moment 0 is before the first node."""
    names = [""]
    for event in recording.events:
        match event:
            case Appended(node):
                names.append(f"{node_name(node)} is appended to tape {recording.nodes[node].tape}")
            case Sent(source, node):
                origin = (
                    "its seed" if source is None else f"a contribution from {node_name(source)}"
                )
                names.append(f"{node_name(node)} receives {origin}")
    return [*enumerate(names)]


def shown_rows(recording: Recording, priorities: Container[int]) -> Iterator[tuple[int, ...] | str]:
    """Yield the shown rows of tapes with the given priorities, and a note for each hidden part.

    A row contains the numbers of the nodes of an operation, the outermost node first. A long run
    shows the rows near the ends of the run and near the ends of the first two tapes.
    """
    every: list[list[NodeRecord]] = []
    for node in recording.nodes:
        if node.value.node is not None and every and every[-1][-1].number == node.value.node:
            every[-1].append(node)
        else:
            every.append([node])
    tapes = {tape.number for tape in recording.tapes if tape.priority in priorities}
    shown = (tuple(node.number for node in row if node.tape in tapes) for row in every)
    rows = [row for row in shown if row]
    row_numbers = {node: number for number, row in enumerate(rows) for node in row}
    centers = [(row, AT_ENDS) for row in (0, len(rows) - 1)]
    ends = [end for tape in recording.tapes[:2] for end in (*tape.nodes[:1], *tape.nodes[-1:])]
    centers += [(row_numbers[node], AT_TAPES) for node in ends if node in row_numbers]
    chosen = {row + away for row, reach in centers for away in range(-reach, reach + 1)}
    after = 0
    for item in shown_numbers(len(rows), MOST_ROWS, chosen & {*range(len(rows))}):
        if isinstance(item, Gap):
            hidden_rows = rows[after : after + item.hidden]
            after += item.hidden
            span = f"{node_name(hidden_rows[0][0])} to {node_name(hidden_rows[-1][-1])}"
            yield f"⋯ {counted(sum(map(len, hidden_rows)), 'node')} hidden: {span}"
        else:
            yield rows[item]
            after += 1
