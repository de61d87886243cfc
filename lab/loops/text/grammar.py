"""Parse the text of a loop's step, and compute its formulas.

    >>> read_step("x[t] = w·x[t−1]² + u[t]", Names(("x",), sequences=("u",), parameters=("w",)))

The grammar is the notation of all printed formulas, or its ASCII form: ``x[t-1]`` is the
previous value of x, ``u[t]`` the value of a sequence at this step, and ``u[t+1]`` the next value.
Without an index, ``x`` is the previous value of a state, and ``u`` the value of a sequence at this
step.  On the right-hand side, ``x[t]`` is the result of an earlier line.  Parameters have no index.

A line ``x = …`` assigns a state or an output; ``until(condition)`` stops the loop.  Lines end at
a line break or at ``;``.  A loop with one state can omit ``x =``.

Python's parser builds a tree of the text and ignores comments.  `_Reader` accepts only
the nodes of this grammar, and does not evaluate them.
"""

import ast
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType

import pytensor.tensor as pt
from pytensor.configdefaults import config
from pytensor.tensor.variable import TensorVariable

from lab.errors import ArgumentError, argument_error, closest_match, listing, quote
from lab.loops.text.source import Source
from lab.notation import Call, Leaf, Number, Term

LONGEST = 2000  # largest number of characters of a text
FARTHEST = 1000  # largest distance of a tap in steps
LARGEST = 1e300  # largest number in a formula
HIGHEST = 1000  # largest exponent
DEEPEST = 500  # largest number of nested operations
# The signs of printed formulas, and the operators that Python's parser reads instead.
TYPED = str.maketrans({"−": "-", "·": "*", "×": "*", "^": "**", "≤": "<=", "≥": ">="})
LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
RESERVED = ("t", "until")
CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi})


@dataclass(frozen=True)
class Operation:
    """An operator or a function, with its smallest and largest number of arguments."""

    apply: Callable[..., TensorVariable]
    fewest: int = 1
    most: int = 1


def _fold(apply: Callable[..., TensorVariable]) -> Callable[..., TensorVariable]:
    return lambda *values: reduce(apply, values)


_TRIGONOMETRY = ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh")
FUNCTIONS: Mapping[str, Operation] = MappingProxyType(
    {
        **{
            name: Operation(getattr(pt, name))
            for name in (*_TRIGONOMETRY, "exp", "log", "sqrt", "sigmoid", "abs")
        },
        "min": Operation(_fold(pt.minimum), 2, 8),
        "max": Operation(_fold(pt.maximum), 2, 8),
        "where": Operation(pt.switch, 3, 3),
        "dot": Operation(pt.dot, 2, 2),
        "sum": Operation(pt.sum),
    }
)
# Python's operators; the name of a class of `ast` is the name of the call in a formula.
OPERATORS: Mapping[str, Callable[..., TensorVariable]] = MappingProxyType(
    {"Add": pt.add, "Sub": pt.sub, "Mult": pt.mul, "Div": pt.true_div, "MatMult": pt.matmul}
    | {"Pow": pt.pow, "USub": pt.neg, "And": _fold(pt.and_), "Or": _fold(pt.or_), "Not": pt.invert}
    | {"Lt": pt.lt, "LtE": pt.le, "Gt": pt.gt, "GtE": pt.ge, "Eq": pt.eq, "NotEq": pt.neq}
)
SIGNS = "+ - * / ** @ < <= > >= == != and or not"


@dataclass(frozen=True)
class Names:
    """The names of the variables that the text can use."""

    states: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.all:
            if not isinstance(name, str) or not name.isidentifier() or name in RESERVED:
                raise ArgumentError(
                    f"name = {quote(name)}: in the text of a step, a name consists of letters, "
                    f"digits, and _, begins with a letter, and is not {listing(RESERVED, 'or')}."
                )

    @property
    def all(self) -> tuple[str, ...]:
        """All names, in the order of the declaration."""
        return (*self.states, *self.sequences, *self.parameters)


@dataclass(frozen=True)
class SourceLine:
    """A line of a step: a target and a formula, or a stop condition."""

    target: str
    written: str
    node: Term
    is_until: bool = False

    def __str__(self) -> str:
        return self.written if self.is_until else f"{self.target} = {self.written}"


