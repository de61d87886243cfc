"""Formulas as they stand beside a step: in symbols, and in numbers.

    >>> spelled(trace, scan=1, step=0)[0]
    Spelled(formula='buf[1] ← buf[0]·2·x₃ + buf[1]', numbers='1.327 = 1·2·0.6634 + 0')

Of a gradient's tape the places are told, buf[1], since a step replaces what stands there;
everything else is a value, and has its name.
"""

from dataclasses import dataclass
from math import log10

import numpy as np

from lab.equations.numbers import HALF, equation, rounding
from lab.equations.quantities import Quantities
from lab.errors import argument_error, check_integer, check_type
from lab.notation import (
    PLAIN,
    Leaf,
    Style,
    index_formula,
    offsets_text,
    render,
    symbol,
    tap_symbol,
)
from lab.tape import Kind
from lab.traces.trace import Formula, SequenceTrace, TapeTrace, Trace, Untaken
from lab.traces.untaken import values_of


@dataclass(frozen=True)
class Spelled:
    """A formula at one step, and the same with its numbers (empty where vectors take part)."""

    formula: str
    numbers: str


def spelled(trace: Trace, scan: int, step: int, style: Style = PLAIN) -> tuple[Spelled, ...]:
    """Everything that a step of Scan number `scan` writes, as formulas, and in numbers.

    `style` is `notation.PLAIN` or `LATEX`.
    """
    check_type("trace", trace, Trace, 'a Trace, as of lab.gallery.loops["square"].trace()')
    check_type("style", style, Style, "a lab.notation.Style")
    if not 0 <= check_integer("scan", scan) < len(trace.scans):
        raise argument_error("scan", scan, f"this trace has the Scans 0 to {len(trace.scans) - 1}.")
    made = trace.scans[scan]
    if not 0 <= check_integer("step", step) < made.steps:
        raise argument_error("step", step, f"{made.name} makes the steps 0 to {made.steps - 1}.")
    speller = Speller(Quantities(trace, scan), style)
    return tuple(
        Spelled(speller.at(formula, step), speller.numbers(formula, step))
        for formula in made.formulas
    )


