"""The tapes of a step, before and after it: which slots find room, and how they look."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.equations.sentences import StepOf
from lab.notation import leaves_of, number_text, signed
from lab.records import cached_property
from lab.tape import Kind
from lab.traces.touched import Touched
from lab.traces.trace import TapeTrace
from visual.layout.cells import full_text, is_told, strip, value_within
from visual.layout.columns import Gap, Timeline, column_of, timeline, with_gaps
from visual.layout.names import NamedScan, counted
from visual.scene.combinators import Piece, above, beside, gap, named, sized
from visual.scene.fonts import MONO_WIDTH, text_width
from visual.scene.shapes import Box, Group, Shape, Text, fitted, shortened
from visual.scene.theme import Role

SIDE = 68.0  # of the names of the rows
SMALL, PLAIN, LARGE = 13.0, 14.0, 18.0
CELL, NARROWEST, HIGH, STRUCK = 104.0, 84.0, 46.0, 15.0
HEAD, FOLD, APART, TAPES = SMALL * 1.2, 34.0, 10.0, 22.0
PITCH = 16.0  # of the numbers of a vector
BESIDE = 8  # slots that are looked at on either side of those which the step touches


@dataclass(frozen=True)
class Slot:
    """A row of a tape, and by which tap the step knows it."""

    row: int
    tap: str = ""


@dataclass(frozen=True, eq=False)
class Shown:
    """A tape in the picture: its name, and its slots from left to right, with gaps."""

    name: str
    tape: TapeTrace
    items: tuple[Slot | Gap, ...]

    @property
    def slots(self) -> int:
        """How many slots there are."""
        return sum(isinstance(item, Slot) for item in self.items)


def at(when: str, tape: TapeTrace, row: int) -> str:
    """The name of a slot in the picture; of a running total there is one."""
    return f"{when} {tape.argument} {'' if tape.is_total else row}"


@dataclass(frozen=True, eq=False)
class Tapes:
    """All tapes of a Scan, of which one step reads and writes some slots, so wide together.

    One that is `asked` about is shown alone, and nothing tells what the step does to it.
    """

    named: NamedScan
    one: StepOf
    width: float
    asked: TapeTrace | None = None

    @cached_property
    def shown(self) -> list[Shown]:
        """The tapes that find room, those of the main formula before all others."""
        main = self.one.main
        near = {main.target.argument, *(leaf.argument for leaf in leaves_of(main.expression))}
        held = [self.asked] if self.asked else self.named.scan.held
        tapes = sorted(held, key=lambda t: (not t.tape.reads, t.is_total))
        chosen, room = list[TapeTrace](), self.width - SIDE + TAPES
        for tape in sorted(tapes, key=lambda t: t.argument not in near):
            width = _width([self._shown(tape)], NARROWEST) + TAPES
            if not chosen or width <= room:
                chosen.append(tape)
                room -= width
        found = [self._shown(tape) for tape in tapes if tape in chosen]
        for number, tape in enumerate(one.tape for one in found):
            rows = list[int]()
            for row in self._neighbours(tape):
                rows.append(row)
                wider = [*found[:number], self._shown(tape, rows), *found[number + 1 :]]
                if _width(wider, CELL) > self.width - SIDE:
                    break
                found = wider
        return found

    def _touched(self, tape: TapeTrace) -> dict[int, str]:
        """The rows that the step touches, and by which taps."""
        if tape.is_total or not tape.tape.reads:
            return {int(tape.writes[0].rows[self.one.step]): ""}
        taps = tape.tape.taps
        rows = {tape.tape.row(self.one.step, tap): f"tap {signed(tap)}" for tap in taps}
        return dict.fromkeys(rows, "") if self.asked else rows

    def _shown(self, tape: TapeTrace, more: Sequence[int] = ()) -> Shown:
        """A tape with the slots that the step touches, and some more."""
        rows = {**dict.fromkeys(more, ""), **self._touched(tape)}
        if tape.is_total or not tape.tape.reads:
            name = self.named.tape_label(tape, self.one.step)
            return Shown(name, tape, tuple(Slot(row) for row in rows))
        places = {self._column(tape, row): row for row in rows}
        all_places = [self._column(tape, row) for row in range(len(tape.initial))]
        items: list[Slot | Gap] = []
        for item in with_gaps([min(all_places) - 1, *places, max(all_places) + 1]):
            if isinstance(item, Gap):
                items.append(item)
            elif item in places:
                items.append(Slot(places[item], rows[places[item]]))
        name = self.named.tape_label(tape, None)
        if self._is_buffer(tape):
            name = f"{self.named.place(tape, 0).partition('[')[0]} · {name}"
        return Shown(name, tape, tuple(items))

    def _is_buffer(self, tape: TapeTrace) -> bool:
        """Whether formulas tell the places of a tape, and not its values."""
        return self.named.scan.parent is not None or tape.kind is Kind.MIT_MOT

    def _column(self, tape: TapeTrace, row: int) -> int:
        return column_of(tape, row, self._time)

    @cached_property
    def _time(self) -> Timeline:
        return timeline(self.named.root.scan)

    def _neighbours(self, tape: TapeTrace) -> list[int]:
        """The rows that the step does not touch, the nearest first."""
        if tape.is_total or not tape.tape.reads:
            return []
        rows = self._touched(tape).keys()
        first, last = max(0, min(rows) - BESIDE), min(len(tape.initial) - 1, max(rows) + BESIDE)
        others = set(range(first, last + 1)) - rows
        return sorted(others, key=lambda row: (min(abs(row - near) for near in rows), row))

    def row(self, is_after: bool) -> Piece:
        """All that is shown, beside one another, before the step or after it."""
        slots = sum(one.slots for one in self.shown)
        cell = min(CELL, (self.width - SIDE - _width(self.shown, 0)) / max(1, slots))
        halves = (self._half(one, cell, is_after) for one in self.shown)
        return beside(*halves, apart=TAPES, align=0.0 if is_after else 1.0)

    def _half(self, shown: Shown, cell: float, is_after: bool) -> Piece:
        """One tape before the step, with its name and positions, or after it."""
        items = (
            _fold(item) if isinstance(item, Gap) else self._slot(shown.tape, item, cell, is_after)
            for item in shown.items
        )
        row = beside(*items, apart=APART, align=0.0 if is_after else 1.0)
        if is_after:
            return row
        width = row.envelope.width
        shape = shown.tape.writes[0].values.shape[1:]
        told = f"{shown.name} · {'×'.join(map(str, shape))}" if len(shape) > 1 else shown.name
        name = fitted(0, SMALL, told, width + 4, SMALL, muted=True)
        return above(sized(width, HEAD, name), row, apart=4)

    def _slot(self, tape: TapeTrace, slot: Slot, cell: float, is_after: bool) -> Piece:
        """A slot: before the step with what it is called, after it with what was replaced."""
        touched, row, held = self.one.touched(tape), slot.row, slot.row
        if not tape.tape.reads and not is_after:
            return gap(cell, HEAD + 2 + HIGH)
        if tape.is_total:
            read, role = tape.reads[0], Role.OVERWRITTEN
            before = read.values[self.one.step]
            value, old = (self.one.made_at(tape, row), before) if is_after else (before, None)
            held = row if is_after else int(read.rows[self.one.step])
        else:
            value = touched.after(row) if is_after else touched.before(row)
            old = touched.before(row) if is_after and row in touched.overwritten else None
            role = self._role(touched, row, is_after)
        name, key = self.named.slot_label(tape, row), self.named.row_key(tape, held)
        drawn = named(
            _cell(cell, role, value, old, name, key),
            at("after" if is_after else "before", tape, row),
        )
        if is_after:
            return drawn
        return above(*self._heads(tape, slot, cell), drawn, apart=2)

    def _heads(self, tape: TapeTrace, slot: Slot, cell: float) -> Iterator[Piece]:
        """Which slot it is, and the tap: in a line, or in two where it is narrow."""
        label = self.named.tape_label(tape, slot.row)
        if self._is_buffer(tape):
            label = "" if tape.is_total else f"pos {signed(tape.position(slot.row))}"
        parts = [part for part in (label, slot.tap) if part]
        line = " · ".join(parts)
        fits = text_width(line, SMALL) <= cell + APART - 3
        for told in [line] if fits else parts:
            head = fitted(cell / 2, SMALL, told, cell + APART, SMALL, "middle", muted=True)
            yield sized(cell, HEAD, head)

    def _role(self, touched: Touched, row: int, is_after: bool) -> Role:
        if self.asked:
            return Role.UNWRITTEN if touched.before(row) is None else Role.INTERMEDIATE
        if row in touched.overwritten:
            return Role.OVERWRITTEN
        if row in touched.read:
            return Role.PRESERVED
        if (touched.after(row) if is_after else touched.before(row)) is None:
            return Role.UNWRITTEN
        if row in touched.written and is_after:
            comes_out = self.named.scan.parent is not None and not touched.tape.tape.reads
            passed_on = comes_out and self.named.is_passed_on(touched.tape)
            return Role.RESULT if passed_on else Role.INTERMEDIATE
        earlier, later = (touched.is_touched(row, earlier=each) for each in (True, False))
        if earlier:
            return Role.INTERMEDIATE if later else Role.SPENT
        return Role.WAITING if later else Role.UNNEEDED


def _width(tapes: Sequence[Shown], cell: float) -> float:
    """How wide tapes are with cells of a width."""
    pieces, slots = sum(len(one.items) for one in tapes), sum(one.slots for one in tapes)
    between = (pieces - len(tapes)) * APART + (len(tapes) - 1) * TAPES
    return slots * cell + (pieces - slots) * FOLD + between


def _fold(item: Gap) -> Piece:
    """The mark of slots that are not shown."""
    told = f"⋯{item.hidden:,}"
    mark = fitted(FOLD / 2, HIGH / 2 + 5, told, FOLD, SMALL, "middle", muted=True)
    title = f"{counted(item.hidden, 'slot')} that the step does not touch"
    return sized(FOLD, HIGH, replace(mark, title=title))


def _cell(
    width: float, role: Role, value: np.ndarray | None, old: np.ndarray | None, name: str, key: str
) -> Piece:
    """A box with a large number, or those of an array; a number has the `old` one above it."""
    told = is_told(value)
    top = STRUCK if old is not None and not told else 0.0
    high = HIGH if value is None or not told else max(HIGH, PITCH * len(value) + 6)
    box = Box(0, 0, width, high + top, role)
    title = f"{name}: not written yet" if value is None else f"{name} = {full_text(value)}"
    shapes: list[Shape] = [box]
    if old is not None:
        title += f" (before: {full_text(old)})"
    if old is not None and top:
        told_old = _followed(old, width - 8)
        shapes.append(
            Text(width / 2, 17, told_old, SMALL, "middle", mono=True, struck=True, role=role)
        )
    if value is not None:
        shapes += _inside(Box(0, top, width, high, role), value)
    return sized(width, box.height, Group(tuple(shapes), cell=key, title=title))


def _followed(value: np.ndarray, room: float) -> str:
    """A number, or of an array its first: the entry that is worked out."""
    if not value.ndim or not value.size:
        return value_within(value, room, SMALL)
    index = "[{}] ".format(",".join("0" * value.ndim))
    first = value[(0,) * value.ndim]
    return index + value_within(first, room - text_width(index, SMALL, mono=True), SMALL)


def _inside(box: Box, value: np.ndarray) -> Iterator[Shape]:
    """A number, as large as fits; a vector's numbers; or the colours of an array and one number."""
    middle, role, room = box.x + box.width / 2, box.role, box.width - 8
    if is_told(value):
        start = box.y + (box.height - PITCH * len(value)) / 2 + SMALL - 1
        for number, entry in enumerate(value):
            told, y = value_within(entry, room, SMALL), start + PITCH * number
            yield Text(middle, y, told, SMALL, "middle", mono=True, bold=not number, role=role)
        return
    if value.ndim:
        yield from strip(box, value, 0)
        told = _followed(value, room)
        y = box.y + box.height - 6
        yield Text(middle, y, told, SMALL, "middle", mono=True, bold=True, role=role)
        return
    told = number_text(value)
    size = min(LARGE, max(SMALL, (box.width - 8) / (len(told) * MONO_WIDTH)))
    told = shortened(told, box.width - 4, size, mono=True)
    bold = role in (Role.OVERWRITTEN, Role.RESULT)
    y = box.y + box.height / 2 + 6
    yield Text(middle, y, told, size, "middle", mono=True, bold=bold, role=role)
