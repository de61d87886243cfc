"""The step of a loop as mathematics: ``buf[1] <- buf[0]*2*x[3] + buf[1]``.

`formulas` turns an inner graph, simplified by PyTensor's own rewrites, into small
expression trees; `text` writes a tree as plain text or LaTeX.  What a leaf is called, a
position, an index, a name or a number, is the caller's choice, so that one tree gives
the formula of every step and the same formula with its numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.rewriting.utils import rewrite_graph


@dataclass(frozen=True)
class Leaf:
    """An argument of the step: `variable` read at `tap` (None for what has no tape)."""

    variable: str
    tap: int | None
    argument: int


@dataclass(frozen=True)
class Number:
    """A constant, as it is written."""

    written: str


@dataclass(frozen=True)
class Call:
    """An operation applied to expressions; `name` is a key of `OPERATORS` or a function."""

    name: str
    arguments: tuple["Expression", ...]


Expression = Leaf | Number | Call


@dataclass(frozen=True)
class Style:
    """How to write operators."""

    product: str
    arrow: str
    latex: bool = False


PLAIN = Style("·", "←")
LATEX = Style(r" \cdot ", r"\leftarrow", latex=True)

SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4

OPERATORS = {
    "Add": " + ",
    "Sub": " − ",
    "GT": " > ",
    "LT": " < ",
    "GE": " ≥ ",
    "LE": " ≤ ",
    "EQ": " = ",
    "NEQ": " ≠ ",
}
TRANSPARENT = {"Identity", "TensorCopy", "DeepCopyOp", "SpecifyShape", "TensorFromScalar"}
TRANSPARENT |= {"ScalarFromTensor", "Assert", "Unbroadcast", "Cast", "ViewOp", "Reshape"}
FUNCTIONS = {
    "Abs": "abs",
    "ScalarMaximum": "max",
    "Maximum": "max",
    "ScalarMinimum": "min",
    "Minimum": "min",
    "Switch": "where",
    "CAReduce": "sum",
}
LATEX_FUNCTIONS = {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min"}


def simplify(results: Sequence[Variable]) -> list[Variable]:
    """`results` after PyTensor's canonicalization; the graph that was given stays as it is."""
    if all(result.owner is None for result in results):
        return list(results)
    return list(rewrite_graph(list(results), include=("canonicalize",), clone=True))


def formulas(
    results: Sequence[Variable], leaves: Mapping[Variable, Leaf], simplified: bool = True
) -> tuple[Expression, ...]:
    """The expressions of `results` in terms of `leaves`, the arguments of the step."""
    results = simplify(results) if simplified else results
    found: dict[Variable, Expression] = dict(leaves)
    return tuple(_expression(result, found) for result in results)


def _expression(variable: Variable, found: dict[Variable, Expression]) -> Expression:
    if variable not in found:
        if isinstance(variable, Constant):
            found[variable] = Number(_written(variable.data))
        elif variable.owner is None:
            found[variable] = Leaf(variable.name or str(variable), None, -1)
        else:
            arguments = tuple(_expression(v, found) for v in variable.owner.inputs)
            found[variable] = _call(variable.owner, variable, arguments)
    return found[variable]


def _call(node: Apply, output: Variable, arguments: tuple[Expression, ...]) -> Expression:
    name = type(getattr(node.op, "scalar_op", node.op)).__name__
    if name in TRANSPARENT or (name == "DimShuffle" and not _transposes(node)):
        return arguments[0]
    if name == "DimShuffle":
        return Call("transpose", arguments)
    if name in ("Second", "Alloc"):
        return arguments[1] if name == "Second" else arguments[0]
    if name == "Sqr":
        return Call("Pow", (arguments[0], Number("2")))
    if name == "Reciprocal":
        return Call("TrueDiv", (Number("1"), arguments[0]))
    if name == "Mul":
        return _product(arguments)
    if name == "Subtensor" and len(arguments) > 1:
        return Call("at", arguments)
    if name in ("Dot", "Dot22", "MatMul") or (name == "Blockwise" and _is_product(node)):
        shapes = [v.type.shape for v in node.inputs]
        outer = output.type.ndim == 2 and shapes[0][-1] == 1 and shapes[1][0] == 1
        return Call("outer" if outer else "Dot", arguments)
    if name in OPERATORS or name in ("TrueDiv", "Pow", "Neg", "IntDiv"):
        return Call(name, arguments)
    if name.endswith("RV"):
        return Call(name.removesuffix("RV").lower(), arguments[2:])
    return Call(FUNCTIONS.get(name, name.lower()), arguments)


