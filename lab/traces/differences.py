"""Compare two runs of the same loops, and find their first difference."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from lab.records import freeze, record_of_arrays
from lab.traces.trace import Access, ScanTrace, TapeTrace, Trace

Path = tuple[str | int, ...]


@record_of_arrays
class FirstDifference:
    """The first value that two runs write differently.

    In the first trace, `scan` is the number of the Scan, and `tape` the number of the tape among
    the arguments of that Scan.  `other_scan` and `other_tape` are the same numbers in the second
    trace.  `true` and `broken` are the values that `step` writes to `row` at `tap`.
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
    """A comparison of two runs.

    `first` is the first difference; None if the runs are equal.  `written` is the number of values
    that both runs write, and `differing` the number of values that differ.  `unlike` describes the
    parts that only one run has; these parts are not compared.
    """

    first: FirstDifference | None
    written: int
    differing: int
    unlike: tuple[str, ...] = ()


RULES = ("by the correct rule", "by the faulty rule")


def contrast(true: Trace, broken: Trace, sides: tuple[str, str] = RULES) -> Contrast:
    """Compare the values that two runs write, in the order of the first run.

    Scans are paired if they are derivatives of the same loop along the same path.  Tapes are paired
    by name and by differentiated variable.  `sides` are the labels of the two runs in messages.
    """
    paths, others = _paths(true), _paths(broken)
    first, written, differing = None, 0, 0
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
        tapes, twins = tapes_by_name(scan), tapes_by_name(twin)
        unlike += [
            f"{called}: the tape {name[0]} {side} only"
            for mine, its, side in ((tapes, twins, sides[0]), (twins, tapes, sides[1]))
            for name in mine
            if name not in its
        ]
        pairs = [(tapes[name], twins[name]) for name in tapes if name in twins]
        unlike += [
            f"{called}: the tape {tape.name} {differently}"
            for tape, other_tape in pairs
            if (differently := _mismatch(tape, other_tape))
        ]
        compared = list(_write_pairs(pairs))
        written += sum(pair.apart.size for pair in compared)
        differing += sum(int(pair.apart.sum()) for pair in compared)
        first = first or _find_first(compared, number, other)
    return Contrast(first, written, differing, tuple(unlike))


@dataclass(frozen=True, eq=False)
class _Pair:
    """The writes of two Scans at one tap of a tape; `apart` marks the steps that differ."""

    tape: TapeTrace
    twin: TapeTrace
    true: Access
    broken: Access
    apart: np.ndarray

    @property
    def step(self) -> int:
        """The first step that differs."""
        return int(np.argmax(self.apart))


def tapes_by_name(scan: ScanTrace) -> dict[tuple[str, str | None, int], TapeTrace]:
    """Return the tapes of a Scan by name, differentiated variable, and a number.

    The number distinguishes tapes with the same name and differentiated variable.
    """
    tapes: dict[tuple[str, str | None, int], TapeTrace] = {}
    for tape in scan.held:
        count = sum(key[:2] == (tape.name, tape.gradient_of) for key in tapes)
        tapes[tape.name, tape.gradient_of, count] = tape
    return tapes


def _mismatch(tape: TapeTrace, twin: TapeTrace) -> str:
    """Return the reason why two tapes cannot be compared, or an empty text if they can."""
    if set(tape.tape.writes) != set(twin.tape.writes):
        return f"is written at {tape.tape.writes}, but at {twin.tape.writes}"
    if tape.final.shape[1:] != twin.final.shape[1:]:
        return f"has rows of shape {tape.final.shape[1:]}, but {twin.final.shape[1:]}"
    return ""


def _write_pairs(pairs: Iterable[tuple[TapeTrace, TapeTrace]]) -> Iterator[_Pair]:
    """Yield a `_Pair` for each write tap of two tapes; skip tapes that cannot be compared."""
    for tape, twin in pairs:
        if _mismatch(tape, twin):
            continue
        by_tap = {write.tap: write for write in twin.writes}
        for true in tape.writes:
            broken = by_tap[true.tap]
            yield _Pair(tape, twin, true, broken, far(true.values, broken.values))


def _find_first(compared: Iterable[_Pair], scan: int, other: int) -> FirstDifference | None:
    """Return the earliest difference; at equal steps, the difference on the first tape."""
    apart = [pair for pair in compared if pair.apart.any()]
    if not apart:
        return None
    pair = min(apart, key=lambda pair: pair.step)
    return FirstDifference(
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
    """Return, for every entry along axis 0, whether two arrays differ by more than rounding.

    The tolerance is half of the digits, relative to the larger entry.  Infinities and nan differ
    from all other values.
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
    """Map the path of every Scan to its number.

    A path contains the name of the loop, and the orders of the derivatives up to the Scan.
    """
    numbers: dict[Path, int] = {}
    earlier: list[Path] = []
    for number, scan in enumerate(trace.scans):
        before: Path = (scan.name,) if scan.parent is None else earlier[scan.parent]
        path, count = (*before, scan.order), 1
        while path in numbers:
            count += 1
            path = (*before, scan.order, count)
        numbers[path] = number
        earlier.append(path)
    return numbers
