"""Runs of which only a window of steps is kept: the rest is PyTensor's work, compiled.

>>> lab.trace(derivative, keep="last")  # of every Scan its last step
>>> lab.trace(derivative, keep=slice(500, 510))

The whole graph is compiled once, with a few more outputs: what stands in every buffer where the
window begins.  From there the window is stepped as any other run is, so that nothing of it is
missing.  What is not left at the end, as a slot that was written again, is what a second Scan
leaves that makes only the steps before the window.
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
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import explicit_graph_inputs
from pytensor.tensor.basic import tensor_from_scalar
from pytensor.tensor.variable import TensorVariable

from lab.errors import ArgumentError, GraphError, argument_error, first_line, quote
from lab.gradients.decisions import decisions_of
from lab.progress import Progress
from lab.scans.backtraces import without_backtraces
from lab.scans.buffers import as_tensor
from lab.scans.node import LoopVariable, ScanParts, outer_outputs, read_node
from lab.scans.replacing import scan_nodes
from lab.scans.slices import links
from lab.tape import Kind
from lab.traces.loop_run import Computed, LoopRun, Recording
from lab.traces.run import MOST_NESTED, Ready, Values, checked_values, run

Keep = str | slice
REMEMBERED = 8  # compiled graphs
MOST_BYTES = 4_000_000_000  # of a trace


def check_keep(keep: object) -> Keep:
    """What is to be kept; ArgumentError for what cannot be."""
    if isinstance(keep, str):
        found = re.fullmatch(r"(-?[0-9]{1,15})?:(-?[0-9]{1,15})?", keep)
        if keep in ("all", "last"):
            return keep
        if found:
            keep = slice(*(None if end is None else int(end) for end in found.groups()))
    if isinstance(keep, slice) and keep.step in (None, 1):
        ends = [end for end in (keep.start, keep.stop) if end is not None]
        if all(isinstance(end, int) and not isinstance(end, bool) for end in ends):
            return keep
    raise argument_error("keep", keep, 'expected "all", "last", or a range of steps, as "500:510".')


def keep_text(keep: Keep) -> str:
    """What is to be kept as a text that `check_keep` reads: ``500:510``."""
    if isinstance(keep, str):
        return keep
    return ":".join("" if end is None else str(end) for end in (keep.start, keep.stop))


def refuse_beyond(outputs: Sequence[Variable], given: Values) -> None:
    """ArgumentError if a trace of all steps could not be held, with the window that could."""
    nodes = scan_nodes(outputs)
    known = [n for n in nodes if not scan_nodes([n.inputs[0]])]
    counts, _ = run([n.inputs[0] for n in known], given, record=False)
    made = [int(counts[node.inputs[0]]) for node in known]
    needed = sum(steps * _bytes_a_step(node) for node, steps in zip(known, made, strict=True))
    if needed > MOST_BYTES:
        steps = max(made)
        fits = max(1, steps * MOST_BYTES // needed)
        raise ArgumentError(
            f'keep = "all": {steps:,} steps would take {needed / 1e9:,.3g} GB, of at most '
            f'{MOST_BYTES / 1e9:g}; keep = "{steps - fits}:{steps}" keeps {fits:,} of them, '
            'keep = "last" the last of each Scan.'
        )


def _bytes_a_step(node: Apply) -> int:
    """What a trace holds of every step: what is in the buffers, read, written and replaced."""
    parts = read_node(node)
    sizes = 0
    for part in parts.variables:
        row = (part.inner_outputs or part.inner_inputs)[0].type
        if part.kind in (Kind.PARAMETER, Kind.UNTRACED) or None in row.shape:
            continue
        held = len(part.tape.reads) + 2 * len(part.tape.writes) + part.kind.is_state
        sizes += held * int(np.prod(row.shape)) * np.dtype(row.dtype).itemsize
    return sizes


@dataclass(frozen=True)
class Window:
    """Of the `steps` that a Scan makes those from `start` to `stop`."""

    steps: int
    start: int
    stop: int

    @property
    def length(self) -> int:
        """How many are kept."""
        return self.stop - self.start

    def rows(self, array: Variable, length: int, first: int, count: int) -> TensorVariable:
        """So many rows of an array of some `length`, the first so far behind the window's start.

        At the end of a run they are counted from there, by which PyTensor sees that it need not
        keep the others.
        """
        start = self.start + first
        if self.stop < self.steps:
            return as_tensor(array)[start : start + count]
        return as_tensor(array)[start - length : (start + count - length) or None]


def backend_name(backend: str | None) -> str:
    """What PyTensor runs a graph by: ``Numba``, ``VM``, the usual one if none is named."""
    return type(get_mode(backend).linker).__name__.removesuffix("Linker")


def run_window(
    outputs: Sequence[Variable],
    also: Sequence[Variable],
    given: Mapping[Variable, object],
    keep: Keep,
    backend: str | None,
) -> tuple[dict[Variable, Computed], list[Recording]]:
    """What `lab.traces.run.run` gives, of the window; `values` has what a `Trace` is made of.

    Of arrays that are not kept it has something that is as long.
    """
    known = checked_values(given)
    with without_backtraces():
        graph = _graph(tuple(outputs), tuple(also))
        values = graph.facts(known)
        windows = graph.windows(values, keep)
        found = _compiled(graph, tuple(windows.values()), backend)(known)
        with Progress() as progress:
            progress.expect(len(graph.scans))
            recordings = [_stepped(n, graph, one, found, progress) for n, one in windows.items()]
    held = {v: value for v, value in found.items() if isinstance(v, Variable)}
    return {**values, **held, **known}, recordings


def earliest(
    outputs: Sequence[Variable], given: Values, look: Callable[[np.ndarray], np.ndarray]
) -> slice | None:
    """Steps of the loop around the first at which a Scan writes a value that is looked for.

    The Scans are run compiled, one after another, and looked through in the order in which they
    ran; the running totals of a gradient, and what a step does not write, are not.  What is found
    in a gradient is told by the step of the loop that it goes back through.
    """
    known = checked_values(given)
    with without_backtraces():
        graph = _graph(tuple(outputs), ())
        values = graph.facts(known)
        for node, parts in graph.scans.items():
            written = _written_by(graph, node)
            rows = [] if written is None else written(*_given(graph.inputs, known))
            steps = int(values[parts.n_steps])
            met = np.zeros(steps, dtype=bool)
            for filled in map(np.asarray, rows):
                met |= look(filled[len(filled) - steps :]).reshape(steps, -1).any(axis=1)
            if met.any():
                number, turned = int(np.argmax(met)), False
                while (derivation := decisions_of(node.op)) is not None:
                    node, turned = derivation.parent, not turned
                    number = int(values[graph.scans[node].n_steps]) - 1 - number
                before = 0 if turned else min(number, BESIDE)
                return slice(number - before, number + 1 + BESIDE)
    return None


BESIDE = 8  # steps that are kept beside the one that was found


@lru_cache(maxsize=REMEMBERED)
def _written_by(graph: "_Graph", node: Apply) -> Callable[..., list[Computed]] | None:
    """A function that tells all that a Scan writes to its tapes and outputs, but for totals."""
    derivation = decisions_of(node.op)
    totals = set() if derivation is None else {t.variable.name for t in derivation.totals}
    held = [p for p in graph.scans[node].variables if p.outer_output is not None]
    told = [p.filled for p in held if p.kind is not Kind.SIT_SOT or p.name not in totals]
    return _function(graph.inputs, told, None) if told else None


class _Graph:
    """A graph, its Scans taken apart, and how long what they work on is.

    `lengths` are those of the latest run.
    """

    def __init__(self, outputs: tuple[Variable, ...], also: tuple[Variable, ...]) -> None:
        self.outputs, self.also = outputs, also
        self.ready = Ready()
        self.scans = {n: self.ready.step(n).parts for n in scan_nodes([*outputs, *also])}
        for parts in self.scans.values():
            odd = "it stops by itself; without a condition" if parts.until is not None else ""
            for part in parts.of_kind(Kind.UNTRACED):
                odd = f"the untraced state {part.name} is nowhere kept; of a sequence in its place"
            if odd:
                known = 'some steps can be kept, and as it is all, by keep = "all"'
                raise GraphError(f"keep: {parts.called}: {odd} {known}.")
        self.inputs = list(explicit_graph_inputs([*outputs, *also]))
        self.lengths: dict[Apply, dict[LoopVariable, int]] = {}
        told = dict.fromkeys(self._told())
        self._constants: dict[Variable, Computed] = {
            v: v.data for v in told if isinstance(v, Constant)
        }
        self._asked = [v for v in told if v not in self._constants]
        self._function: Callable[..., list[Computed]] | None = None

    def _told(self) -> Iterator[Variable]:
        """The numbers and arrays of which a trace needs the value, or the length."""
        for parts in self.scans.values():
            yield parts.n_steps
            for part in parts.variables:
                if part.kind not in (Kind.PARAMETER, Kind.UNTRACED):
                    yield part.outer_input
                for link in links(part.outer_input) if part.kind is Kind.SEQUENCE else ():
                    yield link.base
                    yield from link.node.inputs[1:]

    def facts(self, known: Values) -> dict[Variable, Computed]:
        """The values of the numbers, and for each array nothing that is as long."""
        if self._function is None:
            numbers = [_number(v) for v in self._asked]
            self._function = _function(self.inputs, numbers, Mode("py", "fast_compile"))
        values = dict(self._constants)
        found = self._function(*_given(self.inputs, known))
        for variable, value in zip(self._asked, found, strict=True):
            is_array = getattr(variable.type, "ndim", 0) > 0
            values[variable] = np.empty((int(value), 0)) if is_array else value
        for node, parts in self.scans.items():
            held = [v for v in parts.variables if v.kind not in (Kind.PARAMETER, Kind.UNTRACED)]
            self.lengths[node] = {
                v: int(told) if np.ndim(told := values[v.outer_input]) == 0 else len(told)
                for v in held
            }
        return values

    def windows(self, values: Values, keep: Keep) -> dict[Apply, Window]:
        """Which steps of each Scan are kept; a gradient's are those that go back through them."""
        found: dict[Apply, Window] = {}
        for node, parts in self.scans.items():
            steps = int(values[parts.n_steps])
            derivation = decisions_of(node.op)
            loop = None if derivation is None else found.get(derivation.parent)
            if isinstance(keep, str):
                first, last = steps - 1, steps
            elif loop is not None:
                first, last = loop.steps - loop.stop, loop.steps - loop.start
            else:
                first, last, _ = keep.indices(steps)
                if first >= last:
                    raise argument_error(
                        "keep", keep, f"{parts.called} runs steps 0 to {steps - 1}."
                    )
            first = max(0, min(first, steps - 1))
            found[node] = Window(steps, first, max(first + 1, min(last, steps)))
        return found


