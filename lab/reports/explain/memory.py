"""What a gradient keeps in memory: forward values for its steps, and its own tapes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.errors import listing
from lab.gradients.decisions import Decisions, ReadingGroup
from lab.notation import size_text, tapped
from lab.scans.node import LoopVariable
from lab.scans.slices import constant_value
from lab.tape import Kind


@dataclass(frozen=True)
class Stored:
    """An array that a gradient needs: `rows` and `more` rows for every step, or as many in all.

    `steps` is the number of steps if it is known; `shape` is that of a row, with None where
    only a run can tell.
    """

    name: str
    why: str
    steps: int | None
    more: int
    shape: tuple[int | None, ...]
    dtype: str

    @property
    def rows(self) -> str:
        """How many rows: ``5``, or ``n + 1``."""
        if self.steps is not None:
            return f"{self.steps + self.more:,}"
        return f"(n + {self.more})" if self.more else "n"

    @property
    def bytes(self) -> int | None:
        """Its size, where that is known before a run."""
        if self.steps is None:
            return None
        count = self.steps + self.more
        for size in self.shape:
            if size is None:
                return None
            count *= size
        return count * np.dtype(self.dtype).itemsize

    def __str__(self) -> str:
        sizes = [self.rows, *("?" if size is None else f"{size:,}" for size in self.shape)]
        told = f" = {size_text(self.bytes)}" if self.bytes is not None else ""
        item = np.dtype(self.dtype).itemsize
        return f"{self.name}: {' × '.join(sizes)} × {item} bytes{told}; {self.why}"


def stored(derivation: Decisions, symbols: Sequence[str]) -> tuple[Stored, ...]:
    """What the backward Scan of a derivation reads of the forward one, and what it fills itself.

    `symbols` are what the arguments of the forward Scan are called, in their order.
    """
    made = constant_value(derivation.steps.made)
    names = dict(zip(derivation.forward.variables, symbols, strict=True))
    kept: dict[LoopVariable, list[int]] = {}
    found = []
    for reading in derivation.readings:
        part = reading.source
        if reading.group is ReadingGroup.NIT_SOT_GRADIENT:
            found.append(_array(f"gradient of {names[part]}", "one a step", made, 0, part))
        elif part.kind is not Kind.SEQUENCE:
            kept.setdefault(part, []).append(reading.tap)
    for part, taps in kept.items():
        read = listing(tapped(names[part], tap) for tap in dict.fromkeys(taps))
        why = f"every backward step reads {read} of the loop"
        found.append(_array(names[part], why, made, _more(part), part))
    for reverse in derivation.states:
        part = reverse.state
        found.append(_array(f"gradient of {names[part]}", "its tape", made, _more(part), part))
    for total in derivation.totals:
        part, name = total.source, f"gradient of {names[total.source]}"
        if part.kind is Kind.SEQUENCE:
            found.append(_array(name, "one a step", made, 0, part))
        else:
            why = "a running total over the steps, of which compiled code keeps less"
            found.append(_array(name, why, made, 1, part))
    return tuple(found)


def _more(part: LoopVariable) -> int:
    """How many rows a buffer has beside one for every step."""
    return part.tape.origin + max(part.tape.taps) if part.kind.is_state else 0


def _array(name: str, why: str, made: int | None, more: int, part: LoopVariable) -> Stored:
    row = (part.inner_outputs or part.inner_inputs)[0].type
    return Stored(name, why, made, more, tuple(row.shape), str(row.dtype))
