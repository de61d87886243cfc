"""The routing of where, cat, narrow, and clamp: which entry is copied to which entry.

The three panels are three steps: values and tangents move from left to right, cotangents from right
to left. A cell names its source or its readers. A cell of the output has the color of the input
that it copies.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import wrap

import numpy as np

from visual.layout.canvas import finished, heading
from visual.layout.grid import CELL, MOST_COLUMNS, MOST_ROWS, CellGrid, cell_grid
from visual.layout.sheet import SCREEN
from visual.options import switch
from visual.pictures.routing.cells import (
    HIGH,
    MASK_HIGH,
    STEPS,
    RoutedStep,
    empty_cell,
    input_cell,
    mask_cell,
    output_cell,
    role_of,
)
from visual.pictures.routing.routed import Routed, RoutedOperand, routed
from visual.pictures.routing.words import about, copied_line, equation, received_line, words_of
from visual.scene.combinators import (
    Envelope,
    Piece,
    above,
    beside,
    gap,
    grouped,
    named,
    over,
    shifted,
    sized,
    words,
)
from visual.scene.shapes import Arrow, Box, Group, Scene, Shape, picture_function, text_width
from visual.scene.theme import Role

BELOW, BESIDE = 16, 28
SPACE = {False: BELOW, True: BESIDE}  # between panels
LETTERS = 52  # in a line under the heading of a panel next to other panels
LANE, NARROW_LANE = 130, 88  # between inputs and output
MOST_INPUTS, ENDS, MOST_ARROWS = 6, 2, 24
FEW = 2, 3  # rows and columns of an array that is shown whole in a narrow picture
TITLE_SIZE, LINE_SIZE = 13, 11
ROWS, ARRAYS = "arrows lead from row to row", "arrows lead from array to array"
WITH_FEWER = "only the ends of arrays: all=True shows more entries"
WITHOUT_BOTH = "tangents and the middle of arrays are hidden: all=True shows them"
ADJOINT = "the transpose is the adjoint"
WITHOUT_TANGENTS = "tangents take the paths of the values: all=True shows them"


@dataclass(frozen=True, eq=False)
class RoutingLayout:
    """The shown entries and their places; None represents hidden inputs."""

    blocks: tuple[tuple[RoutedOperand, CellGrid] | None, ...]
    output: CellGrid
    mask: CellGrid | None
    right: float
    out_x: float
    upright: bool

    @property
    def grids(self) -> dict[int, CellGrid]:
        """The grids of the shown inputs, by the numbers of the inputs."""
        return {block[0].number: block[1] for block in self.blocks if block}


@picture_function
def routing(
    primitive: str,
    inputs: Sequence[object],
    cotangent: object = None,
    tangents: Sequence[object] | None = None,
    all: bool = False,
    **metadata: object,
) -> Scene:
    """Draw a structural primitive at arrays: values, tangents, and cotangents.

    `primitive` is where, cat, narrow, or clamp, with the `inputs` and `metadata` of
    `lab.structural.primitives`. By default, tangents are 0.1, 0.2 … over all inputs, and the
    cotangent is 10, 20 …, because these entries are all different.

        >>> visual.routing("where", (x, 7.0), condition=x > 0)
        >>> visual.routing("narrow", (a,), dim=-1, start=1, length=2)

    The three panels are the steps 0, 1, and 2. To fit 840 pixels, a picture leaves out the
    tangents, and if necessary some entries, unless `all` is set. Marks show the entries of a clamp
    that are equal to a bound and have no derivative. Of a large array, and of many inputs to cat,
    the picture shows both ends and some entries of every input.

    Raises ArgumentError for arguments that the primitive rejects, and for PyTensor variables.
    """
    call = routed(primitive, inputs, cotangent, tangents, metadata)
    for body in _bodies(call) if not switch("all", all) else [next(_bodies(call))]:
        scene = finished(
            body,
            words_of(call),
            title=f"How {primitive} routes values, tangents, and cotangents",
            description=about(call),
        )
        if scene.width <= SCREEN.width:
            break
    return scene


def _bodies(call: Routed) -> Iterator[Piece]:
    """Yield the whole picture, then pictures with fewer and fewer parts."""
    for fewer in (False, True):
        layout = laid_out(call, fewer)
        values, tangent, back = (
            grouped(_panel(call, layout, step), Group((), step.number, moment=step.title))
            for step in STEPS
        )
        more = [words(WITH_FEWER, 12, muted=True)] * fewer
        across = partial(beside if layout.upright else above, apart=SPACE[layout.upright])
        full = above(back, _products(call, layout.upright), apart=BELOW)
        yield above(across(values, tangent, full), *more, apart=BELOW)
        yield above(across(values, tangent), full, *more, apart=BELOW)
        note = words(WITHOUT_BOTH if fewer else WITHOUT_TANGENTS, 12, muted=True)
        yield above(across(values, full), note, apart=BELOW)
        yield above(across(values, back), note, apart=BELOW)


def _panel(call: Routed, layout: RoutingLayout, step: RoutedStep) -> Piece:
    """Return a panel: its heading, the inputs on the left, the output on the right, and arrows."""
    parts: list[Piece] = []
    for block in layout.blocks:
        if block is None:
            hidden = len(call.operands) - (len(layout.blocks) - 1)
            parts.append(words(f"⋮ {hidden:,} more inputs", 12, muted=True, anchor="end"))
            continue
        operand, grid = block
        line = received_line(call, operand) if step.back else copied_line(call, operand)
        cells = [
            input_cell(box, call, operand, entry, step)
            for entry, box in _boxes(grid, HIGH, role_of(operand.number))
        ]
        part = named(_cells(grid, cells), str(operand.number))
        title = _title(f"{step.prefix}{operand.name}", operand.value.shape)
        parts.append(_array(title, pieces(line, layout.upright), part, 1.0))
    inputs = above(*parts, apart=BELOW, align=1.0)
    inputs = shifted(inputs, layout.right - inputs.envelope.right, 0)
    cells = [output_cell(b, call, e, step) for e, b in _boxes(layout.output, HIGH, Role.FIRST)]
    part = named(_cells(layout.output, cells), "z")
    rows = _rows(call, layout)
    note = ROWS if rows and layout.output.across > 1 else ""
    note = ARRAYS if len(rows) > MOST_ARROWS else note
    output = _array(_title(f"{step.prefix}z", call.value.shape), [note], part, 0.0)
    body = beside(inputs, output, apart=layout.out_x - layout.right, align=0.5)
    ends = _ends(call, layout, rows, body.anchors)
    arrows = []
    for y0, y1 in ends:
        inner, outer = (layout.right + 2, y0), (layout.out_x - 2, y1)
        arrows.append(Arrow((outer, inner) if step.back else (inner, outer), accent=step.back))
    body = over(body, sized(0, 0, *arrows))
    if layout.mask is not None:
        mask = _mask(call, layout.mask, step)
        mask = shifted(mask, layout.right - mask.envelope.right, 0)
        down = body.envelope.top - BELOW - mask.envelope.bottom
        body = over(shifted(mask, 0, down), body)
    title, *lines = _heading(call, layout, step)
    head = heading(title, lines)
    most = max(len(_heading(call, layout, other)) for other in STEPS)
    apart = 6 + (19 * (most - len(lines) - 1) if layout.upright else 0)  # equal heights
    body = over(gap(), shifted(body, 0, -body.envelope.top))
    return above(head, body, apart=apart)


def _heading(call: Routed, layout: RoutingLayout, step: RoutedStep) -> list[str]:
    """The title of a panel, and the lines below it."""
    title, *lines = equation(call, step, layout.upright)
    if layout.upright:
        lines = [piece for line in lines for piece in wrap(line, LETTERS)]
    return [f"{step.title}: {title}", *lines]


def _mask(call: Routed, grid: CellGrid, step: RoutedStep) -> Piece:
    """The condition above the inputs."""
    note = "metadata: no gradient" if step.back else "metadata: constant"
    condition = np.asarray(call.metadata["condition"])
    cells = [mask_cell(b, condition, entry) for entry, b in _boxes(grid, MASK_HIGH, Role.FIRST)]
    return _array(_title("condition", grid.shape), [note], _cells(grid, cells), 1.0)


def _title(name: str, shape: tuple[int, ...]) -> str:
    return f"{name} · {'×'.join(map(str, shape)) or 'scalar'}"


def _array(title: str, lines: Sequence[str], cells: Piece, align: float) -> Piece:
    """The name and shape of an array, and lines about it, above its cells."""
    anchor = "end" if align else "start"
    notes = [words(line, LINE_SIZE, muted=True, anchor=anchor) for line in lines if line]
    name = words(title, TITLE_SIZE, bold=True, anchor=anchor)
    head = above(name, *(notes or [gap(0, 12)]), align=align)
    return above(head, cells, apart=6, align=align)


def _boxes(grid: CellGrid, high: float, role: Role) -> Iterator[tuple[int, Box]]:
    """Yield every shown entry, with its box."""
    for entry, left, down in grid.places():
        yield entry, Box(left, down, CELL, high, role)


def _cells(grid: CellGrid, cells: Sequence[Shape]) -> Piece:
    """Return the cells of an array and its gaps, or the cell of an empty array."""
    more = [empty_cell(0, 0, grid.shape)] if grid.empty else grid.gaps(0, 0)
    return sized(grid.width, grid.depth, *more, *cells)


def _ends(
    call: Routed,
    layout: RoutingLayout,
    rows: Sequence[tuple[int, int, float]],
    at: Mapping[str, Envelope],
) -> list[tuple[float, float]]:
    """Return the heights of the ends of arrows, between rows or, if they are many, arrays."""
    grids, out = layout.grids, at["z"].top
    if len(rows) > MOST_ARROWS:
        giving = [number for number in grids if call.sources.count(number)]
        share = layout.output.depth / (len(giving) + 1)
        return [
            (at[str(number)].top + grids[number].depth / 2, out + share * place)
            for place, number in enumerate(giving, start=1)
        ]
    heights = {
        (number, entry // grid.across): at[str(number)].top + down + HIGH / 2
        for number, grid in grids.items()
        for entry, _, down in grid.places()
    }
    into: dict[float, list[int]] = {}
    for number, _, down in rows:
        into.setdefault(down, []).append(number)
    for numbers in into.values():
        numbers.sort()
    return [
        (
            heights[number, row],
            out + down + 11 * (into[down].index(number) - (len(into[down]) - 1) / 2),
        )
        for number, row, down in rows
    ]


def _rows(call: Routed, layout: RoutingLayout) -> list[tuple[int, int, float]]:
    """Return the rows of inputs that rows of the output copy: input, row, and height."""
    grids = layout.grids
    rows: dict[tuple[int, int, float], None] = {}  # an ordered set
    for entry, _, down in layout.output.places():
        number = int(call.sources.input.reshape(-1)[entry])
        if number in grids:
            row = int(call.sources.entry.reshape(-1)[entry]) // grids[number].across
            rows[number, row, down + HIGH / 2] = None
    return list(rows)


def _products(call: Routed, upright: bool) -> Piece:
    """Return the lines <g, J v> = <J* g, v>."""
    forward, backward = call.products
    names = [f"⟨g{operand.name}, d{operand.name}⟩" for operand in call.operands]
    if len(names) > MOST_INPUTS:
        names[3:-ENDS] = ["…"]
    is_double = np.finfo(call.value.dtype).bits == 64
    agree = np.isclose(forward, backward, rtol=1e-12 if is_double else 1e-5)
    sums = f"{' + '.join(names)} = {backward!r}"
    equal = [sums, ADJOINT] if upright else [f"{sums}: {ADJOINT}"]
    lines = [f"⟨gz, dz⟩ = {forward!r}", *(equal if agree else [sums])]
    return above(*(words(line, 12) for line in lines), apart=4)


# The shown entries, and their places.


def laid_out(call: Routed, fewer: bool = False) -> RoutingLayout:
    """Return the shown entries of a call and their places; `fewer` shows both ends only."""
    operands: list[RoutedOperand | None] = list(call.operands)
    if len(operands) > MOST_INPUTS:
        operands[1 if fewer else 3 : -1 if fewer else -ENDS] = [None]
    upright = call.value.ndim <= 1
    most = FEW if fewer else (MOST_ROWS, MOST_COLUMNS)
    examples = [] if fewer else _examples(call, [operand for operand in operands if operand])
    output = cell_grid(call.value.shape, upright, examples, HIGH, most)
    shown = [entry for entry, *_ in output.places()]
    number, entries = call.sources.input.reshape(-1), call.sources.entry.reshape(-1)
    blocks: list[tuple[RoutedOperand, CellGrid] | None] = []
    for operand in operands:
        if operand is None:
            blocks.append(None)
            continue
        wanted = [int(entries[e]) for e in shown if number[e] == operand.number]
        blocks.append((operand, cell_grid(operand.value.shape, upright, wanted, HIGH, most)))
    mask = None
    if "condition" in call.metadata:
        shape = np.asarray(call.metadata["condition"]).shape
        size = int(np.prod(shape, dtype=int))
        mask_of = np.broadcast_to(np.arange(size).reshape(shape), call.value.shape).reshape(-1)
        mask = cell_grid(shape, upright, [int(mask_of[e]) for e in shown], MASK_HIGH, most)
    grids = [block[1] for block in blocks if block] + ([mask] if mask else [])
    lines = [
        text_width(piece, LINE_SIZE)
        for block in blocks
        if block
        for line in (copied_line(call, block[0]), received_line(call, block[0]))
        for piece in pieces(line, upright)
    ]
    right = max([CELL, *(grid.width for grid in grids), *lines])
    lane = NARROW_LANE if upright else LANE
    return RoutingLayout(tuple(blocks), output, mask, right, right + lane, upright)


def pieces(line: str, upright: bool) -> list[str]:
    """Return the lines above an array; they are short if panels are next to each other."""
    return line.split("; ") if upright else [line]


def _examples(call: Routed, operands: Sequence[RoutedOperand]) -> list[int]:
    """Return the entries of a large output that the picture shows in addition to its ends."""
    places = [0, 1]
    for operand in operands:
        of = call.sources.input.reshape(-1) == operand.number
        places += [int(np.argmax(of))] if of.any() else []
        if call.value.ndim <= 1 and of.any():
            places.append(of.size - 1 - int(np.argmax(of[::-1])))
    kinks = call.nonsmooth.reshape(-1)
    places += [int(np.argmax(kinks))] if kinks.any() else []
    return [place for place in places if place < call.value.size]
