"""Scans that PyTensor runs once for every entry of a batch, as one Scan over all entries.

``vectorize_graph`` puts a Scan into a Blockwise, which is a box that nobody sees into.  All entries
make the same steps, so that the batch can as well be an axis of every value that a step reads and
writes: then there is one Scan, whose tapes can be traced and whose gradient is that of any other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.replace import vectorize_graph
from pytensor.raise_op import Assert
from pytensor.scan.op import Scan
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from lab.errors import GraphError
from lab.scans.buffers import as_tensor
from lab.scans.node import LoopVariable, ScanParts, build_scan, read_scan
from lab.tape import Kind


def is_batched(node: Apply) -> bool:
    """Whether a node runs a Scan once for every entry of a batch."""
    return isinstance(node.op, Blockwise) and isinstance(node.op.core_op, Scan)


def opened_batch(node: Apply, inputs: Sequence[Variable], kind: type[Scan]) -> list[Variable]:
    """What a batched Scan computes from other `inputs`, by one Scan of a `kind` over the batch.

    GraphError where entries may stop at different steps; where they make different numbers of
    them, when it runs.
    """
    op, dims = node.op.core_op, node.op.batch_ndim(node)
    parts = read_scan(op, inputs, node.outputs)
    steps = as_tensor(inputs[0])
    told = f"a batch of {parts.called}"
    if parts.until is not None:
        raise GraphError(f"{told}: its entries may stop at different steps; trace one of them.")
    held = [as_tensor(v.outer_input) for v in parts.variables if v.kind is not Kind.NIT_SOT]
    shape = [_size(held, axis) for axis in range(dims)]
    opened = [_with_batch(variable, dims, shape) for variable in parts.variables]
    whole = _with_step(parts, opened, dims)
    n_steps = _entry(steps, dims) if steps.type.shape == (1,) * dims else _same(steps, told)
    name = f"batch of {parts.called}"
    made = build_scan(replace(whole, n_steps=n_steps, name=name), kind=kind)
    return [pt.moveaxis(as_tensor(result), 0, dims) for result in made.outputs]


def _size(held: Iterable[TensorVariable], axis: int) -> Variable:
    """The length of an axis of the batch: only what is known to be 1 is repeated."""
    whole = (value.shape[axis] for value in held if value.type.shape[axis] != 1)
    return next(whole, pt.constant(1, dtype="int64"))


def _same(steps: TensorVariable, told: str) -> TensorVariable:
    """How many steps all entries make."""
    first = steps.flatten()[0]
    different = Assert(f"{told}: its entries make different numbers of steps; trace one of them.")
    return as_tensor(cast(Variable, different(first, pt.all(pt.eq(steps, first)))))


def _entry(values: TensorVariable, dims: int) -> TensorVariable:
    """What is the same for all entries, once."""
    node = values.owner
    if node is not None and isinstance(node.op, DimShuffle):
        order = (*("x",) * dims, *range(values.type.ndim - dims))
        if node.op.new_order == order:  # it was given axes for the batch
            return as_tensor(node.inputs[0])
    return as_tensor(pt.squeeze(values, axis=tuple(range(dims))))


def _with_batch(variable: LoopVariable, dims: int, shape: Sequence[Variable]) -> LoopVariable:
    """A variable whose values are those of all entries; time is the first axis of its buffer.

    What is the same for all entries stays as it is, unless a step writes over it.
    """
    outer = as_tensor(variable.outer_input)
    written = variable.kind not in (Kind.SEQUENCE, Kind.PARAMETER)
    if variable.kind is Kind.NIT_SOT or (not written and outer.type.shape[:dims] == (1,) * dims):
        return replace(variable, outer_input=_entry(outer, dims))
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
    """A Scan with other variables, whose step does for all entries what it did for one."""
    arguments = {
        old: new
        for before, after in zip(parts.variables, opened, strict=True)
        for old, new in zip(before.inner_inputs, after.inner_inputs, strict=True)
    }
    batched = (new for old, new in arguments.items() if new.type.ndim > old.type.ndim)
    first = as_tensor(next(batched))
    shape = [first.shape[axis] for axis in range(dims)]
    results = [as_tensor(out) for v in opened for out in v.inner_outputs]
    made: list[Variable] = []
    vectorized = map(as_tensor, cast(Sequence[Variable], vectorize_graph(results, arguments)))
    for old, new in zip(results, vectorized, strict=True):
        is_same = new.type.ndim == old.type.ndim  # it depends on nothing that has a batch
        sizes = (*shape, *(new.shape[axis] for axis in range(new.type.ndim)))
        made.append(as_tensor(pt.alloc(new, *sizes)) if is_same else new)
    whole = replace(parts, variables=tuple(opened))
    return whole.with_results(dict(zip(results, made, strict=True)))
