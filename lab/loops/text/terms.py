"""What a step that was written as text consists of, and what its operations compute."""

import ast
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any

import pytensor.tensor as pt
from pytensor.configdefaults import config


@dataclass(frozen=True)
class Read:
    """A variable as the step receives it: at a tap, or None for its name alone."""

    name: str
    tap: int | None


@dataclass(frozen=True)
class Made:
    """What an earlier line of the same step made."""

    name: str


@dataclass(frozen=True)
class Number:
    """A literal number."""

    value: float


@dataclass(frozen=True)
class Operation:
    """An operator or function, by its name in the text, applied to its arguments."""

    name: str
    arguments: tuple["Node", ...]


Node = Read | Made | Number | Operation


@dataclass(frozen=True)
class Line:
    """One line of a step: what it assigns to, and the formula; or the condition to stop on."""

    target: str
    written: str
    node: Node
    is_until: bool = False


@dataclass(frozen=True)
class Function:
    """A function of the grammar, and how many arguments it takes."""

    apply: Callable[..., Any]
    fewest: int = 1
    most: int = 1


def _least(*values: Any) -> Any:
    return reduce(pt.minimum, values)


def _largest(*values: Any) -> Any:
    return reduce(pt.maximum, values)


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "sin": Function(pt.sin),
        "cos": Function(pt.cos),
        "tan": Function(pt.tan),
        "arcsin": Function(pt.arcsin),
        "arccos": Function(pt.arccos),
        "arctan": Function(pt.arctan),
        "sinh": Function(pt.sinh),
        "cosh": Function(pt.cosh),
        "tanh": Function(pt.tanh),
        "exp": Function(pt.exp),
        "log": Function(pt.log),
        "sqrt": Function(pt.sqrt),
        "sigmoid": Function(pt.sigmoid),
        "abs": Function(pt.abs),
        "min": Function(_least, 2, 8),
        "max": Function(_largest, 2, 8),
        "where": Function(pt.switch, 3, 3),
        "dot": Function(pt.dot, 2, 2),
        "sum": Function(pt.sum),
    }
)
CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi})
OPERATORS: Mapping[type[ast.operator], str] = MappingProxyType(
    {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@"}
)
COMPARISONS: Mapping[type[ast.cmpop], str] = MappingProxyType(
    {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
)
_APPLIED: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "+": pt.add,
        "*": pt.mul,
        "/": pt.true_div,
        "**": pt.pow,
        "@": pt.matmul,
        "<": pt.lt,
        "<=": pt.le,
        ">": pt.gt,
        ">=": pt.ge,
        "==": pt.eq,
        "!=": pt.neq,
        "and": lambda *values: reduce(pt.and_, values),
        "or": lambda *values: reduce(pt.or_, values),
        "not": pt.invert,
    }
)


def compute(node: Node, read: Callable[[Read], Any], made: Mapping[str, Any]) -> Any:
    """The PyTensor variable of a formula; `read` gives those that the step receives."""
    if isinstance(node, Read):
        return read(node)
    if isinstance(node, Made):
        return made[node.name]
    if isinstance(node, Number):
        # In floats: small integers would overflow in the types that PyTensor finds for them.
        return pt.constant(float(node.value), dtype=config.floatX)
    if node.name == "**" and isinstance(node.arguments[1], Number):
        return compute(node.arguments[0], read, made) ** node.arguments[1].value
    values = [compute(argument, read, made) for argument in node.arguments]
    if node.name == "-":
        return -values[0] if len(values) == 1 else values[0] - values[1]
    if node.name in FUNCTIONS:
        return FUNCTIONS[node.name].apply(*values)
    return _APPLIED[node.name](*values)


def reads_of(node: Node) -> Iterator[Read]:
    """All that a formula reads, as often as it does."""
    if isinstance(node, Read):
        yield node
    elif isinstance(node, Operation):
        for argument in node.arguments:
            yield from reads_of(argument)
