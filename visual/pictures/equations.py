"""The equations picture: a loop as a system of equations, at one of its steps, over its tapes.

Every term is a cell with the value that it has at the step; it has the key of the quantity
that it stands for, so that it is linked with the same quantity on the tapes below it and in
every other picture.  A tape shows what it holds after the step.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from lab.equations.quantities import index_of
from lab.equations.system import Role as SystemRole
from lab.equations.system import System, Writer
from lab.errors import expect
from lab.notation import Leaf, leaves_of, signed, text
from lab.traces.trace import Formula, ParameterTrace, ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.choices import scan_index, step_of
from visual.layout.canvas import (
    HEIGHT,
    Canvas,
    column_header,
    fold_width,
    gap_text,
    numbers,
    place_columns,
)
from visual.layout.cells import cell
from visual.layout.columns import Gap, shown_steps, with_gaps
from visual.layout.names import NamedScan, counted
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.scene.shapes import Box, Scene, Shape, Text, of_run, shortened, text_width
from visual.scene.theme import Role

WIDEST_TERM, PITCH, LEAST, SIGN = 240, 62, 84, 14.5
CELL, NARROW_CELL, BETWEEN = 76, 52, 8
HIGH = 30 + HEIGHT + 22  # of a tape
WORDS = {
    Role.INPUT: "",
    Role.INTERMEDIATE: "by a step",
    Role.READ: "of the loop that is differentiated",
    Role.PRESERVED: "read by this step, and kept",
    Role.OVERWRITTEN: "read by this step, then replaced",
    Role.UNWRITTEN: "not yet",
}


@dataclass(frozen=True, eq=False)
class Term:
    """What a leaf of an equation is at the step: its value, what pictures call it, its key."""

    value: np.ndarray | None
    name: str
    key: str
    role: Role


@of_run
def equations(
    trace: Trace,
    system: System,
    theme: str = "light",
    scan: int = 1,
    step: int = 0,
    sheet: Sheet = SCREEN,
) -> Scene:
    """The system of the Scan number `scan` of a trace, with its values at `step`.

    The number is that of the headings, from 1: number 1 is ``trace.scans[0]``.
    """
    check_sheet(sheet)
    expect("system", system, System, "what lab.system and Loop.system give")
    number = scan_index(trace, scan)
    loop = trace.scans[number]
    step = step_of(loop, step)
    canvas, writer = Canvas(sheet=sheet), Writer(system)
    canvas.heading(f"{scan} · {loop.name}: a system of equations", _subtitles(writer, loop, step))
    places = _Places(NamedScan(trace, number), step)
    lowest, hidden = sheet.height - 40 if sheet.is_low else inf, Counter[str]()
    for number, formula in enumerate(system.equations):
        if number and canvas.y + PITCH + HIGH > lowest:
            hidden["more equation"] += 1
        else:
            _equation(canvas, writer, formula, places)
    for number, tape in enumerate(tape for tape in loop.tapes if _symbol(writer, tape)):
        if number and canvas.y + HIGH > lowest:
            hidden["more tape"] += 1
        else:
            _tape(canvas, writer, tape, places)
    if hidden:
        told = ", ".join(counted(count, what) for what, count in hidden.items())
        canvas.write(
            Text(sheet.margin, canvas.y + 12, f"⋯ {told}: height shows them", 12, muted=True)
        )
    canvas.y += 4
    return canvas.finished(
        WORDS,
        width=max(canvas.right + sheet.margin, min(420, sheet.width)),
        title=f"Equations of {loop.name}",
        description=" ".join([*map(writer.equation, system.equations), f"for {writer.range}."]),
        theme=theme,
    )


def _subtitles(writer: Writer, scan: ScanTrace, step: int) -> list[str]:
    early = f" at most (it made {scan.steps} of them)" if scan.stopped_early else ""
    told = [
        f"for {writer.range}{early}; the values are those of step {step}, the tapes those after it"
    ]
    if writer.offsets:
        told.append(writer.offsets)
    if writer.system.until is not None:
        told.append(f"until {writer.right(writer.system.until)}")
    return told


@dataclass(frozen=True)
class _Places:
    """Where the quantities of one step are found in a trace."""

    named: NamedScan
    step: int

    @property
    def scan(self) -> ScanTrace:
        return self.named.scan

    def term(self, leaf: Leaf, made: bool) -> Term:
        """What a leaf stands for at the step; `made` for what the step writes."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, ParameterTrace):
            key = self.named.leaf_key(leaf, self.step)
            return Term(variable.value, variable.name, key, Role.INPUT)
        if isinstance(variable, SequenceTrace):
            name = self.named.sequence_label(variable, int(variable.axis.index[self.step]))
            key = self.named.leaf_key(leaf, self.step)
            role = Role.INPUT if self.scan.parent is None else Role.READ
            return Term(variable.values[self.step], name, key, role)
        if not isinstance(variable, TapeTrace) or leaf.tap is None:
            return Term(None, leaf.variable, "", Role.INPUT)
        accesses = variable.writes if made else variable.reads
        access = next(access for access in accesses if access.tap == leaf.tap)
        row = int(access.rows[self.step])
        role = Role.INTERMEDIATE if made else self.read_as(variable, leaf.tap)
        name = self.named.slot_label(variable, row)
        return Term(access.values[self.step], name, self.key(variable, row), role)

    def key(self, tape: TapeTrace, row: int) -> str:
        """The key of one row of a tape."""
        index = None if tape.is_total else index_of(tape, row)
        return self.named.cell_key(tape.name, index, row)

    def read_as(self, tape: TapeTrace, tap: int) -> Role:
        """What a step does with a slot that it reads."""
        return Role.OVERWRITTEN if tap in tape.tape.overwritten else Role.PRESERVED


