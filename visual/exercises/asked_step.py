"""One tape at one moment: before a step, with what the step reads; then the step itself.

Before the step no colour tells what will be read or written: that is what is asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lab.notation import signed
from lab.traces.touched import Touched
from lab.traces.trace import ScanTrace, SequenceTrace, TapeTrace
from visual.layout.canvas import (
    CELL,
    HEIGHT,
    THIN,
    Columns,
    column_header,
    finished,
    formula,
    gap_text,
    heading,
    kind_text,
    place_columns,
)
from visual.layout.cells import cell, thin_cell
from visual.layout.columns import Timeline, column_of, timeline
from visual.layout.names import NamedScan
from visual.pictures.moment.moment import moment as drawn_step
from visual.scene.combinators import (
    Piece,
    above,
    beside,
    gap,
    over,
    padded,
    piece,
    shifted,
    sized,
)
from visual.scene.shapes import Box, Scene, Shape, Text
from visual.scene.theme import Role

MOST = 12  # slots of a tape that is shown whole
START, LABEL = 126, 114  # where columns begin, and the names of rows end
BESIDE = 2  # slots that are shown on either side of those which a step touches


@dataclass(frozen=True, eq=False)
class AskedStep:
    """A tape of a Scan, before its step number `step`.

    `marks` give roles to rows that the question speaks of; with them the ends of the tape
    and those rows are shown, instead of the slots that the step touches.
    """

    named: NamedScan
    tape: TapeTrace
    step: int
    formula: str = ""
    marks: tuple[tuple[int, Role], ...] = ()

    @property
    def scan(self) -> ScanTrace:
        """The Scan that makes the step."""
        return self.named.scan

    @property
    def rows(self) -> list[int]:
        """The rows that are shown: those near the step's, or near the marked ones."""
        size = len(self.tape.initial)
        if self.marks and size <= MOST:
            return list(range(size))
        if self.marks:
            near = {row + beside for row, _ in self.marks for beside in (-1, 0, 1)}
            return sorted({row for row in near if 0 <= row < size})
        touched = [self.tape.tape.row(self.step, tap) for tap in self.tape.tape.taps]
        low, high = min(touched) - BESIDE, max(touched) + BESIDE
        return list(range(max(0, low), min(size, high + 1)))

    def key(self, row: int) -> str:
        """The key of the cell of a row."""
        return self.named.row_key(self.tape, row)

    def label(self, row: int) -> str:
        """The name of what a row holds."""
        return self.named.tape_label(self.tape, row)

    def readings(self) -> Iterator[tuple[SequenceTrace, str, str]]:
        """What the step reads besides its tapes, with name and key."""
        for sequence in self.scan.sequences:
            index = int(sequence.axis.index[self.step])
            yield (
                sequence,
                self.named.sequence_label(sequence, index),
                self.named.cell_key(sequence.name, index, self.step),
            )

    @property
    def touched(self) -> Touched:
        """What the step does to the tape."""
        return Touched(self.tape, self.step)


def after(moment: AskedStep, theme: str = "light") -> Scene:
    """The step as it was made: what it read, what it made of it, and why."""
    named = moment.named
    return drawn_step(named.trace, theme, scan=named.number + 1, step=moment.step)


def before(moment: AskedStep, title: str, theme: str = "light") -> Scene:
    """The tape before the step; nothing tells what becomes of it."""
    values = {row: moment.touched.before(row) for row in moment.rows}
    roles = {r: Role.UNWRITTEN if v is None else Role.INTERMEDIATE for r, v in values.items()}
    roles |= dict(moment.marks)
    words = "before the first step" if moment.marks else f"before step {moment.step}"
    time, tape = timeline(moment.named.root.scan), moment.tape
    places = {row: column_of(tape, row, time) for row in moment.rows}
    columns = place_columns(places.values(), start=START)
    parts = [heading(f"{tape.name} {words}", [kind_text(tape)])]
    if not moment.marks:
        parts.append(_readings(moment, columns, time))
    shapes: list[Shape] = [Text(LABEL, 34 + 27, "tape", 13, "end", bold=True)]
    for row, column in places.items():
        x = columns.left[column]
        shapes += column_header(x, 0, moment.label(row), f"pos {signed(tape.position(row))}")
        box = Box(x, 34, CELL, HEIGHT, roles[row])
        shapes.append(cell(box, values[row], moment.label(row), key=moment.key(row)))
    shapes += [gap_text(hidden, x, 34 + HEIGHT / 2) for x, hidden in columns.gaps]
    parts.append(sized(columns.right, 34 + HEIGHT, *shapes))
    if moment.formula:
        name = sized(START, 17, Text(LABEL, 16, "formula", 13, "end", bold=True))
        parts += [gap(0, 8), beside(name, formula(moment.formula))]
    words_of = {role: role.value for role in Role} | {Role.INTERMEDIATE: "a slot of the tape"}
    told = f"The slots of {tape.name} {words}."
    return finished(above(*parts), words_of, title, told, theme, below=8)


def _readings(moment: AskedStep, columns: Columns, time: Timeline) -> Piece:
    """The forward values that the step reads, each where its time is."""
    free = max(columns.left.values(), default=START)
    stacks: dict[float, list[Piece]] = {}
    for sequence, name, key in moment.readings():
        index = int(sequence.axis.index[moment.step])
        known = time.knows(sequence.axis)
        column = time.column(sequence.axis.variable, index) if known else None
        x = columns.left.get(column, free) if column is not None else free
        box = Box(0, 0, CELL, THIN, Role.READ)
        read = thin_cell(box, sequence.values[moment.step], name, None, key)
        stacks.setdefault(x, []).append(sized(CELL, THIN, read))
    if not stacks:
        return gap()
    label = piece(Text(LABEL, 17, "read", 13, "end", bold=True))
    placed = (shifted(above(*stack, apart=4), x, 0) for x, stack in stacks.items())
    return padded(over(gap(), label, *placed), 0, 6)
