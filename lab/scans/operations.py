"""Determine the names of PyTensor's operations, and the indices, in formulas."""

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
FUNCTIONS |= {"AllocDiag": "diag", "ExtractDiag": "diag", "MatrixInverse": "inv"}
FUNCTIONS |= {"SortOp": "sort", "ArgSortOp": "argsort", "MakeVector": "list", "Join": "concat"}
AXES = {"Join": 0, "Split": 1, "SortOp": 1, "ArgSortOp": 1}  # the axis, if no property
# Properties that distinguish operations with the same name, and the values that formulas omit.
PROPERTIES = {"axis": None, "offset": 0, "axis1": 0, "axis2": 1, "lower": False}
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
    if name == "Cast":  # a cast from real or complex to integer changes values
        plain = node.inputs[0].type.dtype[0] not in "fc" or output.type.dtype[0] not in "iub"
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
    if name == "CumOp":
        return "cumprod" if node.op.mode == "mul" else "cumsum"
    if name.endswith(("IncSubtensor", "IncSubtensor1")):
        return "set_at" if node.op.set_instead_of_inc else "add_at"
    return "at" if name.endswith(("Subtensor", "Subtensor1")) else name


def properties(node: Apply) -> tuple[str, ...]:
    """Return the properties of an operation, such as ``axis=1``, but no axis if it uses all."""
    op, texts = node.op.core_op if isinstance(node.op, Blockwise) else node.op, list[str]()
    place = None if hasattr(op, "axis") else AXES.get(type(node.op).__name__)
    axis = None if place is None else constant_value(node.inputs[place])
    for name, omitted in PROPERTIES.items():
        value = getattr(op, name, axis if name == "axis" else omitted)
        values = value if isinstance(value, tuple) else () if value == omitted else (value,)
        if name != "axis" or (values and len(values) < node.inputs[place == 0].type.ndim):
            texts += (f"{name}={each}" for each in values)
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