def _equation(canvas: Canvas, writer: Writer, formula: Formula, places: _Places) -> None:
    """One equation: its terms as cells, and the signs between them; on more lines if it is long."""
    leaves = leaves_of(formula.expression)
    signs = {leaf: chr(0xE000 + number) for number, leaf in enumerate(leaves)}
    by_sign = {sign: leaf for leaf, sign in signs.items()}
    right = text(formula.expression, signs.__getitem__, writer.style)
    widest = canvas.sheet.width - canvas.sheet.margin
    x = _term(canvas, writer, formula.target, places, canvas.sheet.margin, True)
    x = _sign(canvas, f" {writer.sign(formula)} ", x)
    start = x
    for piece in re.split("([\ue000-\uf8ff])", right):
        leaf = by_sign.get(piece)
        width = text_width(piece, SIGN, mono=True)
        if leaf:
            width = _width(writer.term(leaf), places.term(leaf, False).value)
        if x + width > widest and x > start:
            canvas.y, x = canvas.y + PITCH, start
        x = _term(canvas, writer, leaf, places, x, False) if leaf else _sign(canvas, piece, x)
    canvas.y += PITCH


def _width(label: str, value: np.ndarray | None) -> float:
    """The width of a term's cell; an array's picture stands beside its name."""
    room = text_width(label, 11, bold=True) + 14
    return max(LEAST, min(room * 2 if value is not None and value.ndim else room, WIDEST_TERM))


def _term(
    canvas: Canvas, writer: Writer, leaf: Leaf, places: _Places, x: float, made: bool
) -> float:
    """A term as a cell with its value; and where it ends."""
    found, label = places.term(leaf, made), writer.term(leaf)
    width = _width(label, found.value)
    box = Box(x, canvas.y, width, HEIGHT, found.role)
    drawn = cell(
        box, found.value, found.name, None, None, found.key, shortened(label, width - 8, 11)
    )
    canvas.add(drawn)
    canvas.right = max(canvas.right, x + width)
    return x + width


