"""Convert batched Scans and single steps to plain Scans.

``vectorize_graph`` puts a Scan into a Blockwise operation, whose steps cannot be traced.  All
entries of the batch run the same steps.  Therefore a single Scan can compute the batch: the batch
is an axis of every loop variable.

PyTensor builds no Scan if n_steps is the constant 1: the operations of the step are part of the
outer graph.  The tracebacks that PyTensor records identify these operations.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import cast

import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.traversal import toposort
from pytensor.raise_op import Assert
from pytensor.scan import basic
from pytensor.scan.op import Scan
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from lab.errors import GraphError
from lab.scans.buffers import as_tensor
from lab.scans.node import LoopVariable, ScanParts, build_scan, read_scan
from lab.tape import ONE_READ, ONE_WRITE, Kind

SCAN_FILE, SINGLE = PurePath(basic.__file__), "single step"


def is_batched(node: Apply) -> bool:
    """Return whether a node runs a Scan for each entry of a batch."""
    return isinstance(node.op, Blockwise) and isinstance(node.op.core_op, Scan)


def open_batch(node: Apply, inputs: Sequence[Variable], kind: type[Scan]) -> list[Variable]:
    """Return the outputs of a batched Scan, computed by a single Scan of class `kind`.

    Raises GraphError if the Scan has an until condition.  If the entries run different numbers of
    steps, an Assert operation fails when the graph runs.
    """
    op, dims = node.op.core_op, node.op.batch_ndim(node)
    parts = read_scan(op, inputs, node.outputs)
    steps = as_tensor(inputs[0])
    label = f"a batch of {parts.called}"
    if parts.until is not None:
        raise GraphError(f"{label}: its entries can stop at different steps. Trace one entry.")
    arrays = [as_tensor(v.outer_input) for v in parts.variables if v.kind is not Kind.NIT_SOT]
    one = pt.constant(1, dtype="int64")  # length of an axis along which no array varies
    lengths = ([a.shape[n] for a in arrays if a.type.shape[n] != 1] for n in range(dims))
    shape = [next(iter(known), one) for known in lengths]
    opened = [_with_batch(variable, dims, shape) for variable in parts.variables]
    whole = _with_step(parts, opened, dims)
    if steps.type.shape == (1,) * dims:
        n_steps = _without_batch(steps, dims)
    else:
        first = steps.flatten()[0]
        check = Assert(f"{label}: its entries run different numbers of steps. Trace one entry.")
        n_steps = as_tensor(cast(Variable, check(first, pt.all(pt.eq(steps, first)))))
    name = f"batch of {parts.called}"
    batched = build_scan(replace(whole, n_steps=n_steps, name=name), kind=kind)
    return [pt.moveaxis(as_tensor(result), 0, dims) for result in batched.outputs]


def _without_batch(values: TensorVariable, dims: int) -> TensorVariable:
    """Return `values` without its `dims` batch axes, along which all entries are equal."""
    node = values.owner
    if node is not None and isinstance(node.op, DimShuffle):
        order = (*("x",) * dims, *range(values.type.ndim - dims))
        if node.op.new_order == order:  # only batch axes were added
            return as_tensor(node.inputs[0])
    return as_tensor(pt.squeeze(values, axis=tuple(range(dims))))


def _with_batch(variable: LoopVariable, dims: int, shape: Sequence[Variable]) -> LoopVariable:
    """Return a loop variable whose values have batch axes; time is axis 0 of its buffer.

    A value that all entries share keeps its shape, unless a step overwrites it.
    """
    outer = as_tensor(variable.outer_input)
    written = variable.kind not in (Kind.SEQUENCE, Kind.PARAMETER)
    if variable.kind is Kind.NIT_SOT or (not written and outer.type.shape[:dims] == (1,) * dims):
        return replace(variable, outer_input=_without_batch(outer, dims))
    if written:
        sizes = (*shape, *(outer.shape[axis] for axis in range(dims, outer.ndim)))
        outer = as_tensor(cast(Variable, pt.alloc(outer, *sizes)))
    batch = outer.type.shape[:dims]
    if variable.kind is not Kind.PARAMETER:
        outer = as_tensor(cast(Variable, pt.moveaxis(outer, dims, 0)))
    inner = tuple(
        TensorType(i.type.dtype, shape=batch + i.type.shape)(i.name) for i in variable.inner_inputs
    )
    return replace(variable, outer_input=outer, inner_inputs=inner)


def _with_step(parts: ScanParts, opened: Sequence[LoopVariable], dims: int) -> ScanParts:
    """Return the parts of a Scan with the variables `opened` and a vectorized step."""
    whole = replace(parts, variables=tuple(opened))
    arguments = dict(zip(parts.inner_inputs, whole.inner_inputs, strict=True))
    batched = (new for old, new in arguments.items() if new.type.ndim > old.type.ndim)
    first = as_tensor(next(batched))
    shape = [first.shape[axis] for axis in range(dims)]
    results = [as_tensor(result) for result in whole.inner_outputs]
    full: list[Variable] = []
    vectorized = map(as_tensor, cast(Sequence[Variable], vectorize_graph(results, arguments)))
    for old, new in zip(results, vectorized, strict=True):
        is_same = new.type.ndim == old.type.ndim  # the value does not depend on the batch
        sizes = (*shape, *(new.shape[axis] for axis in range(new.type.ndim)))
        full.append(as_tensor(pt.alloc(new, *sizes)) if is_same else new)
    return whole.with_results(full)


def with_single_step(outputs: Sequence[Variable]) -> list[Variable]:
    """Return `outputs`, computed by a Scan of one step if ``scan`` was called with n_steps=1.

    Without such a call, the outputs are returned unchanged.  All arguments of the step become
    parameters of the Scan: the graph does not show which results are states.
    """
    nodes = list(toposort(outputs))
    step = [node for node in nodes if _is_of_step(node)]
    inside = {v for node in step for v in node.outputs}
    used = {*outputs, *(v for node in nodes if node not in step for v in node.inputs)}
    results = [v for node in step for v in node.outputs if v in used]
    if not results:
        return list(outputs)
    arguments = {
        v: v.type(name=v.name)
        for node in step
        for v in node.inputs
        if v not in inside and not isinstance(v, Constant)
    }
    copies = clone_replace(results, replace=arguments)
    one = pt.constant(1, dtype="int64")
    variables = [
        LoopVariable(Kind.NIT_SOT, v.name or f"y{n}", ONE_WRITE, one, (), (result,))
        for n, (v, result) in enumerate(zip(results, copies, strict=True), start=1)
    ]
    variables += [
        LoopVariable(Kind.PARAMETER, v.name or f"p{n}", ONE_READ, v, (argument,))
        for n, (v, argument) in enumerate(arguments.items(), start=1)
    ]
    node = build_scan(ScanParts(SINGLE, as_tensor(one), tuple(variables)), kind=Scan)
    rows = {old: as_tensor(new)[0] for old, new in zip(results, node.outputs, strict=True)}
    return clone_replace(list(outputs), replace=rows)


def _is_of_step(node: Apply) -> bool:
    """Return whether ``pytensor.scan`` called the function that created a node."""
    for trace in getattr(node.outputs[0].tag, "trace", ()):
        for number, frame in enumerate(trace[:-1]):
            path, _, name, _ = frame
            if name == "scan" and PurePath(path) == SCAN_FILE and trace[number + 1][0] != path:
                return True
    return False
