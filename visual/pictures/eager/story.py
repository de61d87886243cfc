"""The events of a recording, grouped by nodes, tapes, and moments.

A step is the index of an event in `Recording.events`. Related events form a moment of a picture.
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
    """A gradient in a node's list, from the node `source` (None for the seed), at event `step`."""

    step: int
    source: int | None
    gradient: RecordedValue


@dataclass(frozen=True)
class GradientTotal:
    """The sum of a node's list; `formed` is False if the list has a single gradient."""

    step: int
    total: RecordedValue
    formed: bool


@dataclass
class NodeStory:
    """The events of a node: its creation `made`, the gradients that it receives, and its removal.

    `popped` is the step of its removal from its tape, `order` its rank among the removed nodes, and
    `added` the steps of its additions.
    """

    record: NodeRecord
    made: int
    arrivals: list[Arrival] = field(default_factory=list)
    added: list[int] = field(default_factory=list)
    total: GradientTotal | None = None
    popped: int | None = None
    order: int = 0

    @property
    def number(self) -> int:
        """The number of the node."""
        return self.record.number

    @cached_property
    def digits(self) -> int:
        """The number of digits of its gradients and their sum."""
        if self.total is None or not self.total.formed:
            return 4
        return digits_of_sum((arrival.gradient for arrival in self.arrivals), self.total.total)


@dataclass
class TapeStory:
    """A tape, the steps of its opening and closing, and the number of its removed nodes."""

    record: TapeRecord
    opened: int
    closed: int | None = None
    off: int = 0


@dataclass(frozen=True)
class Story:
    """The events of all nodes and tapes."""

    nodes: list[NodeStory]
    tapes: list[TapeStory]
    moments: list[tuple[int, str]]


def story(recording: Recording) -> Story:
    """Return the events of a recording, grouped by nodes and tapes."""
    result = Story([], [], moments(recording))
    for step, event in enumerate(recording.events):
        match event:
            case Opened(tape):
                result.tapes.append(TapeStory(recording.tapes[tape], step))
            case Closed(tape):
                result.tapes[tape].closed = step
            case Appended(node):
                result.nodes.append(NodeStory(recording.nodes[node], step))
            case Seeded(node, gradient):
                result.nodes[node].arrivals.append(Arrival(step, None, gradient))
            case Sent(source, target, gradient):
                result.nodes[target].arrivals.append(Arrival(step, source, gradient))
            case Popped(node):
                _remove(result, result.nodes[node], step)
            case Added(node) | SetterAdded(node):
                result.nodes[node].added.append(step)
            case PassedOn(node, total) | Summed(node, total):
                formed = isinstance(event, Summed)
                result.nodes[node].total = GradientTotal(step, total, formed)
    return result


def _remove(story: Story, node: NodeStory, step: int) -> None:
    tape = story.tapes[node.record.tape]
    tape.off += 1
    node.popped, node.order = step, tape.off


def moments(recording: Recording) -> list[tuple[int, str]]:
    """Return, for every event, the first event of its moment and the sentence of the moment.

    The opening of a tape and its first node are a moment, as are the removal of a node and its
    sum, and all contributions of a node.
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
    """Return a sentence about a moment: ``n₄ sends n₃ a contribution``."""
    match events[0]:
        case Opened(tape):
            return _words(recording, events[1:]) if events[1:] else f"tape {tape} is opened"
        case Sent(source):
            names = dict.fromkeys(node_name(e.target) for e in events if isinstance(e, Sent))
            share = "a contribution" if len(events) == 1 else "contributions"
            return f"{node_name(source)} sends {' and '.join(names)} {share}"
        case Appended(node):
            return f"{node_name(node)} is appended to tape {recording.nodes[node].tape}"
        case Seeded(node) | Popped(node):
            formed = any(isinstance(event, Summed) for event in events)
            passed = any(isinstance(event, PassedOn) for event in events)
            gradient = " with the sum of its gradients" * formed + " with its gradient" * passed
            return f"{node_name(node)} is removed from tape {recording.nodes[node].tape}{gradient}"
    raise AssertionError(events)  # all other events continue a moment


def factor_words(total: GradientTotal | None, share: RecordedValue) -> str:
    """Return `` · 0.95``, the local derivative in a contribution; empty for 1 and for arrays."""
    if total is None or not (isinstance(sent := total.total.value, np.ndarray) and sent.ndim == 0):
        return ""
    if not (isinstance(share.value, np.ndarray) and share.value.ndim == 0 and sent != 0):
        return ""
    return f" · {number_text(share.value / sent)}" if share.value != sent else ""
