"""The rolled picture: a loop as one box with its taps, at one of its steps, and unrolled below.

On the left stands what the step reads, on the right what it makes; what it makes comes back as
many steps later as the taps say.  The values are those of the chosen step, and the boxes of
the unrolled loop below are the same quantities.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import wrap

import numpy as np

from lab.equations.spelling import Speller, loop_offsets
from lab.notation import Leaf, leaves_of
from lab.traces.trace import ParameterTrace, ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.choices import scan_index, step_of, whole_or_none
from visual.layout.canvas import HEIGHT, MARGIN, Canvas
from visual.layout.cells import cell
from visual.layout.names import NamedScan
from visual.pictures.unrolled.unrolled import drawn
from visual.scene.fonts import MONO_WIDTH
from visual.scene.shapes import Arrow, Box, Scene, Text, moved, of_run, shortened, text_width
from visual.scene.theme import Role

PORT, BETWEEN, ARM, LINE, TRACK = 124, 14, 56, 20, 16
FORMULA, LONGEST, INDENT = 12.5, 520, "    "


@dataclass(frozen=True, eq=False)
class Port:
    """What a step reads or makes: a leaf of its formulas, and the value at the step."""

    leaf: Leaf
    label: str
    value: np.ndarray
    key: str
    role: Role


@dataclass(frozen=True)
class Way:
    """What is made at one tap of a tape comes back at another, `later` steps after."""

    written: Leaf
    read: Leaf
    later: int


Places = Mapping[Leaf, tuple[float, float]]


@of_run
def rolled(
    trace: Trace, theme: str = "light", around: int | None = None, scan: int = 1, step: int = 0
) -> Scene:
    """The Scan number `scan` of a trace as one box, with its values at `step`, and unrolled.

    The number is that of the headings, from 1: number 1 is ``trace.scans[0]``.
    """
    number = scan_index(trace, scan)
    loop = trace.scans[number]
    step = step_of(loop, step)
    canvas = Canvas()
    named = NamedScan(trace, number)
    canvas.heading(f"{scan} · {loop.name}, rolled up", [_shown_step(named, step)])
    _machine(canvas, named, step)
    below = drawn(trace, (number,), whole_or_none("around", around))
    canvas.add(*(moved(shape, 0, canvas.y) for shape in below.shapes))
    canvas.y += below.y
    return canvas.finished(
        None,
        width=max(canvas.right, below.right) + MARGIN,
        title=f"{loop.name}, rolled up and unrolled",
        description=f"What a step of {loop.name} reads and makes, and all its steps.",
        theme=theme,
    )


def _shown_step(named: NamedScan, step: int) -> str:
    """Which step is shown, and what the taps stand for."""
    offsets = loop_offsets(named)
    return f"step {step} (of 0 to {named.scan.steps - 1}){offsets and f' · {offsets}'}"


def _machine(canvas: Canvas, named: NamedScan, step: int) -> None:
    """The step with its ports, from left to right, and the ways back below it."""
    scan = named.scan
    leaves = [leaf for formula in scan.formulas for leaf in leaves_of(formula.expression)]
    port = partial(_port, named, step, Speller(named))
    reads = [port(leaf, False) for leaf in sorted(set(leaves), key=_order)]
    makes = [port(formula.target, True) for formula in scan.formulas]
    ways = _ways(scan)
    left = MARGIN + TRACK * (len(ways) + 1)
    box = _step_box(canvas, named, left + PORT + ARM, max(len(reads), len(makes)))
    read = _ports(canvas, reads, left, box)
    written = _ports(canvas, makes, box.x + box.width + ARM, box)
    for x, y in read.values():
        canvas.add(Arrow(((x + PORT, y), (box.x - 1, y))))
    for x, y in written.values():
        canvas.add(Arrow(((box.x + box.width, y), (x - 1, y))))
    canvas.y = box.y + box.height + 10
    for track, way in enumerate(ways, start=1):
        canvas.y += 22
        _way_back(canvas, way, read, written, track)
    right = box.x + box.width + ARM + PORT
    canvas.right = max(canvas.right, right + TRACK * (len(ways) + 1))
    canvas.y += 10


def _order(leaf: Leaf) -> tuple[int, int]:
    return leaf.argument, leaf.tap or 0


def _port(named: NamedScan, step: int, spell: Speller, leaf: Leaf, is_written: bool) -> Port:
    key = named.leaf_key(leaf, step)
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
    return Port(leaf, label, value, key, role)


def _ways(scan: ScanTrace) -> list[Way]:
    """How what a step makes comes back to later steps."""
    found = {leaf for formula in scan.formulas for leaf in leaves_of(formula.expression)}
    read = sorted(found, key=_order)
    return [
        Way(formula.target, leaf, formula.target.tap - leaf.tap)
        for formula in scan.formulas
        for leaf in read
        if leaf.argument == formula.target.argument
        and leaf.tap is not None
        and formula.target.tap is not None
        and formula.target.tap > leaf.tap
    ]


def _step_box(canvas: Canvas, named: NamedScan, left: float, ports: int) -> Box:
    """The box of the step, with its formulas for all steps."""
    scan, spell, top = named.scan, Speller(named), canvas.y + 6
    letters = int(LONGEST / (FORMULA * MONO_WIDTH))
    lines = [
        line
        for formula in scan.formulas
        for line in wrap(
            spell.equation(formula), letters, subsequent_indent=INDENT, break_on_hyphens=False
        )
    ]
    widest = max((text_width(line, FORMULA, mono=True) for line in lines), default=0)
    room = ports * (HEIGHT + BETWEEN) + BETWEEN
    height = max(room, len(lines) * LINE + 52)
    box = Box(left, top, max(widest + 28, 150), height, Role.INTERMEDIATE)
    middle = box.x + box.width / 2
    canvas.add(box, Text(middle, top + 20, "the step", 12, "middle", muted=True))
    first = top + (height - len(lines) * LINE) / 2 + 20
    x = middle - widest / 2
    for number, line in enumerate(lines):
        inside = x + (len(line) - len(line.lstrip())) * FORMULA * MONO_WIDTH
        canvas.add(Text(inside, first + number * LINE, line.strip(), FORMULA, mono=True))
    return box


def _ports(canvas: Canvas, ports: Sequence[Port], x: float, box: Box) -> Places:
    """The ports at one side of the box; and the left edge and the middle of each."""
    pitch = HEIGHT + BETWEEN
    y = box.y + (box.height - len(ports) * pitch + BETWEEN) / 2
    places = {}
    for port in ports:
        port_box = Box(x, y, PORT, HEIGHT, port.role)
        canvas.add(cell(port_box, port.value, port.label, None, None, port.key, port.label))
        places[port.leaf] = (x, y + HEIGHT / 2)
        y += pitch
    return places


def _way_back(canvas: Canvas, way: Way, read: Places, written: Places, track: int) -> None:
    """An arrow from what is made, below the box, to where it is read again."""
    (x0, y0), (x1, y1) = written[way.written], read[way.read]
    right, left, y = x0 + PORT + TRACK * track, x1 - TRACK * track, canvas.y
    start = (x0 + PORT, y0 + 5 * track - 10)
    end = (x1 - 1, y1 + 5 * track - 10)
    corners = (start, (right, start[1]), (right, y), (left, y), (left, end[1]), end)
    canvas.add(Arrow(corners, accent=True, straight=True))
    when = "one step later" if way.later == 1 else f"{way.later} steps later"
    words = f"{shortened(way.read.variable, 200, 10.5)}: {when}"
    canvas.add(Text(x1 + 6, y - 5, words, 10.5, muted=True))
