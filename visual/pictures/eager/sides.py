"""A loop on the eager tape and on the tapes of its Scan: what each keeps for every step.

Both are brought into one form, a `Side`, so that they can be drawn beside each other.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from lab.eager.records import Held, Memory, NodeRecord, Recording
from visual.pictures.eager.story import NodeStory, story
from visual.pictures.eager.words import (
    counted,
    memory_words,
    node_label,
    node_name,
    ordinal,
    value_key,
)
from visual.scene.theme import Role

START = -1  # the row of what is there before the first step


@dataclass(frozen=True)
class Entry:
    """A value or a gradient: what stands in its box."""

    held: Held
    label: str
    meaning: str
    key: str
    role: Role


@dataclass(frozen=True)
class Line:
    """A quantity with its value and its gradient; `name` tells it from the others of its side."""

    name: str
    value: Entry | None
    gradient: Entry | None
    mark: str = ""


@dataclass(frozen=True)
class Side:
    """What one kind of tape keeps: lines for every row, and in which order it goes back.

    The rows are START, the steps, and one more for what is made after the last step.  `ways`
    lead from the names of lines to those of what was made of them, `returns` are the ways of
    gradients.  `costs` are for rows, `sums` for the whole.
    """

    title: str
    notes: tuple[str, ...]
    rows: dict[int, list[Line]] = field(default_factory=dict)
    ways: list[tuple[str, str]] = field(default_factory=list)
    returns: list[tuple[str, str]] = field(default_factory=list)
    costs: dict[int, str] = field(default_factory=dict)
    sums: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Keys:
    """Under which keys the Scan knows the value and the gradient of a node."""

    value: str
    gradient: str


def eager_side(recording: Recording, known: Mapping[int, Keys], shown: Container[int]) -> Side:
    """The rows `shown` of a loop's eager tape; for nodes that are `known` the Scan has a slot."""
    side = Side("the eager tape", ("a node for every operation, written while the loop runs",))
    steps = [node.step for node in recording.on(0) if node.step is not None]
    last = max(steps, default=-1)
    first = next((n.number for n in recording.on(0) if n.step is not None), 0)
    rows: dict[int, list[NodeRecord]] = {}
    for told in story(recording).nodes:
        node = told.record
        outside = START if node.number <= first else last + 1
        row = outside if node.step is None else node.step
        if row in shown:
            side.rows.setdefault(row, []).append(_node_line(told, known))
            rows.setdefault(row, []).append(node)
            name = node_name(node.number)
            side.ways.extend((node_name(parent), name) for parent in dict.fromkeys(node.parents))
            sources = dict.fromkeys(arrival.source for arrival in told.arrivals)
            sent = [node_name(source) for source in sources if source is not None]
            side.returns.extend((source, name) for source in sent)
    for row, nodes in rows.items():
        side.costs[row] = memory_words(_memory(nodes))
    side.sums.append(f"{counted(len(recording.nodes), 'node')}, kept until the way back:")
    side.sums.append(memory_words(recording.memory(0)))
    side.sums.append("nodes are freed as they are taken off")
    return side


def _memory(nodes: Sequence[NodeRecord]) -> Memory:
    return Memory(sum(n.numbers for n in nodes), sum(n.bookkeeping for n in nodes))


def _node_line(told: NodeStory, known: Mapping[int, Keys]) -> Line:
    node, name = told.record, node_name(told.number)
    keys = known.get(node.number)
    if keys is None:
        keys = Keys(value_key(node.number), f"gradient of node {node.number}")
    role = Role.INTERMEDIATE if node.operation else Role.INPUT
    value = Entry(node.value, node_label(node), node_label(node), keys.value, role)
    gradient = None
    if told.total is not None:
        seed = all(arrival.source is None for arrival in told.arrivals)
        role = Role.SEED if seed else Role.INTERMEDIATE
        role = role if node.operation else Role.RESULT
        meaning = f"gradient of the result by {name}"
        gradient = Entry(told.total.total, f"dC/d{name}", meaning, keys.gradient, role)
    mark = f"off {ordinal(told.order)}" if told.popped is not None else ""
    return Line(name, value, gradient, mark)
