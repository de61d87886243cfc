"""The events of a recording, grouped by nodes and by moments, and the choice of shown nodes.

A step is the index of an event in `Recording.events`. Related events form a moment of a picture.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from lab.eager.records import (
    Appended,
    Closed,
    Event,
    NodeRecord,
    Opened,
    PassedOn,
    Popped,
    RecordedValue,
    Recording,
    Sent,
    Summed,
)
from lab.notation import counted, number_text
from lab.records import cached_property
from visual.layout.columns import Gap, shown_numbers
from visual.pictures.eager.words import digits_of_sum, node_name

# The most rows; in a longer run, the rows next to each end of the run, and of a tape.
MOST_ROWS, AT_ENDS, AT_TAPES = 26, 4, 2


@dataclass(frozen=True)
class Received:
    """A gradient that a node received at a step, from the node `source` or, for None, as a seed."""

    step: int
    source: int | None
    gradient: RecordedValue


@dataclass(frozen=True)
class GradientTotal:
    """The total gradient of a node; `is_sum` states whether the node received several gradients."""

    step: int
    gradient: RecordedValue
    is_sum: bool


@dataclass
class NodeStory:
    """The events of a node, by their steps: creation, received and sent gradients, and removal."""

    record: NodeRecord
    creation: int
    received: list[Received] = field(default_factory=list)
    total: GradientTotal | None = None
    popped: int | None = None
    sent: list[int] = field(default_factory=list)

    @property
    def number(self) -> int:
        """The number of the node."""
        return self.record.number

    @cached_property
    def digits(self) -> int:
        """The least number of digits, 4 or 5, with which the printed gradients add up."""
        if self.total is None or not self.total.is_sum:
            return 4
        return digits_of_sum((received.gradient for received in self.received), self.total.gradient)


@dataclass(frozen=True)
class Story:
    """The events by node, and for each event, the first step and the name of its moment."""

    nodes: list[NodeStory]
    moments: list[tuple[int, str]]


def story(recording: Recording) -> Story:
    """Group the events of a recording by nodes."""
    result = Story([], moments(recording))
    for step, event in enumerate(recording.events):
        match event:
            case Appended(node):
                result.nodes.append(NodeStory(recording.nodes[node], step))
            case Sent(source, target, gradient):
                result.nodes[target].received.append(Received(step, source, gradient))
                if source is not None:
                    result.nodes[source].sent.append(step)
            case Popped(node):
                result.nodes[node].popped = step
            case PassedOn(node, total) | Summed(node, total):
                is_sum = isinstance(event, Summed)
                result.nodes[node].total = GradientTotal(step, total, is_sum)
    return result


def moments(recording: Recording) -> list[tuple[int, str]]:
    """Return for each event the first step of its moment, and a sentence about the moment.

    Events that share a moment are, for example, the opening of a tape and its first node, the
    removal of a node and its sum, or all contributions that a node sends.
    """
    runs: list[list[int]] = []
    for number, event in enumerate(recording.events):
        if number and _continues(recording.events[number - 1], event):
            runs[-1].append(number)
        else:
            runs.append([number])
    named = [(run[0], _words(recording, [recording.events[n] for n in run])) for run in runs]
    return [moment for moment, run in zip(named, runs, strict=True) for _ in run]


def _continues(before: Event, event: Event) -> bool:
    """Return whether an event belongs to the moment of the previous event."""
    match event:
        case PassedOn() | Summed() | Closed():
            return True
        case Appended():
            return isinstance(before, Opened)
        case Popped():
            return isinstance(before, Sent) and before.source is None
        case Sent(source):
            return isinstance(before, Sent) and before.source == source
        case _:
            return False


def _words(recording: Recording, events: Sequence[Event]) -> str:
    """Return a sentence about a moment: ``n₄ sends n₃ a contribution``."""
    match events[0]:
        case Opened(tape):
            return _words(recording, events[1:]) if events[1:] else f"tape {tape} is opened"
        case Appended(node):
            return f"{node_name(node)} is appended to tape {recording.nodes[node].tape}"
        case Sent(None, node) | Popped(node):
            is_sum = any(isinstance(event, Summed) for event in events)
            is_passed_on = any(isinstance(event, PassedOn) for event in events)
            gradient = (
                " with the sum of its gradients" * is_sum + " with its gradient" * is_passed_on
            )
            return f"{node_name(node)} is removed from tape {recording.nodes[node].tape}{gradient}"
        case Sent(int(source)):
            names = dict.fromkeys(node_name(e.target) for e in events if isinstance(e, Sent))
            contribution = "a contribution" if len(events) == 1 else "contributions"
            return f"{node_name(source)} sends {' and '.join(names)} {contribution}"
    raise AssertionError(events)  # all other events continue a moment


def factor_words(total: GradientTotal | None, contribution: RecordedValue) -> str:
    """Return the local derivative as text, `` · 0.95``; return "" for 1 and for arrays."""
    sent, received = None if total is None else total.gradient.value, contribution.value
    if not isinstance(sent, np.ndarray) or not isinstance(received, np.ndarray):
        return ""
    is_factor = not sent.ndim and not received.ndim and sent != 0 and received != sent
    return f" · {number_text(received / sent)}" if is_factor else ""


# The selection of nodes.


def all_rows(recording: Recording) -> list[tuple[int, ...]]:
    """Return the numbers of the nodes of each operation, the outermost node first."""
    rows: list[tuple[int, ...]] = []
    for node in recording.nodes:
        if node.value.node is not None and rows and rows[-1][-1] == node.value.node:
            rows[-1] = (*rows[-1], node.number)
        else:
            rows.append((node.number,))
    return rows


def shown_rows(recording: Recording, priorities: Container[int]) -> Iterator[tuple[int, ...] | str]:
    """Yield the shown rows of tapes with these priorities, and a note for each hidden part.

    A long run shows the rows near its ends, and the rows near the ends of its first two tapes.
    """
    tapes = {n for n, tape in enumerate(recording.tapes) if tape.priority in priorities}
    every = [[n for n in row if recording.nodes[n].tape in tapes] for row in all_rows(recording)]
    rows = [tuple(row) for row in every if row]
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
