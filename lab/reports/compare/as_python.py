"""A PyTensor graph as the text of a Python program that builds it again.

Only operations that are known here are written, by PyTensor's public names; for another one
`CannotWriteError` is raised.  Whatever a person has named becomes a Python string by `ascii`.
"""

import builtins
import keyword
from collections.abc import Callable, Iterable, Sequence
from functools import cache

import numpy as np
import pytensor.scalar as ps
import pytensor.tensor as pt
from numpy.typing import ArrayLike
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.traversal import toposort
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.random.type import RandomGeneratorType
from pytensor.tensor.subtensor import IncSubtensor, Subtensor
from pytensor.tensor.type import TensorType

from lab.errors import LabError, quoted
from lab.scans.node import inner_graph, is_scan, settings_text
from lab.scans.operations import PRODUCTS
from lab.scans.slices import index_parts

# What a program that is written here has to import, beside numpy and pytensor themselves.
IMPORTS = """\
import sys

import pytensor.scalar as ps
import pytensor.tensor as pt
from numpy import inf, nan
from pytensor.scan.op import Scan, ScanInfo
from pytensor.scan.utils import until
"""
IMPORTED = {"np", "pytensor", "sys", "ps", "pt", "inf", "nan", "Scan", "ScanInfo", "until"}
REDUCTIONS = {"Sum": "sum", "Prod": "prod", "Max": "max", "Min": "min", "All": "all", "Any": "any"}


class CannotWriteError(LabError):
    """A graph has something that is not written as Python here."""


