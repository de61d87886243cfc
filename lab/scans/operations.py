"""Determine the names of PyTensor's operations, and the indices, in formulas."""

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from lab.notation import STRENGTH
from lab.scans.node import is_scan
from lab.scans.slices import constant_value, index_parts

PRODUCTS = ("Dot", "MatMul", "Dot22", "BatchedDot")
# Operations that return the values of their input.
TRANSPARENT = {"Identity", "TensorCopy", "DeepCopyOp", "SpecifyShape", "TensorFromScalar", "ViewOp"}
TRANSPARENT |= {"ScalarFromTensor", "Assert", "CheckParameterValue", "Reshape", "Unbroadcast"}
VIEWS = {"Subtensor", "DimShuffle", *TRANSPARENT}  # operations that return values of their input
FUNCTIONS = {"Abs": "abs", "Maximum": "max", "Minimum": "min", "Switch": "where"}
FUNCTIONS |= {"ScalarMaximum": "max", "ScalarMinimum": "min", "Shape_i": "shape"}
FUNCTIONS |= {"AllocDiag": "diag", "ExtractDiag": "diagonal", "MatrixInverse": "inv"}
FUNCTIONS |= {"SortOp": "sort", "ArgSortOp": "argsort", "MakeVector": "list", "Join": "concat"}
FUNCTIONS |= {"SearchsortedOp": "searchsorted", "KroneckerProduct": "kron"}
AXES = {"Join": 0, "Split": 1, "SortOp": 1, "ArgSortOp": 1}  # the axis, if no property
# Properties that change no entry of a result, or that other parts of a formula contain.
OMITTED = {"name", "signature", "dtype", "acc_dtype", "upcast_discrete_output", "ndim", "b_ndim"}
OMITTED |= {"n_inputs", "n_outs", "len_splits", "i", "view", "kind", "driver", "method"}
OMITTED |= {"compute_uv", "static_pad_width", "idx_list", "msg", "message", "attrs"}
DEFAULTS = {("offset", 0), ("axis1", 0), ("axis2", 1), ("assume_a", "gen"), ("mode", "full")}
DEFAULTS |= {("mode", "add"), ("mode", "mul")}  # cumsum and cumprod
DEFAULTS |= {("full_matrices", True), ("pad_mode", "constant"), ("side", "left")}
UNLISTED = ("subscripts", "pad_mode", "reflect_type")  # properties that no operation lists
OPERATORS = {*STRENGTH, "Pow", "Sqr", "Neg", "Reciprocal", "outer", "at", "add_at", "set_at"}

# Names of operations whose index contains a slice.
PARTS = {"at": "part", "add_at": "add_to_part", "set_at": "set_part"}


def plain_name(node: Apply) -> str:
    """Return the class name of an operation; for Elemwise, the name of its scalar operation."""
    return type(getattr(node.op, "scalar_op", node.op)).__name__


def operation_name(node: Apply, output: Variable) -> str:
    """Return the name of the operation of `output`, with its properties and output index."""
    name, part = basic_name(node, output), output_index(node, output)
    if name in PARTS and any(isinstance(index, slice) for index in index_parts(node)[2]):
        return PARTS[name]
    if name in OPERATORS:
        return name
    if name == "DimShuffle":
        return "transpose" if dimshuffle_index(node)[0] else name
    if name == "Cast":
        return output.type.dtype
    if name == "Shape_i":
        return f"shape[{node.op.i}]" if node.op.i else "len"
    if is_scan(node):
        name = node.op.name or "scan_fn"
    function = FUNCTIONS.get(name, name.removesuffix("RV").lower())
    inside = f"({', '.join(found)})" if (found := properties(node)) else ""
    return f"{function}{inside}" if part is None else f"{function}{inside}[{part}]"


def viewed(variable: Variable) -> Variable:
    """Return the variable from which slices and reshapes compute `variable`."""
    while variable.owner is not None and plain_name(variable.owner) in VIEWS:
        variable = variable.owner.inputs[0]
    return variable


def unchanged_input(node: Apply, output: Variable) -> int | None:
    """Return the index of the input whose values `output` repeats; None for computed values."""
    name = basic_name(node, output)
    if name == "Second":
        return 1
    plain = name in TRANSPARENT or name == "Alloc"
    if name == "Cast":  # a cast to a smaller integer type changes values
        kinds = node.inputs[0].type.dtype, output.type.dtype
        plain = kinds[1][0] in "fc" or bool(np.can_cast(*kinds))
    return 0 if plain or (name == "DimShuffle" and not dimshuffle_index(node)[0]) else None


