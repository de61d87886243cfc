"""Names and keys of nodes, values, and gradients of an eager tape."""

from collections.abc import Hashable, Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from lab.notation import number_text, value_symbol
from visual.layout.arrows import Moment
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
SAME = " ≡ "  # between two names of the same quantity


def node_name(number: int) -> str:
    """Return ``n₃`` for node 3."""
    return value_symbol("n", number)


def node_label(node: "NodeRecord") -> str:
    """Return ``n₃ = n₂ ** 2``, and for an inner node also the outer node: ``n₁ ≡ n₀``."""
    words = [a if isinstance(a, str) else node_name(a) for a in node.arguments]
    label, operation = node_name(node.number), node.operation
    if operation in SIGNS and len(words) == 2:
        label += f" = {SIGNS[operation].join(words)}"
    elif operation == "negative" and len(words) == 1:
        label += f" = −{words[0]}"
    elif operation:
        label += f" = {operation}({', '.join(words)})"
    return label + same_as(node.value)


def same_as(held: "RecordedValue") -> str:
    """Return `` ≡ n₂`` if a value is a node of an outer tape."""
    return "" if held.node is None else SAME + node_name(held.node)


def value_key(number: int) -> str:
    """Return the key of a node's value."""
    return f"value of node {number}"


def digits_of_sum(parts: Iterable["RecordedValue"], total: "RecordedValue") -> int:
    """Return 4, or 5 if the printed numbers have the printed sum only with five digits."""
    values = [held.value for held in (*parts, total)]
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    numbers = [array for array in arrays if not array.ndim and array.dtype.kind in "fiu"]
    if len(numbers) == len(values) and np.isfinite(numbers).all():
        for digits in (4, 5):
            *shown, whole = (Decimal(number_text(value, digits)) for value in numbers)
            if sum(shown) == whole:
                return digits
    return 4


def held_in_full(held: "RecordedValue") -> str:
    """Return a value with all its digits, and the indices of a sparse gradient."""
    if isinstance(held.value, np.ndarray):
        return full_text(held.value)
    if isinstance(held.value, str):
        return held.value
    words = f"{full_text(held.value.value)} at [{held.value.index}], 0 elsewhere"
    places = held.value.positions
    if places is not None and places.size <= MOST_ENTRIES:
        words += f"; entries {', '.join(map(str, places.ravel().tolist()))} of the whole array"
    return words


def held_cell(
    role: Role,
    held: "RecordedValue",
    name: str,
    label: str,
    key: str,
    id: Hashable = None,
    moment: Moment = (None, ""),
    digits: int = 4,
) -> Cell:
    """Return a cell with the `label` of a value and, in its tooltip, its `name` and all digits."""
    value: np.ndarray | None = None
    lines: tuple[str, ...] = ()
    if isinstance(held.value, np.ndarray):
        value = held.value
    elif isinstance(held.value, str):
        lines = (held.value,)
    else:
        value, label = held.value.value, f"{label} at [{held.value.index}]"
    return Cell(
        role,
        name,
        value,
        key=key,
        label=label,
        lines=lines,
        title=f"{name} = {held_in_full(held)}",
        digits=digits,
        id=id,
        moment=moment,
    )
