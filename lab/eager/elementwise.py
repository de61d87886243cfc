"""Define elementwise functions with their gradients.

The arguments of a rule are the gradient g of the result, the result, and the arguments of the
function.  Where a derivative does not exist, a convention applies.  The gradient of `absolute` at 0
is 0.  Equal arguments of `maximum` or `minimum` each receive g/2.  In `clip`, a value x on a bound
receives the whole gradient.
"""

import operator
from collections.abc import Callable

import numpy

from lab.eager.shaping import shape_of, unbroadcast
from lab.eager.tape import (
    REGISTERED,
    Function,
    Gradient,
    GradientMaker,
    Gradients,
    Node,
    Value,
    primitive,
    register,
    value_of,
)
from lab.errors import ArgumentError


def _unary(name: str, rule: Callable[[Value, Value, Value], Value]) -> Function:
    """Return a differentiable NumPy function y = f(x) with dC/dx = rule(dC/dy, y, x)."""
    return register(getattr(numpy, name), lambda y, x: [lambda g: rule(g, y, x)])


negative = _unary("negative", lambda g, y, x: -g)
square = _unary("square", lambda g, y, x: g * (2 * x))
sqrt = _unary("sqrt", lambda g, y, x: g / (2 * y))
reciprocal = _unary("reciprocal", lambda g, y, x: -g * y * y)
absolute = _unary("absolute", lambda g, y, x: g * numpy.sign(value_of(x)))
exp = _unary("exp", lambda g, y, x: g * y)
exp2 = _unary("exp2", lambda g, y, x: g * y * numpy.log(2))
expm1 = _unary("expm1", lambda g, y, x: g * (y + 1))
log = _unary("log", lambda g, y, x: g / x)
log2 = _unary("log2", lambda g, y, x: g / (x * numpy.log(2)))
log10 = _unary("log10", lambda g, y, x: g / (x * numpy.log(10)))
log1p = _unary("log1p", lambda g, y, x: g / (x + 1))
sin = _unary("sin", lambda g, y, x: g * cos(x))
cos: Function = _unary("cos", lambda g, y, x: -g * sin(x))
tan = _unary("tan", lambda g, y, x: g * (1 + y * y))
arcsin = _unary("arcsin", lambda g, y, x: g / sqrt(1 - x * x))
arccos = _unary("arccos", lambda g, y, x: -g / sqrt(1 - x * x))
arctan = _unary("arctan", lambda g, y, x: g / (1 + x * x))
sinh = _unary("sinh", lambda g, y, x: g * cosh(x))
cosh: Function = _unary("cosh", lambda g, y, x: g * sinh(x))
tanh = _unary("tanh", lambda g, y, x: g * (1 - y * y))


def _binary(dx: Callable[..., Value], dy: Callable[..., Value]) -> GradientMaker:
    """Return the gradient maker of z = f(x, y): dC/dx = dx(g, z, x, y), dC/dy = dy(g, z, x, y)."""

    def gradients(z: Value, x: Value, y: Value) -> Gradients:
        shapes = shape_of(x), shape_of(y)
        return [
            lambda g: unbroadcast(dx(g, z, x, y), shapes[0]),
            lambda g: unbroadcast(dy(g, z, x, y), shapes[1]),
        ]

    return gradients


_ADD = _binary(lambda g, z, x, y: g, lambda g, z, x, y: g)
_SUBTRACT = _binary(lambda g, z, x, y: g, lambda g, z, x, y: -g)
MULTIPLY = _binary(lambda g, z, x, y: g * y, lambda g, z, x, y: g * x)
_DIVIDE = _binary(lambda g, z, x, y: g / y, lambda g, z, x, y: -g * z / y)
# At x = 0, dx is 0 for the constant power 0, and dy is 0 for any power.
_POWER = _binary(
    lambda g, z, x, y: g * (y * x ** _less_one(y)), lambda g, z, x, y: g * (z * _log_base(x))
)
_EXTREME = _binary(
    lambda g, z, x, y: g * _part(x, y, z), lambda g, z, x, y: g * (1 - _part(x, y, z))
)


