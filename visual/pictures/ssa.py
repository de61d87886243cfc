"""The tape beside its static single assignment form: every value written once, with a name.

On the left the tape after every step, in which a write replaces what stood in the slot.  On
the right the same values, each in a box of its own: slots have letters, and every write makes
a value with one more prime.  Two values that shared one slot stand below one another, in a
column that nothing else stands in: the tapes of several states stand side by side there.
"""

from collections.abc import Iterator, Mapping
from itertools import count
from string import ascii_lowercase

from lab.equations.spelling import Speller
from lab.errors import GraphError
from lab.notation import Leaf, prime, signed, text
from lab.traces.flow import Flow, Value, Write, flow
from lab.traces.trace import SequenceTrace, Trace
from visual.choices import of_trace, whole_or_none
from visual.layout.canvas import (
    CELL,
    HEIGHT,
    LABELS,
    MARGIN,
    Canvas,
    gap_text,
    place_columns,
    touched_columns,
)
from visual.layout.cells import cell
from visual.layout.columns import Gap, shown_steps, timeline
from visual.layout.detours import Detours
from visual.layout.headings import block_heading
from visual.layout.names import NamedScan
from visual.pictures.tapes.lanes import Lane, Slot
from visual.scene.shapes import Arrow, Box, Scene, Text, of_run

BETWEEN_PANELS, BETWEEN_TAPES, HEADER = 50, 30, 34


@of_run
def ssa(trace: Trace, theme: str = "light", around: int | None = None) -> Scene:
    """The tapes of all derivatives in a trace, as buffers and in SSA form, side by side.

    Long loops are folded, as for `tapes`.  Raises GraphError for a trace without a derivative.
    """
    of_trace(trace)
    around = whole_or_none("around", around)
    values, canvas = flow(trace), Canvas()
    numbers = [n for n, s in enumerate(trace.scans) if any(t.tape.overwritten for t in s.tapes)]
    if not numbers:
        raise GraphError(
            "order = 0: a loop overwrites nothing; the tapes of its derivatives do, from order 1."
            if all(scan.parent is None for scan in trace.scans)
            else f"{trace.scans[0].name}: no state is handed on from step to step, so that no "
            "derivative has a tape that it overwrites."
        )
    letters = _unused_letters(trace)
    for number in numbers:
        _Block(canvas, NamedScan(trace, number), values, around, letters).draw()
    canvas.y -= 8
    return canvas.finished(
        None,
        width=canvas.right + MARGIN,
        title=f"Tapes of {trace.scans[0].name}, and their SSA form",
        description="The tape after every step, and each of its values in a box of its own.",
        theme=theme,
    )


def _unused_letters(trace: Trace) -> Iterator[str]:
    """Letters, then s26, s27 …, without those that name a variable."""
    tapes = {t.name for scan in trace.scans for t in scan.held}
    read = {v.name for scan in trace.scans for v in scan.sequences}
    names = tapes | read | {v.name for scan in trace.scans for v in scan.parameters}
    letters = (ascii_lowercase[n] if n < len(ascii_lowercase) else f"s{n}" for n in count())
    return (letter for letter in letters if letter not in names)