_graph = lru_cache(maxsize=REMEMBERED)(_Graph)


def _number(variable: Variable) -> Variable:
    """A number as it is, and of an array how long it is."""
    if not isinstance(variable, TensorVariable):
        return as_tensor(tensor_from_scalar(variable))
    return variable.shape[0] if variable.type.ndim else variable


def _given(inputs: Sequence[Variable], known: Values) -> Iterator[Computed]:
    for variable in inputs:
        if variable not in known:
            raise ArgumentError(f"given: there is no value for {variable} ({variable.type}).")
        yield known[variable]


def _function(
    inputs: Sequence[Variable], outputs: Sequence[Variable], mode: str | Mode | None
) -> Callable[..., list[Computed]]:
    """A compiled function; GraphError where that fails."""
    try:
        with warnings.catch_warnings():  # that Numba runs in Python what calls it again
            warnings.filterwarnings("ignore", "Numba will use object mode")
            return pytensor.function(
                inputs, list(outputs), mode=get_mode(mode), on_unused_input="ignore"
            )
    except Exception as error:  # whatever a backend makes of a graph
        raise GraphError(f"backend = {quote(mode)}: {first_line(error)}") from error


Found = Mapping[object, Computed]  # by variable, or by part and number


@lru_cache(maxsize=REMEMBERED)
def _compiled(
    graph: _Graph, windows: tuple[Window, ...], backend: str | None
) -> Callable[[Values], Found]:
    """The graph, compiled, with what its windows begin with as further outputs."""
    asked: dict[object, Variable] = {v: v for v in graph.outputs}
    for (node, parts), window in zip(graph.scans.items(), windows, strict=True):
        before = _before(node, parts, window)
        for part in parts.variables:
            if part.kind is Kind.PARAMETER:
                asked[part.outer_input] = part.outer_input
            elif part.kind is not Kind.NIT_SOT:
                length = graph.lengths[node][part]
                for number, rows in enumerate(_beginning(part, window, length, before)):
                    asked[part, number] = rows
    function = _function(graph.inputs, list(asked.values()), backend)
    return lambda known: dict(zip(asked, function(*_given(graph.inputs, known)), strict=True))


