"""The cells of a routing picture: a name, a number, and where it goes or comes from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.notation import number_text
from visual.layout.cells import full_text
from visual.layout.grid import CELL, entry_name
from visual.pictures.routing.routed import Operand, Routed
from visual.scene.shapes import Box, Group, Shape, Text, shortened, text_width
from visual.scene.theme import Role

HIGH, MASK_HIGH = 54, 36
SOURCES = (Role.FIRST, Role.SECOND, Role.THIRD)
NAME, NUMBER, SMALL, NOTE = 12, 12.5, 11, 11
MOST_TOLD = 6


@dataclass(frozen=True)
class Step:
    """One of the three panels: what it shows, and what is put before the names in it."""

    number: int
    title: str
    prefix: str
    back: bool = False


FORWARD, TANGENT = Step(0, "forward", ""), Step(1, "tangent", "d")
COTANGENT = Step(2, "cotangent", "g", back=True)
STEPS = (FORWARD, TANGENT, COTANGENT)


def role_of(number: int) -> Role:
    """How cells that have to do with an input look; a fourth one looks like the first."""
    return SOURCES[number % len(SOURCES)]


def held(thing: Operand | Routed, step: Step) -> np.ndarray:
    """What an input or the output has at a step."""
    return {FORWARD: thing.value, TANGENT: thing.tangent, COTANGENT: thing.cotangent}[step]


def input_cell(box: Box, found: Routed, operand: Operand, entry: int, step: Step) -> Group:
    """A cell of an input: to whom its number goes, or, backwards, what was added up in it."""
    readers = found.sources.readers(operand.number, entry)
    role = box.role if len(readers) else Role.UNNEEDED
    if step.back and operand.kinks.reshape(-1)[entry]:
        role = Role.UNDEFINED
    told = [entry_name(f"{step.prefix}z", found.value.shape, int(r)) for r in readers[:MOST_TOLD]]
    numbers = found.cotangent.reshape(-1)[readers[:MOST_TOLD]]
    many = len(readers) > MOST_TOLD
    if step.back:
        note, detail = _arrived(told, numbers, len(readers), many)
        if role is Role.UNDEFINED:
            detail += "; on a bound there is no derivative: all of it goes to x, by choice"
    else:
        note, detail = _sent(told, len(readers), many)
    name = entry_name(f"{step.prefix}{operand.name}", operand.value.shape, entry)
    key = entry_name(operand.name, operand.value.shape, entry)
    return _cell(box, role, name, held(operand, step).reshape(-1)[entry], note, detail, key)


def output_cell(box: Box, found: Routed, entry: int, step: Step) -> Group:
    """A cell of the output, which looks like the input that it takes."""
    number = int(found.sources.input.reshape(-1)[entry])
    operand = found.operands[number]
    place = int(found.sources.entry.reshape(-1)[entry])
    other = entry_name(f"{step.prefix}{operand.name}", operand.value.shape, place)
    kink = bool(found.nonsmooth.reshape(-1)[entry])
    role = Role.UNDEFINED if kink else role_of(number)
    way = "→" if step.back else "←"
    detail = f"{'goes to' if step.back else 'from'} {other}"
    if kink:
        detail += "; x is on a bound: there is no derivative, and the choice is x"
    name = entry_name(f"{step.prefix}z", found.value.shape, entry)
    key = entry_name("z", found.value.shape, entry)
    value = held(found, step).reshape(-1)[entry]
    note = f"kink {way} {other}" if kink else f"{way} {other}"
    return _cell(box, role, name, value, note, detail, key)


def mask_cell(box: Box, condition: np.ndarray, entry: int) -> Group:
    """A cell of a condition: which of the two it chooses."""
    holds = bool(condition.reshape(-1)[entry])
    name = entry_name("condition", condition.shape, entry)
    short = entry_name("c", condition.shape, entry)
    role = role_of(0 if holds else 1)
    words = f"{holds}: {'x' if holds else 'y'}"
    shapes = _lines(box, role, [(short, NAME - 1, True, 14), (words, SMALL + 0.5, False, 28)])
    return Group(shapes, None, name, f"{name} = {holds}, which chooses {'x' if holds else 'y'}")


def empty_cell(x: float, y: float, shape: tuple[int, ...]) -> Group:
    """What stands for an array without entries."""
    box = Box(x, y, CELL, HIGH, Role.UNNEEDED)
    words = f"{'×'.join(map(str, shape))}: empty"
    shapes = _lines(box, Role.UNNEEDED, [(words, SMALL, False, HIGH / 2 + 4)])
    return Group(shapes, None, "", f"an array of shape {shape} has no entries")


def _sent(told: Sequence[str], count: int, many: bool) -> tuple[str, str]:
    if not count:
        return "→ nowhere", "goes nowhere"
    note = f"→ {told[0]}" if count == 1 else f"→ {count:,} entries"
    if text_width(note, NOTE, mono=True) > CELL - 8:
        note = f"→ {count:,}" if count > 1 else f"→ {told[0].partition('[')[0]}"
    return note, f"goes to {_joined(told, many)}"


def _arrived(told: Sequence[str], numbers: np.ndarray, count: int, many: bool) -> tuple[str, str]:
    if not count:
        return "← nothing", "nothing arrives"
    if count == 1:
        return f"← {told[0]}", f"from {told[0]}"
    note = f"sum of {count:,}"
    terms = " + ".join(map(number_text, numbers))
    if not many and text_width(terms, NOTE, mono=True) <= CELL - 8:
        note = terms
    each = [f"{n} = {full_text(np.asarray(v))}" for n, v in zip(told, numbers, strict=True)]
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
    """A box in a role, and lines of text in it: content, size, whether it is a name, depth."""
    middle = box.x + box.width / 2
    texts = []
    for content, size, name, depth in lines:
        room = box.width - 6
        # an index is rather written small than shortened: it tells cells apart
        fits = (s for s in (size, size - 1, 9, 8) if _width(content, s, name) <= room)
        size = min(size, next(fits, 8))
        content = shortened(content, room, size, mono=not name, bold=name)
        text = Text(middle, box.y + depth, content, size, "middle", mono=not name, bold=name)
        texts.append(replace(text, role=role))
    return Box(box.x, box.y, box.width, box.height, role), *texts


def _width(content: str, size: float, name: bool) -> float:
    return text_width(content, size, mono=not name, bold=name)
