"""The picture of a compiled graph: its buffers before and after, and what stands in their slots.

Of every Scan that is left each buffer has a row of cells as it was declared.  Below a shortened
one stands the circular buffer, a row for every step: what the step reads, the slot that it
writes, and the value that is gone by it; the result is last.  More than three Scans get a line
each instead.
"""

from collections.abc import Iterator

from lab.errors import ArgumentError, expect, listing, quoted, whole
from lab.notation import indexed
from lab.reports.compile.circular_buffers import Buffer, Kept, Ring
from lab.reports.compile.compiled import Compiled, ScanAfter, gradient_rows, rows_word, summary
from lab.reports.compile.walk import Walk
from lab.reports.explain.explanation import FEW
from lab.tape import Kind
from visual.layout.canvas import LABELS, MARGIN, Canvas, Columns, numbers, place_columns
from visual.layout.cells import inside
from visual.layout.columns import ENDS, Gap, shown_steps
from visual.pictures.rewriting import rewrites
from visual.scene.shapes import Arrow, Box, Group, Scene, Text, fitted, shortened
from visual.scene.theme import Role

WIDE, BETWEEN, HEIGHT, GAP, PITCH = 80, 10, 50, 56, 70
LINE, MOST_LINES, MOST_SLOTS = 26, 60, 12
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
    canvas = Canvas()
    report_text = " ".join([summary(report), *gradient_rows(report)])
    canvas.heading("What is left of the Scans, and of their buffers", [report_text])
    chosen = [s for s in report.after if scan in (None, s.number)]
    if len(chosen) > FEW:
        _overview(canvas, chosen)
    else:
        moment = 0
        for after in chosen:
            moment = _scan(canvas, after, moment)
    canvas.right = max(canvas.right, 640)
    return canvas.finished(
        OVERVIEW if len(chosen) > FEW else WORDS,
        width=canvas.right + MARGIN,
        title="The Scans and buffers of a compiled graph",
        description=report_text,
        theme=theme,
    )


def _scan(canvas: Canvas, scan: ScanAfter, moment: int) -> int:
    """One Scan with all its buffers; and the number of the moment after its last."""
    canvas.y += 22
    early = ", at most" if scan.stops_early else ""
    sources = f"made of {len(scan.sources)} Scans" if len(scan.sources) > 1 else ""
    notes = [line for line in (f"{scan.steps} steps{early}", sources) if line]
    canvas.heading(f"{scan.number} · {scan.name}", notes)
    last = moment
    for buffer in scan.buffers:
        if buffer.kept is Kept.UNTRACED:
            continue
        _title(canvas, buffer)
        _rows(canvas, buffer)
        ring = buffer.ring
        if ring is not None and ring.is_circular:
            rows = RingRows(canvas, buffer, ring, scan, moment)
            last = max(last, rows.draw())
        canvas.y += 16
    return last


def _title(canvas: Canvas, buffer: Buffer) -> None:
    """What the buffer is, and how many rows it had and has."""
    before = f"{rows_word(buffer.before)}  →  " if buffer.before is not None else ""
    after = "one value" if buffer.kept.is_one_value else rows_word(buffer.after)
    canvas.y += 14
    canvas.text(MARGIN, f"{buffer.name} · {buffer.kinds} · {before}{after}", 13.5, bold=True)
    canvas.y += 18
    readers = "; ".join(map(str, buffer.readers[:FEW]))
    sentence = f"{buffer.kept}: {readers}" if readers else str(buffer.kept)
    if buffer.stops_early:
        sentence += "; the loop may stop early, so that only a run can tell what is in the slots"
    elif buffer.ring is None and buffer.kept is not Kept.MIT_MOT:
        sentence += "; give lab.compiled values, and the slots can be drawn"
    canvas.note(sentence)


