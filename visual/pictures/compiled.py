"""The picture of a compiled graph: its buffers before and after, and what stands in their slots.

Of every Scan that is left each buffer has a row of cells as it was declared.  Below a shortened
one stands the circular buffer, a row for every step: what the step reads, the slot that it
writes, and the value that is gone by it; the result is last.  More than three Scans get a line
each instead.
"""

from collections.abc import Iterable, Iterator

from lab.errors import ArgumentError, expect, listing, quoted, whole
from lab.notation import indexed
from lab.reports.compile.circular_buffers import Buffer, Kept, Ring
from lab.reports.compile.compiled import Compiled, ScanAfter, gradient_rows, rows_word, summary
from lab.reports.compile.walk import Walk
from lab.reports.explain.explanation import FEW
from lab.tape import Kind
from visual.layout.canvas import (
    HEADING,
    Columns,
    columns_within,
    finished,
    gap_text,
    heading,
    note,
    numbers,
    place_columns,
)
from visual.layout.cells import inside
from visual.layout.columns import ENDS, Gap, shown_steps
from visual.pictures.rewriting import rewrites
from visual.scene.combinators import Piece, above, beside, gap, grouped, over, piece, sized, words
from visual.scene.shapes import Arrow, Box, Group, Scene, Shape, Text, fitted, folded, shortened
from visual.scene.theme import Role

WIDE, BETWEEN, HEIGHT, PITCH = 80, 10, 50, 70
START, LABEL, NARROWEST = 126, 114, 180  # where slots begin, names end; the room of a note
LINE, MOST_LINES, MOST_SLOTS, MOST_BUFFERS = 276, 60, 12, 6
EMPTY = "nobody has written here"
WORDS = {
    Role.INPUT: "an initial value",
    Role.INTERMEDIATE: "kept to the end, or written by this step into a free slot",
    Role.OVERWRITTEN: "by this step: the older row is gone",
    Role.READ: "by this step",
    Role.WAITING: "holds a row that this step does not touch",
    Role.SPENT: "nobody reads it when the loop has ended",
    Role.UNWRITTEN: EMPTY,
    Role.UNNEEDED: "not kept",
    Role.RESULT: "read when the loop has ended",
}
OVERVIEW = {
    Role.INTERMEDIATE: "all rows are kept",
    Role.UNNEEDED: "some rows: those before → those after",
}


def compiled(
    report: Compiled | Walk,
    theme: str = "light",
    scan: int | None = None,
    rewrite: int | None = None,
) -> Scene:
    """The buffers of `lab.compiled`, before and after; with `scan`, those of one Scan only.

    Slots can be drawn where the numbers of rows and steps are known: give values to
    `lab.compiled`.  Of `lab.rewrites`, the list of rewrites and one of them open, both sides of it
    side by side.  Raises ArgumentError for a Scan or a rewrite that is not there.
    """
    expect("report", report, (Compiled, Walk), "what lab.compiled or lab.rewrites found")
    if isinstance(report, Walk):
        if scan is not None:
            raise ArgumentError(f"scan = {quoted(scan)}: a walk has rewrites, to be chosen by one.")
        return rewrites(report, 1 if rewrite is None else rewrite, theme)
    if rewrite is not None:
        raise ArgumentError(
            f"rewrite = {quoted(rewrite)}: these belong to what lab.rewrites found."
        )
    numbers = range(1, len(report.after) + 1)
    if scan is not None and whole("scan", scan) not in numbers:
        raise ArgumentError(f"scan = {quoted(scan)}: there are {len(report.after)} Scans left.")
    told = " ".join([summary(report), *gradient_rows(report)])
    parts = [heading("What is left of the Scans, and of their buffers", [told])]
    chosen = [s for s in report.after if scan in (None, s.number)]
    if len(chosen) > FEW:
        parts.append(_overview(chosen))
    else:
        moment = 0
        for after in chosen:
            part, moment = _scan(after, moment)
            parts.append(part)
    return finished(
        over(gap(616), above(*parts, apart=20)),
        OVERVIEW if len(chosen) > FEW else WORDS,
        title="The Scans and buffers of a compiled graph",
        description=told,
        theme=theme,
    )