def read_step(text: str, names: Names) -> tuple[SourceLine, ...]:
    """Return the lines of a step; raise an ArgumentError that quotes the first mistake."""
    if not isinstance(text, str):
        raise argument_error("step", text, "expected a text, such as 'x**2'.")
    if len(text) > LONGEST:
        raise ArgumentError(f"step: expected at most {LONGEST} characters, got {len(text)}.")
    plain = re.sub("\r\n?", "\n", text.translate(TYPED))
    plain = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda match: f"**{match[0].translate(LOWERED)}", plain)
    source = Source(re.sub("(?m)^[ \t]+", "", plain))
    lines: list[SourceLine] = []
    try:
        for statement in source.parse():
            earlier = tuple(line.target for line in lines if line.target)
            lines.append(_Reader(source, names, earlier).line(statement))
    except RecursionError:
        raise source.too_long() from None
    if not lines:
        raise ArgumentError("step = '': expected a formula, such as 'x**2'.")
    return tuple(lines)


class _Reader:
    """Reader of one line of a `source`; `earlier` are the targets of earlier lines."""

    def __init__(self, source: Source, names: Names, earlier: tuple[str, ...]) -> None:
        self.names, self.earlier, self._error = names, earlier, source.error_at
        self.tapped = (*names.states, *names.sequences)

    def line(self, statement: ast.stmt) -> SourceLine:
        """Return a statement as a `SourceLine`; raise ArgumentError unless it fits the grammar."""
        level: list[ast.AST] = [statement]
        for _ in range(DEEPEST):
            level = [child for node in level for child in ast.iter_child_nodes(node)]
        if level:
            raise self._error(statement, f"cannot be read: it has more than {DEEPEST} levels.")
        match statement:
            case ast.Assign(targets=[place], value=tree):
                target = self._target(place)
            case ast.Expr(value=ast.Call(func=ast.Name(id="until")) as tree):
                self._check_arguments(tree, 1, 1)
                return SourceLine("", ast.unparse(tree), self._term(tree.args[0]), is_until=True)
            case ast.Expr(value=tree):
                target = ""
            case _:
                raise self._error(statement, "is not a formula; write lines such as 'x = x**2'.")
        return SourceLine(target, ast.unparse(tree), self._term(tree))

    def _target(self, place: ast.expr) -> str:
        """Return the name that a line ``x = …`` or ``x[t] = …`` assigns."""
        match place:
            case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id="t")):
                if name in (*self.names.sequences, *self.names.parameters, *RESERVED):
                    why = "cannot be assigned to; assign to a state or an output."
                    raise self._error(place, why)
                if name in self.earlier:
                    raise self._error(place, "is assigned twice; keep only one of these lines.")
                return name
        raise self._error(place, "cannot be assigned to; write a name, as in 'x = …'.")

    def _term(self, node: ast.expr) -> Term:
        """Return the expression of a formula or a condition."""
        match node:
            case ast.Constant(int() | float() as number) if not isinstance(number, bool):
                return self._number(node, number)
            case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)) if not isinstance(
                number, bool
            ):
                return self._number(node, -number)
            case ast.Name():
                return self._name(node)
            case ast.Subscript():
                return self._indexed(node)
            case ast.Call():
                return self._call(node)
            case ast.UnaryOp(op=ast.UAdd()):
                return self._term(node.operand)
            case ast.UnaryOp():
                return self._operation(node, node.op, node.operand)
            case ast.BinOp():
                return self._operation(node, node.op, node.left, node.right)
            case ast.BoolOp():
                return self._operation(node, node.op, *node.values)
            case ast.Compare(ops=[sign]):
                return self._operation(node, sign, node.left, *node.comparators)
            case ast.IfExp():
                why = "chooses a value; write where(condition, a, b) instead."
            case ast.Tuple():
                why = "is more than one formula; write one line 'x = …' for each state and output."
            case ast.Constant():
                why = "is not a number; write numbers as 2, 0.5, or 1e-3."
            case _:
                why = (
                    f"is not part of the grammar; expected names, numbers, {SIGNS}, brackets, or "
                    f"the functions {listing(FUNCTIONS)}."
                )
        raise self._error(node, why)

    def _number(self, node: ast.expr, number: float) -> Number:
        """Return `number` as an expression; an integer beyond int64 is written as a float."""
        if abs(number) > LARGEST:
            raise self._error(node, f"is too large; expected at most {LARGEST:g}.")
        return Number(repr(number if abs(number) < 2**63 else float(number)))

    def _operation(self, node: ast.expr, operator: ast.AST, *operands: ast.expr) -> Call:
        name = type(operator).__name__
        if name not in OPERATORS:
            raise self._error(node, f"has an operator other than {SIGNS}.")
        terms = tuple(map(self._term, operands))
        if (
            name == "Pow"
            and isinstance(terms[1], Number)
            and abs(float(terms[1].written)) > HIGHEST
        ):
            raise self._error(node, f"has too large an exponent; expected at most {HIGHEST}.")
        return Call(name, terms)

    def _name(self, node: ast.Name) -> Term:
        name = node.id
        if name in self.names.all:
            return Leaf(name, None, -1)
        if name in CONSTANTS:
            return Number(repr(CONSTANTS[name]))
        if name in self.earlier:
            raise self._error(node, f"is a result of this step; write {name}[t].")
        if name == "t":
            why = "occurs only in [ ], as in x[t-1]. To use times, pass a sequence."
            raise self._error(node, why)
        if like := closest_match(name, self.names.all):
            raise self._error(node, f"is not a name of this loop; did you mean {like!r}?")
        raise self._error(
            node,
            "is not a name of this loop; pass its value, as in parameters="
            f"{{{name!r}: 0.5}}, or a value per step, as in sequences={{{name!r}: [0.1, 0.2]}}.",
        )

    def _indexed(self, node: ast.Subscript) -> Term:
        name, tap = _name_of(node.value), _tap(node.slice)
        if not name:
            raise self._error(node, "is not a variable with a step in [ ], such as x[t-1].")
        if name in self.names.parameters:
            raise self._error(node, f"has a step in [ ], but {name} is a parameter; write {name}.")
        if name not in (*self.tapped, *self.earlier):
            known = f"; expected {listing(self.tapped, 'or')}" if self.tapped else ""
            why = f"is not a value of a state or a sequence{known}. To add a state, pass its "
            raise self._error(node, f"{why}initial value, as in states={{{name!r}: 0.5}}.")
        if tap is None:
            why = f"has an index other than t ± an integer; write {name}[t-1] or {name}[t]."
            if name in self.names.sequences:
                why += f" To read every second value, pass the sequence {name}[::2]."
            raise self._error(node, why)
        if abs(tap) > FARTHEST:
            raise self._error(node, f"is too far away; expected a tap of at most {FARTHEST} steps.")
        if tap == 0 and name not in self.names.sequences and name not in self.earlier:
            raise self._error(
                node, f"is not computed yet; write {name}[t-1], or add '{name} = …' above it."
            )
        if tap and name not in self.tapped:
            raise self._error(node, "is an output; the step cannot look back at outputs.")
        if tap > 0 and name in self.names.states:
            raise self._error(node, f"is a later value of a state; write {name}[t-1].")
        return Leaf(name, tap, -1)

    def _call(self, node: ast.Call) -> Term:
        name = _name_of(node.func)
        if name == "until":
            raise self._error(node, "is part of a formula; write until(…) on a separate line.")
        if name not in FUNCTIONS:
            like = closest_match(name, FUNCTIONS)
            advice = (
                f"did you mean {like}?" if like else f"expected one of {listing(FUNCTIONS, 'or')}."
            )
            raise self._error(node.func, f"is not a supported function; {advice}")
        self._check_arguments(node, FUNCTIONS[name].fewest, FUNCTIONS[name].most)
        return Call(name, tuple(map(self._term, node.args)))

    def _check_arguments(self, node: ast.Call, fewest: int, most: int) -> None:
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise self._error(node, "has a named or starred argument; write plain arguments.")
        if not fewest <= len(node.args) <= most:
            count = str(fewest) if fewest == most else f"{fewest} to {most}"
            noun = "argument" if count == "1" else "arguments"
            raise self._error(node, f"takes {count} {noun}, not {len(node.args)}.")


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _tap(node: ast.expr) -> int | None:
    """Return the tap of ``t``, ``t-2`` or ``t+1``, or None for other expressions."""
    match node:
        case ast.Name(id="t"):
            return 0
        case ast.BinOp(ast.Name(id="t"), ast.Sub() | ast.Add(), ast.Constant(int(number))):
            is_back = isinstance(node.op, ast.Sub)
            return None if isinstance(number, bool) else -number if is_back else number
    return None


def compute(node: Term, read: Callable[[Leaf], TensorVariable]) -> TensorVariable:
    """Return the PyTensor variable of a formula; `read` returns the variable of a leaf."""
    if isinstance(node, Leaf):
        return read(node)
    if isinstance(node, Number):
        # Use floats, because PyTensor stores integers in the smallest dtype, which can overflow.
        return pt.constant(float(node.written), dtype=config.floatX)
    assert isinstance(node, Call)
    if node.name == "Pow" and isinstance(node.arguments[1], Number):
        return compute(node.arguments[0], read) ** ast.literal_eval(node.arguments[1].written)
    apply = OPERATORS[node.name] if node.name in OPERATORS else FUNCTIONS[node.name].apply
    return apply(*(compute(argument, read) for argument in node.arguments))
