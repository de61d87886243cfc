"""Questions that could be asked about a trace; each is made when it is chosen.

Slots that a step overwrites or keeps, the number that it writes, and the taps of a gradient.  A
question is made from what the trace recorded; its reasons come from the rule of tapes and from the
formulas of the step.  Of a step it is asked with a picture of the tape before it, and answered with
one of the step.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import prod
from types import MappingProxyType

import numpy as np

from lab.equations.events.events import events
from lab.equations.events.records import Read, Write
from lab.equations.spelling import Speller
from lab.notation import Call, Leaf, Number, Term, integers, leaves_of, summands_of
from lab.tape import Kind, Tape
from lab.traces.flow import adds_old
from lab.traces.trace import Formula, TapeTrace, Trace
from visual.exercises.answers import Answer, Form, Mistake, Task
from visual.exercises.before import tape_before
from visual.layout.names import NamedScan
from visual.layout.names import listed as in_words
from visual.pictures.machine.still import moment_of_step
from visual.pictures.taps import Use, conversions, use_of
from visual.pictures.taps import taps as taps_picture

Candidate = tuple[int, Callable[[], Task]]  # order of the Scan; builder of the question
ENDS = 50  # steps of a long loop that are asked about
PRECISION = 0.005  # relative: what a person computes from the four digits of the picture
CANCELLED = 0.02  # a result this much smaller than what it is made of is not asked for
BESIDE = 2  # slots, or taps, that are looked at on either side of those which there are
REASONS = {
    Use.OVERWRITTEN: "it is read, and then replaced.",
    Use.PRESERVED: "it is read, and kept as it is for later steps.",
    Use.WRITTEN: "it is written, but not read before.",
    Use.UNTOUCHED: "at that tap, the loop neither reads nor writes.",
}


def tapes_of(trace: Trace) -> Iterator[tuple[int, TapeTrace]]:
    """All tapes that are no running totals, with the numbers of their Scans."""
    for number, scan in enumerate(trace.scans):
        yield from ((number, tape) for tape in scan.tapes if not tape.is_total)


def asked_steps(steps: int) -> list[int]:
    """The steps that are asked about: all, or of a long loop the first and the last ones."""
    if steps <= 2 * ENDS:
        return list(range(steps))
    return [*range(ENDS), *range(steps - ENDS, steps)]


def listed(numbers: tuple[int, ...]) -> str:
    """``−1, 0``; ``none`` for nothing."""
    return in_words(sorted(numbers), "none")


def taps_text(taps: tuple[int, ...]) -> str:
    """``tap 1`` or ``taps 0, 1``."""
    return f"{'tap' if len(taps) == 1 else 'taps'} {listed(taps)}"


def slots(trace: Trace, use: Use) -> Iterator[Candidate]:
    """Questions for the slots that a step overwrites, or preserves."""
    for number, tape in tapes_of(trace):
        if not (tape.tape.overwritten if use is Use.OVERWRITTEN else tape.tape.preserved):
            continue
        for step in asked_steps(trace.scans[number].steps):
            task = partial(_slot_task, NamedScan(trace, number), step, tape, use)
            yield trace.scans[number].order, task


def _slot_task(named: NamedScan, step: int, held: TapeTrace, use: Use) -> Task:
    tape = held.tape
    is_overwritten = use is Use.OVERWRITTEN
    right = tape.positions(step, tape.overwritten if is_overwritten else tape.preserved)
    does = "overwrite" if is_overwritten else "read and leave as it is (preserve)"
    which = "Which slot" if len(right) == 1 else "Which slots"
    outcome = "both read and written" if is_overwritten else "read and not written"
    ending = (
        f"the one at {listed(right)} is" if len(right) == 1 else f"those at {listed(right)} are"
    )
    cells = {named.row_key(held, row): held.position(row) for row in _near(held, step)}
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
    return _task(question, named, step, held, answer)


def _task(
    question: str,
    named: NamedScan,
    step: int,
    held: TapeTrace,
    answer: Answer,
    formula: str = "",
) -> Task:
    before = tape_before(named, step, held, _near(held, step), formula)
    after = moment_of_step(named.trace, named.number, step)
    return Task(question, before, after, answer)


def _near(held: TapeTrace, step: int) -> range:
    """The rows that a step touches, and some on either side."""
    touched = [held.tape.row(step, tap) for tap in held.tape.taps]
    return range(max(0, min(touched) - BESIDE), min(len(held.initial), max(touched) + BESIDE + 1))


def _slot_reason(tape: Tape, step: int, position: int) -> str:
    """What a step does with a position, in words."""
    tap = position - step
    where = f"Position {integers(position)} is tap {integers(tap)} of this step:"
    return f"{where} {REASONS[use_of(tape, tap)]}"


def _places(tape: Tape, step: int, taps: tuple[int, ...]) -> str:
    """``tap 1 (position 3)``."""
    word = "position" if len(taps) == 1 else "positions"
    return f"{taps_text(taps)} ({word} {listed(tape.positions(step, taps))})"


def numbers(trace: Trace) -> Iterator[Candidate]:
    """Questions for the number that a step writes."""
    run = events(trace)
    for number, tape in tapes_of(trace):
        scan = trace.scans[number]
        for formula in scan.formulas:
            if formula.target.argument != tape.argument:
                continue
            for step in asked_steps(scan.steps):
                write = run.step(number, step).write(tape.argument, formula.target.tap)
                if _can_be_computed(write, formula):
                    named = NamedScan(trace, number)
                    yield scan.order, partial(_number_task, named, step, formula, write)


def _can_be_computed(write: Write, formula: Formula) -> bool:
    """Whether a person can compute it from the digits shown."""
    known = [read.value for read in write.reads]
    is_known = known and len(known) == len(leaves_of(formula.expression))
    if write.new.ndim or not is_known or any(value.ndim for value in known):
        return False
    if write.new.dtype.kind != "f":
        return False
    values = np.array([write.new, *known], dtype="float64")
    if not np.all(np.isfinite(values)):
        return False
    return bool(write.new == 0 or abs(write.new) > CANCELLED * np.max(np.abs(values[1:])))


def _number_task(named: NamedScan, step: int, formula: Formula, write: Write) -> Task:
    held = named.scan.tape(formula.target.argument)
    assert held is not None
    right = float(write.new)
    tolerance = max(PRECISION * abs(right), 1e-9)
    given = ", ".join(f"{read.name} = {float(read.value):.6g}" for read in write.reads)
    numbers = Speller(named).numbers(formula, step)
    answer = Answer(
        Form.NUMBER,
        (right,),
        hints=(
            f"The step computes {write.formula}, all of it from the values before the step.",
            f"With the numbers in, that is {numbers.partition(' = ')[2]}.",
        ),
        working=f"{write.slot}: {numbers}.",
        otherwise="That is not what the formula gives.",
        mistakes=tuple(
            slip for slip in _slips(write, formula) if abs(slip.value - right) > 2 * tolerance
        ),
        tolerance=tolerance,
    )
    question = (
        f"Which number will step {step} of {named.scan.name} write at position "
        f"{integers(step + (formula.target.tap or 0))} of {held.name}? Before it, {given}."
    )
    return _task(question, named, step, held, answer, write.formula)


def _slips(write: Write, formula: Formula) -> Iterator[Mistake]:
    """The numbers that follow from the usual mistakes."""
    right = float(write.new)
    yield Mistake(-right, "The sign is wrong.")
    reads = dict(zip(leaves_of(formula.expression), write.reads, strict=True))
    for term in summands_of(formula.expression):
        yield from _without_a_factor(reads, term, right)
    if write.old is None:
        return
    old = float(write.old)
    yield Mistake(old, "That is what stands in the slot before the step.")
    if adds_old(formula):
        reason = "That leaves out what stood in the slot: it is kept as a term of the sum."
        yield Mistake(right - old, reason)
    else:
        reason = "That adds what stood in the slot, but the slot is overwritten: it is gone."
        yield Mistake(right + old, reason)


def _without_a_factor(reads: Mapping[Leaf, Read], term: Term, right: float) -> Iterator[Mistake]:
    """What the step would write if a product lacked one of its factors."""
    factors = term.arguments if isinstance(term, Call) and term.name == "Mul" else ()
    named: list[tuple[str, float]] = []
    for factor in factors:
        if isinstance(factor, Leaf):
            named.append((reads[factor].name, float(reads[factor].value)))
        elif isinstance(factor, Number):
            named.append((factor.written, float(factor.written)))
    if len(named) < max(2, len(factors)):
        return
    product = prod(value for _, value in named)
    for place, (name, _) in enumerate(named):
        others = prod(value for n, (_, value) in enumerate(named) if n != place)
        yield Mistake(right - product + others, f"That leaves out the factor {name}.")


def taps(trace: Trace) -> Iterator[Candidate]:
    """Questions for the taps of a gradient's tape."""
    for number, tape in tapes_of(trace):
        scan = trace.scans[number]
        if scan.parent is None or tape.kind is not Kind.MIT_MOT:
            continue
        for source in trace.scans[scan.parent].tapes:
            if source.name == tape.gradient_of and not source.is_total:
                for reads in (True, False):
                    yield scan.order, partial(_taps_task, source, tape, reads)


