"""What happened to every node and tape of a recording, event by event.

The number of an event in `Recording.events` is its step: the pictures of the eager tape show
every event in a group of that step.
"""

from dataclasses import dataclass, field

import numpy as np

from lab.eager.records import (
    Added,
    Appended,
    Closed,
    Event,
    Held,
    NodeRecord,
    Opened,
    PassedOn,
    Popped,
    Recording,
    Seeded,
    Sent,
    SetterAdded,
    Summed,
    TapeRecord,
)
from lab.notation import number_text
from lab.records import cached_property
from visual.pictures.eager.words import digits_of_sum, node_name


@dataclass(frozen=True)
class Arrival:
    """A gradient in a node's list; `source` sent it (None: the seed), `step` is the event."""

    step: int
    source: int | None
    gradient: Held


@dataclass(frozen=True)
class Total:
    """What a node made of its list; `formed` unless it is the one gradient, as it was."""

    step: int
    total: Held
    formed: bool


@dataclass
class NodeStory:
    """A node: the step in which it was made, and what was sent to it.

    `popped` is the step in which it was taken off its tape, as the `order`-th; `added` are the
    steps in which its gradients were added, one after the other.
    """

    record: NodeRecord
    made: int
    arrivals: list[Arrival] = field(default_factory=list)
    added: list[int] = field(default_factory=list)
    total: Total | None = None
    popped: int | None = None
    order: int = 0

    @property
    def number(self) -> int:
        """The number of the node."""
        return self.record.number

    @cached_property
    def digits(self) -> int:
        """With how many digits its gradients and their sum are shown."""
        if self.total is None or not self.total.formed:
            return 4
        return digits_of_sum((arrival.gradient for arrival in self.arrivals), self.total.total)


@dataclass
class TapeStory:
    """A tape, the steps in which it was opened and closed, and how many nodes are off it."""

    record: TapeRecord
    opened: int
    closed: int | None = None
    off: int = 0


@dataclass(frozen=True)
class Story:
    """All nodes and tapes, each with what happened to it."""

    nodes: list[NodeStory]
    tapes: list[TapeStory]


def story(recording: Recording) -> Story:
    """The events of a recording, sorted by the nodes and tapes that they happened to."""
    found = Story([], [])
    for step, event in enumerate(recording.events):
        match event:
            case Opened(tape):
                found.tapes.append(TapeStory(recording.tapes[tape], step))
            case Closed(tape):
                found.tapes[tape].closed = step
            case Appended(node):
                found.nodes.append(NodeStory(recording.nodes[node], step))
            case Seeded(node, gradient):
                found.nodes[node].arrivals.append(Arrival(step, None, gradient))
            case Sent(source, target, gradient):
                found.nodes[target].arrivals.append(Arrival(step, source, gradient))
            case Popped(node):
                _take_off(found, found.nodes[node], step)
            case Added(node) | SetterAdded(node):
                found.nodes[node].added.append(step)
            case PassedOn(node, total) | Summed(node, total):
                formed = isinstance(event, Summed)
                found.nodes[node].total = Total(step, total, formed)
    return found


def _take_off(found: Story, node: NodeStory, step: int) -> None:
    tape = found.tapes[node.record.tape]
    tape.off += 1
    node.popped, node.order = step, tape.off


def event_words(recording: Recording, event: Event) -> str:
    """What happens in an event: ``n₄ sends n₃ its share``."""
    match event:
        case Opened(tape):
            return f"tape {tape} is opened"
        case Closed(tape):
            return f"tape {tape} is closed"
        case Appended(node):
            return f"{node_name(node)} is appended to tape {recording.nodes[node].tape}"
        case Seeded(node):
            return f"{node_name(node)} is given the gradient by itself"
        case Popped(node):
            return f"{node_name(node)} is taken off tape {recording.nodes[node].tape}"
        case PassedOn(node):
            return f"{node_name(node)} takes its only gradient as it is"
        case Added(node):
            return f"{node_name(node)} adds a gradient to its sum"
        case SetterAdded(node):
            return f"{node_name(node)} adds the entries of a Setter to its sum"
        case Summed(node):
            return f"{node_name(node)} has its sum"
        case Sent(source, target):
            return f"{node_name(source)} sends {node_name(target)} its share"


def factor_words(total: Total | None, share: Held) -> str:
    """`` · 0.95``: the local derivative that made a share of a gradient; no 1, none of arrays."""
    if total is None or not (isinstance(sent := total.total.value, np.ndarray) and sent.ndim == 0):
        return ""
    if not (isinstance(share.value, np.ndarray) and share.value.ndim == 0 and sent != 0):
        return ""
    return f" · {number_text(share.value / sent)}" if share.value != sent else ""
