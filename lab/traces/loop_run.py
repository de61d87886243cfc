"""One run of one Scan over its buffers, and the recording of what every step reads and writes.

The order of events is PyTensor's: all reads of a step come before any of its writes; an
until condition is looked at after the step; then everything is cut to the steps made.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from pytensor.graph.basic import Apply, Variable

from lab.errors import ArgumentError
from lab.records import freeze
from lab.scans.node import LoopVariable, ScanParts
from lab.tape import Kind
from lab.traces.trace import Access

# What PyTensor computes: an array, a generator, a number, whatever the type of a variable holds.
Computed = Any
Cell = list[Computed]  # with one entry, as PyTensor's thunks have it
# Values inside a step are kept up to so many bytes for each operation.
MOST_BYTES = 50_000_000


@dataclass(eq=False)
class Within:
    """What one step computed, and what happened in the Scans inside of it."""

    values: Mapping[Variable, Computed]
    recordings: "list[Recording]"


@dataclass(eq=False)
class Recording:
    """What happened in one Scan, from its step number `first` on.

    `lengths` has how many rows its variables have, where only a window of them was kept; `nested`
    what happened in the Scans inside its steps.
    """

    node: Apply
    parts: ScanParts
    steps: int
    initial: dict[LoopVariable, np.ndarray] = field(default_factory=dict)
    reads: dict[LoopVariable, list[Access]] = field(default_factory=dict)
    writes: dict[LoopVariable, list[Access]] = field(default_factory=dict)
    final: dict[LoopVariable, Computed] = field(default_factory=dict)
    unwritten: dict[LoopVariable, np.ndarray] = field(default_factory=dict)
    inside: dict[Variable, np.ndarray] = field(default_factory=dict)
    nested: list[Within] = field(default_factory=list)
    first: int = 0
    lengths: Mapping[LoopVariable, int] = field(default_factory=dict)

    @property
    def results(self) -> list[Computed]:
        """What the node gives out."""
        final = {part.outer_output: value for part, value in self.final.items()}
        return [final[v] for v in self.node.outputs]


class Step(Protocol):
    """The step of a Scan: called, it computes its results from its arguments, in `cells`."""

    cells: dict[Variable, Cell]

    def __call__(self) -> None:
        """Compute one step."""

    def inner(self) -> list[Variable]:
        """What a step computes on the way."""

    def within(self) -> Within | None:
        """What the step just made has inside, if that is kept."""


class LoopRun:
    """One run of one Scan: its buffers, its step, and its recording."""

    def __init__(self, node: Apply, parts: ScanParts, outer: Mapping[Variable, Computed]) -> None:
        self.parts, self.outer = parts, outer
        self.n_steps = int(outer[parts.n_steps])
        self.recording = Recording(node, parts, 0)
        self.buffers: dict[LoopVariable, np.ndarray] = {}
        self._check()
        for part in parts.states:
            self.buffers[part] = np.array(outer[part.outer_input])
            self.recording.initial[part] = self.buffers[part].copy()
        self.untraced = {p: deepcopy(outer[p.outer_input]) for p in parts.of_kind(Kind.UNTRACED)}

    def _check(self) -> None:
        name = self.parts.called
        if self.n_steps < 0:
            raise ArgumentError(f"{name}: n_steps = {self.n_steps}; a loop makes 0 steps or more.")
        for part in self.parts.of_kind(Kind.SEQUENCE):
            rows = len(self.outer[part.outer_input])
            if rows < self.n_steps:
                raise ArgumentError(
                    f"{name}: the sequence {part.name} has {rows} rows, but the loop makes "
                    f"{self.n_steps} steps."
                )
        for part in self.parts.of_kind(Kind.MIT_MOT):
            rows, needed = len(self.outer[part.outer_input]), part.tape.rows(self.n_steps)
            if min(part.tape.reads) > 0:
                raise ArgumentError(
                    f"{name}: {part.name} only reads ahead ({part.tape}); a mit-mot must read a "
                    "tap of 0 or below, or PyTensor does not know where its buffer begins."
                )
            if rows < needed:
                raise ArgumentError(
                    f"{name}: the buffer of {part.name} has {rows} rows, but its taps "
                    f"({part.tape}) need {needed} for {self.n_steps} steps."
                )

    def blank(self, unwritten: Mapping[LoopVariable, np.ndarray]) -> None:
        """Put zeros where nobody has written, so that the same run leaves the same recording."""
        for part, rows in unwritten.items():
            self.buffers[part][rows] = 0
            self.recording.initial[part][rows] = 0
            self.recording.unwritten[part] = rows

    def run(self, step: Step, numbers: Iterable[int], keep: bool) -> Recording:
        """Make the steps of `numbers`, and keep the values inside them if asked to."""
        for part in self.parts.of_kind(Kind.PARAMETER):
            step.cells[part.inner_inputs[0]][0] = self.outer[part.outer_input]
        readers = [
            self._reader(part, tap, argument, step)
            for part in self.parts.variables
            if part.kind is Kind.SEQUENCE or part.kind.is_state
            for tap, argument in part.reads
        ]
        writers = [
            self._writer(part, tap, result, step)
            for part in self.parts.variables
            if part.kind is Kind.NIT_SOT or part.kind.is_state
            for tap, result in part.writes
        ]
        inner = {v: _Column(self.n_steps, step.cells[v]) for v in step.inner()} if keep else {}
        until = step.cells[self.parts.until] if self.parts.until is not None else None
        done = 0
        for number in numbers:
            for part, generator in self.untraced.items():
                step.cells[part.inner_inputs[0]][0] = generator
            for read in readers:  # every read comes before any write
                read(number)
            step()
            for write in writers:
                write(number)
            for column in inner.values():
                column.note(number)
            within = step.within()
            if within is not None:
                self.recording.nested.append(within)
            for part in self.untraced:
                self.untraced[part] = step.cells[part.inner_outputs[0]][0]
            done = number + 1
            if until is not None and bool(until[0]):
                break
        self._finish(done)
        if keep:
            self.recording.inside = {v: column.values[:done] for v, column in inner.items()}
        return self.recording

    def _reader(
        self, part: LoopVariable, tap: int, argument: Variable, step: Step
    ) -> Callable[[int], None]:
        source = self.buffers[part] if part in self.buffers else self.outer[part.outer_input]
        source, cell, length = np.asarray(source), step.cells[argument], len(source)
        kept = np.empty((self.n_steps, *source.shape[1:]), dtype=source.dtype)
        first = part.tape.origin + tap
        rows = (np.arange(self.n_steps) + first) % max(1, length)
        self.recording.reads.setdefault(part, []).append(Access(tap, rows, kept))
        listed = rows.tolist()

        def read(number: int) -> None:
            kept[number] = source[listed[number]]
            cell[0] = np.asarray(kept[number])

        return read

    def _writer(
        self, part: LoopVariable, tap: int, result: Variable, step: Step
    ) -> Callable[[int], None]:
        cell = step.cells[result]
        if part.kind is Kind.NIT_SOT:
            length, first = int(self.outer[part.outer_input]), 0
        else:
            length, first = len(self.buffers[part]), part.tape.origin + tap
        rows = (np.arange(self.n_steps) + first) % max(1, length)
        listed, dtype = rows.tolist(), part.filled.type.dtype
        accesses = self.recording.writes.setdefault(part, [])
        place, before, kept = len(accesses), np.empty(0), np.empty(0)
        accesses.append(Access(tap, rows, kept))  # the first step tells of which shape

        def write(number: int) -> None:
            nonlocal before, kept
            value = np.asarray(cell[0])
            if number == 0:
                before, kept = np.empty((2, self.n_steps, *value.shape), dtype=dtype)
                accesses[place] = Access(tap, rows, kept, before)
                if part not in self.buffers:
                    self.buffers[part] = np.zeros((length, *value.shape), dtype=dtype)
            buffer, row = self.buffers[part], listed[number]
            try:
                before[number] = buffer[row]
                kept[number] = value
                buffer[row] = value
            except ValueError:  # numpy's, which does not tell whose it is
                raise ArgumentError(
                    f"{self.parts.name}: step {number} makes {part.name} with the shape "
                    f"{value.shape}, of which the rows have {buffer.shape[1:]}."
                ) from None

        return write

    def _finish(self, done: int) -> None:
        """Cut everything to the steps that were made, as PyTensor does after the last one."""
        recording = self.recording
        recording.steps = done
        for accesses in (*recording.reads.values(), *recording.writes.values()):
            accesses[:] = [_until(access, done) for access in accesses]
        for part in self.parts.variables:
            if part.kind is Kind.UNTRACED:
                recording.final[part] = self.untraced[part]
            elif part.kind is Kind.MIT_MOT:
                recording.final[part] = self.buffers[part]
            elif part.outer_output is not None:
                recording.final[part] = self._cut(part, done)

    def _cut(self, part: LoopVariable, done: int) -> np.ndarray:
        buffer = self.buffers.get(part)
        if buffer is None:  # no step was made, so that not even the shape is known
            return np.empty((0,) * part.filled.type.ndim, dtype=part.filled.type.dtype)
        used = part.tape.origin + done
        if used > len(buffer):  # a shortened buffer: the oldest row first
            return np.roll(buffer, -(used % len(buffer)), axis=0)
        if used < len(buffer) and self.n_steps:
            buffer[used:] = 0
            if done < self.n_steps:
                return buffer[: done - self.n_steps]
        return buffer


def _until(access: Access, done: int) -> Access:
    """The accesses of the steps that were made."""
    before = None if access.before is None else freeze(access.before[:done])
    return Access(access.tap, freeze(access.rows[:done]), freeze(access.values[:done]), before)


class _Column:
    """The values of one variable of a step, over all steps; none if too many or ragged."""

    def __init__(self, n_steps: int, cell: Cell) -> None:
        self.n_steps, self.cell = n_steps, cell
        self.values, self.fits = np.empty((0,)), True

    def note(self, number: int) -> None:
        value = np.asarray(self.cell[0])
        if number == 0:
            self.fits = self.n_steps * value.nbytes <= MOST_BYTES
            self.values = np.empty((self.n_steps * self.fits, *value.shape), dtype=value.dtype)
        if self.fits and value.shape == self.values.shape[1:]:
            self.values[number] = value
        else:
            self.fits, self.values = False, np.empty((0,))


def refuse_unwritten(recording: Recording) -> None:
    """Raise ArgumentError if a step read memory that nobody had written: no number is there."""
    for part, missing in recording.unwritten.items():
        if not missing.any():
            continue
        written = np.where(missing, recording.steps, -1)
        for access in recording.writes[part]:
            np.minimum.at(written, access.rows, np.arange(recording.steps))
        for access in recording.reads[part]:
            early = np.flatnonzero(written[access.rows] >= np.arange(recording.steps))
            if early.size:
                raise ArgumentError(
                    f"{recording.parts.called}: step {early[0]} reads row "
                    f"{access.rows[early[0]]} of {part.name}, which nobody has written; its taps "
                    f"reach back {part.tape.origin} steps, so {part.tape.origin} initial values "
                    "are needed."
                )
