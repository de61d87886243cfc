"""Report the effect of PyTensor's rewrites for a compiled function on the Scans of a graph.

    >>> print(lab.compiled(xs[-1]))                  # the loop only: its buffer is shortened
    >>> print(lab.compiled(xs[-1], wrt=x0))          # with its gradient, which reads all rows
    >>> print(lab.compiled(function))                # an existing function

PyTensor applies the rewrites of the compilation mode to a copy of the graph; nothing is compiled.
The fusion of elementwise operations is omitted: it changes no Scan, and would make the expressions
for numbers of rows unreadable.

`rewriting` records the replacement of every Scan output that another operation reads.  A buffer
without such a record is matched with the next buffer of equal kind and taps.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pytensor
from pytensor.compile import Function
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort

from lab.checks.check import value_at
from lab.errors import ArgumentError, argument_error, first_line, listing, printable
from lab.gradients.decisions import scan_names
from lab.gradients.derivative import check_differentiable, derivative, differentiate
from lab.loops.loop import Loop, refuse_options
from lab.loops.scan_call import scan_call
from lab.loops.text.source import identifier
from lab.reports.compile.buffers import read_buffer, row_count
from lab.reports.compile.compiled import NO_LOOP, Compiled, LateGradient, Rewrite, ScanAfter
from lab.reports.compile.rewriting import (
    REVERT,
    History,
    PytensorMode,
    Rewriting,
    inputs_of,
    linker_name,
    rewrite_graph,
)
from lab.reports.explain.traps import variable_label
from lab.scans.buffers import as_tensor
from lab.scans.names import named_source
from lab.scans.node import LoopVariable, copy_graph, is_scan, read_node, variable_names
from lab.scans.operations import plain_name
from lab.scans.replacing import enclosed_scans
from lab.tape import Kind
from lab.traces.run import Values, check_inputs, checked_values, run

FUSION = ("fusion",)
# Rewrites for a linker, which create operations without a gradient.
FOR_LINKER = ("fusion", "inplace", "scan_inner_graph", "scan_sit_sot_to_untraced")
PURPOSES = {  # the purpose of each rewrite, by a part of its name
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
    "copy_graph": "rewrites the inner function; fused operations then have no gradient",
}
SHORTENING = ("reduce_trace", "save_mem")


def compiled(
    subject: Variable | Sequence[Variable] | Loop | Function,
    wrt: Variable | str | None = None,
    mode: PytensorMode = None,
    given: Values | None = None,
) -> Compiled:
    """Report PyTensor's rewrites of a graph for compilation, and the remaining Scans and buffers.

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
        matched by name.  A Loop has its own values.

    Raises ArgumentError for an invalid argument, for `wrt` or `mode` with a compiled function, and
    for `wrt` with a subject that is not one real scalar.  Raises GraphError if a rewrite fails.

    """
    values = checked_values({} if given is None else given)
    if isinstance(subject, Function):
        if wrt is not None or mode is not None:
            raise ArgumentError("wrt, mode: expected none with a compiled function.")
        rewriting = _rewriting_of(subject, values)
        return _report(rewriting.graph.outputs, rewriting, subject.maker.mode, values)
    if isinstance(subject, Loop):
        refuse_options(given=given)
        loop = subject.build()
        outputs, values = _listed([subject.cost(loop)]), dict(loop.given)
        wrt = None if wrt is None else next(iter(loop.select_inputs([wrt]).values()))
    else:
        outputs = [subject] if isinstance(subject, Variable) else _listed(subject)
        check_inputs(values, inputs_of(outputs))
    if wrt is None:
        return _report(outputs, rewrite_graph(outputs, mode, FUSION), mode, values)
    if len(outputs) != 1:
        raise ArgumentError(f"subject = {outputs}: with wrt, expected one scalar.")
    cost, variable = outputs[0], cast(Variable, wrt)
    check_differentiable(cost, variable)
    both: list[Variable] = [cost, differentiate(cost, variable)]
    report = _report(both, rewrite_graph(both, mode, FUSION), mode, values)
    names, label = (*_names(outputs), "its gradient"), variable_label(variable, "the variable")
    if isinstance(subject, Loop):  # use PyTensor's Scan, whose pullback checks no buffer
        call = scan_call(subject)
        last = as_tensor(next(iter(call.results().values())))[-1].sum()
        variable = call.inputs[identifier(str(variable.name))]
        cost, values = last, dict(call.given)
    late = rewrite_graph([cost], mode, FOR_LINKER)
    alone, inputs = tuple(_remaining(late, values)), inputs_of([cost])
    if variable in inputs and all(v in values or hasattr(v, "get_value") for v in inputs):
        report = replace(report, late=_late_gradient(cost, variable, values, late, alone))
    return replace(report, outputs=names, wrt=label, alone=alone)


def _late_gradient(
    cost: Variable, wrt: Variable, given: Values, late: Rewriting, after: tuple[ScanAfter, ...]
) -> LateGradient:
    """Return the gradient of `cost`, and the gradient of its rewritten copy `late`.

    The gradient of a loop reads the values of all steps.  Rewriting shortens a buffer whose rows
    nothing reads, and later steps then overwrite the earlier rows.  PyTensor's gradient of such a
    graph computes its number of steps from the remaining rows, and returns a wrong number without a
    warning.  The result is the same if you differentiate the graph of a compiled function.

    `given` contains values of all inputs of the graph, and `after` are the Scans of `late`.
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
    expected = "expected a Loop, a compiled function, or PyTensor variables."
    raise argument_error("subject", subject, expected)


