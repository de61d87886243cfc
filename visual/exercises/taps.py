"""Questions for the taps of a gradient."""

from collections.abc import Iterator
from functools import partial

from lab.notation import signed
from lab.tape import Kind, Tape
from lab.traces.trace import TapeTrace, Trace
from visual.exercises.answers import Answer, Form, Mistake, Task
from visual.exercises.candidates import Candidate, listed, tapes_of
from visual.pictures.taps import conversions
from visual.pictures.taps import taps as taps_picture

BESIDE = 2


def taps(trace: Trace) -> Iterator[Candidate]:
    """Questions for the taps of a gradient's tape."""
    for number, tape in tapes_of(trace):
        scan = trace.scans[number]
        if scan.parent is None or tape.kind is not Kind.MIT_MOT:
            continue
        for source in trace.scans[scan.parent].tapes:
            if source.name == tape.gradient_of and not source.is_total:
                for reads in (True, False):
                    yield Candidate(scan.order, partial(_taps_task, source, tape, reads))


def _taps_task(source: TapeTrace, gradient: TapeTrace, reads: bool, theme: str) -> Task:
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
    rules = "; ".join(one.words.partition(";")[0] for one in conversions(tape))
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
        taps_picture(tape, 0, theme, source.name),
        taps_picture(tape, 1, theme, source.name),
        answer,
    )


def _tap_reason(tape: Tape, tap: int, reads: bool) -> str:
    """Why a gradient's tape has no such tap."""
    if not reads and -tap in tape.writes:
        return (
            f"At {signed(-tap)} the loop only writes: that gradient is read at {signed(tap)}, "
            "and then done with."
        )
    if tap in tape.taps:
        return f"{signed(tap)} is a tap of the loop itself; its gradient's tap is another."
    return f"At {signed(-tap)}, the loop neither reads nor writes."
