"""Run a graph, and describe its Scans in a `Trace` with names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from weakref import finalize

import numpy as np
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors, explicit_graph_inputs

from lab.errors import argument_error, check_sequence, check_type, printable
from lab.gradients.decisions import ReadingGroup, Relation, scan_names
from lab.gradients.derivative import Derivative
from lab.gradients.step import Numbering
from lab.gradients.symbols import ResultName
from lab.notation import Leaf, tap_symbol
from lab.progress import pause
from lab.records import freeze
from lab.scans.backtraces import printed_ids
from lab.scans.buffers import rows_of
from lab.scans.names import PREFIXES, split_name
from lab.scans.node import LoopVariable, ScanParts
from lab.scans.replacing import as_scans, require_scan, scan_nodes
from lab.scans.slices import current_row, cut_of
from lab.tape import Kind
from lab.traces.faults import outer_faults
from lab.traces.loop_run import InnerRun, ScanRecording
from lab.traces.origins import RowOrigins, feeds
from lab.traces.recognition import label_derivatives, relations
from lab.traces.rewritten import rewrite_scans
from lab.traces.run import Values, check_inputs, checked_values, run
from lab.traces.step_values import step_equations, step_values, targets
from lab.traces.trace import (
    Axis,
    Generator,
    Input,
    ParameterTrace,
    ScanTrace,
    SequenceTrace,
    TapeTrace,
    Trace,
)
from lab.traces.window import backend_name, check_keep, check_size, run_window


def trace(
    outputs: Derivative | Variable | Sequence[Variable],
    given: Mapping[Variable, object] | None = None,
    also: Iterable[Variable] = (),
    names: Sequence[str] | None = None,
    rewritten: bool = False,
    keep: str | slice = "all",
) -> Trace:
    """Run the graph of `outputs` uncompiled, and record the reads and writes of its Scans.

    `outputs` are variables or a `Derivative`; `names` replaces the names of the outputs.
    `given` maps inputs to values; the derivative of a loop has default values.  The trace also
    contains Scans on which only the variables `also` depend.  With `rewritten`, the
    graph runs after PyTensor's canonicalizing and stabilizing rewrites, as in the mode
    FAST_COMPILE.  A run of more than a second shows its progress and can be interrupted.

    For a long loop, `keep` selects the steps to record: "all", the "last" step of each Scan, or a
    range of the loop's steps (a slice, or "500:510").  A range includes the corresponding steps of
    the derivatives.  PyTensor then compiles the graph in its mode `pytensor.config.mode`, and runs
    it; the recorded steps are recomputed from the contents of the buffers.

    Raises GraphError for a graph without Scans.  Raises ArgumentError for an invalid argument, for
    a missing value, for a sequence that is too short, and for a trace that needs too much memory.
    """
    derived = outputs if isinstance(outputs, Derivative) else None
    if isinstance(outputs, Derivative):
        names = outputs.names if names is None else names
        if given is None or isinstance(given, Mapping):
            given = {**outputs.given, **(given or {})}
        outputs = outputs.values
    asked = [outputs] if isinstance(outputs, Variable) else outputs
    asked = list(check_sequence("outputs", asked, "a Derivative, or PyTensor variables", Variable))
    extra = list(check_sequence("also", also, "PyTensor variables", Variable))
    if names is not None:
        names = check_sequence("names", names, "a name for each output")
        if len(names) != len(asked) or not all(isinstance(name, str) for name in names):
            raise argument_error("names", names, "expected a name for each output.")
    check_type("rewritten", rewritten, bool, "True or False")
    keep = check_keep(keep)
    if keep != "all" and rewritten:
        raise argument_error("keep", keep, 'expected "all" for a rewritten graph.')
    given = checked_values(given)
    called = [printable(v.name or "") for v in asked] if names is None else names
    everything = as_scans([*asked, *extra])
    ids = printed_ids(asked) if everything[: len(asked)] == asked and not rewritten else {}
    require_scan(everything)
    inputs = list(explicit_graph_inputs(everything))
    check_inputs(given, inputs)
    if rewritten:
        everything, origins = rewrite_scans(everything)
    label_derivatives(scan_nodes(everything))
    asked, extra = everything[: len(asked)], everything[len(asked) :]
    check_size(everything, given, keep)
    if keep == "all":
        values, recordings = run(everything, given)
    else:
        values, recordings = run_window(asked, extra, given, keep)
    if rewritten:
        for recording in recordings:
            recording.node = origins.get(recording.node, recording.node)
    result = build_trace(asked, inputs, called, values, recordings, ids)
    if keep != "all":
        return replace(result, backend=backend_name())
    if derived is not None:
        _DERIVED[id(result)] = derived, given
        finalize(result, _DERIVED.pop, id(result), None)
    return result


_DERIVED: dict[int, tuple[Derivative, Values]] = {}  # keys are the ids of traces in use


def derivative_of(trace: Trace) -> tuple[Derivative, Values] | None:
    """Return the derivative that `trace` records, and the values of its inputs.

    A trace is plain data without a graph.  The process that recorded a trace stores the graph as
    long as the trace is in use.  For any other trace, the result is None.
    """
    return _DERIVED.get(id(trace))


def build_trace(
    asked: Sequence[Variable],
    inputs: Sequence[Variable],
    called: Iterable[str],
    values: Values,
    recordings: Sequence[ScanRecording],
    ids: Mapping[object, str] | None = None,
) -> Trace:
    """Describe the recordings of a graph as a `Trace`; `ids` are the printed ids of the Scans."""
    index = {recording.node: number for number, recording in enumerate(recordings)}
    used = set(ancestors(asked))
    scans: list[ScanTrace] = []
    axes: dict[Variable, Axis] = {}
    numbers = Numbering()
    filled: dict[Variable, tuple[int, int]] = {}
    ends: dict[tuple[int | None, int], Variable] = {}
    names_of_scans = scan_names([recording.node for recording in recordings])
    rows = RowOrigins(filled, recordings, values)
    related = relations([recording.parts for recording in recordings])
    for number, (recording, relation) in enumerate(zip(recordings, related, strict=True)):
        pause()
        node, parts = recording.node, recording.parts
        above = _parent(relation, recordings[:number])
        pairs = list(_variables(recording, above, relation, values, axes, used))
        axes |= {_array(parts.variables[v.argument]): axis for v, axis in pairs if axis is not None}
        traced_variables = [variable for variable, _ in pairs]
        tapes = [v for v in traced_variables if isinstance(v, TapeTrace)]
        variables = list(enumerate(parts.variables))
        computed_outputs = [
            (i, v.outer_input, len(recording.final[v]) if v.kind.is_state else recording.steps)
            for i, v in variables
            if v.kind is not Kind.NIT_SOT
        ]
        inside, step_results = step_values(recording, relation, above, numbers)
        first, n_steps = recording.first, int(values[parts.n_steps])
        word = PREFIXES.get("".join(split_name(parts.name)[0][:1]))
        is_loop = above is None and not parts.of_kind(Kind.MIT_MOT)
        scans.append(
            ScanTrace(
                base_name=names_of_scans[number],
                steps=recording.steps,
                order=relation.order if relation is not None else 0,
                parent=index[above.node] if above is not None else None,
                tapes=tuple(tape for tape in tapes if tape.kind is not Kind.NIT_SOT),
                sequences=tuple(v for v in traced_variables if isinstance(v, SequenceTrace)),
                parameters=tuple(v for v in traced_variables if isinstance(v, ParameterTrace)),
                outputs=tuple(tape for tape in tapes if tape.kind is Kind.NIT_SOT),
                untraced=tuple(part.name for part in parts.of_kind(Kind.UNTRACED)),
                inside=inside,
                results=step_results,
                feeds=feeds(computed_outputs, rows, first=first),
                stopped_early=not recording.lengths and recording.steps < n_steps,
                formulas=step_equations(node, parts),
                nested=tuple(_nested(parts, step) for step in recording.nested),
                first=first,
                is_pushforward=is_loop and word in ("tangent", "series"),
                id=(ids or {}).get(node, ""),
                printed=str(node.op),
            )
        )
        filled |= {v.outer_output: (number, i) for i, v in variables if v.outer_output is not None}
        ends |= {(number, i): variable for i, variable, _ in computed_outputs}
    results = tuple(freeze(np.array(values[v])) for v in asked)
    fed = feeds([(i, v, np.size(values[v])) for i, v in enumerate(asked)], rows, values)
    known = tuple(_inputs(inputs, values))
    ends |= {(None, i): variable for i, variable in enumerate(asked)}
    names = {v: recordings[n].parts.variables[i].name for v, (n, i) in filled.items()}
    outside = outer_faults(ends, values, names)
    named = tuple(name if isinstance(name, ResultName) else ResultName(name) for name in called)
    return Trace(results, tuple(scans), names=named, feeds=fed, inputs=known, outside=outside)


def _nested(parts: ScanParts, step: InnerRun) -> Trace:
    """Return a trace of the Scans inside one step of a Scan."""
    symbols = {result: tap_symbol(leaf.variable, leaf.tap or 0) for leaf, result in targets(parts)}
    return build_trace(
        list(symbols), parts.inner_inputs, symbols.values(), step.values, step.recordings
    )


def _parent(relation: Relation | None, before: Sequence[ScanRecording]) -> ScanRecording | None:
    """Return the recording in `before` of the Scan that a derivative differentiates, or None.

    If `before` does not contain this Scan, as inside a step, the result is the latest recording of
    an equal Scan.
    """
    if relation is None:
        return None
    own = (scan for scan in before if scan.node is relation.parent)
    alike = (scan for scan in reversed(before) if scan.node.op == relation.parent.op)
    return next(chain(own, alike), None)


def _inputs(inputs: Sequence[Variable], given: Values) -> Iterator[Input]:
    """Yield an `Input` for each input of a graph that has a value."""
    for variable in inputs:
        value, name = given.get(variable), printable(variable.name or "")
        if isinstance(value, np.random.Generator):
            yield Input(name, Generator.of(value))
        elif variable in given:
            yield Input(name, freeze(np.array(value)))


def _variables(
    recording: ScanRecording,
    above: ScanRecording | None,
    relation: Relation | None,
    values: Values,
    axes: Mapping[Variable, Axis],
    used: set[Variable],
) -> Iterator[tuple[TapeTrace | SequenceTrace | ParameterTrace, Axis | None]]:
    """Yield the trace of each variable of a Scan that has values, and the axis of its array.

    `above` is the recording of the Scan that the Scan differentiates.  `axes` contains the axes of
    arrays of earlier Scans.
    """
    parts = recording.parts
    built = parts.variables
    sources: dict[LoopVariable, LoopVariable] = {}
    origins: dict[LoopVariable, tuple[Leaf, ReadingGroup]] = {}
    if relation is not None:  # both lists have the same order
        built, sources = relation.backward.variables, relation.sources
        places = {part: i for i, part in enumerate(relation.forward.variables)}
        origins = {
            r.variable: (Leaf(r.source.name, r.tap, places[r.source]), r.group)
            for r in relation.readings
        }
        if above is not None:  # the parent or a copy
            sources = {v: above.parts.variables[places[s]] for v, s in sources.items()}
    for position, (part, variable) in enumerate(zip(parts.variables, built, strict=True)):
        source = sources.get(variable)
        if part.kind is Kind.SEQUENCE:
            (read,) = recording.reads[part]
            axis = _sequence_axis(part, source, values, axes)
            shown = _cut(axis, read.rows + recording.first)
            origin, group = origins.get(variable, (None, None))
            now = 0 if relation is not None else current_row(cut_of(part.outer_input).base)
            sequence = partial(SequenceTrace, part.name, position, freeze(read.values), axis=shown)
            yield sequence(source=origin, group=group, now=now), axis
        elif part.kind is Kind.PARAMETER and hasattr(part.outer_input.type, "dtype"):
            value = freeze(np.array(values[part.outer_input]))
            yield ParameterTrace(part.name, position, value), None
        elif part.kind.is_state or part.kind is Kind.NIT_SOT:
            tape = _tape_trace(recording, part, position, source, used)
            length = recording.lengths.get(part, len(tape.initial))
            rows = recording.first + np.arange(len(tape.initial))
            known = _tape_axis(part, length, source, axes)
            yield tape if known is None else replace(tape, axis=_cut(known, rows)), known


def _array(part: LoopVariable) -> Variable:
    """Return the array with all values of a variable."""
    return part.outer_input if part.kind is Kind.SEQUENCE else part.filled


def _tape_trace(
    recording: ScanRecording,
    part: LoopVariable,
    position: int,
    source: LoopVariable | None,
    used: set[Variable],
) -> TapeTrace:
    final = np.asarray(recording.final[part])
    initial = recording.initial[part] if part in recording.initial else np.zeros_like(final)
    missing = recording.unwritten[part] if part in recording.initial else np.ones(len(final), bool)
    return TapeTrace(
        name=part.name,
        argument=position,
        kind=part.kind,
        tape=part.tape,
        initial=freeze(initial),
        unwritten=freeze(missing),
        reads=tuple(recording.reads.get(part, ())),
        writes=tuple(recording.writes.get(part, ())),
        final=freeze(final),
        gradient_of=source.name if source is not None else None,
        used=part.outer_output in used,
    )


def _sequence_axis(
    part: LoopVariable, source: LoopVariable | None, values: Values, axes: Mapping[Variable, Axis]
) -> Axis:
    """Return the axis of a sequence: the name of its quantity, and the index of each row."""
    array, rows = rows_of(part.outer_input, values, () if source is None else axes)
    if source is None:  # a loop, not a derivative
        filled, taken = rows_of(part.outer_input, values, axes)
        known = axes.get(filled)
        if known is not None and known.variable == part.name:  # the names agree
            return Axis(known.variable, freeze(known.index[taken]))
        return Axis(part.name, freeze(rows if array.owner is None else np.arange(len(rows))))
    known = axes.get(array)
    if known is None:  # the gradient of an output
        output = source.outer_output
        known = None if output is None else axes.get(output)
        if known is None or len(known.index) < len(values[array]):
            return Axis(source.name, freeze(rows))
    return Axis(known.variable, freeze(known.index[rows]))


def _cut(axis: Axis, rows: np.ndarray) -> Axis:
    return Axis(axis.variable, freeze(axis.index[rows]))


def _tape_axis(
    part: LoopVariable, rows: int, source: LoopVariable | None, axes: Mapping[Variable, Axis]
) -> Axis | None:
    """Return the axis of a tape, or None if its quantity is unknown.

    The rows of a state are its values in time.  The tape of a gradient contains the gradients of
    the rows of the parent's tape, last first.  The row i of the gradients of a sequence is
    computed by backward step i.
    """
    if source is None:
        if part.kind is Kind.MIT_MOT:
            return None
        return Axis(part.name, freeze(np.arange(rows)))
    if source.kind is Kind.PARAMETER:
        return None
    known = axes.get(_array(source))
    if known is None or len(known.index) < rows:
        return None
    return Axis(known.variable, freeze(known.index[:rows][::-1]))
