"""The nodes of an eager tape: their names, their events, and the cells of their values.

A moment begins when a node is appended or receives a gradient. The number of the moment is the
number of this event in ``lab.events(recording)``.
"""

from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np

from lab.eager.records import Appended, NodeRecord, Popped, RecordedValue, Recording, Sent, Totaled
from lab.notation import number_text, value_symbol
from visual.layout.arrows import Moment
from visual.layout.cells import MOST_ENTRIES, full_text
from visual.layout.table import Cell
from visual.scene.theme import Role

INFIX = {"add": "+", "subtract": "−", "multiply": "·", "divide": "/", "power": "**"}
INFIX |= {"matmul": "@", "mutating_add": "+="}


@dataclass
class NodeEvents:
    """The events of a node.

    `appended`, `sent`, and `ended` are the moments at which the node is created, sends gradients,
    and leaves the tape. `received` contains the received gradients with their moments. `end` is the
    event with the total gradient, or None without a gradient.
    """

    record: NodeRecord
    appended: Moment
    received: list[tuple[tuple[int, str], Sent]] = field(default_factory=list)
    sent: list[Moment] = field(default_factory=list)
    ended: Moment = (None, "")
    end: Totaled | None = None

    @property
    def name(self) -> str:
        """The name of the node."""
        return node_name(self.record.number)

    @classmethod
    def each(cls, recording: Recording) -> "list[NodeEvents]":
        """Return the events of each node of a recording."""
        nodes, number, moment = list[NodeEvents](), 0, (0, "")
        for event in recording.events:
            number += isinstance(event, Appended | Sent)
            match event:
                case Appended(node):
                    record, name = recording.nodes[node], node_name(node)
                    moment = number, f"{name} is appended to tape {record.tape}"
                    nodes.append(cls(record, moment))
                case Sent(source, node):
                    sender = "" if source is None else node_name(source)
                    origin = f"a contribution from {sender}" if sender else "its seed"
                    moment = number, f"{node_name(node)} receives {origin}"
                    nodes[node].received.append((moment, event))
                    if source is not None:
                        nodes[source].sent.append(moment)
                case Popped(node):
                    nodes[node].ended = moment
                case Totaled(node):
                    nodes[node].ended, nodes[node].end = moment, event
        return nodes

    @property
    def label(self) -> str:
        """The name of the node with its operation or outer node: ``n₃ = n₂ ** 2``, ``n₁ ≡ n₀``."""
        node, label = self.record, self.name
        words = [a if isinstance(a, str) else node_name(a) for a in node.arguments]
        sign = INFIX.get(node.operation)
        if sign and len(words) == 2:
            label += f" = {words[0]} {sign} {words[1]}"
        elif node.operation == "negative" and len(words) == 1:
            label += f" = −{words[0]}"
        elif node.operation:
            label += f" = {node.operation}({', '.join(words)})"
        return label + same_as(node.value)

    @property
    def is_start(self) -> bool:
        """Whether the node is the start of its tape."""
        return not self.record.operation

    @property
    def is_seeded(self) -> bool:
        """Whether a received gradient is the seed of a backward pass."""
        return any(sent.source is None for _, sent in self.received)

    @property
    def digits(self) -> int:
        """The smallest number of digits, 4 or 5, that makes the printed sum exact; otherwise 4."""
        if self.end is None or not self.end.is_sum:
            return 4
        values = [*(sent.gradient.value for _, sent in self.received), self.end.total.value]
        numbers = [v for v in values if isinstance(v, np.ndarray) and v.dtype.kind in "fiu"]
        are_finite = all(not v.ndim and np.isfinite(v) for v in numbers)
        for digits in (4, 5) if are_finite and len(numbers) == len(values) else ():
            *parts, total = (Decimal(number_text(value, digits)) for value in numbers)
            if sum(parts) == total:
                return digits
        return 4


def node_name(number: int) -> str:
    """Return the name of a node, such as ``n₃`` for node 3."""
    return value_symbol("n", number)


def same_as(recorded: RecordedValue) -> str:
    """Return `` ≡ n₂`` if a value is the node n₂ of an outer tape; otherwise an empty text."""
    return "" if recorded.node is None else f" ≡ {node_name(recorded.node)}"


def full_value_text(recorded: RecordedValue) -> str:
    """Return a value as text, with all digits. For a sparse gradient, include its indices."""
    if isinstance(recorded.value, np.ndarray):
        return full_text(recorded.value)
    if isinstance(recorded.value, str):
        return recorded.value
    words = f"{full_text(recorded.value.value)} at [{recorded.value.index}], 0 elsewhere"
    places = recorded.value.positions
    if places is not None and places.size <= MOST_ENTRIES:
        words += f"; entries {', '.join(map(str, places.ravel().tolist()))} of the whole array"
    return words


def value_cell(
    role: Role, recorded: RecordedValue, name: str, label: str, key: str, quantity: str = "n"
) -> Cell:
    """Return a cell with a value and its `label`. Its tooltip shows `name` and all digits."""
    value, lines, content = None, tuple[str, ...](), recorded.value
    if isinstance(content, str):
        lines = (content,)
    elif isinstance(content, np.ndarray):
        value = content
    else:
        value, label = content.value, f"{label} at [{content.index}]"
    title = f"{name} = {full_value_text(recorded)}"
    cell = Cell(role, name, value, key=key, label=label, lines=lines, title=title)
    return replace(cell, quantity=quantity)
