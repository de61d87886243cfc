"""Questions about a tape at a step: its slots, and the number written.

They are asked with a picture of the tape before the step, and answered with one of the step.
"""

from collections.abc import Iterator
from functools import partial
from math import prod
from types import MappingProxyType

import numpy as np

from lab.equations.sentences import StepOf
from lab.notation import Call, Leaf, Number, Term, leaves_of, signed, summands_of
from lab.tape import Tape
from lab.traces.flow import adds_old
from lab.traces.trace import Formula, TapeTrace, Trace
from visual.exercises.answers import Answer, Form, Mistake, Task
from visual.exercises.candidates import Candidate, asked_steps, listed, tapes_of, taps_text
from visual.layout.names import NamedScan
from visual.pictures.moment.moment import asked, moment
from visual.pictures.taps import Use, use_of

PRECISION = 0.005  # relative: what a person computes from the four digits of the picture
CANCELLED = 0.02  # a result this much smaller than what it is made of is not asked for
BESIDE = 2  # slots that are looked at on either side of those which a step touches
REASONS = {
    Use.OVERWRITTEN: "it is read, and then replaced.",
    Use.PRESERVED: "it is read, and kept as it is for later steps.",
    Use.WRITTEN: "it is written, but not read before.",
    Use.UNTOUCHED: "at that tap, the loop neither reads nor writes.",
}


def slots(trace: Trace, use: Use) -> Iterator[Candidate]:
    """Questions for the slots that a step overwrites, or preserves."""
    for number, tape in tapes_of(trace):
        if not (tape.tape.overwritten if use is Use.OVERWRITTEN else tape.tape.preserved):
            continue
        for step in asked_steps(trace.scans[number].steps):
            task = partial(_slot_task, NamedScan(trace, number), step, tape, use)
            yield Candidate(trace.scans[number].order, task)


def _slot_task(named: NamedScan, step: int, held: TapeTrace, use: Use, theme: str) -> Task:
    tape = held.tape
    is_overwritten = use is Use.OVERWRITTEN
    right = tape.positions(step, tape.overwritten if is_overwritten else tape.preserved)
    does = "overwrite" if is_overwritten else "read and leave as it is (preserve)"
    which = "Which slot" if len(right) == 1 else "Which slots"
    outcome = "both read and written" if is_overwritten else "read and not written"
    ending = (
        f"the one at {listed(right)} is" if len(right) == 1 else f"those at {listed(right)} are"
    )
    touched = [tape.row(step, tap) for tap in tape.taps]
    near = range(max(0, min(touched) - BESIDE), min(len(held.initial), max(touched) + BESIDE + 1))
    cells = {named.row_key(held, row): held.position(row) for row in near}
    beside = {}
    for sequence in named.scan.sequences:
        index = int(sequence.axis.index[step])
        told = f"{named.sequence_label(sequence, index)} is read from another loop"
        beside[named.cell_key(sequence.name, index, step)] = (
            f"{told}; it is no slot of {held.name}."
        )
    answer = Answer(
        Form.SLOTS,
        tuple(map(float, right)),
        hints=(
            f"{use.value.capitalize()} are the slots that are {outcome}; the line above the tape "
            "lists the taps.",
            f"At a step, tap t is the slot at position step + t: here at {step} + t.",
        ),
        working=f"Step {step} reads at {_places(tape, step, tape.reads)} and writes at "
        f"{_places(tape, step, tape.writes)}; so {ending} {use.value}.",
        otherwise=f"Step {step} comes nowhere near a slot at that position.",
        incomplete=f"Not all of them: {use.value} slots are missing.",
        mistakes=tuple(
            Mistake(position, _slot_reason(tape, step, position))
            for position in cells.values()
            if position not in right
        ),
        cells=MappingProxyType(cells),
        beside=MappingProxyType({key: told for key, told in beside.items() if key not in cells}),
    )
    question = f"{which} of {held.name} will step {step} of {named.scan.name} {does}?"
    return _task(question, named, step, held, answer, theme)


def _task(
    question: str,
    named: NamedScan,
    step: int,
    held: TapeTrace,
    answer: Answer,
    theme: str,
    formula: str = "",
) -> Task:
    before = asked(named, step, held, theme, formula)
    after = moment(named.trace, theme, scan=named.number + 1, step=step)
    return Task(question, before, after, answer)


