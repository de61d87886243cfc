"""Estimate derivatives of any order and their errors from function values.

    >>> differences(lambda x: float(x) ** 32, 0.95, order=3)
    Estimate(value=array(6723.84), error=array(…))

The estimates do not use pullbacks, and therefore cannot share their mistakes.
"""

from collections.abc import Callable, Iterator
from functools import cache
from math import comb, inf
from typing import SupportsFloat

import numpy as np
import numpy.typing as npt

from lab.errors import ArgumentError, check_function, check_nonnegative, quote
from lab.records import as_array, freeze, record_of_arrays

ScalarFunction = Callable[[np.ndarray], SupportsFloat]

LEVELS = 10  # step sizes; each is half of the previous size
LONGEST = 0.4  # first step size times the order, relative to entries above 1
MOST_ENTRIES = 24


@record_of_arrays
class Estimate:
    """A derivative and an estimate of the error of each entry.

    If all differences are nan, the value is nan and the error is infinite.
    """

    value: np.ndarray
    error: np.ndarray

    def admits(self, value: np.ndarray) -> bool:
        """Return whether `value` agrees within ten times the error, plus half of the digits."""
        if np.shape(value) != self.value.shape:
            return False
        digits = np.sqrt(np.finfo(self.value.dtype).eps)
        with np.errstate(invalid="ignore"):
            tolerance = 10 * self.error + digits * np.abs(self.value)
            near = np.abs(value - self.value) <= tolerance
        return bool(np.all(near | ~np.isfinite(self.error)))

    def confirms(self, value: np.ndarray) -> bool | None:
        """Return whether it admits `value`, or None if the error of an entry is infinite."""
        return self.admits(value) if np.isfinite(self.error).all() else None


def differences(function: ScalarFunction, at: npt.ArrayLike, order: int = 1) -> Estimate:
    """Return a derivative of a scalar function at `at`, as defined by `lab.derivative`.

    For an array, entry i is the derivative wrt entry i of the derivative of `order` - 1 along
    (1, …, 1).  Richardson's extrapolation combines central differences at ten step sizes, whose
    errors are series in the square of the step.  The result is the combination with the smallest
    estimated error (Ridders 1982).
    """
    check_function("function", function)
    at = np.array(as_array("at", at, dtype="float64"))
    ones = np.ones_like(at)
    entries = [_along(function, at, unit, ones, order) for unit in _units(at)]
    numbers, errors = (np.array(part).reshape(at.shape) for part in zip(*entries, strict=True))
    return Estimate(freeze(numbers), freeze(errors))


def finite_differences(
    function: ScalarFunction, at: npt.ArrayLike, step: float = 3e-4
) -> np.ndarray:
    """Return the gradient of a scalar `function` at the array `at`, without an error estimate.

    Central differences at `step`, twice that, and three times that, combined so that the
    error falls with step**6 (Fornberg 1988, table 1).
    """
    check_function("function", function)
    step = check_nonnegative("step", step)
    at = np.array(as_array("at", at, dtype="float64"))
    ones = np.ones_like(at)
    entries = [
        sum(
            weight * sum(_terms(function, at, unit, ones, 0, 2 * multiple * step))
            for multiple, weight in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
        )
        for unit in _units(at)
    ]
    return np.reshape(entries, at.shape) / step


def along(
    function: ScalarFunction,
    at: npt.ArrayLike,
    direction: np.ndarray,
    order: int = 1,
    through: np.ndarray | None = None,
) -> Estimate:
    """Return the derivative along `direction` of the derivative of `order` - 1 along `through`.

    `through` defaults to (1, …, 1).  The result is the inner product of `direction` and the
    gradient of the derivative of `order` - 1.
    """
    at = np.array(at, dtype="float64")
    ones = np.ones_like(at) if through is None else through
    number, error = _along(function, at, direction, ones, order)
    return Estimate(freeze(np.array(number)), freeze(np.array(error)))


def remembered(function: ScalarFunction) -> Callable[[np.ndarray], float]:
    """Cache the values of `function`, which differences of several orders share."""
    known: dict[bytes, float] = {}

    def value(at: np.ndarray) -> float:
        key = at.tobytes()
        if key not in known:
            known[key] = float(function(at))
        return known[key]

    return value


def _units(at: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the unit vectors in the shape of `at`."""
    for index in np.ndindex(at.shape):
        unit = np.zeros_like(at)
        unit[index] = 1.0
        yield unit


def _along(
    function: ScalarFunction, at: np.ndarray, unit: np.ndarray, ones: np.ndarray, order: int
) -> tuple[float, float]:
    """Return the derivative along `unit` of the derivative along `ones`, and its error."""
    start = np.float64(LONGEST / order * max(1.0, float(np.max(np.abs(at)))))

    @cache  # several combinations use each step size
    def level(number: int) -> tuple[float, float]:
        step = start / 2**number
        terms = list(_terms(function, at, unit, ones, order - 1, step))
        rounding = np.finfo(float).eps * sum(map(abs, terms)) / step**order
        return sum(terms) / step**order, rounding

    best = (float("nan"), inf)
    before: list[float] = []
    with np.errstate(all="ignore"):
        for number in range(LEVELS):
            row = [level(number)[0]]
            for power, coarse in enumerate(before, start=1):
                fine = row[-1]
                row.append(fine + (fine - coarse) / (4.0**power - 1))
                error = max(abs(row[-1] - fine), abs(row[-1] - coarse)) + level(number)[1]
                if error < best[1]:
                    best = (row[-1], error)
            before = row
    return best


def _terms(
    function: ScalarFunction,
    at: np.ndarray,
    unit: np.ndarray,
    ones: np.ndarray,
    times: int,
    step: float,
) -> Iterator[float]:
    """Yield the terms of a central difference: `times` along `ones`, and once along `unit`."""
    for number in range(times + 1):
        weight = (-1) ** number * comb(times, number)
        moved = at + (times / 2 - number) * step * ones
        yield weight * _number(function(moved + step / 2 * unit))
        yield -weight * _number(function(moved - step / 2 * unit))


def _number(value: SupportsFloat) -> float:
    """Convert the result of a function to a number, or raise ArgumentError."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"function: it returned {quote(value)}, expected a number.") from error
