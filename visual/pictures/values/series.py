"""What a trace holds over its steps and indices: columns of numbers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from lab.traces.trace import TapeTrace
from visual.layout.names import NamedScan

SUMS = "steps"  # of a running total: how many it sums up


@dataclass(frozen=True, eq=False)
class Series:
    """One quantity: ``values[i]``, a number or an array, at ``index[i]``, in ascending order.

    `across` says what the indices count.
    """

    name: str
    index: np.ndarray
    values: np.ndarray
    across: str = "index"

    @property
    def is_scalar(self) -> bool:
        """Whether the quantity is one number at every index."""
        return self.values.ndim == 1

    def within(self, steps: range | None) -> "Series":
        """Those of the indices that the shown steps read or make; all without `steps`."""
        if steps is None:
            return self
        kept = (self.index >= steps.start) & (self.index <= steps.stop)
        return replace(self, index=self.index[kept], values=self.values[kept])

    @property
    def table(self) -> np.ndarray:
        """Index by entry: matrices are flattened, row by row."""
        return self.values.reshape(len(self.values), -1)


def series_of(named: NamedScan) -> tuple[Series, ...]:
    """The states of a loop, or the gradients on the tapes of a backward Scan, and its outputs.

    Tapes are taken as the last step left them, rows that nobody wrote excepted, and the
    running totals of parameters by the number of steps that they sum up.
    """
    return tuple(_series(named, tape) for tape in named.scan.held)


def growth_of(loop: NamedScan) -> tuple[Series, ...]:
    """|dC/dx|, |dC′/dx| … over the index of every state of a loop, for every order."""
    return tuple(
        _magnitude(_series(named, tape))
        for named in NamedScan.each(loop.trace)
        if named.scan.parent == loop.number
        for tape in named.scan.tapes
        if tape.gradient_of is not None and not tape.is_total
    )


def _series(named: NamedScan, tape: TapeTrace) -> Series:
    rows = np.flatnonzero(_filled(tape))
    values = as_numbers(tape.final[rows])
    if tape.axis is not None and len(tape.axis.index) >= len(tape.final):
        index, across = tape.axis.index[rows], "index"
    elif tape.is_total:
        index, across = rows - tape.tape.origin + 1, SUMS
    else:
        index, across = rows - tape.tape.origin, "pos"
    order = np.argsort(index, kind="stable")
    return Series(named.row_name(tape), index[order], values[order], across)


def _filled(tape: TapeTrace) -> np.ndarray:
    """Which rows hold something: all that were given or written."""
    filled = ~tape.unwritten[: len(tape.final)]  # a loop that stops early leaves a shorter tape
    for write in tape.writes:
        filled[write.rows] = True
    return filled


def as_numbers(values: np.ndarray) -> np.ndarray:
    """`values` as 64-bit floats; of complex numbers, how large they are."""
    return (np.abs(values) if values.dtype.kind == "c" else values).astype("float64")


def _magnitude(series: Series) -> Series:
    """The absolute values, or of arrays the norms, which neither overflow nor vanish early."""
    sizes = np.abs(series.table)
    largest = sizes.max(axis=1, initial=0.0)
    usable = np.isfinite(largest) & (largest > 0)
    scale = np.where(usable, largest, 1.0)
    with np.errstate(invalid="ignore", over="ignore"):
        norms = scale * np.sqrt(np.sum((sizes / scale[:, None]) ** 2, axis=1))
    bars = "|" if series.is_scalar else "‖"
    name = f"{bars}{series.name}{bars}"
    return Series(name, series.index, np.where(usable, norms, largest), series.across)


def thinned(values: np.ndarray, buckets: int) -> np.ndarray:
    """Which of `values` to draw as a line: of every bucket of neighbours the extremes.

    Both ends are kept, and of every one of `buckets` stretches the first smallest and the
    first largest finite value and the first that is not finite, in their order; everything if
    that would save nothing.
    """
    if len(values) <= 3 * buckets + 2:
        return np.arange(len(values))
    kept = {0, len(values) - 1}
    for start, stop in stretches(len(values), buckets):
        part = values[start:stop]
        finite = np.isfinite(part)
        if finite.any():
            kept.add(start + int(np.argmin(np.where(finite, part, np.inf))))
            kept.add(start + int(np.argmax(np.where(finite, part, -np.inf))))
        if not finite.all():
            kept.add(start + int(np.argmin(finite)))
    return np.array(sorted(kept))


def stretches(length: int, count: int) -> Iterator[tuple[int, int]]:
    """`length` things in at most `count` stretches of neighbours, nearly equally long."""
    edges = np.unique(np.linspace(0, length, min(length, count) + 1).round().astype(int)).tolist()
    yield from pairwise(edges)


def pooled(table: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """`table` with at most `rows` by `columns` entries: of every block its largest in size.

    A block with a nan or an infinity in it shows that.
    """
    across = list(stretches(table.shape[1], columns))
    down = list(stretches(table.shape[0], rows))
    if len(down) == table.shape[0] and len(across) == table.shape[1]:
        return table
    return np.array([[_largest(table[a:b, c:d]) for c, d in across] for a, b in down])


def _largest(block: np.ndarray) -> float:
    flat = block.reshape(-1)
    sizes = np.where(np.isnan(flat), np.inf, np.abs(flat))
    return float(flat[np.argmax(sizes)])
