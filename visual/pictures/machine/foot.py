"""The words below a machine: the sentence of the event, its reason, the legend, the text twin."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from visual.pictures.machine.arrange import Arrangement
from visual.pictures.machine.content import Event, Group, Ink, Machine, Piece
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Shape, Text, fitted
from visual.scene.theme import Role

INKS = {
    Ink.WRITTEN: Role.OVERWRITTEN,
    Ink.PRESERVED: Role.PRESERVED,
    Ink.SAVED: Role.READ,
    Ink.WRONG: Role.WRONG,
}
SENTENCE, LINE, LEGEND = 15, 20.0, 11
KEY = (
    (Role.OVERWRITTEN, "overwritten: read, then replaced"),
    (Role.PRESERVED, "preserved: read, unchanged"),
    (Role.READ, "saved value: sets the factor"),
)
RESTORED, SEED = "↺ written back unchanged", "◤ seed: nonzero initial gradient"


class Stage(IntEnum):
    """How far a group has come."""

    READ = 0  # the factor lies on the arrow
    ADD = 1  # the products stand below the old value
    REST = 2  # the sum stands in its slot


@dataclass(frozen=True)
class Moment:
    """A stage of a group of an event; `number` 0 comes before all events."""

    number: int
    event: Event | None
    group: int
    stage: Stage = Stage.REST

    @property
    def playing(self) -> Group | None:
        """The group that is shown."""
        return self.event.groups[self.group] if self.event and self.event.groups else None

    @property
    def is_end(self) -> bool:
        """Whether the event is complete."""
        last = self.event is None or self.group >= len(self.event.groups) - 1
        return last and self.stage is Stage.REST


def at_moment(machine: Machine, number: int) -> Moment:
    """Return the end of event `number`, with its first group as the one to explain."""
    event = machine.events[number - 1] if number else None
    return Moment(number, event, 0)


def foot_height(arrangement: Arrangement) -> float:
    """Return the height of the words below a machine, in pixels."""
    return 3 * LINE + 10 + 16 * len(_legend_lines(arrangement.width))


def foot(arrangement: Arrangement, moment: Moment) -> Iterator[Shape]:
    """Yield the sentence, its reason, the name of the event, and the legend."""
    y, room = arrangement.height + 14, arrangement.width - 16
    group = moment.playing
    sentence = group.summary or group.parts[0].sentence if group else ()
    yield from _sentence(sentence, 8, y, room)
    reason = (
        group.reason if group else " · ".join(f"{n} = {v}" for n, v in arrangement.machine.results)
    )
    yield fitted(8, y + LINE, reason, room, 12)
    yield fitted(8, y + 2 * LINE - 2, heading(arrangement.machine, moment), room, 11, muted=True)
    for n, line in enumerate(_legend_lines(arrangement.width)):
        yield from _legend(line, y + 3 * LINE + 16 * n)


def heading(machine: Machine, moment: Moment) -> str:
    """Return ``moment 7 of 9: Scan 2, step 1``."""
    if moment.event is None:
        return f"moment 0 of {machine.moments}: before the first event"
    return f"moment {moment.number} of {machine.moments}: {moment.event.heading}"


def _sentence(pieces: Sequence[Piece], x: float, y: float, room: float) -> Iterator[Shape]:
    """The pieces side by side, colored numbers in boxes of their role; smaller if they need to."""
    whole = "".join(piece.text for piece in pieces)
    size = SENTENCE if text_width(whole, SENTENCE, bold=True) + 10 * len(pieces) < room else 11.5
    end = x + room
    for piece in pieces:
        role, bold = INKS.get(piece.ink), piece.ink not in (Ink.PLAIN, Ink.NAME)
        wide = text_width(piece.text, size, bold=bold)
        if x + wide > end:
            yield fitted(x, y, piece.text, max(20.0, end - x), size, bold=bold)
            return
        if role is not None:
            yield Box(x, y - size - 1, wide + 10, size + 6, role)
            x += 5
        yield Text(x, y, piece.text, size, bold=bold, muted=piece.ink is Ink.NAME, role=role)
        x += wide + (5 if role else 0)


def _legend_lines(width: float) -> list[list[tuple[Role | None, str]]]:
    """The entries of the legend, in as many lines as the width needs."""
    entries: list[tuple[Role | None, str]] = [*KEY, (None, RESTORED), (None, SEED)]
    lines, x = [list[tuple[Role | None, str]]()], 8.0
    for role, text in entries:
        wide = text_width(text, LEGEND) + (30 if role else 14)
        if x + wide > width and lines[-1]:
            lines.append([])
            x = 8.0
        lines[-1].append((role, text))
        x += wide
    return lines


def _legend(entries: Sequence[tuple[Role | None, str]], y: float) -> Iterator[Shape]:
    x = 8.0
    for role, text in entries:
        if role is not None:
            yield Box(x, y - 9, 13, 11, role)
            x += 17
        yield Text(x, y, text, LEGEND, muted=True)
        x += text_width(text, LEGEND) + 13


def text_twin(machine: Machine, moment: Moment) -> str:
    """Return the machine in words: every tape with its numbers, then the sentence of the event."""
    lines = [machine.title, f"{heading(machine, moment)}.", ""]
    for number, row in enumerate(machine.rows):
        cells = sorted((c for c in machine.cells if c.row == number), key=lambda cell: cell.column)
        told = []
        for cell in cells:
            key = cell.at(moment.number)
            told.append(f"{cell.name} = {key.text or '—'} ({key.role})")
        lines.append(f"Scan {row.scan}, {row.name}: {'; '.join(told)}")
    lines.append("")
    for group in moment.event.groups if moment.event else ():
        sentences = [group.summary] if group.summary else [part.sentence for part in group.parts]
        lines += ["".join(piece.text for piece in pieces) for pieces in sentences]
        lines += [f"  {group.reason}"] if group.reason else []
    if moment.event is None:
        lines += [f"{name} = {value}" for name, value in machine.results]
    return "\n".join(lines).rstrip() + "\n"