class Speller:
    """Writes the formulas of one Scan: for one step, for all of them, or in numbers."""

    def __init__(self, named: Quantities, style: Style = PLAIN) -> None:
        self.named, self.scan, self.style = named, named.scan, style

    def at(self, formula: Formula, step: int) -> str:
        """``buf[1] ← buf[0]·2·x₃ + buf[1]``."""
        right = render(formula.expression, lambda leaf: self.position(leaf, step), self.style)
        return f"{self.position(formula.target, step)} {self.sign(formula)} {right}"

    def equation(self, formula: Formula) -> str:
        """``x[t] = x[t−1]²``: the formula of all steps."""
        right = render(formula.expression, self.general, self.style)
        return f"{self.general(formula.target)} {self.sign(formula)} {right}"

    def numbers(self, formula: Formula, step: int) -> str:
        """``1.327 = 1·2·0.6634 + 0``; empty where vectors take part."""
        used: dict[Leaf, np.ndarray] = {}
        for leaf in formula.leaves:
            value = self.value(leaf, step)
            if value is None or value.ndim:
                return ""
            used[leaf] = value
        written = self.made(formula, step)
        return "" if written.ndim else equation(written, formula.expression, used, self.style)

    def made(self, formula: Formula, step: int) -> np.ndarray:
        """What a formula makes at a step."""
        target = self.scan.tape(formula.target.argument)
        if target is None:
            raise LookupError(formula.target)
        return next(a for a in target.writes if a.tap == formula.target.tap).values[step]

    def sign(self, formula: Formula) -> str:
        """``=``, or an arrow where a value that was there is replaced."""
        target = self.scan.tape(formula.target.argument)
        replaces = target is not None and (target.is_total or target.kind is Kind.MIT_MOT)
        return self.style.arrow if replaces else "="

    def position(self, leaf: Leaf, step: int) -> str:
        """What a leaf is at a step: ``buf[1]``, ``x₃`` or ``w``."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, SequenceTrace):
            return self.named.sequence_label(variable, int(variable.axis.index[step]), self.style)
        if not isinstance(variable, TapeTrace) or leaf.tap is None or variable.is_total:
            return symbol(leaf.variable, self.style)
        in_time = self.scan.parent is None or not variable.tape.reads
        if in_time and variable.axis is not None:
            return self.named.tape_label(variable, variable.tape.row(step, leaf.tap), self.style)
        return self.named.place(variable, variable.tape.row(step, leaf.tap), self.style)

    def general(self, leaf: Leaf) -> str:
        """What a leaf is at any step: ``x[t−1]``, ``u[t]`` or ``w``; in a derivative ``x₃₋ₖ``.

        t is the moment that the step makes, k the number of the step.
        """
        variable, in_loop = self.scan.variable(leaf), self.scan.parent is None
        if isinstance(variable, SequenceTrace) and len(variable.axis.index):
            first, *others = variable.axis.index[:2].tolist()
            way = others[0] - first if others else 1
            if in_loop and way == 1:
                return tap_symbol(leaf.variable, first - variable.now, self.style)
            index = index_formula(first, way, self.style)
            return self.named.sequence_label(variable, index, self.style)
        if not isinstance(variable, TapeTrace) or leaf.tap is None or variable.is_total:
            return symbol(leaf.variable, self.style)
        if in_loop or variable.tape.reads or variable.axis is None:
            return tap_symbol(leaf.variable, leaf.tap, self.style)
        first, *others = variable.axis.index[:2].tolist() or [0]
        index = index_formula(first, others[0] - first if others else 1, self.style)
        return self.named.named_at(variable, index, self.style)

    def value(self, leaf: Leaf, step: int) -> np.ndarray | None:
        """What a leaf was at a step; None for what is no array."""
        values = values_of(self.scan, leaf)
        return None if values is None else values[step]


def loop_offsets(named: Quantities) -> str:
    """``step k: x[t] is xₖ₊₁, u[t] is uₖ``: which values the taps of a loop stand for."""
    scan = named.scan
    if scan.parent is not None:
        return ""
    starts = {tape.name: tape.tape.origin for tape in scan.held if tape.kind is not Kind.MIT_MOT}
    starts |= {s.axis.variable: s.now for s in scan.sequences}
    return offsets_text({name: start + scan.first for name, start in starts.items()})


def result_words(trace: Trace) -> tuple[str, ...]:
    """What a reader of the results must know: gradients of what, what is added, what cancels."""
    called = [name.partition(" = ")[0] for name in trace.names]
    told = [
        f"{name} has {value.size} entries: {successor} is the gradient of their sum"
        for name, successor, value in zip(called, called[1:], trace.outputs, strict=False)
        if name and value.ndim
    ]
    for feed in trace.feeds:
        held = Quantities(trace, feed.scan)
        tape = held.scan.tape(feed.variable)
        if feed.more and tape is not None and tape.gradient_of is not None:
            told.append(
                f"{called[feed.into] or 'the result'} is more than what {feed.scan + 1} gives: "
                "something is added that no Scan computes"
            )
    return tuple(filter(None, (*told, _rounded(trace))))


def _rounded(trace: Trace) -> str:
    """Where numbers that a step adds up cancel so far that not all that is told of them is right.

    The worst place, or nothing.
    """
    worst, told = HALF, ""
    for number, scan in enumerate(trace.scans):
        speller = Speller(Quantities(trace, number))
        for formula in scan.formulas:
            used = {leaf: values_of(scan, leaf) for leaf in formula.leaves}
            if any(value is None or value.ndim != 1 for value in used.values()):
                continue
            lost = rounding(formula.expression, used.__getitem__)
            if lost is not None and lost.ndim and np.max(lost, initial=0) > worst:
                step, worst = int(np.argmax(lost)), float(np.max(lost))
                digits = ("no digit", "the first digit", "two digits", "three digits")
                told = (
                    f"cancellation: of what step {step} of Scan {number + 1} leaves in "
                    f"{speller.position(formula.target, step)}, a difference of nearly equal terms,"
                    f" {digits[max(0, int(-log10(worst)))]} can be trusted, and no more of what is "
                    "made of it"
                )
    return told


def untaken_words(trace: Trace) -> tuple[str, ...]:
    """What the branches that were not taken made of gradients, each in a few sentences."""
    return tuple(_untaken(trace, one) for one in trace.untaken)


def _untaken(trace: Trace, one: Untaken) -> str:
    scan = trace.scans[one.scan]
    forward, step = (one.scan, one.step) if one.forward is None else (one.forward, one.forward_step)
    branch = render(one.branch, Speller(Quantities(trace, forward)).general)
    product = render(one.product, Speller(Quantities(trace, one.scan)).general)
    return (
        f"At step {step} of {trace.scans[forward].name}, where did not take {branch}. The gradient "
        f"of that is 0, but at step {one.step} of {scan.name} the 0 meets what is not finite: "
        f"{product} is nan. {WAY_OUT}"
    )


WAY_OUT = (
    "A where inside the branch as well, as in where(c, f(where(c, x, 1)), 0), keeps f away from "
    "such x; PyTensor's rewrites, as of lab.trace(…, rewritten=True), often avoid the product too."
)
