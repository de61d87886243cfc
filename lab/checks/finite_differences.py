"""Estimate derivatives of any order and their errors from function values.

    >>> differences(lambda x: float(x) ** 32, 0.95, order=3)
    Estimate(value=array(6723.84), error=array(…))

The estimates do not use pullbacks, and therefore cannot share their mistakes.
"""

from collections.abc import Callable, Iterator, Sequence
from math import comb, inf
from typing import SupportsFloat

import numpy as np
import numpy.typing as npt

from lab.errors import ArgumentError, check_function, quote
from lab.records import as_array, freeze, record_of_arrays

ScalarFunction = Callable[[np.ndarray], SupportsFloat]

LEVELS = 10  # number of step sizes; each is half of the previous size
LONGEST = 0.4  # first step size times the order, relative to the largest entry or to 1
STEP = 3e-4  # step size of `finite_differences`
MOST_ENTRIES = 24  # largest size of an input; larger inputs would take too long


@record_of_arrays
class Estimate:
    """A derivative and an estimate of the error of each entry.

    If all differences are nan, the value is nan and the error is infinite.
    """

    value: np.ndarray
    error: np.ndarray

    def admits(self, value: np.ndarray) -> bool:
        """Return whether `value` agrees with the estimate.

        The tolerance is ten times the estimated error, plus √eps times the estimated value.  An
        entry with an infinite error agrees with any value.
        """
        if np.shape(value) != self.value.shape:
            return False
        digits = np.sqrt(np.finfo(self.value.dtype).eps)
        with np.errstate(invalid="ignore"):
            tolerance = 10 * self.error + digits * np.abs(self.value)
            near = np.abs(value - self.value) <= tolerance
        return bool(np.all(near | ~np.isfinite(self.error)))

    def confirms(self, value: np.ndarray) -> bool | None:
        """Return the result of `admits`, or None if the error of an entry is infinite."""
        return self.admits(value) if np.isfinite(self.error).all() else None


def differences(
    function: ScalarFunction,
    at: npt.ArrayLike,
    order: int = 1,
    directions: Sequence[np.ndarray] | None = None,
    through: np.ndarray | None = None,
) -> Estimate:
    """Estimate a derivative of a scalar function at `at`, as defined by `lab.derivative`.

    Entry i is the derivative along direction i of the derivative of `order` - 1 along `through`.
    By default, `directions` are the unit vectors, `through` is (1, …, 1), and the result has the
    shape of `at`.  The error of a central difference is a power series in the square of the step.
    Richardson's extrapolation therefore combines the differences at ten step sizes.  The result is
    the combination with the smallest estimated error (Ridders 1982).
    """
    check_function("function", function)
    at = np.array(as_array("at", at, dtype="float64"))
    through = np.ones_like(at) if through is None else through
    shape = at.shape if directions is None else len(directions)
    units = _units(at) if directions is None else directions
    entries = [_extrapolate(function, at, unit, through, order) for unit in units]
    value, error = (np.array(part).reshape(shape) for part in zip(*entries, strict=True))
    return Estimate(freeze(value), freeze(error))


def finite_differences(function: ScalarFunction, at: npt.ArrayLike) -> np.ndarray:
    """Return the gradient of a scalar `function` at the array `at`, without an error estimate.

    The result combines central differences at one, two, and three times the step 3e-4.  Its error
    is proportional to the sixth power of the step (Fornberg 1988, table 1).
    """
    check_function("function", function)
    at = np.array(as_array("at", at, dtype="float64"))
    ones = np.ones_like(at)
    entries = [
        sum(
            weight * sum(_difference_terms(function, at, unit, ones, 0, 2 * multiple * STEP))
            for multiple, weight in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
        )
        for unit in _units(at)
    ]
    return np.reshape(entries, at.shape) / STEP


def _units(at: np.ndarray) -> np.ndarray:
    """Return the unit vectors in the shape of `at`."""
    return np.eye(at.size).reshape(at.size, *at.shape)


def _extrapolate(
    function: ScalarFunction, at: np.ndarray, unit: np.ndarray, through: np.ndarray, order: int
) -> tuple[float, float]:
    """Return an estimate of a derivative, and an estimate of its error.

    The derivative along `through` has the order `order` - 1, and is differentiated along `unit`.
    """
    start = np.float64(LONGEST / order * max(1.0, float(np.max(np.abs(at)))))
    best = (float("nan"), inf)
    before: list[float] = []
    with np.errstate(all="ignore"):
        for number in range(LEVELS):
            step = start / 2**number
            terms = list(_difference_terms(function, at, unit, through, order - 1, step))
            rounding = np.finfo(float).eps * sum(map(abs, terms)) / step**order
            row = [sum(terms) / step**order]
            for power, coarse in enumerate(before, start=1):
                fine = row[-1]
                row.append(fine + (fine - coarse) / (4.0**power - 1))
                error = max(abs(row[-1] - fine), abs(row[-1] - coarse)) + rounding
                if error < best[1]:
                    best = (row[-1], error)
            before = row
    return best


def _difference_terms(
    function: ScalarFunction,
    at: np.ndarray,
    unit: np.ndarray,
    through: np.ndarray,
    times: int,
    step: float,
) -> Iterator[float]:
    """Yield the weighted function values whose sum is a central difference.

    The difference has the order `times` along `through`, and the order 1 along `unit`.
    """
    for number in range(times + 1):
        weight = (-1) ** number * comb(times, number)
        moved = at + (times / 2 - number) * step * through
        yield weight * _as_float(function(moved + step / 2 * unit))
        yield -weight * _as_float(function(moved - step / 2 * unit))


def _as_float(value: SupportsFloat) -> float:
    """Return the result of a function as a float; raise ArgumentError if that fails."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"function: it returned {quote(value)}, expected a number.") from error
