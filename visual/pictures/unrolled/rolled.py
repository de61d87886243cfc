"""The rolled loop, the head of an unrolled loop: the step as a box with its taps.

The step reads the values at the left and computes the values at the right. Arrows below the box
lead from each computed value to the taps that read it in later steps.
"""

from collections.abc import Iterator, Mapping, Sequence

from lab.equations.spelling import Speller, loop_offsets
from lab.notation import Leaf, leaves_of
from lab.traces.trace import TapeTrace
from visual.layout.canvas import formula_lines
from visual.layout.names import NamedScan
from visual.layout.sheet import Sheet
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
    sized,
    words,
)
from visual.scene.fonts import MONO_WIDTH, text_width
from visual.scene.shapes import Arrow, Box, Group, Text, fitted
from visual.scene.theme import Role

PORT, HIGH, LETTERS, LINE = 110.0, 26.0, 12.0, 18.0  # width and height of a port; formulas
ARM, TRACK, BELOW, INSIDE = 20.0, 14.0, 20.0, 12.0  # lengths of arrows; the margin of the step
MOST_PORTS, NARROW = 8, 4.5  # NARROW: ports in the width of a narrow sheet
SHORTEST, LONGEST = 24, 44  # letters of a formula in the box, and below it


def rolled(of: NamedScan, sheet: Sheet) -> Piece:
    """Draw the step of a loop as one box, with at most eight values at each side."""
    formulas, speller = of.scan.formulas, Speller(of)
    leaves = {leaf for formula in formulas for leaf in leaves_of(formula.expression)}
    read = sorted(leaves, key=lambda leaf: (leaf.argument, leaf.tap or 0))
    written = [formula.target for formula in formulas]
    back = [
        (a, b)
        for a in written[:MOST_PORTS]
        for b in read[:MOST_PORTS]
        if a.argument == b.argument and a.tap is not None and b.tap is not None and a.tap > b.tap
    ]
    side = gap(TRACK * (len(back) + 1))
    inputs, outputs = _ports(of, "reads", read, sheet), _ports(of, "writes", written, sheet)
    sides = 2 * (side.envelope.width + ARM) + inputs.envelope.width + outputs.envelope.width
    letters = int((sheet.line - sides - 2 * INSIDE) / (LETTERS * MONO_WIDTH))
    fits = letters >= SHORTEST
    lines = [
        line
        for formula in formulas
        for line in formula_lines(speller.equation(formula), letters if fits else LONGEST, 99)
    ]
    high = max(inputs.envelope.height, outputs.envelope.height)
    row = beside(
        *(side, inputs, gap(ARM), _step(lines if fits else ["step"], high)),
        *(gap(ARM), outputs, side),
        align=0.5,
    )
    title = Text(0, 12, f"{of.numbered_name}, rolled up", 13, bold=True)
    offsets = words(loop_offsets(of), 12, muted=True)
    arrows = _arrows(row.anchors, back, row.envelope.bottom)
    below = [] if fits else [_formulas(lines)]
    return above(piece(title), offsets, over(row, piece(*arrows)), *below, apart=6)


def _ports(of: NamedScan, verb: str, leaves: Sequence[Leaf], sheet: Sheet) -> Piece:
    """Draw the values at one side of the step, below one another, each with its key as anchor."""
    labels = {leaf: Speller(of).general(leaf) for leaf in leaves[:MOST_PORTS]}
    widths = [text_width(label, 12, bold=True) + 16 for label in labels.values()]
    width = min(PORT, sheet.line / NARROW, max(widths, default=0.0))
    ports = list[Piece]()
    for leaf, label in labels.items():
        is_state = isinstance(of.scan.variable(leaf), TapeTrace)
        role = Role.INTERMEDIATE if is_state else Role.INPUT
        text = fitted(width / 2, 17, label, width - 8, 12, "middle", bold=True, role=role)
        box = Box(0, 0, width, HIGH, role)
        cell = Group((box, text), cell=_key(verb, leaf))
        ports.append(named(piece(cell), cell.cell))
    if hidden := len(leaves) - len(ports):
        ports.append(words(f"⋯ {hidden} more", 11, muted=True))
    return above(*ports, apart=12)


def _key(verb: str, leaf: Leaf) -> str:
    return f"{verb} {leaf.argument} {leaf.tap}"


def _step(lines: Sequence[str], high: float) -> Piece:
    """Draw the box of the step with lines of formulas, at least `high` pixels high."""
    formulas = _formulas(lines)
    width, height = formulas.envelope.width + 2 * INSIDE, formulas.envelope.height + 2 * INSIDE
    box = Box(0, 0, width, max(high, height), Role.PANEL)
    formulas = shifted(formulas, INSIDE, (box.height - formulas.envelope.height) / 2)
    return named(piece(Group((box, *formulas.shapes), cell="step")), "step")


def _formulas(lines: Sequence[str]) -> Piece:
    """Draw lines of formulas; the later lines of a formula are indented."""
    texts = []
    for number, line in enumerate(lines):
        x = LETTERS * MONO_WIDTH * (len(line) - len(line.lstrip()))
        texts.append(Text(x, LINE * number + 13, line.lstrip(), LETTERS, mono=True))
    return sized(max((text.x + text.width for text in texts), default=0), LINE * len(lines), *texts)


def _arrows(
    places: Mapping[str, Envelope], pairs: Sequence[tuple[Leaf, Leaf]], bottom: float
) -> Iterator[Arrow | Text]:
    """Yield the arrows into the step and out of it, and below it the arrows to later steps."""
    step = places["step"]
    for name, place in places.items():
        _, y = place.place(0, 0.5)
        if name.startswith("reads"):
            yield Arrow(((place.right, y), (step.left - 1, y)))
        elif name.startswith("writes"):
            yield Arrow(((step.right, y), (place.left - 1, y)))
    for number, (written, read) in enumerate(pairs, start=1):
        start, end = places[_key("writes", written)], places[_key("reads", read)]
        (_, y0), (_, y1), low = start.place(0, 0.5), end.place(0, 0.5), bottom + BELOW * number
        right, left = start.right + TRACK * number, end.left - TRACK * number
        corners = (start.right, y0), (right, y0), (right, low), (left, low), (left, y1)
        yield Arrow((*corners, (end.left - 1, y1)), straight=True)
        later = (written.tap or 0) - (read.tap or 0)
        words = f"{read.variable}: {'one step' if later == 1 else f'{later} steps'} later"
        yield fitted(end.left + 6, low - 5, words, 200, 11, muted=True)
