"""Define the lines, functions, and operators of a step in text form, and compute formulas."""

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType

import pytensor.tensor as pt
from pytensor.configdefaults import config
from pytensor.tensor.variable import TensorVariable

from lab.notation import Call, Leaf, Number, Term


@dataclass(frozen=True)
class SourceLine:
    """A line of a step: a target and a formula, or a stop condition."""

    target: str
    written: str
    node: Term  # calls have the names of the operators in the text
    is_until: bool = False

    def __str__(self) -> str:
        return self.written if self.is_until else f"{self.target} = {self.written}"


@dataclass(frozen=True)
class Function:
    """A function of the grammar, with its smallest and largest number of arguments."""

    apply: Callable[..., TensorVariable]
    fewest: int = 1
    most: int = 1


def _fold(apply: Callable[..., TensorVariable]) -> Callable[..., TensorVariable]:
    return lambda *values: reduce(apply, values)


def _subtract_or_negate(first: TensorVariable, *rest: TensorVariable) -> TensorVariable:
    return first - rest[0] if rest else -first


_TRIGONOMETRY = ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh")
FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        **{
            name: Function(getattr(pt, name))
            for name in (*_TRIGONOMETRY, "exp", "log", "sqrt", "sigmoid", "abs")
        },
        "min": Function(_fold(pt.minimum), 2, 8),
        "max": Function(_fold(pt.maximum), 2, 8),
        "where": Function(pt.switch, 3, 3),
        "dot": Function(pt.dot, 2, 2),
        "sum": Function(pt.sum),
    }
)
CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi})
OPERATORS: Mapping[type[ast.AST], str] = MappingProxyType(
    {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.USub: "-"}
)
CONNECTIVES: Mapping[type[ast.AST], str] = MappingProxyType({ast.And: "and", ast.Or: "or"})
COMPARISONS: Mapping[type[ast.AST], str] = MappingProxyType(
    {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
)
_OPERATIONS: Mapping[str, Callable[..., TensorVariable]] = MappingProxyType(
    {"-": _subtract_or_negate, "and": _fold(pt.and_), "or": _fold(pt.or_), "not": pt.invert}
    | {"+": pt.add, "*": pt.mul, "/": pt.true_div, "**": pt.pow, "@": pt.matmul}
    | {"<": pt.lt, "<=": pt.le, ">": pt.gt, ">=": pt.ge, "==": pt.eq, "!=": pt.neq}
    | {name: function.apply for name, function in FUNCTIONS.items()}
)


def compute(node: Term, read: Callable[[Leaf], TensorVariable]) -> TensorVariable:
    """Return the PyTensor variable of a formula; `read` returns the variable of a leaf."""
    if isinstance(node, Leaf):
        return read(node)
    if isinstance(node, Number):
        # Use floats, because PyTensor gives integers the smallest dtype, which can overflow.
        return pt.constant(float(node.written), dtype=config.floatX)
    assert isinstance(node, Call)
    if node.name == "**" and isinstance(node.arguments[1], Number):
        return compute(node.arguments[0], read) ** ast.literal_eval(node.arguments[1].written)
    return _OPERATIONS[node.name](*(compute(argument, read) for argument in node.arguments))
