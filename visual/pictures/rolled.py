"""The rolled picture: a loop as a single box with its taps, and unrolled below.

The step reads the values on the left and computes the values on the right.  Arrows lead from each
computed value to the taps that read it in later steps.  The values belong to the chosen step; the
unrolled loop below has the same keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from textwrap import wrap

import numpy as np

from lab.equations.spelling import Speller, loop_offsets
from lab.notation import Leaf, leaves_of
from lab.traces.trace import ParameterTrace, ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.layout.canvas import HEIGHT, heading
from visual.layout.cells import cell
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet, check_sheet
from visual.options import check_step, scan_index, switch
from visual.pictures.unrolled.unrolled import fitting
from visual.scene.combinators import (
    Envelope,
    Piece,
    above,
    beside,
    gap,
    named,
    over,
    piece,
    shifted,
    words,
)
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import Arrow, Box, Scene, Text, picture_function, shortened, text_width
from visual.scene.theme import Role

PORT = 104.0, 150.0  # smallest and largest width of a port
BETWEEN, ARM, LINE, TRACK = 14.0, 40.0, 20, 16
FORMULA, LONGEST, INDENT = 12.5, 520.0, "    "
MOST_PORTS, MOST_LINES, MOST_FEEDBACK = 8, 20, 6


@dataclass(frozen=True, eq=False)
class Port:
    """A value that a step reads or computes, with its leaf in the formulas."""

    leaf: Leaf
    label: str
    value: np.ndarray
    key: str
    role: Role
    is_written: bool = False


@dataclass(frozen=True)
class Feedback:
    """A write at one tap of a tape and a read at another, `later` steps after it."""

    written: Leaf
    read: Leaf
    later: int


@picture_function
def rolled(
    trace: Trace,
    scan: int = 1,
    step: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    """Draw a Scan of a trace as a single box with its values at `step`, and unrolled below.

    `scan` is the number in the headings, from 1: number 1 is ``trace.scans[0]``.  By default, the
    picture shows the loop itself, because its recurrence is easiest to see before differentiation.
    Elements that do not fit in the width are counted; `all` draws them.
    """
    check_sheet(sheet)
    number = scan_index(trace, scan)
    step = check_step(trace.scans[number], 0 if step is None else step)
    of = NamedScan(trace, number)
    alike = "" if of.scan.order else ": the loop itself, at every order"
    title = f"{scan} · {of.called}, rolled up{alike}"
    head = heading(title, [_shown_step(of, step)], sheet, of.whereabouts)
    machine = _machine(of, step, switch("all", all), sheet)
    top = over(gap(), shifted(above(head, machine), sheet.margin, 0))
    verb = "rolled up and unrolled"
    return fitting(trace, (number,), top, step, verb=verb, all=all, sheet=sheet)


def _shown_step(of: NamedScan, step: int) -> str:
    """Return the caption: the step in the box, and the meaning of the taps."""
    offsets = loop_offsets(of)
    last = of.scan.steps - 1
    return f"in the box step {step}, below all from 0 to {last}{offsets and f' · {offsets}'}"


def _machine(of: NamedScan, step: int, all: bool, sheet: Sheet) -> Piece:
    """Draw the step with its ports, and the feedback arrows below it."""
    scan = of.scan
    leaves = {leaf for formula in scan.formulas for leaf in leaves_of(formula.expression)}
    port = partial(_port, of, step, Speller(of))
    reads = [port(leaf, False) for leaf in sorted(leaves, key=_order)]
    writes = [port(formula.target, True) for formula in scan.formulas]
    most = None if all else MOST_PORTS
    feedback = _feedback(scan)[: None if all else MOST_FEEDBACK]
    side, hint = TRACK * (len(feedback) + 1), sheet.hint("all=True")
    read, written = (_ports(ports, most, of.moment(step), hint) for ports in (reads, writes))
    taken = 2 * (sheet.margin + side + ARM) + read.envelope.width + written.envelope.width
    wide = LONGEST if all else max(PORT[0], sheet.width - taken)
    high = max(read.envelope.height, written.envelope.height) + 2 * BETWEEN
    box = _step_box(of, wide, high, None if all else MOST_LINES, hint)
    row = beside(gap(side), read, gap(ARM), box, gap(ARM), written, gap(side), align=0.5)
    middle = row.anchors["step"]
    arrows = list[Arrow]()
    for name, place in row.anchors.items():
        y = place.place(0, 0.5)[1]
        if name.startswith("read"):
            arrows.append(Arrow(((place.right, y), (middle.left - 1, y))))
        elif name.startswith("written"):
            arrows.append(Arrow(((middle.right, y), (place.left - 1, y))))
    shown = [
        f for f in feedback if {_name(f.written, True), _name(f.read, False)} <= {*row.anchors}
    ]
    back = (
        _feedback_arrow(row.anchors, item, row.envelope.bottom + 10, number)
        for number, item in enumerate(shown, start=1)
    )
    return over(row, piece(*arrows), *back)


def _order(leaf: Leaf) -> tuple[int, int]:
    return leaf.argument, leaf.tap or 0


def _port(of: NamedScan, step: int, spell: Speller, leaf: Leaf, is_written: bool) -> Port:
    key = of.leaf_key(leaf, step)
    variable, label = spell.scan.variable(leaf), spell.general(leaf)
    if isinstance(variable, ParameterTrace):
        return Port(leaf, label, variable.value, key, Role.INPUT)
    if isinstance(variable, SequenceTrace):
        return Port(leaf, label, variable.values[step], key, Role.INPUT)
    if not isinstance(variable, TapeTrace) or leaf.tap is None:
        raise LookupError(leaf)
    row = variable.tape.row(step, leaf.tap)
    accesses = variable.writes if is_written else variable.reads
    value = next(access.values[step] for access in accesses if access.tap == leaf.tap)
    if not is_written and leaf.tap in variable.tape.writes:
        label = f"{label} before"
    given = not is_written and row < variable.tape.origin
    role = Role.INPUT if given else Role.INTERMEDIATE
    return Port(leaf, label, value, key, role, is_written)


def _feedback(scan: ScanTrace) -> list[Feedback]:
    """Return the pairs of a write and a read of the same tape by a later step."""
    leaves = {leaf for formula in scan.formulas for leaf in leaves_of(formula.expression)}
    read = sorted(leaves, key=_order)
    return [
        Feedback(formula.target, leaf, formula.target.tap - leaf.tap)
        for formula in scan.formulas
        for leaf in read
        if leaf.argument == formula.target.argument
        and leaf.tap is not None
        and formula.target.tap is not None
        and formula.target.tap > leaf.tap
    ]


def _step_box(of: NamedScan, wide: float, high: float, most: int | None, hint: str) -> Piece:
    """Draw the box of the step with its general formulas, at most `most` lines."""
    letters = int((wide - 28) / (FORMULA * MONO_WIDTH))
    lines = [
        line
        for formula in of.scan.formulas
        for line in wrap(
            Speller(of).equation(formula),
            letters,
            subsequent_indent=INDENT,
            break_on_hyphens=False,
        )
    ]
    if most is not None and len(lines) > most:
        lines[most - 1 :] = [f"⋯ {len(lines) - most + 1} more lines{hint}"]
    widest = max((text_width(line, FORMULA, mono=True) for line in lines), default=0)
    box = Box(
        0, 0, max(widest + 28, min(150, wide)), max(high, len(lines) * LINE + 52), Role.INTERMEDIATE
    )
    first, left = (box.height - len(lines) * LINE) / 2 + 20, (box.width - widest) / 2
    texts = []
    for number, line in enumerate(lines):
        indent = (len(line) - len(line.lstrip())) * FORMULA * MONO_WIDTH
        y = first + number * LINE
        texts.append(Text(left + indent, y, line.lstrip(), FORMULA, mono=True))
    title = Text(box.width / 2, 20, "the step", 12, "middle", muted=True)
    return named(piece(box, title, *texts), "step")


def _ports(
    ports: Sequence[Port],
    most: int | None,
    moment: tuple[int, str],
    hint: str,
) -> Piece:
    """Draw at most `most` ports on one side of the box; their names are anchors."""
    names = (text_width(port.label, 12, bold=True) + 12 for port in ports[:most])
    least, widest = PORT
    wide = min(max([least, *names]), widest)
    parts = [_drawn(port, wide, moment) for port in ports[:most]]
    hidden = len(ports) - len(parts)
    if hidden:
        parts.append(words(f"⋯ {hidden} more{hint}", 11, muted=True))
    return above(*parts, apart=BETWEEN)


def _drawn(port: Port, wide: float, moment: tuple[int, str]) -> Piece:
    """Draw a port; an animation shows its value from `moment` on."""
    box = Box(0, 0, wide, HEIGHT, port.role)
    shown = cell(box, port.value, port.label, key=port.key, label=port.label)
    step, name = moment
    return named(piece(replace(shown, step=step, moment=name)), _name(port.leaf, port.is_written))


def _name(leaf: Leaf, is_written: bool) -> str:
    return f"{'written' if is_written else 'read'} {leaf.argument} {leaf.tap}"


def _feedback_arrow(
    places: Mapping[str, Envelope], feedback: Feedback, y: float, number: int
) -> Piece:
    """Draw an arrow on its own track below the box, from a write to a later read."""
    written, read = places[_name(feedback.written, True)], places[_name(feedback.read, False)]
    right, left, low = written.right + TRACK * number, read.left - TRACK * number, y + 22 * number
    start = (written.right, written.place(0, 0.5)[1] + 5 * number - 10)
    end = (read.left - 1, read.place(0, 0.5)[1] + 5 * number - 10)
    corners = (start, (right, start[1]), (right, low), (left, low), (left, end[1]), end)
    when = "one step later" if feedback.later == 1 else f"{feedback.later} steps later"
    label = f"{shortened(feedback.read.variable, 200, 11)}: {when}"
    text = Text(read.left + 6, low - 5, label, 11, muted=True)
    return piece(Arrow(corners, accent=True, straight=True), text)
