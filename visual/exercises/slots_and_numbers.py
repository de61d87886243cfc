"""Questions about a tape at a step: its slots, the number written, and where a seed has come to."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np

from lab.equations.spelling import Speller
from lab.notation import Leaf, leaves_of, signed
from lab.tape import Tape
from lab.traces.flow import Value, Write, adds_old, flow
from lab.traces.trace import Formula, ParameterTrace, SequenceTrace, TapeTrace, Trace
from visual.exercises.answers import Answer, Form, Mistake, Task
from visual.exercises.asked_step import AskedStep, after, before
from visual.exercises.candidates import Candidate, asked_steps, listed, tapes_of, taps_text
from visual.layout.names import NamedScan
from visual.pictures.taps import Use, use_of
from visual.scene.theme import Role

PRECISION = 0.005  # relative: what a person computes from the four digits of the picture
MOST_SEEDS = 8  # of one tape; every one is followed through the loop
CANCELLED = 0.02  # a result this much smaller than what it is made of is not asked for


def slots(trace: Trace, use: Use) -> Iterator[Candidate]:
    """Questions for the slots that a step overwrites, or preserves."""
    for number, tape in tapes_of(trace):
        if not (tape.tape.overwritten if use is Use.OVERWRITTEN else tape.tape.preserved):
            continue
        for step in asked_steps(trace.scans[number].steps):
            moment = AskedStep(NamedScan(trace, number), tape, step)
            yield Candidate(trace.scans[number].order, partial(_slot_task, moment, use))


def _slot_task(moment: AskedStep, use: Use, theme: str) -> Task:
    tape, step, scan = moment.tape.tape, moment.step, moment.scan
    chosen = tape.overwritten if use is Use.OVERWRITTEN else tape.preserved
    right = tape.positions(step, chosen)
    does = "overwrite" if use is Use.OVERWRITTEN else "read and leave as it is (preserve)"
    which = "Which slot" if len(right) == 1 else "Which slots"
    question = f"{which} of {moment.tape.name} will step {step} of {scan.name} {does}?"
    shown = [moment.tape.position(row) for row in moment.rows]
    mistakes = tuple(
        Mistake(position, _slot_reason(moment, position))
        for position in shown
        if position not in right
    )
    outcome = "both read and written" if use is Use.OVERWRITTEN else "read and not written"
    rule = (
        f"At a step, tap t is the slot at position step + t. {use.value.capitalize()} are the "
        f"slots at those taps that are {outcome}; the line above the tape lists the taps."
    )
    ending = (
        f"the one at {listed(right)} is" if len(right) == 1 else f"those at {listed(right)} are"
    )
    working = (
        f"Step {step} reads at {_places(tape, step, tape.reads)} and writes at "
        f"{_places(tape, step, tape.writes)}; so {ending} {use.value}."
    )
    beside = {
        key: f"{name} is read from another loop; it is no slot of {moment.tape.name}."
        for _, name, key in moment.readings()
    }
    answer = Answer(
        Form.SLOTS,
        tuple(map(float, right)),
        (rule,),
        working,
        otherwise=f"Step {step} comes nowhere near a slot at that position.",
        incomplete=f"That is right, but {use.value} slots are missing.",
        mistakes=mistakes,
        cells=MappingProxyType({moment.key(r): moment.tape.position(r) for r in moment.rows}),
        beside=MappingProxyType(
            {key: words for key, words in beside.items() if key not in map(moment.key, moment.rows)}
        ),
    )
    title = f"{moment.tape.name}, step {step}"
    return Task(question, before(moment, title, theme), after(moment, theme), answer)


def _slot_reason(moment: AskedStep, position: int) -> str:
    """What a step does with a position, in words."""
    tap = position - moment.step
    where = f"Position {signed(position)} is tap {signed(tap)} of this step:"
    words: Mapping[Use, str] = {
        Use.OVERWRITTEN: "it is read, and then replaced.",
        Use.PRESERVED: "it is read, and kept as it is for later steps.",
        Use.WRITTEN: "it is written, but not read before.",
        Use.UNTOUCHED: "at that tap, the loop neither reads nor writes.",
    }
    return f"{where} {words[use_of(moment.tape.tape, tap)]}"


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
                moment = AskedStep(NamedScan(trace, number), tape, step)
                if _can_be_computed(moment, formula):
                    yield Candidate(scan.order, partial(_number_task, moment, formula))


def _can_be_computed(moment: AskedStep, formula: Formula) -> bool:
    """Whether a person can compute it from the digits shown."""
    known = [value for _, value in _used(moment, formula)]
    made = _written(moment, formula)
    if made.ndim or not known or any(value is None or value.ndim for value in known):
        return False
    values = np.array([made, *known], dtype="float64") if made.dtype.kind == "f" else np.array(None)
    if values.dtype.kind != "f" or not np.all(np.isfinite(values)):
        return False
    return bool(made == 0 or abs(made) > CANCELLED * np.max(np.abs(values[1:])))


def _used(moment: AskedStep, formula: Formula) -> list[tuple[Leaf, np.ndarray | None]]:
    """What a formula reads, each once, with its value at the step."""
    found = []
    for leaf in leaves_of(formula.expression):
        variable, value = moment.scan.variable(leaf), None
        if isinstance(variable, TapeTrace):
            value = next((a.values[moment.step] for a in variable.reads if a.tap == leaf.tap), None)
        elif isinstance(variable, SequenceTrace):
            value = variable.values[moment.step]
        elif isinstance(variable, ParameterTrace):
            value = variable.value
        found.append((leaf, value))
    return found


def _written(moment: AskedStep, formula: Formula) -> np.ndarray:
    access = next(a for a in moment.tape.writes if a.tap == formula.target.tap)
    return np.asarray(access.values[moment.step])


def _number_task(moment: AskedStep, formula: Formula, theme: str) -> Task:
    speller, step = Speller(moment.named), moment.step
    right = float(_written(moment, formula))
    tolerance = max(PRECISION * abs(right), 1e-9)
    given = ", ".join(
        f"{speller.position(leaf, step)} = {float(value):.6g}"
        for leaf, value in _used(moment, formula)
        if value is not None
    )
    target = speller.position(formula.target, step)
    written = speller.at(formula, step)
    position = step + (formula.target.tap or 0)
    working = f"{target}: {speller.numbers(formula, step)}."
    answer = Answer(
        Form.NUMBER,
        (right,),
        hints=(f"The step computes {written}, all of it from the values before the step.",),
        working=working,
        otherwise="That is not what the formula gives.",
        mistakes=_slips(moment, formula, right, tolerance),
        tolerance=tolerance,
    )
    title = f"{moment.tape.name}, step {step}"
    question = (
        f"Which number will step {step} of {moment.scan.name} write at position "
        f"{signed(position)} of {moment.tape.name}? Before it, {given}."
    )
    moment = replace(moment, formula=written)
    return Task(question, before(moment, title, theme), after(moment, theme), answer)


def _slips(
    moment: AskedStep, formula: Formula, right: float, tolerance: float
) -> tuple[Mistake, ...]:
    """The numbers that follow from the usual mistakes."""
    access = next(a for a in moment.tape.writes if a.tap == formula.target.tap)
    earlier = moment.touched.before(int(access.rows[moment.step]))
    found = [Mistake(-right, "The sign is wrong.")]
    if earlier is not None:
        old = float(earlier)
        stays = "That is what stands in the slot before the step."
        found.append(Mistake(old, stays))
        if adds_old(formula):
            reason = "That leaves out what stood in the slot: it is kept as a term of the sum."
            found.append(Mistake(right - old, reason))
        else:
            reason = "That adds what stood in the slot, but the slot is overwritten: it is gone."
            found.append(Mistake(right + old, reason))
    return tuple(m for m in found if abs(m.value - right) > 2 * tolerance)


def arrivals(trace: Trace) -> Iterator[Candidate]:
    """Questions for the step at which a seed has come to the gradient of the start."""
    found = None
    for number, tape in tapes_of(trace):
        scan = trace.scans[number]
        if scan.parent is None or trace.scans[scan.parent].parent is not None:
            continue
        seeds = [r for r, v in enumerate(tape.initial) if np.any(v != 0) and not tape.unwritten[r]]
        seeds = seeds[:MOST_SEEDS]
        starts = NamedScan(trace, number).wanted_rows(tape)
        found = flow(trace) if found is None else found
        if len(starts) == len(tape.initial):
            continue  # nothing tells the start from the rest
        for seed in seeds:
            steps = _reached(found.writes, number, tape, seed)
            for start in sorted(starts):
                if start in steps and start != seed:
                    marks = ((seed, Role.SEED), (start, Role.RESULT))
                    moment = AskedStep(NamedScan(trace, number), tape, 0, marks=marks)
                    yield Candidate(scan.order, partial(_arrival_task, moment, seed, start, steps))


def _reached(
    writes: Mapping[Value, Write], number: int, tape: TapeTrace, seed: int
) -> dict[int, int]:
    """For every row that something of the `seed` comes to, the first step that puts it there."""
    carriers, steps = {(tape.argument, seed, 0)}, dict[int, int]()
    for made, write in writes.items():
        if made.scan != number:
            continue
        if any(
            (s.argument, s.row, s.version) in carriers for s in write.sources if s.scan == number
        ):
            carriers.add((made.argument, made.row, made.version))
            if made.argument == tape.argument:
                steps.setdefault(made.row, write.step)
    return steps


def _arrival_task(
    moment: AskedStep, seed: int, start: int, steps: dict[int, int], theme: str
) -> Task:
    tape, right = moment.tape, steps[start]
    there, here = moment.label(start), moment.label(seed)
    at, goal = signed(tape.position(seed)), signed(tape.position(start))
    path = ", ".join(
        f"step {step} {moment.label(row)}"
        for row, step in sorted(steps.items(), key=lambda item: item[1])
        if step <= right
    )
    answer = Answer(
        Form.STEP,
        (float(right),),
        hints=(
            f"Step s reads at position s + t for its read taps t = {listed(tape.tape.reads)}, and "
            "what it reads goes into the slots that it writes, at "
            f"{taps_text(tape.tape.writes)}.",
        ),
        working=f"The seed comes to these, one after another: {path}.",
        otherwise=f"There is no such step; the steps are 0 to {moment.scan.steps - 1}.",
        mistakes=tuple(
            Mistake(step, _arrival_reason(step, right))
            for step in range(moment.scan.steps)
            if step != right
        ),
    )
    question = (
        f"A seed stands in {here}, at position {at} of {tape.name}. Which step of "
        f"{moment.scan.name} is the first to bring something of it to {there}, the gradient of a "
        f"value that the loop started from, at position {goal}?"
    )
    title = f"{tape.name}, from position {at} to {goal}"
    final = AskedStep(moment.named, tape, right)
    return Task(question, before(moment, title, theme), after(final, theme), answer)


def _arrival_reason(step: int, right: int) -> str:
    if step < right:
        return f"After step {step} nothing of the seed has come so far."
    return f"At step {step} something of the seed is there already. Steps are counted from 0."
