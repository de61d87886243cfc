"""The picture of a comparison: gradients and taps beside one another, and where the tapes part.

A table holds the gradients by our pullback, by PyTensor's own, and by finite differences; what
finite differences disagree with is filled dark.  Below it stands the first step whose numbers
are not the same, on both sides, and then the backward Scans, aspect by aspect.
"""

from collections.abc import Sequence

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
from visual.layout.canvas import finished, note
from visual.layout.canvas import heading as headed
from visual.pictures.breaking import about, heads, result, result_row
from visual.pictures.parting import cause, parting_rows, sides
from visual.scene.combinators import Piece, above, columns, gap, piece, sized, words
from visual.scene.shapes import Scene, Text, fitted
from visual.scene.theme import Role

NAMES = ("our pullback", "PyTensor's")
NAME, WIDTH, MOST_ROWS = 110, 150, 12
SIGN, ASPECT, COLUMN = 14, 150, 290
COLUMNS = (*NAMES, "finite differences")
MARKS = {Agreement.SAME: "= ours", Agreement.DIFFERENT: "≠ ours"}  # PyTensor's number
WORDS = {role: role.value for role in Role} | {
    Role.UNDEFINED: "no number",
    Role.WRONG: "finite differences disagree, or not what our pullback has",
}


def comparing(comparison: Comparison, theme: str = "light") -> Scene:
    """Both pullbacks beside one another: gradients, the step where they part, and their Scans."""
    expect("comparison", comparison, Comparison, "what lab.compare found")
    sentences = [heading(comparison), summary(comparison), *checks(comparison)]
    parts = [
        above(headed("Our pullback and PyTensor's", sentences), _table(comparison)),
        _parting(comparison),
    ]
    for pair in comparison.pairs:
        title = f"{pair.name}, order {pair.order}: the two backward Scans"
        parts.append(above(headed(title, []), _facets(pair.facets)))
    if comparison.pairs:
        parts.append(note(SIGNS))
    return finished(
        above(*parts, apart=20),
        WORDS,
        title=heading(comparison),
        description=summary(comparison),
        theme=theme,
    )


def _table(comparison: Comparison) -> Piece:
    """A row for every gradient; those that differ come first, if there are many."""
    rows = sorted(comparison.rows, key=lambda row: not row.is_found)[:MOST_ROWS]
    parts = [heads(COLUMNS, NAME, WIDTH), *(_row(row, comparison.judged) for row in rows)]
    if hidden := len(comparison.rows) - len(rows):
        parts.append(note(f"and {hidden} more, which are the same or no numbers"))
    return above(*parts, apart=10)


def _row(row: Row, judged: bool) -> Piece:
    near, spread = about(row.differences)
    if row.differences is not None and near is not None:
        near = rounded(row.differences)
    contents: dict[str, tuple[Role, np.ndarray | None, str]] = {
        NAMES[0]: (_look(row, row.ours, judged), row.ours.value, ""),
        NAMES[1]: (_look(row, row.theirs, judged), row.theirs.value, MARKS.get(row.verdict, "")),
        COLUMNS[2]: (Role.INTERMEDIATE, near, spread),
    }
    if row.differences is None:
        del contents[COLUMNS[2]]
    name = f"the gradient by {row.wrt}, order {row.order}: "
    cells = [
        result(*found, f"{name}{column}", f"{row.order}:{row.wrt}:{column}", WIDTH)
        for column, found in contents.items()
    ]
    if row.differences is None:
        why = "too many entries" if row.is_found else "see the direction above"
        cells.append(sized(WIDTH, 42, Text(WIDTH / 2, 26, why, 11.5, "middle", muted=True)))
    label = f"wrt {row.wrt}", f"order {row.order}"
    return result_row(label, NAME, cells, _told(row), row.is_found)


def _look(row: Row, answer: Answer, judged: bool) -> Role:
    """Dark for what is wrong; without a number where there is none."""
    if answer.value is None:
        return Role.UNDEFINED
    wrong = row.is_found and row.confirmed(answer) is False and judged
    return Role.WRONG if wrong else Role.INTERMEDIATE


def _told(row: Row) -> str:
    different = row.verdict is Agreement.DIFFERENT
    if different and row.error is not None and not row.theirs.words:
        return f"{row.verdict.value} by up to {row.error:.3g} times the largest entry"
    why = next((a.words for a in (row.ours, row.theirs) if a.words and a.value is None), "")
    if different and row.theirs.words:
        why = f"PyTensor's is {row.theirs.words}"
    return f"{row.verdict.value}: {why}" if why else row.verdict.value


def _parting(comparison: Comparison) -> Piece:
    """The step where the two runs part, drawn twice, if there is one."""
    parting, ours, theirs = comparison.contrast.parting, comparison.ours, comparison.theirs
    sentences = list(parted(comparison))
    if parting is None or ours is None or theirs is None:
        return headed("The tapes do not part", sentences)
    first, second = sides(ours, theirs, parting, NAMES)
    sentences.append(cause(first, second, parting.step))
    rows = parting_rows(first, second, parting)
    return above(headed("Where the tapes part", sentences), rows)


def _facets(facets: Sequence[Facet]) -> Piece:
    """A line for every aspect, with a sign where it differs."""
    rows = [[gap(SIGN), gap(ASPECT), *(words(name, 11.5, bold=True) for name in NAMES)]]
    for facet in facets:
        if facet.aspect is Aspect.DTYPE and not facet.differs:
            continue
        bold = facet.differs and not facet.harmless
        label = f"{facet.subject} {facet.aspect}".strip()
        row = [words(sign(facet), 13, bold=bold), _cut(label, ASPECT, 12, bold=bold)]
        for told in (facet.ours or "none", facet.theirs or "none"):
            row.append(_cut(told, COLUMN, 11, mono=True, bold=bold))
        rows.append(row)
    return columns(rows, across=10, down=3)


def _cut(content: str, room: float, size: float, mono: bool = False, bold: bool = False) -> Piece:
    """A line no wider than its column."""
    return piece(fitted(0, 0, content, room, size, mono=mono, bold=bold))