def _scan(scan: ScanAfter, moment: int) -> tuple[Piece, int]:
    """One Scan with all its buffers; and the number of the moment after its last."""
    early = ", at most" if scan.stops_early else ""
    sources = f"made of {len(scan.sources)} Scans" if len(scan.sources) > 1 else ""
    notes = [line for line in (f"{scan.steps} steps{early}", sources) if line]
    parts, last = [heading(f"{scan.number} · {scan.name}", notes)], moment
    for buffer in scan.buffers:
        if buffer.kept is not Kept.UNTRACED:
            rows, ring = [_title(buffer), *_rows(buffer)], buffer.ring
            if ring is not None and ring.is_circular:
                rows.append(RingRows(buffer, ring, scan, moment).drawn())
                last = max(last, moment + ring.steps + 2)
            parts.append(above(*rows, apart=14))
    return above(*parts, apart=18), last


def _title(buffer: Buffer) -> Piece:
    """What the buffer is, and how many rows it had and has."""
    before = f"{rows_word(buffer.before)}  →  " if buffer.before is not None else ""
    after = "one value" if buffer.kept.is_one_value else rows_word(buffer.after)
    title = f"{buffer.name} · {buffer.kinds} · {before}{after}"
    readers = "; ".join(map(str, buffer.readers[:FEW]))
    sentence = f"{buffer.kept}: {readers}" if readers else str(buffer.kept)
    if buffer.stops_early:
        sentence += "; the loop may stop early, so that only a run can tell what is in the slots"
    elif buffer.ring is None and buffer.kept is not Kept.MIT_MOT:
        sentence += "; give lab.compiled values, and the slots can be drawn"
    return above(piece(fitted(0, 0, title, HEADING, 13.5, bold=True)), note(sentence), apart=3)


def _rows(buffer: Buffer) -> Iterator[Piece]:
    """The buffer as the loop fills it in thought: a cell for every row, kept ones marked."""
    steps = buffer.steps.number
    if buffer.kind is Kind.MIT_MOT or steps is None or buffer.stops_early:
        return
    ring, rows = buffer.ring, buffer.initial + steps
    kept = set(range(rows)) if ring is None else {row for row in ring.returned() if row is not None}
    tail = min(max(ENDS, len(kept)), 2 * ENDS)
    ends = {*range(min(ENDS, rows)), *range(max(0, rows - tail), rows)}
    columns = columns_within(range(rows) if rows <= 12 else ends, START)
    cells = []
    for row, x in columns.left.items():
        given = row < buffer.initial
        role = Role.INPUT if given else Role.INTERMEDIATE
        role = role if row in kept else Role.UNNEEDED
        below = "given" if given else f"step {row - buffer.initial:,}"
        cells.append(row_cell(Box(x, 0, columns.cell, HEIGHT, role), buffer, row, below))
    yield _slots(columns, "all rows", cells)


def _slots(columns: Columns, label: str, shapes: Iterable[Shape]) -> Piece:
    """A row of slots with its name, and marks in the place of those that are not shown."""
    folds = (gap_text(hidden, x, 30, columns.cell) for x, hidden in columns.gaps)
    name = fitted(LABEL, 30, label, LABEL, 13, "end", bold=True)
    return sized(columns.right - BETWEEN, HEIGHT, name, *shapes, *folds)


def _overview(scans: list[ScanAfter]) -> Piece:
    """A line for every Scan, with a box for each of its buffers."""
    lines = [_line(scan) for scan in scans[:MOST_LINES]]
    if len(scans) > MOST_LINES:
        lines.append(note(f"⋯ and {len(scans) - MOST_LINES} more Scans"))
    return above(*lines, apart=4)


