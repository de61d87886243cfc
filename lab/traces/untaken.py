"""Find operations that compute nan: outside of Scans, and for unselected branches of `where`.

`outer_faults` finds the operations outside of the Scans that compute nan or infinity.

`untaken` finds the best-known trap of `where`: the gradient of an unselected branch is 0·∞.
`where` gives the unselected branch the gradient 0, which is multiplied by the local derivatives of
the branch.  If a local derivative is not finite, the product is nan.  PyTensor's rewrites often
avoid nan (``lab.trace(…, rewritten=True)``); a second `where` inside the branch always avoids nan.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import toposort

from lab.errors import printable
from lab.notation import Call, Expression, Leaf, Number, Term, render
from lab.records import freeze
from lab.scans.formula import constant_text
from lab.scans.node import is_scan
from lab.scans.operations import operation_name, plain_name, unchanged_input
from lab.traces.loop_run import Computed
from lab.traces.trace import (
    Input,
    OuterFault,
    ParameterTrace,
    ScanTrace,
    Source,
    TapeTrace,
    Trace,
)

KEEPS_ZERO = {"Neg", "second"}  # operations that keep zeros, in addition to products and views
MULTIPLIES = {"Mul", "TrueDiv", "Dot"}
MAX_DEPTH = 5  # levels of nested operations in a formula; deeper operations become …


@dataclass(frozen=True)
class Untaken:
    """A branch that a `where` does not select, with the gradient 0·∞ = nan.

    Step `step` of Scan `scan` is the first step that computes the `product`, for the gradient of
    `branch`.  Step `forward_step` of Scan `forward`, if known, did not select the branch.
    """

    scan: int
    step: int
    product: Expression
    branch: Expression
    forward: int | None = None
    forward_step: int | None = None

    @property
    def operation(self) -> str:
        """The name of the operation that computed nan from a zero."""
        return self.product.name if isinstance(self.product, Call) else ""


def untaken(trace: Trace) -> tuple[Untaken, ...]:
    """Return the unselected branches whose gradient is 0·∞, each with its first step."""
    branches: dict[tuple[int, Expression], Untaken] = {}
    scans = trace.scans
    for number, scan in enumerate(scans):
        for one in _find_products(scans, number, scan):
            branches.setdefault((one.scan if one.forward is None else one.forward, one.branch), one)
    return tuple(branches.values())


def _find_products(scans: Sequence[ScanTrace], number: int, scan: ScanTrace) -> Iterator[Untaken]:
    """Yield the products of a backward step that are nan because a `where` computes a zero."""
    zeros: dict[int, tuple[int, np.ndarray]] = {}  # maps a value to its `where` and a mask of zeros
    for place, value in enumerate(scan.inside):
        if not len(value.values) or value.values.dtype.kind != "f":
            continue
        if value.operation == "where":
            mask = _zero_mask(scan, value.inputs)
            if mask is not None:
                zeros[place] = place, np.broadcast_to(_rows(mask, value.values), value.values.shape)
            continue
        for source in value.inputs:
            if source not in zeros:
                continue
            origin, mask = zeros[source]
            is_product = value.operation in MULTIPLIES
            if not (is_product or value.passes is not None or value.operation in KEEPS_ZERO):
                continue
            here = fitted(mask, value.values)
            lost = here & ~np.isfinite(value.values)
            if is_product and lost.any():
                step = int(np.argmax(lost.reshape(len(lost), -1).any(axis=1)))
                yield _record(scans, number, origin, place, step)
            elif (here & (value.values == 0)).any():
                zeros[place] = origin, here & (value.values == 0)


def _zero_mask(scan: ScanTrace, inputs: tuple[Source, ...]) -> np.ndarray | None:
    """Return a mask of the steps and entries for which a `where` selects a constant 0, or None."""
    condition = values_of(scan, inputs[0])
    for branch, taken in ((inputs[1], True), (inputs[2], False)):
        if condition is not None and _is_zero(scan, branch):
            return np.asarray(condition, dtype=bool) == taken
    return None


def _is_zero(scan: ScanTrace, source: Source) -> bool:
    """Return whether a value is 0 at every step."""
    if isinstance(source, Number):
        return source.written in ("0", "0.0")
    values = scan.inside[source].values if isinstance(source, int) else None
    return values is not None and len(values) > 0 and not values.any()


def values_of(scan: ScanTrace, source: Source) -> np.ndarray | None:
    """Return the values of a source in all steps; None if they were not recorded."""
    if isinstance(source, int):
        values = scan.inside[source].values
        return values if len(values) else None
    if isinstance(source, Number):
        return None
    variable = scan.variable(source)
    if isinstance(variable, TapeTrace):
        return next((a.values for a in variable.reads if a.tap == source.tap), None)
    if isinstance(variable, ParameterTrace):
        return np.broadcast_to(variable.value, (scan.steps, *variable.value.shape))
    return variable.values if variable is not None else None


def _rows(mask: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return a mask with the number of dimensions of `like`; axis 0 is the step."""
    return mask.reshape(len(mask), *[1] * (like.ndim - mask.ndim), *mask.shape[1:])


