"""The data of a step of a tape, of its transpose, and of the same step of the backward Scan."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lab.equations.events.events import Events
from lab.traces.trace import TapeTrace, Trace

Values = Mapping[int, np.ndarray | None]  # the values in slots, by row; None is uninitialized


@dataclass(frozen=True, eq=False)
class TransposedStep:
    """A step of the tape of a loop, the transpose of the step, and the traced tape of the gradient.

    All arrays and values have the rows of `tape`. `read` are the values in the slots that the step
    reads, and `written` the values in the slots that the step writes. The gradients wrt these
    values are `gradient_read` and `gradient_written`. `gradient_rest` is the gradient wrt the slots
    that the step does not write, with zero for the other slots. `spent` are the slots that no later
    step reads: their gradients remain on the `traced` tape.
    """

    tape: TapeTrace
    reverse: TapeTrace
    step: int
    before: Values
    read: Values
    written: Values
    after: Values
    gradient_after: np.ndarray
    gradient_written: Values
    gradient_rest: np.ndarray
    gradient_read: Values
    gradient_before: np.ndarray
    traced: np.ndarray
    spent: frozenset[int]


def differentiated_scans(trace: Trace) -> dict[int, tuple[TapeTrace, int, TapeTrace]]:
    """Return for each differentiated Scan a tape, the backward Scan, and the tape of its gradient.

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

    back, taps = trace.scans[later].steps - 1 - step, tape.tape
    reads, writes = ([taps.row(step, tap) for tap in some] for some in (taps.reads, taps.writes))
    gradient_after = reverse.contents(back - 1)[::-1]
    before = tape.contents(step - 1)[: len(gradient_after)]  # shorter if the loop stopped early
    written = np.stack([access.values[step] for access in tape.writes])
    event = Events(trace).step(later, back)
    gradient_read = np.zeros((len(reads), *before.shape[1:]), before.dtype)
    for n, tap in enumerate(taps.reads):
        write = event.write(reverse.argument, -tap)
        total = sum(term.value for term in write.terms)
        gradient_read[n] = write.new if tap in taps.overwritten else total
    results, pullback = structural.vjp(structural.tape_step(taps, step), [before, written])
    rest, gradient_written = pullback(
        np.concatenate([np.zeros_like(gradient_read), gradient_after])
    )
    gradient_before, _ = pullback(np.concatenate([gradient_read, gradient_after]))

    def initialized(values: np.ndarray, steps: int) -> Values:
        """Return the values by row, with None for slots that `steps` steps leave uninitialized."""
        filled = {int(access.rows[n]) for access in tape.writes for n in range(steps)}
        empty = {*np.flatnonzero(tape.unwritten).tolist()} - filled
        return {row: None if row in empty else value for row, value in enumerate(values)}

    unread = {*taps.writes} - {*taps.reads}
    return TransposedStep(
        tape=tape,
        reverse=reverse,
        step=step,
        before=initialized(before, step),
        read=dict(zip(reads, results[: len(reads)], strict=True)),
        written=dict(zip(writes, written, strict=True)),
        after=initialized(results[len(reads) :], step + 1),
        gradient_after=gradient_after,
        gradient_written=dict(zip(writes, gradient_written, strict=True)),
        gradient_rest=rest,
        gradient_read=dict(zip(reads, gradient_read, strict=True)),
        gradient_before=gradient_before,
        traced=reverse.contents(back)[::-1],
        spent=frozenset(
            taps.row(n, tap) for n in range(step, trace.scans[later].steps) for tap in unread
        ),
    )
