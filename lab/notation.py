"""Mathematical notation: expressions as small trees, and their symbols.

    >>> text(Call("Mul", (Number("2"), Leaf("x", -1, 0))), lambda leaf: indexed(leaf.variable, 3))
    '2·x₃'

The caller determines the text of a leaf: a value, a tap, a position, or a number.  A term that
occurs more than once has a name and a definition at the end: ``a·cos(a); a := …``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import isfinite
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


@dataclass(frozen=True)
class Leaf:
    """A value that a step reads: `variable` at `tap`.

    `tap` is None for a variable without a tape.  `argument` is the number of the variable among the
    arguments of the Scan, or -1 for a value that is no argument.
    """

    variable: str
    tap: int | None
    argument: int


@dataclass(frozen=True)
class Number:
    """A constant, as text."""

    written: str


@dataclass(frozen=True)
class Call:
    """An operator of `Style`, or a function, applied to expressions.

    The operation "at" indexes an array.  Its slices are calls of `SLICE`, whose arguments are the
    ends ``start:stop:step``; an open end is ``Number("")``.  ``v at [i]``, the operation "placed",
    is v at the indices i and 0 elsewhere.
    """

    name: str
    arguments: tuple["Term", ...]


@dataclass(frozen=True)
class SharedTerm:
    """A reference to a named part of a `Let`."""

    name: str


Term = Leaf | Number | Call | SharedTerm
SLICE = ":"


@dataclass(frozen=True)
class Let:
    """A term with named parts; `bindings` are pairs (name, part), which refer to later parts."""

    bindings: tuple[tuple[str, Term], ...]
    body: Term


Expression = Term | Let


@dataclass(frozen=True)
class Style:
    """The symbols of formulas in plain text or LaTeX; `operators` maps operations to signs.

    `dots` replace the part beyond the length limit, and `behind` precedes each definition.
    """

    latex: bool
    arrow: str
    minus: str
    dots: str
    behind: str
    operators: Mapping[str, str]


ARITHMETIC = {"Add": " + ", "Sub": " − ", "Mul": "·", "Dot": " @ ", "TrueDiv": "/"}
ARITHMETIC |= {"IntDiv": "//", "Mod": " % ", "placed": " at ", "with": " with "}
COMPARISONS = {"GT": " > ", "LT": " < ", "GE": " ≥ ", "LE": " ≤ ", "EQ": " = ", "NEQ": " ≠ "}
COMPARISONS |= {"AND": " & ", "OR": " | "}
PLAIN = Style(
    latex=False,
    arrow="←",
    minus="−",
    dots="…",
    behind="; ",
    operators=MappingProxyType(ARITHMETIC | COMPARISONS),
)
LATEX = Style(
    latex=True,
    arrow=r"\leftarrow",
    minus="-",
    dots=r"\ldots",
    behind=r", \quad ",
    operators=MappingProxyType(
        {**PLAIN.operators, "Sub": " - ", "Mul": r" \cdot ", "Dot": r"\,"}
        | {"IntDiv": r" \operatorname{div} ", "Mod": r" \bmod ", "GE": r" \geq ", "LE": r" \leq "}
        | {"placed": r"\ \text{at}\ ", "with": r"\ \text{with}\ "}
        | {"NEQ": r" \neq ", "AND": r" \land ", "OR": r" \lor "}
    ),
)

# The precedence of operators; an operand with too low a precedence is written in parentheses.
# A matrix product has a lower precedence than other products, so that parentheses separate them.
COMPARISON, SUM, DOT, PRODUCT, FACTOR, POWER, ATOM = range(7)
STRENGTH = {
    **dict.fromkeys((*COMPARISONS, "placed", "with"), COMPARISON),
    **dict.fromkeys(("Add", "Sub"), SUM),
    "Dot": DOT,
    **dict.fromkeys(("Mul", "TrueDiv", "IntDiv", "Mod"), PRODUCT),
    "Neg": SUM,
    "Pow": POWER,
    "transpose": POWER,
}
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LATEX_FUNCTIONS = {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min"}
MARK = "\ue000"  # delimits the text of a leaf; names contain only printable characters
NOISE = 1e-12  # a relative rounding error, as in 0.1 + 0.2
MAX_CHARACTERS = 600  # largest length of a formula; a longer formula is cut


def body_of(expression: Expression) -> Term:
    """Return an expression without the definitions of its named parts."""
    return expression.body if isinstance(expression, Let) else expression


def summands_of(expression: Expression) -> tuple[Term, ...]:
    """Return the terms of a sum, or the term itself."""
    body = body_of(expression)
    return body.arguments if isinstance(body, Call) and body.name == "Add" else (body,)


def operands_of(term: Term) -> tuple[Term, ...]:
    """Return the arguments of a call, or an empty tuple for any other term."""
    return term.arguments if isinstance(term, Call) else ()


def parts_of(expression: Expression | None) -> Iterator[Term]:
    """Yield every part of an expression once, from left to right, each before its own parts."""
    if expression is None:
        return
    named = dict(expression.bindings) if isinstance(expression, Let) else {}
    seen, waiting = set[int](), [body_of(expression)]
    while waiting:
        part = waiting.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            shared = named.get(part.name) if isinstance(part, SharedTerm) else None
            waiting += reversed(operands_of(part)) if shared is None else [shared]


def fold(
    expression: Expression,
    leaf: Callable[[Leaf], T],
    number: Callable[[Number], T],
    call: Callable[[str, list[T]], T],
) -> T:
    """Compute a value of an expression from the values of its parts; visit a named part once."""
    known: dict[str, T] = {}

    def value(term: Term) -> T:
        if isinstance(term, Leaf):
            return leaf(term)
        if isinstance(term, Number):
            return number(term)
        if isinstance(term, Call):
            return call(term.name, [*map(value, term.arguments)])
        return known[term.name]

    for name, part in reversed(expression.bindings) if isinstance(expression, Let) else ():
        known[name] = value(part)  # each part refers only to later parts
    return value(body_of(expression))


def leaves_of(expression: Expression | None) -> list[Leaf]:
    """Return the distinct leaves of an expression from left to right."""
    return list(dict.fromkeys(part for part in parts_of(expression) if isinstance(part, Leaf)))


def calls_of(expression: Expression | None) -> list[Call]:
    """Return all operations of an expression, each before the operations in its arguments."""
    return [part for part in parts_of(expression) if isinstance(part, Call)]


def render(expression: Expression, leaf: Callable[[Leaf], str], style: Style = PLAIN) -> str:
    """Write `expression` in `style`; `leaf` returns the text of a leaf.

    A text longer than `MAX_CHARACTERS` is cut, and ends with the number of missing operations.
    """
    return _Writer(leaf, style).write(expression)


def pieces(expression: Expression, leaf: Callable[[Leaf], str], style: Style = PLAIN) -> list[str]:
    """Return the text of `render` in pieces: every second piece is the text of a leaf."""
    return render(expression, lambda each: f"{MARK}{leaf(each)}{MARK}", style).split(MARK)


class _Writer:
    """Writer of one expression, whose text has at most about `MAX_CHARACTERS` characters."""

    def __init__(self, leaf: Callable[[Leaf], str], style: Style) -> None:
        self.leaf, self.style = leaf, style
        self.remaining = MAX_CHARACTERS
        self.operations = set[int]()  # ids of the written operations
        self.is_cut = False

    def write(self, expression: Expression) -> str:
        """Return the text of an expression."""
        pieces = [self._term(body_of(expression), COMPARISON)]
        for name, part in expression.bindings if isinstance(expression, Let) else ():
            if not self.is_cut:
                head = f"{name} := " if self.remaining > 0 else ""
                self.remaining -= len(self.style.behind) + len(head)
                pieces.append(f"{head}{self._term(part, COMPARISON)}")
        text = self.style.behind.join(pieces)
        if not self.is_cut:
            return text
        more = len(calls_of(expression)) - len(self.operations)
        note = f"({counted(more, 'more operation')})"
        note = rf"\ \text{{{note}}}" if self.style.latex else f" {note}"
        return text + note if more else text

    def _term(self, term: Term, needed: int) -> str:
        """Return the text of a term, in parentheses if its precedence is lower than `needed`."""
        if self.remaining <= 0:
            self.is_cut = True
            return self.style.dots
        if isinstance(term, Call):
            self.operations.add(id(term))
            self.remaining -= len(term.name) + 2  # brackets
            text = self._call(term)
            is_fraction = self.style.latex and term.name == "TrueDiv"
            strength = ATOM if is_fraction else STRENGTH.get(term.name, ATOM)
            return f"({text})" if strength < needed else text
        text = self._atom(term, needed)
        self.remaining -= len(text) - text.count(MARK)
        return text

    def _atom(self, term: Leaf | Number | SharedTerm, needed: int) -> str:
        """Return the text of an operand, in parentheses if a leading minus requires them."""
        if isinstance(term, Leaf):
            text = self.leaf(term)
        else:
            text = term.written if isinstance(term, Number) else term.name
            text = symbol(text, self.style) if "=" in text else text  # a property
        has_minus = text.lstrip(MARK).startswith(("-", "−"))
        return f"({text})" if has_minus and needed > SUM else text

    def _terms(self, terms: tuple[Term, ...], between: str, first: int, rest: int) -> str:
        """Join the texts of terms with `between` until the text reaches the length limit.

        `first` and `rest` are the precedences that the first and the other terms need.
        """
        text = ""
        for number, term in enumerate(terms):
            if number and self.is_cut:
                break
            self.remaining -= len(between)
            text += f"{between if number else ''}{self._term(term, rest if number else first)}"
        return text

    def _call(self, call: Call) -> str:
        name, arguments, style = call.name, call.arguments, self.style
        if name == SLICE:
            return self._terms(arguments, SLICE, COMPARISON, COMPARISON)
        if style.latex and name == "TrueDiv":
            above, below = (self._term(argument, COMPARISON) for argument in arguments)
            return rf"\frac{{{above}}}{{{below}}}"
        if name == "Add":
            return self._sum(arguments)
        if name in style.operators:
            strength = STRENGTH[name]
            first = {COMPARISON: SUM, DOT: FACTOR}.get(strength, strength)
            first = PRODUCT if name in ("placed", "with") else first
            rest = first if name in ("Mul", "Dot") else first + 1
            return self._terms(arguments, style.operators[name], first, rest)
        if name == "Neg":
            return f"{style.minus}{self._term(arguments[0], PRODUCT)}"
        if name == "Pow":
            return f"{self._term(arguments[0], ATOM)}{self._exponent(arguments[1])}"
        if name == "transpose":
            return f"{self._term(arguments[0], ATOM)}{'^T' if style.latex else 'ᵀ'}"
        if name == "at":
            array = self._term(arguments[0], ATOM)
            return f"{array}[{self._terms(arguments[1:], ', ', COMPARISON, COMPARISON)}]"
        inside = self._terms(arguments, ", ", COMPARISON, COMPARISON)
        if name == "list":
            return f"[{inside}]"
        if not style.latex:
            return f"{name}({inside})"
        safe = name.replace("_", r"\_")
        command = f"\\{name}" if name in LATEX_FUNCTIONS else rf"\operatorname{{{safe}}}"
        return rf"{command}\left({inside}\right)"

    def _sum(self, terms: tuple[Term, ...]) -> str:
        """Return the text of a sum; a term with a negative factor is subtracted."""
        text, signs = "", self.style.operators
        for number, term in enumerate(terms):
            if number and self.is_cut:
                break
            self.remaining -= len(signs["Add"])
            factors = _negated_factors(term)
            if factors is None or (isinstance(term, Number) and not number):
                needed = PRODUCT if number and isinstance(term, Leaf) else SUM
                text += f"{signs['Add'] if number else ''}{self._term(term, needed)}"
            else:
                self.operations.add(id(term))
                text += signs["Sub"] if number else self.style.minus
                text += self._terms(factors, signs["Mul"], PRODUCT, PRODUCT)
        return text

    def _exponent(self, term: Term) -> str:
        if self.style.latex:
            return f"^{{{self._term(term, COMPARISON)}}}"
        text = self._term(term, ATOM)
        return text.translate(RAISED) if text.isdigit() else f"^{text}"


def _negated_factors(term: Term) -> tuple[Term, ...] | None:
    """Return the factors of −`term` if exactly one factor has a minus sign, or else None."""
    factors = term.arguments if isinstance(term, Call) and term.name == "Mul" else (term,)
    signed = {n: positive for n, f in enumerate(factors) if (positive := _without_minus(f))}
    if len(signed) != 1:
        return None
    ((number, positive),) = signed.items()
    kept = () if positive == Number("1") and len(factors) > 1 else (positive,)
    return (*factors[:number], *kept, *factors[number + 1 :])


def _without_minus(term: Term) -> Term | None:
    """Return −`term` for an operand with a minus sign, or else None."""
    if isinstance(term, Call):
        return term.arguments[0] if term.name == "Neg" else None
    if isinstance(term, Number) and term.written.startswith(("-", "−")):
        return Number(term.written[1:])
    return None


# Symbols: x₀ is the first initial value, x[t−1] is a tap relative to the value that the step
# computes, and buf[2] is a position in a buffer, whose value can change.

BELOW = str.maketrans("0123456789+-−knst", "₀₁₂₃₄₅₆₇₈₉₊₋₋ₖₙₛₜ")  # k: step, n: number of steps
ESCAPES = {ord(character): f"\\{character}" for character in " _%&#${}"}
ESCAPES |= str.maketrans({"\\": r"\backslash ", "^": r"\wedge ", "~": r"\sim ", "-": r"\text{-}"})


def symbol(name: str, style: Style = PLAIN) -> str:
    """Write a name as a symbol; in LaTeX, escape special characters."""
    if not style.latex:
        return name
    safe = name.translate(ESCAPES)
    return safe if len(safe) == 1 else rf"\mathrm{{{safe}}}"


def subscript(index: int | str, style: Style = PLAIN) -> str:
    """Write an index as a subscript."""
    written = str(index)
    return f"_{{{written.replace('−', '-')}}}" if style.latex else written.translate(BELOW)


def value_symbol(name: str, index: int | str | None = None, style: Style = PLAIN) -> str:
    """Write a value of a variable as ``x₃``, or as ``x₃₋ₖ`` for any step k."""
    if index is None:
        return symbol(name, style)
    base = f"({name})" if ord(name[-1:] or " ") in BELOW.values() else name
    return symbol(base, style) + subscript(index, style)


def weighted_sum(weights: Mapping[str, float]) -> str:
    """Write the sum of symbols with weights as ``0.5·x₁ − x₂``, or as ``x₁ + … + x₄``."""
    factors = {s: () if w == 1 else (Number(number_text(w)),) for s, w in weights.items()}
    terms: list[Term] = [Call("Mul", (*f, Leaf(s, None, -1))) for s, f in factors.items()]
    if len(terms) > 3:
        terms[1:-1] = [SharedTerm("…")]
    return render(Call("Add", tuple(terms)), lambda leaf: leaf.variable) or "0"


def first_values(name: str, count: int, style: Style = PLAIN) -> str:
    """Write the first `count` values of a variable as ``x₀, x₁``, or as ``x₀, …, x₄``."""
    indices = range(count) if count < 4 else (0, count - 1)
    names = [value_symbol(name, index, style) for index in indices]
    return f", {style.dots}, ".join(names) if count > 3 else ", ".join(names)


def shifted(index: str, by: int, style: Style = PLAIN) -> str:
    """Write the sum of an index and a number as ``t``, ``t−1``, or ``n+2``."""
    return f"{index}{'+' if by > 0 else style.minus}{abs(by)}" if by else index


def tap_symbol(name: str, tap: int, style: Style = PLAIN) -> str:
    """Write a tap as ``x[t−1]``, relative to the value that the step writes."""
    return f"{symbol(name, style)}[{shifted('t', tap, style)}]"


def slot_symbol(name: str, position: int | str, style: Style = PLAIN) -> str:
    """Write a slot of a buffer as ``buf[2]``, or as ``buf[k+1]`` for any step k."""
    return f"{symbol(name, style)}[{str(position).replace('-', style.minus)}]"


def buffer_name(name: str, buffers: int) -> str:
    """Name the buffer of a gradient: ``buf``, or ``buf_dx`` in a Scan with several `buffers`."""
    return f"buf_{name}" if buffers > 1 else "buf"


def index_formula(first: int, way: int = 1, style: Style = PLAIN, length: str = "") -> str:
    """Write an index at step k as ``k+1``, ``3−k``, or ``n−1−k``.

    The index at step 0 is `first`, added to `length` if given, and changes by `way` per step.
    """
    distance = "k" if abs(way) == 1 else f"{abs(way)}k"
    if way > 0 and not length:
        return shifted(distance, first, style)
    start = shifted(length, first, style) if length else str(first).replace("-", style.minus)
    return f"{start}{'+' if way > 0 else style.minus}{distance}"


def offsets_text(starts: Mapping[str, int]) -> str:
    """Write ``step k: x[t] is xₖ₊₁, u[t] is uₖ``.

    `starts` maps each name to the index of its value at tap 0 of step 0.
    """
    entries = [f"{s}[t] is {value_symbol(s, index_formula(n))}" for s, n in starts.items()]
    return f"step k: {', '.join(entries)}" if entries else ""


def counted(number: int, word: str) -> str:
    """Return ``1 step`` or ``4,000 steps``."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def integers(*numbers: int) -> str:
    """Write integers as ``−1, 0, 2``."""
    return ", ".join(map(str, numbers)).replace("-", "−")


