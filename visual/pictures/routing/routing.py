"""How where, cat, narrow and clamp route: cells in, cells out, who goes where.

Three panels, one below the other, are three steps: the values and the tangents go from left
to right, the cotangents back from right to left.  Every cell tells where its number goes or
comes from; the look of a cell of the output is that of the input that it takes.
"""

from collections.abc import Sequence
from textwrap import wrap

import numpy as np

from visual.layout.canvas import MARGIN, Canvas, explained
from visual.layout.grid import CELL, CellGrid
from visual.pictures.routing.cells import (
    HIGH,
    MASK_HIGH,
    STEPS,
    Step,
    empty_cell,
    input_cell,
    mask_cell,
    output_cell,
    role_of,
)
from visual.pictures.routing.layout import ENDS, LINE_SIZE, MOST_INPUTS, Layout, laid_out, pieces
from visual.pictures.routing.routed import Routed, routed
from visual.pictures.routing.words import about, equation, given_line, taken_line, words_of
from visual.scene.shapes import Arrow, Box, Group, Scene, Text, moved, walk
from visual.scene.theme import THEMES, Role

TITLE, BELOW, BESIDE = 36, 16, 28
LETTERS = 52  # of a line under the heading of a panel that stands beside others
MOST_ARROWS = 24
TITLE_SIZE = 13
ROWS, ARRAYS = "arrows lead from row to row", "arrows lead from array to array"
ADJOINT = "the transpose is the adjoint"


def routing(
    primitive: str,
    inputs: Sequence[object],
    cotangent: object = None,
    tangents: Sequence[object] | None = None,
    theme: str = "light",
    **metadata: object,
) -> Scene:
    """The picture of a structural primitive at arrays: values, tangents and cotangents.

    `primitive` is where, cat, narrow or clamp; `inputs` and `metadata` are those of
    `lab.structural.primitives`.  Unless given, tangents are 0.1, 0.2 … through all inputs, and
    the cotangent is 10, 20 …: every entry has a number of its own.

        >>> visual.routing("where", (x, 7.0), condition=x > 0)
        >>> visual.routing("narrow", (a,), dim=-1, start=1, length=2)

    The three panels are the steps 0, 1 and 2.  A clamp's entries on a bound, where there is no
    derivative, are marked.  Of large arrays, and of many inputs to cat, the ends are shown and
    some entries of every input; gaps tell how many are not.

    Raises ArgumentError for what the primitive refuses, and for PyTensor variables.
    """
    found = routed(primitive, inputs, cotangent, tangents, metadata)
    layout, canvas = laid_out(found), Canvas()
    right, bottom, top = 0.0, 0.0, canvas.y
    for step in STEPS:
        panel = Canvas(y=top if layout.upright else max(top, bottom))
        _panel(panel, found, layout, step)
        beside = right if layout.upright else 0.0
        members = tuple(moved(shape, beside, 0) for shape in panel.shapes)
        canvas.add(Group(members, step.number, moment=step.title))
        right = max(right, beside + panel.right + BESIDE)
        bottom = max(bottom, panel.y)
    canvas.right, canvas.y = right - BESIDE, bottom
    used = [shape.role for shape in walk(canvas.shapes) if isinstance(shape, Box)]
    width = canvas.right + MARGIN
    legend = {role: words for role, words in words_of(found).items() if role in used}
    shapes, bottom = explained(legend, canvas.y, width)
    canvas.add(*shapes)
    words = [text for text in shapes if isinstance(text, Text)]
    return Scene(
        width=max([width, *(text.x + text.width + MARGIN for text in words)]),
        height=bottom + 12,
        shapes=tuple(canvas.shapes),
        title=f"How {primitive} routes values, tangents and cotangents",
        description=about(found),
        theme=THEMES[theme],
    )


def _panel(canvas: Canvas, found: Routed, layout: Layout, step: Step) -> None:
    """One step: its heading, the inputs on the left, the output on the right, and arrows."""
    head = _heading(found, layout, step)
    most = max(len(_heading(found, layout, other)) for other in STEPS)
    canvas.heading(head[0], head[1:])
    canvas.y += 6 + (19 * (most - len(head)) if layout.upright else 0)  # arrays at one height
    if layout.mask is not None and layout.mask_of is not None:
        _mask(canvas, found, layout.mask, layout.right, step)
    top = canvas.y
    corners: dict[int, tuple[float, float]] = {}
    for block in layout.blocks:
        if block is None:
            hidden = len(found.operands) - (len(layout.blocks) - 1)
            words = f"⋮ {hidden:,} more inputs"
            canvas.add(Text(layout.right, canvas.y + 14, words, 12, "end", muted=True))
            canvas.y += 24 + BELOW
            continue
        operand, grid = block
        name = f"{step.prefix}{operand.name}"
        line = taken_line(found, operand) if step.back else given_line(found, operand)
        lines = pieces(line, layout.upright)
        _title(canvas, layout.right, "end", name, operand.value.shape, lines)
        corner = layout.right - grid.width, canvas.y
        corners[operand.number] = corner
        _block(canvas, grid, corner)
        for entry, left, down in grid.places():
            box = Box(corner[0] + left, corner[1] + down, CELL, HIGH, role_of(operand.number))
            canvas.add(input_cell(box, found, operand, entry, step))
        canvas.y += grid.depth + BELOW
    bottom = canvas.y - BELOW
    depth = layout.output.depth + TITLE
    canvas.y = top + max(0.0, (bottom - top - depth) / 2)
    above = canvas.y
    canvas.y += TITLE
    corner = layout.out_x, canvas.y
    canvas.right = max(canvas.right, layout.out_x + layout.output.width)
    _block(canvas, layout.output, corner)
    for entry, left, down in layout.output.places():
        box = Box(corner[0] + left, corner[1] + down, CELL, HIGH, Role.FIRST)
        canvas.add(output_cell(box, found, entry, step))
    words = _arrows(canvas, found, layout, corners, corner, step)
    below, canvas.y = canvas.y, above
    _title(canvas, layout.out_x, "start", f"{step.prefix}z", found.value.shape, [words])
    canvas.y = below
    canvas.y = max(bottom, canvas.y + layout.output.depth) + 18
    if step.back:
        _products(canvas, found, layout.upright)
    canvas.y += 22