def _before(
    node: Apply, parts: ScanParts, window: Window
) -> Mapping[LoopVariable, Variable] | None:
    """What the buffers of a Scan hold where a window begins, by a Scan that ends there.

    None where that can be told from what the whole Scan leaves: a row that is written once, and
    is kept anyway, as the running totals of a gradient are not.
    """
    once = all(len(part.tape.writes) == 1 for part in parts.of_kind(Kind.MIT_MOT))
    at_end = window.stop == window.steps or decisions_of(node.op) is None
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


def _beginning(
    part: LoopVariable, window: Window, length: int, before: Mapping[LoopVariable, Variable] | None
) -> Iterator[TensorVariable]:
    """The rows that a variable brings to a window; then those that were written meanwhile."""
    tape = part.tape
    if part.kind is Kind.SEQUENCE:
        yield window.rows(part.outer_input, length, 0, window.length)
        return
    count = tape.rows(window.length) if part.kind is Kind.MIT_MOT else tape.origin
    if before is not None:
        yield as_tensor(before[part])[window.start : window.start + count]
    elif part.kind is not Kind.MIT_MOT:
        yield window.rows(part.filled, length, 0, count)
    else:  # copied, or the Scan could not write over what it is handed
        yield as_tensor(deep_copy_op(window.rows(part.outer_input, length, 0, count)))
        (first, last) = _written(part, window)
        if last > first:
            yield window.rows(part.filled, length, first, last - first)


