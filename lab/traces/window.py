"""Record a window of steps, and run the other steps by compiled code.

>>> lab.trace(derivative, keep="last")  # the last step of each Scan
>>> lab.trace(derivative, keep=slice(500, 510))

PyTensor compiles the whole graph once, with additional outputs: the contents of every buffer at the
start of the window.  Then the steps of the window run one by one, as in any other trace.  If the
final buffers no longer contain a required value, a second Scan runs up to the window.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode, get_mode
from pytensor.compile.ops import deep_copy_op
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import explicit_graph_inputs
from pytensor.tensor.basic import tensor_from_scalar
from pytensor.tensor.variable import TensorVariable

from lab.errors import ArgumentError, GraphError, argument_error, first_line, quote, slice_text
from lab.gradients.decisions import relation_of
from lab.progress import Progress
from lab.scans.backtraces import without_backtraces
from lab.scans.buffers import as_tensor
from lab.scans.node import LoopVariable, ScanParts, outer_outputs, read_node
from lab.scans.replacing import scan_nodes
from lab.scans.slices import links
from lab.tape import Kind
from lab.traces.loop_run import Computed, LoopRun, ScanRecording
from lab.traces.run import Evaluator, Values, check_steps, checked_values, missing_values, run

Keep = str | slice
REMEMBERED = 8  # the number of compiled graphs in the cache
MOST_BYTES = 4_000_000_000  # largest size of a trace
DROPS_A_ROW = "scan_push_out_non_seq"  # a rewrite, wrong for a step that reads only parameters


def check_keep(keep: object) -> Keep:
    """Return `keep` as "all", "last", or a slice; raise ArgumentError for another value."""
    if isinstance(keep, str):
        match = re.fullmatch(r"(-?[0-9]{1,15})?:(-?[0-9]{1,15})?", keep)
        if keep in ("all", "last"):
            return keep
        if match:
            keep = slice(*(None if end is None else int(end) for end in match.groups()))
    if isinstance(keep, slice) and keep.step in (None, 1):
        ends = [end for end in (keep.start, keep.stop) if end is not None]
        if all(isinstance(end, int) and not isinstance(end, bool) for end in ends):
            return keep
    raise argument_error("keep", keep, 'expected "all", "last", or a range of steps: "500:510".')


def keep_text(keep: Keep) -> str:
    """Return `keep` as a text that `check_keep` reads: ``500:510``."""
    return keep if isinstance(keep, str) else slice_text(keep)


def check_size(outputs: Sequence[Variable], given: Values, keep: Keep) -> None:
    """Raise ArgumentError for too few steps, and if a trace of all steps needs too much memory."""
    scans = [scan for scan in map(read_node, scan_nodes(outputs)) if not scan_nodes([scan.n_steps])]
    values, _ = run([scan.n_steps for scan in scans], given, record=False)
    counts = {scan: int(values[scan.n_steps]) for scan in scans}
    for scan, steps in counts.items():
        check_steps(scan, steps, least=0 if keep == "all" else 1)
    needed = sum(steps * _bytes_per_step(scan) for scan, steps in counts.items())
    if keep == "all" and needed > MOST_BYTES:
        steps = max(counts.values())
        fits = max(1, steps * MOST_BYTES // needed)
        raise ArgumentError(
            f'keep = "all": {steps:,} steps need {needed / 1e9:,.3g} GB, more than '
            f'{MOST_BYTES / 1e9:g}. Pass keep = "{steps - fits}:{steps}" for {fits:,} steps, or '
            'keep = "last".'
        )


def _bytes_per_step(scan: ScanParts) -> int:
    """Return the number of bytes that a trace of a Scan needs for each step.

    A trace contains one array for a variable whose rows are never overwritten.  For every other
    tape, the trace contains the initial and final rows, the reads, and the writes.  Parameters,
    untraced states, and rows of unknown shape are not counted.
    """
    sizes = 0
    for part in scan.variables:
        row = (part.inner_outputs or part.inner_inputs)[0].type
        if part.kind in (Kind.PARAMETER, Kind.UNTRACED) or None in row.shape:
            continue
        tape, is_replaced = part.tape, part.kind is Kind.MIT_MOT
        held = 2 + len(tape.reads) + len(tape.writes) if is_replaced else 1
        sizes += held * int(np.prod(row.shape)) * np.dtype(row.dtype).itemsize
    return sizes


@dataclass(frozen=True)
class Window:
    """Steps `start` to `stop` − 1 of a Scan with `steps` steps."""

    steps: int
    start: int
    stop: int

    @property
    def length(self) -> int:
        """The number of recorded steps."""
        return self.stop - self.start

    def rows(self, array: Variable, length: int, first: int, count: int) -> TensorVariable:
        """Return `count` rows of `array`, starting `first` rows after the start of the window.

        The array has `length` rows.  The rows of a window at the end of a run are counted from the
        end, so that PyTensor stores only these rows.
        """
        start = self.start + first
        if self.stop < self.steps:
            return as_tensor(array)[start : start + count]
        return as_tensor(array)[start - length : (start + count - length) or None]


def backend_name() -> str:
    """Return the name of PyTensor's backend: ``Numba`` or ``VM``."""
    return type(get_mode(None).linker).__name__.removesuffix("Linker")


