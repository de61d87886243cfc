"""The picture of a broken rule: what it gives, and where its numbers first part from the truth.

A table holds the derivative of every order by the true rule, by the broken one, and by finite
differences; what is wrong is filled dark.  Below it stands the first step that writes another
number, by both rules, one above the other.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from lab.checks.finite_differences import Estimate
from lab.errors import expect
from lab.notation import number_text
from lab.reports.breaking.breakage import Breakage, Effect, Row, precise, written
from lab.traces.parting import Parting
from visual.layout.canvas import finished, heading, note
from visual.layout.cells import cell, full_text, inside
from visual.layout.sheet import SCREEN
from visual.scene.combinators import Piece, above, beside, gap, sized, words
from visual.scene.shapes import Box, Group, Scene, Text, fitted, folded, shortened
from visual.scene.theme import Role

ORDER, WIDTH, BETWEEN, HEIGHT = 62, 118, 10, 42
COLUMNS = ("true rule", "broken rule", "finite differences", "relative error")
WORDS = {r: "refused, no number" if r is Role.UNDEFINED else r.value for r in Role}
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
    rule, parting = breakage.rule, breakage.contrast.parting
    parts = [heading(f"A broken rule: {rule.title}", [rule.change, f"But: {rule.reason}"])]
    rows = [_row(row, breakage.visible) for row in breakage.rows]
    parts.append(above(heads(COLUMNS, ORDER, WIDTH), *rows, apart=BETWEEN))
    parts.append(_sources(breakage))
    if parting is None:
        parts.append(heading("The numbers do not part", _same(breakage)))
    else:
        parts.append(heading(_place(breakage, parting), _story(breakage, parting)))
    return finished(
        above(parts[0], above(*parts[1:], apart=18)),
        WORDS,
        title=f"A broken rule: {rule.title}",
        description=f"{rule.change} {_outcome(breakage)}",
        theme=theme,
    )


# the table


def heads(names: Iterable[str], label: float, wide: float) -> Piece:
    """What columns of results hold, all so `wide`, beside rows with a `label`."""
    texts = (Text(wide / 2, 12, name, 11.5, "middle", bold=True) for name in names)
    return beside(gap(label), *(sized(wide, 14, text) for text in texts), apart=BETWEEN)


def result_row(
    label: tuple[str, str], room: float, results: Iterable[Piece], told: str, bold: bool
) -> Piece:
    """A row's name and a line below it in so much `room`, results, and what they amount to."""
    upper, lower = label
    name = fitted(room, 18, upper, room, 13, "end", bold=True)
    below = fitted(room, 33, lower, room, 11.5, "end", muted=True)
    row = beside(sized(room, HEIGHT, name, below), *results, apart=BETWEEN)
    left = SCREEN.line - row.envelope.width - BETWEEN
    lines = folded(told, left, 12, bold=bold)
    if len(lines) > 3:
        lines = [*lines[:2], shortened(" ".join(lines[2:]), left, 12, bold=bold)]
    title = told if lines[-1].endswith("…") else ""
    verdict = above(*(words(line, 12, bold=bold, title=title) for line in lines))
    return beside(row, verdict, apart=BETWEEN, align=0.5)


def result(
    role: Role,
    value: np.ndarray | None,
    below: str,
    name: str,
    key: str,
    wide: float = WIDTH,
) -> Piece:
    """A number with a line below it; an array as in all other pictures."""
    box = Box(0, 0, wide, HEIGHT, role)
    if value is not None and value.ndim:
        return sized(wide, HEIGHT, cell(box, value, name, key=key, label=below))
    middle, number = box.x + box.width / 2, "none" if value is None else precise(value)
    number = shortened(number, box.width - 8, 14, mono=True)
    bold = box.role is Role.WRONG
    y = box.y + (19 if below else 26)
    texts = [inside(box, middle, y, number, 14, mono=True, bold=bold)]
    if below:
        texts.append(inside(box, middle, box.y + 34, below, 11))
    title = f"{name}: no number" if value is None else f"{name} = {full_text(value)}"
    return sized(wide, HEIGHT, Group((box, *texts), cell=key, title=title))


def _row(row: Row, visible: int | None) -> Piece:
    """One order, by both rules and by finite differences, and how far the two rules are apart."""
    near, spread = about(row.differences)
    contents = {
        "the true rule": (Role.INTERMEDIATE, row.true, ""),
        "the broken rule": (LOOKS[row.effect], row.broken, MARKS[row.effect]),
        "finite differences": (Role.INTERMEDIATE, near, spread),
    }
    results = [
        result(
            *found, f"{row.name}: by {source}", f"order {row.order}:{source.removeprefix('the ')}"
        )
        for source, found in contents.items()
    ]
    wrong, error = row.effect is Effect.WRONG, row.error
    size = "—" if error is None else "∞" if np.isinf(error) else f"{error:.3g}"
    far = Text(WIDTH / 2, 26, size, 13, "middle", mono=True, bold=wrong)
    label = f"order {row.order}", row.name
    return result_row(
        label, ORDER, [*results, sized(WIDTH, HEIGHT, far)], _told(row, visible), wrong
    )


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
    value = np.where(np.abs(estimate.value) <= estimate.error, 0.0, estimate.value)
    return np.round(value, int(-np.log10(largest))) if 0 < largest < 1 else value, spread


def _sources(breakage: Breakage) -> Piece:
    """What the columns are."""
    told = "Finite differences follow no rule of the pullback; ± is how far they may be off."
    if all(row.differences is None for row in breakage.rows):
        told = "There are too many entries for finite differences."
    return note(f"Derivatives by {breakage.wrt}. {told}")


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
    order = breakage.true.scans[parting.scan].order
    tap, step = parting.tap, parting.step
    right = written(breakage.true, parting.scan, parting.tape, tap, step)
    wrong = written(breakage.broken, parting.other_scan, parting.other_tape, tap, step)
    shown = _outcome(breakage)
    if breakage.visible is None or breakage.visible > order:
        shown = f"The derivative of order {order} is right all the same. {shown}"
    formulas = [f"True rule: {line}" for line in right] + [f"Broken rule: {line}" for line in wrong]
    same = "Up to there both rules write the same."
    return [same, *formulas, shown, *breakage.contrast.unlike]
