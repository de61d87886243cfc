"""Compare two runs of the same loops, and find their first difference."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from lab.records import freeze, record_of_arrays
from lab.traces.trace import Access, TapeTrace, Trace

LoopPath = tuple[str | int, ...]


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

    Scans are paired by the name of their loop and the orders of the derivatives up to the Scan.
    Tapes are paired by name and by differentiated variable, and writes by tap.  `sides` are the
    labels of the two runs in messages.
    """
    runs = _writes(true), _writes(broken)
    unlike, apart = list[str](), list[tuple[int, int, _Write, _Write]]()
    for run, other, side in zip(runs, reversed(runs), sides, strict=True):
        paths = {path for path, *_ in other}
        for key in run.keys() - other.keys():
            write = run[key]
            label = write.label if key[0] in paths else write.scan_label
            unlike.append(f"{label}: {side} only")
    written, differing = 0, 0
    for key, write in runs[0].items():
        if (twin := runs[1].get(key)) is None:
            continue
        values, others = write.access.values, twin.access.values
        if values.shape != others.shape:
            shapes = f"{values.shape} {sides[0]}, but {others.shape} {sides[1]}"
            unlike.append(f"{write.label}: values of shape {shapes}")
            continue
        is_apart = far(values, others)
        written, differing = written + is_apart.size, differing + int(is_apart.sum())
        if is_apart.any():
            apart.append((write.scan, int(np.argmax(is_apart)), write, twin))
    first = None
    if apart:
        _, step, write, twin = min(apart, key=lambda each: each[:2])
        first = FirstDifference(
            scan=write.scan,
            other_scan=twin.scan,
            step=step,
            tape=write.tape.argument,
            other_tape=twin.tape.argument,
            tap=write.access.tap,
            row=int(write.access.rows[step]),
            true=freeze(write.access.values[step]),
            broken=freeze(twin.access.values[step]),
        )
    return Contrast(first, written, differing, tuple(sorted(set(unlike))))


@dataclass(frozen=True, eq=False)
class _Write:
    """The writes of a tape at one tap, in Scan number `scan` of a run."""

    scan: int
    name: str
    tape: TapeTrace
    access: Access

    @property
    def scan_label(self) -> str:
        """The number and name of the Scan."""
        return f"Scan {self.scan + 1}, {self.name}"

    @property
    def label(self) -> str:
        """The label of the writes in messages: Scan, tape, and tap."""
        return f"{self.scan_label}: the tape {self.tape.name} at tap {self.access.tap}"


def _writes(trace: Trace) -> dict[tuple[LoopPath, str, str | None, int, int], _Write]:
    """Return a map from the path of a Scan, a tape, and a tap to the writes at this tap.

    A number distinguishes tapes with the same name and differentiated variable.
    """
    writes = {}
    for path, number in _paths(trace).items():
        scan, counts = trace.scans[number], Counter[tuple[str, str | None]]()
        for tape in scan.buffers:
            name = tape.name, tape.gradient_of
            for access in tape.writes:
                key = (path, *name, counts[name], access.tap)
                writes[key] = _Write(number, scan.name, tape, access)
            counts[name] += 1
    return writes


def far(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return, for every entry along axis 0, whether two arrays differ by more than rounding.

    The tolerance is √eps, relative to the largest value of both arrays at that entry.  Infinities
    and nan differ from all other values.
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


def _paths(trace: Trace) -> dict[LoopPath, int]:
    """Map the path of every Scan to its number.

    A path contains the name of the loop, and the orders of the derivatives up to the Scan.
    """
    numbers: dict[LoopPath, int] = {}
    earlier: list[LoopPath] = []
    for number, scan in enumerate(trace.scans):
        before: LoopPath = (scan.name,) if scan.parent is None else earlier[scan.parent]
        path, count = (*before, scan.order), 1
        while path in numbers:
            count += 1
            path = (*before, scan.order, count)
        numbers[path] = number
        earlier.append(path)
    return numbers
