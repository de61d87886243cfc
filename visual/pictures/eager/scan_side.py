"""A loop on the tapes of its Scan, with gradients on the tapes of the backward Scan."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lab.eager.records import RecordedValue
from lab.errors import listing
from lab.notation import Leaf, leaves_of, value_symbol
from lab.records import cached_property
from lab.traces.trace import ParameterTrace, ScanTrace, SequenceTrace, TapeTrace, Trace
from visual.layout.headings import block_heading
from visual.layout.names import NamedScan
from visual.pictures.eager.sides import SLOTS, START, Entry, Keys, QuantityLine, TapeSide
from visual.pictures.eager.words import counted
from visual.scene.theme import Role


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
        _, notes = block_heading(self.backward)
        notes = ["a slot for every step, allocated before the loop runs", *notes[1:]]
        side = TapeSide("the states and tapes of its Scan", tuple(notes), SLOTS)
        side.rows[START] = [
            self._slot_line(tape, row, Role.INPUT)
            for tape in forward.held
            for row in np.setdiff1d(np.arange(len(tape.final)), tape.writes[0].rows).tolist()
        ]
        kept, more = (_bytes(scan.held, forward.steps) for scan in (forward, backward))
        side.costs[START], side.turns[START] = f"{kept[0]:,} bytes", f"{more[0]:,} bytes"
        for step in shown:
            made = [
                self._slot_line(tape, written_row(tape, step), Role.INTERMEDIATE)
                for tape in forward.held
            ]
            reads = [self._reading_line(s, step) for s in forward.sequences]
            side.rows[step] = [*made, *filter(None, reads)]
            side.costs[step] = f"{kept[1]:,} bytes"
            side.turns[step] = f"to backward step {forward.steps - 1 - step}: {more[1]:,} bytes"
        for parameter in forward.parameters:
            side.rows[START].extend(self._parameter_lines(parameter))
        side.ways.extend(_ways(forward, shown))
        side.returns.extend(_ways(backward, [forward.steps - 1 - step for step in shown]))
        side.sums.extend(_sums(forward, backward))
        return side

    def slot_keys(self, tape: TapeTrace, row: int) -> Keys:
        """Return the keys of the value in a slot of the loop, and of its gradient."""
        value = self.forward.cell_key(tape.name, _index(tape, row), row)
        slot = self._gradient_slot(tape, row)
        if slot is None:
            return Keys(value, f"gradient of {value}")
        other, there = slot
        return Keys(value, self.backward.cell_key(other.name, _index(other, there), there))

    def _gradient_slot(self, tape: TapeTrace, row: int) -> tuple[TapeTrace, int] | None:
        """Return tape and row of the gradient wrt the value in a slot of the loop, or None."""
        for other in self.backward.scan.tapes:
            if other.gradient_of == tape.name and not other.is_total and other.axis is not None:
                rows = np.flatnonzero(other.axis.index == _index(tape, row))
                if len(rows):
                    return other, int(rows[0])
        return None

    def _slot_line(self, tape: TapeTrace, row: int, role: Role) -> QuantityLine:
        keys, backward = self.slot_keys(tape, row), self.backward
        label = self.forward.tape_label(tape, row)
        meaning = f"{label}, slot {row} of {tape.name}"
        value = _entry(tape.final[row], label, keys.value, role, meaning)
        slot, gradient = self._gradient_slot(tape, row), None
        if slot is not None:
            other, there = slot
            label = backward.tape_label(other, there)
            meaning = f"{label}, slot {there} of {other.name}"
            role = self._gradient_role(other, there)
            gradient = _entry(other.final[there], label, keys.gradient, role, meaning)
        return QuantityLine(_slot(tape.name, _index(tape, row)), value, gradient)

    def _reading_line(self, sequence: SequenceTrace, step: int) -> QuantityLine | None:
        """Return the line of a sequence's value in a step, or None if its gradient is unused."""
        slot, index = self._reading_gradient(sequence, step), int(sequence.axis.index[step])
        if slot is None or not slot[0].used:
            return None
        (tape, there), keys = slot, self.reading_keys(sequence, step)
        value = _entry(
            sequence.values[step], value_symbol(sequence.name, index), keys.value, Role.INPUT
        )
        label, whole = (
            named(tape, there) for named in (self.backward.tape_label, self.backward.whole_label)
        )
        meaning = label if label == whole else f"{label}, a part of {whole}"
        gradient = _entry(tape.final[there], label, keys.gradient, Role.RESULT, meaning)
        return QuantityLine(_share(tape, there), value, gradient)

    def _reading_gradient(self, sequence: SequenceTrace, step: int) -> tuple[TapeTrace, int] | None:
        """Return output and row of the gradient wrt a sequence's value in a step, or None."""
        there, index = self.forward.scan.steps - 1 - step, sequence.axis.index[step]
        for tape in self.backward.scan.outputs:
            if tape.gradient_of == sequence.name and _index(tape, there) == index:
                return tape, there
        return None

    def reading_keys(self, sequence: SequenceTrace, step: int) -> Keys:
        """Return the keys of a sequence's value in a step, and of its gradient."""
        index = int(sequence.axis.index[step])
        value = self.forward.cell_key(sequence.name, index, step)
        slot = self._reading_gradient(sequence, step)
        if slot is None:
            return Keys(value, f"gradient of {value}")
        own = self.backward.cell_key(slot[0].name, index, slot[1])
        return Keys(value, f"{own} in step {step}")

    def _parameter_lines(self, parameter: ParameterTrace) -> Iterator[QuantityLine]:
        """Yield the line of a parameter, with the running total of its gradient, if it is used."""
        for tape in self.backward.scan.tapes:
            if tape.is_total and tape.gradient_of == parameter.name and tape.used:
                name, keys = parameter.name, parameter_keys(parameter.name)
                value = _entry(parameter.value, name, keys.value, Role.INPUT)
                label = self.backward.tape_label(tape, None)
                meaning = f"{label}, to which every step adds"
                gradient = _entry(tape.final[-1], label, keys.gradient, Role.RESULT, meaning)
                yield QuantityLine(name, value, gradient, "summed")

    def _gradient_role(self, tape: TapeTrace, row: int) -> Role:
        if tape.used and row in self.backward.wanted_rows(tape):
            return Role.RESULT
        if any(row in write.rows for write in tape.writes):
            return Role.INTERMEDIATE
        return Role.SEED if np.any(tape.final[row] != 0) else Role.UNNEEDED


