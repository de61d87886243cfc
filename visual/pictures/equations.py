"""The equations picture: a loop as a system of equations, at one of its steps, over its tapes.

Every term is a cell with the value that it has at the step; it has the key of the quantity
that it stands for, so that it is linked with the same quantity on the tapes below it and in
every other picture.  A tape shows what it holds after the step.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf

import numpy as np

from lab.equations.quantities import index_of
from lab.equations.spelling import Speller, loop_offsets
from lab.equations.system import Role as SystemRole
from lab.equations.system import System, Writer
from lab.errors import expect
from lab.notation import Leaf, leaves_of, signed, text
from lab.records import cached_property
from lab.tape import Kind
from lab.traces.trace import Formula, ParameterTrace, ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.layout.canvas import (
    HEIGHT,
    column_header,
    finished,
    fold_width,
    gap_text,
    heading,
    numbers,
    place_columns,
)
from visual.layout.cells import cell
from visual.layout.columns import Gap, column_of, shown_steps, timeline, with_gaps
from visual.layout.names import NamedScan, counted, seeds_of, wholes_of
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import scan_index, step_of
from visual.pictures.moment.moment import FIRST_SUM, first_sum
from visual.pictures.unrolled.overview import ANOTHER, overview
from visual.scene.combinators import Piece, above, beside, cropped, gap, over, sized, words
from visual.scene.shapes import Box, Scene, Shape, Text, fitted, of_run, shortened, text_width
from visual.scene.theme import Role

WIDEST_TERM, PITCH, LEAST, SIGN = 240, 62, 84, 14.5
CELL, NARROW_CELL, BETWEEN = 76, 52, 8
NOTE = PITCH - HEIGHT + SIGN  # the line that tells what has no room
WORDS = {
    Role.INPUT: "",
    Role.INTERMEDIATE: "",
    Role.READ: "",
    Role.PRESERVED: "",
    Role.OVERWRITTEN: "",
    Role.UNWRITTEN: "not yet",
    Role.WAITING: "",
    # of the small tapes above
    Role.SEED: "",
    Role.RESULT: "",
    Role.SPENT: "",
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
    step: int | None = None,
    sheet: Sheet = SCREEN,
) -> Scene:
    """The system of the Scan number `scan` of a trace, with its values at `step`.

    The number is that of the headings, from 1: number 1, the loop itself, is ``trace.scans[0]``;
    it is that of the Scan of which the `system` is.  The step is by default the first that adds up
    two values that are not 0, as in `stepgraph`.
    """
    check_sheet(sheet)
    expect("system", system, System, "what lab.system and Loop.system give")
    number = scan_index(trace, scan)
    loop = trace.scans[number]
    first = first_sum(loop) or 0
    why = FIRST_SUM if step is None and first else ""
    step = step_of(loop, first if step is None else step)
    writer = Writer(system)
    title = f"{scan} · {NamedScan(trace, number).called}: what a step computes"
    places = _Places(NamedScan(trace, number), step)
    terms = [_equation(formula, places, sheet) for formula in system.equations]
    states = [(writer.system.quantity(Leaf(t.name, None, t.argument)), t) for t in loop.tapes]
    tapes = [
        _tape(quantity.symbol, tape, places, sheet)
        for quantity, tape in states
        if quantity is not None and quantity.role is SystemRole.STATE
    ]
    head = heading(title, _subtitles(writer, places, why), sheet, places.named.whereabouts)
    if len(trace.scans) > 2 and sheet.has_hints and not (sheet.bare or sheet.is_low):
        head = above(cropped(overview(trace, number, ANOTHER, sheet), sheet.margin), head, apart=16)

    least = sheet.line if sheet.on_paper else min(420, sheet.width) - 2 * sheet.margin

    def drawn(body: Piece) -> Scene:
        return finished(
            over(gap(least), above(head, body)),
            WORDS,
            sheet=sheet,
            title=f"Equations of {loop.name}",
            description=f"{' '.join(map(places.spell.at_k, system.equations))} for {writer.range}.",
            theme=theme,
            seeds=seeds_of(trace, [number]),
            wholes=wholes_of(trace),
        )

    body = _folded(terms, tapes)
    scene = drawn(body)
    if scene.height <= sheet.height:
        return scene
    return drawn(_folded(terms, tapes, body.envelope.height - (scene.height - sheet.height)))


def _folded(terms: Sequence[Piece], tapes: Sequence[Piece], room: float = inf) -> Piece:
    """Equations above tapes, of which as many are left out as have no room; one tape stays."""
    hidden, join = Counter[str](), partial(above, apart=PITCH - HEIGHT)
    terms, tapes = [*terms], [*tapes]
    for parts, least, what in ((tapes, 1, "more tape"), (terms, 0, "more equation")):
        while len(parts) > least and join(*terms, *tapes).envelope.height > room - NOTE:
            del parts[-1]
            hidden[what] += 1
    told = ", ".join(counted(count, what) for what, count in hidden.items())
    note = [words(f"⋯ {told}: height shows them", 12, muted=True)] if told else []
    return join(*terms, *tapes, *note)


def _subtitles(writer: Writer, places: "_Places", why: str) -> list[str]:
    scan, step = places.scan, places.step
    early = f" at most (it made {scan.steps} of them)" if scan.stopped_early else ""
    steps = writer.range
    if places.named.parent is not None:
        steps = steps.replace("steps 0", "steps k = 0")
    told = [f"for {steps}{early}, with the numbers of step {step}{why}; below, the tapes after it"]
    if offsets := loop_offsets(places.named):
        told.append(offsets)
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

    @cached_property
    def spell(self) -> Speller:
        """What writes its formulas: as in the tapes."""
        return Speller(self.named)

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
        replaced = tape.is_total or tap in tape.tape.overwritten
        return Role.OVERWRITTEN if replaced else Role.PRESERVED


def _equation(formula: Formula, places: _Places, sheet: Sheet) -> Piece:
    """One equation: its terms as cells, and the signs between them; on more lines if it is long.

    Below it stand the numbers again, with as many digits as it takes that they give the result.
    """
    room, leaves = sheet.line, leaves_of(formula.expression)
    signs = {leaf: chr(0xE000 + number) for number, leaf in enumerate(leaves)}
    by_sign = {sign: leaf for leaf, sign in signs.items()}
    right = text(formula.expression, signs.__getitem__)
    target = _term(formula.target, places, True)
    left = beside(target, _sign(f" {places.spell.sign(formula)} ", room), apart=2)
    room -= left.envelope.width
    lines: list[Piece] = [gap()]
    for part in filter(None, re.split("([\ue000-\uf8ff])", right)):
        leaf = by_sign.get(part)
        next_one = _term(leaf, places, False) if leaf else _sign(part, room)
        longer = beside(lines[-1], next_one, apart=2 if lines[-1].shapes else 0)
        fits = longer.envelope.width <= room or not lines[-1].envelope.width
        lines[len(lines) - fits :] = [longer if fits else next_one]
    whole = beside(left, above(*lines, apart=PITCH - HEIGHT))
    exact = places.spell.numbers(formula, places.step)
    if sheet.bare or not exact:
        return whole
    digits = fitted(0, 12, exact, sheet.line, 11.5, mono=True, muted=True)
    return above(whole, sized(digits.width, 12, digits), apart=4)


def _width(label: str, value: np.ndarray | None) -> float:
    """The width of a term's cell; an array's picture stands beside its name."""
    room = text_width(label, 12, bold=True) + 10
    return max(LEAST, min(room * 2 if value is not None and value.ndim else room, WIDEST_TERM))


def _term(leaf: Leaf, places: _Places, made: bool) -> Piece:
    """A term as a cell with its value."""
    found, label = places.term(leaf, made), places.spell.name_at_k(leaf)
    wide = _width(label, found.value)
    short = shortened(label, wide - 8, 12, bold=True)
    box = Box(0, 0, wide, HEIGHT, found.role)
    return sized(wide, HEIGHT, cell(box, found.value, found.name, None, None, found.key, short))


def _sign(told: str, room: float) -> Piece:
    """What stands between terms, as far as there is room for it in a line."""
    short = shortened(told, room, SIGN, mono=True)
    left = text_width(" " * (len(short) - len(short.lstrip())), SIGN, mono=True)
    title = told if short != told else ""
    sign = Text(left, HEIGHT / 2 + 5, short.strip(), SIGN, mono=True, title=title)
    return sized(text_width(short, SIGN, mono=True), HEIGHT, sign)


def _tape(symbol: str, tape: TapeTrace, places: _Places, sheet: Sheet) -> Piece:
    """What a tape holds after the step, and which of its slots the step has read and written."""
    wide, start = NARROW_CELL if sheet.is_narrow else CELL, sheet.labels - sheet.margin
    time = timeline(places.named.root.scan)
    rows = {column_of(tape, row, time): row for row in _rows(tape, places, sheet, wide)}
    columns = place_columns(rows, wide, BETWEEN, start)
    is_place = places.named.parent is not None and not tape.is_total
    known_as = places.named.place(tape, 0).partition("[")[0] if is_place else ""
    names = (
        fitted(start - 12, 46, symbol, start - 12, 13, "end", bold=True),
        fitted(start - 12, 62, known_as, start - 12, 11, "end", muted=True),
    )
    shapes: list[Shape] = [] if sheet.bare else [*names]
    for column, x in columns.left.items():
        row = rows[column]
        label = places.named.tape_label(tape, row)
        position = "" if tape.is_total else f"pos {signed(tape.position(row))}"
        shapes += column_header(x, 0, label, position, wide, BETWEEN)
        shapes.append(_slot(tape, row, Box(x, 32, wide, HEIGHT, Role.INPUT), places))
    shapes += [gap_text(hidden, x, 34 + HEIGHT / 2, wide) for x, hidden in columns.gaps]
    return sized(columns.right - BETWEEN, 34 + HEIGHT, *shapes)


def _rows(tape: TapeTrace, places: _Places, sheet: Sheet, wide: float) -> list[int]:
    """The rows that the shown steps touch; of many the ends and those of the step, or these."""
    steps = numbers(shown_steps(places.scan.steps, places.step))
    if tape.is_total:
        return [int(tape.writes[0].rows[places.step])]
    accesses = (*tape.reads, *tape.writes)
    rows = sorted({int(a.rows[step]) for a in accesses for step in steps})
    near = sorted({int(access.rows[places.step]) for access in accesses})
    room = sheet.width - sheet.margin - sheet.labels
    for chosen in (rows, sorted({rows[0], rows[-1], *near})):
        gaps = sum(isinstance(item, Gap) for item in with_gaps(chosen))
        if len(chosen) * (wide + BETWEEN) - BETWEEN + gaps * fold_width(wide) <= room:
            return chosen
    return near


def _slot(tape: TapeTrace, row: int, box: Box, places: _Places) -> Shape:
    """One slot of a tape after the step, by what the step has done with it."""
    step = places.step
    read = {int(a.rows[step]): a.tap for a in tape.reads}
    written = {int(a.rows[step]): a for a in tape.writes}
    done = {int(a.rows[s]) for a in tape.writes for s in range(step + 1)}
    value: np.ndarray | None = tape.contents(step)[row]
    old = None
    if tape.is_total:
        role, old = Role.OVERWRITTEN, tape.reads[0].values[step]
    elif row in read:
        role = places.read_as(tape, read[row])
        before = written[row].before if row in written else None
        old = before[step] if before is not None else None
    elif row in done:
        later = {int(n) for a in (*tape.reads, *tape.writes) for n in a.rows[step + 1 :]}
        is_spent = tape.kind is Kind.MIT_MOT and row not in later
        role = Role.SPENT if is_spent else Role.INTERMEDIATE
    elif tape.unwritten[row]:
        role, value = Role.UNWRITTEN, None
    elif tape.kind is Kind.MIT_MOT:  # what stood in it first is the seed, as in tapes
        earlier = {int(a.rows[s]) for a in tape.reads for s in range(step)}
        role = Role.SPENT if row in earlier else Role.WAITING
    else:
        later = {int(a.rows[s]) for a in tape.writes for s in range(step, places.scan.steps)}
        role = Role.WAITING if row in later else Role.INPUT
    box = replace(box, role=role)
    return cell(box, value, places.named.slot_label(tape, row), old, None, places.key(tape, row))
