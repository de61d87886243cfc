"""A circular buffer drawn step by step: a row of slots after every step, and the result last."""

from lab.buffers import Buffer, Kept
from lab.circular import Ring
from lab.compiled_graph import ScanAfter
from lab.errors import listing
from visual.columns import ENDS, Gap, shown_steps, with_gaps
from visual.layout import LABELS, Canvas
from visual.names import indexed
from visual.scene import Arrow, Box, Group, Text, shortened
from visual.theme import Role

WIDE, BETWEEN, HEIGHT, GAP, PITCH = 80, 10, 50, 56, 70
MOST_SLOTS = 12


def row_cell(
    box: Box, buffer: Buffer, row: int | None, below: str, old: int | None = None
) -> Group:
    """A slot with the name of the row in it, and when it was written; `old` is struck through."""
    middle = box.x + box.width / 2
    if row is None:
        text = Text(middle, box.y + 30, "—", 12.5, "middle", role=box.role)
        return Group((box, text), title="nobody has written here")
    name = shortened(indexed(buffer.name, row), box.width - 6, 13)
    title, top = f"{buffer.name}[{row}], {below}", box.y + (22 if old is None else 29)
    texts = [
        Text(middle, top, name, 13, "middle", bold=True, role=box.role),
        Text(middle, box.y + (39 if old is None else 44), below, 10.5, "middle", role=box.role),
    ]
    if old is not None:
        gone = shortened(indexed(buffer.name, old), box.width - 6, 10.5)
        texts.insert(0, Text(middle, box.y + 14, gone, 10.5, "middle", struck=True, role=box.role))
        title += f"; in the place of {buffer.name}[{old}], which is gone"
    return Group((box, *texts), cell=f"compiled:{buffer.name}:{row}", title=title)


class RingRows:
    """The slots of one shortened buffer, from the initial values to the result."""

    def __init__(
        self, canvas: Canvas, buffer: Buffer, ring: Ring, scan: ScanAfter, moment: int
    ) -> None:
        self.canvas, self.buffer, self.ring = canvas, buffer, ring
        self.scan, self.moment = scan, moment
        self.left: dict[int, float] = {}
        self.gaps: list[tuple[float, Gap]] = []
        x = float(LABELS)
        for item in self._slots():
            if isinstance(item, Gap):
                self.gaps.append((x, item))
                x += GAP
            else:
                self.left[item] = x
                x += WIDE + BETWEEN
        self.right = x

    def _slots(self) -> list[int | Gap]:
        """The slots that are shown: all, or the ends and those that the shown steps write."""
        ring = self.ring
        if ring.length <= MOST_SLOTS:
            return list(range(ring.length))
        chosen = {*range(ENDS), *range(ring.length - ENDS, ring.length)}
        steps = [step for step in shown_steps(ring.steps) if not isinstance(step, Gap)]
        return with_gaps(chosen | {ring.slot(ring.written(step)) for step in steps})

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
                told = f"⋯ {step.hidden:,} steps"
                canvas.add(Text(LABELS - 12, canvas.y + 4, told, 11, "end", muted=True))
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
            canvas.roles.append(role)
            canvas.add(
                row_cell(Box(x, y, WIDE, HEIGHT, role), self.buffer, row, self._when(row), old)
            )
        self._gaps(y)
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
        return Role.INPUT if step is None else Role.SPENT

    def _when(self, row: int | None) -> str:
        step = self.ring.step_of(row) if row is not None else None
        return "given" if step is None else f"step {step:,}"

    def _arrows(self, y: float, target: int | None, reads: set[int]) -> None:
        """From what a step reads, in the row before, to the slot that it writes."""
        if target not in self.left:
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
        told = f"reads {listing(indexed(name, r) for r in sorted(reads))}; " if reads else ""
        told += indexed(name, row)
        if ring.length > 1:
            told += f" goes to slot {row} mod {ring.length} = {ring.slot(row)}"
            return told if old is None else f"{told}; {indexed(name, old)} is gone"
        return f"{told} is the first" if old is None else f"{told} takes its place"

    def _note(self, y: float, told: str) -> None:
        """What is said beside a row."""
        short = shortened(told, 620, 12)
        text = Text(self.right + 14, y + 30, short, 12, title=told if short != told else "")
        self.canvas.add(text)
        self.canvas.right = max(self.canvas.right, text.x + text.width)

    def _gaps(self, y: float) -> None:
        for x, gap in self.gaps:
            told = f"⋯{gap.hidden:,}"
            self.canvas.add(Text(x + GAP / 2 - 5, y + 30, told, 10.5, "middle", muted=True))

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
            canvas.roles.append(role)
            box = Box(x, y, WIDE, HEIGHT, role)
            canvas.add(row_cell(box, self.buffer, rows[slot], self._when(rows[slot])))
        self._gaps(y)
        if rows != ring.held(ring.steps):
            told = f"turned by {ring.slot(ring.rows)}, so that the oldest row comes first"
            self._note(y, told)
        number = self.moment + ring.steps + 1
        canvas.group(start, number, f"{self.scan.number} · {self.scan.name}, the result")
        canvas.y += HEIGHT + 14