def run_window(
    outputs: Sequence[Variable], also: Sequence[Variable], given: Values, keep: Keep
) -> tuple[dict[Variable, Computed], list[ScanRecording]]:
    """Return the values that a `Trace` needs, and the recordings of the steps in the window.

    For an array that is not recorded, the value has the length of the array but no entries.
    """
    with without_backtraces():
        graph = _graph(tuple(outputs), tuple(also))
        values = graph.facts(given)
        windows = graph.windows(values, keep)
        results = _compiled(graph, tuple(windows.values()), pytensor.config.mode)(given)
        with Progress() as progress:
            progress.expect(len(graph.scans))
            recordings = [_record(n, graph, one, results, progress) for n, one in windows.items()]
    held = {v: value for v, value in results.items() if isinstance(v, Variable)}
    return {**values, **held, **given}, recordings


def earliest(
    outputs: Sequence[Variable], given: Values, look: Callable[[np.ndarray], np.ndarray]
) -> slice | None:
    """Return the steps of the loop around the first step that writes a match, or None.

    `look` returns a mask of matching entries.  PyTensor runs the compiled Scans; the search follows
    the order of execution.  The search excludes values inside the steps and running totals of
    gradients.  For a match in a gradient, the result contains the differentiated step of the loop.
    """
    known = checked_values(given)
    with without_backtraces():
        graph = _graph(tuple(outputs), ())
        values = graph.facts(known)
        for node, parts in graph.scans.items():
            written = _buffer_function(graph, node)
            rows = [] if written is None else written(*_given(graph.inputs, known))
            steps = int(values[parts.n_steps])
            matches = np.zeros(steps, dtype=bool)
            for filled in map(np.asarray, rows):
                matches |= look(filled[len(filled) - steps :]).reshape(steps, -1).any(axis=1)
            if matches.any():
                number, turned = int(np.argmax(matches)), False
                while (relation := relation_of(node.op)) is not None:
                    node, turned = relation.parent, not turned
                    number = int(values[graph.scans[node].n_steps]) - 1 - number
                before = 0 if turned else min(number, NEIGHBORS)
                return slice(number - before, number + 1 + NEIGHBORS)
    return None


NEIGHBORS = 8  # largest number of recorded steps before and after a match


@lru_cache(maxsize=REMEMBERED)
def _buffer_function(graph: "_Graph", node: Apply) -> Callable[..., list[Computed]] | None:
    """Return a function that computes the tapes and outputs of a Scan without sums, or None."""
    relation = relation_of(node.op)
    totals = set() if relation is None else {t.variable.name for t in relation.totals}
    stored = [p for p in graph.scans[node].variables if p.outer_output is not None]
    arrays = [p.filled for p in stored if p.kind is not Kind.SIT_SOT or p.name not in totals]
    return _function(graph.inputs, arrays, None) if arrays else None