def _less_one(y: Value) -> Value | int:
    """Return the exponent y − 1 of the derivative y·x**(y − 1), or 1 for a constant y = 0.

    For y = 0, the derivative is then 0·x, which is 0 at x = 0.
    """
    if isinstance(y, Node):
        return minus(y, 1)
    return numpy.where(y == 0, 1, y - 1) if numpy.ndim(y) else (y - 1 if y != 0 else 1)


def _log_base(x: object) -> Value:
    """Return log x, or 0 at x = 0, where the derivative of x**y wrt y is 0."""
    return log(x + (value_of(x) == 0))


def _part(x: Value, y: Value, z: Value) -> numpy.ndarray:
    """Return dz/dx of z = max or min: 1 where z is x, 0 where z is y, and 1/2 where x = y."""
    return numpy.where(value_of(x) == value_of(y), 0.5, value_of(x) == value_of(z))


add = register(numpy.add, _ADD)
subtract = register(numpy.subtract, _SUBTRACT)
multiply = register(numpy.multiply, MULTIPLY)
divide = register(numpy.divide, _DIVIDE)
power = register(numpy.power, _POWER)
maximum = register(numpy.maximum, _EXTREME)
minimum = register(numpy.minimum, _EXTREME)


# Python's operators compute the same values as numpy, many times faster for single numbers.
plus = primitive(operator.add, _ADD, "add")
minus = primitive(operator.sub, _SUBTRACT, "subtract")
times = primitive(operator.mul, MULTIPLY, "multiply")
over = primitive(operator.truediv, _DIVIDE, "divide")
to_the = primitive(operator.pow, _POWER, "power")
minus_sign = primitive(operator.neg, lambda y, x: [lambda g: -g], "negative")


def _masked_gradient(mask: numpy.ndarray, x: Value) -> Gradient:
    """Return the gradient function of `x`: g where the mask is true, else 0, even if g is nan."""
    shape = shape_of(x)
    return lambda g: unbroadcast(_select(mask, g, 0.0), shape)


def _where_gradient(z: Value, condition: numpy.ndarray, x: Value, y: Value) -> Gradients:
    """Return the gradient functions: x receives g where the condition is true, y elsewhere."""
    return [None, _masked_gradient(condition, x), _masked_gradient(~condition, y)]


def _clip_gradient(z: Value, x: Value, lo: Value, hi: Value) -> Gradients:
    """Return the gradient functions: lo receives g where x < lo, hi where x > hi, x elsewhere."""
    below, above = numpy.less(value_of(x), value_of(lo)), numpy.greater(value_of(x), value_of(hi))
    inside = ~(below | above)
    return [_masked_gradient(m, a) for m, a in ((inside, x), (below, lo), (above, hi))]


_select = primitive(numpy.where, _where_gradient)
_limit = primitive(numpy.clip, _clip_gradient)


def where(
    condition: object, x: object = None, y: object = None
) -> Value | tuple[numpy.ndarray, ...]:
    """Return `x` where the condition is true, and `y` elsewhere.

    Without `x` or `y`, return the indices of the true entries.  The condition has no gradient.
    """
    if x is None or y is None:
        return numpy.where(value_of(condition))
    return _select(numpy.asarray(value_of(condition), bool), x, y)


def clip(x: object, lo: object = None, hi: object = None) -> Value:
    """Limit `x` to the interval from `lo` to `hi`; raise ArgumentError if lo > hi."""
    lo, hi = (-numpy.inf if lo is None else lo), (numpy.inf if hi is None else hi)
    if numpy.any(value_of(lo) > value_of(hi)):
        raise ArgumentError(f"lo = {value_of(lo)}, hi = {value_of(hi)}: lo may not exceed hi.")
    return _limit(x, lo, hi)


REGISTERED.update({numpy.where: where, numpy.clip: clip})
