"""How mathematics is written: expressions as small trees, and the symbols in them.

    >>> text(Call("Mul", (Number("2"), Leaf("x", -1, 0))), lambda leaf: indexed(leaf.variable, 3))
    '2·x₃'

What a leaf is called, a value, a tap, a position or a number, is the caller's choice.  What an
expression uses more than once has a name in it and is written behind it: ``a·cos(a); a := …``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import isfinite
from types import MappingProxyType
from typing import Any

import numpy as np

from lab.records import cached_property


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
    """An operation applied to expressions, by its name: an operator of `Style`, or a function."""

    name: str
    arguments: tuple["Term", ...]


@dataclass(frozen=True)
class Slice:
    """An index ``start:stop:step``; stands only among the indices of an ``at``."""

    start: "Term | None"
    stop: "Term | None"
    step: "Term | None"


@dataclass(frozen=True)
class SharedTerm:
    """A part of the expression, by the name that a `Let` gives it."""

    name: str


Term = Leaf | Number | Call | Slice | SharedTerm


@dataclass(frozen=True)
class Binding:
    """A part of an expression, and its name."""

    name: str
    term: Term


@dataclass(frozen=True)
class Let:
    """A term whose parts have names, each written once; they use only those that come later."""

    bindings: tuple[Binding, ...]
    body: Term

    @cached_property
    def operations(self) -> int:
        """How many operations there are."""
        return len(calls_of(self))


Expression = Term | Let


@dataclass(frozen=True)
class Style:
    """How to write operators: plain, or for LaTeX."""

    latex: bool
    arrow: str
    minus: str
    dots: str
    behind: str
    partial: str
    about: str
    operators: Mapping[str, str]

    def ratio(self, above: str, under: str) -> str:
        """One over the other."""
        return rf"\frac{{{above}}}{{{under}}}" if self.latex else f"{above}/{under}"


PLAIN = Style(
    latex=False,
    arrow="←",
    minus="−",
    dots="…",
    behind="; ",
    partial="∂",
    about="≈",
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
    dots=r"\ldots",
    behind=r", \quad ",
    partial=r"\partial ",
    about=r"\approx",
    operators=MappingProxyType(
        {
            **PLAIN.operators,
            "Sub": " - ",
            "Mul": r" \cdot ",
            "Dot": r"\,",
            "IntDiv": r" \operatorname{div} ",
            "Mod": r" \bmod ",
            "GE": r" \geq ",
            "LE": r" \leq ",
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
    "Neg": SUM,
    "Pow": POWER,
    "transpose": POWER,
}
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LATEX_FUNCTIONS = {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min"}


# Operators that take exactly so many arguments; others take one or more.


MAX_CHARACTERS = 600  # letters of a formula, beyond which the rest is only counted


def body_of(expression: Expression) -> Term:
    """The expression itself, without what its names stand for."""
    return expression.body if isinstance(expression, Let) else expression


def summands_of(expression: Expression) -> tuple[Term, ...]:
    """The terms of a sum; anything else is one term."""
    body = body_of(expression)
    return body.arguments if isinstance(body, Call) and body.name == "Add" else (body,)


def parts_of(expression: Expression | None) -> Iterator[Term]:
    """Every part, from left to right, before those that it is made of; one used twice only once."""
    named = {}
    if isinstance(expression, Let):
        named = {binding.name: binding.term for binding in expression.bindings}
        expression = expression.body
    seen, waiting = set[int](), [expression]
    while waiting:
        part = waiting.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, Call):
            waiting += reversed(part.arguments)
        elif isinstance(part, Slice):
            waiting += (part.step, part.stop, part.start)
        elif isinstance(part, SharedTerm):
            waiting.append(named.get(part.name))


def leaves_of(expression: Expression | None) -> list[Leaf]:
    """The leaves of an expression, each once, as they come from left to right."""
    return list(dict.fromkeys(part for part in parts_of(expression) if isinstance(part, Leaf)))


def calls_of(expression: Expression | None) -> list[Call]:
    """All operations of an expression, each before those of its arguments."""
    return [part for part in parts_of(expression) if isinstance(part, Call)]


def render(expression: Expression, leaf: Callable[[Leaf], str], style: Style = PLAIN) -> str:
    """`expression` written in `style`, its leaves as `leaf` has them.

    One of more than `MAX_CHARACTERS` letters ends in how many operations are not written.
    """
    return _Text(leaf, style).of(expression)


class _Text:
    """One expression that is being written, from left to right, until there is no more room."""

    def __init__(self, leaf: Callable[[Leaf], str], style: Style) -> None:
        self.leaf, self.style = leaf, style
        self.pieces: list[str] = []
        self.room = MAX_CHARACTERS
        self.written = set[int]()  # ids of the operations, each once
        self.is_cut = False

    def of(self, expression: Expression) -> str:
        """The text."""
        self._write(body_of(expression), COMPARISON)
        for binding in expression.bindings if isinstance(expression, Let) else ():
            if not self.is_cut:
                self._add(self.style.behind)
                if self.room > 0:
                    self._add(f"{binding.name} := ")
                self._write(binding.term, COMPARISON)
        if self.is_cut:
            self._tell_rest(expression)
        return "".join(self.pieces)

    def _tell_rest(self, expression: Expression) -> None:
        known = expression.operations if isinstance(expression, Let) else len(calls_of(expression))
        more = known - len(self.written)
        if more:
            words = f"({more:,} more operation{'' if more == 1 else 's'})"
            self._add(rf"\ \text{{{words}}}" if self.style.latex else f" {words}")

    def _add(self, piece: str) -> None:
        self.pieces.append(piece)
        self.room -= len(piece)

    def _write(self, term: Term, needed: int) -> None:
        """A term, in parentheses if it binds less than needed."""
        if self.room <= 0:
            self.is_cut = True
            self._add(self.style.dots)
        elif isinstance(term, Call):
            self.written.add(id(term))
            brackets = self._strength(term) < needed
            self._add("(" if brackets else "")
            self._call(term)
            self._add(")" if brackets else "")
        elif isinstance(term, Slice):
            ends = (term.start, term.stop, term.step)[: 2 if term.step is None else 3]
            for number, end in enumerate(ends):
                self._add(":" if number else "")
                if end is not None:
                    self._write(end, COMPARISON)
        else:
            self._add(self._atom(term, needed))

    def _atom(self, term: Leaf | Number | SharedTerm, needed: int) -> str:
        """What is no operation; with a minus it binds like a sum."""
        if isinstance(term, Leaf):
            written = self.leaf(term)
        else:
            written = term.written if isinstance(term, Number) else term.name
        return f"({written})" if written.startswith(("-", "−")) and needed > SUM else written

    def _strength(self, call: Call) -> int:
        """How strongly the outermost operator binds."""
        if self.style.latex and call.name == "TrueDiv":
            return ATOM
        return STRENGTH.get(call.name, ATOM)

    def _list(self, terms: tuple[Term, ...], between: str, first: int, rest: int) -> None:
        """Terms with an operator or a comma between them, as far as there is room."""
        for number, term in enumerate(terms):
            if number and self.is_cut:
                break
            self._add(between if number else "")
            self._write(term, rest if number else first)

    def _call(self, call: Call) -> None:
        name, arguments, style = call.name, call.arguments, self.style
        if style.latex and name == "TrueDiv":
            for opening, argument in zip((r"\frac{", "{"), arguments, strict=True):
                self._add(opening)
                self._write(argument, COMPARISON)
                self._add("}")
        elif name in style.operators:
            strength = STRENGTH[name]
            first = {COMPARISON: SUM, DOT: FACTOR}.get(strength, strength)
            rest = first if name in ("Add", "Mul", "Dot") else first + 1
            self._list(arguments, style.operators[name], first, rest)
        elif name == "Neg":
            self._add(style.minus)
            self._write(arguments[0], PRODUCT)
        elif name == "Pow":
            self._write(arguments[0], ATOM)
            self._exponent(arguments[1])
        elif name == "transpose":
            self._write(arguments[0], ATOM)
            self._add("^T" if style.latex else "ᵀ")
        elif name == "at":
            self._write(arguments[0], ATOM)
            self._add("[")
            self._list(arguments[1:], ", ", COMPARISON, COMPARISON)
            self._add("]")
        else:
            safe = name.replace("_", r"\_")
            command = f"\\{name}" if name in LATEX_FUNCTIONS else rf"\operatorname{{{safe}}}"
            self._add(rf"{command}\left(" if style.latex else f"{name}(")
            self._list(arguments, ", ", COMPARISON, COMPARISON)
            self._add(r"\right)" if style.latex else ")")

    def _exponent(self, term: Term) -> None:
        written = self._atom(term, ATOM) if isinstance(term, Leaf | Number) else ""
        if self.style.latex:
            self._add("^{")
            self._write(term, COMPARISON)
            self._add("}")
        elif written.isdigit():
            self._add(written.translate(RAISED))
        else:
            self._add("^")
            self._write(term, ATOM)


# Symbols.  Values are counted from the first that is given: x₀.  A tap is told by its distance
# from what the step makes, never by a time: x[t−1].  A position of a buffer is a place, which
# one value leaves for another: buf[2].

BELOW = str.maketrans("0123456789+-−knst", "₀₁₂₃₄₅₆₇₈₉₊₋₋ₖₙₛₜ")  # k a step, n their number


def symbol(name: str, style: Style = PLAIN) -> str:
    """A name as a symbol; in LaTeX, whatever a person has called it."""
    if not style.latex:
        return name
    safe = re.sub(r"([_%&#$])", r"\\\1", re.sub(r"[\\{}^~]", "", name))
    return safe if len(safe) == 1 else rf"\mathrm{{{safe}}}"


def subscript(index: int | str, style: Style = PLAIN) -> str:
    """An index as a subscript."""
    written = str(index)
    return f"_{{{written.replace('−', '-')}}}" if style.latex else written.translate(BELOW)


def value_symbol(name: str, index: int | str | None = None, style: Style = PLAIN) -> str:
    """``x₃``, or ``x₃₋ₖ``: a value of a variable, by its number or by how that follows from k."""
    if index is None:
        return symbol(name, style)
    parted = f"({name})" if ord(name[-1:] or " ") in BELOW.values() else name
    return symbol(parted, style) + subscript(index, style)


def tap_symbol(name: str, tap: int, style: Style = PLAIN) -> str:
    """``x[t−1]``: what a step reads or makes, relative to what it makes."""
    distance = f"{'+' if tap > 0 else style.minus}{abs(tap)}" if tap else ""
    return f"{symbol(name, style)}[t{distance}]"


def slot_symbol(name: str, position: int | str, style: Style = PLAIN) -> str:
    """``buf[2]``, or ``buf[k+1]``: a place in a buffer, by its number or by what follows from k."""
    return f"{symbol(name, style)}[{str(position).replace('-', style.minus)}]"


def index_formula(first: int, way: int = 1, style: Style = PLAIN, length: str = "") -> str:
    """``k+1``, ``3−k`` or ``n−1−k``: what is `first`, or so much after `length`, at step 0."""
    distance = "k" if abs(way) == 1 else f"{abs(way)}k"
    start = length + (f"{style.minus if first < 0 else '+'}{abs(first)}" if first else "")
    if way < 0:
        return f"{start if length else str(first).replace('-', style.minus)}{style.minus}{distance}"
    if length:
        return f"{start}+{distance}"
    return distance + start


def offsets_text(starts: Mapping[str, int], style: Style = PLAIN) -> str:
    """``step k: x[t] is xₖ₊₁, u[t] is uₖ``: which values taps stand for, by where they start."""
    told = [
        f"{tap_symbol(name, 0, style)} is {value_symbol(name, index_formula(start), style)}"
        for name, start in starts.items()
    ]
    return f"step k: {', '.join(told)}" if told else ""


def primes(order: int, style: Style = PLAIN) -> str:
    """The primes of a derivative: ′, ″, ‴, ⁗, then its number in parentheses."""
    if style.latex:
        return "'" * order if order < 4 else f"^{{({order})}}"
    return ("", "′", "″", "‴", "⁗")[order] if order < 5 else f"⁽{str(order).translate(RAISED)}⁾"


def integers(*numbers: int) -> str:
    """``−1, 0, 2``: taps, steps and rows as they are printed."""
    return ", ".join(map(str, numbers)).replace("-", "−")


def ranges_text(numbers: Iterable[int]) -> str:
    """``1, 3, 17–31``: numbers that grow, of three or more that follow each other the ends."""
    told = []
    for _, found in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        run = [str(number) for _, number in found]
        told += [f"{run[0]}–{run[-1]}"] if run[2:] else run
    return ", ".join(told)


NOISE = 1e-12  # of a number: what rounding errors may add, as in 0.1 + 0.2


def number_text(value: object, digits: int = 4) -> str:
    """A number with so many significant digits; zeros at their end tell that there are more."""
    if isinstance(value, float):
        return _known_text(value, digits)
    array = np.asarray(value)
    kind = array.dtype.kind
    if kind == "b":
        return str(bool(array))
    if kind in "iu" and abs(int(array)) < 1e7:
        return str(int(array))
    if kind == "c":
        return f"{array.item():.3g}"
    return _float_text(array, digits)


def _float_text(value: Any, digits: int) -> str:  # an array of one number, or a float
    if not isfinite(value):
        return f"⚠ {float(value)}"
    rounded = f"{float(value):.{digits}g}"
    if abs(float(rounded) - value) > NOISE * abs(value):
        rounded = f"{float(value):#.{digits}g}".removesuffix(".")
    mantissa, e, exponent = rounded.partition("e")
    if mantissa == "-0":
        return "0"
    return f"{mantissa}e{int(exponent)}" if e else mantissa


_known_text = lru_cache(maxsize=4096)(_float_text)


def size_text(size: int) -> str:
    """``40 bytes``, ``3.2 kB``, ``1.5 MB``."""
    number, unit = float(size), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if number < 1000:
            break
        number, unit = number / 1000, larger
    return f"{number:.3g} {unit}"