def _report(
    outputs: Sequence[Variable], result: Rewriting, mode: PytensorMode, given: Values
) -> Compiled:
    """Return the `Compiled` report on a rewritten graph."""
    after = tuple(_remaining(result, given))
    return Compiled(
        outputs=_names(outputs),
        wrt="",
        linker=linker_name(mode),
        version=pytensor.__version__,
        original=len(result.before),
        after=after,
        rewrites=tuple(_rewrites(result, after)),
        enclosing=tuple(
            type(node.op).__name__.removesuffix("WithCoreShape")
            for node, count in enclosed_scans(result.graph.outputs).items()
            for _ in range(count)
        ),
    )


def _remaining(result: Rewriting, given: Values) -> Iterator[ScanAfter]:
    """Yield a `ScanAfter` for each Scan that remains after rewriting."""
    known = {copy: given[v] for v, copy in result.inputs if v in given}
    for number, node in enumerate(result.after, start=1):
        parts = read_node(node)
        names = _original_names(result, node)
        yield ScanAfter(
            number,
            result.name(node),
            row_count(parts.n_steps, parts.n_steps, known),
            sources=result.sources(node),
            buffers=tuple(
                read_buffer(name, v, parts.n_steps, result.graph, known)
                for v, name in names.items()
            ),
            stops_early=parts.until is not None,
        )


def _names(outputs: Sequence[Variable]) -> tuple[str, ...]:
    """Return the name of each result, or "result" and its number for an unnamed result."""
    if len(outputs) == 1:
        return (str(outputs[0].name or "the result"),)
    return tuple(str(v.name or f"result {number}") for number, v in enumerate(outputs, start=1))


def _rewriting_of(function: Function, given: Values) -> Rewriting:
    """Return the graph of a compiled function as a `Rewriting` without original Scans.

    A compiled function does not store its original graph.  The inputs of the graph are paired with
    the variables of `given` that have the same name.
    """
    graph, known = function.maker.fgraph, _variables_by_name(given)
    inputs = _variables_by_name(graph.inputs)
    pairs = tuple((known[name], inputs[name]) for name in inputs if name in known)
    return Rewriting((), (), graph, History(), pairs)


def _variables_by_name(variables: Collection[Variable]) -> dict[str, Variable]:
    """Map names to variables; omit repeated names and variables without a name."""
    names = [variable.name for variable in variables]
    return {v.name: v for v in variables if v.name and names.count(v.name) == 1}


