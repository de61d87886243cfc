"""The picture of a compiled graph: its buffers before and after, and what stands in their slots.

Of every Scan that is left each buffer has a row of cells as it was declared.  Below a shortened
one stands the circular buffer, a row for every step: what the step reads, the slot that it
writes, and the value that is gone by it.  More than three Scans get a line each instead.
"""

from textwrap import wrap

from lab.buffers import Buffer, Kept
from lab.compiled_graph import Compiled, ScanAfter
from lab.compiled_text import gradient_rows, rows_word, summary
from lab.errors import ArgumentError
from lab.explanation_text import FEW
from lab.tape import Kind
from visual.columns import ENDS, Gap, with_gaps
from visual.layout import LABELS, MARGIN, Canvas
from visual.ring_rows import BETWEEN, GAP, HEIGHT, WIDE, RingRows, row_cell
from visual.scene import Box, Group, Scene, Text, shortened
from visual.theme import Role

LETTERS, LINE, MOST_LINES = 132, 26, 60
WORDS = {
    Role.INPUT: "given: an initial value",
    Role.INTERMEDIATE: "written by this step, into a free slot",
    Role.OVERWRITTEN: "written by this step over an older row, which is gone",
    Role.READ: "read by this step",
    Role.SPENT: "holds a row that this step does not touch",
    Role.UNWRITTEN: "nobody has written here",
    Role.PRESERVED: "kept to the end",
    Role.UNNEEDED: "not kept",
    Role.RESULT: "read when the loop has ended",
}

OVERVIEW = {
    Role.PRESERVED: "all rows are kept",
    Role.UNNEEDED: "shortened: rows before → rows after",
}


def compiled(found: Compiled, theme: str = "light", scan: int | None = None) -> Scene:
    """The buffers of `lab.compiled`, before and after; with `scan`, those of one Scan only.

    Slots can be drawn where the numbers of rows and steps are known: give values to
    `lab.compiled`.  Raises ArgumentError for a Scan that is not there.
    """
    numbers = range(1, len(found.after) + 1)
    if scan is not None and scan not in numbers:
        raise ArgumentError(f"scan = {scan!r}: there are {len(found.after)} Scans left.")
    canvas = Canvas()
    told = " ".join([summary(found), *gradient_rows(found)])
    canvas.heading("What is left of the Scans, and of their buffers", lines(told))
    chosen = [s for s in found.after if scan in (None, s.number)]
    if len(chosen) > FEW:
        _overview(canvas, chosen)
    else:
        moment = 0
        for after in chosen:
            moment = _scan(canvas, after, moment)
    canvas.right = max(canvas.right, 640)
    width = canvas.right + MARGIN
    words = OVERVIEW if len(chosen) > FEW else WORDS
    used = {role: told for role, told in words.items() if role in canvas.roles}
    return canvas.finished(
        used,
        width=width,
        title="The Scans and buffers of a compiled graph",
        description=told,
        theme=theme,
    )


def lines(told: str) -> list[str]:
    """Words in lines of a readable length."""
    return wrap(told, LETTERS, break_on_hyphens=False)


def _scan(canvas: Canvas, scan: ScanAfter, moment: int) -> int:
    """One Scan with all its buffers; and the number of the moment after its last."""
    canvas.y += 22
    early = ", at most" if scan.stops_early else ""
    made = f"made of {len(scan.sources)} Scans" if len(scan.sources) > 1 else ""
    told = [line for line in (f"{scan.steps} steps{early}", made) if line]
    canvas.heading(f"{scan.number} · {scan.name}", told)
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
    was = buffer.was if buffer.was not in (None, buffer.kind) else None
    kind = f"{was}, now {buffer.kind}" if was else str(buffer.kind)
    before = f"{rows_word(buffer.before)}  →  " if buffer.before is not None else ""
    after = "one value" if buffer.kept.is_one_value else rows_word(buffer.after)
    canvas.y += 14
    canvas.text(MARGIN, f"{buffer.name} · {kind} · {before}{after}", 13.5, bold=True)
    canvas.y += 18
    readers = "; ".join(map(str, buffer.readers[:FEW]))
    told = f"{buffer.kept}: {readers}" if readers else str(buffer.kept)
    if buffer.stops_early:
        told += "; the loop may stop early, so that only a run can tell what is in the slots"
    elif buffer.ring is None and buffer.kept is not Kept.MIT_MOT:
        told += "; give lab.compiled values, and the slots can be drawn"
    for line in lines(told):
        canvas.text(MARGIN, line, 12, muted=True)
        canvas.y += 17


def _rows(canvas: Canvas, buffer: Buffer) -> None:
    """The buffer as the loop fills it in thought: a cell for every row, kept ones marked."""
    steps = buffer.steps.number
    if buffer.kind is Kind.MIT_MOT or steps is None or buffer.stops_early:
        return
    ring, rows = buffer.ring, buffer.initial + steps
    kept = set(range(rows)) if ring is None else {row for row in ring.returned() if row is not None}
    tail = min(max(ENDS, len(kept)), 2 * ENDS)
    ends = {*range(min(ENDS, rows)), *range(max(0, rows - tail), rows)}
    shown = with_gaps(range(rows) if rows <= 12 else ends)
    y, x = canvas.y, float(LABELS)
    canvas.row_label("all rows", y + 28)
    for item in shown:
        if isinstance(item, Gap):
            canvas.add(
                Text(x + GAP / 2 - 5, y + 25, f"⋯{item.hidden:,}", 10.5, "middle", muted=True)
            )
            x += GAP
            continue
        given = item < buffer.initial
        role = Role.PRESERVED if item in kept else Role.UNNEEDED
        canvas.roles.append(role)
        below = "given" if given else f"step {item - buffer.initial:,}"
        canvas.add(row_cell(Box(x, y, WIDE, HEIGHT, role), buffer, item, below))
        x += WIDE + BETWEEN
    canvas.right = max(canvas.right, x)
    canvas.y += HEIGHT + 14


def _overview(canvas: Canvas, scans: list[ScanAfter]) -> None:
    """A line for every Scan, with a box for each of its buffers."""
    canvas.y += 14
    for scan in scans[:MOST_LINES]:
        name = shortened(f"{scan.number} · {scan.name}", 2 * LABELS - MARGIN - 20, 12)
        canvas.add(Text(MARGIN, canvas.y + 16, name, 12, title=f"{scan.name}, {scan.steps} steps"))
        x = float(2 * LABELS)
        for buffer in scan.buffers[:6]:
            role = Role.UNNEEDED if buffer.is_shortened else Role.PRESERVED
            after = buffer.after if buffer.after.number is None else f"{buffer.after.number:,}"
            known = buffer.before is not None and buffer.before.number is not None
            before = f"{buffer.before.number:,} → " if known and buffer.before else ""
            told = f"{buffer.name}: {before}{after}"
            words = shortened(told, 140, 11)
            box = Box(x, canvas.y, 150, LINE - 4, role)
            label = Text(x + 75, canvas.y + 15, words, 11, "middle", role=role)
            canvas.add(Group((box, label), title=f"{told} rows; {buffer.kept}"))
            canvas.roles.append(role)
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
