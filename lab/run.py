"""Running a graph uncompiled: node by node, and every Scan step by step.

Nothing is compiled and nothing rewritten, so that the numbers are those of the graph as
it was built, and every intermediate value can be seen.  For each Scan the run leaves a
`Recording` with what every step read and wrote, in arrays over steps.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pytensor import function
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import toposort
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from lab.errors import ArgumentError
from lab.scan import LoopVariable, ScanParts, is_scan, read_scan, step_graph
from lab.tape import Kind


# Values inside a step are kept up to so many bytes for each operation.
MOST_BYTES = 50_000_000


@dataclass(eq=False)
class Access:
    """All reads, or all writes, of one variable at one tap: the rows, and the values there."""

    tap: int
    rows: np.ndarray
    values: np.ndarray
    before: np.ndarray | None = None


@dataclass(eq=False)
class Recording:
    """What happened in one Scan."""

    node: Apply
    parts: ScanParts
    steps: int
    initial: dict[LoopVariable, np.ndarray] = field(default_factory=dict)
    reads: dict[LoopVariable, list[Access]] = field(default_factory=dict)
    writes: dict[LoopVariable, list[Access]] = field(default_factory=dict)
    final: dict[LoopVariable, Any] = field(default_factory=dict)
    inside: dict[Variable, np.ndarray] = field(default_factory=dict)


class Progress:
    """A bar on standard error once a run has taken a second."""

    def __init__(self, delay: float = 1.0) -> None:
        self.started, self.delay, self.bar = time.monotonic(), delay, None

    def steps(self, name: str, total: int) -> Iterator[int]:
        """0 … total-1, shown as they pass."""
        for step in range(total):
            if step % 64 == 0 and time.monotonic() - self.started > self.delay:
                self._show(name, step, total)
            yield step
        if self.bar is not None:
            self.bar.update(total - self.bar.n)

    def _show(self, name: str, step: int, total: int) -> None:
        from tqdm import tqdm  # only a run that takes long pays for the import

        if self.bar is None:
            self.bar = tqdm(total=total, desc=name, unit="step", leave=False)
        elif self.bar.desc != f"{name}: ":
            self.bar.reset(total)
            self.bar.set_description(name)
        self.bar.update(step - self.bar.n)

    def close(self) -> None:
        """Take the bar off the screen."""
        if self.bar is not None:
            self.bar.close()


def run(
    outputs: Sequence[Variable], given: Mapping[Variable, Any], record: bool = True
) -> tuple[dict[Variable, Any], list[Recording]]:
    """The values of all variables that `outputs` depend on, and what happened in the Scans."""
    values = {variable: _checked(variable, value) for variable, value in given.items()}
    recordings: list[Recording] = []
    progress = Progress()
    try:
        _run_nodes(outputs, values, recordings if record else None, progress)
    finally:
        progress.close()
    return values, recordings


def _checked(variable: Variable, value: Any) -> Any:
    """`value` as what `variable` holds; generators are copied, since a run advances them."""
    if not hasattr(variable.type, "dtype"):
        return deepcopy(value)
    try:
        return variable.type.filter(np.asarray(value), strict=False, allow_downcast=True)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"given: {variable} is of type {variable.type} and cannot be {value!r}."
        ) from error


def _run_nodes(
    outputs: Sequence[Variable],
    values: dict[Variable, Any],
    recordings: list[Recording] | None,
    progress: Progress,
) -> None:
    nodes = list(toposort(outputs, blockers=set(values)))
    for variable in dict.fromkeys(v for node in nodes for v in node.inputs) | dict.fromkeys(outputs):
        if variable in values or variable.owner is not None:
            continue
        if isinstance(variable, Constant):
            values[variable] = variable.data
        elif isinstance(variable, SharedVariable):
            values[variable] = variable.get_value(borrow=False)
        else:
            raise ArgumentError(f"given: there is no value for {variable} ({variable.type}).")
    for node in nodes:
        if all(v in values for v in node.outputs):
            continue
        inputs = [values[v] for v in node.inputs]
        if is_scan(node):
            results = _run_scan(node, inputs, recordings, progress)
        elif isinstance(node.op, OpFromGraph):
            results = _run_inner(node, inputs, progress)
        else:
            results = _perform(node, inputs)
        values.update(zip(node.outputs, results, strict=True))


def _run_inner(node: Apply, inputs: list[Any], progress: Progress) -> list[Any]:
    """An OpFromGraph, run in place: it would compile itself."""
    arguments, results = step_graph(node.op)
    values = dict(zip(arguments, inputs, strict=True))
    _run_nodes(results, values, None, progress)
    return [values[v] for v in results]


def _perform(node: Apply, inputs: Sequence[Any]) -> list[Any]:
    thunk, sources, targets = _thunk(node)
    for cell, value in zip(sources, inputs, strict=True):
        cell[0] = value
    thunk()
    return [cell[0] for cell in targets]


def _thunk(
    node: Apply, storage: dict[Variable, list[Any]] | None = None
) -> tuple[Callable[[], Any], list[list[Any]], list[list[Any]]]:
    """A function that runs `node` in Python, and the cells of its inputs and outputs."""
    cells = {} if storage is None else storage
    for variable in (*node.inputs, *node.outputs):
        cells.setdefault(variable, [None])
    computed = {v: [True] for v in node.inputs} | {v: [False] for v in node.outputs}
    thunk = node.op.make_thunk(node, cells, computed, [], "py")
    return thunk, [cells[v] for v in node.inputs], [cells[v] for v in node.outputs]


class _Step:
    """The step of a Scan, ready to be run again and again over the same cells."""

    def __init__(self, parts: ScanParts, progress: Progress) -> None:
        self.arguments, self.results = parts.inner_inputs, parts.inner_outputs
        self.cells: dict[Variable, list[Any]] = {v: [None] for v in self.arguments}
        self.nodes = list(toposort(self.results))
        for variable in (v for node in self.nodes for v in node.inputs):
            if isinstance(variable, Constant):
                self.cells[variable] = [variable.data]
            elif isinstance(variable, SharedVariable):
                self.cells[variable] = [variable.get_value(borrow=False)]
        for result in self.results:
            if isinstance(result, Constant):
                self.cells[result] = [result.data]
        self.calls = [self._call(node, progress) for node in self.nodes]

    def _call(self, node: Apply, progress: Progress) -> Callable[[], Any]:
        for variable in (*node.inputs, *node.outputs):
            self.cells.setdefault(variable, [None])
        if not is_scan(node) and not isinstance(node.op, OpFromGraph):
            return _thunk(node, self.cells)[0]
        run_inner = _run_scan_quietly if is_scan(node) else _run_inner

        def call() -> None:
            inputs = [self.cells[v][0] for v in node.inputs]
            for variable, value in zip(node.outputs, run_inner(node, inputs, progress), strict=True):
                self.cells[variable][0] = value

        return call

    def __call__(self) -> None:
        for call in self.calls:
            call()

    def inner(self) -> list[Variable]:
        """What a step computes: the outputs of all its nodes that are arrays."""
        return [v for node in self.nodes for v in node.outputs if hasattr(v.type, "dtype")]


def _run_scan_quietly(node: Apply, inputs: list[Any], progress: Progress) -> list[Any]:
    return _run_scan(node, inputs, None, progress)


def _run_scan(
    node: Apply, inputs: list[Any], recordings: list[Recording] | None, progress: Progress
) -> list[Any]:
    """Step through a Scan as PyTensor does, and note what every step reads and writes."""
    parts = read_scan(node.op, node.inputs, node.outputs)
    loop = _Loop(node, parts, dict(zip(node.inputs, inputs, strict=True)), progress)
    recording = loop.run(keep=recordings is not None)
    if recordings is not None:
        recordings.append(recording)
    final = {part.outer_output: value for part, value in recording.final.items()}
    return [final[v] for v in node.outputs]


class _Loop:
    """One run of one Scan: its buffers, its step, and its recording."""

    def __init__(
        self, node: Apply, parts: ScanParts, outer: dict[Variable, Any], progress: Progress
    ) -> None:
        self.parts, self.outer, self.progress = parts, outer, progress
        self.n_steps = int(outer[parts.n_steps])
        self.recording = Recording(node, parts, 0)
        self.buffers: dict[LoopVariable, np.ndarray | None] = {}
        self._check()
        for part in parts.states:
            self.buffers[part] = np.array(outer[part.outer_input])
            self.recording.initial[part] = self.buffers[part].copy()
        self.untraced = {p: deepcopy(outer[p.outer_input]) for p in parts.of_kind(Kind.UNTRACED)}

    def _check(self) -> None:
        name = self.parts.name
        if self.n_steps < 0:
            raise ArgumentError(f"{name}: n_steps = {self.n_steps}; a loop makes 0 steps or more.")
        for part in self.parts.of_kind(Kind.SEQUENCE):
            rows = len(self.outer[part.outer_input])
            if rows < self.n_steps:
                raise ArgumentError(
                    f"{name}: the sequence {part.name} has {rows} rows, but the loop makes "
                    f"{self.n_steps} steps."
                )

    def run(self, keep: bool) -> Recording:
        step = _Step(self.parts, self.progress)
        for part in self.parts.of_kind(Kind.PARAMETER):
            step.cells[part.inner_inputs[0]][0] = self.outer[part.outer_input]
        readers = [self._reader(part, tap, v, step) for part, tap, v in self._read_taps()]
        writers = [self._writer(part, tap, v, step) for part, tap, v in self._write_taps()]
        inner = {v: _Column(self.n_steps, step.cells[v]) for v in step.inner()} if keep else {}
        until = step.cells[self.parts.until] if self.parts.until is not None else None
        done = 0
        for number in self.progress.steps(self.parts.name, self.n_steps):
            for part, generator in self.untraced.items():
                step.cells[part.inner_inputs[0]][0] = generator
            for read in readers:  # every read comes before any write
                read(number)
            step()
            for write in writers:
                write(number)
            for column in inner.values():
                column.note(number)
            for part in self.untraced:
                self.untraced[part] = step.cells[part.inner_outputs[0]][0]
            done = number + 1
            if until is not None and bool(until[0]):
                break
        self._finish(done)
        if keep:
            self.recording.inside = {v: column.values[:done] for v, column in inner.items()}
        return self.recording

    def _read_taps(self) -> Iterator[tuple[LoopVariable, int, Variable]]:
        for part in self.parts.variables:
            if part.kind is Kind.SEQUENCE or part.kind.is_state:
                for tap, argument in part.reads:
                    yield part, tap, argument

    def _write_taps(self) -> Iterator[tuple[LoopVariable, int, Variable]]:
        for part in self.parts.variables:
            if part.kind is Kind.NIT_SOT or part.kind.is_state:
                for tap, result in part.writes:
                    yield part, tap, result

    def _reader(
        self, part: LoopVariable, tap: int, argument: Variable, step: _Step
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
        self, part: LoopVariable, tap: int, result: Variable, step: _Step
    ) -> Callable[[int], None]:
        cell = step.cells[result]
        access = Access(tap, np.empty(0, dtype=int), np.empty(0))
        self.recording.writes.setdefault(part, []).append(access)
        length = (
            int(self.outer[part.outer_input])
            if part.kind is Kind.NIT_SOT
            else len(self.buffers[part])
        )
        first = part.tape.origin + tap if part.kind is not Kind.NIT_SOT else 0
        access.rows = (np.arange(self.n_steps) + first) % max(1, length)
        listed = access.rows.tolist()
        dtype = part.outer_output.type.dtype

        def write(number: int) -> None:
            value = np.asarray(cell[0])
            if number == 0:
                access.values = np.empty((self.n_steps, *value.shape), dtype=dtype)
                access.before = np.empty_like(access.values)
                if part not in self.buffers:
                    self.buffers[part] = np.zeros((length, *value.shape), dtype=dtype)
            buffer, row = self.buffers[part], listed[number]
            access.before[number] = buffer[row]
            access.values[number] = value
            buffer[row] = value

        return write

    def _finish(self, done: int) -> None:
        """Cut everything to the steps that were made, as PyTensor does after the last one."""
        recording = self.recording
        recording.steps = done
        for accesses in (*recording.reads.values(), *recording.writes.values()):
            for access in accesses:
                access.rows, access.values = access.rows[:done], access.values[:done]
                if access.before is not None:
                    access.before = access.before[:done]
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
            return np.empty((0,) * part.outer_output.type.ndim, dtype=part.outer_output.type.dtype)
        if self.n_steps == 0:
            return buffer
        used = part.tape.origin + done if part.kind is not Kind.NIT_SOT else done
        if used > len(buffer):  # a shortened buffer: the oldest row first
            return np.roll(buffer, -(used % len(buffer)), axis=0)
        buffer[used:] = 0
        return buffer[: len(buffer) - (self.n_steps - done)] if done < self.n_steps else buffer


class _Column:
    """The values of one variable of the step, over all steps; none if too many, or of many shapes."""

    def __init__(self, n_steps: int, cell: list[Any]) -> None:
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


def unwritten_rows(buffer: Variable, values: Mapping[Variable, Any]) -> np.ndarray:
    """Which rows of `buffer` nobody has written: memory that was allocated empty."""
    node = buffer.owner
    if node is not None and isinstance(node.op, AllocEmpty):
        return np.ones(len(values[buffer]), dtype=bool)
    if node is not None and isinstance(node.op, IncSubtensor) and node.op.set_instead_of_inc:
        mask = unwritten_rows(node.inputs[0], values)
        if mask.any():
            # The same write once more, into a list of row numbers, tells what it touched.
            marked = _index_with(node, np.arange(len(mask)), values)
            mask[marked] = False
        return mask
    return np.zeros(len(values[buffer]), dtype=bool)


def rows_of(variable: Variable, values: Mapping[Variable, Any]) -> tuple[Variable, np.ndarray]:
    """The array that `variable` was cut from by slices, and which of its rows it holds."""
    asked, chain = variable, []
    while variable.owner is not None and isinstance(variable.owner.op, Subtensor):
        chain.append(variable.owner)
        variable = variable.owner.inputs[0]
    rows = np.arange(len(values[variable]))
    for node in reversed(chain):
        try:
            rows = _index_with(node, rows, values)
        except IndexError:  # the cut goes across columns, too
            return asked, np.arange(len(values[asked]))
    return variable, rows


def _index_with(node: Apply, rows: np.ndarray, values: Mapping[Variable, Any]) -> np.ndarray:
    """What the indices of `node`, a read or a write of a part, select from `rows`."""
    first = 1 if isinstance(node.op, Subtensor) else 2
    reader = Subtensor(node.op.idx_list)
    cell: list[Any] = [None]
    reader.perform(node, [rows, *(values[v] for v in node.inputs[first:])], [cell])
    return np.atleast_1d(cell[0])


def compare_with_compiled(
    outputs: Sequence[Variable], given: Mapping[Variable, Any], values: Sequence[Any], mode: str
) -> float:
    """The largest difference between `values` and what PyTensor computes with `mode`.

    Differences are absolute where the values are below 1, relative where they are above;
    nan and infinities agree with themselves.
    """
    inputs = list(given)
    compiled = function(inputs, list(outputs), mode=mode, on_unused_input="ignore")
    found = compiled(*(_checked(v, given[v]) for v in inputs))
    worst = 0.0
    for ours, theirs in zip(values, found, strict=True):
        a, b = np.asarray(ours), np.asarray(theirs)
        if a.shape != b.shape:
            return float("inf")
        with np.errstate(invalid="ignore"):
            away = np.abs(a - b) / np.maximum(1.0, np.abs(b))
        away = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, away)
        worst = max(worst, float(np.max(np.nan_to_num(away, nan=np.inf), initial=0.0)))
    return worst
