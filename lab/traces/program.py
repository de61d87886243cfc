"""A run as a list of operations on single numbers, for pages without PyTensor.

    >>> program = program_of(derivative.values, derivative.given)
    >>> program.instructions.lines[int(program.numbers.outputs[0])]
    ('Mul', 7, 12)

The graph runs as in `lab.traces.run`, over the same buffers.  But each array entry is the index of
an instruction, instead of the number that the instruction computes.  An operation that only moves
entries moves indices, and needs no instruction.  Therefore `numbers` is a trace of the same run,
with indices of instructions as values.  Integers keep their values, because they count or select.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import explicit_graph_inputs
from pytensor.tensor.elemwise import CAReduce, Elemwise

from lab.errors import GraphError
from lab.notation import Expression, Leaf, Number, fold
from lab.progress import Progress
from lab.scans.node import read_node
from lab.scans.operations import FUNCTIONS, basic_name, operation_name, plain_name
from lab.scans.replacing import as_scans, scan_nodes
from lab.traces.loop_run import Cell, Computed, ScanRecording
from lab.traces.run import Evaluator, checked, run_nodes
from lab.traces.trace import Trace
from lab.traces.tracing import build_trace

Instruction = tuple[str | float | int, ...]
MOST = 20_000  # number of instructions that a page can compute thirty times per second

# The operations that a page computes, by their names in formulas.
KNOWN = {
    *("Add", "Mul", "Sub", "TrueDiv", "Neg", "Pow", "Sqr", "Reciprocal", "abs", "sign", "sqrt"),
    *("exp", "log", "log1p", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sigmoid"),
    *("arcsin", "arccos", "arctan", "max", "min", "where", "GT", "LT", "GE", "LE", "EQ", "NEQ"),
    "largest",  # the largest absolute value of the finite operands
}
# Operations that only move entries.
MOVING = {
    *("Subtensor", "AdvancedSubtensor", "AdvancedSubtensor1", "Alloc", "DimShuffle", "Join"),
    *("MakeVector", "Reshape", "SpecifyShape", "Unbroadcast", "TensorFromScalar", "Split"),
    *("ScalarFromTensor", "DeepCopyOp", "TensorCopy", "Identity", "ViewOp", "Cast"),
}
COUNTING = ("Shape", "Shape_i")
# Inputs with moved entries. Default: the first for an operation in `MOVING`, otherwise all.
ENTRIES = {"AllocEmpty": slice(0), "IncSubtensor": slice(2)}
ENTRIES |= {"Join": slice(1, None), "MakeVector": slice(None)}


class Instructions:
    """A list of instructions without repetitions.

    An instruction is ``("constant", 2.0)``, ``("input", "x", 0)`` for an entry of an input, or the
    name of an operation with the indices of its operands.  Operands precede the instruction.
    """

    def __init__(self) -> None:
        self.lines: list[Instruction] = []
        self.known: dict[Instruction, int] = {}
        self.add("constant", 0.0)  # the value of uninitialized memory

    def add(self, name: str, *operands: float | str) -> int:
        """Return the index of an instruction; append it if the list lacks it.

        x² becomes Sqr.  A sum of constants becomes a constant: the index of a sum of zeros is 0.
        Raises GraphError for an operation without a rule in a page, and after `MOST` instructions.
        """
        if name == "Pow" and self.lines[int(operands[1])] == ("constant", 2.0):
            name, operands = "Sqr", operands[:1]
        if name == "Add" and all(self.lines[int(n)][0] == "constant" for n in operands):
            numbers = [float(self.lines[int(n)][1]) for n in operands]
            name, operands = "constant", (float(np.cumsum(numbers)[-1]),)  # rounds as a page does
        if name not in KNOWN and name not in ("constant", "input"):
            raise GraphError(f"{name}: a page cannot compute this operation.")
        key = (name, *operands)
        if key not in self.known:
            if len(self.known) == MOST:
                raise GraphError(f"A run of more than {MOST:,} operations is too long for a page.")
            self.known[key] = len(self.lines)
            self.lines.append(key)
        return self.known[key]

    def each(self, name: str, *operands: Computed) -> np.ndarray:
        """Append an operation for every entry after broadcasting; return the resulting indices."""
        broadcast = np.broadcast(*operands)
        kind = float if name == "constant" else int
        places = [self.add(name, *map(kind, entry)) for entry in broadcast]
        return np.array(places, dtype="float64").reshape(broadcast.shape)

    def product(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Append the product of two matrices or vectors; return the indices of its entries."""
        shape = np.matmul(np.zeros_like(first), np.zeros_like(second)).shape
        left = first if first.ndim > 1 else first[None]
        right = second if second.ndim > 1 else second[:, None]
        terms = self.each("Mul", left[..., None, :], np.swapaxes(right, -1, -2)[..., None, :, :])
        rows = np.moveaxis(terms, -1, 0)
        return reduce(lambda one, other: self.each("Add", one, other), rows).reshape(shape)

    def norm(self, places: np.ndarray) -> int:
        """Append the Euclidean norm of the values at `places`; return the index of the norm."""
        squares = [self.add("Sqr", int(place)) for place in places.ravel()]
        return self.add("sqrt", self.add("Add", *squares)) if squares else 0

    def term(self, expression: Expression, leaf: Callable[[Leaf], np.ndarray | int]) -> np.ndarray:
        """Append the instructions of an expression, and return the indices of its entries.

        `leaf` returns the indices of a leaf.  Raises GraphError for an operation that a page does
        not compute.
        """

        def place(term: Leaf) -> np.ndarray:
            return np.asarray(leaf(term), dtype="float64")

        def constant(number: Number) -> np.ndarray:
            try:
                return self.each("constant", float(number.written))
            except ValueError:  # a part of an index
                raise GraphError(f"{number.written}: expected a number.") from None

        def call(name: str, operands: list[np.ndarray]) -> np.ndarray:
            if name == "Dot" and all(operand.ndim for operand in operands):
                return self.product(*operands)
            if name == "outer":
                return self.each("Mul", operands[0][:, None], operands[1][None])
            if name == "transpose":
                return operands[0].T
            return self.each("Mul" if name == "Dot" else name, *operands)

        return fold(expression, place, constant, call)


