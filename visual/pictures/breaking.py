"""The picture of a broken rule: what it gives, and where its numbers first part from the truth.

A table holds the derivative of every order by the true rule, by the broken one, and by finite
differences; what is wrong is filled dark.  Below it stands the first step that writes another
number, by both rules, one above the other.
"""

from collections.abc import Iterable, Mapping
from textwrap import wrap

import numpy as np

from lab.checks.finite_differences import Estimate
from lab.errors import expect
from lab.notation import number_text
from lab.reports.breaking.breakage import Breakage, Effect, Row, precise
from lab.traces.parting import Parting
from visual.layout.canvas import MARGIN, Canvas
from visual.layout.cells import cell, full_text, inside
from visual.pictures.parting import PartingRows, cause, sides
from visual.scene.shapes import Box, Group, Scene, Text, shortened
from visual.scene.theme import Role

ORDER, WIDTH, BETWEEN, HEIGHT, PITCH = 96, 138, 12, 42, 50
CELLS = MARGIN + ORDER + 14
COLUMNS = ("true rule", "broken rule", "finite differences", "relative error")
LOOKS: Mapping[Effect, Role] = {
    Effect.RIGHT: Role.INTERMEDIATE,
    Effect.WRONG: Role.WRONG,
    Effect.REFUSED: Role.UNDEFINED,
}
MARKS: Mapping[Effect, str] = {
    Effect.RIGHT: "= true",
    Effect.WRONG: "≠ true",
    Effect.REFUSED: "refused",
}


def breaking(breakage: Breakage, theme: str = "light") -> Scene:
    """What a broken rule does to the derivatives of a cost, order by order, and where it begins."""
    expect("breakage", breakage, Breakage, "what lab.break_rule found")
    canvas = Canvas()
    rule = breakage.rule
    canvas.heading(f"A broken rule: {rule.title}", [rule.change, f"But: {rule.reason}"])
    used = _table(canvas, breakage)
    parting = breakage.contrast.parting
    if parting is None:
        canvas.heading("The numbers do not part", _same(breakage))
    else:
        canvas.heading(_place(breakage, parting), _story(breakage, parting))
        used |= PartingRows(canvas, *sides(breakage.true, breakage.broken, parting), parting).draw()
    words = {r: "refused, no number" if r is Role.UNDEFINED else r.value for r in Role if r in used}
    return canvas.finished(
        words,
        width=canvas.right + MARGIN,
        title=f"A broken rule: {rule.title}",
        description=f"{rule.change} {_outcome(breakage)}",
        theme=theme,
    )


# the table


def _table(canvas: Canvas, breakage: Breakage) -> set[Role]:
    """A row for every order; and the roles that have a meaning in it."""
    column_heads(canvas, COLUMNS, CELLS + WIDTH / 2, WIDTH + BETWEEN)
    used = set()
    for row in breakage.rows:
        used.add(_row(canvas, row, breakage.visible))
        canvas.y += PITCH
    canvas.y += 10
    canvas.note(_sources(breakage))
    canvas.y += 26
    return used


def column_heads(canvas: Canvas, heads: Iterable[str], x: float, apart: float) -> None:
    """What the columns of a table hold, from the middle of the first on."""
    for number, head in enumerate(heads):
        canvas.add(Text(x + number * apart, canvas.y + 10, head, 11.5, "middle", bold=True))
    canvas.y += 20


def _row(canvas: Canvas, row: Row, visible: int | None) -> Role:
    """One order; and how the number of the broken rule looks."""
    y, middle = canvas.y, MARGIN + ORDER
    canvas.add(Text(middle, y + 18, f"order {row.order}", 13, "end", bold=True))
    canvas.add(Text(middle, y + 33, row.name, 11.5, "end", muted=True))
    role = LOOKS[row.effect]
    error = row.error
    near, spread = about(row.differences)
    contents = {
        "true rule": (row.true, "", Role.INTERMEDIATE),
        "broken rule": (row.broken, MARKS[row.effect], role),
        "finite differences": (near, spread, Role.INTERMEDIATE),
    }
    for number, (column, (value, below, look)) in enumerate(contents.items()):
        box = Box(CELLS + number * (WIDTH + BETWEEN), y, WIDTH, HEIGHT, look)
        name = f"{row.name} by the {column}" if "rule" in column else f"{row.name} by {column}"
        canvas.add(result_cell(box, value, below, name, f"order {row.order}:{column}"))
    x = CELLS + len(contents) * (WIDTH + BETWEEN) + WIDTH / 2
    size = "—" if error is None else "∞" if np.isinf(error) else f"{error:.3g}"
    canvas.add(Text(x, y + 26, size, 13, "middle", mono=True, bold=row.effect is Effect.WRONG))
    _words(canvas, row, visible)
    return role


