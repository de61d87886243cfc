"""The names and keys of the nodes of an eager tape, and the cells of their values."""

from typing import TYPE_CHECKING

import numpy as np

from lab.notation import value_symbol
from visual.layout.cells import MOST_ENTRIES, full_text
from visual.layout.table import Cell
from visual.scene.theme import Role

if TYPE_CHECKING:
    from lab.eager.records import NodeRecord, RecordedValue

SIGNS = {
    "add": " + ",
    "subtract": " − ",
    "multiply": " · ",
    "divide": " / ",
    "power": " ** ",
    "matmul": " @ ",
    "mutating_add": " += ",
}
SAME = " ≡ "  # between two nodes with the same value


def node_name(number: int) -> str:
    """Return the name of a node, such as ``n₃`` for node 3."""
    return value_symbol("n", number)


def node_label(node: "NodeRecord") -> str:
    """Return the name of a node with its operation or outer node: ``n₃ = n₂ ** 2``, ``n₁ ≡ n₀``."""
    words = [a if isinstance(a, str) else node_name(a) for a in node.arguments]
    label, operation = node_name(node.number), node.operation
    if operation in SIGNS and len(words) == 2:
        label += f" = {SIGNS[operation].join(words)}"
    elif operation == "negative" and len(words) == 1:
        label += f" = −{words[0]}"
    elif operation:
        label += f" = {operation}({', '.join(words)})"
    return label + same_as(node.value)


def same_as(recorded: "RecordedValue") -> str:
    """Return `` ≡ n₂`` if a value is the node n₂ of an outer tape; otherwise an empty text."""
    return "" if recorded.node is None else SAME + node_name(recorded.node)


def full_value_text(recorded: "RecordedValue") -> str:
    """Return a value with all digits. A sparse gradient has its indices, too."""
    if isinstance(recorded.value, np.ndarray):
        return full_text(recorded.value)
    if isinstance(recorded.value, str):
        return recorded.value
    words = f"{full_text(recorded.value.value)} at [{recorded.value.index}], 0 elsewhere"
    places = recorded.value.positions
    if places is not None and places.size <= MOST_ENTRIES:
        words += f"; entries {', '.join(map(str, places.ravel().tolist()))} of the whole array"
    return words


def value_cell(role: Role, recorded: "RecordedValue", name: str, label: str, key: str) -> Cell:
    """Return a cell with a value and its `label`; the tooltip has the `name` and all digits."""
    value, lines, content = None, tuple[str, ...](), recorded.value
    if isinstance(content, str):
        lines = (content,)
    elif isinstance(content, np.ndarray):
        value = content
    else:
        value, label = content.value, f"{label} at [{content.index}]"
    title = f"{name} = {full_value_text(recorded)}"
    return Cell(role, name, value, key=key, label=label, lines=lines, title=title)
