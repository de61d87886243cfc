"""Parse the text of a loop's step.

    >>> read_step("x[t] = w·x[t−1]² + u[t]", Names(("x",), sequences=("u",), parameters=("w",)))

The grammar is the notation of all printed formulas, or its ASCII form: ``x[t-1]`` is the
previous value of x, ``u[t]`` the value of a sequence at this step, and ``u[t+1]`` the next value.
Without an index, ``x`` is the previous value of a state, and ``u`` the value of a sequence at this
step.  On the right-hand side, ``x[t]`` is the result of an earlier line.  Parameters have no index.

A line ``x = …`` assigns a state or an output; ``until(condition)`` stops the loop.  Lines end at
a line break or at ``;``.  A loop with one state can omit ``x =``.

Python's parser builds a tree of the text, whose comments have no effect.  `_Reader` accepts only
the nodes of this grammar, and does not evaluate them.
"""

import ast
import re
from dataclasses import dataclass

from lab.errors import ArgumentError, argument_error, closest_match, listing, quote
from lab.loops.text.source import Source, identifier
from lab.loops.text.terms import (
    COMPARISONS,
    CONNECTIVES,
    CONSTANTS,
    FUNCTIONS,
    OPERATORS,
    SourceLine,
)
from lab.notation import Call, Leaf, Number, Term

LONGEST = 2000  # largest number of characters of a text
FARTHEST = 100  # largest distance of a tap in steps
LARGEST = 1e12  # largest number in a formula
HIGHEST = 64  # largest exponent
DEEPEST = 30  # largest number of nested operations
STEPS_BACK = re.compile(r"(.*[^0-9])([0-9]+)")
# The signs of printed formulas, and the operators that Python's parser reads instead.
TYPED = str.maketrans({"−": "-", "·": "*", "×": "*", "^": "**", "≤": "<=", "≥": ">="})
LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
RESERVED = ("t", "until")


@dataclass(frozen=True)
class Names:
    """The names of the variables that the text can use."""

    states: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for group in ("states", "sequences", "parameters"):
            object.__setattr__(self, group, tuple(map(identifier, getattr(self, group))))
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


def read_step(text: str, names: Names) -> tuple[SourceLine, ...]:
    """Return the lines of a step; raise ArgumentError with the line and column of a mistake."""
    if not isinstance(text, str):
        raise argument_error("step", text, "expected a text, such as 'x**2'.")
    if len(text) > LONGEST:
        raise ArgumentError(f"step: expected at most {LONGEST} characters, got {len(text)}.")
    lines_of_text = re.sub("\r\n?", "\n", text)
    raised = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: f"**{m[0].translate(LOWERED)}", lines_of_text)
    source = Source(raised.translate(TYPED))
    lines: list[SourceLine] = []
    for statement in source.parse():
        earlier = tuple(line.target for line in lines if line.target)
        lines.append(_Reader(source, names, earlier).line(statement))
    if not lines:
        raise ArgumentError("step = '': expected a formula, such as 'x**2'.")
    return tuple(lines)


