"""The quantities of a loop on the tapes of its Scan, and their gradients on the backward Scan."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from lab.equations.quantities import index_of
from lab.errors import listing
from lab.notation import Leaf, counted, value_symbol
from lab.records import cached_property
from lab.traces.trace import ParameterTrace, ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.layout.names import NamedScan
from visual.layout.table import Cell
from visual.scene.theme import Role

START = -1  # the row of the initial values


@dataclass(frozen=True)
class StoredQuantity:
    """A quantity with its value and its gradient; `name` is unique within its side."""

    name: str
    value: Cell
    gradient: Cell | None


@dataclass(frozen=True)
class TapeSide:
    """The values and gradients on a kind of tape, in rows: START, the steps, and a last row.

    Arrows are pairs of the names of quantities: `value_arrows` connect values, `gradient_arrows`
    connect gradients. `sums` are sentences about the memory.
    """

    rows: dict[int, list[StoredQuantity]] = field(default_factory=dict)
    value_arrows: list[tuple[str, str]] = field(default_factory=list)
    gradient_arrows: list[tuple[str, str]] = field(default_factory=list)
    sums: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class ScanTapes:
    """The tapes of a loop's Scan in a trace, and of its backward Scan."""

    trace: Trace

    @cached_property
    def forward(self) -> NamedScan:
        """The Scan of the loop."""
        return NamedScan(self.trace, 0)

    @cached_property
    def backward(self) -> NamedScan:
        """The backward Scan of the loop."""
        return next(scan for scan in NamedScan.each(self.trace) if scan.scan.parent == 0)

    def side(self, shown: Sequence[int]) -> TapeSide:
        """Return the values and gradients of the shown steps."""
        forward, backward = self.forward.scan, self.backward.scan
        start = [
            self._of_slot(tape, row, Role.INPUT)
            for tape in forward.held
            for row in np.setdiff1d(np.arange(len(tape.final)), tape.writes[0].rows).tolist()
        ]
        side = TapeSide({START: [*start, *filter(None, map(self._summed, forward.parameters))]})
        for step in shown:
            side.rows[step] = [
                *(
                    self._of_slot(tape, int(tape.writes[0].rows[step]), Role.INTERMEDIATE)
                    for tape in forward.held
                ),
                *filter(None, (self._of_reading(s, step) for s in forward.sequences)),
            ]
        side.value_arrows.extend(_arrows(forward, shown))
        side.gradient_arrows.extend(_arrows(backward, [forward.steps - 1 - step for step in shown]))
        side.sums.extend(_sums(forward, backward))
        return side

    def _gradient_slot(self, tape: TapeTrace, row: int) -> tuple[TapeTrace, int] | None:
        """Return the tape and the row of the gradient wrt a value of the loop, or None."""
        for other in self.backward.scan.tapes:
            if other.gradient_of == tape.name and not other.is_total and other.axis is not None:
                rows = np.flatnonzero(other.axis.index == _index(tape, row))
                if len(rows):
                    return other, int(rows[0])
        return None

    def _of_slot(self, tape: TapeTrace, row: int, role: Role) -> StoredQuantity:
        label, backward = self.forward.tape_label(tape, row), self.backward
        value = _cell(tape.final[row], label, role, f", slot {row} of {tape.name}")
        slot, gradient = self._gradient_slot(tape, row), None
        if slot is not None:
            other, gradient_row = slot
            label, details = (
                backward.tape_label(other, gradient_row),
                f", slot {gradient_row} of {other.name}",
            )
            role = self._gradient_role(other, gradient_row)
            gradient = _cell(other.final[gradient_row], label, role, details)
        return StoredQuantity(_slot(tape.name, _index(tape, row)), value, gradient)

    def _of_reading(self, sequence: SequenceTrace, step: int) -> StoredQuantity | None:
        """Return a sequence's value in a step, or None if its gradient is unused."""
        slot, index = self._reading_gradient(sequence, step), int(sequence.axis.index[step])
        if slot is None or not slot[0].used:
            return None
        (tape, gradient_row) = slot
        name = value_symbol(sequence.name, index)
        value = _cell(sequence.values[step], name, Role.INPUT)
        label = self.backward.tape_label(tape, gradient_row)
        whole = self.backward.whole_label(tape, gradient_row)
        details = "" if label == whole else f", a part of {whole}"
        gradient = _cell(tape.final[gradient_row], label, Role.RESULT, details)
        return StoredQuantity(_share(tape, gradient_row), value, gradient)

    def _reading_gradient(self, sequence: SequenceTrace, step: int) -> tuple[TapeTrace, int] | None:
        """Return the output and the row of the gradient wrt a value of a sequence, or None."""
        gradient_row, index = self.forward.scan.steps - 1 - step, sequence.axis.index[step]
        for tape in self.backward.scan.outputs:
            if tape.gradient_of == sequence.name and _index(tape, gradient_row) == index:
                return tape, gradient_row
        return None

    def _summed(self, parameter: ParameterTrace) -> StoredQuantity | None:
        """Return a parameter with the running total of its gradient, or None without a gradient."""
        name = parameter.name
        for tape in self.backward.scan.tapes:
            if tape.is_total and tape.gradient_of == name and tape.used:
                label, details = self.backward.tape_label(tape, None), ", to which every step adds"
                gradient = _cell(tape.final[-1], label, Role.RESULT, details)
                return StoredQuantity(name, _cell(parameter.value, name, Role.INPUT), gradient)
        return None

    def _gradient_role(self, tape: TapeTrace, row: int) -> Role:
        if tape.used and row in self.backward.wanted_rows(tape):
            return Role.RESULT
        if any(row in write.rows for write in tape.writes):
            return Role.INTERMEDIATE
        return Role.SEED if np.any(tape.final[row] != 0) else Role.UNNEEDED