def fitted(mask: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Broadcast a mask to the shape of `values`, or else mark all entries of its marked steps."""
    try:
        return np.broadcast_to(_rows(mask, values), values.shape)
    except ValueError:
        every = np.any(mask.reshape(len(mask), -1), axis=1)
        return np.broadcast_to(_rows(every, values), values.shape)


def _record(scans: Sequence[ScanTrace], number: int, where: int, place: int, step: int) -> Untaken:
    """Return the `Untaken` branch of a product that is nan at `step`.

    The result contains the forward Scan and its step if the forward Scan contains the `where`.
    """
    scan, condition = scans[number], scans[number].inside[where].inputs[0]
    formula = value_formula(scan, place)
    parent = None if scan.parent is None else scans[scan.parent]
    same = scan.inside[condition].repeats if isinstance(condition, int) else None
    taken = 2 if _is_zero(scan, scan.inside[where].inputs[2]) else 1
    if parent is not None and same is not None:
        for value in parent.inside:
            if value.operation == "where" and value.inputs[0] == same:
                branch = value_formula(parent, value.inputs[3 - taken])
                return Untaken(number, step, formula, branch, scan.parent, parent.steps - 1 - step)
    return Untaken(number, step, formula, value_formula(scan, where))


def value_formula(scan: ScanTrace, source: Source, depth: int = 0) -> Term:
    """Return the formula of a value of a step."""
    if not isinstance(source, int):
        return source
    value = scan.inside[source]
    if value.passes is not None:
        return value_formula(scan, value.inputs[value.passes], depth)
    if depth == MAX_DEPTH:
        return Leaf("…", None, -1)
    return Call(value.operation, tuple(value_formula(scan, v, depth + 1) for v in value.inputs))


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
    if not any(not_finite(values.get(v)).any() for v in ends.values()):
        return ()
    origins: dict[Variable, int] = {}  # the fault of each value that is not finite
    faults: list[OuterFault] = []
    for node in toposort(list(ends.values())):
        if is_scan(node) or plain_name(node) == "AllocEmpty":
            continue
        inputs = [values.get(v) for v in node.inputs]
        bad = [v for v, value in zip(node.inputs, inputs, strict=True) if not_finite(value).any()]
        bad.sort(key=lambda v: not np.isnan(values[v]).any())  # nan before infinities
        for output in node.outputs:
            value: Computed = values.get(output)
            if not not_finite(value).any():
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
    return OuterFault(operation, formula, tuple(named), value, cause, ())


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
    inputs = (v for v in node.inputs if hasattr(v.type, "dtype"))
    return Call(
        operation_name(node, variable), tuple(_formula(v, names, depth + 1) for v in inputs)
    )


def not_finite(value: object) -> np.ndarray:
    """Return a mask of the entries that are nan or infinite; empty for other objects."""
    array = np.asarray(value) if isinstance(value, np.ndarray | np.generic | float) else np.zeros(0)
    return ~np.isfinite(array) if array.dtype.kind in "fc" else np.zeros(array.shape, dtype=bool)
