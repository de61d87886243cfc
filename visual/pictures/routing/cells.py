"""The cells of a routing picture: a name, a value, and its source or its readers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.notation import number_text
from visual.layout.cells import full_text
from visual.layout.grid import CELL, entry_name
from visual.pictures.routing.routed import Routed, RoutedOperand
from visual.scene.shapes import Box, Group, Shape, Text, shortened, text_width
from visual.scene.theme import Role

HIGH, MASK_HIGH = 54, 36
SOURCES = (Role.FIRST, Role.SECOND, Role.THIRD)
NAME, NUMBER, SMALL, NOTE = 12, 12.5, 11, 11
MOST_NAMES = 6  # in a tooltip


@dataclass(frozen=True)
class RoutedStep:
    """One of the three panels: its number, its title, and the prefix of the names in it."""

    number: int
    title: str
    prefix: str
    back: bool = False


FORWARD, TANGENT = RoutedStep(0, "forward", ""), RoutedStep(1, "tangent", "d")
COTANGENT = RoutedStep(2, "cotangent", "g", back=True)
STEPS = (FORWARD, TANGENT, COTANGENT)


def role_of(number: int) -> Role:
    """Return the role of the cells of an input; the fourth input has the role of the first."""
    return SOURCES[number % len(SOURCES)]


def array_of(thing: RoutedOperand | Routed, step: RoutedStep) -> np.ndarray:
    """Return the array of an input, or of the output, in a panel."""
    return {FORWARD: thing.value, TANGENT: thing.tangent, COTANGENT: thing.cotangent}[step]


def input_cell(
    box: Box, routed: Routed, operand: RoutedOperand, entry: int, step: RoutedStep
) -> Group:
    """Return a cell of an input, with its readers or, backward, with the terms of its sum."""
    readers = routed.sources.readers(operand.number, entry)
    role = box.role if len(readers) else Role.UNNEEDED
    first, shape = readers[:MOST_NAMES], routed.value.shape
    names = [entry_name(f"{step.prefix}z", shape, int(reader)) for reader in first]
    numbers = routed.cotangent.reshape(-1)[first]
    many = len(readers) > MOST_NAMES
    if step.back:
        note, detail = _terms(names, numbers, len(readers), many)
    else:
        note, detail = _readers(names, len(readers), many)
    name = entry_name(f"{step.prefix}{operand.name}", operand.value.shape, entry)
    key = entry_name(operand.name, operand.value.shape, entry)
    return _cell(box, role, name, array_of(operand, step).reshape(-1)[entry], note, detail, key)


def output_cell(box: Box, routed: Routed, entry: int, step: RoutedStep) -> Group:
    """Return a cell of the output, in the role of the input that it copies."""
    number = int(routed.sources.input.reshape(-1)[entry])
    operand = routed.operands[number]
    place = int(routed.sources.entry.reshape(-1)[entry])
    other = entry_name(f"{step.prefix}{operand.name}", operand.value.shape, place)
    kink = bool(routed.nonsmooth.reshape(-1)[entry])
    role = Role.UNDEFINED if kink else role_of(number)
    arrow = "→" if step.back else "←"
    detail = f"{'goes to' if step.back else 'from'} {other}"
    if kink:
        detail += "; x is equal to a bound: no derivative, by convention all goes to x"
    name = entry_name(f"{step.prefix}z", routed.value.shape, entry)
    key = entry_name("z", routed.value.shape, entry)
    value = array_of(routed, step).reshape(-1)[entry]
    note = f"kink {arrow} {other}" if kink else f"{arrow} {other}"
    return _cell(box, role, name, value, note, detail, key)


def mask_cell(box: Box, condition: np.ndarray, entry: int) -> Group:
    """Return a cell of a condition, with the input that it selects."""
    holds = bool(condition.reshape(-1)[entry])
    name = entry_name("condition", condition.shape, entry)
    short = entry_name("c", condition.shape, entry)
    role = role_of(0 if holds else 1)
    words = f"{holds}: {'x' if holds else 'y'}"
    shapes = _lines(box, role, [(short, NAME - 1, True, 14), (words, SMALL + 0.5, False, 28)])
    return Group(shapes, None, name, f"{name} = {holds}, which selects {'x' if holds else 'y'}")


def empty_cell(x: float, y: float, shape: tuple[int, ...]) -> Group:
    """Return the cell that represents an array without entries."""
    box = Box(x, y, CELL, HIGH, Role.UNNEEDED)
    words = f"{'×'.join(map(str, shape))}: empty"
    shapes = _lines(box, Role.UNNEEDED, [(words, SMALL, False, HIGH / 2 + 4)])
    return Group(shapes, None, "", f"array of shape {shape}, without entries")


def _readers(names: Sequence[str], count: int, many: bool) -> tuple[str, str]:
    if not count:
        return "→ nowhere", "no reader"
    note = f"→ {names[0]}" if count == 1 else f"→ {count:,} entries"
    if text_width(note, NOTE, mono=True) > CELL - 8:
        note = f"→ {count:,}" if count > 1 else f"→ {names[0].partition('[')[0]}"
    return note, f"goes to {_joined(names, many)}"


def _terms(names: Sequence[str], numbers: np.ndarray, count: int, many: bool) -> tuple[str, str]:
    if not count:
        return "← nothing", "no contribution"
    if count == 1:
        return f"← {names[0]}", f"from {names[0]}"
    note = f"sum of {count:,}"
    terms = " + ".join(map(number_text, numbers))
    if not many and text_width(terms, NOTE, mono=True) <= CELL - 8:
        note = terms
    each = [f"{n} = {full_text(np.asarray(v))}" for n, v in zip(names, numbers, strict=True)]
    return note, f"the sum of {count:,}: {_joined(each, many)}"


def _joined(words: Sequence[str], many: bool) -> str:
    return ", ".join(words) + (", …" if many else "")


def _cell(
    box: Box, role: Role, name: str, value: np.ndarray, note: str, detail: str, key: str
) -> Group:
    number = number_text(value)
    fits = text_width(number, NUMBER, mono=True) <= box.width - 8
    lines = [
        (name, NAME, True, 15),
        (number, NUMBER if fits else NOTE, False, 32),
        (note, NOTE, False, 47),
    ]
    title = f"{name} = {full_text(np.asarray(value))}; {detail}"
    return Group(_lines(box, role, lines), None, f"routing:{key}", title)


def _lines(
    box: Box, role: Role, lines: Sequence[tuple[str, float, bool, float]]
) -> tuple[Shape, ...]:
    """Return a box, and lines of text in it: content, size, whether it is a name, depth."""
    middle = box.x + box.width / 2
    texts = []
    for content, size, name, depth in lines:
        room = box.width - 6
        # Small letters are better than a shortened index, which distinguishes cells.
        fits = (s for s in (size, size - 1, 9, 8) if _width(content, s, name) <= room)
        size = min(size, next(fits, 8))
        content = shortened(content, room, size, mono=not name, bold=name)
        text = Text(middle, box.y + depth, content, size, "middle", mono=not name, bold=name)
        texts.append(replace(text, role=role))
    return Box(box.x, box.y, box.width, box.height, role), *texts


def _width(content: str, size: float, name: bool) -> float:
    return text_width(content, size, mono=not name, bold=name)