class PythonWriter:
    """Writes graphs line by line; `names` are those of the variables that are written.

    `taken` are names that stand for something else in the program.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.lines: list[str] = []
        self.names: dict[Variable, str] = {}
        self.used = {*IMPORTED, *taken}

    def name(self, variable: Variable) -> str:
        """A new name for a variable in the program: its own, where that is a plain word."""
        own = variable.name if isinstance(variable.name, str) else ""
        plain = own.isascii() and own.isidentifier() and not keyword.iskeyword(own)
        self.names[variable] = self.new(own if plain and own[0] != "_" and len(own) < 40 else "v")
        return self.names[variable]

    def new(self, base: str) -> str:
        """A name that is not in use: `base`, or with a number behind it."""
        name, number = base, 1
        while name in self.used or hasattr(builtins, name):
            number += 1
            name = f"{base}{number}"
        self.used.add(name)
        return name

    def declare(self, variable: Variable) -> str:
        """A line that makes an input, and its name in the program."""
        kind = variable.type
        label = ascii(variable.name) if variable.name else ""
        name = self.name(variable)
        if isinstance(kind, TensorType):
            made = f"pt.TensorType({kind.dtype!a}, shape={kind.shape})({label})"
        elif isinstance(kind, RandomGeneratorType):
            made = f"pt.random.type.random_generator_type({variable.name or ''!a})"
        elif isinstance(kind, ps.ScalarType):
            made = f"ps.ScalarType({kind.dtype!a})({variable.name or ''!a})"
        else:
            raise CannotWriteError(f"{variable}: an input of type {kind} is not written.")
        self.lines.append(f"{name} = {made}")
        return name

    def write(self, outputs: Iterable[Variable]) -> None:
        """The lines that compute `outputs` from what has been declared."""
        for node in toposort(outputs):
            if all(output in self.names for output in node.outputs):
                continue
            inputs = [self.use(v) if not _is_hidden(v) else "" for v in node.inputs]
            made = self._scan(node, inputs) if is_scan(node) else operation(node, inputs, self.use)
            if len(node.outputs) == 1:
                self.lines.append(f"{self.name(node.outputs[0])} = {made}")
            else:
                names = ", ".join(map(self.name, node.outputs))
                self.lines.append(f"{names} = {made}")

    def use(self, variable: Variable) -> str:
        """What stands for a variable in the program."""
        if isinstance(variable, Constant):
            return constant(variable)
        if variable not in self.names:
            raise CannotWriteError(f"{variable}: an input of the graph that was not declared.")
        return self.names[variable]

    def _scan(self, node: Apply, inputs: Sequence[str]) -> str:
        """The lines of a step, then the Scan that repeats it."""
        arguments, results = inner_graph(node.op)
        for argument in arguments:
            self.declare(argument)
        self.write(results)
        scan = self.new("scan")
        self.lines += [
            f"{scan} = Scan(",
            f"    [{', '.join(self.names[v] for v in arguments)}],",
            f"    [{', '.join(map(self.use, results))}],",
            *(f"    {setting}," for setting in settings_text(node.op)),
            ")",
        ]
        return f"{scan}.make_node({', '.join(inputs)}).outputs" + (
            "[0]" if len(node.outputs) == 1 else ""
        )


def _is_hidden(variable: Variable) -> bool:
    """Whether a constant is no number: it is written where it is used, or not at all."""
    return isinstance(variable, Constant) and not isinstance(
        variable.type, TensorType | ps.ScalarType
    )


def constant(variable: Constant) -> str:
    """A number, or an array of them."""
    data = np.asarray(variable.data)
    if isinstance(variable.type, ps.ScalarType):
        return f"ps.constant({array(data)}, dtype={variable.type.dtype!a})"
    if not isinstance(variable.type, TensorType):
        raise CannotWriteError(f"{variable}: a constant of type {variable.type} is not written.")
    return f"pt.constant({array(data)})"


def array(value: ArrayLike) -> str:
    """An array of numbers; `inf` and `nan` are to be imported from numpy."""
    data = np.asarray(value)
    if data.dtype.kind not in "biufc":
        raise CannotWriteError(f"{quoted(value)}: values of type {data.dtype} are not written.")
    entries = data.tolist() if data.size else []
    told = f"np.array({entries!r}, dtype={str(data.dtype)!a})"
    return told if data.size else f"np.zeros({data.shape}, dtype={str(data.dtype)!a})"


def operation(node: Apply, inputs: Sequence[str], use: Callable[[Variable], str]) -> str:
    """The expression of one operation."""
    op = node.op
    core = op.core_op if isinstance(op, Blockwise) else op
    kind = type(core).__name__
    if isinstance(op, Elemwise):
        return _scalar(node, inputs, "pt")
    if isinstance(op, ps.ScalarOp):
        return _scalar(node, inputs, "ps")
    if isinstance(op, DimShuffle):
        return f"{inputs[0]}.dimshuffle({', '.join(map(repr, op.new_order))})"
    if isinstance(op, CAReduce) and kind in REDUCTIONS:
        axis = "" if op.axis is None else f", axis={tuple(op.axis)!r}"
        return f"pt.{REDUCTIONS[kind]}({inputs[0]}{axis})"
    if kind in PRODUCTS:
        return f"pt.{'matmul' if kind == 'MatMul' else 'dot'}({', '.join(inputs)})"
    if isinstance(op, Subtensor):
        return f"{inputs[0]}[{_indices(node, use)}]"
    if isinstance(op, IncSubtensor):
        change = "set_subtensor" if op.set_instead_of_inc else "inc_subtensor"
        return f"pt.{change}({inputs[0]}[{_indices(node, use)}], {inputs[1]})"
    plain = None if isinstance(op, Blockwise) else PLAIN.get(kind)
    if plain is None:
        raise CannotWriteError(f"{op}: this operation is not written.")
    return plain(node, inputs)


def _listed(inputs: Sequence[str]) -> str:
    return f"[{', '.join(inputs)}]"


PLAIN: dict[str, Callable[[Apply, Sequence[str]], str]] = {
    "Alloc": lambda node, names: f"pt.alloc({', '.join(names)})",
    "AllocEmpty": lambda node, names: f"pt.basic.AllocEmpty({node.op.dtype!a})({', '.join(names)})",
    "MakeVector": lambda node, names: f"pt.stack({_listed(names)})",
    "Join": lambda node, names: f"pt.concatenate({_listed(names[1:])}, axis={names[0]})",
    "Shape": lambda node, names: f"pt.shape({names[0]})",
    "Shape_i": lambda node, names: f"{names[0]}.shape[{node.op.i}]",
    "ScalarFromTensor": lambda node, names: f"pt.scalar_from_tensor({names[0]})",
    "TensorFromScalar": lambda node, names: f"pt.tensor_from_scalar({names[0]})",
    "Reshape": lambda node, names: f"pt.reshape({names[0]}, {names[1]}, ndim={node.op.ndim})",
    "UndefinedGrad": lambda node, names: f"pytensor.gradient.undefined_grad({names[0]})",
    "DisconnectedGrad": lambda node, names: f"pytensor.gradient.disconnected_grad({names[0]})",
    "AdvancedSubtensor1": lambda node, names: f"{names[0]}[{names[1]}]",
}


def _scalar(node: Apply, inputs: Sequence[str], module: str) -> str:
    """An operation on numbers, or on all entries of arrays, by its public name in `module`."""
    op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
    kind = type(op).__name__
    if kind == "Cast":
        return f"{module}.cast({inputs[0]}, {node.outputs[0].type.dtype!a})"
    if kind not in _public(module):
        raise CannotWriteError(f"{kind}: this operation is not written.")
    return f"{module}.{_public(module)[kind]}({', '.join(inputs)})"


@cache
def _public(module: str) -> dict[str, str]:
    """The names of the operations of ``ps`` or ``pt``, by what they do to a number."""
    names: dict[str, str] = {}
    for name, op in vars({"ps": ps, "pt": pt}[module]).items():
        scalar = op.scalar_op if isinstance(op, Elemwise) else op
        if isinstance(scalar, ps.ScalarOp) and type(scalar) is not ps.Composite:
            names.setdefault(type(scalar).__name__, name)
    return names


def _indices(node: Apply, use: Callable[[Variable], str]) -> str:
    """What stands between the brackets."""

    def bound(index: Variable | None) -> str:
        if index is None:
            return "None"
        return str(int(index.data)) if isinstance(index, Constant) else use(index)

    def entry(index: Variable | slice) -> str:
        if not isinstance(index, slice):
            return bound(index)
        return f"slice({', '.join(map(bound, (index.start, index.stop, index.step)))})"

    entries = [entry(index) for index in index_parts(node)[2]]
    return ", ".join(entries) + ("," if len(entries) == 1 else "")