@dataclass(frozen=True, eq=False)
class Program:
    """A recorded run: instructions, and a trace `numbers` whose values are their indices."""

    instructions: Instructions
    numbers: Trace


def program_of(
    outputs: Sequence[Variable], given: Mapping[Variable, object], also: Sequence[Variable] = ()
) -> Program:
    """Record the same run as `lab.trace`, as a list of instructions.

    The instructions also compute the variables `also`, which are no outputs of the program.  Raises
    GraphError for a loop with an until condition or a Scan in its step, for random draws, for an
    operation that a page cannot compute, for float32, and for more than 20,000 instructions.
    """
    instructions = Instructions()
    everything = as_scans([*outputs, *also])
    places, recordings = _Places(instructions), list[ScanRecording]()
    for parts in map(read_node, scan_nodes(everything)):
        if parts.until is not None:
            reason = "stops on a condition: the number of steps depends on values."
            raise GraphError(f"{parts.called} {reason}")
        if scan_nodes(parts.inner_outputs):
            raise GraphError(f"{parts.called} has a Scan in its step.")
    values = {variable: places.given(variable, value) for variable, value in given.items()}
    with Progress() as progress:
        run_nodes(everything, values, recordings, progress, places)
    asked, inputs = everything[: len(outputs)], list(explicit_graph_inputs(everything))
    called = tuple(variable.name or "" for variable in outputs)
    return Program(instructions, build_trace(asked, inputs, called, values, recordings))


