"""Formulas as they stand beside a step: with positions and indices, and with numbers."""

from collections.abc import Callable

import numpy as np

from lab.formula import Call, Expression, Leaf, text
from lab.trace import Formula, ScanTrace, SequenceTrace, TapeTrace
from visual.values import number_text


class Speller:
    """Writes the leaves of a step's formulas: for one step, or for all of them."""

    def __init__(self, scan: ScanTrace) -> None:
        self.scan = scan
        self.several = sum(not t.is_total for t in scan.tapes) > 1

    def position(self, leaf: Leaf, step: int) -> str:
        """What a leaf is at a step: ``buf[1]``, ``x[3]`` or ``w``."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, SequenceTrace):
            return f"{leaf.variable}[{int(variable.axis.index[step])}]"
        if not isinstance(variable, TapeTrace) or leaf.tap is None or variable.is_total:
            return leaf.variable
        row = variable.tape.row(step, leaf.tap)
        in_time = self.scan.parent is None or not variable.tape.reads
        if in_time and variable.axis is not None:
            return f"{leaf.variable}[{int(variable.axis.index[row])}]"
        name = f"buf_{leaf.variable}" if self.several else "buf"
        return f"{name}[{step + leaf.tap}]"

    def general(self, leaf: Leaf) -> str:
        """What a leaf is at any step: ``x[t−1]``, ``u[t]`` or ``w``."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, TapeTrace):
            return f"{leaf.variable}[{_moment(leaf.tap or 0)}]"
        if isinstance(variable, SequenceTrace):
            ahead = int(variable.axis.index[0]) if len(variable.axis.index) else 0
            return f"{leaf.variable}[{_moment(ahead - self._origin())}]"
        return leaf.variable

    def _origin(self) -> int:
        origins = {tape.tape.origin for tape in self.scan.tapes}
        return origins.pop() if len(origins) == 1 else 0


def _moment(ahead: int) -> str:
    return "t" if not ahead else f"t+{ahead}" if ahead > 0 else f"t−{-ahead}"


def leaves_of(expression: Expression) -> list[Leaf]:
    """All leaves of an expression, from left to right."""
    if isinstance(expression, Leaf):
        return [expression]
    if isinstance(expression, Call):
        return [leaf for argument in expression.arguments for leaf in leaves_of(argument)]
    return []


def factor_label(
    expression: Expression, read: Leaf, old: Leaf | None, spell: Callable[[Leaf], str]
) -> str:
    """What happens to `read` on its way into a slot: ``·2·x[3] + old``; empty if not so simple."""
    added = isinstance(expression, Call) and expression.name == "Add"
    terms = expression.arguments if isinstance(expression, Call) and added else (expression,)
    own = [term for term in terms if read in leaves_of(term)]
    if len(own) != 1:
        return ""
    plus = " + old" if old is not None and any(term == old for term in terms) else ""
    (term,) = own
    if term == read:
        return plus.strip()
    if not isinstance(term, Call) or term.name != "Mul" or term.arguments.count(read) != 1:
        return ""
    rest = tuple(factor for factor in term.arguments if factor != read)
    product = rest[0] if len(rest) == 1 else Call("Mul", rest)
    return f"·{text(product, spell)}{plus}"


def in_numbers(scan: ScanTrace, formula: Formula, step: int) -> str:
    """``1.327 = 1·2·0.6634 + 0``; empty where vectors take part."""
    used = {leaf: _value_of(scan, leaf, step) for leaf in leaves_of(formula.expression)}
    target = scan.variable(formula.target)
    if not isinstance(target, TapeTrace):
        return ""
    written = next(a for a in target.writes if a.tap == formula.target.tap).values[step]
    if written.ndim or any(value is None or value.ndim for value in used.values()):
        return ""
    return (
        f"{number_text(written)} = {text(formula.expression, lambda leaf: number_text(used[leaf]))}"
    )


def _value_of(scan: ScanTrace, leaf: Leaf, step: int) -> np.ndarray | None:
    """What a leaf was at a step; None for what is no array."""
    variable = scan.variable(leaf)
    if isinstance(variable, TapeTrace):
        return next((a.values[step] for a in variable.reads if a.tap == leaf.tap), None)
    if isinstance(variable, SequenceTrace):
        return variable.values[step]
    return variable.value if variable is not None else None
