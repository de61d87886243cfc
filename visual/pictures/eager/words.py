"""Names and keys of nodes, values, and gradients of an eager tape."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from lab.notation import number_text, value_symbol
from visual.layout.cells import MOST_ENTRIES, full_text, inside, strip, thin_cell, value_text
from visual.scene.shapes import Box, Group, Shape, shortened, text_width

if TYPE_CHECKING:
    from lab.eager.records import NodeRecord, RecordedValue, Recording

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


def ordinal(number: int) -> str:
    """Return ``1st``, ``2nd``, or ``12th``."""
    tens = number % 100 // 10
    return f"{number:,}{'th' if tens == 1 else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def counted(number: int, word: str) -> str:
    """Return ``1 node`` or ``2,000 nodes``."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def operation_words(node: "NodeRecord") -> str:
    """Return the operation of a node, as ``n₂ ** 2``; empty for a start node."""
    words = [a if isinstance(a, str) else node_name(a) for a in node.arguments]
    if node.operation in SIGNS and len(words) == 2:
        return SIGNS[node.operation].join(words)
    if node.operation == "negative" and len(words) == 1:
        return f"−{words[0]}"
    return f"{node.operation}({', '.join(words)})" if node.operation else ""


def node_label(node: "NodeRecord") -> str:
    """Return ``n₃ = n₂ ** 2``, and for an inner node its outer node, as ``n₁ ≡ n₀``."""
    made = operation_words(node)
    words = f"{node_name(node.number)} = {made}" if made else node_name(node.number)
    return words + same_as(node.value)


def same_as(held: "RecordedValue") -> str:
    """Return `` ≡ n₂`` if a value is a node of an outer tape."""
    return "" if held.node is None else SAME + node_name(held.node)


def held_key(recording: "Recording", held: "RecordedValue", otherwise: str) -> str:
    """Return the key of the outermost node that a value is, or `otherwise`."""
    node, key = held.node, otherwise
    while node is not None:
        key, node = value_key(node), recording.nodes[node].value.node
    return key


def value_key(number: int) -> str:
    """Return the key of a node's value."""
    return f"value of node {number}"


def held_text(held: "RecordedValue", digits: int = 4) -> str:
    """Return a value as short text."""
    if isinstance(held.value, np.ndarray):
        return value_text(held.value, digits)
    if isinstance(held.value, str):
        return held.value
    return f"{value_text(held.value.value)} at [{held.value.index}]"


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


def value_cell(box: Box, held: "RecordedValue", label: str, key: str, short: str = "") -> Group:
    """Return a box with a label, or its `short` form, and a value; arrays have strip and norm."""
    name = shortened(short or label, box.width - 8, 12, bold=True)
    x, y = box.x + box.width / 2, box.y + box.height - 9
    shapes: list[Shape] = [box, inside(box, x, box.y + 16, name, 12, bold=True)]
    if isinstance(held.value, np.ndarray) and held.value.ndim:
        words = f"{value_text(held.value)} {'×'.join(map(str, held.value.shape))}"
        shapes.append(inside(box, box.x + box.width - 6, y, words, 11, "end", mono=True))
        room = box.width - text_width(words, 11, mono=True) - 6
        # `strip` leaves space for the text of other cells above and below it
        shapes += strip(replace(box, y=y - 17, height=38, width=room), held.value, 0)
    else:
        size = 12.5 if isinstance(held.value, np.ndarray) else 11
        words = shortened(held_text(held), box.width - 8, size, mono=True)
        shapes.append(inside(box, x, y, words, size, mono=True))
    return Group(tuple(shapes), None, key, f"{label} = {held_in_full(held)}")


def slip(
    box: Box, held: "RecordedValue", label: str, meaning: str, key: str, digits: int = 4
) -> Group:
    """Return a low box with a label and a value; the tooltip has the name `meaning`."""
    title = f"{meaning} = {held_in_full(held)}"
    if isinstance(held.value, np.ndarray):
        return replace(thin_cell(box, held.value, label, None, key, digits), title=title)
    name = shortened(label, 100, 11, bold=True)
    room = box.width - 18 - text_width(name, 11, bold=True)
    words = shortened(held_text(held), room, 11, mono=True)
    y = box.y + box.height - 8
    shapes: tuple[Shape, ...] = (
        box,
        inside(box, box.x + 5, y, name, 11, "start", bold=True),
        inside(box, box.x + box.width - 5, y, words, 11, "end", mono=True),
    )
    return Group(shapes, None, key, title)
