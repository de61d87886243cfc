"""Equations in numbers that are true as they are printed.

``7.413 = 3.901·2·0.95 + 0`` is not: it makes 7.4119.  A value has four digits; what it is made
of gets as many as the equation needs: ``7.413 = 3.9014·2·0.95 + 0``.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import floor, log10, prod

import numpy as np

from lab.notation import (
    PLAIN,
    Call,
    Expression,
    Leaf,
    Let,
    Number,
    SharedTerm,
    Style,
    Term,
    body_of,
    calls_of,
    leaves_of,
    number_text,
    render,
)

MOST = 40  # operations, beyond which no one adds up what is printed
DIGITS = (4, 5, 6, 7, 8, 10, 12, 14, 17)  # of the numbers on the right, until it is true
CLOSE = 0.01  # of the number on the left: how far off an equation with ≈ may be
SAFE = 10  # of them, which make a sum of doubles that is exact as far as it is told
HALF = 5e-4  # of a number: more than half a unit of its fourth digit
ULP, NUDGE = 2.0**-53, 2.0**-36  # of a number: what rounding takes, and what is added to see that

# Operations that numpy and scipy call otherwise, or that are no function of theirs.
OPERATIONS: Mapping[str, Callable[..., object]] = {
    "Add": lambda *terms: sum(terms),
    "Mul": lambda *factors: prod(factors),
    "Dot": np.dot,
    "outer": np.outer,
    "Sub": np.subtract,
    "TrueDiv": np.true_divide,
    "IntDiv": np.floor_divide,
    "Mod": np.mod,
    "Pow": np.power,
    "Neg": np.negative,
    "transpose": np.transpose,
    "GT": np.greater,
    "LT": np.less,
    "GE": np.greater_equal,
    "LE": np.less_equal,
    "EQ": np.equal,
    "NEQ": np.not_equal,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "where": np.where,
    "max": np.maximum,
    "min": np.minimum,
    "sgn": np.sign,
    "clip": np.clip,
    "sigmoid": lambda x: np.exp(-np.logaddexp(0, -np.asarray(x))),
    "softplus": lambda x: np.logaddexp(0, x),
}


def value_of(expression: Expression, leaf: Callable[[Leaf], float]) -> float | None:
    """What an expression of numbers is worth; None where an operation is not known."""
    found = array_of(expression, leaf)
    return None if found is None or found.ndim else float(found)


def array_of(expression: Expression, leaf: Callable[[Leaf], object]) -> np.ndarray | None:
    """The same of numbers, vectors and matrices; None where `leaf` has None for one, too."""
    named = {b.name: b.term for b in expression.bindings} if isinstance(expression, Let) else {}
    known: dict[str, np.ndarray] = {}  # of what has a name, since it is used more than once

    def worth(term: Term) -> np.ndarray:
        if isinstance(term, Leaf):
            if (known_as := leaf(term)) is None:
                raise ValueError
            return np.asarray(known_as, float)
        if isinstance(term, Number):
            return np.asarray(float(term.written))
        if isinstance(term, SharedTerm):
            if term.name not in known:
                known[term.name] = worth(named[term.name])
            return known[term.name]
        if not isinstance(term, Call):
            raise ValueError
        return np.asarray(_operation(term.name)(*map(worth, term.arguments)), float)

    try:
        with np.errstate(all="ignore"):
            return worth(body_of(expression))
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError):
        return None


def _operation(name: str) -> Callable[..., object]:
    """The function of an operation; LookupError if numpy and SciPy have no ufunc of its name."""
    if name in OPERATIONS:
        return OPERATIONS[name]
    found = getattr(np, name, None)
    if not isinstance(found, np.ufunc):
        from scipy import special  # type: ignore[import-untyped]  # imported late: it takes 0.1 s

        found = getattr(special, name, None)
    if not isinstance(found, np.ufunc):
        raise LookupError(name)
    return found


def rounding(expression: Expression, leaf: Callable[[Leaf], object]) -> np.ndarray | None:
    """How much of a value its own rounding may be: about what moves if each leaf moves by one bit.

    A difference of nearly equal terms has lost digits: 0.3 says that not even the first is certain.
    None where `array_of` has none; 0 of what is 0.
    """
    ways = {one: (-1) ** n * (1 + n / 8) for n, one in enumerate(leaves_of(expression))}

    def moved(one: Leaf) -> np.ndarray | None:
        value = leaf(one)
        return None if value is None else np.asarray(value, float) * (1 + NUDGE * ways[one])

    made, other = array_of(expression, leaf), array_of(expression, moved)
    if made is None or other is None:
        return None
    with np.errstate(all="ignore"):
        lost = np.abs(other - made) / np.abs(made) * (ULP / NUDGE)
    return np.where((made == 0) | ~np.isfinite(lost), 0.0, lost)


def equation(
    left: np.ndarray, expression: Expression, used: Mapping[Leaf, np.ndarray], style: Style = PLAIN
) -> str:
    """``7.413 = 3.9014·2·0.95 + 0``: true to half a unit of the fourth digit on the left.

    Where no digits make it so, or rounding has eaten some, it says ≈, and is true to a hundredth.
    Empty, if it is neither, is longer than anyone would check, or holds an operation that numpy
    does not know, as a draw.
    """
    told = number_text(left)
    if len(calls_of(expression)) > MOST:
        return ""
    if not np.isfinite(left):
        exact = value_of(expression, lambda leaf: float(used[leaf]))
        is_so = exact is not None and np.array_equal(exact, left, equal_nan=True)
        return f"{told} = {_right(expression, used, 4, style)}" if is_so else ""
    close = ""
    for digits in DIGITS:
        worth = _worth(expression, used, digits)
        if worth is None:
            return ""
        if _is_true(told, worth) and (digits <= SAFE or _is_certain(expression, used)):
            return f"{told} = {_right(expression, used, digits, style)}"
        if not close and abs(worth - as_printed(told)) <= CLOSE * abs(as_printed(told)):
            close = f"{told} {style.about} {_right(expression, used, digits, style)}"
    return close


def _is_certain(expression: Expression, used: Mapping[Leaf, np.ndarray]) -> bool:
    lost = rounding(expression, used.__getitem__)
    return lost is None or float(lost) < HALF


def digits_of_sum(left: float, terms: Sequence[Sequence[float]]) -> int | None:
    """With how many digits a sum of products, as it is printed, makes `left` with four.

    None if no digits do.
    """
    told = number_text(left)
    for digits in DIGITS if np.isfinite([left, *chain(*terms)]).all() else ():
        printed = ([as_printed(number_text(factor, digits)) for factor in term] for term in terms)
        if _is_true(told, float(sum(map(np.prod, printed)))):
            return digits
    return None


def _right(
    expression: Expression, used: Mapping[Leaf, np.ndarray], digits: int, style: Style
) -> str:
    return render(expression, lambda leaf: number_text(used[leaf], digits), style)


def _worth(expression: Expression, used: Mapping[Leaf, np.ndarray], digits: int) -> float | None:
    """What the right side is worth as it is printed."""
    if not all(np.isfinite(value) for value in used.values()):
        return None
    printed = {leaf: as_printed(number_text(used[leaf], digits)) for leaf in leaves_of(expression)}
    return value_of(expression, printed.__getitem__)


def as_printed(written: str) -> float:
    """Return the number that a text shows."""
    return float(written == "True") if written in ("True", "False") else float(written)


def holds(told: str, worth: float | None) -> bool:
    """Return whether a computed number is the printed one, to half a unit of its last digit."""
    if worth is None or not np.isfinite(worth) or told.startswith("⚠"):
        return worth is not None and number_text(worth) == told
    return _is_true(told, worth)


def _is_true(told: str, worth: float) -> bool:
    """Whether a number rounds to what is told of it: ``1.9`` stands for 1.900, and not for 1.94."""
    mantissa, _, exponent = told.partition("e")
    behind = len(mantissa.partition(".")[2])
    written = 10.0 ** (int(exponent or 0) - behind)
    four = 10.0 ** (floor(log10(abs(as_printed(told)) or 1)) - 3)
    return abs(worth - as_printed(told)) <= min(written, four) / 2 * (1 + 1e-9)
