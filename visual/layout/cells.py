"""Cells: boxes with numbers, vectors, and matrices."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TypeGuard

import numpy as np

from lab.notation import number_text
from visual.layout.table import Cell
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Group, Shape, Text, fitted, groups_of, outline, shortened
from visual.scene.theme import Role

NUMBER_SIZE, SMALL_SIZE = 12.5, 11
SEGMENTS = 8  # the most patches of a strip in each direction
MOST_ENTRIES, LISTED_ENTRIES = 24, 4  # the most entries of an array in a tooltip, and in a cell
NARROW = 60  # names and values have less space in narrower cells
WITHOUT_INDEX = str.maketrans({"∂": "d", **dict.fromkeys("₀₁₂₃₄₅₆₇₈₉₋")})
MOST_NAME = 0.7  # the largest fraction of the width of a low cell for its name
TWO_LINES = 30  # a low cell of this height or more has the value below the name
USUAL = "1.234", "‖1.234‖"  # a typical number, and a typical norm
LEAST_NORM = 47.0  # the width of a norm with two digits


def value_text(value: np.ndarray, digits: int = 4) -> str:
    """Return a number, or the norm of an array: ``‖1.234‖``."""
    if value.ndim == 0:
        return number_text(value, digits)
    return f"‖{number_text(norm(value), digits)}‖"


def value_within(value: np.ndarray, room: float, size: float) -> str:
    """Return a number or a norm with as many digits as fit, from four digits to ``-9e-3``."""
    number = value.item() if value.ndim == 0 else norm(value)
    rounded = (number_text(number, digits) for digits in (4, 3, 2, 1))
    text = ""
    for written in (*rounded, _shortest(number)):
        text = f"‖{written}‖" if value.ndim else written
        if text_width(text, size, mono=True) <= room:
            break
    return text


def _shortest(number: object) -> str:
    """Return a number with one digit and a power of ten."""
    if not isinstance(number, float):
        return number_text(number)
    mantissa, e, exponent = f"{number:.0e}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else number_text(number)


def values_text(value: np.ndarray) -> str:
    """Return a number, the entries of a short vector, or the norm and the shape of an array."""
    if value.ndim == 1 and len(value) <= 12:
        return f"[{', '.join(map(number_text, value))}]"
    shape = f" ({'×'.join(map(str, value.shape))})" if value.ndim else ""
    return value_text(value) + shape


def lists_entries(value: np.ndarray | None) -> bool:
    """Return whether `value` is a vector with so few entries that a cell can show all of them."""
    return value is not None and value.ndim == 1 and 0 < len(value) <= LISTED_ENTRIES


def norm(value: np.ndarray) -> float:
    """Return the Euclidean norm of all entries."""
    return float(np.sqrt(np.sum(np.abs(value.astype("float64")) ** 2)))


def full_text(value: np.ndarray) -> str:
    """Return a number with all its digits, or entries of an array with its shape, for tooltips."""
    if value.ndim == 0:
        item = value.item()
        return repr(item or type(item)())  # 0 instead of -0
    shape = "×".join(map(str, value.shape))
    if value.size <= MOST_ENTRIES:
        return f"{_entries(value.tolist())} ({shape})"
    ends = (_entries(part.tolist())[1:-1] for part in (value.ravel()[:3], value.ravel()[-3:]))
    return f"[{', …, '.join(ends)}] ({shape})"


def _entries(values: object) -> str:
    """Return nested lists of numbers with six significant digits."""
    if isinstance(values, list):
        return f"[{', '.join(map(_entries, values))}]"
    return f"{values or 0:.6g}"  # 0 instead of -0


def draw_cell(each: Cell, box: Box) -> Group:
    """Return a box with the value of a cell, below the old value or the label.

    A box that is too low for a value contains only the label. A cell with lines shows the label,
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
    fits = text_width(each.label, 12, bold=True) <= box.width / 2  # a name is next to a strip
    has_name = box.width >= NARROW or (fits and each.old is None)
    draw = _array_inside if value.ndim and has_name else _number_inside
    shapes = (box, *draw(box, value, each.old, each.label))
    return replace(_group(each, shapes, title), quantity=quantity(each.name), value=value)


def _group(each: Cell, shapes: tuple[Shape, ...], title: str) -> Group:
    """Return the shapes of a cell as a group; `title` is the tooltip if the cell has no title."""
    step, moment = each.moment
    return Group(shapes, step, each.key, each.title or title, moment)


def _number_inside(
    box: Box, value: np.ndarray, old: np.ndarray | None, label: str
) -> Iterator[Shape]:
    """Yield a number or a norm, below the old value or the name if there is one."""
    is_single = old is None and not label
    bold = box.role in (Role.OVERWRITTEN, Role.RESULT)
    bottom = box.y + box.height
    number = value_within(value, box.width - (4 if box.width < NARROW else 6), SMALL_SIZE)
    yield _centred(box, bottom - (box.height / 2 - 4.5 if is_single else 9), number, bold)
    if not is_single:
        yield _above(box, "middle", box.width - 8, old, label)


