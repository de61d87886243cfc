"""The step at which two runs part, drawn twice: by the true rule and a broken one, for example.

Each row shows what the step reads, the tape after it, and the formula; the columns are the
same, so that a slot stands above its counterpart.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lab.equations.spelling import Speller
from lab.notation import leaves_of, number_text, signed, tapped, text
from lab.traces.parting import Parting, far
from lab.traces.trace import Formula, ScanTrace, TapeTrace, Trace
from visual.layout.canvas import HEIGHT, THIN, column_header, columns_within, formula, touched_rows
from visual.layout.cells import cell, thin_cell
from visual.layout.columns import column_of, timeline
from visual.layout.names import NamedScan
from visual.pictures.tapes.lanes import Lane, Slot
from visual.pictures.taps import Use, use_of
from visual.scene.combinators import Piece, above, beside, gap, sized
from visual.scene.shapes import Box, Shape, Text, fitted
from visual.scene.theme import Role

HEADER, LINE, MARK, APART, LETTERS = 17, 13, 20, 17, 84
START, LABEL = 126, 114  # where columns begin, and the names of rows end
RULES = ("true rule", "broken rule")
DONE = {
    Use.OVERWRITTEN: "replaced",
    Use.PRESERVED: "only read",
    Use.WRITTEN: "only written",
}


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


def parting_rows(true: Side, broken: Side, parting: Parting) -> Piece:
    """Both sides, the one above the other: headings, and for each what it reads and writes."""
    return _Rows((true, broken), parting).drawn()


class _Rows:
    """Two rows in the same columns."""

    def __init__(self, both: tuple[Side, Side], parting: Parting) -> None:
        self.both, self.parting, self.step = both, parting, parting.step
        self.time = timeline(both[0].named.root.scan)
        self.columns = columns_within(self._moments(), START)
        self.lanes = [Lane(s.scan, s.tape, self.columns, self.time, self.step) for s in both]
        self.right = max(lane.columns.right - lane.columns.cell / 5 for lane in self.lanes)

    def _moments(self) -> set[int]:
        """The columns of all that is drawn of the tape and of what the steps read."""
        (true, _), time = self.both, self.time
        if not time.knows(true.tape.axis):
            return set()
        rows = touched_rows(true.scan, true.tape, self.step)
        read = (s for side in self.both for s in side.scan.sequences)
        return {column_of(true.tape, row, time) for row in rows} | {
            time.column(s.axis.variable, int(s.axis.index[self.step]))
            for s in read
            if time.knows(s.axis)
        }

    def drawn(self) -> Piece:
        """What the columns hold, and both rows; slots of the second are held against the first."""
        heads: dict[float, tuple[Text, ...]] = {}  # a column of both sides is one quantity's
        for side, lane in zip(self.both, self.lanes, strict=True):
            wide = lane.columns.cell
            for row, x in lane.shown.items():
                label = side.named.tape_label(side.tape, row) or side.tape.name
                position = f"pos {signed(side.tape.position(row))}"
                head: tuple[Text, ...] = column_header(x, 0, label, position, wide, wide / 5)
                if told := _done(side, row, self.step):
                    done = fitted(x + wide / 2, 40, told, wide * 1.2 - 4, 11, "middle")
                    head = *head, done
                heads.setdefault(x, head)
        lines = HEADER + LINE * any(len(texts) > 2 for texts in heads.values())
        true, broken = ([*lane.after(self.step)] for lane in self.lanes)
        first = {slot.row: slot.value for slot in true}
        wrong = {s.row for s in broken if s.row in first and _differ(first[s.row], s.value)}
        away = number_text(np.linalg.norm(np.ravel(self.parting.broken - self.parting.true)))
        return above(
            sized(self.right, lines, *(text for texts in heads.values() for text in texts)),
            self._row(self.both[0], true, set(), "here they part"),
            self._row(self.both[1], broken, wrong, f"▲ first to differ, by {away}"),
            apart=APART,
        )

    def _row(self, side: Side, slots: Sequence[Slot], wrong: set[int], mark: str) -> Piece:
        """What a step reads, the tape after it, and its formulas; and where the two part."""
        label = fitted(LABEL, 18, side.name, LABEL, 13, "end", bold=True)
        below = f"{side.tape.name}, step {self.step}"
        shapes: list[Shape] = [label, fitted(LABEL, 34, below, LABEL, 11, "end", muted=True)]
        wide = self.lanes[self.both.index(side)].columns.cell
        for slot in slots:
            box = Box(slot.x, 0, wide, HEIGHT, Role.WRONG if slot.row in wrong else slot.role)
            name = f"{side.named.slot_label(side.tape, slot.row)}, {side.name}"
            key = f"{side.name}:{side.named.row_key(side.tape, slot.row)}"
            shapes.append(cell(box, slot.value, name, slot.old, None, key))
            if slot.row == self.parting.row:
                bold, middle = side is self.both[1], slot.x + wide / 2
                shapes.append(Text(middle, HEIGHT + 14, mark, 11, "middle", bold=bold))
        tape = sized(self.right, HEIGHT + MARK, *shapes)
        return above(*self._reads(side), tape, *self._formulas(side), apart=3)

    def _reads(self, side: Side) -> Iterator[Piece]:
        """What the step reads of sequences, above the tape, for its formulas or with a change."""
        changed, wide = changed_reads(self.both[0], side, self.step), self.columns.cell
        used = {leaf.argument for found in _formulas(side) for leaf in leaves_of(found.expression)}
        for sequence in side.scan.sequences:
            if used and sequence.argument not in used | changed:
                continue
            role = Role.WRONG if sequence.argument in changed else Role.READ
            index, x = int(sequence.axis.index[self.step]), float(START)
            if self.time.knows(sequence.axis):
                column = self.time.column(sequence.axis.variable, index)
                x = self.columns.left.get(column, x)
            name = side.named.sequence_label(sequence, index)
            key = f"{side.name}:{sequence.argument}:{self.step}"
            value = sequence.values[self.step]
            yield sized(0, THIN, thin_cell(Box(x, 0, wide, THIN, role), value, name, None, key))

    def _formulas(self, side: Side) -> Iterator[Piece]:
        """The formulas of the tape, and with numbers in."""
        speller = Speller(side.named)
        for found in _formulas(side):
            yield beside(gap(START), formula(speller.at(found, self.step), letters=LETTERS))
            if numbers := speller.numbers(found, self.step):
                yield beside(gap(START), formula(numbers, True, letters=LETTERS))


def _formulas(side: Side) -> list[Formula]:
    """The formulas by which the tape is written."""
    return [f for f in side.scan.formulas if f.target.argument == side.tape.argument]


def _done(side: Side, row: int, step: int) -> str:
    """``dx: replaced``: what the step that is differentiated does with the value of a slot."""
    scan, tape = side.scan, side.tape
    parent = side.named.trace.scans[scan.parent].tapes if scan.parent is not None else ()
    source = next((t for t in parent if t.name == tape.gradient_of and not t.is_total), None)
    done = source and DONE.get(use_of(source.tape, step - tape.position(row)))
    return f"{source.name}: {done}" if source and done else ""


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
        for f in _formulas(side)
    ]


def _differ(true: np.ndarray | None, broken: np.ndarray | None) -> bool:
    """Whether two values are not the same, or only one of them is there."""
    if true is None or broken is None or true.shape != broken.shape:
        return true is not broken
    return bool(far(true[None], broken[None])[0])
