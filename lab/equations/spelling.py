"""Write the formulas of a step in symbols and in numbers.

    >>> speller, formula = Speller(Quantities(trace, 1)), trace.scans[1].formulas[0]
    >>> speller.formula_at(formula, 0), speller.numbers(formula, 0)
    ('buf[1] ← buf[0]·2·x₃ + buf[1]', '1.327 = 1·2·0.6634 + 0')

A formula names a slot on a tape of gradients by its position, such as buf[1], because a step
overwrites the slot.  All other values have names, such as x₃.
"""

from collections.abc import Mapping
from math import log10

import numpy as np

from lab.equations.numbers import HALF, equation, rounding
from lab.equations.quantities import Quantities
from lab.notation import PLAIN, Leaf, Style, render, symbol, tap_symbol, value_symbol
from lab.records import cached_in_record
from lab.tape import Kind
from lab.traces.faults import value_at_step, values_of
from lab.traces.trace import Formula, SequenceTrace, TapeTrace, Trace


def index_formula(first: int, way: int = 1, style: Style = PLAIN, length: str = "") -> str:
    """Write an index at step k as ``k+1``, ``3−k``, or ``n−1−k``.

    The index at step 0 is `first`, added to `length` if given, and changes by `way` per step.
    """
    distance = "k" if abs(way) == 1 else f"{abs(way)}k"
    start = length + (f"{style.minus if first < 0 else '+'}{abs(first)}" if first else "")
    if way < 0:
        return f"{start if length else str(first).replace('-', style.minus)}{style.minus}{distance}"
    if length:
        return f"{start}+{distance}"
    return distance + start


def offsets_text(starts: Mapping[str, int], style: Style = PLAIN) -> str:
    """Write ``step k: x[t] is xₖ₊₁, u[t] is uₖ``.

    `starts` maps each name to the index of its value at tap 0 of step 0.
    """
    entries = [
        f"{tap_symbol(name, 0, style)} is {value_symbol(name, index_formula(start), style)}"
        for name, start in starts.items()
    ]
    return f"step k: {', '.join(entries)}" if entries else ""


class Speller:
    """A writer of the formulas of a Scan, for one step or for all steps."""

    def __init__(self, named: Quantities) -> None:
        self.named, self.scan = named, named.scan

    def formula_at(self, formula: Formula, step: int) -> str:
        """Write a formula at a step: ``buf[1] ← buf[0]·2·x₃ + buf[1]``."""
        right = render(formula.expression, lambda leaf: self.position(leaf, step))
        return f"{self.position(formula.target, step)} {self.sign(formula)} {right}"

    def equation(self, formula: Formula) -> str:
        """Write the formula of all steps: ``x[t] = x[t−1]²``."""
        right = render(formula.expression, self.general)
        return f"{self.general(formula.target)} {self.sign(formula)} {right}"

    def numbers(self, formula: Formula, step: int) -> str:
        """Write a formula in numbers: ``1.327 = 1·2·0.6634 + 0``; return "" if impossible."""
        sources: tuple[Leaf | Formula, ...] = (*formula.leaves, formula)
        values = [value_at_step(self.scan, source, step) for source in sources]
        numbers = [value for value in values if value is not None and not value.ndim]
        if len(numbers) < len(sources):
            return ""
        used = dict(zip(formula.leaves, numbers, strict=False))
        return equation(numbers[-1], formula.expression, used)

    def sign(self, formula: Formula) -> str:
        """Return ``=``, or an arrow if the formula replaces a value."""
        target = self.scan.tape(formula.target.argument)
        replaces = target is not None and (target.is_total or target.kind is Kind.MIT_MOT)
        return PLAIN.arrow if replaces else "="

    def position(self, leaf: Leaf, step: int) -> str:
        """Name a leaf at a step: ``buf[1]``, ``x₃``, or ``w``."""
        variable = self.scan.variable(leaf)
        if isinstance(variable, SequenceTrace):
            return self.named.sequence_label(variable, int(variable.axis.index[step]))
        if not isinstance(variable, TapeTrace) or leaf.tap is None or variable.is_total:
            return symbol(leaf.variable)
        in_time = self.scan.parent is None or not variable.tape.reads
        if in_time and variable.axis is not None:
            return self.named.tape_label(variable, variable.tape.row(step, leaf.tap))
        return self.named.place(variable, variable.tape.row(step, leaf.tap))

    def general(self, leaf: Leaf) -> str:
        """Name a leaf at any step: ``x[t−1]``, ``u[t]``, or ``w``; in a derivative ``x₃₋ₖ``.

        t is the time index of the written value, and k the number of the step.
        """
        variable, in_loop = self.scan.variable(leaf), self.scan.parent is None
        if isinstance(variable, SequenceTrace) and len(variable.axis.index):
            first, *others = variable.axis.index[:2].tolist()
            way = others[0] - first if others else 1
            if in_loop and way == 1:
                return tap_symbol(leaf.variable, first - variable.now)
            index = index_formula(first, way)
            return self.named.sequence_label(variable, index)
        if not isinstance(variable, TapeTrace) or leaf.tap is None or variable.is_total:
            return symbol(leaf.variable)
        if in_loop or variable.tape.reads or variable.axis is None:
            return tap_symbol(leaf.variable, leaf.tap)
        first, *others = variable.axis.index[:2].tolist() or [0]
        index = index_formula(first, others[0] - first if others else 1)
        return self.named.named_at(variable, index)