def _line(scan: ScanAfter) -> Piece:
    name = shortened(f"{scan.number} · {scan.name}", LINE - 20, 12)
    title = Text(0, 16, name, 12, title=f"{scan.name}, {scan.steps} steps")
    boxes = []
    for buffer in scan.buffers[:MOST_BUFFERS]:
        role = Role.UNNEEDED if buffer.is_shortened else Role.INTERMEDIATE
        after = buffer.after if buffer.after.number is None else f"{buffer.after.number:,}"
        known = buffer.before is not None and buffer.before.number is not None
        before = f"{buffer.before.number:,} → " if known and buffer.before else ""
        rows = f"{buffer.name}: {before}{after}"
        label = Text(75, 15, shortened(rows, 140, 11), 11, "middle", role=role)
        shapes = (Box(0, 0, 150, 22, role), label)
        boxes.append(sized(150, 22, Group(shapes, title=f"{rows} rows; {buffer.kept}")))
    more = len(scan.buffers) - MOST_BUFFERS
    rest = [sized(80, 22, Text(0, 15, f"and {more} more", 11, muted=True))] if more > 0 else []
    return beside(sized(LINE, 22, title), beside(*boxes, *rest, apart=8))


def row_cell(
    box: Box, buffer: Buffer, row: int | None, below: str, old: int | None = None
) -> Group:
    """A slot with the name of the row in it, and when it was written; `old` is struck through."""
    middle = box.x + box.width / 2
    if row is None:
        return Group((box, inside(box, middle, box.y + 30, "—", 12.5)), title=EMPTY)
    name = shortened(indexed(buffer.name, row), box.width - 6, 13, bold=True)
    title, top = f"{indexed(buffer.name, row)}, {below}", box.y + (22 if old is None else 29)
    texts = [
        inside(box, middle, top, name, 13, bold=True),
        inside(box, middle, box.y + (39 if old is None else 44), below, 11),
    ]
    if old is not None:
        gone = shortened(indexed(buffer.name, old), box.width - 6, 11)
        texts.insert(0, inside(box, middle, box.y + 14, gone, 11, struck=True))
        title += f"; in the place of {indexed(buffer.name, old)}, which is gone"
    return Group((box, *texts), cell=f"compiled:{buffer.name}:{row}", title=title)