def _slot_reason(tape: Tape, step: int, position: int) -> str:
    """What a step does with a position, in words."""
    tap = position - step
    where = f"Position {signed(position)} is tap {signed(tap)} of this step:"
    return f"{where} {REASONS[use_of(tape, tap)]}"


def _places(tape: Tape, step: int, taps: tuple[int, ...]) -> str:
    """``tap 1 (position 3)``."""
    word = "position" if len(taps) == 1 else "positions"
    return f"{taps_text(taps)} ({word} {listed(tape.positions(step, taps))})"


def numbers(trace: Trace) -> Iterator[Candidate]:
    """Questions for the number that a step writes."""
    for number, tape in tapes_of(trace):
        scan = trace.scans[number]
        for formula in scan.formulas:
            if formula.target.argument != tape.argument:
                continue
            for step in asked_steps(scan.steps):
                named = NamedScan(trace, number)
                if _can_be_computed(StepOf(named, step), formula):
                    yield Candidate(scan.order, partial(_number_task, named, step, formula))


def _can_be_computed(one: StepOf, formula: Formula) -> bool:
    """Whether a person can compute it from the digits shown."""
    known = [one.value(leaf) for leaf in leaves_of(formula.expression)]
    made = np.asarray(one.made(formula))
    if made.ndim or not known or any(value is None or value.ndim for value in known):
        return False
    if made.dtype.kind != "f":
        return False
    values = np.array([made, *known], dtype="float64")
    if not np.all(np.isfinite(values)):
        return False
    return bool(made == 0 or abs(made) > CANCELLED * np.max(np.abs(values[1:])))


def _number_task(named: NamedScan, step: int, formula: Formula, theme: str) -> Task:
    one = StepOf(named, step)
    speller, held = one.spell, one.tape(formula.target)
    right = float(one.made(formula))
    tolerance = max(PRECISION * abs(right), 1e-9)
    read = {leaf: one.value(leaf) for leaf in leaves_of(formula.expression)}
    given = ", ".join(
        f"{speller.position(leaf, step)} = {float(value):.6g}"
        for leaf, value in read.items()
        if value is not None
    )
    written, numbers = speller.at(formula, step), speller.numbers(formula, step)
    answer = Answer(
        Form.NUMBER,
        (right,),
        hints=(
            f"The step computes {written}, all of it from the values before the step.",
            f"With the numbers in, that is {numbers.partition(' = ')[2]}.",
        ),
        working=f"{speller.position(formula.target, step)}: {numbers}.",
        otherwise="That is not what the formula gives.",
        mistakes=tuple(
            slip for slip in _slips(one, formula) if abs(slip.value - right) > 2 * tolerance
        ),
        tolerance=tolerance,
    )
    question = (
        f"Which number will step {step} of {named.scan.name} write at position "
        f"{signed(step + (formula.target.tap or 0))} of {held.name}? Before it, {given}."
    )
    return _task(question, named, step, held, answer, theme, written)


def _slips(one: StepOf, formula: Formula) -> Iterator[Mistake]:
    """The numbers that follow from the usual mistakes."""
    right, held = float(one.made(formula)), one.tape(formula.target)
    yield Mistake(-right, "The sign is wrong.")
    for term in summands_of(formula.expression):
        yield from _without_a_factor(one, term, right)
    earlier = one.touched(held).before(one.row(formula.target))
    if earlier is None:
        return
    old = float(earlier)
    yield Mistake(old, "That is what stands in the slot before the step.")
    if adds_old(formula):
        reason = "That leaves out what stood in the slot: it is kept as a term of the sum."
        yield Mistake(right - old, reason)
    else:
        reason = "That adds what stood in the slot, but the slot is overwritten: it is gone."
        yield Mistake(right + old, reason)


def _without_a_factor(one: StepOf, term: Term, right: float) -> Iterator[Mistake]:
    """What the step would write if a product lacked one of its factors."""
    factors = term.arguments if isinstance(term, Call) and term.name == "Mul" else ()
    read = (one.value(f) if isinstance(f, Leaf) else _constant(f) for f in factors)
    known = [float(value) for value in read if value is not None]
    if len(known) < max(2, len(factors)):
        return
    for place, factor in enumerate(factors):
        others = prod(known[:place] + known[place + 1 :])
        told = factor.written if isinstance(factor, Number) else ""
        told = one.spell.position(factor, one.step) if isinstance(factor, Leaf) else told
        yield Mistake(right - prod(known) + others, f"That leaves out the factor {told}.")


def _constant(term: Term) -> float | None:
    return float(term.written) if isinstance(term, Number) else None