def _array_inside(
    box: Box, value: np.ndarray, old: np.ndarray | None, label: str
) -> Iterator[Shape]:
    """Yield a strip with the old norm or the name to its left, and the norm below the strip.

    The shape follows the norm if there is space.
    """
    room = 0.0
    if old is not None or label:
        text = _above(box, "start", max(box.width / 2 + 2, LEAST_NORM), old, label)
        least = 0 if old is None else box.width / 2  # aligns the numbers of a column
        room = max(text.width, least) + 4
        yield text
    yield from strip(box, value, room)
    words = f"{value_text(value)} {'×'.join(map(str, value.shape))}"
    if text_width(words, SMALL_SIZE, mono=True) > box.width - 6:
        words = words.replace("‖ ", "‖")
    if text_width(words, SMALL_SIZE, mono=True) > box.width - 6:  # the strip shows the shape
        words = value_within(value, box.width - 6, SMALL_SIZE)
    yield _centred(box, box.y + box.height - 7, words, size=SMALL_SIZE)


def _above(box: Box, anchor: str, room: float, old: np.ndarray | None, label: str) -> Text:
    """Return the crossed-out old value, or the name of the cell."""
    middle = anchor == "middle"
    x = box.x + (box.width / 2 if middle else 6)
    if old is None and box.width < NARROW and text_width(label, 12, bold=True) > room:
        return inside(box, x, box.y + 16, shortened(label, box.width - 4, 11), 11, anchor)
    if old is None:
        short = shortened(label, room, 12, bold=True)
        return inside(box, x, box.y + 16, short, 12, anchor, bold=True)
    short = shortened(value_within(old, room, SMALL_SIZE), room, SMALL_SIZE, mono=True)
    top = min(16, box.height - 21)  # the text is above the value also in a low box
    return inside(box, x, box.y + top, short, SMALL_SIZE, anchor, mono=True, struck=True)


def thin_width(value: np.ndarray, name: str) -> float:
    """Return the least width of a low cell with its name next to its value."""
    return 14 + text_width(f"{name}{value_text(value)}", 11, mono=True)


def usual_width(value: np.ndarray, name: str) -> float:
    """Return the width of a low cell for a typical number or norm, or the least width for zeros."""
    if not value.any():
        return thin_width(value, name)
    return 14 + text_width(f"{name}{USUAL[min(value.ndim, 1)]}", 11, mono=True)


def draw_low_cell(each: Cell, box: Box, label: str) -> Group:
    """Return a low box with a `label` next to the value, or above the value in a higher box.

    A cell without a value contains only its label and its lines.
    """
    value = each.value
    if value is None:
        return _group(each, (box, *_words(replace(each, label=label), box)), each.name)
    written, baseline = value_text(value, each.digits), box.y + box.height / 2 + 4
    if box.height >= TWO_LINES:
        written, width = value_within(value, box.width - 6, 11), 0.0
        first, baseline = box.y + 12.5, box.y + box.height - 5.5
    else:
        name = min(text_width(label, 11, mono=True), MOST_NAME * (box.width - 10))
        if box.width - 12 - name < text_width(written, 11, mono=True):
            written = value_within(value, box.width - 12 - name, 11)
        first, width = baseline, text_width(written, 11, mono=True) + 2
    label = shortened(label, box.width - 10 - width, 11, mono=True)
    left = inside(box, box.x + 5, first, label, 11, "start", mono=True, bold=True)
    right = inside(box, box.x + box.width - 5, baseline, written, 11, "end", mono=True)
    if not width:
        right = inside(box, box.x + box.width / 2, baseline, written, 11, mono=True)
    group = _group(each, (box, left, right), f"{each.name} = {full_text(value)}")
    return replace(group, quantity=quantity(each.name), value=value)


def _words(each: Cell, box: Box) -> Iterator[Text]:
    """Yield the label, the value, and the lines of a cell, below one another."""
    room, value = box.width - 6, each.value
    number = [] if value is None else [value_within(value, room, SMALL_SIZE)]
    lines = [*filter(None, [each.label, *number, *each.lines])]
    middle, first = box.x + box.width / 2, box.y + box.height / 2 + 4 - 8 * (len(lines) - 1)
    for n, line in enumerate(lines):
        content = shortened(line, room, SMALL_SIZE, bold=not n)
        yield inside(box, middle, first + 16 * n, content, SMALL_SIZE, bold=not n)


def inside(
    box: Box,
    x: float,
    y: float,
    words: str,
    size: float,
    anchor: str = "middle",
    mono: bool = False,
    bold: bool = False,
    struck: bool = False,
) -> Text:
    """Return a text in the color of the role of a box."""
    look = (x, y, words, size, anchor, mono, bold, False, struck)
    return Text(*look, role=box.role, faded=box.faded)


def _centred(
    box: Box, y: float, content: str, bold: bool = False, size: float = NUMBER_SIZE
) -> Text:
    room = box.width - (4 if box.width < NARROW else 6)
    if text_width(content, size, mono=True) > room:
        size = SMALL_SIZE
    content = shortened(content, room, size, mono=True)
    return inside(box, box.x + box.width / 2, y, content, size, mono=True, bold=bold)


