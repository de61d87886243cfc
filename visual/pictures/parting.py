"""The step at which two runs part, drawn twice: by the true rule and a broken one, for example.

Each row shows what the step reads, the tape after it, and the formula; the columns are the
same, so that a slot stands above its counterpart.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from lab.equations.spelling import Speller
from lab.notation import number_text, signed, tapped, text
from lab.traces.parting import Parting, far
from lab.traces.trace import ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.layout.canvas import CELL, HEIGHT, LABELS, THIN, Canvas, place_columns, touched_rows
from visual.layout.cells import cell, thin_cell
from visual.layout.columns import column_of, timeline
from visual.layout.names import NamedScan
from visual.pictures.tapes.lanes import Lane, Slot
from visual.scene.shapes import Box, Text
from visual.scene.theme import Role

HEADER, MARK = 34, 22
RULES = ("true rule", "broken rule")


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two runs: what it is called, its Scan, and the tape on which they part."""

    name: str
    named: NamedScan
    tape: TapeTrace

    @property
    def scan(self) -> ScanTrace:
        """The Scan in which they part."""
        return self.named.scan


def sides(
    true: Trace, broken: Trace, parting: Parting, names: tuple[str, str] = RULES
) -> tuple[Side, Side]:
    """The two sides of a parting, by what they are called."""

    def side(name: str, named: NamedScan, argument: int) -> Side:
        return Side(name, named, next(t for t in named.scan.held if t.argument == argument))

    return (
        side(names[0], NamedScan(true, parting.scan), parting.tape),
        side(names[1], NamedScan(broken, parting.other_scan), parting.other_tape),
    )


class PartingRows:
    """The two rows, drawn from top to bottom."""

    def __init__(self, canvas: Canvas, true: Side, broken: Side, parting: Parting) -> None:
        self.canvas, self.parting, self.step = canvas, parting, parting.step
        self.true, self.broken = true, broken
        self.time = timeline(self.true.named.root.scan)
        self.columns = place_columns(self._moments())
        self.used: set[Role] = set()
        # Slots and sequences of the true side, with which those of the broken one are compared.
        self.lanes = [
            Lane(side.scan, side.tape, self.columns, self.time, self.step)
            for side in (self.true, self.broken)
        ]
        self.right = max(lane.columns.right for lane in self.lanes)

    def _moments(self) -> set[int]:
        """The columns of all that is drawn of the tape and of what the steps read."""
        tape, time = self.true.tape, self.time
        if not time.knows(tape.axis):
            return set()
        rows = touched_rows(self.true.scan, tape, self.step)
        read = (s for side in (self.true, self.broken) for s in side.scan.sequences)
        return {column_of(tape, row, time) for row in rows} | {
            time.column(s.axis.variable, int(s.axis.index[self.step]))
            for s in read
            if time.knows(s.axis)
        }

    def draw(self) -> set[Role]:
        """Both rows; and the roles that occur in them."""
        canvas = self.canvas
        headed = set[float]()
        for side, lane in zip((self.true, self.broken), self.lanes, strict=True):
            for row, x in lane.shown.items():
                if x in headed:  # a column of both sides belongs to one quantity
                    continue
                headed.add(x)
                label = side.named.tape_label(side.tape, row)
                position = signed(side.tape.position(row))
                canvas.header(x, canvas.y, label or side.tape.name, f"pos {position}")
        canvas.y += HEADER
        kept: dict[int, Slot] = {}
        for side, lane in zip((self.true, self.broken), self.lanes, strict=True):
            reads = self._reads(side)
            canvas.row_label(side.name, canvas.y + 18)
            canvas.row_label(f"{side.tape.name}, step {self.step}", canvas.y + 34, below=True)
            for slot in lane.after(self.step):
                before = kept.setdefault(slot.row, slot)
                self._slot(side, slot, _differ(before.value, slot.value))
            self._mark(side, lane)
            end = self._formulas(side, canvas.y - reads)
            canvas.y = max(canvas.y + HEIGHT + MARK, end) + 16
        canvas.right = max(canvas.right, self.right)
        return self.used

    def _slot(self, side: Side, slot: Slot, wrong: bool) -> None:
        role = Role.WRONG if wrong else slot.role
        self.used.add(role)
        label = side.named.slot_label(side.tape, slot.row)
        key = side.named.row_key(side.tape, slot.row)
        box = Box(slot.x, self.canvas.y, CELL, HEIGHT, role)
        name = f"{label}, {side.name}"
        self.canvas.add(cell(box, slot.value, name, slot.old, None, f"{side.name}:{key}"))

    def _mark(self, side: Side, lane: Lane) -> None:
        """What points to the slot with the first difference."""
        x = lane.shown.get(self.parting.row)
        if x is None:
            return
        words = "here they part"
        if side is self.broken:
            away = np.linalg.norm(np.ravel(self.parting.broken - self.parting.true))
            words = f"▲ first to differ, by {number_text(away)}"
        y = self.canvas.y + HEIGHT + 14
        self.canvas.add(Text(x + CELL / 2, y, words, 10.5, "middle", bold=side is self.broken))

    def _reads(self, side: Side) -> float:
        """What the step reads of sequences, above the tape; and how high that stands."""
        top, changed = self.canvas.y, changed_reads(self.true, side, self.step)
        for sequence in side.scan.sequences:
            value = sequence.values[self.step]
            role = Role.WRONG if sequence.argument in changed else Role.READ
            self.used.add(role)
            index = int(sequence.axis.index[self.step])
            box = Box(self._place(sequence, index), self.canvas.y, CELL, THIN, role)
            key = f"{side.name}:{sequence.argument}:{self.step}"
            name = side.named.sequence_label(sequence, index)
            self.canvas.add(thin_cell(box, value, name, None, key))
            self.canvas.y += THIN + 4
        return self.canvas.y - top

    def _place(self, sequence: SequenceTrace, index: int) -> float:
        if not self.time.knows(sequence.axis):
            return LABELS
        return self.columns.left.get(self.time.column(sequence.axis.variable, index), LABELS)

    def _formulas(self, side: Side, top: float) -> float:
        """The formulas of the tape, and with numbers in; and where they end."""
        speller, y = Speller(side.named), top + 18
        for formula in side.scan.formulas:
            if formula.target.argument != side.tape.argument:
                continue
            y = self.canvas.formula(self.right + 4, y, speller.at(formula, self.step))
            numbers = speller.numbers(formula, self.step)
            if numbers:
                y = self.canvas.formula(self.right + 4, y, numbers, muted=True)
            y += 5
        return y - 10


