"""Run a Scan over its buffers, and record the reads and writes of every step.

The order of events is PyTensor's.  All reads of a step precede its writes, and the until condition
is evaluated after the step.  After the last step, all arrays are cut to the steps that ran.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.elemwise import DimShuffle

from lab.errors import ArgumentError
from lab.notation import counted
from lab.progress import Progress
from lab.records import freeze
from lab.scans.node import LoopVariable, ScanParts
from lab.scans.slices import axis_mover
from lab.tape import Kind
from lab.traces.trace import Access

# A value of a variable: an array, a generator, or a number.
Computed = Any
Cell = list[Computed]  # a list with one entry, as in PyTensor's thunks
Cells = Mapping[Variable, Cell]
MOST_BYTES = 50_000_000  # largest size of the recorded values of an operation in the step


@dataclass(eq=False)
class InnerRun:
    """The values of one step, and the recordings of the Scans inside it."""

    values: Mapping[Variable, Computed]
    recordings: "list[ScanRecording]"


@dataclass(eq=False)
class ScanRecording:
    """The reads and writes of a Scan, starting with step number `first`.

    For a window of steps, `lengths` contains the numbers of rows of the whole arrays.  `nested`
    contains the recordings of Scans inside the steps.
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
    nested: list[InnerRun] = field(default_factory=list)
    first: int = 0
    lengths: Mapping[LoopVariable, int] = field(default_factory=dict)

    @property
    def results(self) -> list[Computed]:
        """The values of the node's outputs, in the order of the outputs."""
        final = {part.outer_output: value for part, value in self.final.items()}
        return [final[v] for v in self.node.outputs]


