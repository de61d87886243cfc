"""Check gradients against finite differences, which share no mistake with a pullback.

`gradient` checks graphs and `eager_gradients` checks plain Python; both raise
`WrongGradientError` with the entry of the largest difference.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from numbers import Real
from typing import SupportsFloat

import numpy as np
import numpy.typing as npt
from pytensor.graph.basic import Variable

from lab.checks.finite_differences import MOST_ENTRIES, Estimate, differences, finite_differences
from lab.errors import (
    ArgumentError,
    LabError,
    argument_error,
    check_function,
    check_integer,
    check_type,
    is_finite_number,
    shorten,
)
from lab.records import as_array
from lab.traces.run import Evaluator, Values, checked_values, run


class WrongGradientError(LabError, AssertionError):
    """Raised if a gradient differs from finite differences, or a pullback from its pushforward."""


def value_at(output: Variable, given: Values, evaluator: Evaluator | None = None) -> np.ndarray:
    """Return the value of `output` for the inputs `given`, without compiling the graph."""
    values, _ = run([output], given, record=False, evaluator=evaluator)
    return np.asarray(values[output])


class MovedCost:
    """A scalar cost as a function of some of its inputs, for finite differences.

    `wrt` maps these inputs to their values, and `given` contains the values of all other inputs.
    The evaluation uses no pullback and compiles nothing.
    """

    def __init__(self, cost: Variable, wrt: Mapping[Variable, npt.ArrayLike], given: Values):
        self.cost, self.given, self.evaluator = cost, given, Evaluator()
        self.values = {v: np.asarray(value) for v, value in wrt.items()}
        ends = np.cumsum([0, *(value.size for value in self.values.values())]).tolist()
        self.parts = [slice(*pair) for pair in pairwise(ends)]
        flat = [value.ravel().astype("float64") for value in self.values.values()]
        self.at = np.concatenate(flat) if flat else np.zeros(0)
        self.cached_value = cache(self._compute)  # several orders need the same values

    def evaluate(self, flat: np.ndarray) -> float:
        """Return the cost at `flat`, a vector with the entries of all inputs in `wrt`."""
        return self.cached_value(flat.astype("float64").tobytes())

    def _compute(self, data: bytes) -> float:
        flat = np.frombuffer(data)
        moved = {
            variable: flat[part].reshape(value.shape).astype(variable.type.dtype)
            for (variable, value), part in zip(self.values.items(), self.parts, strict=True)
        }
        with np.errstate(all="ignore"):
            return float(value_at(self.cost, {**self.given, **moved}, self.evaluator))

    def differences(
        self, number: int = 0, order: int = 1, summed: Sequence[int] = (0,)
    ) -> Estimate | None:
        """Estimate the derivatives of `order` wrt all entries of an input; None for too many.

        `number` is the index of the input in `wrt`.  The other `order` - 1 derivatives are along
        the vector (1, …, 1) of the inputs with the indices `summed`.
        """
        shape, part = list(self.values.values())[number].shape, self.parts[number]
        if np.prod(shape, dtype=int) > MOST_ENTRIES:
            return None
        direction = np.zeros_like(self.at)
        for each in summed:
            direction[self.parts[each]] = 1.0
        units = [*np.eye(len(self.at))[part]]
        entries = differences(self.evaluate, self.at, order, units, direction)
        return Estimate(entries.value.reshape(shape), entries.error.reshape(shape))


def gradient(
    cost: Variable, wrt: Variable, found: Variable, given: Values, tolerance: float = 1e-6
) -> float:
    """Compare a gradient of `cost` wrt `wrt` with finite differences.

    `found` is the gradient to check, and `given` contains the values of all inputs.  Return the
    largest difference as `compare` defines it.  Raise `WrongGradientError` if the difference
    exceeds `tolerance`, and ArgumentError for an invalid argument.
    """
    for name, variable in (("cost", cost), ("wrt", wrt), ("found", found)):
        check_type(name, variable, Variable, "a variable of PyTensor")
    if getattr(cost.type, "ndim", None) != 0:
        raise argument_error("cost", cost, f"expected a single number, got {cost.type}.")
    given = checked_values(given)
    if wrt not in given:
        raise ArgumentError(f"given: expected a value for wrt = {wrt}.")

    moved, at = MovedCost(cost, {wrt: given[wrt]}, given), np.asarray(given[wrt])
    expected = finite_differences(lambda value: moved.evaluate(value.ravel()), at)
    return compare(value_at(found, given), expected, tolerance, f"d {cost} / d {wrt}")


def eager_gradients(
    function: Callable[..., object],
    *args: object,
    argnum: int = 0,
    orders: int = 2,
    tolerance: float = 1e-6,
) -> float:
    """Compare the gradients that `lab.eager` computes for a function with finite differences.

    An inner product with fixed random weights reduces each result to a number.  Each gradient is
    reduced and differentiated again, up to `orders` times.  The comparison detects wrong rules of
    a `lab.eager.primitive`, and rules that cannot be differentiated.  Return the largest difference
    as `compare` defines it.  Raise `WrongGradientError` if the difference exceeds `tolerance`.
    """
    from lab import eager  # imported late, because the import takes time

    check_function("function", function)
    worst = 0.0
    for order in range(1, check_integer("orders", orders) + 1):
        weighted = _weighted(function, seed=order)
        function = eager.grad(weighted, argnum)
        result = function(*args)

        def moved(value: np.ndarray, weighted: Callable[..., SupportsFloat] = weighted) -> float:
            return float(weighted(*args[:argnum], value[()], *args[argnum + 1 :]))

        expected = finite_differences(moved, np.asarray(args[argnum]))
        what = f"derivative {order} wrt argument {argnum}"
        worst = max(worst, compare(result, expected, tolerance, what))
    return worst


def _weighted(function: Callable[..., object], seed: int) -> Callable[..., SupportsFloat]:
    from lab.eager import value_of

    def weighted(*args: object) -> SupportsFloat:
        result = function(*args)
        shape = np.shape(value_of(result))
        weights = np.random.default_rng(seed).uniform(0.5, 1.5, shape)
        return np.sum(result * weights)  # for nodes, numpy calls the eager sum

    return weighted


def compare(found: object, expected: object, tolerance: float, what: str = "gradient") -> float:
    """Return the largest difference between two arrays, divided by their scale.

    The scale is the largest absolute value in `expected`, or 1 if that is larger.  Raise
    WrongGradientError if the difference exceeds `tolerance` or is nan, or if the shapes differ.
    """
    found, expected = as_array("found", found), as_array("expected", expected)
    expected_number = "a number of 0 or more"
    check_type("tolerance", tolerance, Real, expected_number)
    if not is_finite_number(tolerance) or tolerance < 0:
        raise argument_error("tolerance", tolerance, f"expected {expected_number}.")
    what = shorten(check_type("what", what, str, "a text"))
    if found.shape != expected.shape:
        raise WrongGradientError(f"{what}: the shape is {found.shape}, not {expected.shape}.")
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    away = np.abs(found - expected) / scale
    away = np.where(np.isnan(away), np.inf, away)
    worst = float(np.max(away, initial=0.0))
    if worst > float(tolerance):
        index = np.unravel_index(int(np.argmax(away)), away.shape)
        entry = f"{what}{list(map(int, index)) if index else ''}"
        values = f"{found[index]:.12g}, but should be {expected[index]:.12g}"
        raise WrongGradientError(f"{entry} is {values}.")
    return worst


def inner(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the real inner product Re sum(conj(a) * b) of pairs of arrays, in double precision."""
    return float(sum(np.vdot(a, np.asarray(b) * np.float64(1)).real for a, b in pairs))


def adjoint(
    outputs: Sequence[np.ndarray],
    output_gradients: Sequence[np.ndarray],
    tangents: Sequence[np.ndarray],
    gradients: Sequence[np.ndarray],
    tolerance: float = 1e-10,
) -> float:
    """Return the difference between <g, J v> and <J* g, v> as `compare` defines it.

    `outputs` are J v for the input `tangents` v, and `gradients` are J* g for `output_gradients`
    g.  Raise WrongGradientError if the difference exceeds `tolerance`.
    """
    forward = inner(zip(output_gradients, outputs, strict=True))
    backward = inner(zip(gradients, tangents, strict=True))
    return compare(backward, forward, tolerance, "<J* g, v>")
