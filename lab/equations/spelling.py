"""Formulas as they stand beside a step: with positions and indices, and with numbers.

    >>> spelled(trace.scans[1], step=0)[0]
    Spelled(formula='buf[1] ← buf[0]·2·x[3] + buf[1]', numbers='1.327 = 1·2·0.6634 + 0')

A tape's slots are called by their positions; what a step reads of other loops, and the
values of a loop that is no derivative, by their indices in time.
"""

from dataclasses import dataclass

import numpy as np

from lab.errors import ArgumentError, expect, quoted, whole
from lab.notation import PLAIN, Leaf, Style, leaves_of, number_text, symbol, text
from lab.traces.trace import Formula, ScanTrace, SequenceTrace, TapeTrace, Trace, Untaken


@dataclass(frozen=True)
class Spelled:
    """A formula at one step, and the same with its numbers (empty where vectors take part)."""

    formula: str
    numbers: str


def spelled(scan: ScanTrace, step: int, style: Style = PLAIN) -> tuple[Spelled, ...]:
    """Everything that a step writes, as formulas; `style` is `notation.PLAIN` or `LATEX`."""
    expect("scan", scan, ScanTrace, "a Scan of a trace, as trace.scans[0]")
    expect("style", style, Style, "a lab.notation.Style")
    if not 0 <= whole("step", step) < scan.steps:
        raise ArgumentError(
            f"step = {quoted(step)}: {scan.name} makes the steps 0 to {scan.steps - 1}."
        )
    speller = Speller(scan, style)
    return tuple(
        Spelled(speller.at(formula, step), speller.numbers(formula, step))
        for formula in scan.formulas
    )


class Speller:
    """Writes the formulas of one Scan: for one step, for all of them, or in numbers."""

    def __init__(self, scan: ScanTrace, style: Style = PLAIN) -> None:
        self.scan, self.style = scan, style
        self.several = sum(not t.is_total for t in scan.tapes) > 1
        origins = {tape.tape.origin for tape in scan.tapes}
        self.base = origins.pop() if len(origins) == 1 else 0

    def at(self, formula: Formula, step: int) -> str:
        """``buf[1] ← buf[0]·2·x[3] + buf[1]``."""
        right = text(formula.expression, lambda leaf: self.position(leaf, step), self.style)
        return f"{self.position(formula.target, step)} {self.style.arrow} {right}"

    def equation(self, formula: Formula) -> str:
        """``x[t] = x[t−1]²``: the formula of all steps."""
        right = text(formula.expression, self.general, self.style)
        return f"{self.general(formula.target)} = {right}"

    def numbers(self, formula: Formula, step: int) -> str:
        """``1.327 = 1·2·0.6634 + 0``; empty where vectors take part."""
        used = {leaf: self._value(leaf, step) for leaf in leaves_of(formula.expression)}
        target = self.scan.variable(formula.target)
        if not isinstance(target, TapeTrace):
            return ""
        written = next(a for a in target.writes if a.tap == formula.target.tap).values[step]
        if written.ndim or any(value is None or value.ndim for value in used.values()):
            return ""
        right = text(formula.expression, lambda leaf: number_text(used[leaf]), self.style)
        return f"{number_text(written)} = {right}"

    def position(self, leaf: Leaf, step: int) -> str:
        """What a leaf is at a step: ``buf[1]``, ``x[3]`` or ``w``."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, SequenceTrace):
            return self._indexed(leaf.variable, str(variable.axis.index[step]))
        if not isinstance(variable, TapeTrace) or leaf.tap is None or variable.is_total:
            return self._indexed(leaf.variable)
        row = variable.tape.row(step, leaf.tap)
        in_time = self.scan.parent is None or not variable.tape.reads
        if in_time and variable.axis is not None:
            return self._indexed(leaf.variable, str(variable.axis.index[row]))
        name = f"buf_{leaf.variable}" if self.several else "buf"
        return self._indexed(name, str(step + leaf.tap))

    def general(self, leaf: Leaf) -> str:
        """What a leaf is at any step: ``x[t−1]``, ``u[t]`` or ``w``; in a derivative ``x[3−t]``.

        In a loop t counts as the states' indices do, or, if states have different numbers of
        initial values, as the steps do.  In a derivative it counts the steps.
        """
        variable, in_loop = self.scan.variable(leaf), self.scan.parent is None
        base, way = (self.base if in_loop else 0), 1
        if isinstance(variable, TapeTrace) and leaf.tap is not None:
            first = variable.tape.row(0, leaf.tap) if in_loop else leaf.tap
        elif isinstance(variable, SequenceTrace) and len(variable.axis.index):
            first, *others = variable.axis.index[:2].tolist()
            way = others[0] - first if others else 1
        else:
            return self._indexed(leaf.variable)
        return self._indexed(leaf.variable, self._moment(first - base, way))

    def _moment(self, first: int, way: int) -> str:
        """``t+1`` or ``3−t``: what is `first` at step 0 and goes on by `way`."""
        if way < 0:
            return f"{first}{self.style.minus}t"
        if not first:
            return "t"
        return f"t+{first}" if first > 0 else f"t{self.style.minus}{-first}"

    def _indexed(self, name: str, index: str = "") -> str:
        return indexed(name, index, self.style)

    def _value(self, leaf: Leaf, step: int) -> np.ndarray | None:
        """What a leaf was at a step; None for what is no array."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, TapeTrace):
            return next((a.values[step] for a in variable.reads if a.tap == leaf.tap), None)
        if isinstance(variable, SequenceTrace):
            return variable.values[step]
        return variable.value if variable is not None else None


def untaken_words(trace: Trace) -> tuple[str, ...]:
    """What the branches that were not taken made of gradients, each in a few sentences."""
    return tuple(_untaken(trace, one) for one in trace.untaken)


def _untaken(trace: Trace, one: Untaken) -> str:
    scan = trace.scans[one.scan]
    forward, step = (one.scan, one.step) if one.forward is None else (one.forward, one.forward_step)
    branch = text(one.branch, Speller(trace.scans[forward]).general)
    product = text(one.product, Speller(scan).general)
    return (
        f"At step {step} of {trace.scans[forward].name}, where did not take {branch}. The gradient "
        f"of that is 0, but at step {one.step} of {scan.name} the 0 meets what is not finite: "
        f"{product} is nan. {WAY_OUT}"
    )


WAY_OUT = (
    "A where inside the branch as well, as in where(c, f(where(c, x, 1)), 0), keeps f away from "
    "such x; PyTensor's rewrites, as of lab.trace(…, rewritten=True), often avoid the product too."
)


def indexed(name: str, index: str, style: Style) -> str:
    """``x[t−1]``, or without an index the name alone; whatever a person has called it."""
    if not style.latex:
        return f"{name}[{index}]" if index else name
    return f"{symbol(name, style)}_{{{index}}}" if index else symbol(name, style)
