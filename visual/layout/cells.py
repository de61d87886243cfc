"""Cells: boxes that show numbers, vectors, and matrices."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Unpack

import numpy as np

from lab.notation import number_text
from visual.layout.table import Cell
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Group, Shape, Text, TextLook, fitted, outline, shortened
from visual.scene.theme import Role

NUMBER_SIZE, SMALL_SIZE = 12.5, 11
SEGMENTS = 8  # the maximum number of patches of a strip, across and down
MOST_ENTRIES = 24  # the maximum number of entries of an array in a tooltip
NARROW = 60  # narrower cells have smaller margins and smaller names
MOST_NAME = 0.7  # the maximum fraction of the width of a low cell for its name
TWO_LINES = 30  # the minimum height of a low cell with its value below its name, in pixels
USUAL = "1.234", "‖1.234‖"  # a typical number, and a typical norm
LEAST_NORM = 47.0  # the width of a norm with two digits, in pixels
STRIP = 32.0  # the minimum width of a strip with its margins, in pixels


@dataclass(frozen=True)
class NumberText(Text):
    """The text of `number` in a cell. A text with more digits can be `room` pixels wide."""

    number: float = 0.0
    room: float = 0.0


def value_text(value: np.ndarray, digits: int = 4) -> str:
    """Return a number, or the norm of an array, as text: ``1.234`` or ``‖1.234‖``."""
    if value.ndim == 0:
        return number_text(value, digits)
    return f"‖{number_text(np.linalg.norm(value.astype('float64')), digits)}‖"


def value_within(value: np.ndarray, room: float, size: float) -> str:
    """Return a number or a norm as text with the most digits that fit: 4 to 1, or ``-9e-3``."""
    number = np.linalg.norm(value.astype("float64")) if value.ndim else value.item()
    bar = "‖" * (value.ndim > 0)
    mantissa, e, exponent = f"{number:.0e}".partition("e")
    short = [f"{mantissa}e{int(exponent)}"] if isinstance(number, float) and e else []
    shown = [*(number_text(number, digits) for digits in (4, 3, 2, 1)), *short]
    texts = (f"{bar}{each}{bar}" for each in shown)
    fitting = (text for text in texts if text_width(text, size, mono=True) <= room)
    return next(fitting, f"{bar}{shown[-1]}{bar}")


def values_text(value: np.ndarray) -> str:
    """Return a number, the entries of a short vector, or a norm and a shape, as text."""
    if is_listed(value):
        return f"[{', '.join(map(number_text, value))}]"
    shape = f" ({'×'.join(map(str, value.shape))})" if value.ndim else ""
    return value_text(value) + shape


def is_listed(value: np.ndarray) -> bool:
    """Return whether `values_text` lists the entries of an array instead of its norm."""
    return value.ndim == 1 and len(value) <= 12


def full_text(value: np.ndarray) -> str:
    """Return the text of a value in a tooltip: all digits of a number, or entries and a shape."""
    if value.ndim == 0:
        item = value.item()
        return repr(item or type(item)())  # 0 instead of -0
    shape = "×".join(map(str, value.shape))
    if value.size <= MOST_ENTRIES:
        return f"{_entries(value.tolist())} ({shape})"
    ends = (_entries(part.tolist())[1:-1] for part in (value.ravel()[:3], value.ravel()[-3:]))
    return f"[{', …, '.join(ends)}] ({shape})"


def _entries(values: object) -> str:
    """Return the text of nested lists of numbers, with six significant digits."""
    if isinstance(values, list):
        return f"[{', '.join(map(_entries, values))}]"
    return f"{values or 0:.6g}"  # 0 instead of -0


def draw_cell(each: Cell, box: Box) -> Group:
    """Return a box with the value of a cell, or a dash. The old value or the label is above it.

    A box that is too low for a value contains only the label. A cell with `lines` shows the label,
    the value, and the lines.
    """
    value, known = each.value, "" if each.value is None else full_text(each.value)
    if each.lines:
        title = f"{each.name} = {known}" if known else each.name
        return _group(each, (box, *_words(each, box)), title)
    if box.height <= TWO_LINES:
        x, room = box.x + box.width / 2, box.width - 4
        text = fitted(x, box.y + 15, each.label, room, SMALL_SIZE, "middle", role=box.role)
        return _group(each, (box, text), f"{each.name} = {known or 'not written yet'}")
    if value is None:
        dash = _centred(box, box.y + box.height / 2 + 4, "—")
        return _group(each, (box, dash), f"{each.name}: not written yet")
    title = f"{each.name} = {known}"
    if each.old is not None:
        title += f" (before: {full_text(each.old)})"
    name = min(text_width(each.label, SMALL_SIZE), LEAST_NORM)  # a strip is next to the name
    least = NARROW if each.old is not None else name + STRIP
    draw = _array_inside if value.ndim and box.width >= least else _number_inside
    shapes = (box, *draw(box, value, each.old, each.label))
    return _group(each, shapes, title, value)


def _group(
    each: Cell, shapes: tuple[Shape, ...], title: str, value: np.ndarray | None = None
) -> Group:
    """Return the shapes of a cell as a group. If the cell has no title, its tooltip is `title`."""
    (step, moment), name = each.moment, "" if value is None else each.quantity or each.name
    label, title = "" if each.old is not None else each.label, each.title or title
    return Group(shapes, step, each.key, title, moment, quantity=name, label=label, value=value)


def _number_inside(
    box: Box, value: np.ndarray, old: np.ndarray | None, label: str
) -> Iterator[Shape]:
    """Yield the text of a number or a norm, then the old value or the name above it, if any."""
    is_single = old is None and not label
    bold = box.role in (Role.OVERWRITTEN, Role.RESULT)
    bottom = box.y + box.height
    number = value_within(value, box.width - (4 if box.width < NARROW else 6), SMALL_SIZE)
    text = _centred(box, bottom - (box.height / 2 - 4.5 if is_single else 9), number, bold)
    yield _with_number(text, value, box.width - 6)
    if not is_single:
        yield _above(box, "middle", box.width - 8, old, label)


def _array_inside(
    box: Box, value: np.ndarray, old: np.ndarray | None, label: str
) -> Iterator[Shape]:
    """Yield the name or the old norm, a strip to the right of this text, and the norm below.

    The shape of the array follows the norm if there is space.
    """
    room = 0.0
    if old is not None or label:
        text = _above(box, "start", max(box.width / 2 + 2, LEAST_NORM), old, label)
        least = 0 if old is None else box.width / 2  # aligns the numbers of a column
        room = max(text.width, least) + 4
        yield text
    yield from strip(box, value, room)
    number, shape, room = value_text(value), "×".join(map(str, value.shape)), box.width - 6
    texts = f"{number} {shape}", f"{number}{shape}"
    fitting = (text for text in texts if text_width(text, SMALL_SIZE, mono=True) <= room)
    words = next(fitting, value_within(value, room, SMALL_SIZE))  # the strip shows the shape
    yield _centred(box, box.y + box.height - 7, words, size=SMALL_SIZE)


def _above(box: Box, anchor: str, room: float, old: np.ndarray | None, label: str) -> Text:
    """Return the text of the crossed-out old value or, without an old value, of the name."""
    x = box.x + (box.width / 2 if anchor == "middle" else 6)
    if old is None:  # a name that is too wide is smaller
        bold, rest = text_width(label, 12, bold=True) <= room, 4 if anchor == "middle" else STRIP
        size, room = (12, room) if bold else (SMALL_SIZE, max(room, box.width - rest))
        short = shortened(label, room, size, bold=bold)
        return _inside(box, x, box.y + 16, short, size, anchor, bold=bold)
    short = shortened(value_within(old, room, SMALL_SIZE), room, SMALL_SIZE, mono=True)
    top = min(16, box.height - 21)  # the text is above the value also in a low box
    return _inside(box, x, box.y + top, short, SMALL_SIZE, anchor, mono=True, struck=True)


def low_width(value: np.ndarray, label: str, is_typical: bool = False) -> float:
    """Return the minimum width of a low cell with its label next to its value.

    If `is_typical`, a typical number or norm replaces a value that is not zero.
    """
    typical = USUAL[min(value.ndim, 1)]
    written = typical if is_typical and value.any() else value_text(value)
    return 14 + text_width(f"{label}{written}", 11, mono=True)


def draw_low_cell(each: Cell, box: Box, label: str) -> Group:
    """Return a low box with a `label` next to the value or, in a higher box, above the value."""
    value = each.value
    if value is None:
        return _group(each, (box, *_words(replace(each, label=label), box)), each.name)
    written, baseline = value_text(value, each.digits), box.y + box.height / 2 + 4
    room = box.width - 6
    if box.height >= TWO_LINES:
        written, width = value_within(value, room, 11), 0.0
        first, baseline = box.y + 12.5, box.y + box.height - 5.5
    else:
        room -= 6 + min(text_width(label, 11, mono=True), MOST_NAME * (box.width - 10))
        if room < text_width(written, 11, mono=True):
            written = value_within(value, room, 11)
        first, width = baseline, text_width(written, 11, mono=True) + 2
    label = shortened(label, box.width - 10 - width, 11, mono=True)
    left = _inside(box, box.x + 5, first, label, 11, "start", mono=True, bold=True)
    x, anchor = (box.x + box.width - 5, "end") if width else (box.x + box.width / 2, "middle")
    right = _inside(box, x, baseline, written, 11, anchor, mono=True)
    right = _with_number(right, value, room + 1)  # a longer number can be closer to the label
    return _group(each, (box, left, right), f"{each.name} = {full_text(value)}", value)


def _words(each: Cell, box: Box) -> Iterator[Text]:
    """Yield the texts of the label, the value, and the lines of a cell, from top to bottom."""
    room, value = box.width - 6, each.value
    number = [] if value is None else [value_within(value, room, SMALL_SIZE)]
    lines = [*filter(None, [each.label, *number, *each.lines])]
    middle, first = box.x + box.width / 2, box.y + box.height / 2 + 4 - 8 * (len(lines) - 1)
    for n, line in enumerate(lines):
        content = shortened(line, room, SMALL_SIZE, bold=not n)
        yield _inside(box, middle, first + 16 * n, content, SMALL_SIZE, "middle", bold=not n)


def _inside(
    box: Box, x: float, y: float, words: str, size: float, anchor: str, **look: Unpack[TextLook]
) -> Text:
    """Return a text in the color of the role of a box."""
    return Text(x, y, words, size, anchor, role=box.role, faded=box.faded, **look)


def _with_number(text: Text, value: np.ndarray, room: float) -> Text:
    """Return the text of a number as a `NumberText`, and the text of a norm unchanged."""
    return text if value.ndim else NumberText(**vars(text), number=value.item(), room=room)


def _centred(
    box: Box, y: float, content: str, bold: bool = False, size: float = NUMBER_SIZE
) -> Text:
    """Return the text of a number or a norm in the middle of a box, smaller if necessary."""
    room = box.width - (4 if box.width < NARROW else 6)
    if text_width(content, size, mono=True) > room:
        size = SMALL_SIZE
    content = shortened(content, room, size, mono=True)
    return _inside(box, box.x + box.width / 2, y, content, size, "middle", mono=True, bold=bold)


def _rounded(start: float, stop: float, count: int) -> list[int]:
    """Return `count` integers from `start` to `stop`, at nearly equal distances."""
    return [round(number) for number in np.linspace(start, stop, count).tolist()]


def strip(box: Box, value: np.ndarray, indent: float) -> Iterator[Shape]:
    """Yield the frame and the patches of an array, `indent` pixels from the left margin of a box.

    At most 8 × 8 entries, at nearly equal distances, have patches. The frame is necessary because
    values near zero have the color of the page. `on_one_scale` scales the colors of the patches.
    """
    table = value.astype("float64").reshape(1, -1)
    if value.ndim > 1 and value.size:
        table = table.reshape(value.shape[0], -1)
    every = (_rounded(0, max(0, length - 1), min(length, SEGMENTS)) for length in table.shape)
    table = table[np.ix_(*every)]
    rows, columns = table.shape
    across = _rounded(box.x + 6 + indent, box.x + box.width - 6, columns + 1)  # whole pixels
    down = _rounded(box.y + 6, box.y + box.height - 18, rows + 1)
    wide, high = across[-1] - across[0] + 1, down[-1] - down[0] + 1
    yield replace(outline(across[0] - 1, down[0] - 1, wide, high), faint=True, faded=box.faded)
    for row, (top, bottom) in zip(table, pairwise(down), strict=True):
        for entry, (left, right) in zip(row, pairwise(across), strict=True):
            yield Box(left, top, right - left - 1, bottom - top - 1, box.role, heat=float(entry))