def _heading(found: Routed, layout: Layout, step: Step) -> list[str]:
    """The title of a panel, and the lines below it."""
    title, *lines = equation(found, step, layout.upright)
    if layout.upright:
        lines = [piece for line in lines for piece in wrap(line, LETTERS)]
    return [f"{step.title}: {title}", *lines]


def _mask(canvas: Canvas, found: Routed, grid: CellGrid, right: float, step: Step) -> None:
    """The condition above the inputs."""
    words = "metadata: it gets no gradient" if step.back else "metadata: held fixed"
    _title(canvas, right, "end", "condition", grid.shape, [words])
    corner = right - grid.width, canvas.y
    _block(canvas, grid, corner)
    for entry, left, down in grid.places():
        box = Box(corner[0] + left, corner[1] + down, CELL, MASK_HIGH, Role.FIRST)
        canvas.add(mask_cell(box, np.asarray(found.metadata["condition"]), entry))
    canvas.y += grid.depth + BELOW


def _title(
    canvas: Canvas, x: float, anchor: str, name: str, shape: tuple[int, ...], lines: Sequence[str]
) -> None:
    """The name and shape of an array, and lines about it, above its cells."""
    form = f"{name} · {'×'.join(map(str, shape))}" if shape else f"{name} · scalar"
    title = Text(x, canvas.y + 14, form, TITLE_SIZE, anchor, bold=True)
    below = [
        Text(x, canvas.y + 28 + 13 * number, line, LINE_SIZE, anchor, muted=True)
        for number, line in enumerate(lines)
        if line
    ]
    canvas.add(title, *below)
    canvas.right = max([canvas.right, *(text.left + text.width for text in (title, *below))])
    canvas.y += TITLE + 13 * (len(lines) - 1)


def _block(canvas: Canvas, grid: CellGrid, corner: tuple[float, float]) -> None:
    """What an array shows besides its cells: its gaps, or that it is empty."""
    if grid.empty:
        canvas.add(empty_cell(*corner, grid.shape))
    else:
        canvas.add(*grid.gaps(*corner))


def _arrows(
    canvas: Canvas,
    found: Routed,
    layout: Layout,
    corners: dict[int, tuple[float, float]],
    out: tuple[float, float],
    step: Step,
) -> str:
    """From row to row if they are few, else from array to array, and a word about that."""
    grids = {block[0].number: block[1] for block in layout.blocks if block}
    ends = _between_rows(found, layout, grids, corners, out)
    words = ROWS if ends and layout.output.across > 1 else ""
    if len(ends) > MOST_ARROWS:
        words = ARRAYS
        giving = [number for number in corners if found.sources.count(number)]
        share = layout.output.depth / (len(giving) + 1)
        ends = [
            (corners[number][1] + grids[number].depth / 2, out[1] + share * place)
            for place, number in enumerate(giving, start=1)
        ]
    for y0, y1 in ends:
        inner, outer = (layout.right + 2, y0), (layout.out_x - 2, y1)
        canvas.add(Arrow((outer, inner) if step.back else (inner, outer), accent=step.back))
    return words


def _between_rows(
    found: Routed,
    layout: Layout,
    grids: dict[int, CellGrid],
    corners: dict[int, tuple[float, float]],
    out: tuple[float, float],
) -> list[tuple[float, float]]:
    """The heights at which arrows between the rows that are shown begin and end."""
    heights = {
        (number, entry // grid.across): corners[number][1] + down + HIGH / 2
        for number, grid in grids.items()
        for entry, _, down in grid.places()
    }
    rows: dict[tuple[int, int, float], None] = {}  # an ordered set
    for entry, _, down in layout.output.places():
        number = int(found.sources.input.reshape(-1)[entry])
        if number in grids:
            row = int(found.sources.entry.reshape(-1)[entry]) // grids[number].across
            rows[number, row, out[1] + down + HIGH / 2] = None
    into: dict[float, list[int]] = {}
    for number, _, height in rows:
        into.setdefault(height, []).append(number)
    for numbers in into.values():
        numbers.sort()
    return [
        (
            heights[number, row],
            height + 11 * (into[height].index(number) - (len(into[height]) - 1) / 2),
        )
        for number, row, height in rows
    ]


def _products(canvas: Canvas, found: Routed, upright: bool) -> None:
    """<g, J v> = <J* g, v>, in full."""
    forward, backward = found.products
    names = [f"⟨g{operand.name}, d{operand.name}⟩" for operand in found.operands]
    if len(names) > MOST_INPUTS:
        names[3:-ENDS] = ["…"]
    agree = np.isclose(forward, backward, rtol=1e-12 if _is_double(found) else 1e-5)
    canvas.y += 8
    canvas.text(MARGIN, f"⟨gz, dz⟩ = {forward!r}", 12)
    canvas.y += 18
    sums = f"{' + '.join(names)} = {backward!r}"
    told = [sums, ADJOINT] if upright else [f"{sums}: {ADJOINT}"]
    for number, line in enumerate(told if agree else [sums]):
        canvas.y += 18 * (number > 0)
        canvas.text(MARGIN, line, 12)


def _is_double(found: Routed) -> bool:
    return bool(np.finfo(found.value.dtype).bits == 64)