class RingRows:
    """The slots of one shortened buffer, from the initial values to the result."""

    def __init__(self, buffer: Buffer, ring: Ring, scan: ScanAfter, moment: int) -> None:
        self.buffer, self.ring, self.scan, self.moment = buffer, ring, scan, moment
        slots = {*range(ring.length)}
        if ring.length > MOST_SLOTS:  # the ends, and those that the shown steps write
            slots = {*range(ENDS), *range(ring.length - ENDS, ring.length)}
            slots |= {ring.slot(ring.written(step)) for step in numbers(shown_steps(ring.steps))}
        self.columns = place_columns(slots, WIDE, BETWEEN, START)
        self.left = self.columns.left

    def drawn(self) -> Piece:
        """All rows, one for every step between what was given and the result."""
        heads = (
            Text(x + WIDE / 2, 8, f"slot {slot}", 11, "middle", muted=True)
            for slot, x in self.left.items()
        )
        rows = [self._row("given", 0, None)]
        above_it = 0  # so many steps are made in the row above
        for step in shown_steps(self.ring.steps):
            if isinstance(step, Gap):
                folded_away = Text(LABEL, 9, f"⋯ {step.hidden:,} steps", 11, "end", muted=True)
                rows.append(sized(0, 10, folded_away))
            else:
                rows.append(self._row(f"step {step:,}", step + 1, step, above_it == step))
                above_it = step + 1
        return above(sized(0, 10, *heads), above(*rows, self._result(), apart=PITCH - HEIGHT))

    def _row(self, label: str, done: int, step: int | None, follows: bool = False) -> Piece:
        """The slots when so many steps are `done`, the last of them `step`.

        Where it `follows` the row above without a gap, arrows come from it.
        """
        ring, shapes = self.ring, list[Shape]()
        held = ring.held(done)
        taps = self.buffer.tape.reads if step is not None else ()
        reads = {ring.written(step or 0) + tap for tap in taps}
        target = ring.slot(ring.written(step)) if step is not None else None
        for slot, x in self.left.items():
            row = held[slot]
            old = ring.replaced(step) if step is not None and slot == target else None
            role = self._role(row, slot == target, old, reads, step)
            box = Box(x, 0, WIDE, HEIGHT, role)
            shapes.append(row_cell(box, self.buffer, row, self._when(row), old))
        if follows:
            shapes += self._arrows(target, reads)
        return self._at(done, label, shapes, self._words(step, reads) if step is not None else "")

    def _at(self, done: int, label: str, shapes: Iterable[Shape], told: str) -> Piece:
        """A row that is there when so many steps are done, and what is told beside it."""
        row = _slots(self.columns, label, shapes)
        room = max(HEADING - row.envelope.right - 14, NARROWEST)
        lines = above(*(words(line, 12) for line in folded(told, room, 12))) if told else gap()
        moment = f"{self.scan.number} · {self.scan.name}, {label}"
        row = beside(row, lines, apart=14, align=0.5)
        return grouped(row, Group((), self.moment + done, moment=moment))

    def _role(
        self, row: int | None, is_target: bool, old: int | None, reads: set[int], step: int | None
    ) -> Role:
        if row is None:
            return Role.UNWRITTEN
        if is_target:
            return Role.INTERMEDIATE if old is None else Role.OVERWRITTEN
        if row in reads:
            return Role.READ
        return Role.INPUT if step is None else Role.WAITING

    def _when(self, row: int | None) -> str:
        step = self.ring.step_of(row) if row is not None else None
        return "given" if step is None else f"step {step:,}"

    def _arrows(self, target: int | None, reads: set[int]) -> Iterator[Arrow]:
        """From what a step reads, in the row before, to the slot that it writes."""
        if target is not None and target in self.left:
            for slot in (self.ring.slot(row) for row in sorted(reads)):
                if slot in self.left:
                    ends = self.left[slot] + WIDE / 2, self.left[target] + WIDE / 2
                    points = ((ends[0], HEIGHT - PITCH + 1), (ends[1], -2))
                    yield Arrow(points, straight=True)

    def _words(self, step: int, reads: set[int]) -> str:
        ring, name = self.ring, self.buffer.name
        row = ring.written(step)
        old = ring.replaced(step)
        event = f"reads {listing(indexed(name, r) for r in sorted(reads))}; " if reads else ""
        event += indexed(name, row)
        if ring.length > 1:
            event += f" goes to slot {row} mod {ring.length} = {ring.slot(row)}"
            return event if old is None else f"{event}; {indexed(name, old)} is gone"
        return f"{event} is the first" if old is None else f"{event} takes its place"

    def _result(self) -> Piece:
        """What is handed over when the loop has ended: turned, the oldest row first."""
        ring, rows = self.ring, self.ring.returned()
        last, nothing = {ring.rows - 1}, set[int]()
        read = {
            Kept.LAST: last,
            Kept.NO_BUFFER: last,
            Kept.STEP: nothing,
            Kept.STEPS_ONLY: nothing,
        }
        wanted = read.get(self.buffer.kept, set(rows))
        cells = []
        for slot, x in self.left.items():
            role = Role.RESULT if rows[slot] in wanted else Role.SPENT
            box = Box(x, 0, WIDE, HEIGHT, role)
            cells.append(row_cell(box, self.buffer, rows[slot], self._when(rows[slot])))
        turned = f"turned by {ring.slot(ring.rows)}, so that the oldest row comes first"
        told = turned if rows != ring.held(ring.steps) else ""
        return self._at(ring.steps + 1, "result", cells, told)
