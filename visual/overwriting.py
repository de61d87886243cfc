"""An overwritten tap is set_subtensor, and a preserved one a fan-out: one step, seen both ways.

A step of a backward Scan reads slots of its tape, and writes one of them anew.  As routing
that is narrow, and set_subtensor; transposed, the gradient at the written slot goes to what
was written, zero stays behind, and what was read comes back by a scatter.  Below stands the
tape of the next derivative at the same step, with the same numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lab.errors import ArgumentError, GraphError, listing
from lab.expression import Leaf
from lab.tape import Kind
from lab.trace import ScanTrace, StepValue, TapeTrace, Trace
from visual.columns import Gap, with_gaps
from visual.layout import BETWEEN, CELL, GAP, HEIGHT, LABELS, MARGIN, Canvas, explained
from visual.names import cell_key, signed, tape_label
from visual.scene import Box, Scene, Text
from visual.theme import Role, theme_named
from visual.values import cell

ROW = HEIGHT + 14
WORDS: Mapping[Role, str] = {
    Role.INTERMEDIATE: "a number on its way",
    Role.PRESERVED: "preserved: read and left; its gradients are summed",
    Role.OVERWRITTEN: "overwritten: read, then replaced; its gradient stops there",
    Role.READ: "what is read, and what reading brings back",
    Role.RESULT: "gradient of the tape before the step",
    Role.UNNEEDED: "zero, or left as it is",
    Role.SEED: "gradient of what was written",
}


@dataclass(frozen=True, eq=False)
class Overwriting:
    """A step of a loop's tape, its transpose as routing, and the gradient's tape at that step.

    All arrays count rows as `tape` does.  `read` and `brought` have a row for every read tap,
    `written` and `taken` for every write tap.
    """

    tape: TapeTrace
    reverse: TapeTrace
    step: int
    before: np.ndarray
    read: np.ndarray
    written: np.ndarray
    after: np.ndarray
    gradient_after: np.ndarray
    taken: np.ndarray
    left: np.ndarray
    brought: np.ndarray
    gradient_before: np.ndarray
    traced: np.ndarray


def overwriting(
    trace: Trace, scan: int | None = None, step: int = 0, theme: str = "light"
) -> Scene:
    """A step of a backward Scan as routing, transposed, and beside the tape of its gradient.

    `scan` is the number of a Scan in the trace that overwrites a tap and is differentiated;
    the first unless given.  `step` counts as that Scan does.  Raises GraphError for a trace
    without one (there is one from order 2), ArgumentError for another number.
    """
    known = _differentiated(trace)
    if not known:
        raise GraphError(
            "order: no Scan of this trace overwrites a tap and is differentiated; from order 2 "
            "there is one."
        )
    number = next(iter(known)) if scan is None else scan
    if number not in known:
        raise ArgumentError(
            f"scan = {scan!r}: overwriting Scans that are differentiated: {listing(known)}."
        )
    source = trace.scans[number]
    if step not in range(source.steps):
        raise ArgumentError(f"step = {step!r}: {source.name} makes 0 to {source.steps - 1}.")
    tape, later, reverse = known[number]
    found = _overwriting(source, tape, trace.scans[later], reverse, step)
    drawing = _Drawing(trace, number, later, found)
    for stage in (drawing.forward, drawing.transposed, drawing.traced):
        stage()
    canvas = drawing.canvas
    shapes, bottom = explained(
        {role: words for role, words in WORDS.items() if role in canvas.roles},
        canvas.y,
        canvas.right + MARGIN,
    )
    canvas.add(*shapes)
    return Scene(
        width=canvas.right + MARGIN,
        height=bottom + 12,
        shapes=tuple(canvas.shapes),
        title=f"Step {step} of {source.name}: an overwritten tap is set_subtensor",
        description=(
            f"What step {step} does with the tape {tape.name}, the transpose of that by the rules "
            f"of routing, and the same step of {trace.scans[later].name}, which has its numbers."
        ),
        theme=theme_named(theme),
    )


def _differentiated(trace: Trace) -> dict[int, tuple[TapeTrace, int, TapeTrace]]:
    """Every Scan with an overwritten tap, that tape, the Scan of its gradient, and its tape."""
    found: dict[int, tuple[TapeTrace, int, TapeTrace]] = {}
    for later, scan in enumerate(trace.scans):
        if scan.parent is None or scan.steps != trace.scans[scan.parent].steps:
            continue
        for tape in trace.scans[scan.parent].tapes:
            for reverse in scan.tapes:
                same = reverse.gradient_of == tape.name and reverse.kind is Kind.MIT_MOT
                if same and tape.tape.overwritten and tape.kind is Kind.MIT_MOT:
                    found.setdefault(scan.parent, (tape, later, reverse))
    return found


def _overwriting(
    source: ScanTrace, tape: TapeTrace, later: ScanTrace, reverse: TapeTrace, step: int
) -> Overwriting:
    from lab import structural  # imported when a picture is asked for

    back = source.steps - 1 - step
    before, gradient_after = tape.contents(step - 1), reverse.contents(back - 1)[::-1]
    written = np.stack([access.values[step] for access in tape.writes])
    brought = np.stack([_brought(later, reverse, -tap, back) for tap in tape.tape.reads])
    moved, pullback = structural.vjp(structural.tape_step(tape.tape, step), [before, written])
    nothing = np.zeros_like(brought)
    left, taken = pullback(np.concatenate([nothing, gradient_after]))
    gradient_before, _ = pullback(np.concatenate([brought, gradient_after]))
    reads = len(tape.tape.reads)
    return Overwriting(
        tape=tape,
        reverse=reverse,
        step=step,
        before=before,
        read=moved[:reads],
        written=written,
        after=moved[reads:],
        gradient_after=gradient_after,
        taken=taken,
        left=left,
        brought=brought,
        gradient_before=gradient_before,
        traced=reverse.contents(back)[::-1],
    )


def _brought(scan: ScanTrace, tape: TapeTrace, tap: int, step: int) -> np.ndarray:
    """What a step of a gradient adds at a tap: the value it writes, without what was there."""
    access = next(access for access in tape.writes if access.tap == tap)
    target = Leaf(tape.name, tap, tape.argument)
    source = next(r.source for r in scan.results if r.target == target)
    made = scan.inside[source] if isinstance(source, int) else None
    if made is None or made.operation != "Add" or target not in made.inputs:
        return np.asarray(access.values[step])
    others = [one for one in made.inputs if one != target]
    if len(others) == 1 and isinstance(others[0], int):
        term: StepValue = scan.inside[others[0]]
        if len(term.values):
            return np.asarray(term.values[step])
    assert access.before is not None  # a slot that accumulates was read
    return np.asarray(access.values[step] - access.before[step])


class _Drawing:
    """The three blocks, from top to bottom, in columns that are the slots of the tape."""

    def __init__(self, trace: Trace, number: int, later: int, found: Overwriting) -> None:
        self.trace, self.number, self.later, self.found = trace, number, later, found
        self.canvas, tape, step = Canvas(), found.tape.tape, found.step
        self.reads = {tape.row(step, tap): n for n, tap in enumerate(tape.reads)}
        self.writes = {tape.row(step, tap): n for n, tap in enumerate(tape.writes)}
        touched = {*self.reads, *self.writes}
        size = len(found.before)
        near = {row + d for row in touched for d in (-1, 0, 1)} & set(range(size))
        self.lefts: dict[int, float] = {}
        self.gaps: list[tuple[float, Gap]] = []
        x: float = LABELS + 30
        for item in with_gaps({0, size - 1, *near}):
            if isinstance(item, Gap):
                self.gaps.append((x, item))
                x += GAP
            else:
                self.lefts[item] = x
                x += CELL + BETWEEN
        self.right = x
        self.canvas.right = x

    def forward(self) -> None:
        """What the step reads, writes and leaves."""
        found, canvas, start = self.found, self.canvas, len(self.canvas.shapes)
        scan = self.trace.scans[self.number]
        canvas.heading(
            f"forward: step {found.step} of {scan.name}, as routing",
            [f"{found.tape.name}: {found.tape.tape}"],
        )
        self._header()
        roles = {row: Role.PRESERVED for row in self.reads if row not in self.writes}
        roles |= {row: Role.OVERWRITTEN for row in self.reads if row in self.writes}
        self._row("tape before", found.before, roles, "")
        read = {row: found.read[n] for row, n in self.reads.items()}
        self._some("read", read, Role.READ, "narrow: a copy of the slot goes to the step")
        written = {row: found.written[n] for row, n in self.writes.items()}
        self._some("y, written", written, Role.INTERMEDIATE, "what the step computed")
        roles = dict.fromkeys(self.writes, Role.OVERWRITTEN)
        places = ", ".join(str(row) for row in self.writes)
        words = f"set_subtensor(tape, y, {places})"
        self._row("tape after", found.after, roles, words, old=found.before)
        canvas.group(start, step=0)
        canvas.y += 30

    def transposed(self) -> None:
        """The same step, transposed by the rules of routing."""
        found, canvas, start = self.found, self.canvas, len(self.canvas.shapes)
        canvas.heading(
            "transposed: the same step backwards, as routing",
            ["from the gradient of the tape after the step to that of the tape before it"],
        )
        self._row("gradient after", found.gradient_after, {}, "g")
        taken = {row: found.taken[n] for row, n in self.writes.items()}
        self._some("to y", taken, Role.SEED, "what stood there goes to what was written")
        roles = dict.fromkeys(self.writes, Role.OVERWRITTEN)
        words = "zero stays behind: an overwritten tap ends here"
        self._row("to the tape", found.left, roles, words, old=found.gradient_after)
        brought = {row: found.brought[n] for row, n in self.reads.items()}
        words = "narrow transposed: a scatter of what reading brings"
        self._some("+ from reading", brought, Role.READ, words, zeros=True)
        roles = dict.fromkeys(self.reads, Role.RESULT)
        words = "the sum: a preserved tap went two ways"
        self._row("gradient before", found.gradient_before, roles, words)
        canvas.group(start, step=1)
        canvas.y += 30

    def traced(self) -> None:
        """The tape of the gradient, at the step that belongs to this one."""
        found, canvas, start = self.found, self.canvas, len(self.canvas.shapes)
        scan = self.trace.scans[self.later]
        back = scan.steps - 1 - found.step
        away = float(np.max(np.abs(found.traced - found.gradient_before)[self._alive()], initial=0))
        canvas.heading(
            f"traced: step {back} of {scan.name}, which differentiates it",
            [
                f"{found.reverse.name}: {found.reverse.tape}; its slots in the order from above",
                f"largest difference to the gradient before, by routing: {away!r}",
            ],
        )
        self._row("tape before", found.gradient_after, {}, "the gradient after, from above")
        tape = found.tape.tape
        roles = {tape.row(found.step, tap): Role.OVERWRITTEN for tap in tape.overwritten}
        roles |= {tape.row(found.step, tap): Role.PRESERVED for tap in tape.preserved}
        old = {row: found.gradient_after[row] for row in self.reads}
        words = "overwritten: a new value; preserved: old value + new one"
        self._row("tape after", found.traced, roles, words, old=old)
        canvas.group(start, step=2)
        canvas.y += 24

    def _alive(self) -> np.ndarray:
        """The slots that somebody still reads: only there is the gradient kept."""
        alive = np.ones(len(self.found.traced), dtype=bool)
        tape = self.found.tape.tape
        for step in range(self.found.step, self.trace.scans[self.number].steps):
            for tap in set(tape.writes) - set(tape.reads):
                alive[tape.row(step, tap)] = False
        return alive

    def _header(self) -> None:
        for row, x in self.lefts.items():
            position = signed(self.found.tape.position(row))
            self.canvas.header(x, self.canvas.y, self._label(row), f"row {row} · pos {position}")
        self.canvas.y += 34

    def _label(self, row: int) -> str:
        scan = self.trace.scans[self.number]
        return tape_label(self.trace, scan, self.found.tape, row) or self.found.tape.name

    def _row(
        self,
        label: str,
        values: np.ndarray,
        roles: Mapping[int, Role],
        words: str,
        old: np.ndarray | Mapping[int, np.ndarray] | None = None,
    ) -> None:
        """A cell for every slot; those with a role show the old value, if there is one."""
        for row in self.lefts:
            role = roles.get(row, Role.INTERMEDIATE)
            replaced = None if old is None or row not in roles else np.asarray(old[row])
            self._cell(row, role, values[row], replaced, label)
        self._finish(label, words)

    def _some(
        self,
        label: str,
        values: Mapping[int, np.ndarray],
        role: Role,
        words: str,
        zeros: bool = False,
    ) -> None:
        """Cells for some slots only; for the others zeros, or nothing."""
        for row in self.lefts:
            if row in values:
                self._cell(row, role, values[row], None, label)
            elif zeros:
                self._cell(row, Role.UNNEEDED, np.zeros_like(self.found.before[row]), None, label)
        self._finish(label, words)

    def _cell(
        self, row: int, role: Role, value: np.ndarray, old: np.ndarray | None, label: str
    ) -> None:
        tape = self.found.tape
        self.canvas.roles.append(role)
        index = int(tape.axis.index[row]) if tape.axis is not None else None
        key = cell_key(self.trace, self.number, tape.name, index, row)
        box = Box(self.lefts[row], self.canvas.y, CELL, HEIGHT, role)
        name = f"{label}, {self._label(row)}"
        self.canvas.add(cell(box, np.asarray(value), name, old, None, key))

    def _finish(self, label: str, words: str) -> None:
        canvas = self.canvas
        for x, gap in self.gaps:
            words_ = f"⋯{gap.hidden:,}"
            middle = x + (GAP - BETWEEN) / 2
            canvas.add(Text(middle, canvas.y + 26, words_, 10.5, "middle", muted=True))
        canvas.add(Text(LABELS + 18, canvas.y + 26, label, 13, "end", bold=True))
        if words:
            text = Text(self.right + 4, canvas.y + 26, words, 12, muted=True)
            canvas.add(text)
            canvas.right = max(canvas.right, text.x + text.width)
        canvas.y += ROW