def _written(part: LoopVariable, window: Window) -> tuple[int, int]:
    """From which to which of the rows of a window steps before it have written, at a single tap."""
    last = part.tape.origin + max(part.tape.writes)
    return max(0, last - window.start), last


def _stepped(
    node: Apply, graph: _Graph, window: Window, found: Found, progress: Progress
) -> Recording:
    """The steps of a window, from what stood in the buffers where it begins."""
    parts = graph.scans[node]
    outer: dict[Variable, Computed] = {parts.n_steps: np.asarray(window.length)}
    unwritten: dict[LoopVariable, np.ndarray] = {}
    for part in parts.variables:
        if part.kind is Kind.NIT_SOT:
            outer[part.outer_input] = np.asarray(window.length)
            continue
        if part.kind is Kind.PARAMETER:
            outer[part.outer_input] = found[part.outer_input]
            continue
        rows = np.array(found[part, 0])
        if part.kind is Kind.MIT_MOT:
            if (part, 1) in found:
                rows[slice(*_written(part, window))] = found[part, 1]
            unwritten[part] = np.zeros(len(rows), dtype=bool)
        elif part.kind.is_state:
            room = np.zeros((window.length, *rows.shape[1:]), rows.dtype)
            unwritten[part] = np.arange(len(rows) + len(room)) >= len(rows)
            rows = np.concatenate([rows, room])
        outer[part.outer_input] = rows
    loop = LoopRun(node, parts, outer)
    loop.blank(unwritten)
    step = graph.ready.step(node)
    step.begin(progress, window.length <= MOST_NESTED)
    recording = loop.run(step, progress.steps(parts.called, window.length), keep=True)
    recording.first, recording.lengths = window.start, graph.lengths[node]
    return recording
