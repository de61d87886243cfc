"""A step of a tape, transposed: narrow and set_subtensor backwards, beside the traced gradient.

A step reads slots of its tape, and writes others.  As routing that is narrow, and
set_subtensor; transposed, the gradient at a written slot goes to what was written, zero stays
behind, and what was read comes back by a scatter.  So the gradient of an overwritten tap ends
there, and a preserved one, which went two ways, gets a sum.  Below stands the tape of the
gradient at the same step, as it was traced, with the same numbers.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from lab.errors import ArgumentError, GraphError, listing, quoted, whole
from lab.notation import signed
from lab.traces.trace import Trace
from visual.choices import of_trace
from visual.layout.canvas import (
    BETWEEN,
    CELL,
    GAP,
    HEIGHT,
    LABELS,
    MARGIN,
    Canvas,
    numbers,
    place_columns,
)
from visual.layout.cells import cell
from visual.layout.grid import shown
from visual.layout.names import NamedScan
from visual.pictures.routing.transposed_step import TransposedStep, differentiated, transposed_step
from visual.scene.shapes import Arrow, Box, Scene, Text
from visual.scene.theme import Role

BETWEEN_ROWS = 18
ROW = HEIGHT + BETWEEN_ROWS
WORDS: Mapping[Role, str] = {
    Role.INTERMEDIATE: "a number on its way",
    Role.PRESERVED: "read and left; its gradients are summed",
    Role.OVERWRITTEN: "replaced; the gradient of the old value stops there",
    Role.READ: "what is read, and what reading brings back",
    Role.RESULT: "gradient of the tape before the step",
    Role.UNNEEDED: "zero",
    Role.SPENT: "left as it is; nobody reads this slot again",
}


def transposed(trace: Trace, scan: int | None = None, step: int = 0, theme: str = "light") -> Scene:
    """A step of a Scan as routing, transposed, and beside the tape of its gradient.

    `scan` is the number of a Scan in the trace that is differentiated; unless given, the first
    that overwrites a tap (there is one from order 2), or else the first.  `step` counts as that
    Scan does.  Raises GraphError if nothing is differentiated, ArgumentError for another Scan
    or step.
    """
    of_trace(trace)
    known = differentiated(trace)
    if not known:
        raise GraphError(
            "order = 0: no Scan of this trace is differentiated; from order 1 there is one."
        )
    overwrite = [n for n, (tape, *_) in known.items() if tape.tape.overwritten]
    number = [*overwrite, *known][0] if scan is None else scan
    if whole("scan", number) not in known:
        raise ArgumentError(
            f"scan = {quoted(scan)}: the Scans that are differentiated are {listing(known)}."
        )
    source = trace.scans[number]
    if whole("step", step) not in range(source.steps):
        raise ArgumentError(f"step = {quoted(step)}: {source.name} makes 0 to {source.steps - 1}.")
    tape, later, reverse = known[number]
    found = transposed_step(source, tape, trace.scans[later], reverse, step)
    drawing = _Drawing(trace, number, later, found)
    for stage in (drawing.forward, drawing.transposed, drawing.traced):
        stage()
    canvas = drawing.canvas
    return canvas.finished(
        WORDS,
        width=canvas.right + MARGIN,
        title=f"Step {step} of {source.name}, transposed",
        description=(
            f"What step {step} does with the tape {tape.name}, the transpose of that by the rules "
            f"of routing, and the same step of {trace.scans[later].name}, which has its numbers."
        ),
        theme=theme,
    )


class _Drawing:
    """The three blocks, from top to bottom, in columns that are the slots of the tape."""

    def __init__(self, trace: Trace, number: int, later: int, found: TransposedStep) -> None:
        self.trace, self.number, self.later, self.found = trace, number, later, found
        self.canvas, tape, step = Canvas(), found.tape.tape, found.step
        self.reads = {tape.row(step, tap): n for n, tap in enumerate(tape.reads)}
        self.writes = {tape.row(step, tap): n for n, tap in enumerate(tape.writes)}
        touched, size = {*self.reads, *self.writes}, len(found.before)
        near = {row + d for row in touched for d in (-1, 0, 1)} & set(range(size))
        self.columns = place_columns(numbers(shown(size, 6, near)), start=LABELS + 30)
        self.slots = self.columns.left
        self.backwards = False
        self.canvas.right = self.columns.right

    def forward(self) -> None:
        """What the step reads, writes and leaves."""
        found, canvas, start = self.found, self.canvas, len(self.canvas.shapes)
        scan = self.trace.scans[self.number]
        canvas.heading(
            f"forward: step {found.step} of {scan.name}, as routing",
            [f"{found.tape.name}: {found.tape.tape}"],
        )
        for row, x in self.slots.items():
            position = signed(found.tape.position(row))
            canvas.header(x, canvas.y, self._label(row), f"row {row} · pos {position}")
        canvas.y += 34
        overwrites = {row: row in self.writes for row in self.reads}
        roles = {r: Role.OVERWRITTEN if o else Role.PRESERVED for r, o in overwrites.items()}
        self._row("tape before", self._written(found.before, found.step), roles)
        read = {row: found.read[n] for row, n in self.reads.items()}
        self._down(self.reads)
        self._some("read", read, Role.READ, "narrow: a copy of the slot goes to the step")
        written = {row: found.written[n] for row, n in self.writes.items()}
        self._some("y, written", written, Role.INTERMEDIATE, "what the step computed")
        self._down(self.writes)
        places = listing(self.writes)
        many = len(self.writes) > 1
        words = f"set_subtensor at rows {places}" if many else f"set_subtensor(tape, y, {places})"
        old = {row: found.before[row] for row in self.writes if row in self.reads}
        roles = dict.fromkeys(old, Role.OVERWRITTEN)
        self._row("tape after", self._written(found.after, found.step + 1), roles, words, old)
        canvas.group(start, 0, "forward")
        canvas.y += 30

    def transposed(self) -> None:
        """The same step, transposed by the rules of routing."""
        self.backwards = True
        found, canvas, start = self.found, self.canvas, len(self.canvas.shapes)
        canvas.heading(
            "transposed: the same step backwards, as routing",
            ["from the gradient of the tape after the step to that of the tape before it"],
        )
        self._row("gradient after", found.gradient_after, {}, "g")
        taken = {row: found.taken[n] for row, n in self.writes.items()}
        self._down(self.writes)
        self._some("to y", taken, Role.INTERMEDIATE, "what stood there goes to what was written")
        roles = dict.fromkeys(self.writes, Role.OVERWRITTEN)
        words = "zero stays behind: the gradient of what was replaced ends here"
        old = {row: found.gradient_after[row] for row in self.writes}
        self._row("to the tape", found.left, roles, words, old)
        brought = np.zeros_like(found.before)
        brought[[*self.reads]] = [found.brought[n] for n in self.reads.values()]
        words = "narrow transposed: a scatter of what reading brings"
        roles = dict.fromkeys(self.slots, Role.UNNEEDED) | dict.fromkeys(self.reads, Role.READ)
        self._row("+ from reading", brought, roles, words)
        self._down(self.reads)
        roles = dict.fromkeys(self.reads, Role.RESULT)
        words = "the sum: a preserved tap went two ways"
        self._row("gradient before", found.gradient_before, roles, words)
        canvas.group(start, 1, "transposed")
        canvas.y += 30

    def traced(self) -> None:
        """The tape of the gradient, at the step that belongs to this one."""
        found, canvas, start = self.found, self.canvas, len(self.canvas.shapes)
        scan, alive = self.trace.scans[self.later], self._alive()
        differences = np.abs(found.traced - found.gradient_before)[alive]
        away = float(np.max(differences, initial=0))
        canvas.heading(
            f"traced: step {scan.steps - 1 - found.step} of {scan.name}, which differentiates it",
            [
                f"{found.reverse.name}: {found.reverse.tape}; its slots in the order from above",
                f"largest difference to the gradient before, by routing: {away!r}",
            ],
        )
        self._row("tape before", found.gradient_after, {}, "the gradient after, from above")
        tape = found.tape.tape
        roles = {tape.row(found.step, tap): Role.OVERWRITTEN for tap in tape.overwritten}
        roles |= {tape.row(found.step, tap): Role.PRESERVED for tap in tape.preserved}
        roles |= {row: Role.SPENT for row in self.slots if not alive[row]}
        old = {row: found.gradient_after[row] for row in self.reads}
        words = "overwritten: a new value; preserved: old value + new one"
        self._row("tape after", found.traced, roles, words, old)
        canvas.group(start, 2, "traced")
        canvas.y += 24

    def _alive(self) -> np.ndarray:
        """The slots that somebody still reads: only there is the gradient kept."""
        alive = np.ones(len(self.found.traced), dtype=bool)
        tape = self.found.tape.tape
        for step in range(self.found.step, self.trace.scans[self.number].steps):
            for tap in set(tape.writes) - set(tape.reads):
                alive[tape.row(step, tap)] = False
        return alive

    def _written(self, values: np.ndarray, step: int) -> list[np.ndarray | None]:
        """The slots before a step, without those that nobody has filled until then."""
        tape = self.found.tape
        filled = {int(a.rows[before]) for a in tape.writes for before in range(step)}
        empty = set(np.flatnonzero(tape.unwritten).tolist()) - filled
        return [None if row in empty else value for row, value in enumerate(values)]

    def _label(self, row: int) -> str:
        named = NamedScan(self.trace, self.number)
        return named.tape_label(self.found.tape, row) or self.found.tape.name

    def _down(self, rows: Iterable[int]) -> None:
        """Arrows from the cells above to those that follow."""
        for row in rows:
            x, y = self.slots[row] + CELL / 2, self.canvas.y
            self.canvas.add(Arrow(((x, y - BETWEEN_ROWS + 1), (x, y - 1)), accent=True))

    def _some(self, label: str, values: Mapping[int, np.ndarray], role: Role, words: str) -> None:
        """Cells for some slots only."""
        self._row(label, values, dict.fromkeys(values, role), words, shown=values)

    def _row(
        self,
        label: str,
        values: Sequence[np.ndarray | None] | np.ndarray | Mapping[int, np.ndarray],
        roles: Mapping[int, Role],
        words: str = "",
        old: Mapping[int, np.ndarray] = MappingProxyType({}),
        shown: Container[int] | None = None,
    ) -> None:
        """A cell for every slot, or for those `shown`, above it the old value if there is one."""
        canvas = self.canvas
        for row, x in self.slots.items():
            if shown is None or row in shown:
                box = Box(x, canvas.y, CELL, HEIGHT, roles.get(row, Role.INTERMEDIATE))
                value = None if values[row] is None else np.asarray(values[row])
                before = np.asarray(old[row]) if row in old else None
                name = f"{label}, {self._label(row)}"
                canvas.add(cell(box, value, name, before, None, self._key(row)))
        for x, gap in self.columns.gaps:
            middle = x + (GAP - BETWEEN) / 2
            canvas.add(Text(middle, canvas.y + 26, f"⋯{gap.hidden:,}", 10.5, "middle", muted=True))
        canvas.add(Text(LABELS + 18, canvas.y + 26, label, 13, "end", bold=True))
        if words:
            canvas.write(Text(self.columns.right + 4, canvas.y + 26, words, 12, muted=True))
        canvas.y += ROW

    def _key(self, row: int) -> str:
        """The key of what a slot holds: forwards a value of the tape, later its gradient."""
        number, tape = self.number, self.found.tape
        if self.backwards:
            number, tape = self.later, self.found.reverse
            row = len(tape.initial) - 1 - row
        return NamedScan(self.trace, number).row_key(tape, row)