class LoopRun:
    """One run of a Scan: its buffers and its recording.

    `unwritten` marks the uninitialized rows of the states.  The recording contains zeros in these
    rows, so that equal runs have equal recordings.
    """

    def __init__(
        self,
        node: Apply,
        parts: ScanParts,
        outer: Mapping[Variable, Computed],
        unwritten: Mapping[LoopVariable, np.ndarray],
    ) -> None:
        self.parts, self.outer = parts, outer
        self.n_steps = int(outer[parts.n_steps])
        self.recording = ScanRecording(node, parts, 0, unwritten=dict(unwritten))
        self.buffers: dict[LoopVariable, np.ndarray] = {}
        self.stored: dict[Variable, tuple[list[Access], int]] = {}  # the access of a variable
        self._check()
        for part in parts.states:
            given, rows = outer[part.outer_input], ~unwritten[part]
            is_shared = part.outer_input.owner is not None and rows.all()
            initial = given.view() if is_shared else _copy_of_rows(given, rows)
            self.recording.initial[part] = freeze(initial)
            if not self._keeps_rows(part):
                self.buffers[part] = _copy_of_rows(given, rows)
                continue
            first = part.tape.origin  # steps write rows first to last - 1 before reading them
            last = first + self.n_steps
            self.buffers[part] = buffer = np.empty(given.shape, given.dtype)
            for kept in (slice(first), slice(last, None)):
                buffer[kept] = _copy_of_rows(given[kept], rows[kept])
        self.untraced = {p: deepcopy(outer[p.outer_input]) for p in parts.of_kind(Kind.UNTRACED)}

    def _check(self) -> None:
        name = self.parts.called
        if self.n_steps < 0:
            raise ArgumentError(f"{name}: n_steps = {self.n_steps}: expected 0 or more.")
        for part in self.parts.of_kind(Kind.SEQUENCE):
            rows = len(self.outer[part.outer_input])
            if rows < self.n_steps:
                needs = f"{counted(rows, 'row')}, but the loop runs {counted(self.n_steps, 'step')}"
                raise ArgumentError(f"{name}: the sequence {part.name} has {needs}.")
        for part in self.parts.of_kind(Kind.MIT_MOT):
            rows, needed = len(self.outer[part.outer_input]), part.tape.rows(self.n_steps)
            if min(part.tape.reads) > 0:
                reason = "Add a read tap of 0 or below, which defines row 0 of its buffer."
                taps = f"{part.name} has positive read taps only ({part.tape})"
                raise ArgumentError(f"{name}: {taps}. {reason}")
            if rows < needed:
                needs = f"{rows} rows, but its taps ({part.tape}) need {needed} for {self.n_steps}"
                raise ArgumentError(f"{name}: the buffer of {part.name} has {needs} steps.")

    @np.errstate(all="ignore")  # compiled code prints no warnings either
    def run(
        self, cells: Cells, compute: Callable[[], InnerRun | None], progress: Progress, keep: bool
    ) -> ScanRecording:
        """Run all steps; with `keep`, record the values inside the steps.

        `cells` contain the arguments of the step, and the values of its operations in the order of
        computation.  `compute` computes a step, and returns the record of the Scans inside, if any.
        """
        for part in self.parts.of_kind(Kind.PARAMETER):
            cells[part.inner_inputs[0]][0] = self.outer[part.outer_input]
        readers = [
            self._reader(part, tap, argument, cells[argument])
            for part in (*self.parts.of_kind(Kind.SEQUENCE), *self.parts.states)
            for tap, argument in part.reads
        ]
        writers = [
            self._writer(part, tap, result, cells[result])
            for part in (*self.parts.states, *self.parts.of_kind(Kind.NIT_SOT))
            for tap, result in part.writes
        ]
        inner = [v for v in cells if keep and v.owner is not None and hasattr(v.type, "dtype")]
        views = {v for v in inner if isinstance(v.owner.op, DimShuffle)} - {*self.stored}
        noted = (v for v in inner if v not in self.stored and v not in views)
        columns = {v: _Column(self.n_steps, cells[v]) for v in noted}
        until = cells[self.parts.until] if self.parts.until is not None else None
        done = 0
        for number in progress.steps(self.parts.called, self.n_steps):
            for part, generator in self.untraced.items():
                cells[part.inner_inputs[0]][0] = generator
            for read in readers:  # all reads precede all writes
                read(number)
            inner_run = compute()
            for write in writers:
                write(number)
            for column in columns.values():
                column.note(number)
            if inner_run is not None:
                self.recording.nested.append(inner_run)
            for part in self.untraced:
                self.untraced[part] = cells[part.inner_outputs[0]][0]
            done = number + 1
            if until is not None and bool(until[0]):
                break
        self._finish(done)
        known = {v: accesses[place].values for v, (accesses, place) in self.stored.items()}
        for v in inner:
            if v in columns:
                known[v] = columns[v].values[:done]
            elif v in views:
                known[v] = _view_of(v.owner, known, cells, done)
            self.recording.inside[v] = known[v]
        return self.recording

    def _keeps_rows(self, part: LoopVariable) -> bool:
        """Return whether no step overwrites a row of a buffer.

        Such a buffer contains all values that the steps read and write, and needs no copy.
        """
        given = self.outer[part.outer_input]
        length = int(given) if part.kind is Kind.NIT_SOT else len(given)
        return part.kind is not Kind.MIT_MOT and length >= part.tape.origin + self.n_steps

    def _reader(
        self, part: LoopVariable, tap: int, argument: Variable, cell: Cell
    ) -> Callable[[int], None]:
        source = self.buffers[part] if part in self.buffers else self.outer[part.outer_input]
        source, first = np.asarray(source), part.tape.origin + tap
        rows = (np.arange(self.n_steps) + first) % max(1, len(source))
        is_filled = part.kind is Kind.SEQUENCE or self._keeps_rows(part)
        if part.kind is Kind.SEQUENCE:
            recorded = source[rows]
        elif is_filled:
            recorded = source[first : first + self.n_steps]
        else:
            recorded = np.empty((self.n_steps, *source.shape[1:]), dtype=source.dtype)
        accesses = self.recording.reads.setdefault(part, [])
        self.stored[argument] = accesses, len(accesses)
        accesses.append(Access(tap, rows, recorded))
        listed = rows.tolist()

        def read(number: int) -> None:
            if not is_filled:
                recorded[number] = source[listed[number]]
            cell[0] = np.asarray(recorded[number])

        return read

    def _writer(
        self, part: LoopVariable, tap: int, result: Variable, cell: Cell
    ) -> Callable[[int], None]:
        dtype, first = part.filled.type.dtype, part.tape.origin + tap
        given = self.outer[part.outer_input]
        length = int(given) if part.kind is Kind.NIT_SOT else len(given)
        rows = (np.arange(self.n_steps) + first) % max(1, length)
        listed, keeps_rows = rows.tolist(), self._keeps_rows(part)
        accesses = self.recording.writes.setdefault(part, [])
        place = len(accesses)
        accesses.append(Access(tap, rows, np.empty(0)))  # the first step determines the shape
        if result.type.dtype == dtype:
            self.stored[result] = accesses, place
        recorded = np.empty(0)

        def begin(shape: tuple[int, ...]) -> None:
            nonlocal recorded
            if part not in self.buffers:
                self.buffers[part] = np.empty((length, *shape), dtype=dtype)
                self.buffers[part][self.n_steps :] = 0
            if keeps_rows:
                recorded = self.buffers[part][first : first + self.n_steps]
            else:
                recorded = np.empty((self.n_steps, *shape), dtype=dtype)
            accesses[place] = Access(tap, rows, recorded)

        def write(number: int) -> None:
            value = np.asarray(cell[0])
            if number == 0:
                begin(value.shape)
            buffer, row = self.buffers[part], listed[number]
            try:
                if not keeps_rows:
                    recorded[number] = value
                buffer[row] = value
            except ValueError:  # NumPy's message does not name the variable
                reason = f"with shape {value.shape}; expected {buffer.shape[1:]}."
                message = f"{self.parts.name}: step {number} returns {part.name} {reason}"
                raise ArgumentError(message) from None

        return write

    def _finish(self, done: int) -> None:
        """Cut all arrays to the steps that ran, as PyTensor does."""
        recording = self.recording
        recording.steps = done
        for accesses in (*recording.reads.values(), *recording.writes.values()):
            accesses[:] = [
                Access(access.tap, freeze(access.rows[:done]), freeze(access.values[:done]))
                for access in accesses
            ]
        for part in self.parts.variables:
            if part.kind is Kind.UNTRACED:
                recording.final[part] = self.untraced[part]
            elif part.kind is Kind.MIT_MOT:
                recording.final[part] = self.buffers[part]
            elif part.outer_output is not None:
                recording.final[part] = self._cut(part, done)

    def _cut(self, part: LoopVariable, done: int) -> np.ndarray:
        buffer = self.buffers.get(part)
        if buffer is None:  # without steps, the shape is unknown
            return np.empty((0,) * part.filled.type.ndim, dtype=part.filled.type.dtype)
        used = part.tape.origin + done
        if used > len(buffer):  # a circular buffer; move the oldest row to the start
            return np.roll(buffer, -(used % len(buffer)), axis=0)
        if used < len(buffer) and self.n_steps:
            buffer[used:] = 0
            if done < self.n_steps:
                return buffer[: done - self.n_steps]
        return buffer