class _Graph:
    """A graph with its Scans, and the `lengths` of their arrays in the latest run."""

    def __init__(self, outputs: tuple[Variable, ...], also: tuple[Variable, ...]) -> None:
        self.outputs, self.also = outputs, also
        self.evaluator = Evaluator()
        self.scans = {n: self.evaluator.step(n).parts for n in scan_nodes([*outputs, *also])}
        for parts in self.scans.values():
            reason = "it stops on a condition" if parts.until is not None else ""
            for part in parts.of_kind(Kind.UNTRACED):
                reason = f"the untraced state {part.name} is not stored"
            if reason:
                raise GraphError(f'keep: {parts.called}: {reason}. Pass keep = "all".')
        self.inputs = list(explicit_graph_inputs([*outputs, *also]))
        self.lengths: dict[Apply, dict[LoopVariable, int]] = {}
        self._needed = list(dict.fromkeys(self._needed_variables()))
        self._function: Callable[..., list[Computed]] | None = None

    def _needed_variables(self) -> Iterator[Variable]:
        """Yield the numbers whose values a trace needs, and the arrays whose lengths it needs."""
        for parts in self.scans.values():
            yield parts.n_steps
            for part in parts.variables:
                if part.kind not in (Kind.PARAMETER, Kind.UNTRACED):
                    yield part.outer_input
                for link in links(part.outer_input) if part.kind is Kind.SEQUENCE else ():
                    yield link.base
                    yield from link.node.inputs[1:]

    def facts(self, known: Values) -> dict[Variable, Computed]:
        """Return the numbers that a trace needs, and store the lengths of arrays in `lengths`.

        Instead of an array, the result contains an array of the same length without entries.
        """
        if self._function is None:
            scalars = (v for v in self._needed if not isinstance(v, TensorVariable))
            made = {v: tensor_from_scalar(v) for v in scalars}
            tensors = [as_tensor(made.get(v, v)) for v in self._needed]
            numbers: list[Variable] = [v.shape[0] if v.type.ndim else v for v in tensors]
            self._function = _function(self.inputs, numbers, Mode("py", "fast_compile"))
        values: dict[Variable, Computed] = {}
        results = self._function(*_given(self.inputs, known))
        for variable, value in zip(self._needed, results, strict=True):
            is_array = getattr(variable.type, "ndim", 0) > 0
            values[variable] = np.empty((int(value), 0)) if is_array else value
        for node, parts in self.scans.items():
            self.lengths[node] = {
                v: int(value) if np.ndim(value := values[v.outer_input]) == 0 else len(value)
                for v in parts.variables
                if v.kind not in (Kind.PARAMETER, Kind.UNTRACED)
            }
        return values

    def windows(self, values: Values, keep: Keep) -> dict[Apply, Window]:
        """Return the window of each Scan; raise ArgumentError for an empty range.

        The window is the last step of every Scan if `keep` is "last".  If `keep` is a range, the
        window of a derivative contains the steps that differentiate the window of its parent.
        """
        windows: dict[Apply, Window] = {}
        for node, parts in self.scans.items():
            steps = int(values[parts.n_steps])
            for part in parts.of_kind(Kind.MIT_SOT):
                if (rows := self.lengths[node][part]) < steps + part.tape.origin:
                    needs = f"{rows - steps} initial values, but its taps are {part.tape}"
                    raise ArgumentError(f"{parts.called}: {part.name} has {needs}.")
            relation = relation_of(node.op)
            loop = None if relation is None else windows.get(relation.parent)
            if isinstance(keep, str):
                first, last = steps - 1, steps
            elif loop is not None:
                first, last = loop.steps - loop.stop, loop.steps - loop.start
            else:
                first, last, _ = keep.indices(steps)
                if first >= last:
                    reason = f"{parts.called} runs steps 0 to {steps - 1}."
                    raise argument_error("keep", keep, reason)
            first = max(0, min(first, steps - 1))
            windows[node] = Window(steps, first, max(first + 1, min(last, steps)))
        return windows


_graph = lru_cache(maxsize=REMEMBERED)(_Graph)


def _given(inputs: Sequence[Variable], known: Values) -> Iterator[Computed]:
    missing = [variable for variable in inputs if variable not in known]
    if missing:
        raise missing_values(missing)
    return (known[variable] for variable in inputs)


def _function(
    inputs: Sequence[Variable], outputs: Sequence[Variable], mode: str | Mode | None
) -> Callable[..., list[Computed]]:
    """Return a compiled function; raise GraphError if PyTensor fails to compile or to run it."""
    try:
        with warnings.catch_warnings():  # PyTensor warns about callbacks to Python
            warnings.filterwarnings("ignore", "Numba will use object mode")
            chosen = get_mode(mode).excluding(DROPS_A_ROW)
            function = pytensor.function(inputs, list(outputs), chosen, on_unused_input="ignore")
    except Exception as error:  # backends raise many types
        raise GraphError(f"mode = {quote(mode)}: {first_line(error)}") from error

    def call(*values: Computed) -> list[Computed]:
        try:
            return list(function(*values))
        except Exception as error:
            raise GraphError(f"a compiled loop failed: {first_line(error)}") from error

    return call


Results = Mapping[object, Computed]  # keys are variables, or pairs of loop variable and number