class _Places(Evaluator):
    """A run of a graph with indices of instructions as values; operations append instructions."""

    def __init__(self, instructions: Instructions) -> None:
        super().__init__()
        self.add, self._each = instructions.add, instructions.each
        self._product = instructions.product

    def given(self, variable: Variable, value: object) -> Computed:
        """Return instruction indices for the entries of an input; return integers unchanged."""
        if not hasattr(variable.type, "dtype"):
            raise GraphError("A page cannot compute random draws.")
        array = np.asarray(checked(variable, value))
        if not _is_place(variable):
            return array
        _check_precision(variable)
        places = [self.add("input", str(variable.name), n) for n in range(array.size)]
        return np.array(places, dtype="float64").reshape(array.shape)

    def known(self, variable: Variable) -> Computed:
        """Return instruction indices for the entries of a constant; return integers unchanged."""
        value = super().known(variable)
        return self._each("constant", np.asarray(value)) if _is_place(variable) else value

    def call(self, node: Apply, cells: dict[Variable, Cell]) -> Callable[[], None]:
        """Return a function that evaluates a node of a step."""

        def call() -> None:
            results = self.perform(node, [cells[v][0] for v in node.inputs])
            for variable, value in zip(node.outputs, results, strict=True):
                cells[variable][0] = value

        return call

    def perform(self, node: Apply, inputs: Sequence[Computed]) -> list[Computed]:
        """Return the results of a node that is not a Scan, as indices of instructions."""
        name, output = plain_name(node), node.outputs[0]
        moved = any(map(_is_place, node.inputs))
        if name in COUNTING or not (moved or _is_place(output)):
            return super().perform(node, inputs)
        is_boolean = output.type.dtype == "bool" and name in ("Cast", "Add")  # True + True is True
        if is_boolean and not moved:
            return [self._each("constant", result) for result in super().perform(node, inputs)]
        if is_boolean or not _is_place(output):
            reason = "counts, selects, or makes booleans of computed values. A page cannot do that."
            raise GraphError(f"{name} {reason}")
        entries = ENTRIES.get(name, slice(1) if name in MOVING else slice(None))
        computed = range(len(inputs))[entries]
        inputs = [  # integers that select or count need no instruction
            self._each("constant", value) if n in computed and not _is_place(v) else value
            for n, (v, value) in enumerate(zip(node.inputs, inputs, strict=True))
        ]
        if name == "AllocEmpty":
            return [np.zeros([int(size) for size in inputs])]
        if name == "Second":
            return [np.broadcast_to(inputs[1], np.broadcast_shapes(*map(np.shape, inputs)))]
        if name == "IncSubtensor" and not node.op.set_instead_of_inc:
            return [self._increased(node, inputs)]
        if name == "Cast" and node.inputs[0].type.dtype == "float64":
            _check_precision(output)
        if name in MOVING | {"IncSubtensor"}:
            return _moved(node, inputs)
        _check_precision(output)
        if isinstance(node.op, CAReduce):
            return [self._reduced(node, inputs[0])]
        if basic_name(node, output) in ("Dot", "outer"):
            return [self._product(*inputs)]
        if isinstance(node.op, Elemwise):
            return [self._each(operation_name(node, output), *inputs)]
        raise GraphError(f"{name}: a page cannot compute this operation.")

    def _increased(self, node: Apply, inputs: Sequence[Computed]) -> np.ndarray:
        """Return the result of an IncSubtensor that adds to a part of an array, as indices."""
        base, value, *bounds = inputs
        zeros = np.zeros(base.shape)
        (added,) = _moved(node, [zeros, value, *bounds])
        (is_part,) = _moved(node, [zeros, np.ones(np.shape(value)), *bounds])
        result, part = np.array(base), is_part.astype(bool)
        result[part] = self._each("Add", result[part], added[part])
        return result

    def _reduced(self, node: Apply, places: np.ndarray) -> np.ndarray:
        axes = range(places.ndim) if node.op.axis is None else node.op.axis
        name = FUNCTIONS.get(plain_name(node), plain_name(node))
        rest = [axis for axis in range(places.ndim) if axis not in axes]
        rows = places.transpose(*axes, *rest).reshape(-1, *(places.shape[axis] for axis in rest))
        if not len(rows):
            return self._each("constant", np.full(rows.shape[1:], float(name == "Mul")))
        return np.asarray(reduce(lambda one, other: self._each(name, one, other), rows))


def _is_place(variable: Variable) -> bool:
    """Return whether the entries of a variable are indices: true for floats and booleans."""
    return getattr(variable.type, "dtype", "int64")[0] in "fb"


def _check_precision(variable: Variable) -> None:
    """Raise GraphError for a float variable with fewer than 64 bits."""
    dtype = variable.type.dtype
    if dtype in ("float16", "float32"):
        raise GraphError(f"This loop uses {dtype}. A page computes with float64.")


def _moved(node: Apply, inputs: Sequence[Computed]) -> list[Computed]:
    if isinstance(node.op, Elemwise):
        return [inputs[0]]
    cells: list[Cell] = [[None] for _ in node.outputs]
    node.op.perform(node, list(inputs), cells)
    return [np.asarray(cell[0]) for cell in cells]