def _rewrites(result: Rewriting, after: Sequence[ScanAfter]) -> Iterator[Rewrite]:
    """Yield each rewrite that changed a Scan, then an entry for each Scan that was removed."""
    replacements = result.history.replacements
    reverted = {old for old, _, reason in replacements if reason == REVERT}
    shortened = {node for node, scan in zip(result.after, after, strict=True) if scan.shortened}
    scans: dict[tuple[str, str], dict[str, None]] = {}
    for old, new, reason in replacements:
        if reason == REVERT or new in reverted or not (is_scan(new) and result.sources(old)):
            continue  # without a source: a copy that a rewrite builds, as for a shape
        part = next((part for part in PURPOSES if part in reason), "")
        effect = PURPOSES.get(part, "")
        steps = (copy_graph(node.op.fgraph)[1] for node in (old, new))
        before, rest = (Counter(plain_name(n) for n in toposort(step)) for step in steps)
        moved = sorted((before - rest).elements())  # the operations that the new step lacks
        if part in SHORTENING and shortened.isdisjoint(result.history.successor_nodes(new)):
            continue  # the new buffer has as many rows as the old buffer
        if part.startswith("push_out"):
            if not moved:
                continue
            effect += f": {listing(dict.fromkeys(moved))}"
        name = part if "(" in reason else reason  # a group of rewrites has a long name
        scans.setdefault((name, effect), {})[result.name(old)] = None
    for (name, effect), names in scans.items():
        yield Rewrite(name, tuple(names), effect)
    for scan, copy in zip(result.names, result.copies, strict=True):
        successors = result.history.successor_nodes(copy)
        if successors.isdisjoint(result.after):
            others = sorted({plain_name(node) for node in successors if not is_scan(node)})
            without = f"replaced by {listing(others)}, without a loop"
            yield Rewrite(NO_LOOP, (scan,), without if others else "removed: no result is used")


def _original_names(result: Rewriting, node: Apply) -> dict[LoopVariable, str]:
    """Return the original names of the buffers of a remaining Scan `node`.

    The history of the rewrites connects most buffers with original variables; kind, taps, and order
    connect the others.  A buffer without an original variable has its own name.
    """
    names: dict[LoopVariable, str] = {}
    buffers, candidates = list(_buffer_names(node, result.name(node))), []
    for number in result.sources(node):
        before, copy = result.before[number - 1], result.copies[number - 1]
        copies = dict(zip(before.outputs, copy.outputs, strict=True))
        for part, output, name in _buffer_names(before, result.names[number - 1]):
            successors = result.history.successors(copies[output])
            matches = [new for new, filled, _ in buffers if filled in successors]
            names = {**dict.fromkeys(matches, name), **names}
            candidates += [] if matches else [(part, name)]
    for new, _, _ in buffers:
        match = next((pair for pair in candidates if _can_become(pair[0], new)), None)
        if new not in names and match is not None:
            names[new] = match[1]
            candidates.remove(match)
    return {new: names.get(new, name) for new, _, name in buffers}


def _buffer_names(node: Apply, scan: str) -> Iterator[tuple[LoopVariable, Variable, str]]:
    """Yield each variable of a Scan that has an output, the output, and the name of its buffer.

    The labels of the Scan, the graph, or the output provide the name.  Without any of these names,
    the second buffer is ``buffer 2 of scan_fn``.
    """
    is_labeled = bool(variable_names(node.op))
    parts = [(v, v.outer_output) for v in read_node(node).variables if v.outer_output is not None]
    for number, (part, output) in enumerate(parts, start=1):
        is_named = is_labeled or named_source(part.kind, part.outer_input) is not None
        unnamed = output.name or f"buffer {number} of {scan}"
        yield part, output, part.name if is_named else printable(unnamed)


def _can_become(old: LoopVariable, new: LoopVariable) -> bool:
    """Return whether `new` can be the rewritten form of `old`.

    A sit-sot can become an untraced state, which has no buffer.
    """
    same = old.kind is new.kind or (old.kind, new.kind) == (Kind.SIT_SOT, Kind.UNTRACED)
    types = [part.inner_outputs[0].type for part in (old, new)]
    return same and old.tape == new.tape and types[0].is_super(types[1])
