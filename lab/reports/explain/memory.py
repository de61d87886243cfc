"""The arrays that a gradient stores: values of the forward Scan, and tapes of the backward Scan."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lab.errors import listing
from lab.gradients.decisions import Decisions, ReadingGroup
from lab.notation import tap_symbol
from lab.reports.tables import size_text
from lab.scans.node import LoopVariable
from lab.scans.slices import constant_value
from lab.tape import Kind


@dataclass(frozen=True)
class SavedArray:
    """An array that a gradient stores: one row per step, and `more` rows.

    `steps` is the number of steps, or None if only a run determines it.  `shape` is the shape of a
    row; a length is None if only a run determines it.
    """

    name: str
    purpose: str
    steps: int | None
    more: int
    shape: tuple[int | None, ...]
    dtype: str

    @property
    def bytes(self) -> int | None:
        """The size in bytes; None if only a run determines it."""
        lengths = (None if self.steps is None else self.steps + self.more, *self.shape)
        known = [length for length in lengths if length is not None]
        item = np.dtype(self.dtype).itemsize
        return int(np.prod(known, dtype=object)) * item if len(known) == len(lengths) else None

    @property
    def cells(self) -> tuple[str, str, str]:
        """Name, size, and purpose: ``x``, ``5 × 8 bytes = 40 bytes``, ``tape``."""
        rows = f"(n + {self.more})" if self.more else "n"
        if self.steps is not None:
            rows = f"{self.steps + self.more:,}"
        sizes = [rows, *("?" if length is None else f"{length:,}" for length in self.shape)]
        size = f"{' × '.join(sizes)} × {np.dtype(self.dtype).itemsize} bytes"
        if self.bytes is not None:
            size += f" = {size_text(self.bytes)}"
        return self.name, size, self.purpose


def saved_arrays(derivation: Decisions, symbols: Sequence[str]) -> Iterator[SavedArray]:
    """Yield the arrays that the backward Scan of a derivation reads and fills.

    `symbols` are the names of the arguments of the forward Scan, in their order.
    """
    steps = constant_value(derivation.steps.forward)
    names = dict(zip(derivation.forward.variables, symbols, strict=True))

    def array(part: LoopVariable, purpose: str, more: int, name: str = "") -> SavedArray:
        row = (part.inner_outputs or part.inner_inputs)[0].type
        name = name or f"gradient of {names[part]}"
        return SavedArray(name, purpose, steps, more, tuple(row.shape), str(row.dtype))

    taps: dict[LoopVariable, list[int]] = {}
    for reading in derivation.readings:
        part = reading.source
        if reading.group is ReadingGroup.NIT_SOT_GRADIENT:
            yield array(part, "one value per step", 0)
        elif part.kind is not Kind.SEQUENCE:
            taps.setdefault(part, []).append(reading.tap)
    for part, read in taps.items():
        values = listing(tap_symbol(names[part], tap) for tap in dict.fromkeys(read))
        purpose = f"saved values: every backward step reads {values}"
        yield array(part, purpose, _more(part), names[part])
    for reverse in derivation.states:
        yield array(reverse.state, "tape", _more(reverse.state))
    for total in derivation.totals:
        if total.source.kind is Kind.SEQUENCE:
            yield array(total.source, "one value per step", 0)
        else:
            yield array(total.source, "running sum; compiled code stores fewer rows", 1)


def _more(part: LoopVariable) -> int:
    """Return the difference between the number of rows of a buffer and the number of steps."""
    return part.tape.origin + max(part.tape.taps) if part.kind.is_state else 0
