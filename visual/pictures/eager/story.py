"""What happened to every node and tape of a recording, event by event.

The number of an event in `Recording.events` is its step.  Events that belong together are one
moment of a picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lab.eager.records import (
    Added,
    Appended,
    Closed,
    Event,
    NodeRecord,
    Opened,
    PassedOn,
    Popped,
    RecordedValue,
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
    gradient: RecordedValue


@dataclass(frozen=True)
class Total:
    """What a node made of its list; `formed` unless it is the one gradient, as it was."""

    step: int
    total: RecordedValue
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
    moments: list[tuple[int, str]]


def story(recording: Recording) -> Story:
    """The events of a recording, sorted by the nodes and tapes that they happened to."""
    found = Story([], [], moments(recording))
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


def moments(recording: Recording) -> list[tuple[int, str]]:
    """For every event the moment to which it belongs: the event that begins it, and its words.

    A tape is opened with its first node; a node is taken off with its sum, and sends all shares.
    """
    runs: list[list[int]] = []
    for number, event in enumerate(recording.events):
        if number and _goes_on(recording.events[number - 1], event):
            runs[-1].append(number)
        else:
            runs.append([number])
    named = [(run[0], _words(recording, [recording.events[n] for n in run])) for run in runs]
    return [one for one, run in zip(named, runs, strict=True) for _ in run]


def _goes_on(before: Event, event: Event) -> bool:
    """Whether an event belongs to the moment of the one before it."""
    match event:
        case Added() | SetterAdded() | PassedOn() | Summed() | Closed():
            return True
        case Appended():
            return isinstance(before, Opened)
        case Popped():
            return isinstance(before, Seeded)
        case Sent(source):
            return isinstance(before, Sent) and before.source == source
        case _:
            return False


def _words(recording: Recording, events: Sequence[Event]) -> str:
    """What happens in a moment: ``n₄ sends n₃ its share``."""
    match events[0]:
        case Opened(tape):
            return _words(recording, events[1:]) if events[1:] else f"tape {tape} is opened"
        case Sent(source):
            names = dict.fromkeys(node_name(e.target) for e in events if isinstance(e, Sent))
            share = "its share" if len(events) == 1 else "their shares"
            return f"{node_name(source)} sends {' and '.join(names)} {share}"
        case Appended(node):
            return f"{node_name(node)} is appended to tape {recording.nodes[node].tape}"
        case Seeded(node) | Popped(node):
            formed = any(isinstance(event, Summed) for event in events)
            alone = any(isinstance(event, PassedOn) for event in events)
            held = " with the sum of its gradients" * formed + " with its gradient" * alone
            return f"{node_name(node)} is taken off tape {recording.nodes[node].tape}{held}"
    raise AssertionError(events)  # all others go on


def factor_words(total: Total | None, share: RecordedValue) -> str:
    """`` · 0.95``: the local derivative that made a share of a gradient; no 1, none of arrays."""
    if total is None or not (isinstance(sent := total.total.value, np.ndarray) and sent.ndim == 0):
        return ""
    if not (isinstance(share.value, np.ndarray) and share.value.ndim == 0 and sent != 0):
        return ""
    return f" · {number_text(share.value / sent)}" if share.value != sent else ""
