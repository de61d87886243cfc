"""One step of a tape, its transpose as routing, and the same step of the backward Scan."""

from dataclasses import dataclass

import numpy as np

from lab.equations.events.events import Events
from lab.traces.trace import TapeTrace, Trace


@dataclass(frozen=True, eq=False)
class TransposedStep:
    """A step of a loop's tape, its transpose as routing, and the traced tape of the gradient.

    All arrays have the rows of `tape`, except `read` and `gradient_read`, with a row for each read
    tap, and `written` and `gradient_written`, with a row for each write tap. `gradient_rest` is the
    gradient wrt the slots that the step does not write; the other slots contain zero.
    """

    tape: TapeTrace
    reverse: TapeTrace
    step: int
    before: np.ndarray
    read: np.ndarray
    written: np.ndarray
    after: np.ndarray
    gradient_after: np.ndarray
    gradient_written: np.ndarray
    gradient_rest: np.ndarray
    gradient_read: np.ndarray
    gradient_before: np.ndarray
    traced: np.ndarray


def differentiated_scans(trace: Trace) -> dict[int, tuple[TapeTrace, int, TapeTrace]]:
    """Return for each differentiated Scan a tape, the backward Scan, and the gradient's tape.

    The tape is the first tape that overwrites a slot or, without such a tape, the first tape.
    """
    result: dict[int, tuple[TapeTrace, int, TapeTrace]] = {}
    for later, scan in enumerate(trace.scans):
        if scan.parent is None or scan.steps != trace.scans[scan.parent].steps or not scan.steps:
            continue
        pairs = [
            (tape, later, reverse)
            for tape in trace.scans[scan.parent].tapes
            for reverse in scan.tapes
            if reverse.gradient_of == tape.name
            and not tape.is_total
            and not reverse.is_total
            and len(tape.initial) >= len(reverse.initial)
        ]
        if pairs:
            first = max(pairs, key=lambda pair: bool(pair[0].tape.overwritten))
            result.setdefault(scan.parent, first)
    return result


def transposed_step(
    trace: Trace, tape: TapeTrace, later: int, reverse: TapeTrace, step: int
) -> TransposedStep:
    """Return a step of `tape`, its transpose, and the same step of Scan `later` on `reverse`."""
    from lab import structural  # only this picture imports the package

    back = trace.scans[later].steps - 1 - step
    gradient_after = reverse.contents(back - 1)[::-1]
    before = tape.contents(step - 1)[: len(gradient_after)]  # shorter if the loop stopped early
    written = np.stack([access.values[step] for access in tape.writes])
    event = Events(trace).step(later, back)
    gradient_read = np.zeros((len(tape.tape.reads), *before.shape[1:]), before.dtype)
    for n, tap in enumerate(tape.tape.reads):
        write = event.write(reverse.argument, -tap)
        is_replaced = tap in tape.tape.overwritten
        total = sum(term.value for term in write.terms)
        gradient_read[n] = write.new if is_replaced else total
    results, pullback = structural.vjp(structural.tape_step(tape.tape, step), [before, written])
    rest, gradient_written = pullback(
        np.concatenate([np.zeros_like(gradient_read), gradient_after])
    )
    gradient_before, _ = pullback(np.concatenate([gradient_read, gradient_after]))
    reads = len(tape.tape.reads)
    return TransposedStep(
        tape=tape,
        reverse=reverse,
        step=step,
        before=before,
        read=results[:reads],
        written=written,
        after=results[reads:],
        gradient_after=gradient_after,
        gradient_written=gradient_written,
        gradient_rest=rest,
        gradient_read=gradient_read,
        gradient_before=gradient_before,
        traced=reverse.contents(back)[::-1],
    )