def _sampled(length: int) -> np.ndarray:
    """Return up to `SEGMENTS` indices below `length`, with the first and the last."""
    return np.unique(np.linspace(0, max(0, length - 1), min(length, SEGMENTS)).round().astype(int))


def strip(box: Box, value: np.ndarray, indent: float) -> Iterator[Shape]:
    """Yield the frame and the patches of a vector or a matrix, `indent` pixels from the left.

    The frame is necessary because values near zero have the color of the page. `on_one_scale`
    scales the colors of the patches.
    """
    table = value.astype("float64").reshape(1, -1)
    if value.ndim > 1:
        table = table.reshape(value.shape[0], -1)
    table = table[np.ix_(*(_sampled(length) for length in table.shape))]
    rows, columns = table.shape
    across = _edges(box.x + 6 + indent, box.x + box.width - 6, columns)
    down = _edges(box.y + 6, box.y + box.height - 18, rows)
    wide, high = across[-1] - across[0] + 1, down[-1] - down[0] + 1
    yield replace(outline(across[0] - 1, down[0] - 1, wide, high), faint=True, faded=box.faded)
    for row, (top, bottom) in zip(table, pairwise(down), strict=True):
        for entry, (left, right) in zip(row, pairwise(across), strict=True):
            room = (left, top, right - left - 1, bottom - top - 1)
            yield Box(*room, box.role, heat=float(entry))


def on_one_scale(shapes: Iterable[Shape]) -> tuple[tuple[Shape, ...], dict[str, float]]:
    """Return the shapes with scaled patches, and the value of the full color for each quantity.

    All values of a quantity, and the direct parts (∂) of a gradient, have the same scale: the
    largest finite magnitude of their patches.
    """
    shapes = tuple(shapes)
    scales: dict[str, float] = {}
    for group in groups_of(shapes):
        for patch in filter(_is_patch, group.shapes):
            size = abs(patch.heat or 0.0)
            known = scales.get(group.quantity, 0.0)
            scales[group.quantity] = max(known, size if np.isfinite(size) else 0.0)

    def scaled(shape: Shape, name: str) -> Shape:
        if isinstance(shape, Group):
            own = tuple(scaled(inner, shape.quantity or name) for inner in shape.shapes)
            return replace(shape, shapes=own)
        return replace(shape, scale=scales[name]) if _is_patch(shape) else shape

    return tuple(scaled(shape, "") for shape in shapes) if scales else shapes, scales


def _is_patch(shape: Shape) -> TypeGuard[Box]:
    return isinstance(shape, Box) and shape.heat is not None


def with_distinct_numbers(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Return the shapes with different texts for different numbers of a quantity in a row.

    Numbers that have the same first four digits get up to seven digits, or an ellipsis.
    """
    shapes = tuple(shapes)
    rows: dict[tuple[str, float], list[tuple[Box, Text, float]]] = {}
    for group in groups_of(shapes):
        if not group.cell or group.value is None or group.value.ndim:
            continue
        value, (box, *_) = group.value.item(), [s for s in group.shapes if isinstance(s, Box)]
        for text in (s for s in group.shapes if isinstance(s, Text) and not s.struck):
            if text.content == number_text(value):
                rows.setdefault((group.quantity, text.y), []).append((box, text, value))
    longer: dict[int, str] = {}
    for row in rows.values():
        for box, text, value in row:
            alike = {v for _, other, v in row if other.content == text.content} - {value}
            if alike:
                longer[id(text)] = _distinct(value, alike, box.width - 6, text)

    def with_digits(shape: Shape) -> Shape:
        if isinstance(shape, Group):
            return replace(shape, shapes=tuple(map(with_digits, shape.shapes)))
        content = longer.get(id(shape))
        return replace(shape, content=content) if content and isinstance(shape, Text) else shape

    return tuple(map(with_digits, shapes)) if longer else shapes


def _distinct(value: float, others: Iterable[float], room: float, text: Text) -> str:
    """Return a number with enough digits to differ from the others, or with an ellipsis.

    If neither fits, return the content of `text`.
    """
    for digits in range(5, 8):
        written = number_text(value, digits)
        if text_width(written, text.size, True, text.bold) > room:
            break
        if all(written != number_text(other, digits) for other in others):
            return written
    more = f"{text.content}…"
    return more if text_width(more, text.size, True, text.bold) <= room else text.content


def quantity(name: str) -> str:
    """Return the quantity of a name: ``dC/dh`` for ``∂C/∂h₃``.

    The quantity omits a formula or a slot after the name. All names of operations have the same
    quantity, intermediate results.
    """
    name = name.partition(" = ")[0].partition(": ")[0]
    if "▢" in name or not any(map(str.isalpha, name)):
        return "intermediate results"
    whole, _, rest = name.translate(WITHOUT_INDEX).partition("[")
    return whole + rest.rpartition("]")[2]


def _edges(start: float, stop: float, count: int) -> list[int]:
    """Return the edges of `count` patches, in whole pixels for sharp edges."""
    return [round(start + number * (stop - start) / max(1, count)) for number in range(count + 1)]