def result_cell(box: Box, value: np.ndarray | None, below: str, name: str, key: str) -> Group:
    """A number with a line below it; an array as in all other pictures."""
    if value is not None and value.ndim:
        return cell(box, value, name, key=key, label=below)
    middle, number = box.x + box.width / 2, "none" if value is None else precise(value)
    number = shortened(number, box.width - 8, 14, mono=True)
    bold = box.role is Role.WRONG
    y = box.y + (19 if below else 26)
    texts = [inside(box, middle, y, number, 14, mono=True, bold=bold)]
    if below:
        texts.append(inside(box, middle, box.y + 34, below, 10.5))
    title = f"{name}: no number" if value is None else f"{name} = {full_text(value)}"
    return Group((box, *texts), cell=key, title=title)


def _words(canvas: Canvas, row: Row, visible: int | None) -> None:
    """What the row amounts to, beside it."""
    x = CELLS + len(COLUMNS) * (WIDTH + BETWEEN) + 4
    verdict = _told(row, visible)
    lines = wrap(verdict, 46, max_lines=3, placeholder=" …")
    y = canvas.y + 26 - (len(lines) - 1) * 7.5
    for line in lines:
        title = verdict if lines[-1].endswith("…") else ""
        canvas.write(Text(x, y, line, 12, title=title, bold=row.effect is Effect.WRONG))
        y += 15


def _told(row: Row, visible: int | None) -> str:
    verdict = _effect(row)
    if row.broken is None and visible is not None and row.order > visible:
        verdict = "refused: it builds on the order before"
    if row.confirmed is False:
        verdict += "; but finite differences disagree with the true rule as well"
    return verdict


def _effect(row: Row) -> str:
    if row.broken is None:
        return f"refused: {row.refusal}"
    if row.effect is Effect.RIGHT:
        return "right all the same"
    if row.broken.shape != row.true.shape:
        return f"wrong: its shape is {row.broken.shape}, not {row.true.shape}"
    if row.true.ndim:
        apart = np.abs(row.broken - row.true) > 1e-7 * np.abs(row.true).max()
        return f"wrong in {int(apart.sum())} of {apart.size} entries"
    if not row.true or not row.broken:
        return f"wrong: {number_text(row.broken)} instead of {number_text(row.true)}"
    return f"wrong: {number_text(row.broken / row.true)} times the true value"


def about(estimate: Estimate | None) -> tuple[np.ndarray | None, str]:
    """Finite differences, none of whose digits are noise alone, and how far they may be off."""
    if estimate is None or not np.isfinite(estimate.error).all():
        return None, ""
    largest = float(np.max(estimate.error, initial=0.0))
    spread = f"± {number_text(float(f'{largest:.0e}'))}"  # of an error one digit is enough
    return np.where(np.abs(estimate.value) <= estimate.error, 0.0, estimate.value), spread


def _sources(breakage: Breakage) -> str:
    """What the columns are."""
    start = f"Derivatives by {breakage.wrt}. "
    if all(row.differences is None for row in breakage.rows):
        return start + "There are too many entries for finite differences."
    return start + (
        "Finite differences are taken of the cost alone, by no rule of the pullback; ± is how far "
        "they may be off."
    )


# the words


def _outcome(breakage: Breakage) -> str:
    """At which order the broken rule shows."""
    if breakage.visible is None:
        last = breakage.rows[-1].order
        return f"No derivative up to order {last} shows it."
    if breakage.rows[breakage.visible - 1].effect is Effect.REFUSED:
        return f"The derivative of order {breakage.visible} is refused."
    return f"It first shows in the derivative of order {breakage.visible}."


def _same(breakage: Breakage) -> list[str]:
    """Why there is nothing to see below the table."""
    start = "By both rules every step of every Scan writes the same numbers"
    refused = any(row.effect is Effect.REFUSED for row in breakage.rows)
    far = ", as far as the broken one comes" if refused else ""
    return [f"{start}{far}.", _outcome(breakage), *breakage.contrast.unlike]


def _place(breakage: Breakage, parting: Parting) -> str:
    scan = breakage.true.scans[parting.scan]
    where = f"Scan {parting.scan + 1} · {scan.name}, order {scan.order}"
    return f"The numbers first part at step {parting.step} of {where}"


def _story(breakage: Breakage, parting: Parting) -> list[str]:
    """Where the numbers part, in sentences."""
    contrast, order = breakage.contrast, breakage.true.scans[parting.scan].order
    counted = (
        f"Up to there both rules write the same; of all {contrast.written} values written, "
        f"{contrast.differing} differ."
    )
    why = cause(*sides(breakage.true, breakage.broken, parting), parting.step)
    shown = _outcome(breakage)
    if breakage.visible is None or breakage.visible > order:
        shown = f"The derivative of order {order} is right all the same. {shown}"
    return [f"{counted} {why}".strip(), shown, *contrast.unlike]