def basic_name(node: Apply, output: Variable) -> str:
    """Return the name of an operation in expressions, without properties and output index."""
    if isinstance(node.op, Elemwise):
        return plain_name(node)
    name = type(node.op.core_op if isinstance(node.op, Blockwise) else node.op).__name__
    if name in PRODUCTS:
        first, second = (v.type.shape for v in node.inputs)
        return "outer" if output.type.ndim == 2 and first[-1] == 1 and second[0] == 1 else "Dot"
    if isinstance(node.op, Blockwise):  # it has no mode and no indices
        return name
    if name == "CAReduce":
        return f"reduce_{node.op.scalar_op}"
    if name == "CumOp":
        return "cumprod" if node.op.mode == "mul" else "cumsum"
    if name.endswith(("IncSubtensor", "IncSubtensor1")):
        return "set_at" if node.op.set_instead_of_inc else "add_at"
    return "at" if name.endswith(("Subtensor", "Subtensor1")) else name


def properties(node: Apply) -> tuple[str, ...]:
    """Return the properties of an operation, such as ``axis=1``, but no axis if it uses all.

    The axis of a batched operation is negative, because its batch axes are the first axes.
    """
    is_batched = isinstance(node.op, Blockwise)
    op, texts = node.op.core_op if is_batched else node.op, list[str]()
    names = {*(getattr(op, "__props__", None) or ()), *UNLISTED} - OMITTED
    values = {name: getattr(op, name, None) for name in sorted(names)}
    place = None if "axis" in values else AXES.get(type(node.op).__name__)
    if place is not None:
        values["axis"] = constant_value(node.inputs[place])
    for name, value in values.items():
        entries = value if isinstance(value, tuple) else (value,)
        shown: list[Any] = [each for each in entries if isinstance(each, int | float | str)]
        if name == "axis" and is_batched:
            shown = [entry - len(node.op.inputs_sig[0]) for entry in shown]
        elif name == "axis" and len(shown) == node.inputs[place == 0].type.ndim:
            continue
        texts += (f"{name}={e}" for e in shown if e is not False and (name, e) not in DEFAULTS)
    return tuple(texts)


def output_index(node: Apply, output: Variable) -> int | None:
    """Return the index of `output`; None for an elementwise operation, a draw, or one output."""
    is_draw = basic_name(node, output).endswith("RV")
    is_only = isinstance(node.op, Elemwise) or len(node.outputs) == 1
    return None if is_only or is_draw else node.outputs.index(output)


def dimshuffle_index(node: Apply) -> tuple[bool, list[str]]:
    """Return whether a DimShuffle permutes axes, and the NumPy index with the same effect.

    ``[":", "None"]`` adds an axis after the first, ``["0"]`` drops the first.  New leading axes
    need no index, because of broadcasting.
    """
    order, count = list(node.op.new_order), node.inputs[0].type.ndim
    kept = [axis for axis in order if axis != "x"]
    is_permuted = kept != sorted(kept)
    while order and order[0] == "x":
        order.pop(0)
    dropped = [axis for axis in range(count) if axis not in kept]
    if dropped and "x" not in order:
        first = 1 if 0 in dropped and is_row(node.inputs[0]) else 0
        indices = ["0" if axis in dropped else ":" for axis in range(first, count)]
    else:
        indices = ["None" if axis == "x" else ":" for axis in order]
    while indices and indices[-1] == ":":
        indices.pop()
    return is_permuted, indices


def is_row(variable: Variable) -> bool:
    """Return whether the first axis of `variable` was added to a vector; formulas omit it."""
    node = variable.owner
    if node is None:
        return isinstance(variable, Constant)
    if isinstance(node.op, DimShuffle):
        first, before = next(iter(node.op.new_order), 0), node.inputs[0].owner
        if first == "x" or before is None or not isinstance(before.op, DimShuffle):
            return first == "x"
        return first < len(before.op.new_order) and before.op.new_order[first] == "x"  # a column
    return isinstance(node.op, Elemwise) and all(map(is_row, node.inputs))