def _rows(canvas: Canvas, buffer: Buffer) -> None:
    """The buffer as the loop fills it in thought: a cell for every row, kept ones marked."""
    steps = buffer.steps.number
    if buffer.kind is Kind.MIT_MOT or steps is None or buffer.stops_early:
        return
    ring, rows = buffer.ring, buffer.initial + steps
    kept = set(range(rows)) if ring is None else {row for row in ring.returned() if row is not None}
    tail = min(max(ENDS, len(kept)), 2 * ENDS)
    ends = {*range(min(ENDS, rows)), *range(max(0, rows - tail), rows)}
    shown = range(rows) if rows <= 12 else ends
    columns = place_columns(shown, WIDE, BETWEEN, fold=GAP)
    canvas.row_label("all rows", canvas.y + 28)
    for row, x in columns.left.items():
        given = row < buffer.initial
        role = Role.INPUT if given else Role.INTERMEDIATE
        role = role if row in kept else Role.UNNEEDED
        below = "given" if given else f"step {row - buffer.initial:,}"
        canvas.add(row_cell(Box(x, canvas.y, WIDE, HEIGHT, role), buffer, row, below))
    canvas.add(*_folds(columns, canvas.y + 25))
    canvas.right = max(canvas.right, columns.right)
    canvas.y += HEIGHT + 14


def _folds(columns: Columns, y: float) -> Iterator[Text]:
    for x, gap in columns.gaps:
        yield Text(x + GAP / 2 - 5, y, f"⋯{gap.hidden:,}", 10.5, "middle", muted=True)


def _overview(canvas: Canvas, scans: list[ScanAfter]) -> None:
    """A line for every Scan, with a box for each of its buffers."""
    canvas.y += 14
    for scan in scans[:MOST_LINES]:
        name = shortened(f"{scan.number} · {scan.name}", 2 * LABELS - MARGIN - 20, 12)
        canvas.add(Text(MARGIN, canvas.y + 16, name, 12, title=f"{scan.name}, {scan.steps} steps"))
        x = float(2 * LABELS)
        for buffer in scan.buffers[:6]:
            role = Role.UNNEEDED if buffer.is_shortened else Role.INTERMEDIATE
            after = buffer.after if buffer.after.number is None else f"{buffer.after.number:,}"
            known = buffer.before is not None and buffer.before.number is not None
            before = f"{buffer.before.number:,} → " if known and buffer.before else ""
            rows = f"{buffer.name}: {before}{after}"
            words = shortened(rows, 140, 11)
            box = Box(x, canvas.y, 150, LINE - 4, role)
            label = Text(x + 75, canvas.y + 15, words, 11, "middle", role=role)
            canvas.add(Group((box, label), title=f"{rows} rows; {buffer.kept}"))
            x += 158
        if len(scan.buffers) > 6:
            canvas.add(Text(x, canvas.y + 15, f"and {len(scan.buffers) - 6} more", 11, muted=True))
            x += 80
        canvas.right = max(canvas.right, x)
        canvas.y += LINE
    if len(scans) > MOST_LINES:
        canvas.text(MARGIN, f"⋯ and {len(scans) - MOST_LINES} more Scans", 12, muted=True)
        canvas.y += LINE
    canvas.y += 12


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
        inside(box, middle, box.y + (39 if old is None else 44), below, 10.5),
    ]
    if old is not None:
        gone = shortened(indexed(buffer.name, old), box.width - 6, 10.5)
        texts.insert(0, inside(box, middle, box.y + 14, gone, 10.5, struck=True))
        title += f"; in the place of {indexed(buffer.name, old)}, which is gone"
    return Group((box, *texts), cell=f"compiled:{buffer.name}:{row}", title=title)


