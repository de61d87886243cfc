"""Scans in disguise, as Scans: those of a batch, and a single step.

``vectorize_graph`` puts a Scan into a Blockwise, which is a box that nobody sees into.  All entries
make the same steps, so that the batch can as well be an axis of every value that a step reads and
writes: then there is one Scan, whose tapes can be traced and whose gradient is that of any other.

Of a constant n_steps of 1 PyTensor makes no Scan: what the step computes stands in the graph as it
is.  PyTensor notes for every variable by which calls it was made, and so which of them that was.
"""

from collections.abc import Iterable, Sequence
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
from lab.tape import Kind, Tape

MAKER, SINGLE = PurePath(basic.__file__), "single step"


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


def with_single_step(outputs: Sequence[Variable]) -> list[Variable]:
    """`outputs`, with a Scan of one step in the place of what a call of ``scan`` computed.

    They are as they were where no such call is known.  What the step was handed are parameters of
    the Scan, states among them: nothing tells which of its results would have come back.
    """
    nodes = list(toposort(outputs))
    step = [node for node in nodes if _is_of_step(node)]
    inside = {v for node in step for v in node.outputs}
    outside = [v for node in nodes if node not in step for v in node.inputs]
    used = {*outside, *outputs}
    results = [v for node in step for v in node.outputs if v in used]
    if not results:
        return list(outputs)
    given = [v for node in step for v in node.inputs]
    handed = [v for v in dict.fromkeys(given) if v not in inside and not isinstance(v, Constant)]
    arguments = {v: v.type(name=v.name) for v in handed}
    made = clone_replace(results, replace=arguments)
    one = pt.constant(1, dtype="int64")
    variables = [
        LoopVariable(Kind.NIT_SOT, v.name or f"y{n}", Tape((), (0,)), one, (), (result,))
        for n, (v, result) in enumerate(zip(results, made, strict=True), start=1)
    ]
    variables += [
        LoopVariable(Kind.PARAMETER, v.name or f"p{n}", Tape((0,), ()), v, (argument,))
        for n, (v, argument) in enumerate(arguments.items(), start=1)
    ]
    node = build_scan(ScanParts(SINGLE, as_tensor(one), tuple(variables)), kind=Scan)
    rows = {old: as_tensor(new)[0] for old, new in zip(results, node.outputs, strict=True)}
    return clone_replace(list(outputs), replace=rows)


def _is_of_step(node: Apply) -> bool:
    """Whether a node was made by a function that ``pytensor.scan`` called."""
    for trace in getattr(node.outputs[0].tag, "trace", ()):
        for number, frame in enumerate(trace[:-1]):
            path, _, name, _ = frame
            if name == "scan" and PurePath(path) == MAKER and trace[number + 1][0] != path:
                return True
    return False