def _is_product(node: Apply) -> bool:
    return type(node.op.core_op).__name__ in ("Dot", "MatMul")


def _transposes(node: Apply) -> bool:
    order = [axis for axis in node.op.new_order if axis != "x"]
    return order != sorted(order)


def _product(arguments: tuple[Expression, ...]) -> Expression:
    """Factors that the tape holds come first, then numbers, then the rest."""
    factors: list[Expression] = []
    for argument in arguments:
        if isinstance(argument, Call) and argument.name == "Mul":
            factors += argument.arguments
        else:
            factors.append(argument)

    def rank(factor: Expression) -> int:
        if isinstance(factor, Leaf) and factor.tap is not None:
            return 0
        return 1 if isinstance(factor, Number) else 2 if isinstance(factor, Leaf) else 3

    return Call("Mul", tuple(sorted(factors, key=rank)))


def _written(data: Any) -> str:
    """A constant with as many digits as it needs, up to six."""
    array = np.asarray(data)
    if array.size != 1:
        shape = "×".join(map(str, array.shape))
        return f"[{shape}]"
    value = array.reshape(-1)[0]
    if array.dtype.kind == "b":
        return str(bool(value))
    return f"{value:g}" if array.dtype.kind in "iuf" else str(value)


def text(expression: Expression, leaf: Callable[[Leaf], str], style: Style = PLAIN) -> str:
    """`expression` written in `style`, its leaves as `leaf` has them."""
    return _text(expression, leaf, style)[0]


def _text(expression: Expression, leaf: Callable[[Leaf], str], style: Style) -> tuple[str, int]:
    """The text, and how strongly its outermost operator binds."""
    if isinstance(expression, Leaf):
        written = leaf(expression)
        return written, SUM if written.startswith(("-", "−")) else ATOM
    if isinstance(expression, Number):
        return expression.written, SUM if expression.written.startswith("-") else ATOM

    def part(index: int, needed: int) -> str:
        written, strength = _text(expression.arguments[index], leaf, style)
        return written if strength >= needed else f"({written})"

    name, count = expression.name, len(expression.arguments)
    if name in OPERATORS:
        parts = [part(0, SUM)] + [
            part(i, SUM if name == "Add" else PRODUCT) for i in range(1, count)
        ]
        return OPERATORS[name].join(parts).replace("+ −", "− "), SUM
    if name == "Neg":
        return "−" + part(0, PRODUCT), SUM
    if name == "Mul":
        return style.product.join(part(i, PRODUCT) for i in range(count)), PRODUCT
    if name == "Dot":
        sign = r"\," if style.latex else " @ "
        return sign.join(part(i, PRODUCT + 1) for i in range(count)), PRODUCT
    if name in ("TrueDiv", "IntDiv"):
        if style.latex and name == "TrueDiv":
            return rf"\frac{{{part(0, SUM)}}}{{{part(1, SUM)}}}", ATOM
        return f"{part(0, PRODUCT)}{'/' if name == 'TrueDiv' else '//'}{part(1, POWER)}", PRODUCT
    if name == "Pow":
        return _power(part(0, ATOM), part(1, SUM if style.latex else ATOM), style), POWER
    if name == "transpose":
        return f"{part(0, ATOM)}{'^T' if style.latex else 'ᵀ'}", POWER
    if name == "at":
        return f"{part(0, ATOM)}[{', '.join(part(i, SUM) for i in range(1, count))}]", ATOM
    inside = ", ".join(part(i, SUM) for i in range(count))
    if style.latex:
        command = f"\\{name}" if name in LATEX_FUNCTIONS else rf"\operatorname{{{name}}}"
        return rf"{command}\left({inside}\right)", ATOM
    return f"{name}({inside})", ATOM


def _power(base: str, exponent: str, style: Style) -> str:
    if style.latex:
        return f"{base}^{{{exponent}}}"
    raised = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    return f"{base}{exponent.translate(raised)}" if exponent.isdigit() else f"{base}^{exponent}"
