"""A step of a tape, transposed: narrow and set_subtensor backwards, beside the traced gradient.

A step reads slots of its tape, and writes others.  As routing that is narrow, and
set_subtensor; transposed, the gradient at a written slot goes to what was written, zero stays
behind, and what was read comes back by a scatter.  So the gradient of an overwritten tap ends
there, and a preserved one, which went two ways, gets a sum.  Below stands the tape of the
gradient at the same step, as it was traced, with the same numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from lab.errors import ArgumentError, GraphError, check_integer, listing, quote
from lab.notation import Leaf, integers
from lab.traces.trace import ScanTrace, StepValue, TapeTrace, Trace
from visual.layout.canvas import (
    HEIGHT,
    column_header,
    columns_within,
    finished,
    gap_text,
    heading,
    numbers,
)
from visual.layout.cells import cell
from visual.layout.grid import shown
from visual.layout.names import NamedScan
from visual.options import check_trace
from visual.scene.combinators import Piece, above, grouped, sized
from visual.scene.shapes import Arrow, Box, Group, Scene, Shape, Text, folded, picture_function
from visual.scene.theme import Role

BETWEEN_ROWS, BETWEEN_BLOCKS, HEADER = 16, 22, 44
LABELS, APART = 190, 14  # what a row is, to the left of its cells
FORWARD, TRANSPOSED, TRACED = (
    Group((), step, moment=moment)
    for step, moment in enumerate(("forward", "transposed", "traced"))
)
TOLD = {
    "read": "narrow: a copy of the slot goes to the step",
    "y, written": "what the step computed",
    "gradient after": "g, from the steps that follow",
    "to y": "what stood there goes to what was written",
    "to the tape": "zero stays behind: the gradient of what was replaced ends here",
    "+ from reading": "narrow transposed: a scatter of what reading brings",
    "gradient before": "the sum: a preserved tap went two ways",
}
ADDED = "overwritten: a new value; preserved: old value + new one"
WORDS: Mapping[Role, str] = {
    Role.INTERMEDIATE: "value of an operation",
    Role.PRESERVED: "read, unchanged; its gradients are added",
    Role.OVERWRITTEN: "replaced; the gradient of the old value stops there",
    Role.READ: "value that is read, and its gradient",
    Role.RESULT: "gradient of the tape before the step",
    Role.UNNEEDED: "zero",
    Role.SPENT: "unchanged; no later step reads this slot",
}


@dataclass(frozen=True, eq=False)
class TransposedStep:
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


@picture_function
def transposed(trace: Trace, scan: int | None = None, step: int = 0) -> Scene:
    """A step of a Scan as routing, transposed, and beside the tape of its gradient.

    `scan` is the number of a Scan in the trace that is differentiated; unless given, the first
    that overwrites a tap (there is one from order 2), or else the first.  `step` counts as that
    Scan does.  Raises GraphError if nothing is differentiated, ArgumentError for another Scan
    or step.
    """
    check_trace(trace)
    known = differentiated(trace)
    if not known:
        raise GraphError(
            "order = 0: no Scan of this trace is differentiated; from order 1 there is one."
        )
    overwrite = [n for n, (tape, *_) in known.items() if tape.tape.overwritten]
    number = [*overwrite, *known][0] if scan is None else scan
    if check_integer("scan", number) not in known:
        raise ArgumentError(
            f"scan = {quote(scan)}: the Scans that are differentiated are {listing(known)}."
        )
    source = trace.scans[number]
    if check_integer("step", step) not in range(source.steps):
        raise ArgumentError(f"step = {quote(step)}: {source.name} makes 0 to {source.steps - 1}.")
    tape, later, reverse = known[number]
    found = transposed_step(source, tape, trace.scans[later], reverse, step)
    blocks = _Blocks(trace, number, later, found)
    parts = (blocks.forward(), blocks.transposed(), blocks.traced())
    return finished(
        above(*parts, apart=BETWEEN_BLOCKS),
        WORDS,
        title=f"Step {step} of {source.name}, transposed",
        description=(
            f"What step {step} does with the tape {tape.name}, the transpose of that by the rules "
            f"of routing, and the same step of {trace.scans[later].name}, which has its numbers."
        ),
    )


class _Blocks:
    """The three blocks, in columns that are the slots of the tape."""

    def __init__(self, trace: Trace, number: int, later: int, found: TransposedStep) -> None:
        self.trace, self.number, self.later, self.found = trace, number, later, found
        tape, step = found.tape.tape, found.step
        self.reads = {tape.row(step, tap): n for n, tap in enumerate(tape.reads)}
        self.writes = {tape.row(step, tap): n for n, tap in enumerate(tape.writes)}
        touched, size = {*self.reads, *self.writes}, len(found.before)
        near = {row + d for row in touched for d in (-1, 0, 1)} & set(range(size))
        self.columns = columns_within(numbers(shown(size, 6, near)), LABELS + APART)
        self.slots = self.columns.left

    def forward(self) -> Piece:
        """What the step reads, writes and leaves."""
        row, found = partial(self._row, self.number), self.found
        overwrites = {slot: slot in self.writes for slot in self.reads}
        roles = {r: Role.OVERWRITTEN if o else Role.PRESERVED for r, o in overwrites.items()}
        read = {slot: found.read[n] for slot, n in self.reads.items()}
        written = {slot: found.written[n] for slot, n in self.writes.items()}
        old = {slot: found.before[slot] for slot in self.writes if slot in self.reads}
        put = f"set_subtensor: y goes to row {listing(self.writes)}"
        before, after = (self._written(*at) for at in ((found.before, 0), (found.after, 1)))
        return _block(
            FORWARD,
            f"step {found.step} of {self.trace.scans[self.number].name}, as routing",
            [f"{found.tape.name}: {found.tape.tape}"],
            self._header(),
            row("tape before", before, roles),
            row("read", read, dict.fromkeys(read, Role.READ), down=read),
            row("y, written", written),
            row("tape after", after, dict.fromkeys(old, Role.OVERWRITTEN), old, written, put),
        )

    def transposed(self) -> Piece:
        """The same step, transposed by the rules of routing."""
        row, found = partial(self._row, self.later), self.found
        taken = {slot: found.taken[n] for slot, n in self.writes.items()}
        old = {slot: found.gradient_after[slot] for slot in self.writes}
        brought = np.zeros_like(found.before)
        brought[[*self.reads]] = [found.brought[n] for n in self.reads.values()]
        reading = dict.fromkeys(self.slots, Role.UNNEEDED) | dict.fromkeys(self.reads, Role.READ)
        result = dict.fromkeys(self.reads, Role.RESULT)
        return _block(
            TRANSPOSED,
            "the same step backwards, as routing",
            ["from the gradient of the tape after the step to that of the tape before it"],
            row("gradient after", found.gradient_after),
            row("to y", taken, down=taken),
            row("to the tape", found.left, dict.fromkeys(old, Role.OVERWRITTEN), old),
            row("+ from reading", brought, reading),
            row("gradient before", found.gradient_before, result, down=self.reads),
        )

    def traced(self) -> Piece:
        """The tape of the gradient, at the step that belongs to this one."""
        row, found, alive = partial(self._row, self.later), self.found, self._alive()
        scan, tape = self.trace.scans[self.later], found.tape.tape
        differences = np.abs(found.traced - found.gradient_before)[alive]
        away = float(np.max(differences, initial=0))
        roles = {tape.row(found.step, tap): Role.OVERWRITTEN for tap in tape.overwritten}
        roles |= {tape.row(found.step, tap): Role.PRESERVED for tap in tape.preserved}
        roles |= {slot: Role.SPENT for slot in self.slots if not alive[slot]}
        old = {slot: found.gradient_after[slot] for slot in self.reads}
        return _block(
            TRACED,
            f"step {scan.steps - 1 - found.step} of {scan.name}, which differentiates it",
            [
                f"{found.reverse.name}: {found.reverse.tape}; its slots in the order from above",
                f"largest difference to the gradient before, by routing: {away!r}",
            ],
            row("tape before", found.gradient_after, told="the gradient after, from above"),
            row("tape after", found.traced, roles, old, told=ADDED),
        )

    def _alive(self) -> np.ndarray:
        """The slots that somebody still reads: only there is the gradient kept."""
        alive = np.ones(len(self.found.traced), dtype=bool)
        tape = self.found.tape.tape
        for step in range(self.found.step, self.trace.scans[self.number].steps):
            for tap in set(tape.writes) - set(tape.reads):
                alive[tape.row(step, tap)] = False
        return alive

    def _written(self, values: np.ndarray, more: int) -> list[np.ndarray | None]:
        """The slots when so many `more` steps are made, without those that nobody has filled."""
        tape, steps = self.found.tape, range(self.found.step + more)
        filled = {int(a.rows[before]) for a in tape.writes for before in steps}
        empty = set(np.flatnonzero(tape.unwritten).tolist()) - filled
        return [None if row in empty else value for row, value in enumerate(values)]

    def _label(self, row: int) -> str:
        named = NamedScan(self.trace, self.number)
        return named.tape_label(self.found.tape, row) or self.found.tape.name

    def _header(self) -> Piece:
        """What the columns are; the rows below it have their names at the left."""
        texts, cells = list[Text](), self.columns.cell
        for row, x in self.slots.items():
            texts += column_header(x, 0, self._label(row), f"row {row}", cells, cells * 0.2)
            position = f"pos {integers(self.found.tape.position(row))}"
            texts.append(Text(x + cells / 2, 40, position, 11, "middle", muted=True))
        return sized(self.columns.right, HEADER - BETWEEN_ROWS, *texts)

    def _row(
        self,
        number: int,
        label: str,
        values: Sequence[np.ndarray | None] | np.ndarray | Mapping[int, np.ndarray],
        roles: Mapping[int, Role] | None = None,
        old: Mapping[int, np.ndarray] | None = None,
        down: Iterable[int] = (),
        told: str = "",
    ) -> Piece:
        """A cell for every slot with a value, in Scan `number`; `down` to some lead arrows."""
        held = values if isinstance(values, Mapping) else dict(enumerate(values))
        wide, shapes = self.columns.cell, list[Shape]()
        whose = "" if number == self.number else "g of "
        for slot, x in self.slots.items():
            if slot in held:
                box = Box(x, 0, wide, HEIGHT, (roles or {}).get(slot, Role.INTERMEDIATE))
                both = (held[slot], (old or {}).get(slot))
                value, before = (None if v is None else np.asarray(v) for v in both)
                name, key = f"{whose}{self._label(slot)}: {label}", self._key(number, slot)
                shapes.append(cell(box, value, name, before, None, key))
        middles = (self.slots[slot] + wide / 2 for slot in down)
        shapes += [Arrow(((x, 1 - BETWEEN_ROWS), (x, -1)), accent=True) for x in middles]
        shapes += [gap_text(hidden, x, 26, wide) for x, hidden in self.columns.gaps]
        shapes.append(Text(LABELS, 26, label, 13, "end", bold=True))
        for number, line in enumerate(folded(told or TOLD.get(label, ""), LABELS, 11)):
            shapes.append(Text(LABELS, 40 + 13 * number, line, 11, "end", muted=True))
        return sized(self.columns.right, HEIGHT, *shapes)

    def _key(self, number: int, row: int) -> str:
        """The key of what a slot holds: forwards a value of the tape, later its gradient."""
        if number == self.number:
            return NamedScan(self.trace, number).row_key(self.found.tape, row)
        reverse = self.found.reverse
        return NamedScan(self.trace, number).row_key(reverse, len(reverse.initial) - 1 - row)


def _block(moment: Group, title: str, lines: Iterable[str], *rows: Piece) -> Piece:
    head = heading(f"{moment.moment}: {title}", lines)
    return grouped(above(head, above(*rows, apart=BETWEEN_ROWS)), moment)


# the step, by the rules of routing and as it was traced


def differentiated(trace: Trace) -> dict[int, tuple[TapeTrace, int, TapeTrace]]:
    """Every Scan that another one differentiates, with a tape, that Scan, and its tape.

    Of several tapes it is the first that overwrites a tap, else the first.
    """
    found: dict[int, tuple[TapeTrace, int, TapeTrace]] = {}
    for later, scan in enumerate(trace.scans):
        if scan.parent is None or scan.steps != trace.scans[scan.parent].steps or not scan.steps:
            continue
        pairs = [
            (tape, later, reverse)
            for tape in trace.scans[scan.parent].tapes
            for reverse in scan.tapes
            if reverse.gradient_of == tape.name
            and not tape.is_total
            and not reverse.is_total
            and len(tape.initial) >= len(reverse.initial)
        ]
        if pairs:
            first = max(pairs, key=lambda pair: bool(pair[0].tape.overwritten))
            found.setdefault(scan.parent, first)
    return found


def transposed_step(
    source: ScanTrace, tape: TapeTrace, later: ScanTrace, reverse: TapeTrace, step: int
) -> TransposedStep:
    """Step `step` of a Scan with `tape`, and of the Scan `later` that holds its gradient."""
    from lab import structural  # imported when a picture is asked for

    back = source.steps - 1 - step
    gradient_after = reverse.contents(back - 1)[::-1]
    before = tape.contents(step - 1)[: len(gradient_after)]  # of a loop that stopped early
    written = np.stack([access.values[step] for access in tape.writes])
    brought = np.stack([_brought(later, reverse, -tap, back) for tap in tape.tape.reads])
    moved, pullback = structural.vjp(structural.tape_step(tape.tape, step), [before, written])
    nothing = np.zeros_like(brought)
    left, taken = pullback(np.concatenate([nothing, gradient_after]))
    gradient_before, _ = pullback(np.concatenate([brought, gradient_after]))
    reads = len(tape.tape.reads)
    return TransposedStep(
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
