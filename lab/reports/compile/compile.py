"""Report the effect of PyTensor's rewrites for a compiled function on the Scans of a graph.

    >>> print(lab.compiled(xs[-1]))                  # the loop only: its buffer is shortened
    >>> print(lab.compiled(xs[-1], wrt=x0))          # with its gradient, which reads all rows
    >>> print(lab.compiled(function))                # an existing function

The rewrites of the compilation mode are applied to a copy of the graph, and nothing is compiled.
The fusion of elementwise operations is not applied: it changes no Scan, and it would make the
expressions for numbers of rows unreadable.

The listener of `rewriting` records the replacement of every output that something reads.  Other
buffers are matched by their position among buffers of equal kind and taps.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytensor
from pytensor.compile import Function
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import toposort

from lab.checks.check import value_at
from lab.errors import ArgumentError, argument_error, first_line, listing
from lab.gradients.decisions import scan_names
from lab.gradients.derivative import check_differentiable, derivative, differentiate
from lab.loops.loop import Loop
from lab.loops.scan_call import scan_call
from lab.loops.text.source import identifier
from lab.reports.compile.buffers import read_buffer, step_count
from lab.reports.compile.compiled import (
    Compiled,
    LateGradient,
    Rewrite,
    ScanAfter,
    ScanBefore,
    ScanOutcome,
)
from lab.reports.compile.rewriting import (
    REVERT,
    PytensorMode,
    Rewriting,
    inputs_of,
    linker_name,
    rewritten,
)
from lab.reports.explain.traps import variable_label
from lab.scans.buffers import as_tensor
from lab.scans.node import LoopVariable, ScanParts, inner_graph, is_scan, read_node
from lab.scans.operations import plain_name
from lab.scans.replacing import enclosed_scans, scan_nodes
from lab.tape import Kind
from lab.traces.run import Values, checked_values, run

FUSION = ("fusion",)
# Rewrites for a linker.  Operations that these rewrites create have no gradient.
FOR_LINKER = ("fusion", "inplace", "scan_inner_graph", "scan_sit_sot_to_untraced")
PURPOSES = {  # keys are parts of names of rewrites
    "reduce_trace": "stores only the rows that are read",
    "save_mem": "stores only the rows that are read",
    "reduce_nsteps": "drops steps whose results are not read",
    "push_out_dot": "computes the matrix products of all steps in one product",
    "push_out_add": "sums the contributions of all steps once, after the loop",
    "push_out_seq": "moves operations that read no state out of the loop",
    "push_out_non_seq": "moves operations that read no loop variable out of the loop",
    "merge_inouts": "removes duplicate inputs and outputs",
    "remove_unused": "removes unused, constant, and duplicate inputs",
    "scan_merge": "merges loops with the same number of steps",
    "erge": "merges equal operations",
    "inplace": "writes into the input buffers instead of copies",
    "sit_sot_to_untraced": "passes a state on without a buffer; it then has no gradient",
    "inner_graph": "rewrites the inner function; fused operations then have no gradient",
}
SHORTENING = ("reduce_trace", "save_mem")


def compiled(
    subject: Variable | Sequence[Variable] | Loop | Function,
    wrt: Variable | str | None = None,
    mode: PytensorMode = None,
    given: Values | None = None,
) -> Compiled:
    """Report the Scans, rewrites, and buffers that remain when a function of a graph is compiled.

    The graph is not modified, and nothing is compiled.

    Parameters
    ----------
    subject : Variable, sequence of Variable, Loop, or Function
        The outputs of a graph, a loop with its last value as the cost, or a compiled function.
    wrt : Variable or str, optional
        Include the gradient of a scalar subject.  With values of all inputs, the report compares it
        with the gradient taken after the buffers were shortened.
    mode : str or Mode, optional
        Compilation mode of PyTensor (default: PyTensor's default mode).
    given : mapping, optional
        Values of inputs, which determine numbers of rows.  The inputs of a compiled function are
        matched by name.  A Loop has values.

    Raises ArgumentError for another subject, and for `wrt` or `mode` with a compiled function.

    """
    values = checked_values({} if given is None else given)
    if isinstance(subject, Function):
        if wrt is not None or mode is not None:
            raise ArgumentError("wrt, mode: expected none with a compiled function.")
        return _function_report(subject, values)
    if isinstance(subject, Loop):
        outputs, wrt, known = _of_loop(subject, wrt)
        values = {**known, **values}
    else:
        outputs = [subject] if isinstance(subject, Variable) else _listed(subject)
    if wrt is None:
        return _report(outputs, rewritten(outputs, mode, FUSION), mode, values)
    variable, gradient = _gradient_of(outputs, wrt)
    both, cost = [*outputs, gradient], outputs[0]
    report = _report(both, rewritten(both, mode, FUSION), mode, values)
    names = (*_names(outputs), "its gradient"), variable_label(variable, "the variable")
    if isinstance(subject, Loop):  # PyTensor's own Scan, whose pullback does not check its buffers
        call = scan_call(subject)
        last = as_tensor(next(iter(call.results().values())))[-1].sum()
        variable = call.inputs[identifier(str(variable.name))]
        cost, values = last, dict(call.given)
    late = rewritten([cost], mode, FOR_LINKER)
    alone, inputs = tuple(_remaining(late, values)), inputs_of([cost])
    is_complete = all(v in values or hasattr(v, "get_value") for v in inputs)
    result = None
    if is_complete and variable in inputs:
        result = _late_gradient(cost, variable, values, late, alone)
    return replace(report, outputs=names[0], wrt=names[1], alone=alone, late=result)


def _late_gradient(
    cost: Variable, wrt: Variable, given: Values, late: Rewriting, after: tuple[ScanAfter, ...]
) -> LateGradient:
    """Return the gradient of `cost`, and the gradient of its rewritten copy `late`.

    The gradient of a loop reads the values of all steps.  Rewriting shortens a buffer whose rows
    nothing reads, and later steps then overwrite the earlier rows.  PyTensor's gradient of such a
    graph counts the remaining rows, runs as many steps, and returns a wrong number without a
    warning.  A graph that is taken out of a compiled function and then differentiated has this
    gradient.

    `given` has values for all inputs of the graph, and `after` are the Scans of `late`.
    """
    copies = dict(late.inputs)
    values: Values = {copies[v]: value for v, value in given.items() if v in copies}
    result, error, missing = None, "", []
    try:
        gradient = differentiate(late.graph.outputs[0], copies[wrt])
        results, recordings = run([gradient], values)
        result = np.asarray(results[gradient])
        steps = {recording.node: recording.steps for recording in recordings}
        names = dict(zip(steps, scan_names([*steps]), strict=True))
        runs = {names[node]: count for node, count in steps.items()}
        for node, scan in zip(late.after, after, strict=True):
            name, needed = f"gradient of {names.get(node)}", scan.steps.number
            if needed is not None and runs.get(name, needed) != needed:
                missing.append(
                    f"The {name} runs {runs[name]} of {needed} steps, because its number "
                    "of steps is computed from the rows of the shortened buffer."
                )
    except Exception as problem:  # any error of PyTensor, or of the run
        error = first_line(problem)
    right = np.asarray(value_at(derivative(cost, wrt).value, given))
    return LateGradient(right, result, error, tuple(missing))


def _listed(subject: object) -> list[Variable]:
    items = subject if isinstance(subject, list | tuple) else ()
    variables = [item for item in items if isinstance(item, Variable)]
    if variables and len(variables) == len(items):
        return variables
    raise argument_error(
        "subject", subject, "expected a Loop, a compiled function, or PyTensor variables."
    )


def _of_loop(
    loop: Loop, wrt: Variable | str | None
) -> tuple[list[Variable], Variable | None, Values]:
    graph, variable = loop.build(), None
    if wrt is not None:
        (variable,) = graph.select_inputs([wrt]).values()
    return [loop.cost(graph)], variable, graph.given


def _gradient_of(outputs: Sequence[Variable], wrt: Any) -> tuple[Variable, Variable]:
    """Return `wrt`, checked, and PyTensor's gradient of the only output."""
    if len(outputs) != 1:
        raise ArgumentError(f"subject = {outputs}: with wrt, expected one scalar.")
    check_differentiable(outputs[0], wrt)
    return wrt, differentiate(outputs[0], wrt)


def _report(
    outputs: Sequence[Variable], result: Rewriting, mode: PytensorMode, given: Values
) -> Compiled:
    """Return the report on a rewritten graph."""
    after = tuple(_remaining(result, given))
    return Compiled(
        _names(outputs),
        "",
        linker_name(mode),
        pytensor.__version__,
        tuple(_scans_before(result, given)),
        after,
        tuple(_rewrites(result, after)),
        enclosing=_enclosing_names(result.graph),
    )


def _enclosing_names(graph: FunctionGraph) -> tuple[str, ...]:
    """Return the names of the operations that contain Scans, one for each Scan inside."""
    enclosed = enclosed_scans(graph.outputs).items()
    name = {node: type(node.op).__name__.removesuffix("WithCoreShape") for node, _ in enclosed}
    return tuple(name[node] for node, count in enclosed for _ in range(count))


def _remaining(result: Rewriting, given: Values) -> Iterator[ScanAfter]:
    """Yield the record of each Scan that remains after rewriting."""
    known = {copy: given[v] for v, copy in result.inputs if v in given}
    for number, node in enumerate(result.after, start=1):
        yield _scan_after(number, result.name(node), node, result.graph, known, result)


def _names(outputs: Sequence[Variable]) -> tuple[str, ...]:
    """Return the name of each result, or "result" and its number for an unnamed result."""
    if len(outputs) == 1:
        return (str(outputs[0].name or "the result"),)
    return tuple(str(v.name or f"result {number}") for number, v in enumerate(outputs, start=1))


def _function_report(function: Function, given: dict[Variable, object]) -> Compiled:
    """Return the report on a compiled function, which does not store its original graph."""
    graph = function.maker.fgraph
    inputs, known = _variables_by_name(graph.inputs), _variables_by_name(given)
    given = {inputs[name]: given[known[name]] for name in inputs if name in known}
    nodes = scan_nodes(graph.outputs)
    named = enumerate(zip(scan_names(nodes), nodes, strict=True), start=1)
    after = tuple(_scan_after(number, name, node, graph, given) for number, (name, node) in named)
    linker = linker_name(function.maker.mode)
    names, enclosing = _names(graph.outputs), _enclosing_names(graph)
    return Compiled(names, "", linker, pytensor.__version__, (), after, enclosing=enclosing)


def _variables_by_name(variables: Collection[Variable]) -> dict[str, Variable]:
    """Map each unique name to its variable."""
    names = [variable.name for variable in variables]
    return {v.name: v for v in variables if v.name and names.count(v.name) == 1}


def _scans_before(result: Rewriting, given: Values) -> Iterator[ScanBefore]:
    """Yield the record of each original Scan, with its outcome."""
    numbers = {node: number for number, node in enumerate(result.after, start=1)}
    pairs = zip(result.before, result.copies, strict=True)
    for number, (node, copy) in enumerate(pairs, start=1):
        successors = result.history.successors(copy)
        into = [last for last in numbers if last in successors]
        instead = tuple(sorted({plain_name(n) for n in successors if not is_scan(n)}))
        if not into:
            outcome = ScanOutcome.REPLACED if instead else ScanOutcome.REMOVED
        elif any(len(result.sources(last)) > 1 for last in into):
            outcome = ScanOutcome.MERGED
        else:
            outcome = ScanOutcome.KEPT if into == [copy] else ScanOutcome.CHANGED
        yield ScanBefore(
            number,
            result.names[number - 1],
            step_count(node.inputs[0], given),
            outcome,
            tuple(numbers[last] for last in into),
            () if into else instead,
        )


def _rewrites(result: Rewriting, after: Sequence[ScanAfter]) -> Iterator[Rewrite]:
    """Yield the rewrites that replaced Scans, without those that PyTensor reverted."""
    replacements = result.history.replacements
    reverted = {r.old for r in replacements if r.reason == REVERT}
    shortened = {
        node for node, scan in zip(result.after, after, strict=True)
        if any(buffer.is_shortened for buffer in scan.buffers)
    }  # fmt: skip
    scans: dict[tuple[str, str], dict[str, None]] = {}
    for r in replacements:
        if r.reason == REVERT or r.new in reverted or not is_scan(r.new):
            continue
        part = next((part for part in PURPOSES if part in r.reason), "")
        effect, moved = PURPOSES.get(part, ""), _removed_operations(r.old, r.new)
        if part in SHORTENING and shortened.isdisjoint(result.history.successors(r.new)):
            continue  # the new buffer has as many rows as the old buffer
        if part.startswith("push_out"):
            if not moved:
                continue
            effect += f": {listing(dict.fromkeys(moved))}"
        name = part if "(" in r.reason else r.reason  # a group of rewrites has a long name
        scans.setdefault((name, effect), {})[result.name(r.old)] = None
    for (name, effect), names in scans.items():
        yield Rewrite(name, tuple(names), effect)


def _removed_operations(old: Apply, new: Apply) -> tuple[str, ...]:
    """Return the operations of the step of `old` that the step of `new` lacks."""
    steps = (Counter(map(plain_name, toposort(inner_graph(n.op)[1]))) for n in (old, new))
    before, after = steps
    return tuple(sorted((before - after).elements()))


def _original_names(
    result: Rewriting, node: Apply, wanted: Mapping[LoopVariable, int]
) -> dict[LoopVariable, str]:
    """Return the original names of the `wanted` buffers of `node`.

    `wanted` maps the buffers to the numbers of their outputs.  The history of the rewrites connects
    most buffers with original variables; kind, taps, and order connect the others.
    """
    names: dict[LoopVariable, str] = {}
    candidates = []
    for number in result.sources(node):
        copy, parts = result.copies[number - 1], read_node(result.before[number - 1])
        for part, output in _results(parts).items():
            successors = result.history.outputs(copy, output)
            matches = [new for new, place in wanted.items() if (node, place) in successors]
            names = {**dict.fromkeys(matches, part.name), **names}
            candidates += [] if matches else [part]
    for new in wanted:
        match = next((part for part in candidates if _can_become(part, new)), None)
        if new not in names and match is not None:
            names[new] = match.name
            candidates.remove(match)
    return names


def _results(parts: ScanParts) -> dict[LoopVariable, int]:
    """Return the variables with an output of the Scan, and the number of the output."""
    filled = {part: v for part in parts.variables if (v := part.outer_output) is not None}
    return {part: v.owner.outputs.index(v) for part, v in filled.items()}


def _can_become(old: LoopVariable, new: LoopVariable) -> bool:
    """Return whether `new` can be the rewritten form of `old`; a state can lose its buffer."""
    same = old.kind is new.kind or (old.kind, new.kind) == (Kind.SIT_SOT, Kind.UNTRACED)
    types = [part.inner_outputs[0].type for part in (old, new)]
    return same and old.tape == new.tape and types[0].is_super(types[1])


def _scan_after(
    number: int,
    name: str,
    node: Apply,
    graph: FunctionGraph,
    given: Values,
    result: Rewriting | None = None,
) -> ScanAfter:
    """Return the record of a remaining Scan; `given` has values by the variables of `graph`."""
    parts = read_node(node)
    wanted = _results(parts)
    names = {} if result is None else _original_names(result, node, wanted)
    return ScanAfter(
        number,
        name,
        step_count(parts.n_steps, given),
        result.sources(node) if result is not None else (),
        tuple(
            read_buffer(names.get(new, new.name), new, parts, node, graph, given) for new in wanted
        ),
        parts.until is not None,
    )
