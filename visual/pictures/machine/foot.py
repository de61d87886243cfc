"""The words below a machine, and a text with the content of the picture of a machine."""

from collections.abc import Iterator, Sequence

from visual.pictures.machine.arrange import NARROW, Arrangement
from visual.pictures.machine.content import Ink, MachineContent, Phrase
from visual.pictures.machine.states import Moment
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Shape, Text, fitted
from visual.scene.theme import Role

INKS = {
    Ink.OVERWRITTEN: Role.OVERWRITTEN,
    Ink.PRESERVED: Role.PRESERVED,
    Ink.SAVED: Role.READ,
    Ink.WRONG: Role.WRONG,
}
SENTENCE, LINE_HEIGHT = 15, 20.0


def words_height(arrangement: Arrangement) -> float:
    """Return the height of the words below a machine, in pixels."""
    return (2 + _sentence_lines(arrangement)) * LINE_HEIGHT + 10


def _sentence_lines(arrangement: Arrangement) -> int:
    return 2 if arrangement.width < NARROW or arrangement.machine.runs else 1


def words_below(arrangement: Arrangement, moment: Moment) -> Iterator[Shape]:
    """Yield the shapes of the sentence of a group, of its reason, and of the name of the moment."""
    y, room = arrangement.height + 14, arrangement.width - 16
    machine, group = arrangement.machine, moment.group
    for n, line in enumerate(group.lines[: len(machine.runs) or 1] if group else ()):
        yield from _sentence(line, 8, y + n * LINE_HEIGHT, room)
    values = " · ".join(f"{name} = {''.join(value)}" for name, value in machine.results)
    y += _sentence_lines(arrangement) * LINE_HEIGHT
    yield fitted(8, y, group.reason if group else values, room, 12)
    yield fitted(8, y + LINE_HEIGHT - 2, heading(machine, moment), room, 11, muted=True)


def heading(machine: MachineContent, moment: Moment) -> str:
    """Return the name of a moment, such as ``moment 7 of 9: Scan 2, step 1``."""
    if moment.event is None:
        return f"moment 0 of {machine.moments}: before the first event"
    return f"moment {moment.number} of {machine.moments}: {moment.event.heading}"


def _sentence(pieces: Sequence[Phrase], x: float, y: float, room: float) -> Iterator[Shape]:
    """Yield the shapes of a sentence in one or two lines. A number with a role has a box."""
    whole = "".join(piece.text for piece in pieces)
    size = SENTENCE if text_width(whole, SENTENCE, bold=True) + 10 * len(pieces) < room else 11.5
    end = x + room
    for piece in pieces:
        role, bold = INKS.get(piece.ink), piece.ink not in (Ink.PLAIN, Ink.NAME, Ink.SIGN)
        wide = text_width(piece.text, size, bold=bold)
        if x + wide + 10 > end:
            x, y = end - room + 12, y + LINE_HEIGHT
        if role is not None:
            yield Box(x, y - size - 1, wide + 10, size + 6, role)
            x += 5
        content = piece.text.strip()
        indent = piece.text[: piece.text.find(content)]
        if content:
            left, muted = x + text_width(indent, size, bold=bold), piece.ink is Ink.NAME
            yield Text(left, y, content, size, role=role, bold=bold, muted=muted)
        x += wide + (5 if role else 0)


def text_twin(machine: MachineContent, moment: Moment) -> str:
    """Return the numbers of every tape at `moment`, then the sentences of the event, as text."""
    lines = [machine.title, f"{heading(machine, moment)}.", ""]
    for number, row in enumerate(machine.rows):
        cells = sorted((c for c in machine.cells if c.row == number), key=lambda cell: cell.column)
        numbers = []
        for cell in cells:
            key = cell.at(moment.number)
            numbers.append(f"{cell.name} = {key.text or '—'} ({key.role})")
        scan = machine.scans[row.scan - 1]
        lines.append(f"Scan {scan.label} · {scan.name}, {row.name}: {'; '.join(numbers)}")
    lines.append("")
    for group in moment.event.groups if moment.event else ():
        sentences = group.summary or [part.sentence for part in group.parts]
        lines += ["".join(piece.text for piece in pieces) for pieces in sentences]
        lines += [f"  {group.reason}"] if group.reason else []
    if moment.event is None:
        lines += [f"{name} = {''.join(value)}" for name, value in machine.results]
    for name, correct, faulty, estimate, _ in machine.mistake.table if machine.mistake else ():
        lines.append(f"{name}: correct {correct}, faulty {faulty}, finite differences {estimate}")
    return "\n".join(lines).rstrip() + "\n"