class _Column:
    """The values of a variable at all steps; empty if they are too large or change shape."""

    def __init__(self, n_steps: int, cell: Cell) -> None:
        self.n_steps, self.cell, self.values = n_steps, cell, np.empty((0,))
        self.shape: tuple[int, ...] | None = None  # of each value, if the values are recorded

    def note(self, number: int) -> None:
        value = np.asarray(self.cell[0])
        if number == 0 and self.n_steps * value.nbytes <= MOST_BYTES:
            self.values = np.empty((self.n_steps, *value.shape), dtype=value.dtype)
            self.shape = value.shape
        if value.shape == self.shape:
            self.values[number] = value
        else:
            self.values, self.shape = np.empty((0,)), None


def _view_of(
    node: Apply, known: Mapping[Variable, np.ndarray], cells: Cells, steps: int
) -> np.ndarray:
    """Return the results of a `DimShuffle` at all steps, as a view; empty if they are too large."""
    values = known.get(source := node.inputs[0])
    if values is None:  # a parameter or a constant
        value = np.array(cells[source][0])
        values = np.broadcast_to(value, (steps, *value.shape))
    is_recorded = len(values) and values.nbytes <= MOST_BYTES
    return axis_mover(node.op, 1)(values) if is_recorded else np.empty((0,))


def _copy_of_rows(array: Computed, rows: np.ndarray) -> np.ndarray:
    """Return a copy of the rows of `array` that are marked in `rows`, with zeros in other rows.

    The zeros need no memory until a write.
    """
    if rows.all():
        return np.array(array)
    copy = np.zeros(array.shape, array.dtype)
    copy[rows] = array[rows]
    return copy


def check_initialized(recording: ScanRecording) -> None:
    """Raise ArgumentError if a step read uninitialized memory."""
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
                    f"{access.rows[early[0]]} of {part.name}, which is uninitialized. Its taps "
                    f"reach back {part.tape.origin} steps: pass {part.tape.origin} initial values."
                )
