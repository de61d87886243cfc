"""Where two runs of the same loops first part: Scan, step, tape and slot."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from lab.records import freeze, record_of_arrays
from lab.traces.trace import Access, ScanTrace, TapeTrace, Trace

Path = tuple[str | int, ...]


@record_of_arrays
class Parting:
    """The first value that two runs write differently.

    `scan` and `tape` are its Scan's number in the first trace and its tape's number among the
    arguments of that Scan, `other_scan` and `other_tape` the same in the second trace.
    `true` and `broken` are the values that `step` writes at `tap`, into `row`.
    """

    scan: int
    other_scan: int
    step: int
    tape: int
    other_tape: int
    tap: int
    row: int
    true: np.ndarray
    broken: np.ndarray


@dataclass(frozen=True)
class Contrast:
    """Two runs, held against one another.

    `parting` is the first difference, None if there is none; `written` how many values the
    steps write that both runs have, and `differing` how many of them are not the same.
    `unlike` tells in words what only one of the runs has, and so was not compared.
    """

    parting: Parting | None
    written: int
    differing: int
    unlike: tuple[str, ...] = ()


RULES = ("by the true rule", "by the broken rule")


def contrast(true: Trace, broken: Trace, sides: tuple[str, str] = RULES) -> Contrast:
    """Compare what two runs write, slot by slot, in the order in which the first one ran.

    Scans belong together if they are derivatives of the same loop by the same way, and their
    tapes if they have the same name, and hold the gradient of the same variable.  `sides` are
    what the two runs are called where only one of them has something.
    """
    paths, others = _paths(true), _paths(broken)
    parting, written, differing = None, 0, 0
    lone = [(true, paths[p], sides[0]) for p in paths if p not in others]
    lone += [(broken, others[p], sides[1]) for p in others if p not in paths]
    unlike = [f"Scan {n + 1}, {run.scans[n].name}: {side} only" for run, n, side in lone]
    for path in (p for p in paths if p in others):
        number, other = paths[path], others[path]
        scan, twin = true.scans[number], broken.scans[other]
        called = f"Scan {number + 1}, {scan.name}"
        if scan.steps != twin.steps:
            counts = f"{scan.steps} steps {sides[0]}, but {twin.steps} {sides[1]}"
            unlike.append(f"{called}: {counts}")
            continue
        first, second = tapes_by_name(scan), tapes_by_name(twin)
        unlike += [
            f"{called}: the tape {name[0]} {side} only"
            for mine, its, side in ((first, second, sides[0]), (second, first, sides[1]))
            for name in mine
            if name not in its
        ]
        pairs = [(first[name], second[name]) for name in first if name in second]
        unlike += [
            f"{called}: the tape {tape.name} {differently}"
            for tape, other_tape in pairs
            if (differently := _differently(tape, other_tape))
        ]
        compared = list(_compared(pairs))
        written += sum(pair.apart.size for pair in compared)
        differing += sum(int(pair.apart.sum()) for pair in compared)
        parting = parting or _first(compared, number, other)
    return Contrast(parting, written, differing, tuple(unlike))


@dataclass(frozen=True, eq=False)
class _Pair:
    """What two Scans write to one tape at one tap, and at which steps it is not the same."""

    tape: TapeTrace
    twin: TapeTrace
    true: Access
    broken: Access
    apart: np.ndarray

    @property
    def step(self) -> int:
        """The first step at which it is not the same."""
        return int(np.argmax(self.apart))


def tapes_by_name(scan: ScanTrace) -> dict[tuple[str, str | None, int], TapeTrace]:
    """The tapes of a Scan by their names, what they are gradients of, and a count of those."""
    tapes: dict[tuple[str, str | None, int], TapeTrace] = {}
    for tape in scan.held:
        count = sum(key[:2] == (tape.name, tape.gradient_of) for key in tapes)
        tapes[tape.name, tape.gradient_of, count] = tape
    return tapes


def _differently(tape: TapeTrace, twin: TapeTrace) -> str:
    """What makes two tapes that belong together incomparable; empty where nothing does."""
    if set(tape.tape.writes) != set(twin.tape.writes):
        return f"is written at {tape.tape.writes}, but at {twin.tape.writes}"
    if tape.final.shape[1:] != twin.final.shape[1:]:
        return f"has rows of shape {tape.final.shape[1:]}, but {twin.final.shape[1:]}"
    return ""


def _compared(pairs: Iterable[tuple[TapeTrace, TapeTrace]]) -> Iterator[_Pair]:
    """Tape by tape, and tap by tap."""
    for tape, twin in pairs:
        if _differently(tape, twin):
            continue
        by_tap = {write.tap: write for write in twin.writes}
        for true in tape.writes:
            broken = by_tap[true.tap]
            yield _Pair(tape, twin, true, broken, far(true.values, broken.values))


def _first(compared: Iterable[_Pair], scan: int, other: int) -> Parting | None:
    """The earliest difference, if there is any; at the same step, that of the first tape."""
    apart = [pair for pair in compared if pair.apart.any()]
    if not apart:
        return None
    pair = min(apart, key=lambda pair: pair.step)
    return Parting(
        scan=scan,
        other_scan=other,
        step=pair.step,
        tape=pair.tape.argument,
        other_tape=pair.twin.argument,
        tap=pair.true.tap,
        row=int(pair.true.rows[pair.step]),
        true=freeze(pair.true.values[pair.step]),
        broken=freeze(pair.broken.values[pair.step]),
    )


def far(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """For every entry along the first axis, whether two arrays differ by more than rounding.

    They do beyond half of their digits, measured by the larger of the two entries.  What is not
    finite differs from all but the same.
    """
    if not first.size:
        return np.zeros(len(first), dtype=bool)
    first, second = (a.reshape(len(a), -1) for a in (first, second))
    kind = np.result_type(first, second)
    if kind.kind not in "fc":
        return np.any(first != second, axis=1)
    digits = np.sqrt(np.finfo(kind).eps)
    with np.errstate(invalid="ignore", over="ignore"):
        finite = np.isfinite(first) & np.isfinite(second)
        sizes = np.where(finite, np.maximum(np.abs(first), np.abs(second)), 0)
        room = digits * sizes.max(axis=1, keepdims=True)
        apart = ~(finite & (np.abs(first - second) <= room))
    alike = (first == second) | ((first != first) & (second != second))  # infinities and nan
    return np.any(apart & ~alike, axis=1)


def _paths(trace: Trace) -> dict[Path, int]:
    """Every Scan by the way that leads to it: its loop, and the orders at which it was derived."""
    numbers: dict[Path, int] = {}
    ways: list[Path] = []
    for number, scan in enumerate(trace.scans):
        before: Path = (scan.name,) if scan.parent is None else ways[scan.parent]
        path, again = (*before, scan.order), 1
        while path in numbers:
            again += 1
            path = (*before, scan.order, again)
        numbers[path] = number
        ways.append(path)
    return numbers