def written_row(tape: TapeTrace, step: int) -> int:
    """Return the row of a loop's tape that a step writes."""
    (write,) = tape.writes
    return int(write.rows[step])


def parameter_keys(name: str) -> Keys:
    """Return the keys of a parameter and its gradient."""
    return Keys(f"0:{name}:value", f"0:{name}:total of the gradient")


def _entry(value: np.ndarray, label: str, key: str, role: Role, meaning: str = "") -> Entry:
    return Entry(RecordedValue(np.asarray(value)), label, meaning or label, key, role)


def _ways(scan: ScanTrace, steps: Iterable[int]) -> Iterator[tuple[str, str]]:
    """Yield arrows from the slots that a formula reads to its target, by names of lines."""
    steps = list(steps)
    for formula in scan.formulas:
        leaves = tuple(dict.fromkeys(leaves_of(formula.expression)))
        for step in steps:
            end = _slot_of(scan, formula.target, step)
            for leaf in leaves:
                start = _slot_of(scan, leaf, step)
                if start and end and start != end:
                    yield start, end


def _slot_of(scan: ScanTrace, leaf: Leaf, step: int) -> str:
    """Return the name of the line that a leaf reads or writes, or an empty text."""
    tape = scan.variable(leaf)
    if not isinstance(tape, TapeTrace) or leaf.tap is None or tape.is_total:
        return ""
    if any(tape is output for output in scan.outputs) and scan.parent is not None:
        return _share(tape, step)
    row = tape.tape.row(step, leaf.tap)
    return _slot(tape.gradient_of or tape.name, _index(tape, row))


def _share(tape: TapeTrace, row: int) -> str:
    """Return the name of the line of a sequence's gradient for a tap."""
    return f"{_slot(tape.gradient_of or tape.name, _index(tape, row))} of {tape.argument}"


def _slot(name: str, index: int) -> str:
    return f"{name}[{index}]"


def _index(tape: TapeTrace, row: int) -> int:
    return row if tape.axis is None else int(tape.axis.index[row])


def _bytes(tapes: Sequence[TapeTrace], steps: int) -> tuple[int, int]:
    """Return the bytes of the slots before the first step, and of the slots of each step."""
    rows = [(len(tape.final), tape.final.nbytes // max(len(tape.final), 1)) for tape in tapes]
    return sum((n - steps) * size for n, size in rows), sum(size for _, size in rows)


def _sums(forward: ScanTrace, backward: ScanTrace) -> Iterator[str]:
    states = [*forward.tapes, *forward.outputs]
    gradients = [*backward.tapes, *backward.outputs]
    kept, more = (sum(_allocated(tape).nbytes for tape in group) for group in (states, gradients))
    yield f"stored until the backward pass: {_slots(states)}"
    yield f"for the backward pass: {_slots(gradients)}"
    yield f"{kept:,} bytes of numbers, {more:,} bytes of gradients"
    names = (*(s.name for s in forward.sequences), *(p.name for p in forward.parameters))
    given = dict.fromkeys(names)
    if given:
        yield f"only read, not counted: {listing(given)}"
    yield "no bookkeeping that grows with the steps"


def _allocated(tape: TapeTrace) -> np.ndarray:
    """Return all slots of a tape, including those that a loop with `until` leaves unused."""
    return max(tape.initial, tape.final, key=len)


def _slots(tapes: Iterable[TapeTrace]) -> str:
    """Return ``21 slots of x (7 used)`` for every name; a sequence has a tape for each tap."""
    allocated: Counter[str] = Counter()
    used: Counter[str] = Counter()
    for tape in tapes:
        allocated[tape.name] += len(_allocated(tape))
        used[tape.name] += len(tape.final)
    return listing(
        f"{counted(count, 'slot')} of {name}"
        + ("" if used[name] == count else f" ({used[name]:,} used)")
        for name, count in allocated.items()
    )