@lru_cache(maxsize=REMEMBERED)
def _compiled(graph: _Graph, windows: tuple[Window, ...], mode: str) -> Callable[[Values], Results]:
    """Return a function of the inputs that computes the outputs and the windows' initial rows."""
    requested: dict[object, Variable] = {v: v for v in graph.outputs}
    for (node, parts), window in zip(graph.scans.items(), windows, strict=True):
        before = _buffers_at_start(node, parts, window)
        for part in parts.variables:
            if part.kind is Kind.PARAMETER:
                requested[part.outer_input] = part.outer_input
            elif part.kind is not Kind.NIT_SOT:
                length = graph.lengths[node][part]
                for number, rows in enumerate(_initial_rows(part, window, length, before)):
                    requested[part, number] = rows
    function = _function(graph.inputs, list(requested.values()), mode)
    return lambda known: dict(zip(requested, function(*_given(graph.inputs, known)), strict=True))


def _buffers_at_start(
    node: Apply, parts: ScanParts, window: Window
) -> Mapping[LoopVariable, Variable] | None:
    """Return the buffers at the start of a window, from a Scan that runs up to the window.

    Returns None if the final buffers still contain the required rows.
    """
    once = all(len(part.tape.writes) == 1 for part in parts.of_kind(Kind.MIT_MOT))
    at_end = window.stop == window.steps or relation_of(node.op) is None
    if not window.start or (once and at_end):
        return None
    steps = np.int64(window.start)
    cut = [
        as_tensor(part.outer_input)[: window.start + part.tape.origin]
        if part.kind in (Kind.SIT_SOT, Kind.MIT_SOT)
        else pt.constant(steps)
        if part.kind is Kind.NIT_SOT
        else part.outer_input
        for part in parts.variables
    ]
    return outer_outputs(parts, node.op.make_node(pt.constant(steps), *cut))


def _initial_rows(
    part: LoopVariable, window: Window, length: int, before: Mapping[LoopVariable, Variable] | None
) -> Iterator[TensorVariable]:
    """Yield the initial rows of a variable in a window, then the rows written before the window."""
    tape = part.tape
    if part.kind is Kind.SEQUENCE:
        yield window.rows(part.outer_input, length, 0, window.length)
        return
    count = tape.rows(window.length) if part.kind is Kind.MIT_MOT else tape.origin
    if before is not None:
        yield as_tensor(before[part])[window.start : window.start + count]
    elif part.kind is not Kind.MIT_MOT:
        yield window.rows(part.filled, length, 0, count)
    else:  # the Scan may work in place on this copy
        yield as_tensor(deep_copy_op(window.rows(part.outer_input, length, 0, count)))
        (first, last) = _written_rows(part, window)
        if last > first:
            yield window.rows(part.filled, length, first, last - first)


def _written_rows(part: LoopVariable, window: Window) -> tuple[int, int]:
    """Return the range of a window's rows that earlier steps wrote."""
    last = part.tape.origin + max(part.tape.writes)
    return max(0, last - window.start), last


def _record(
    node: Apply, graph: _Graph, window: Window, results: Results, progress: Progress
) -> ScanRecording:
    """Return the recording of a window, whose steps run from the buffer contents at its start."""
    parts = graph.scans[node]
    counts = (parts.n_steps, *(part.outer_input for part in parts.of_kind(Kind.NIT_SOT)))
    outer: dict[Variable, Computed] = dict.fromkeys(counts, np.asarray(window.length))
    parameters = (part.outer_input for part in parts.of_kind(Kind.PARAMETER))
    outer |= {parameter: results[parameter] for parameter in parameters}
    unwritten: dict[LoopVariable, np.ndarray] = {}
    for part in (*parts.of_kind(Kind.SEQUENCE), *parts.states):
        rows = np.array(results[part, 0])
        if part.kind is Kind.MIT_MOT:
            if (part, 1) in results:
                rows[slice(*_written_rows(part, window))] = results[part, 1]
            unwritten[part] = np.zeros(len(rows), dtype=bool)
        elif part.kind.is_state:
            room = np.zeros((window.length, *rows.shape[1:]), rows.dtype)
            unwritten[part] = np.arange(len(rows) + len(room)) >= len(rows)
            rows = np.concatenate([rows, room])
        outer[part.outer_input] = rows
    loop = LoopRun(node, parts, outer, unwritten)
    recording = graph.evaluator.step(node).run(loop, progress, keep=True)
    recording.first, recording.lengths = window.start, graph.lengths[node]
    return recording