def changed_reads(true: Side, broken: Side, step: int) -> set[int]:
    """The sequences of the broken side, by number, of which a step reads another value.

    They are compared with those that bring the same variable of the parent, at the same tap.
    """
    first, changed = _reads(true, step), set()
    for key, (argument, value) in _reads(broken, step).items():
        if key in first and _differ(first[key][1], value):
            changed.add(argument)
    return changed


def _reads(side: Side, step: int) -> dict[tuple[object, ...], tuple[int, np.ndarray]]:
    """What a step reads of sequences, by what they stand for: their numbers and the values."""
    met: Counter[tuple[object, ...]] = Counter()
    reads: dict[tuple[object, ...], tuple[int, np.ndarray]] = {}
    for sequence in side.scan.sequences:
        source = sequence.source
        key = (sequence.name, sequence.group, source and (source.variable, source.tap))
        met[key] += 1  # a parent may have several sequences of one name
        reads[(*key, met[key])] = sequence.argument, sequence.values[step]
    return reads


def cause(true: Side, broken: Side, step: int) -> str:
    """Why a step writes another number: what it reads, or the formula, is not the same."""
    reads = bool(changed_reads(true, broken, step))
    formulas = _shapes(true) != _shapes(broken)
    if reads and formulas:
        return "The step reads other values, and its formula is another one."
    if reads:
        return "The formula is the same, but the step reads other values."
    return "The step reads the same values, but its formula is another one." if formulas else ""


def _shapes(side: Side) -> list[str]:
    """The formulas of the tape, in which numbers of arguments do not count."""
    return [
        text(f.expression, lambda leaf: tapped(leaf.variable, leaf.tap or 0))
        for f in side.scan.formulas
        if f.target.argument == side.tape.argument
    ]


def _differ(true: np.ndarray | None, broken: np.ndarray | None) -> bool:
    """Whether two values are not the same, or only one of them is there."""
    if true is None or broken is None or true.shape != broken.shape:
        return true is not broken
    return bool(far(true[None], broken[None])[0])
