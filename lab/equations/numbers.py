"""Write equations in numbers that hold for the printed digits.

``7.413 = 3.901·2·0.95 + 0`` is false: the right-hand side is 7.4119.  The left-hand side has four
digits, and the operands have as many digits as needed: ``7.413 = 3.9014·2·0.95 + 0``.
"""

from collections.abc import Callable, Mapping
from math import floor, log10, prod

import numpy as np

from lab.notation import Expression, Leaf, calls_of, fold, is_whole, number_text, render

MOST = 40  # largest number of operations in an equation
DIGITS = (4, 5, 6, 7, 8, 10, 12, 14, 17)  # numbers of digits of the operands, tried in order
CLOSE = 0.01  # largest relative error of an equation with ≈
SAFE = 10  # largest number of digits for which a printed sum of doubles is reliable
HALF = 5e-4  # with a larger relative rounding error, the fourth digit is not reliable
ULP, NUDGE = 2.0**-53, 2.0**-36  # relative rounding error, and relative perturbation

# Operations with another name in numpy and scipy, or without a function there.
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
    "clip": np.clip,
    "sigmoid": lambda x: np.exp(-np.logaddexp(0, -np.asarray(x))),
    "softplus": lambda x: np.logaddexp(0, x),
}


def value_of(expression: Expression, leaf: Callable[[Leaf], float]) -> float | None:
    """Return the value of an expression as a float; None for an array or unknown operation."""
    result = array_of(expression, leaf)
    return None if result is None or result.ndim else float(result)


def array_of(expression: Expression, leaf: Callable[[Leaf], object]) -> np.ndarray | None:
    """Return the value of an expression as an array; None for an unknown operation or leaf."""

    def read(term: Leaf) -> np.ndarray:
        if (value := leaf(term)) is None:
            raise ValueError
        return np.asarray(value, float)

    try:
        with np.errstate(all="ignore"):
            return fold(
                expression,
                leaf=read,
                number=lambda constant: np.asarray(float(constant.written)),
                call=lambda name, operands: np.asarray(_operation(name)(*operands), float),
            )
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError):
        return None


def _operation(name: str) -> Callable[..., object]:
    """Return the NumPy or SciPy function for the operation `name`, or raise LookupError."""
    if name in OPERATIONS:
        return OPERATIONS[name]
    function = getattr(np, name, None)
    if not isinstance(function, np.ufunc):
        from scipy import special  # type: ignore[import-untyped]  # imported late: it takes 0.1 s

        function = getattr(special, name, None)
    if not isinstance(function, np.ufunc):
        raise LookupError(name)
    return function


def rounding(expression: Expression, used: Mapping[Leaf, np.ndarray]) -> np.ndarray | None:
    """Estimate the relative rounding error of a value by perturbing each leaf.

    `used` contains the values of all leaves.  A difference of nearly equal terms loses digits.  At
    an error of 0.3, even the first digit is uncertain.  The error of the value 0 is 0.  Return
    None if `array_of` returns None.
    """
    pairs = {
        leaf: np.multiply.outer((1, 1 + NUDGE * (-1) ** n * (1 + n / 8)), value)
        for n, (leaf, value) in enumerate(used.items())
    }
    results = array_of(expression, pairs.__getitem__)
    if results is None:
        return None
    result, other = results if results.ndim else (results, results)
    with np.errstate(all="ignore"):
        lost = np.abs(other - result) / np.abs(result) * (ULP / NUDGE)
    return np.where((result == 0) | ~np.isfinite(lost), 0.0, lost)


def equation(left: np.ndarray, expression: Expression, used: Mapping[Leaf, np.ndarray]) -> str:
    """Write ``7.413 = 3.9014·2·0.95 + 0``, which holds to half a unit of the fourth digit.

    If more digits do not help, or rounding errors are too large, write ≈ for an error up to 1 %.
    Return an empty string for a larger error, a long expression, or an unknown operation.
    """
    printed = number_text(left)
    if len(calls_of(expression)) > MOST:
        return ""
    if not np.isfinite(left):
        exact = value_of(expression, lambda leaf: float(used[leaf]))
        is_so = exact is not None and np.array_equal(exact, left, equal_nan=True)
        return f"{printed} = {_right_side(expression, used, 4)}" if is_so else ""
    close: int | None = None  # the least number of digits for an error up to 1 %
    for digits in DIGITS if np.all(np.isfinite([*used.values()])) else ():
        printed_operands = {leaf: as_printed(value, digits) for leaf, value in used.items()}
        value = value_of(expression, printed_operands.__getitem__)
        if value is None:
            return ""
        lost = None if digits <= SAFE else rounding(expression, used)
        if holds(left, value) and (lost is None or float(lost) < HALF):
            return f"{printed} = {_right_side(expression, used, digits)}"
        if close is None and abs(value - as_printed(left)) <= CLOSE * abs(as_printed(left)):
            close = digits
    return "" if close is None else f"{printed} ≈ {_right_side(expression, used, close)}"


def _right_side(expression: Expression, used: Mapping[Leaf, np.ndarray], digits: int) -> str:
    return render(expression, lambda leaf: number_text(used[leaf], digits))


def as_printed(value: object, digits: int = 4) -> float:
    """Return a real number with the digits that are printed; return nan for a complex number."""
    array = np.asarray(value)
    if array.dtype.kind == "c":
        return np.nan
    return float(array) if is_whole(array) else float(f"{float(array):.{digits}g}")


def holds(left: object, value: float | None) -> bool:
    """Return whether `value` rounds to `left`, printed with four digits: 1.9 means 1.900."""
    printed = as_printed(left)
    if value is None or not np.isfinite([value, printed]).all():
        return value is not None and number_text(value) == number_text(left)
    four = 10.0 ** (floor(log10(abs(printed) or 1)) - 3)
    unit = min(1.0, four) if is_whole(np.asarray(left)) else four
    return abs(value - printed) <= unit / 2 * (1 + 1e-9)
