"""A step of a tape and its transpose: by the rules of routing, and as traced by the next Scan."""

from dataclasses import dataclass

import numpy as np

from lab.notation import Leaf
from lab.traces.trace import ScanTrace, StepValue, TapeTrace, Trace


@dataclass(frozen=True, eq=False)
class TransposedStep:
    """A step of a loop's tape, its transpose as routing, and the gradient's tape at that step.

    All arrays count rows as `tape` does.  `read` and `brought` have a row for every read tap,
    `written` and `taken` for every write tap.
    """

    tape: TapeTrace
    reverse: TapeTrace
    step: int
    before: np.ndarray
    read: np.ndarray
    written: np.ndarray
    after: np.ndarray
    gradient_after: np.ndarray
    taken: np.ndarray
    left: np.ndarray
    brought: np.ndarray
    gradient_before: np.ndarray
    traced: np.ndarray


def differentiated(trace: Trace) -> dict[int, tuple[TapeTrace, int, TapeTrace]]:
    """Every Scan that another one differentiates, with a tape, that Scan, and its tape.

    Of several tapes it is the first that overwrites a tap, else the first.
    """
    found: dict[int, tuple[TapeTrace, int, TapeTrace]] = {}
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
            found.setdefault(scan.parent, first)
    return found


def transposed_step(
    source: ScanTrace, tape: TapeTrace, later: ScanTrace, reverse: TapeTrace, step: int
) -> TransposedStep:
    """Step `step` of a Scan with `tape`, and of the Scan `later` that holds its gradient."""
    from lab import structural  # imported when a picture is asked for

    back = source.steps - 1 - step
    gradient_after = reverse.contents(back - 1)[::-1]
    before = tape.contents(step - 1)[: len(gradient_after)]  # of a loop that stopped early
    written = np.stack([access.values[step] for access in tape.writes])
    brought = np.stack([_brought(later, reverse, -tap, back) for tap in tape.tape.reads])
    moved, pullback = structural.vjp(structural.tape_step(tape.tape, step), [before, written])
    nothing = np.zeros_like(brought)
    left, taken = pullback(np.concatenate([nothing, gradient_after]))
    gradient_before, _ = pullback(np.concatenate([brought, gradient_after]))
    reads = len(tape.tape.reads)
    return TransposedStep(
        tape=tape,
        reverse=reverse,
        step=step,
        before=before,
        read=moved[:reads],
        written=written,
        after=moved[reads:],
        gradient_after=gradient_after,
        taken=taken,
        left=left,
        brought=brought,
        gradient_before=gradient_before,
        traced=reverse.contents(back)[::-1],
    )


def _brought(scan: ScanTrace, tape: TapeTrace, tap: int, step: int) -> np.ndarray:
    """What a step of a gradient adds at a tap: the value it writes, without what was there."""
    access = next(access for access in tape.writes if access.tap == tap)
    target = Leaf(tape.name, tap, tape.argument)
    source = next(r.source for r in scan.results if r.target == target)
    made = scan.inside[source] if isinstance(source, int) else None
    if made is None or made.operation != "Add" or target not in made.inputs:
        return np.asarray(access.values[step])
    others = [one for one in made.inputs if one != target]
    if len(others) == 1 and isinstance(others[0], int):
        term: StepValue = scan.inside[others[0]]
        if len(term.values):
            return np.asarray(term.values[step])
    assert access.before is not None  # a slot that accumulates was read
    return np.asarray(access.values[step] - access.before[step])