class _Block:
    """The tapes of one Scan, drawn twice, from top to bottom."""

    def __init__(
        self,
        canvas: Canvas,
        named: NamedScan,
        flow: Flow,
        around: int | None,
        letters: Iterator[str],
    ) -> None:
        self.canvas, self.named, self.flow = canvas, named, flow
        self.scan, self.around = named.scan, around
        self.spell = Speller(self.named)
        time = timeline(named.root.scan)
        columns = place_columns(touched_columns(self.scan, time, around))
        states = [tape for tape in self.scan.tapes if not tape.is_total]
        self.lanes = [Lane(self.scan, tape, columns, time, around) for tape in states]
        right = max([columns.right, *(lane.columns.right for lane in self.lanes)])
        self.shifts: dict[int, float] = {}  # of the tapes on the right, by argument
        for lane in self.lanes:
            self.shifts[lane.tape.argument] = right - LABELS + BETWEEN_PANELS
            right += lane.columns.right - LABELS + BETWEEN_TAPES
        self.right = right - BETWEEN_TAPES + BETWEEN_PANELS
        slots = [(lane.tape.argument, row) for lane in self.lanes for row in sorted(lane.shown)]
        self.letters = {slot: next(letters) for slot in slots}  # in the order of the buffer
        self.places: dict[Value, Box] = {}  # where the values stand on the right
        self.ways = Detours(self.places.values())

    def draw(self) -> None:
        """The tapes before the first step, then after every step that is shown."""
        title, lines = block_heading(self.named)
        if not self.canvas.shapes:
            lines.append("a letter is a slot; with every value written to it, it gets a prime")
        self.canvas.heading(title, lines)
        first = min(self.shifts.values())
        for x, words in ((LABELS, "the buffer"), (LABELS + first, "every value by itself")):
            self.canvas.add(Text(x, self.canvas.y + 6, words, 12, bold=True))
        self.canvas.y += 20
        self.canvas.right = max(self.canvas.right, self.right)
        self._initial_row()
        steps = shown_steps(self.scan.steps, self.around)
        self.canvas.rows(steps, self._step_row, self._gap_row, self.named.moment)
        self.canvas.y += 30

    def _name(self, value: Value) -> str:
        letter = self.letters.get((value.argument, value.row), "…")
        return f"{letter}{prime(value.version)}"

    # rows

    def _initial_row(self) -> None:
        top = self.canvas.y + HEADER
        self.canvas.row_label("initial", top + 18)
        for lane in self.lanes:
            self.canvas.y += HEADER
            for slot in lane.before():
                value = Value(self.named.number, lane.tape.name, lane.tape.argument, slot.row)
                self._headers(lane, slot, top - HEADER)
                self._cells(lane, slot, value, None, top if slot.value is not None else None)
            shift = self.shifts[lane.tape.argument]
            for x, gap in lane.columns.gaps:
                self.canvas.add(gap_text(gap, x, self.canvas.y + HEIGHT / 2 + 4))
                self.canvas.add(gap_text(gap, x + shift, top + HEIGHT / 2 + 4))
            self.canvas.y += HEIGHT + 14
        self.canvas.y += 10

    def _step_row(self, step: int) -> None:
        writes = {v: w for v, w in self.flow.writes.items() if v.scan == self.named.number}
        now = {value: write for value, write in writes.items() if write.step == step}
        arrows, top = len(self.canvas.shapes), self.canvas.y
        self.canvas.row_label(f"step {step}", self.canvas.y + 18)
        for lane in self.lanes:
            held = {(v.argument, v.row): v for v, w in writes.items() if w.step <= step}
            for slot in lane.after(step):
                place = lane.tape.argument, slot.row
                first = Value(self.named.number, lane.tape.name, *place)
                value = held.get(place, first)
                self._cells(lane, slot, value, step, top if value in now else None)
            self.canvas.y += HEIGHT + 14
        drawn = [a for value, write in now.items() for a in self._arrows(value, write)]
        self.canvas.shapes[arrows:arrows] = drawn
        self.canvas.y = max(self.canvas.y, self._formulas(now, step, top)) + 14

    def _gap_row(self, gap: Gap) -> None:
        self.canvas.gap_row(gap)
        for lane in self.lanes:
            lane.skip()

    # cells, arrows and words

    def _headers(self, lane: Lane, slot: Slot, top: float) -> None:
        """What a slot holds, above its first cell on the left and its column on the right."""
        tape, x = lane.tape, slot.x + self.shifts[lane.tape.argument]
        label = self.named.tape_label(tape, slot.row)
        position = f"pos {signed(tape.position(slot.row))}"
        self.canvas.header(slot.x, self.canvas.y - HEADER, label, position)
        letter = self.letters[tape.argument, slot.row]
        self.canvas.header(x, top, label, f"slot {letter}")

    def _cells(
        self, lane: Lane, slot: Slot, value: Value, step: int | None, top: float | None
    ) -> None:
        """The slot on the left; what was made in it at this step on the right, at height `made`."""
        tape = lane.tape
        label = self.named.slot_label(tape, slot.row)
        key = self.named.row_key(tape, slot.row)
        boxes = [Box(slot.x, self.canvas.y, CELL, HEIGHT, slot.role)]
        if top is not None:
            x = slot.x + self.shifts[tape.argument]
            boxes.append(Box(x, top, CELL, HEIGHT, slot.role))
            self.places[value] = boxes[-1]
        for box in boxes:
            self.canvas.roles.append(slot.role)
            self.canvas.add(cell(box, slot.value, label, None, None, key, self._name(value)))

    def _arrows(self, value: Value, write: Write) -> list[Arrow]:
        """From all values that a new one was computed from, those above it."""
        if value not in self.places:
            return []
        target = self.places[value]
        boxes = {self.places[s]: None for s in write.sources if s in self.places}
        sources = sorted(boxes, key=lambda box: box.x)
        arrows = []
        for number, source in enumerate(sources, start=1):  # side by side on the target's edge
            start = (source.x + CELL / 2, source.y + HEIGHT)
            end = (target.x + CELL * number / (len(sources) + 1), target.y - 1)
            arrows.append(self.ways.arrow((start, end), source, target, accent=True))
        return arrows

    def _formulas(self, now: Mapping[Value, Write], step: int, y: float) -> float:
        """What is written, in terms of slots and then of values; and where the lines end."""
        x, y = self.right + 4, y + 16
        for value, write in now.items():
            if (value.argument, value.row) in self.letters:
                names = {leaf: self._leaf(leaf, write, step) for leaf in write.leaves}
                right = text(write.formula.expression, names.__getitem__)
                start = len(self.canvas.shapes)
                y = self.canvas.formula(x, y, self.spell.at(write.formula, step), muted=True)
                y = self.canvas.formula(x, y, f"{self._name(value)} = {right}") + 6
                keys = self.named.formula_keys(write.formula, step)
                self.canvas.mention(start, keys)
        return y - 12

    def _leaf(self, leaf: Leaf, write: Write, step: int) -> str:
        value = write.reads(leaf)
        if value.scan == self.named.number and value.argument >= 0:
            return self._name(value)
        variable = self.scan.variable(leaf)
        if isinstance(variable, SequenceTrace):
            return self.named.sequence_label(variable, int(variable.axis.index[step]))
        return leaf.variable