def ranges_text(numbers: Iterable[int]) -> str:
    """Write ascending integers as ``1, 3, 17–31``."""
    pieces = []
    for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        run = [str(number) for _, number in group]
        pieces += [f"{run[0]}–{run[-1]}"] if run[2:] else run
    return ", ".join(pieces)


def parenthesize(number: str) -> str:
    """Return the text of a number, in parentheses if the number is negative, as in ``2 × (-1)``."""
    return f"({number})" if number.startswith("-") else number


def is_whole(value: np.ndarray) -> bool:
    """Return whether all digits of a number are printed: a boolean, or an integer below 10⁷."""
    return value.dtype.kind in "biu" and abs(int(value)) < 1e7


def number_text(value: object, digits: int = 4, mark: str = "⚠ ") -> str:
    """Write a float with `digits` significant digits, and an integer below 10⁷ with all digits.

    A rounded float includes final zeros.  A complex number has three digits per part.  `mark`
    precedes nan and infinity.
    """
    if isinstance(value, float):
        return _float_text(value, digits, mark)
    array = np.asarray(value)
    kind = array.dtype.kind
    if is_whole(array):
        return str(array.item())
    if kind == "c":
        return f"{array.item():.3g}"
    return _float_text(array.dtype.type(array), digits, mark)


@lru_cache(maxsize=4096, typed=True)  # equal floats of different types can differ in their digits
def _float_text(value: Any, digits: int, mark: str) -> str:
    if not isfinite(value):
        return f"{mark}{float(value)}"
    rounded = f"{float(value):.{digits}g}"
    if abs(float(rounded) - value) > NOISE * abs(value):
        rounded = f"{float(value):#.{digits}g}"
    mantissa, e, exponent = rounded.partition("e")
    mantissa = mantissa.removesuffix(".")
    if mantissa == "-0":
        return "0"
    return f"{mantissa}e{int(exponent)}" if e else mantissa
