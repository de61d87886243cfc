"""Taylor mode: compute the coefficients of a result from the coefficients of its inputs.

For x = x₀ + x₁ε + x₂ε² + … and y = f(x), the coefficients of y follow from the coefficients of x,
by the rules of Griewank and Walther, "Evaluating Derivatives", chapter 13.  The coefficients
of a product are sums of products.  A rule states f′ in terms of x and y.  By the chain rule,
``y[k] = sum(j/k * x[j] * f′[k-j] for j in 1…k)``.  The k-th derivative along a direction is k!
times the k-th coefficient.

    >>> SLOPES["Tanh"] = lambda x, y: 1 - y * y    # a rule: the derivative of y = tanh(x)

Coefficients are computed on demand, so that a rule can use the coefficients of y itself.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import log, pi, sqrt
from typing import Any

import pytensor.tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.exceptions import NotScalarConstantError

from lab.errors import GradientError
from lab.gradients.forward.series import Coefficients
from lab.gradients.status import is_continuous
from lab.scans.buffers import is_empty
from lab.scans.operations import TRANSPARENT, basic_name, plain_name

LARGEST = 64  # largest exponent of a power computed by multiplication, which allows base 0
Term = Any  # a tensor, a number, or None, which is zero


class Power:
    """A power series in ε, whose coefficients are computed on first access."""

    def __init__(self, coefficient: Callable[[int], Term], first: Term = None) -> None:
        self._coefficient, self._known = coefficient, dict[int, Term]()
        if first is not None:
            self._known[0] = first

    @classmethod
    def of(cls, first: Term, coefficients: Sequence[Variable | None] = ()) -> "Power":
        """Return the series with these coefficients, followed by zeros."""
        return cls(lambda k: coefficients[k - 1] if 0 < k <= len(coefficients) else None, first)

    def __getitem__(self, k: int) -> Term:
        if k not in self._known:
            self._known[k] = self._coefficient(k)
        return self._known[k]

    def __add__(self, other: "Power | float") -> "Power":
        other = _series(other)
        return Power(lambda k: _sum((self[k], other[k])))

    def __mul__(self, other: "Power | float") -> "Power":
        if other is self:
            return Power(self._squared)
        other = _series(other)
        return Power(lambda k: _sum(_times(self[j], other[k - j]) for j in range(k + 1)))

    def _squared(self, k: int) -> Term:
        """Return coefficient k of the square; each pair of equal products is computed once."""
        pairs = _sum(_times(self[j], self[k - j]) for j in range((k + 1) // 2))
        middle = _times(self[k // 2], self[k // 2]) if k % 2 == 0 else None
        return _sum((_times(2.0, pairs), middle))

    def __truediv__(self, other: "Power | float") -> "Power":
        other = _series(other)

        def coefficient(k: int) -> Term:
            left = _sum(_times(other[j], quotient[k - j]) for j in range(1, k + 1))
            above = _sum((self[k], _times(-1.0, left)))
            return None if above is None else above / other[0]

        quotient = Power(coefficient)
        return quotient

    def __neg__(self) -> "Power":
        return self * -1.0

    def __sub__(self, other: "Power | float") -> "Power":
        return self + -_series(other)

    def __rsub__(self, other: float) -> "Power":
        return -self + other

    def __rtruediv__(self, other: float) -> "Power":
        return _series(other) / self

    __radd__, __rmul__ = __add__, __mul__


def _series(value: Power | float) -> Power:
    return value if isinstance(value, Power) else Power.of(value)


def _sum(terms: Iterable[Term]) -> Term:
    first, *rest = [term for term in terms if term is not None] or [None]
    return sum(rest, start=first) if rest else first


def _times(first: Term, second: Term) -> Term:
    if first is None or second is None:
        return None
    return second if isinstance(first, float) and first == 1 else first * second


def integrate(first: Term, x: Power, slope: Callable[[Power], Power]) -> Power:
    """Return the series y with y₀ = `first` and y′ = slope(y)·x′."""

    def coefficient(k: int) -> Term:
        return _sum(_times(_times(j / k, x[j]), derivative[k - j]) for j in range(1, k + 1))

    y = Power(coefficient, first)
    derivative = slope(y)
    return y


def _root(x: Power) -> Power:
    return integrate(pt.sqrt(x[0]), x, lambda y: 0.5 / y)


def _exp(x: Power) -> Power:
    return integrate(pt.exp(x[0]), x, lambda y: y)


# For each function f, the derivative f′ as an expression in x and y = f(x).
SLOPES: dict[str, Callable[[Power, Power], Power]] = {
    "Exp": lambda x, y: y,
    "Exp2": lambda x, y: y * log(2),
    "Expm1": lambda x, y: y + 1,
    "Log": lambda x, y: 1 / x,
    "Log2": lambda x, y: (1 / log(2)) / x,
    "Log10": lambda x, y: (1 / log(10)) / x,
    "Log1p": lambda x, y: 1 / (x + 1),
    "Sqrt": lambda x, y: 0.5 / y,
    "Sin": lambda x, y: integrate(pt.cos(x[0]), x, lambda _: -y),
    "Cos": lambda x, y: -integrate(pt.sin(x[0]), x, lambda _: y),
    "Tan": lambda x, y: 1 + y * y,
    "Sinh": lambda x, y: integrate(pt.cosh(x[0]), x, lambda _: y),
    "Cosh": lambda x, y: integrate(pt.sinh(x[0]), x, lambda _: y),
    "Tanh": lambda x, y: 1 - y * y,
    "ArcSin": lambda x, y: 1 / _root(1 - x * x),
    "ArcCos": lambda x, y: -1 / _root(1 - x * x),
    "ArcTan": lambda x, y: 1 / (1 + x * x),
    "ArcSinh": lambda x, y: 1 / _root(x * x + 1),
    "ArcCosh": lambda x, y: 1 / _root(x * x - 1),
    "ArcTanh": lambda x, y: 1 / (1 - x * x),
    "Sigmoid": lambda x, y: y * (1 - y),
    "Softplus": lambda x, y: integrate(pt.sigmoid(x[0]), x, lambda s: s * (1 - s)),
    "Erf": lambda x, y: _exp(-(x * x)) * (2 / sqrt(pi)),
    "Erfc": lambda x, y: _exp(-(x * x)) * (-2 / sqrt(pi)),
}


def _power(x: Power, r: Variable, y: Variable) -> Power:
    """Return the series of x to the power r, whose first coefficient is `y`.

    For an integer with abs(r) ≤ `LARGEST`, multiply factors; otherwise solve x·y′ = r·y·x′.
    """
    number = _constant(r)
    if number is None or number != int(number) or abs(number) > LARGEST:
        return integrate(y, x, lambda y: y * Power.of(r) / x)
    product, square, left = _series(1.0), x, abs(int(number))
    while left:
        product = product * square if left % 2 else product
        square, left = square * square, left // 2
    return product if number >= 0 else 1 / product


def _exponential(x: Power, r: Power, y: Variable) -> Power:
    """Return x raised to a variable power, computed as exp(r·log(x))."""
    logarithm = integrate(pt.log(x[0]), x, lambda _: 1 / x)
    return integrate(y, r * logarithm, lambda y: y)


def _constant(variable: Variable) -> float | None:
    """Return the value of a constant exponent, or None for another exponent."""
    try:
        return float(pt.get_underlying_scalar_constant_value(variable))
    except (NotScalarConstantError, TypeError):
        return None


def _select(condition: Term, one: Power, other: Power) -> Power:
    """Return the series `one` where `condition` is true, and `other` elsewhere."""

    def coefficient(k: int) -> Term:
        if one[k] is None and other[k] is None:
            return None
        return pt.switch(condition, *(0.0 if term is None else term for term in (one[k], other[k])))

    return Power(coefficient)


# Operations whose series is an expression in the series of their inputs.
WRITTEN: dict[str, Callable[..., Power]] = {
    "Add": lambda *x: sum(x[1:], start=x[0]),
    "Sub": lambda x, y: x - y,
    "Mul": lambda x, *others: x if not others else WRITTEN["Mul"](x * others[0], *others[1:]),
    "TrueDiv": lambda x, y: x / y,
    "Neg": lambda x: -x,
    "Reciprocal": lambda x: 1 / x,
    "Sqr": lambda x: x * x,
    "Abs": lambda x: x * Power.of(pt.sign(x[0])),
    "Switch": lambda condition, one, other: _select(condition[0], one, other),
    "ScalarMaximum": lambda x, y: _select(pt.ge(x[0], y[0]), x, y),
    "ScalarMinimum": lambda x, y: _select(pt.le(x[0], y[0]), x, y),
    "Clip": lambda x, low, high: _select(
        pt.lt(x[0], low[0]), low, _select(pt.gt(x[0], high[0]), high, x)
    ),
    "Second": lambda _, x: x,
    "Cast": lambda x: x,
    "Identity": lambda x: x,
}
WRITTEN |= {"Maximum": WRITTEN["ScalarMaximum"], "Minimum": WRITTEN["ScalarMinimum"]}
# Operations with derivative zero wherever they are differentiable.
STILL = {"Sgn", "Sign", "Floor", "Ceil", "Trunc", "IntDiv"}
STILL |= {"RoundHalfToEven", "RoundHalfAwayFromZero"}

# Operations that are jointly linear in some of their inputs, and the slice of these inputs.
ONE, TWO = slice(0, 1), slice(0, 2)
LINEAR: dict[str, slice] = {
    **dict.fromkeys(("DimShuffle", "Sum", "Subtensor", "AdvancedSubtensor"), ONE),
    **dict.fromkeys(("AdvancedSubtensor1", "Alloc", "Split", "AllocDiag", "ExtractDiag"), ONE),
    **dict.fromkeys(TRANSPARENT, ONE),
    **dict.fromkeys(("IncSubtensor", "AdvancedIncSubtensor", "AdvancedIncSubtensor1"), TWO),
    **dict.fromkeys(("Join", "MakeVector"), slice(None)),
}


def taylor(node: Apply, given: Sequence[Coefficients]) -> Iterator[Coefficients]:
    """Yield the Taylor coefficients of each result of an operation.

    Raises GradientError for an operation without a rule.
    """
    count, name = len(given[0]), plain_name(node)
    if all(one is None for coefficients in given for one in coefficients):
        yield from ((None,) * count for _ in node.outputs)
        return
    if not isinstance(node.op, Elemwise):
        yield from _of_arrays(node, given)
        return
    (output,) = node.outputs
    x = [Power.of(v, one) for v, one in zip(node.inputs, given, strict=True)]
    if name in STILL:
        y = Power.of(output)
    elif name in SLOPES:
        y = integrate(output, x[0], lambda y: SLOPES[name](x[0], y))
    elif name == "Pow":
        is_fixed = all(one is None for one in given[1])
        r = node.inputs[1]
        y = _power(x[0], r, output) if is_fixed else _exponential(x[0], x[1], output)
    elif name in WRITTEN:
        y = Power(WRITTEN[name](*x).__getitem__, output)
    else:
        raise _without_a_rule(node)
    yield tuple(_shaped(y[k], output) for k in range(1, count + 1))


def _of_arrays(node: Apply, given: Sequence[Coefficients]) -> Iterator[Coefficients]:
    """Yield the coefficients of each output of a linear operation or a product of arrays."""
    numbers, name = range(1, len(given[0]) + 1), type(node.op).__name__
    if basic_name(node, node.outputs[0]) in ("Dot", "outer"):
        first, second = (Power.of(v, one) for v, one in zip(node.inputs, given, strict=True))
        terms = ([(first[j], second[k - j]) for j in range(k + 1)] for k in numbers)
        yield tuple(
            _sum(node.clone_with_new_inputs(pair).outputs[0] for pair in pairs if None not in pair)
            for pairs in terms
        )
        return
    if name not in LINEAR:
        raise _without_a_rule(node)
    linear = [i for i, v in list(enumerate(node.inputs))[LINEAR[name]] if is_continuous(v)]
    results = list[Sequence[Variable | None]]()
    for k in numbers:
        coefficients = {i: given[i][k - 1] for i in linear}
        if all(one is None for one in coefficients.values()):
            results.append([None] * len(node.outputs))
            continue
        inputs = list(node.inputs)
        for i, one in coefficients.items():
            still = inputs[i] if is_empty(inputs[i]) else pt.zeros_like(inputs[i])
            inputs[i] = still if one is None else one
        results.append(node.clone_with_new_inputs(inputs).outputs)
    yield from zip(*results, strict=True)


def _shaped(term: Term, like: Variable) -> Variable | None:
    """Return `term` as a tensor with the shape of `like`; None for a coefficient of zero."""
    if term is None:
        return None
    tensor = pt.as_tensor_variable(term)
    return tensor if tensor.type.shape == like.type.shape else pt.second(like, tensor)


def _without_a_rule(node: Apply) -> GradientError:
    return GradientError(
        f'mode = "taylor": {node.op} has no rule for its coefficients. Use mode = "reverse".'
    )
