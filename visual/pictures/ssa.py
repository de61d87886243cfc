"""The tape beside its static single assignment form: every value written once, with a name.

On the left the tape after every step, where a write replaces what stood in the slot.  On the
right stand the values of the slots that hold more than one over time, and with enough room those
that these are made of, each in a box of its own: slots have letters, and every write makes a value
with the next subscript.  There nothing is overwritten, and a box has the colour of where its value
comes from.  Values that shared a slot stand below one another, in a column of their own.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from string import ascii_lowercase
from textwrap import wrap

from lab.errors import ArgumentError, GraphError, listing, quote
from lab.notation import Leaf, render, value_symbol
from lab.traces.flow import Flow, Value, Write, flow
from lab.traces.trace import SequenceTrace, TapeTrace, Trace
from visual.layout.canvas import (
    GAP,
    HEIGHT,
    LABELS,
    Columns,
    column_header,
    finished,
    gap_text,
    heading,
    place_columns,
    touched_columns,
    touched_rows,
)
from visual.layout.cells import cell, full_text, value_text
from visual.layout.columns import (
    Gap,
    Steps,
    column_of,
    one_or_more,
    shown_steps,
    timeline,
    with_gaps,
)
from visual.layout.detours import Detours
from visual.layout.headings import block_heading
from visual.layout.names import NamedScan, counted, seeds_of, wholes_of
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import of_trace, opened, switch
from visual.pictures.tapes.lanes import Lane, Slot
from visual.pictures.unrolled.overview import overview
from visual.scene.combinators import Piece, above, cropped, gap, over, sized
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import (
    Arrow,
    Box,
    Group,
    Scene,
    Shape,
    Text,
    fitted,
    picture_function,
    text_width,
)
from visual.scene.theme import Role

SMALL, LOW, HEADER = 21, 22, 34  # a cell of the tape at the left, and what heads the right
STEPS, LEFT = 64, 170  # of names of steps; of the buffer at least, with the formulas below it
NARROWEST, SLIM, WIDEST, APART = 46, 54, 92, 10  # a cell at the right; SLIM has three digits
MOST_TAPES, MOST_LINES, LINE, MONO = 4, 3, 16, 11.5
COUNTS = "a letter is a slot, its subscript counts the values that were written to it"
LAST = "nothing is overwritten; the lowest is the gradient"


@picture_function
def ssa(
    trace: Trace,
    step: Steps = None,
    scan: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """The tapes of a derivative, as buffers and, where slots are shared, in SSA form beside them.

    Of several Scans one is open, number `scan`, or else the one that holds the result; with `all`
    every one is, with all its slots, in a picture of any size.  Of long loops both ends are shown,
    as for `tapes`.  Raises GraphError for a trace without a derivative.
    """
    of_trace(trace)
    check_sheet(sheet)
    requested, all = one_or_more("step", step), switch("all", all)
    numbers = [n for n, s in enumerate(trace.scans) if any(t.tape.overwritten for t in s.tapes)]
    if not numbers:
        raise GraphError(
            "order = 0: a loop overwrites nothing; the tapes of its derivatives do, from order 1."
            if len({scan.parent for scan in trace.scans}) == 1
            else f"{trace.scans[0].name}: no state is handed on from step to step, so that no "
            "derivative has a tape that it overwrites."
        )
    chosen = opened(trace, scan, numbers)
    if chosen not in numbers:
        known = listing(f"{n + 1} · {trace.scans[n].name}" for n in numbers)
        raise ArgumentError(f"scan = {quote(scan)}: the Scans with shared slots are {known}.")
    values, strip = flow(trace), list[Piece]()
    if not all and len(trace.scans) > 2:
        hint = f"scan={numbers[0] + 1} opens another, all=True shows everything"
        strip.append(cropped(overview(trace, chosen, hint, sheet), sheet.margin))

    letters, parts = _unused_letters(trace), [*strip]
    for number in numbers if all else [chosen]:
        block = _Block(NamedScan(trace, number), values, requested, letters, all, sheet)
        title, lines = block_heading(block.named, in_full=True)
        told = " · ".join([lines[0], *([COUNTS] if number in (chosen, numbers[0]) else [])])
        head = heading(title, [told, *block.folded], sheet, block.named.whereabouts)
        parts.append(above(head, cropped(block.drawn(), sheet.margin)))
    return finished(
        over(gap(sheet.line), above(*parts, apart=16)),
        None,
        sheet=sheet,
        title=f"Tapes of {trace.scans[0].name}, and their SSA form",
        description="The tape after every step, and each of its values in a box of its own.",
        close=True,
        seeds=seeds_of(trace, numbers if all else [chosen]),
        wholes=wholes_of(trace),
    )


def _unused_letters(trace: Trace) -> Iterator[str]:
    """Letters, then s26, s27 …, without those that name a variable."""
    tapes = {t.name for scan in trace.scans for t in scan.held}
    read = {v.name for scan in trace.scans for v in scan.sequences}
    names = tapes | read | {v.name for scan in trace.scans for v in scan.parameters}
    letters = (ascii_lowercase[n] if n < len(ascii_lowercase) else f"s{n}" for n in count())
    return (letter for letter in letters if letter not in names)


class _Block:
    """The tapes of one Scan: the buffer at the left, shared slots in SSA form at the right."""

    def __init__(
        self,
        named: NamedScan,
        flow: Flow,
        requested: Steps,
        letters: Iterator[str],
        all: bool,
        sheet: Sheet,
    ) -> None:
        self.named, self.scan, self.flow, self.all = named, named.scan, flow, all
        self.sheet, only = sheet, sheet.steps and sheet.steps_of(self.scan)
        self.steps = shown_steps(self.scan.steps, requested, only=only)
        self.time = timeline(named.root.scan)
        writes = flow.writes.items()
        self.read = {s for v, w in writes if v.scan == named.number for s in w.sources}
        self.used = self.read
        touched = touched_columns(self.scan, self.time, requested, only=only)
        common = place_columns(touched, SMALL, 4)
        lanes = []
        for tape in (tape for tape in self.scan.tapes if not tape.is_total):
            alone = not self.time.knows(tape.axis)
            rows = touched_rows(self.scan, tape, requested, only=only) if alone else ()
            own = place_columns(map(tape.position, rows), SMALL, 4)
            lanes.append(Lane(self.scan, tape, own if alone else common, self.time))
        slots = [(lane.tape, row) for lane in lanes for row in sorted(lane.shown)]
        self.letters = {(tape.argument, row): next(letters) for tape, row in slots}
        self.lanes = lanes if all else lanes[:MOST_TAPES]
        self.left, right = sheet.margin + STEPS, sheet.width - sheet.margin
        buffers = [lane.columns.right - LABELS for lane in self.lanes]
        least = self.left + max([min(LEFT, sheet.width / 5), *buffers]) + 26
        self.columns = self._columns(self._shown(), right - least)
        names = [text_width(named.tape_label(tape, row), 11) for tape, row in slots]
        least_cell = max(SLIM, max(names) - APART + 4)
        if any(columns.gaps or columns.cell < least_cell for columns in self.columns):
            self.used = set()  # for the slots that are shared
            self.columns = self._columns(self._shown(), right - least)
        self.folded = self._folded(len(lanes), slots)
        wide = sum(columns.right - LABELS for columns in self.columns)
        self.start = least if all else max(least, min(right + APART - wide, right - 300))
        self.right = max(right, self.start + wide - APART)
        self.cell, left = self.columns[0].cell, self.start - LABELS
        self.gaps: list[tuple[float, Gap]] = []
        self.x: dict[tuple[int, int], float] = {}  # of the slots at the right
        for lane, columns in zip(self.lanes, self.columns, strict=True):
            self.gaps += [(left + x, gap) for x, gap in columns.gaps]
            for row in lane.shown:
                x = columns.left.get(column_of(lane.tape, row, self.time))
                if x is not None and self._shared(lane.tape, row):
                    self.x[lane.tape.argument, row] = left + x
            left += columns.right - LABELS
        self.places: dict[Value, Box] = {}  # where the values stand at the right
        self.ways = Detours(self.places.values())

    def _shared(self, tape: TapeTrace, row: int) -> bool:
        """Whether a slot holds more than one value, or one that others are made of; or all is."""
        chain = self.flow.chain(self.named.number, tape, row)
        return self.all or len(chain) > 1 + bool(tape.unwritten[row]) or chain[0] in self.used

    def _shown(self) -> list[list[int]]:
        """The columns of the slots that stand at the right, tape by tape."""
        return [
            sorted(
                column_of(lane.tape, row, self.time)
                for row in lane.shown
                if self._shared(lane.tape, row)
            )
            for lane in self.lanes
        ]

    def _columns(self, shown: list[list[int]], room: float) -> list[Columns]:
        """Where the slots of every tape stand; if there is no room, without those in the middle."""
        while True:
            gaps = sum(isinstance(c, Gap) for columns in shown for c in with_gaps(columns))
            count = sum(map(len, shown))
            cell = min(WIDEST, int((room + APART - gaps * GAP) / max(1, count)) - APART)
            if self.all or cell >= NARROWEST or count < 2:
                wide = WIDEST if self.all else cell
                return [place_columns(columns, wide, APART) for columns in shown]
            longest = max(shown, key=len)
            del longest[len(longest) // 2]

    def _folded(self, tapes: int, slots: Sequence[tuple[TapeTrace, int]]) -> list[str]:
        """What is not at the right."""
        alone: dict[bool, list[str]] = {True: [], False: []}  # by whether a step reads them
        for tape, row in slots:
            if not self._shared(tape, row):
                (first, *_) = self.flow.chain(self.named.number, tape, row)
                held = "" if tape.unwritten[row] else f" = {value_text(tape.initial[row])}"
                called = f"{self._name(first)} ({self.named.tape_label(tape, row)}{held})"
                alone[first in self.read].append(called)
        where = "at the left alone"
        told = []
        for is_read, found in alone.items():
            names = listing(found) if len(found) < 4 else f"{len(found)} slots"
            if found and is_read:
                told.append(f"{names} {'are' if found[1:] else 'is'} read, never changed: {where}")
            elif found:
                told.append(f"{where}, since only one value is ever there: {names}")
        if tapes > len(self.lanes):
            more = counted(tapes - len(self.lanes), "more tape")
            told.append(f"⋯ {more}{self.sheet.hint('all=True shows everything')}")
        return told

    def drawn(self) -> Piece:
        """The tapes before the first step, then after every step that is shown."""
        y, shapes = 18.0 + HEADER, [*self._heads()]
        for item in (None, *self.steps):
            if isinstance(item, Gap):
                told = f"⋯ {item.hidden:,} steps are not shown"
                shapes.append(Text(self.left, y + 14, told, 12, muted=True))
                for lane in self.lanes:
                    lane.skip()
                y += 36
            else:
                row, height = self._row(item, y)
                step, moment = (None, "") if item is None else self.named.moment(item)
                shapes.append(Group(tuple(row), step, moment=moment))
                y += height
        return sized(self.right, y, *shapes)

    def _heads(self) -> Iterator[Shape]:
        """What stands in the columns at the right."""
        yield Text(self.left, 12, "the buffer", 12, bold=True)
        room = self.right - self.start
        head = fitted(self.start, 12, "every value by itself", room, 12, bold=True)
        yield head
        room = self.right - self.start - head.width - 6
        if text_width(LAST, 12) <= room:
            yield Text(self.start + head.width + 6, 12, LAST, 12, muted=True)
        for lane in self.lanes:
            for row in lane.shown:
                if (x := self.x.get((lane.tape.argument, row))) is not None:
                    label = self.named.tape_label(lane.tape, row)
                    slot = f"slot {self.letters[lane.tape.argument, row]}"
                    yield from column_header(x, 18, label, slot, self.cell, APART)
        yield from (gap_text(gap, x, 18 + HEADER + 26) for x, gap in self.gaps)

    def _row(self, step: int | None, y: float) -> tuple[list[Shape], float]:
        """The tapes after a step, or before the first one, and what it wrote; and how high."""
        name = "initial" if step is None else f"step {step}"
        shapes: list[Shape] = [Text(self.left - 10, y + 16, name, 12, "end", bold=True)]
        now = {
            v: w
            for v, w in self.flow.writes.items()
            if v.scan == self.named.number and w.step == step
        }
        cells, low = list[Shape](), y
        for lane in self.lanes:
            for slot in lane.before() if step is None else lane.after(step):
                value = self._value(lane.tape, slot.row, step)
                cells.append(self._small(lane, slot, value, low))
                x = self.x.get((lane.tape.argument, slot.row))
                if x is not None and slot.value is not None and (step is None or value in now):
                    role = self._role(lane.tape, value, slot)
                    self.places[value] = box = Box(x, y, self.cell, HEIGHT, role)
                    label, key = self._names(lane.tape, slot.row)
                    cells.append(cell(box, slot.value, label, None, None, key, self._name(value)))
            low += LOW + 4
        arrows = [a for value, write in now.items() for a in self._arrows(value, write)]
        low += 10
        for value, write in now.items():
            words, low = self._formula(value, write, low)
            shapes += words
        return [*shapes, *arrows, *cells], max(HEIGHT + 20, low - y + 4)

    def _value(self, tape: TapeTrace, row: int, step: int | None) -> Value:
        """What a slot holds after a step."""
        chain = self.flow.chain(self.named.number, tape, row)
        made = [v for v in chain[1:] if step is not None and self.flow.writes[v].step <= step]
        return made[-1] if made else chain[0]

    def _role(self, tape: TapeTrace, value: Value, slot: Slot) -> Role:
        """Where a value comes from; of a step's roles there is only the seed."""
        is_last = value == self.flow.chain(self.named.number, tape, slot.row)[-1]
        if is_last and self.named.is_passed_on(tape) and slot.row in self.named.wanted_rows(tape):
            return Role.RESULT
        if value in self.flow.writes:
            return Role.INTERMEDIATE
        return Role.SEED if slot.role is Role.SEED else Role.INPUT

    def _names(self, tape: TapeTrace, row: int) -> tuple[str, str]:
        return self.named.slot_label(tape, row), self.named.row_key(tape, row)

    def _name(self, value: Value) -> str:
        letter = self.letters.get((value.argument, value.row), "…")
        return value_symbol(letter, value.version)

    def _small(self, lane: Lane, slot: Slot, value: Value, y: float) -> Group:
        """A slot of the buffer, with the name of what it holds."""
        label, key = self._names(lane.tape, slot.row)
        box = Box(slot.x - LABELS + self.left, y, SMALL, LOW, slot.role)
        name = fitted(
            box.x + SMALL / 2, y + 15, self._name(value), SMALL - 4, 11, "middle", role=slot.role
        )
        held = "not written yet" if slot.value is None else full_text(slot.value)
        return Group((box, name), cell=key, title=f"{label} = {held}")

    def _arrows(self, value: Value, write: Write) -> list[Arrow]:
        """From all values that a new one was computed from, those above it."""
        if value not in self.places:
            return []
        target = self.places[value]
        boxes = {self.places[s]: None for s in write.sources if s in self.places}
        sources = sorted(boxes, key=lambda box: box.x)
        arrows = []
        for number, source in enumerate(sources, start=1):  # side by side on the target's edge
            start = (source.x + source.width / 2, source.y + HEIGHT)
            end = (target.x + target.width * number / (len(sources) + 1), target.y - 1)
            arrows.append(self.ways.arrow((start, end), source, target, accent=True))
        return arrows

    def _formula(self, value: Value, write: Write, y: float) -> tuple[list[Shape], float]:
        """What is written, in terms of values; and where the lines end."""
        if (value.argument, value.row) not in self.letters:
            return [], y
        names = {leaf: self._leaf(leaf, write) for leaf in write.leaves}
        whole = f"{self._name(value)} = {render(write.formula.expression, names.__getitem__)}"
        lines = wrap(
            whole,
            int((self.start - 20 - self.left) / (MONO * MONO_WIDTH)),
            subsequent_indent="  ",
            break_on_hyphens=False,
            max_lines=MOST_LINES,
            placeholder=" …",
        )
        title = whole if lines[-1].endswith("…") else ""
        texts = [
            Text(
                self.left + 12 * line.startswith(" "),
                y + 6 + LINE * n,
                line.strip(),
                MONO,
                mono=True,
                title=title,
            )
            for n, line in enumerate(lines)
        ]
        keys = self.named.formula_keys(write.formula, write.step)
        return [Group(tuple(texts), mentions=keys)], y + LINE * len(lines)

    def _leaf(self, leaf: Leaf, write: Write) -> str:
        value = write.reads(leaf)
        if value.scan == self.named.number and value.argument >= 0:
            return self._name(value)
        variable = self.scan.variable(leaf)
        if isinstance(variable, SequenceTrace):
            return self.named.sequence_label(variable, int(variable.axis.index[write.step]))
        return leaf.variable