def _taps_task(source: TapeTrace, gradient: TapeTrace, reads: bool) -> Task:
    tape, back = source.tape, gradient.tape
    right = back.reads if reads else back.writes
    does = "read" if reads else "write"
    low, high = min(*back.taps, *tape.taps) - BESIDE, max(*back.taps, *tape.taps) + BESIDE
    if reads:
        rule = (
            "Backwards the signs of the taps turn. What was written has a gradient to be read; "
            "what was read has one to be added to, which is read, too."
        )
    else:
        rule = (
            "Backwards the signs of the taps turn. A gradient is written where the loop read; "
            "where it only wrote, there is nothing to pass on."
        )
    rules = "; ".join(one.words for one in conversions(tape))
    answer = Answer(
        Form.TAPS,
        tuple(map(float, right)),
        hints=(rule, f"Tap by tap: {rules}."),
        working=f"The gradient's step {does}s at {listed(right)}.",
        otherwise=f"No tap of {source.name} becomes that one.",
        incomplete="Not all of them: taps are missing.",
        mistakes=tuple(
            Mistake(tap, _tap_reason(tape, tap, reads))
            for tap in range(low, high + 1)
            if tap not in right
        ),
    )
    pattern = f"reads at {listed(tape.reads)} and writes at {listed(tape.writes)}"
    question = f"{source.name} {pattern}. At which taps does the step of its gradient {does}?"
    return Task(
        question,
        taps_picture(tape, 0, source.name),
        taps_picture(tape, 1, source.name),
        answer,
    )


def _tap_reason(tape: Tape, tap: int, reads: bool) -> str:
    """Why a gradient's tape has no such tap."""
    if not reads and -tap in tape.writes:
        return (
            f"At {integers(-tap)} the loop only writes: that gradient is read at {integers(tap)}, "
            "and then done with."
        )
    if tap in tape.taps:
        return f"{integers(tap)} is a tap of the loop itself; its gradient's tap is another."
    return f"At {integers(-tap)}, the loop neither reads nor writes."
