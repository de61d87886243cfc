"""Expressions: small trees that stand for what a step computes, and how they are written.

    >>> text(Call("Mul", (Number("2"), Leaf("x", -1, 0))), lambda leaf: leaf.variable)
    '2·x'

What a leaf is called, a position, an index, a name or a number, is the caller's choice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lab.records import record


@record
@dataclass(frozen=True)
class Leaf:
    """An argument of the step: `variable` read at `tap` (None for what has no tape)."""

    variable: str
    tap: int | None
    argument: int


@record
@dataclass(frozen=True)
class Number:
    """A constant, as it is written."""

    written: str


@record
@dataclass(frozen=True)
class Call:
    """An operation applied to expressions, by its name: an operator of `Style`, or a function."""

    name: str
    arguments: tuple["Expression", ...]

    @property
    def is_whole(self) -> bool:
        """Whether it has as many arguments as its operator takes."""
        return len(self.arguments) == ARITY.get(self.name, max(1, len(self.arguments)))


@record
@dataclass(frozen=True)
class Slice:
    """An index ``start:stop:step``; stands only among the indices of an ``at``."""

    start: "Expression | None"
    stop: "Expression | None"
    step: "Expression | None"


Expression = Leaf | Number | Call | Slice


@dataclass(frozen=True)
class Style:
    """How to write operators: plain, or for LaTeX."""

    latex: bool
    arrow: str
    minus: str
    operators: Mapping[str, str]


PLAIN = Style(
    latex=False,
    arrow="←",
    minus="−",
    operators=MappingProxyType(
        {
            "Add": " + ",
            "Sub": " − ",
            "Mul": "·",
            "Dot": " @ ",
            "TrueDiv": "/",
            "IntDiv": "//",
            "Mod": " % ",
            "GT": " > ",
            "LT": " < ",
            "GE": " ≥ ",
            "LE": " ≤ ",
            "EQ": " = ",
            "NEQ": " ≠ ",
            "AND": " & ",
            "OR": " | ",
        }
    ),
)
LATEX = Style(
    latex=True,
    arrow=r"\leftarrow",
    minus="-",
    operators=MappingProxyType(
        {
            "Add": " + ",
            "Sub": " - ",
            "Mul": r" \cdot ",
            "Dot": r"\,",
            "TrueDiv": "/",
            "IntDiv": r" \operatorname{div} ",
            "Mod": r" \bmod ",
            "GT": " > ",
            "LT": " < ",
            "GE": r" \geq ",
            "LE": r" \leq ",
            "EQ": " = ",
            "NEQ": r" \neq ",
            "AND": r" \land ",
            "OR": r" \lor ",
        }
    ),
)

# How strongly operators bind; an operand that binds less than needed gets parentheses.
# Matrix products bind least among products, so that both kinds can be told apart.
COMPARISON, SUM, DOT, PRODUCT, FACTOR, POWER, ATOM = range(7)
STRENGTH = {
    **dict.fromkeys(("GT", "LT", "GE", "LE", "EQ", "NEQ", "AND", "OR"), COMPARISON),
    **dict.fromkeys(("Add", "Sub"), SUM),
    "Dot": DOT,
    **dict.fromkeys(("Mul", "TrueDiv", "IntDiv", "Mod"), PRODUCT),
}
LATEX_FUNCTIONS = {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min"}


def leaves_of(expression: Expression | None) -> list[Leaf]:
    """All leaves of an expression, from left to right."""
    if isinstance(expression, Leaf):
        return [expression]
    parts: tuple[Expression | None, ...] = ()
    if isinstance(expression, Call):
        parts = expression.arguments
    elif isinstance(expression, Slice):
        parts = (expression.start, expression.stop, expression.step)
    return [leaf for part in parts for leaf in leaves_of(part)]


# Operators that take exactly so many arguments; others take one or more.
ARITY = {"Sub": 2, "TrueDiv": 2, "IntDiv": 2, "Mod": 2, "Pow": 2, "Neg": 1, "transpose": 1}


def calls_of(expression: Expression | None) -> list[Call]:
    """All operations of an expression, each before those of its arguments."""
    if isinstance(expression, Call):
        return [expression, *(c for argument in expression.arguments for c in calls_of(argument))]
    if isinstance(expression, Slice):
        parts = (expression.start, expression.stop, expression.step)
        return [call for part in parts for call in calls_of(part)]
    return []


def text(expression: Expression, leaf: Callable[[Leaf], str], style: Style = PLAIN) -> str:
    """`expression` written in `style`, its leaves as `leaf` has them."""
    return _text(expression, leaf, style)[0]


def _text(expression: Expression, leaf: Callable[[Leaf], str], style: Style) -> tuple[str, int]:
    """The text, and how strongly its outermost operator binds."""
    if isinstance(expression, Leaf):
        return _signed(leaf(expression))
    if isinstance(expression, Number):
        return _signed(expression.written)
    if isinstance(expression, Slice):
        parts = (expression.start, expression.stop, expression.step)
        written = [_text(part, leaf, style)[0] if part is not None else "" for part in parts]
        return ":".join(written if written[2] else written[:2]), ATOM

    def part(index: int, needed: int) -> str:
        """An argument, in parentheses if it binds less than needed."""
        written, strength = _text(expression.arguments[index], leaf, style)
        return written if strength >= needed else f"({written})"

    name, count = expression.name, len(expression.arguments)
    if style.latex and name == "TrueDiv":
        return rf"\frac{{{part(0, COMPARISON)}}}{{{part(1, COMPARISON)}}}", ATOM
    if name in STRENGTH:
        strength = STRENGTH[name]
        first = {COMPARISON: SUM, DOT: FACTOR}.get(strength, strength)
        rest = first if name in ("Add", "Mul", "Dot") else first + 1
        operands = [part(i, rest if i else first) for i in range(count)]
        return style.operators[name].join(operands), strength
    if name == "Neg":
        return style.minus + part(0, PRODUCT), SUM
    if name == "Pow":
        return _power(part(0, ATOM), part(1, COMPARISON if style.latex else ATOM), style), POWER
    if name == "transpose":
        return f"{part(0, ATOM)}{'^T' if style.latex else 'ᵀ'}", POWER
    if name == "at":
        inside = ", ".join(part(i, COMPARISON) for i in range(1, count))
        return f"{part(0, ATOM)}[{inside}]", ATOM
    inside = ", ".join(part(i, COMPARISON) for i in range(count))
    if style.latex:
        safe = name.replace("_", r"\_")
        command = f"\\{name}" if name in LATEX_FUNCTIONS else rf"\operatorname{{{safe}}}"
        return rf"{command}\left({inside}\right)", ATOM
    return f"{name}({inside})", ATOM


def _signed(written: str) -> tuple[str, int]:
    """A leaf or number; one with a minus binds like a sum."""
    return written, SUM if written.startswith(("-", "−")) else ATOM


def _power(base: str, exponent: str, style: Style) -> str:
    if style.latex:
        return f"{base}^{{{exponent}}}"
    raised = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    return f"{base}{exponent.translate(raised)}" if exponent.isdigit() else f"{base}^{exponent}"
