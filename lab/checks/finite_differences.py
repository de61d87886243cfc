"""Derivatives of any order from values of the function alone, with an estimate of their error.

    >>> differences(lambda x: float(x) ** 32, 0.95, order=3)
    Estimate(value=array(6723.84), error=array(…))

No pullback takes part, not even at a lower order, so that no mistake of one can be shared.
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

LEVELS = 10  # steps, each half as long as the one before
LONGEST = 0.4  # the first of them, divided by the order, and relative to entries above 1
MOST_ENTRIES = 24


@record_of_arrays
class Estimate:
    """A derivative, entry by entry, and how far each entry may be off.

    Where no difference was a number, the value is nan and the error infinite.
    """

    value: np.ndarray
    error: np.ndarray

    def admits(self, value: np.ndarray) -> bool:
        """Whether `value` lies as near as the error, tenfold, or half of the digits allow."""
        if np.shape(value) != self.value.shape:
            return False
        digits = np.sqrt(np.finfo(self.value.dtype).eps)
        with np.errstate(invalid="ignore"):
            room = 10 * self.error + digits * np.abs(self.value)
            near = np.abs(value - self.value) <= room
        return bool(np.all(near | ~np.isfinite(self.error)))

    def confirms(self, value: np.ndarray) -> bool | None:
        """Whether it admits `value`; None if an entry of it is unknown, so that it cannot tell."""
        return self.admits(value) if np.isfinite(self.error).all() else None


def differences(function: ScalarFunction, at: npt.ArrayLike, order: int = 1) -> Estimate:
    """The derivative of `order` of a scalar function at `at`, as `lab.derivative` defines it.

    For a number that is the ordinary one.  For an array it is, for entry i, the derivative by
    entry i of the function's derivative of `order` - 1 along (1, …, 1).  Central differences,
    whose errors are series in the square of the step, are taken at ten steps and combined
    by Richardson's extrapolation; of all combinations the one with the smallest estimated
    error is the answer (Ridders 1982).
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
    """The gradient of a scalar `function` at the array `at`, entry by entry, without an estimate.

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
    """One number: the derivative along `direction` of that of `order` - 1 along `through`.

    `through` is (1, …, 1) unless given.  For a gradient g of the derivative before, that is the
    inner product of g with `direction`.
    """
    at = np.array(at, dtype="float64")
    ones = np.ones_like(at) if through is None else through
    number, error = _along(function, at, direction, ones, order)
    return Estimate(freeze(np.array(number)), freeze(np.array(error)))


def remembered(function: ScalarFunction) -> Callable[[np.ndarray], float]:
    """`function`, asked only once at any point: differences of several orders share some."""
    known: dict[bytes, float] = {}

    def value(at: np.ndarray) -> float:
        key = at.tobytes()
        if key not in known:
            known[key] = float(function(at))
        return known[key]

    return value


def _units(at: np.ndarray) -> Iterator[np.ndarray]:
    """The directions of the single entries of `at`."""
    for index in np.ndindex(at.shape):
        unit = np.zeros_like(at)
        unit[index] = 1.0
        yield unit


def _along(
    function: ScalarFunction, at: np.ndarray, unit: np.ndarray, ones: np.ndarray, order: int
) -> tuple[float, float]:
    """The derivative along `unit`, of those before along `ones`; and its error."""
    start = np.float64(LONGEST / order * max(1.0, float(np.max(np.abs(at)))))

    @cache  # every step is needed by several combinations
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
    """The terms of a central difference: `times` along `ones`, and once along `unit`."""
    for number in range(times + 1):
        weight = (-1) ** number * comb(times, number)
        moved = at + (times / 2 - number) * step * ones
        yield weight * _number(function(moved + step / 2 * unit))
        yield -weight * _number(function(moved - step / 2 * unit))


def _number(value: SupportsFloat) -> float:
    """Return what the function returned as a number; ArgumentError if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"function: it returned {quote(value)}, expected a number.") from error
