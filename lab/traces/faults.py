"""Find operations outside of Scans that compute nan or inf; read and name values of a step."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import toposort

from lab.errors import printable
from lab.notation import Call, Leaf, Number, Term, render
from lab.records import freeze
from lab.scans.buffers import fills_new_buffer, unwritten_rows
from lab.scans.formula import constant_text
from lab.scans.node import is_scan
from lab.scans.operations import operation_name, unchanged_input
from lab.traces.loop_run import Computed
from lab.traces.trace import (
    Formula,
    Input,
    OuterFault,
    ParameterTrace,
    ScanTrace,
    Source,
    TapeTrace,
)

MAX_DEPTH = 5  # levels of nested operations in a formula; deeper operations become …


def values_of(scan: ScanTrace, source: Source | Formula) -> np.ndarray | None:
    """Return the values of a source, or the results of a formula, in all steps.

    Return None if the values were not recorded.
    """
    if isinstance(source, int):
        values = scan.inside[source].values
        return values if len(values) else None
    if isinstance(source, Number):
        return None
    leaf = source if isinstance(source, Leaf) else source.target
    variable = scan.variable(leaf)
    if isinstance(variable, TapeTrace):
        accesses = variable.writes if isinstance(source, Formula) else variable.reads
        return next((a.values for a in accesses if a.tap == leaf.tap), None)
    if isinstance(variable, ParameterTrace):
        return np.broadcast_to(variable.value, (scan.steps, *variable.value.shape))
    return variable.values if variable is not None else None


def value_at_step(scan: ScanTrace, source: Source | Formula, step: int) -> np.ndarray | None:
    """Return the value of a source or formula at `step`, or None if it was not recorded."""
    values = values_of(scan, source)
    return None if values is None else values[step]


def value_formula(scan: ScanTrace, source: Source, depth: int = 0) -> Term:
    """Return the formula of a source, with at most `MAX_DEPTH` levels of nested operations."""
    if not isinstance(source, int):
        return source
    value = scan.inside[source]
    if value.passes is not None:
        return value_formula(scan, value.inputs[value.passes], depth)
    if depth == MAX_DEPTH:
        return Leaf("…", None, -1)
    inputs = tuple(value_formula(scan, v, depth + 1) for v in value.inputs)
    if all(isinstance(v, Number) for v in inputs) and value.values.size == scan.steps:
        return Number(constant_text(value.values[0]))  # for example, the exponent 2 − 1
    return Call(value.operation, inputs)


def outer_faults(
    ends: Mapping[tuple[int | None, int], Variable],
    values: Mapping[Variable, Computed],
    names: Mapping[Variable, str],
) -> tuple[OuterFault, ...]:
    """Find the operations outside of the Scans that compute nan or infinity.

    `ends` are the arguments of Scans and the outputs of the trace; `names` contains the names of
    the outputs of Scans.  A fault computes nan from inputs without nan, or infinity from finite
    inputs.
    """
    filled = (v.owner.inputs[1] if fills_new_buffer(v.owner) else v for v in ends.values())
    if all(_is_finite(values.get(v)) for v in filled):
        return ()
    values = {v: _initialized(v, values) for v in values}
    origins: dict[Variable, int] = {}  # the fault of each value that is not finite
    faults: list[OuterFault] = []
    for node in toposort(list(ends.values())):
        if is_scan(node):
            continue
        bad = [v for v in node.inputs if not _is_finite(values.get(v))]
        bad.sort(key=lambda v: not np.isnan(values[v]).any())  # nan before infinities
        for output in node.outputs:
            value: Computed = values.get(output)
            if _is_finite(value):
                continue
            cause = next((origins[v] for v in bad if v in origins), None)
            is_new = not bad or (np.isnan(value).any() and not np.isnan(values[bad[0]]).any())
            if is_new:
                origins[output] = len(faults)
                faults.append(_fault(output, values, names, cause))
            elif cause is not None:
                origins[output] = cause
    reaches: list[list[tuple[int | None, int]]] = [[] for _ in faults]
    for end, variable in ends.items():
        if variable in origins:
            reaches[origins[variable]].append(end)
    return tuple(replace(f, reaches=tuple(r)) for f, r in zip(faults, reaches, strict=True))


def _initialized(variable: Variable, values: Mapping[Variable, Computed]) -> Computed:
    """Return the value of a variable, with zeros in rows of uninitialized memory."""
    value = values.get(variable)
    if isinstance(value, np.ndarray) and value.ndim and not_finite(value).any():
        value = np.array(value)
        value[unwritten_rows(variable, values)] = 0
    return value


def _fault(
    output: Variable,
    values: Mapping[Variable, Computed],
    names: Mapping[Variable, str],
    cause: int | None,
) -> OuterFault:
    operation = operation_name(output.owner, output)
    inputs = [v for v in output.owner.inputs if hasattr(v.type, "dtype")]
    terms = [_formula(v, names, 1) for v in inputs]
    numbers = [v.data if isinstance(v, Constant) else values.get(v) for v in inputs]
    named = [
        Input(_plain(term), freeze(np.array(number)))
        for term, number in zip(terms, numbers, strict=True)
        if number is not None
    ]
    value = freeze(np.array(values[output]))
    formula = _plain(Call(operation, tuple(terms)))
    return OuterFault(operation, formula, tuple(named), value=value, cause=cause, reaches=())


def _plain(term: Term) -> str:
    return render(term, lambda leaf: leaf.variable)


def _formula(variable: Variable, names: Mapping[Variable, str], depth: int) -> Term:
    """Return the formula of a value outside of the Scans."""
    node = variable.owner
    if isinstance(variable, Constant):
        return Number(constant_text(variable.data))
    if node is None or variable in names:
        return Leaf(names.get(variable, "") or printable(variable.name or "input"), None, -1)
    same = unchanged_input(node, variable)
    if same is not None:
        return _formula(node.inputs[same], names, depth)
    if depth == MAX_DEPTH:
        return Leaf("…", None, -1)
    numeric = (v for v in node.inputs if hasattr(v.type, "dtype"))
    inputs = tuple(_formula(v, names, depth + 1) for v in numeric)
    return Call(operation_name(node, variable), inputs)


def _is_finite(value: Computed) -> bool:
    """Return whether no entry of an array is nan or infinite; True for other objects."""
    if isinstance(value, np.ndarray):  # all entries along an axis with stride 0 are equal
        value = value[tuple(slice(None if stride else 1) for stride in value.strides)]
    return not not_finite(value).any()


def not_finite(value: object) -> np.ndarray:
    """Return a mask of the entries that are nan or infinite; empty for other objects."""
    array = np.asarray(value) if isinstance(value, np.ndarray | np.generic | float) else np.zeros(0)
    return ~np.isfinite(array) if array.dtype.kind in "fc" else np.zeros(array.shape, dtype=bool)
