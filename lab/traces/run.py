"""Run a graph without compiling it: node by node, and every Scan step by step.

The graph is not rewritten.  Therefore the run computes every intermediate value of the original
graph.  For each Scan, the run returns a `ScanRecording` of all reads and writes, in arrays over
steps.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cache

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import toposort
from pytensor.scalar.basic import second
from pytensor.tensor.basic import Alloc
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Dot

from lab.errors import ArgumentError, GraphError, argument_error, check_type, first_line, listing
from lab.progress import Progress, pause
from lab.records import as_array
from lab.scans.backtraces import without_backtraces
from lab.scans.buffers import fills_new_buffer, unwritten_rows
from lab.scans.node import ScanParts, copy_graph, is_scan, read_node
from lab.scans.replacing import scan_nodes
from lab.scans.slices import axis_mover, select_rows
from lab.traces.loop_run import Cell, Computed, InnerRun, LoopRun, ScanRecording, check_initialized

# Errors of operations whose inputs have unexpected values.
FAILURES = (
    ArithmeticError, AssertionError, IndexError, MemoryError, NotImplementedError, TypeError,
    ValueError, np.linalg.LinAlgError,
)  # fmt: skip

Values = Mapping[Variable, Computed]
MOST_NESTED = 500  # most steps of a loop whose inner Scans are recorded
Thunk = Callable[[], object]


class Evaluator:
    """The steps, inner graphs, and operations of a graph, prepared for several runs.

    A subclass can compute with objects other than numbers.
    """

    def __init__(self) -> None:
        self.step = cache(lambda node: Step(read_node(node), self))
        self.graph = cache(lambda node: copy_graph(node.op.fgraph))
        self._thunk = cache(_thunk)

    def known(self, variable: Variable) -> Computed:
        """Return the value of a constant or of a shared variable."""
        if isinstance(variable, SharedVariable):
            return variable.get_value(borrow=False)
        assert isinstance(variable, Constant), f"{variable} has no value of its own"
        return variable.data

    def call(self, node: Apply, cells: dict[Variable, Cell]) -> Thunk:
        """Return a function that runs a node of a step, over the `cells` of its variables.

        The node is neither a Scan nor an OpFromGraph.
        """
        return _thunk(node, cells)[0]

    @np.errstate(all="ignore")
    def perform(self, node: Apply, inputs: Sequence[Computed]) -> list[Computed]:
        """Return the results of a node that is neither a Scan nor an OpFromGraph.

        Raises GraphError if the operation fails.
        """
        try:
            if fills_new_buffer(node):  # a copy would allocate all other rows
                buffer = np.empty_like(inputs[0])
                held = dict(zip(node.inputs, inputs, strict=True))
                buffer[select_rows(node, np.arange(len(buffer)), held)] = inputs[1]
                return [buffer]
            if isinstance(node.op, Alloc):  # a view needs no memory
                return [np.broadcast_to(inputs[0], tuple(map(int, inputs[1:])))]
            thunk, sources, targets = self._thunk(node)
            destroyed = {index for indices in node.op.destroy_map.values() for index in indices}
            for index, (cell, value) in enumerate(zip(sources, inputs, strict=True)):
                cell[0] = deepcopy(value) if index in destroyed else value
            for cell in targets:  # results of an earlier run
                cell[0] = None
            thunk()
        except FAILURES as error:
            raise GraphError(f"{node.op}: {first_line(error)}") from error
        return [cell[0] for cell in targets]


def run(
    outputs: Sequence[Variable],
    given: Mapping[Variable, object],
    record: bool = True,
    evaluator: Evaluator | None = None,
) -> tuple[dict[Variable, Computed], list[ScanRecording]]:
    """Return the values of all variables on which `outputs` depend, and the recordings of Scans.

    To run a graph several times, pass the same `Evaluator` each time.
    """
    values = checked_values(given)
    recordings: list[ScanRecording] | None = [] if record else None
    with Progress() as progress, without_backtraces():
        run_nodes(outputs, values, recordings, progress, evaluator or Evaluator())
    return values, recordings or []


def checked_values(given: object) -> dict[Variable, Computed]:
    """Convert the values `given` to the types of their variables.

    Raises KindError unless `given` maps variables, and ArgumentError for a value of a wrong type.
    """
    values = check_type("given", given, Mapping, "a dict of variables and their values")
    for variable in values:
        check_type("given", variable, Variable, "a PyTensor variable as the key of each value")
    return {variable: checked(variable, value) for variable, value in values.items()}


def checked(variable: Variable, value: object) -> Computed:
    """Convert `value` to the type of `variable`; copy generators, because a run advances them."""
    if not hasattr(variable.type, "dtype"):
        return deepcopy(value)
    array = as_array(f"given: {variable}", value)
    kind = np.dtype(variable.type.dtype).kind
    try:
        if array.dtype.kind == "c" and kind != "c":
            raise TypeError
        with np.errstate(invalid="ignore", over="ignore"):  # such values are compared below
            taken = variable.type.filter(array, strict=False, allow_downcast=True)
        kept = taken == array if kind in "biu" else np.isfinite(taken) >= np.isfinite(array)
        if not np.all(kept):
            raise ValueError
        return taken
    except (OverflowError, TypeError, ValueError):
        reason = f"expected a value of type {variable.type}."
        raise argument_error(f"given: {variable}", value, reason) from None


def check_inputs(given: Mapping[Variable, object], inputs: Collection[Variable]) -> None:
    """Raise ArgumentError for a computed variable in `given`, or another variable for an input.

    `given` may also contain values of inputs that only another order of a derivative needs.
    """
    missing = {v.name for v in inputs if v.name and v not in given}
    for variable in given:
        is_other = variable not in inputs and variable.name in missing
        if is_other or variable.owner is not None:
            found = "another variable of the same name" if is_other else "a computed variable"
            reason = f"expected values of the inputs {listing(inputs)}, got {found}."
            raise argument_error("given", variable, reason)


def check_steps(scan: ScanParts, steps: Computed, least: int, reason: str = "") -> None:
    """Raise ArgumentError with `reason` if a Scan runs fewer than `least` steps."""
    if int(steps) < least:
        expected = f"expected an integer of at least {least}{reason}."
        raise argument_error(f"n_steps of {scan.called}", int(steps), expected)


def missing_values(variables: Iterable[Variable]) -> ArgumentError:
    """Return the error for inputs of a graph without a value."""
    names = ", ".join(f"{variable} ({variable.type})" for variable in variables)
    return ArgumentError(f"given: there is no value for {names}.")


def run_nodes(
    outputs: Sequence[Variable],
    values: dict[Variable, Computed],
    recordings: list[ScanRecording] | None,
    progress: Progress,
    evaluator: Evaluator,
) -> None:
    """Add the values of all variables on which `outputs` depend to `values`; record the Scans."""
    nodes = list(toposort(outputs, blockers=set(values)))
    read = dict.fromkeys((*(v for node in nodes for v in node.inputs), *outputs))
    unknown = [v for v in read if v not in values and v.owner is None]
    missing = [v for v in unknown if not isinstance(v, Constant | SharedVariable)]
    if missing:
        raise missing_values(missing)
    values |= {v: evaluator.known(v) for v in unknown}
    progress.expect(sum(map(is_scan, nodes)))
    for node in nodes:
        pause()
        if all(v in values for v in node.outputs):
            continue
        inputs = [values[v] for v in node.inputs]
        if is_scan(node):
            results = _run_scan(node, inputs, values, recordings, progress, evaluator)
        elif isinstance(node.op, OpFromGraph):
            results = _run_inner(node, inputs, progress, evaluator, values, recordings)
        else:
            try:
                results = evaluator.perform(node, inputs)
            except GraphError as error:  # such as the last value of a loop of 0 steps
                for scan in map(read_node, scan_nodes(node.inputs)):
                    check_steps(scan, values.get(scan.n_steps, 1), 1, f" ({error})")
                raise
        values.update(zip(node.outputs, results, strict=True))


def _run_inner(
    node: Apply,
    inputs: list[Computed],
    progress: Progress,
    evaluator: Evaluator,
    outer: dict[Variable, Computed] | None = None,
    recordings: list[ScanRecording] | None = None,
) -> list[Computed]:
    """Run the graph inside an OpFromGraph, and return its results; add all values to `outer`."""
    arguments, results = evaluator.graph(node)
    values = dict(zip(arguments, inputs, strict=True))
    run_nodes(results, values, recordings, progress, evaluator)
    if outer is not None:
        outer.update(values)
    return [values[v] for v in results]


def _thunk(
    node: Apply, storage: dict[Variable, Cell] | None = None
) -> tuple[Thunk, list[Cell], list[Cell]]:
    """Return a function that runs `node` in Python, and the cells of its inputs and outputs."""
    cells = {} if storage is None else storage
    for variable in (*node.inputs, *node.outputs):
        cells.setdefault(variable, [None])
    computed = {v: [True] for v in node.inputs} | {v: [False] for v in node.outputs}
    thunk = node.op.make_thunk(node, cells, computed, [], "py")
    inputs, outputs = [cells[v] for v in node.inputs], [cells[v] for v in node.outputs]
    function = _numpy_function(node)
    if function is not None:
        thunk = _direct_thunk(node, function, inputs, outputs[0], thunk)
    return thunk, inputs, outputs


def _numpy_function(node: Apply) -> Callable[..., object] | None:
    """Return the NumPy function of a DimShuffle, or of a product or elementwise node in float64."""
    op = node.op
    if isinstance(op, DimShuffle):
        return axis_mover(op)
    if not isinstance(op, Dot | Elemwise) or op.destroy_map:
        return None
    dtypes = (v.type.dtype for v in node.inputs)
    if not np.result_type(*dtypes) == node.outputs[0].type.dtype == "float64":
        return None
    if isinstance(op, Dot):
        return np.matmul
    if op.scalar_op == second:
        return lambda like, value: np.broadcast_arrays(like, value)[1].copy()
    is_direct = isinstance(op.nfunc, np.ufunc) and op.nfunc_spec[1:] == (len(node.inputs), 1)
    return op.nfunc if is_direct else None


def _direct_thunk(
    node: Apply, function: Callable[..., object], inputs: list[Cell], output: Cell, general: Thunk
) -> Thunk:
    """Return a function that calls NumPy directly, in half the time of `general`.

    If lengths differ along an axis that PyTensor does not broadcast, `general` raises the error.
    """
    (argument, *others) = inputs

    def call_unary() -> None:
        try:
            output[0] = np.asarray(function(argument[0]))
        except ValueError:
            general()  # raises PyTensor's error

    if not others:
        return call_unary
    elementwise = node.inputs if isinstance(node.op, Elemwise) else []
    sizes = [(c, v.type.broadcastable) for c, v in zip(inputs, elementwise, strict=False)]
    axes = [(n, [c for c, ones in sizes if not ones[n]]) for n in range(node.outputs[0].type.ndim)]
    checks = [(n, cell, cells[0]) for n, cells in axes for cell in cells[1:]]

    def call() -> None:
        for n, cell, first in checks:
            if cell[0].shape[n] != first[0].shape[n]:
                general()
                return
        output[0] = np.asarray(function(*[cell[0] for cell in inputs]))

    return call


class Step:
    """An executable step of a Scan, which uses the same cells at every call."""

    def __init__(self, parts: ScanParts, evaluator: Evaluator) -> None:
        self.parts, self.name, self.results = parts, parts.called, parts.inner_outputs
        self.evaluator, self.progress = evaluator, Progress()
        self.cells: dict[Variable, Cell] = {v: [None] for v in parts.inner_inputs}
        self.nodes = list(toposort(self.results))
        for variable in (*self.results, *(v for node in self.nodes for v in node.inputs)):
            if isinstance(variable, Constant):
                self.cells[variable] = [evaluator.known(variable)]
        self.calls = [self._call(node) for node in self.nodes]
        self.has_scans = any(map(_scans_in, self.nodes))
        self.recordings: list[ScanRecording] | None = None  # from Scans inside the current step
        self.opened: dict[Variable, Computed] = {}  # values inside an OpFromGraph

    def run(self, loop: LoopRun, progress: Progress, keep: bool) -> ScanRecording:
        """Run all steps of a loop; with `keep`, record the values and the Scans inside the steps.

        Record these Scans only if the loop has at most `MOST_NESTED` steps.
        """
        is_nested = keep and self.has_scans and loop.n_steps <= MOST_NESTED
        self.progress, self.recordings = progress, [] if is_nested else None
        for result in (v for node in self.nodes for v in node.outputs):  # of an earlier run
            self.cells[result][0] = None
        return loop.run(self.cells, self, progress, keep)

    def _call(self, node: Apply) -> Thunk:
        for variable in (*node.inputs, *node.outputs):
            self.cells.setdefault(variable, [None])
        if not is_scan(node) and not isinstance(node.op, OpFromGraph):
            return self.evaluator.call(node, self.cells)

        def call() -> None:
            inputs, kept = [self.cells[v][0] for v in node.inputs], self.recordings
            if is_scan(node):
                values = {} if kept is None else {v: c[0] for v, c in self.cells.items()}
                results = _run_scan(node, inputs, values, kept, self.progress, self.evaluator)
            else:
                opened = None if kept is None else self.opened
                results = _run_inner(node, inputs, self.progress, self.evaluator, opened, kept)
            for variable, value in zip(node.outputs, results, strict=True):
                self.cells[variable][0] = value

        return call

    def __call__(self) -> InnerRun | None:
        """Compute one step; return its values and inner Scans, or None if they are not recorded."""
        done = 0
        try:
            for call in self.calls:
                call()
                done += 1
        except FAILURES as error:
            is_inner = isinstance(error, ArgumentError | GraphError)
            what = "a Scan" if is_scan(self.nodes[done]) else self.nodes[done].op
            reason = f"{what} in its step: {error if is_inner else first_line(error)}"
            raise GraphError(f"{self.name}: {reason}") from error
        if self.recordings is None:
            return None
        held = {v: deepcopy(cell[0]) for v, cell in self.cells.items()}
        inner = InnerRun({**self.opened, **held}, self.recordings)
        self.recordings, self.opened = [], {}
        return inner


def _scans_in(node: Apply) -> bool:
    """Return whether a node is a Scan, or an OpFromGraph that contains a Scan."""
    if isinstance(node.op, OpFromGraph):
        return any(map(_scans_in, node.op.fgraph.toposort()))
    return is_scan(node)


def _run_scan(
    node: Apply,
    inputs: list[Computed],
    values: Values,
    recordings: list[ScanRecording] | None,
    progress: Progress,
    evaluator: Evaluator,
) -> list[Computed]:
    """Run a Scan step by step, append its recording to `recordings`, and return its outputs."""
    step = evaluator.step(node)
    outer = dict(zip(node.inputs, inputs, strict=True))
    unwritten = {
        part: np.zeros(len(outer[part.outer_input]), dtype=bool)
        if recordings is None
        else unwritten_rows(part.outer_input, values)
        for part in step.parts.states
    }
    loop = LoopRun(node, step.parts, outer, unwritten)
    recording = step.run(loop, progress, keep=recordings is not None)
    if recordings is not None:
        check_initialized(recording)
        recordings.append(recording)
    return recording.results