def _cell(value: np.ndarray, label: str, role: Role, details: str = "") -> Cell:
    return Cell(role, label + details, np.asarray(value), label=label, key=f"{label} of the Scan")


def _arrows(scan: ScanTrace, steps: Iterable[int]) -> Iterator[tuple[str, str]]:
    """Yield arrows from the slots that a formula reads to the slot that the formula writes."""
    for step in steps:
        for formula in scan.formulas:
            end = _slot_of(scan, formula.target, step)
            for leaf in dict.fromkeys(formula.leaves):
                start = _slot_of(scan, leaf, step)
                if start and end and start != end:
                    yield start, end


def _slot_of(scan: ScanTrace, leaf: Leaf, step: int) -> str:
    """Return the name of the quantity that a leaf reads or writes, or an empty text."""
    tape = scan.variable(leaf)
    if not isinstance(tape, TapeTrace) or leaf.tap is None or tape.is_total:
        return ""
    if any(tape is output for output in scan.outputs) and scan.parent is not None:
        return _share(tape, step)
    row = tape.tape.row(step, leaf.tap)
    return _slot(tape.gradient_of or tape.name, _index(tape, row))


def _share(tape: TapeTrace, row: int) -> str:
    """Return the name of the gradient of a sequence's value for a tap."""
    return f"{_slot(tape.gradient_of or tape.name, _index(tape, row))} of {tape.argument}"


def _slot(name: str, index: int) -> str:
    return f"{name}[{index}]"


def _index(tape: TapeTrace, row: int) -> int:
    index = index_of(tape, row)
    return row if index is None else index


def _sums(forward: ScanTrace, backward: ScanTrace) -> Iterator[str]:
    states = [*forward.tapes, *forward.outputs]
    gradients = [*backward.tapes, *backward.outputs]
    value_bytes, gradient_bytes = (
        sum(_allocated(tape).nbytes for tape in group) for group in (states, gradients)
    )
    sizes = f"{value_bytes:,} bytes of numbers, {gradient_bytes:,} bytes of gradients"
    yield f"Scan: {_slots(states)}, and for the backward pass {_slots(gradients)}: {sizes}"
    names = (*(s.name for s in forward.sequences), *(p.name for p in forward.parameters))
    if names:
        yield f"only read, not counted: {listing(dict.fromkeys(names))}"


def _allocated(tape: TapeTrace) -> np.ndarray:
    """Return all slots of a tape, including the slots that a loop with `until` leaves unused."""
    return max(tape.initial, tape.final, key=len)


def _slots(tapes: Iterable[TapeTrace]) -> str:
    """Return ``21 slots of x (7 used)`` for every name, summed over tapes with the same name."""
    allocated, used = Counter[str](), Counter[str]()
    for tape in tapes:
        allocated[tape.name] += len(_allocated(tape))
        used[tape.name] += len(tape.final)
    return listing(
        f"{counted(count, 'slot')} of {name}"
        + ("" if used[name] == count else f" ({used[name]:,} used)")
        for name, count in allocated.items()
    )