def _sign(canvas: Canvas, piece: str, x: float) -> float:
    """What stands between terms, in lines of its own if it is long; and where it ends."""
    if not piece:
        return x
    short = shortened(piece, canvas.sheet.width - canvas.sheet.margin - x, SIGN, mono=True)
    lead = len(short) - len(short.lstrip())
    left = x + text_width(" " * lead, SIGN, mono=True)
    title = piece if short != piece else ""
    y = canvas.y + HEIGHT / 2 + 5
    canvas.add(Text(left, y, short.strip(), SIGN, mono=True, title=title))
    end = x + text_width(short, SIGN, mono=True)
    canvas.right = max(canvas.right, end)
    return end


def _symbol(writer: Writer, tape: TapeTrace) -> str:
    """What a tape of a state is called; empty if it is none."""
    quantity = writer.system.quantity(Leaf(tape.name, None, tape.argument))
    return quantity.symbol if quantity and quantity.role is SystemRole.STATE else ""


def _tape(canvas: Canvas, writer: Writer, tape: TapeTrace, places: _Places) -> None:
    """What a tape holds after the step, and which of its slots the step has read and written."""
    wide = NARROW_CELL if canvas.sheet.is_narrow else CELL
    rows = _rows(tape, places, canvas.sheet, wide)
    columns = place_columns(rows, wide, BETWEEN, canvas.sheet.labels)
    canvas.row_label(shortened(_symbol(writer, tape), 110, 13), canvas.y + 46)
    canvas.row_label(str(tape.kind), canvas.y + 62, below=True)
    for row, x in columns.left.items():
        label = places.named.tape_label(tape, row)
        canvas.add(
            *column_header(x, canvas.y, label, f"pos {signed(tape.position(row))}", wide, BETWEEN)
        )
        canvas.add(
            _slot(canvas, tape, row, Box(x, canvas.y + 32, wide, HEIGHT, Role.INPUT), places)
        )
    for x, gap in columns.gaps:
        canvas.add(gap_text(gap, x, canvas.y + 30 + HEIGHT / 2 + 4, wide))
    canvas.right = max(canvas.right, columns.right - BETWEEN)
    canvas.y += HIGH


def _rows(tape: TapeTrace, places: _Places, sheet: Sheet, wide: float) -> list[int]:
    """The rows that the shown steps touch; of many the ends and those of the step, or these."""
    steps = numbers(shown_steps(places.scan.steps, places.step))
    accesses = (*tape.reads, *tape.writes)
    rows = sorted({int(a.rows[step]) for a in accesses for step in steps})
    near = sorted({int(access.rows[places.step]) for access in accesses})
    room = sheet.width - sheet.margin - sheet.labels
    for chosen in (rows, sorted({rows[0], rows[-1], *near})):
        gaps = sum(isinstance(item, Gap) for item in with_gaps(chosen))
        if len(chosen) * (wide + BETWEEN) - BETWEEN + gaps * fold_width(wide) <= room:
            return chosen
    return near


def _slot(canvas: Canvas, tape: TapeTrace, row: int, box: Box, places: _Places) -> Shape:
    """One slot of a tape after the step, by what the step has done with it."""
    step = places.step
    read = {int(a.rows[step]): a.tap for a in tape.reads}
    written = {int(a.rows[step]): a for a in tape.writes}
    done = {int(a.rows[s]) for a in tape.writes for s in range(step + 1)}
    value: np.ndarray | None = tape.contents(step)[row]
    old = None
    if row in read:
        role = places.read_as(tape, read[row])
        before = written[row].before if row in written else None
        old = before[step] if before is not None else None
    elif row in done:
        role = Role.INTERMEDIATE
    elif tape.unwritten[row]:
        role, value = Role.UNWRITTEN, None
    else:
        role = Role.INPUT
    box = replace(box, role=role)
    return cell(box, value, places.named.slot_label(tape, row), old, None, places.key(tape, row))
