"""The picture of a comparison: gradients and taps beside one another, and where the tapes part.

A table holds the gradients by our pullback, by PyTensor's own, and by finite differences; what
finite differences disagree with is filled dark.  Below it stands the first step whose numbers
are not the same, on both sides, and then the backward Scans, aspect by aspect.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from lab.errors import expect
from lab.reports.compare.comparison import (
    SIGNS,
    Agreement,
    Comparison,
    Row,
    checks,
    heading,
    parted,
    rounded,
    sign,
    summary,
)
from lab.reports.compare.facets import Aspect, Facet
from lab.reports.compare.sides import Answer
from visual.layout.canvas import MARGIN, Canvas
from visual.pictures.breaking import about, column_heads, result_cell
from visual.pictures.parting import PartingRows, cause, sides
from visual.scene.shapes import Box, Scene, Text, shortened
from visual.scene.theme import Role

NAMES = ("our pullback", "PyTensor's")
NAME, WIDTH, BETWEEN, HEIGHT, PITCH = 150, 190, 14, 42, 52
CELLS = MARGIN + NAME + 14
MOST_ROWS = 12
LINE, ASPECT, COLUMN = 19, 170, 300
COLUMNS = (*NAMES, "finite differences")
MARKS = {Agreement.SAME: "= ours", Agreement.DIFFERENT: "≠ ours"}  # PyTensor's number
WORDS = {
    Role.UNDEFINED: "no number",
    Role.WRONG: "finite differences disagree, or not what our pullback has",
}


def comparing(comparison: Comparison, theme: str = "light") -> Scene:
    """Both pullbacks beside one another: gradients, the step where they part, and their Scans."""
    expect("comparison", comparison, Comparison, "what lab.compare found")
    canvas = Canvas()
    sentences = [heading(comparison), summary(comparison), *checks(comparison)]
    canvas.heading("Our pullback and PyTensor's", sentences)
    used = _table(canvas, comparison)
    used |= _parting(canvas, comparison)
    for pair in comparison.pairs:
        canvas.heading(f"{pair.name}, order {pair.order}: the two backward Scans", [])
        _facets(canvas, pair.facets)
    if comparison.pairs:
        canvas.note(SIGNS)
        canvas.y += 8
    return canvas.finished(
        {role: WORDS.get(role, role.value) for role in Role if role in used},
        width=canvas.right + MARGIN,
        title=heading(comparison),
        description=summary(comparison),
        theme=theme,
    )


def _table(canvas: Canvas, comparison: Comparison) -> set[Role]:
    """A row for every gradient; those that differ come first, if there are many."""
    column_heads(canvas, COLUMNS, CELLS + WIDTH / 2, WIDTH + BETWEEN)
    rows = sorted(comparison.rows, key=lambda row: not row.is_found)[:MOST_ROWS]
    used = set[Role]()
    for row in rows:
        used |= _row(canvas, row, comparison.judged)
        canvas.y += PITCH
    hidden = len(comparison.rows) - len(rows)
    if hidden:
        canvas.text(MARGIN, f"and {hidden} more, which are the same or no numbers", 12, muted=True)
        canvas.y += 20
    canvas.y += 26
    return used


def _row(canvas: Canvas, row: Row, judged: bool) -> set[Role]:
    y, right = canvas.y, MARGIN + NAME
    short = shortened(f"wrt {row.wrt}", NAME, 13, bold=True)
    canvas.add(Text(right, y + 18, short, 13, "end", bold=True, title=f"wrt {row.wrt}"))
    canvas.add(Text(right, y + 33, f"order {row.order}", 11.5, "end", muted=True))
    near, spread = about(row.differences)
    if row.differences is not None and near is not None:
        near = rounded(row.differences)
    looks = [_look(row, answer, judged) for answer in (row.ours, row.theirs)]
    contents: Iterable[tuple[str, np.ndarray | None, str, Role]] = (
        (NAMES[0], row.ours.value, "", looks[0]),
        (NAMES[1], row.theirs.value, MARKS.get(row.verdict, ""), looks[1]),
        (COLUMNS[2], near, spread, Role.INTERMEDIATE),
    )
    for number, (column, value, below, look) in enumerate(contents):
        box = Box(CELLS + number * (WIDTH + BETWEEN), y, WIDTH, HEIGHT, look)
        if column == COLUMNS[2] and row.differences is None:
            why = "too many entries" if row.is_found else "see the direction above"
            canvas.add(Text(box.x + WIDTH / 2, y + 26, why, 11.5, "middle", muted=True))
            continue
        name = f"the gradient by {row.wrt}, order {row.order}: {column}"
        canvas.add(result_cell(box, value, below, name, f"{row.order}:{row.wrt}:{column}"))
    x = CELLS + len(COLUMNS) * (WIDTH + BETWEEN) + 4
    for place, line in enumerate(_told(row)):
        canvas.write(Text(x, y + 18 + 16 * place, line, 12, bold=not place and row.is_found))
    return set(looks)


def _look(row: Row, answer: Answer, judged: bool) -> Role:
    """Dark for what is wrong; without a number where there is none."""
    if answer.value is None:
        return Role.UNDEFINED
    wrong = row.is_found and row.confirmed(answer) is False and judged
    return Role.WRONG if wrong else Role.INTERMEDIATE


def _told(row: Row) -> list[str]:
    if row.verdict is Agreement.DIFFERENT and row.theirs.words:
        why = f"PyTensor's is {row.theirs.words}"
    elif row.verdict is Agreement.DIFFERENT and row.error is not None:
        return [row.verdict.value, f"by up to {row.error:.3g} times the largest entry"]
    else:
        why = next((a.words for a in (row.ours, row.theirs) if a.words and a.value is None), "")
    return [row.verdict.value, *([shortened(why, 360, 12)] if why else [])]


def _parting(canvas: Canvas, comparison: Comparison) -> set[Role]:
    """The step where the two runs part, drawn twice, if there is one."""
    parting, ours, theirs = comparison.contrast.parting, comparison.ours, comparison.theirs
    sentences = list(parted(comparison))
    if parting is None or ours is None or theirs is None:
        canvas.heading("The tapes do not part", sentences)
        canvas.y += 12
        return set()
    first, second = sides(ours, theirs, parting, NAMES)
    canvas.heading("Where the tapes part", [*sentences, cause(first, second, parting.step)])
    used = PartingRows(canvas, first, second, parting).draw()
    canvas.y += 14
    return used


def _facets(canvas: Canvas, facets: Sequence[Facet]) -> None:
    """A line for every aspect, with a sign where it differs."""
    left = MARGIN + 22
    for number, words in enumerate(NAMES):
        x = left + ASPECT + number * COLUMN
        canvas.add(Text(x, canvas.y + 8, words, 11.5, bold=True))
    canvas.y += 12
    for facet in facets:
        if facet.aspect is Aspect.DTYPE and not facet.differs:
            continue
        canvas.y += LINE
        mark, bold = sign(facet), facet.differs and not facet.harmless
        if mark.strip():
            canvas.add(Text(MARGIN + 4, canvas.y, mark, 13, bold=bold))
        label = f"{facet.subject} {facet.aspect}".strip()
        short = shortened(label, ASPECT - 10, 12, bold=bold)
        canvas.add(Text(left, canvas.y, short, 12, bold=bold, title=label))
        for place, words in enumerate((facet.ours or "none", facet.theirs or "none")):
            short = shortened(words, COLUMN - 12, 11, mono=True)
            x = left + ASPECT + place * COLUMN
            canvas.write(Text(x, canvas.y, short, 11, mono=True, bold=bold, title=words))
    canvas.y += 34
