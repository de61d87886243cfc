"""What can be asked about a trace, and how each kind of question is made.

A question is made from what the trace recorded; its reasons come from the rule of tapes and
from the formulas of the step.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from types import MappingProxyType

from lab.tape import Tape
from lab.traces.trace import TapeTrace, Trace
from visual.exercises.answers import Answer, Form, Mistake
from visual.exercises.moment import Moment, after, before
from visual.layout.names import signed
from visual.pictures.taps import Use, use_of
from visual.scene.formats import Picture

ENDS = 50


class Ask(StrEnum):
    """The kinds of exercises."""

    OVERWRITTEN = "overwritten"
    PRESERVED = "preserved"
    TAPS = "taps"
    NUMBER = "number"
    ARRIVAL = "arrival"
    SCANS = "scans"


@dataclass(frozen=True, eq=False)
class Task:
    """A question, the picture that goes with it, the picture of the answer, and the answer.

    Questions of a lesson's own may have no pictures.
    """

    question: str
    shown: Picture | None
    revealed: Picture | None
    answer: Answer


@dataclass(frozen=True, eq=False)
class Candidate:
    """One question that could be asked; it is made when it is chosen."""

    order: int
    make: Callable[[str], Task]


def tapes_of(trace: Trace) -> Iterator[tuple[int, TapeTrace]]:
    """All tapes that are no running totals, with the numbers of their Scans."""
    for number, scan in enumerate(trace.scans):
        yield from ((number, tape) for tape in scan.tapes if not tape.is_total)


def asked_steps(steps: int) -> list[int]:
    """The steps that are asked about: all, or of a long loop the first and the last ones."""
    if steps <= 2 * ENDS:
        return list(range(steps))
    return [*range(ENDS), *range(steps - ENDS, steps)]


def slots(trace: Trace, kind: Ask) -> Iterator[Candidate]:
    """Questions for the slots that a step overwrites, or preserves."""
    for number, tape in tapes_of(trace):
        if not (tape.tape.overwritten if kind is Ask.OVERWRITTEN else tape.tape.preserved):
            continue
        for step in asked_steps(trace.scans[number].steps):
            moment = Moment(trace, number, tape, step)
            yield Candidate(trace.scans[number].order, partial(_slot_task, moment, kind))


def _slot_task(moment: Moment, kind: Ask, theme: str) -> Task:
    tape, step, scan = moment.tape.tape, moment.step, moment.scan
    chosen = tape.overwritten if kind is Ask.OVERWRITTEN else tape.preserved
    right = tape.positions(step, chosen)
    does = "overwrite" if kind is Ask.OVERWRITTEN else "read and leave as it is (preserve)"
    which = "Which slot" if len(right) == 1 else "Which slots"
    question = f"{which} of {moment.tape.name} will step {step} of {scan.name} {does}?"
    shown = [moment.tape.position(row) for row in moment.rows]
    mistakes = tuple(
        Mistake(position, _slot_reason(moment, position))
        for position in shown
        if position not in right
    )
    outcome = "both read and written" if kind is Ask.OVERWRITTEN else "read and not written"
    rule = (
        f"At a step, tap t is the slot at position step + t. {kind.value.capitalize()} are the "
        f"slots at those taps that are {outcome}; the line above the tape lists the taps."
    )
    ending = (
        f"the one at {listed(right)} is" if len(right) == 1 else f"those at {listed(right)} are"
    )
    working = (
        f"Step {step} reads at {_places(tape, step, tape.reads)} and writes at "
        f"{_places(tape, step, tape.writes)}; so {ending} {kind.value}."
    )
    beside = {
        key: f"{name} is read from another loop; it is no slot of {moment.tape.name}."
        for _, name, key in moment.readings()
    }
    answer = Answer(
        Form.SLOTS,
        tuple(map(float, right)),
        rule,
        working,
        otherwise=f"Step {step} comes nowhere near a slot at that position.",
        incomplete=f"That is right, but {kind.value} slots are missing.",
        mistakes=mistakes,
        cells=MappingProxyType({moment.key(r): moment.tape.position(r) for r in moment.rows}),
        beside=MappingProxyType(
            {key: words for key, words in beside.items() if key not in map(moment.key, moment.rows)}
        ),
    )
    title = f"{moment.tape.name}, step {step}"
    return Task(question, before(moment, title, theme), after(moment, title, theme), answer)


def _slot_reason(moment: Moment, position: int) -> str:
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


def listed(numbers: tuple[int, ...]) -> str:
    """``−1, 0``; ``none`` for nothing."""
    return ", ".join(map(signed, sorted(numbers))) or "none"


def taps_text(taps: tuple[int, ...]) -> str:
    """``tap 1`` or ``taps 0, 1``."""
    return f"{'tap' if len(taps) == 1 else 'taps'} {listed(taps)}"
