"""The effect of a faulty rule: its assignments, and a table of the derivatives it changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lab.reports.breaking.breakage import Breakage, Effect, precise
from lab.reports.breaking.rules import EXAMPLES
from visual.pictures.machine.content import Ink, Phrase, RuleEffect


@dataclass(frozen=True)
class ComparedDerivative:
    """The name of a derivative, and the texts of its values and of the ratio faulty / correct."""

    name: str
    correct: str
    faulty: str
    differences: str  # finite differences
    ratio: str
    is_wrong: bool

    def __str__(self) -> str:
        """Return the values in one line."""
        values = f"correct {self.correct}, faulty {self.faulty}"
        return f"{self.name}: {values}, finite differences {self.differences}"


def effect_of(
    breakage: Breakage, first_wrong: int | None, first_read: int | None
) -> tuple[RuleEffect, str]:
    """Return the effect of a rule and its title.

    The arguments are the first moments of a wrong number and of an event that reads it.
    """
    table, rule = tuple(_table(breakage)), breakage.rule
    signs = (("✓ correct rule for ", Ink.PLAIN), (f"✗ {rule.name}: ", Ink.WRONG), ("", Ink.NAME))
    lines = zip(signs, rule.lines or ("", rule.change, ""), strict=True)
    effect = RuleEffect(
        rule.name,
        tuple(Phrase(sign + line, ink) for (sign, ink), line in lines if line),
        first_wrong,
        first_read,
        table,
        parts=breakage.parts,
        example=EXAMPLES.get(rule.name) if breakage.visible is None else None,
    )
    return effect, _title(breakage, table)


def _title(breakage: Breakage, table: Sequence[ComparedDerivative]) -> str:
    """Return the title, which compares the first wrong derivative with its correct value."""
    if breakage.visible is None:
        return f"The faulty rule changes no derivative of this loop up to order {len(table)}"
    shown = table[breakage.visible - 1]
    if breakage.rows[breakage.visible - 1].broken is None:
        return f"With the faulty rule, {shown.name} cannot be computed"
    if shown.ratio and not breakage.rows[breakage.visible - 1].true.ndim:
        return f"With the faulty rule, {shown.name} is {shown.ratio} times its value"
    return f"With the faulty rule, {shown.name} is {shown.faulty}, not {shown.correct}"


def _table(breakage: Breakage) -> Iterator[ComparedDerivative]:
    """Yield the rows of `RuleEffect.table`. `_entry` selects the shown entry of arrays."""
    entry = _entry(breakage)
    index = f"[{', '.join(map(str, entry))}]" if entry else ""
    for row in breakage.rows:
        values = row.true, row.broken, row.differences.value if row.differences else None
        true, faulty, near = (None if each is None else each[entry] for each in values)
        is_wrong = Effect.from_values(row.true[entry], faulty) is not Effect.RIGHT
        tried = range(6, 18) if is_wrong else ()  # digits that show the error
        digits = next((d for d in tried if precise(true, d) != precise(faulty, d)), 6)
        ratio = ""
        if true and faulty is not None and np.isfinite(true) and np.isfinite(faulty):
            size = float(faulty / true)
            ratio = f"{size:.{4 if abs(size - 1) > 1e-3 else digits + 2}g}"
        texts = precise(true, digits), precise(faulty, digits), precise(near)
        yield ComparedDerivative(f"{row.name}{index}", *texts, ratio, is_wrong)


def _entry(breakage: Breakage) -> tuple[int, ...]:
    """Return the index of the entry with the largest error, or of the first if none is known."""
    row = breakage.rows[-1 if breakage.visible is None else breakage.visible - 1]
    if row.broken is None or row.broken.shape != row.true.shape or not row.true.size:
        return (0,) * row.true.ndim
    error = np.nan_to_num(np.abs(row.broken - row.true), nan=np.inf)
    return tuple(int(n) for n in np.unravel_index(np.argmax(error), error.shape))