class RingRows:
    """The slots of one shortened buffer, from the initial values to the result."""

    def __init__(
        self, canvas: Canvas, buffer: Buffer, ring: Ring, scan: ScanAfter, moment: int
    ) -> None:
        self.canvas, self.buffer, self.ring = canvas, buffer, ring
        self.scan, self.moment = scan, moment
        slots = {*range(ring.length)}
        if ring.length > MOST_SLOTS:  # the ends, and those that the shown steps write
            slots = {*range(ENDS), *range(ring.length - ENDS, ring.length)}
            slots |= {ring.slot(ring.written(step)) for step in numbers(shown_steps(ring.steps))}
        self.columns = place_columns(slots, WIDE, BETWEEN, fold=GAP)
        self.left = self.columns.left

    def draw(self) -> int:
        """Draw all rows; and the number of the moment after the last."""
        canvas = self.canvas
        for slot, x in self.left.items():
            canvas.add(Text(x + WIDE / 2, canvas.y + 6, f"slot {slot}", 10.5, "middle", muted=True))
        canvas.y += 14
        self._row("given", 0, None)
        above = 0  # so many steps are made in the row above
        for step in shown_steps(self.ring.steps):
            if isinstance(step, Gap):
                folded = f"⋯ {step.hidden:,} steps"
                canvas.add(Text(LABELS - 12, canvas.y + 4, folded, 11, "end", muted=True))
                canvas.y += 26
            else:
                self._row(f"step {step:,}", step + 1, step, above == step)
                above = step + 1
        self._result()
        return self.moment + self.ring.steps + 2

    def _row(self, label: str, done: int, step: int | None, follows: bool = False) -> None:
        """The slots when so many steps are `done`, the last of them `step`.

        Where it `follows` the row above without a gap, arrows come from it.
        """
        canvas, ring, start = self.canvas, self.ring, len(self.canvas.shapes)
        y, held = canvas.y, ring.held(done)
        canvas.row_label(label, y + 30)
        taps = self.buffer.tape.reads if step is not None else ()
        reads = {ring.written(step or 0) + tap for tap in taps}
        target = ring.slot(ring.written(step)) if step is not None else None
        for slot, x in self.left.items():
            row = held[slot]
            old = ring.replaced(step) if step is not None and slot == target else None
            role = self._role(row, slot == target, old, reads, step)
            canvas.add(
                row_cell(Box(x, y, WIDE, HEIGHT, role), self.buffer, row, self._when(row), old)
            )
        canvas.add(*_folds(self.columns, y + 30))
        if step is not None:
            if follows:
                self._arrows(y, target, reads)
            self._note(y, self._words(step, reads))
        canvas.group(start, self.moment + done, f"{self.scan.number} · {self.scan.name}, {label}")
        canvas.y += PITCH

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

    def _arrows(self, y: float, target: int | None, reads: set[int]) -> None:
        """From what a step reads, in the row before, to the slot that it writes."""
        if target is None or target not in self.left:
            return
        end = self.left[target] + WIDE / 2
        for row in sorted(reads):
            slot = self.ring.slot(row)
            if slot in self.left:
                begin = self.left[slot] + WIDE / 2
                top = y - PITCH + HEIGHT + 1
                self.canvas.add(Arrow(((begin, top), (end, y - 2)), straight=True))

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

    def _note(self, y: float, note: str) -> None:
        """What is said beside a row."""
        self.canvas.write(fitted(self.columns.right + 14, y + 30, note, 620, 12))

    def _result(self) -> None:
        """What is handed over when the loop has ended: turned, the oldest row first."""
        canvas, ring, start = self.canvas, self.ring, len(self.canvas.shapes)
        y, rows = canvas.y, ring.returned()
        canvas.row_label("result", y + 30)
        last, nothing = {ring.rows - 1}, set[int]()
        read = {
            Kept.LAST: last,
            Kept.NO_BUFFER: last,
            Kept.STEP: nothing,
            Kept.STEPS_ONLY: nothing,
        }
        wanted = read.get(self.buffer.kept, set(rows))
        for slot, x in self.left.items():
            role = Role.RESULT if rows[slot] in wanted else Role.SPENT
            box = Box(x, y, WIDE, HEIGHT, role)
            canvas.add(row_cell(box, self.buffer, rows[slot], self._when(rows[slot])))
        canvas.add(*_folds(self.columns, y + 30))
        if rows != ring.held(ring.steps):
            turned = f"turned by {ring.slot(ring.rows)}, so that the oldest row comes first"
            self._note(y, turned)
        number = self.moment + ring.steps + 1
        canvas.group(start, number, f"{self.scan.number} · {self.scan.name}, the result")
        canvas.y += HEIGHT + 14