class _Reader:
    """Reader of one line of a `source`; `earlier` are the targets of earlier lines."""

    def __init__(self, source: Source, names: Names, earlier: tuple[str, ...]) -> None:
        self.names, self.earlier, self._error = names, earlier, source.error_at
        self.tapped = (*names.states, *names.sequences)

    def line(self, statement: ast.stmt) -> SourceLine:
        """Return the line; raise ArgumentError unless it is a formula or ``until(…)``."""
        match statement:
            case ast.Assign(targets=[place], value=tree):
                target = self._target(place)
            case ast.Expr(value=ast.Call(func=ast.Name(id="until")) as tree):
                self._check_arguments(tree, 1, 1)
                self._check_depth(tree.args[0])
                condition = self._condition(tree.args[0])
                return SourceLine("", ast.unparse(tree), condition, is_until=True)
            case ast.Expr(value=tree):
                target = ""
            case _:
                raise self._error(statement, "is not a formula; write lines such as 'x = x**2'.")
        self._check_depth(tree)
        return SourceLine(target, ast.unparse(tree), self._number(tree))

    def _target(self, place: ast.expr) -> str:
        """Return the name that a line ``x = …`` or ``x[t] = …`` assigns."""
        match place:
            case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id="t")):
                if name in (*self.names.sequences, *self.names.parameters, *RESERVED):
                    why = "cannot be assigned to; states and outputs can."
                    raise self._error(place, why)
                if name in self.earlier:
                    raise self._error(place, "is assigned twice; keep only one of these lines.")
                return name
        raise self._error(place, "cannot be assigned to; write a name, as in 'x = …'.")

    def _check_depth(self, tree: ast.expr) -> None:
        """Raise ArgumentError for a tree with more than `DEEPEST` levels."""
        waiting = [(tree, 1)]
        while waiting:
            node, depth = waiting.pop()
            if depth > DEEPEST:
                raise self._error(node, f"is nested deeper than {DEEPEST} levels.")
            if not isinstance(node, ast.Subscript):
                inner = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
                waiting += [(child, depth + 1) for child in reversed(inner)]

    # numbers and conditions

    def _number(self, node: ast.expr) -> Term:
        match node:
            case ast.Constant():
                return Number(repr(self._literal(node, LARGEST)))
            case ast.Name():
                return self._read_name(node)
            case ast.Subscript():
                return self._indexed(node)
            case ast.Call():
                return self._call(node)
            case ast.UnaryOp(op=ast.UAdd()):
                return self._number(node.operand)
            case ast.UnaryOp(op=ast.USub()):
                return self._operation("-", node.operand)
            case ast.BinOp(op=ast.Pow()):
                return self._power(node)
            case ast.BinOp() if type(node.op) in OPERATORS:
                return self._operation(OPERATORS[type(node.op)], node.left, node.right)
            case ast.Compare() | ast.BoolOp():
                why = "is a condition; use conditions only in where(…) and until(…)."
            case ast.IfExp():
                why = "chooses a value; write where(condition, a, b) instead."
            case ast.Tuple():
                why = "is more than one formula; write one line 'x = …' for each state and output."
            case _:
                why = (
                    "is not part of the grammar; expected names, numbers, + - * / ** @, brackets, "
                    f"or the functions {listing(FUNCTIONS)}."
                )
        raise self._error(node, why)

    def _operation(self, name: str, *arguments: ast.expr) -> Call:
        return Call(name, tuple(map(self._number, arguments)))

    def _condition(self, node: ast.expr) -> Term:
        match node:
            case ast.BoolOp():
                return Call(CONNECTIVES[type(node.op)], tuple(map(self._condition, node.values)))
            case ast.UnaryOp(op=ast.Not()):
                return Call("not", (self._condition(node.operand),))
            case ast.Compare(ops=[sign]) if type(sign) in COMPARISONS:
                return self._operation(COMPARISONS[type(sign)], node.left, *node.comparators)
        raise self._error(
            node,
            "is not a condition; write a comparison, such as x[t-1] > 0, with "
            f"{listing(COMPARISONS.values(), 'or')}.",
        )

    def _power(self, node: ast.BinOp) -> Term:
        base, exponent, sign = self._number(node.left), node.right, 1
        if any(isinstance(inner, ast.Pow) for inner in ast.walk(exponent)):
            raise self._error(
                node, "has a power in its exponent; assign the exponent in a separate line."
            )
        while isinstance(exponent, ast.UnaryOp) and isinstance(exponent.op, ast.USub):
            exponent, sign = exponent.operand, -sign
        if isinstance(exponent, ast.Constant):
            value = sign * self._literal(exponent, HIGHEST)
            return Call("**", (base, Number(repr(value))))
        return Call("**", (base, self._number(node.right)))

    def _literal(self, node: ast.Constant, largest: float) -> float:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._error(node, "is not a number; write numbers as 2, 0.5, or 1e-3.")
        if value > largest:
            what = "an exponent" if largest == HIGHEST else "a number"
            raise self._error(node, f"is too large; {what} can be up to {largest:g}.")
        return value

    # names and functions

    def _read_name(self, node: ast.Name) -> Term:
        name = node.id
        if name in self.names.all:
            return Leaf(name, None, -1)
        if name in CONSTANTS:
            return Number(repr(CONSTANTS[name]))
        back = STEPS_BACK.fullmatch(name)
        if back and back.group(1) in self.tapped:
            base, digits = back.groups()
            raise self._error(
                node,
                f"is not a name of this loop; for {base} {digits} steps back, write "
                f"{base}[t-{digits}].",
            )
        if name in self.earlier:
            raise self._error(node, f"is a result of this step; write {name}[t].")
        if like := closest_match(name, self.names.all):
            raise self._error(node, f"is not a name of this loop; did you mean {like!r}?")
        raise self._error(
            node,
            "is not a name of this loop; pass its value, as in parameters="
            f"{{{name!r}: 0.5}}, or a value per step, as in sequences={{{name!r}: [0.1, 0.2]}}.",
        )

    def _indexed(self, node: ast.Subscript) -> Term:
        name, tap = _name(node.value), _tap(node.slice)
        if name not in (*self.tapped, *self.earlier):
            raise self._error(
                node,
                f"has a step in [ ], but only {listing(self.tapped)} can have a step. "
                f"To add one, pass its value, as in states={{{name!r}: 0.5}}.",
            )
        if tap is None:
            raise self._error(
                node, f"has no step in [ ]; write a step, such as {name}[t-1] or {name}[t]."
            )
        if tap == 0 and name not in self.names.sequences:
            if name not in self.earlier:
                raise self._error(
                    node, f"is not computed yet; move the line '{name} = …' above this line."
                )
            return Leaf(name, 0, -1)
        if name not in self.tapped:
            raise self._error(node, "is an output; the step cannot look back at outputs.")
        if abs(tap) > FARTHEST:
            raise self._error(node, f"is too far away; a step can be up to {FARTHEST} steps away.")
        if tap >= 0 and name in self.names.states:
            raise self._error(node, f"expected a tap below 0 for a state, as in {name}[t-1].")
        return Leaf(name, tap, -1)

    def _call(self, node: ast.Call) -> Term:
        name = _name(node.func)
        if name == "until":
            raise self._error(node, "is part of a formula; write until(…) on a separate line.")
        if name not in FUNCTIONS:
            like = closest_match(name, FUNCTIONS)
            advice = (
                f"did you mean {like}?" if like else f"expected one of {listing(FUNCTIONS, 'or')}."
            )
            raise self._error(node.func, f"is not a supported function; {advice}")
        self._check_arguments(node, FUNCTIONS[name].fewest, FUNCTIONS[name].most)
        first = self._condition if name == "where" else self._number
        return Call(name, (first(node.args[0]), *map(self._number, node.args[1:])))

    def _check_arguments(self, node: ast.Call, fewest: int, most: int) -> None:
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise self._error(node, "has a named or starred argument; write plain arguments.")
        if not fewest <= len(node.args) <= most:
            count = str(fewest) if fewest == most else f"{fewest} to {most}"
            noun = "argument" if count == "1" else "arguments"
            raise self._error(node, f"takes {count} {noun}, not {len(node.args)}.")


def _name(node: ast.expr) -> str:
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