def loop_offsets(named: Quantities) -> str:
    """Write the indices of values at tap 0: ``step k: x[t] is xₖ₊₁``; "" for a derivative."""
    scan = named.scan
    if scan.parent is not None:
        return ""
    starts = {tape.name: tape.tape.origin for tape in scan.held if tape.kind is not Kind.MIT_MOT}
    starts |= {s.axis.variable: s.now for s in scan.sequences}
    return offsets_text({name: start + scan.first for name, start in starts.items()})


@cached_in_record
def result_notes(trace: Trace) -> tuple[str, ...]:
    """Return sentences about the results: sums of entries, added terms, and cancellation."""
    called = [name.partition(" = ")[0] for name in trace.names]
    notes = [
        f"{name} has {value.size} entries: {successor} is the gradient of their sum"
        for name, successor, value in zip(called, called[1:], trace.outputs, strict=False)
        if name and value.ndim
    ]
    for feed in trace.feeds:
        held = Quantities(trace, feed.scan)
        tape = held.scan.tape(feed.variable)
        if feed.more and tape is not None and tape.gradient_of is not None:
            notes.append(
                f"{called[feed.into] or 'the result'} is the output of Scan {feed.scan + 1} plus "
                "a term that no Scan computes"
            )
    return tuple(filter(None, (*notes, _cancellation_note(trace))))


def _cancellation_note(trace: Trace) -> str:
    """Describe the largest cancellation that makes printed digits unreliable, or return ""."""
    worst, note = HALF, ""
    for number, scan in enumerate(trace.scans):
        speller = Speller(Quantities(trace, number))
        for formula in scan.formulas:
            read = ((leaf, values_of(scan, leaf)) for leaf in formula.leaves)
            used = {
                leaf: values for leaf, values in read if values is not None and values.ndim == 1
            }
            if len(used) < len(formula.leaves):
                continue
            lost = rounding(formula.expression, used)
            if lost is not None and lost.ndim and np.max(lost, initial=0) > worst:
                step, worst = int(np.argmax(lost)), float(np.max(lost))
                digits = ("no digit", "the first digit", "two digits", "three digits")
                note = (
                    f"cancellation: step {step} of Scan {number + 1} writes a difference of nearly "
                    f"equal terms to {speller.position(formula.target, step)}; "
                    f"{digits[max(0, int(-log10(worst)))]} of it and of later values can be trusted"
                )
    return note
