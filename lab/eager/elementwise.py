"""Elementwise functions with their gradients.

A rule receives the gradient g of the result, the result, and the arguments.
"""

import operator
from collections.abc import Callable

import numpy

from lab.eager import rules
from lab.eager.shaping import shape_of, unbroadcast
from lab.eager.tape import (
    Function,
    GradientMaker,
    Gradients,
    Node,
    Value,
    primitive,
    value_of,
)


def _unary(name: str, rule: Callable[[Value, Value, Value], Value]) -> Function:
    """Return a function y = f(x) with dC/dx = rule(dC/dy, y, x)."""
    return rules.rule(getattr(numpy, name), lambda y, x: [lambda g: rule(g, y, x)])


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
arcsinh = _unary("arcsinh", lambda g, y, x: g / sqrt(x * x + 1))
arccosh = _unary("arccosh", lambda g, y, x: g / sqrt(x * x - 1))
arctanh = _unary("arctanh", lambda g, y, x: g / (1 - x * x))


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
_MULTIPLY = _binary(lambda g, z, x, y: g * y, lambda g, z, x, y: g * x)
_DIVIDE = _binary(lambda g, z, x, y: g / y, lambda g, z, x, y: -g * z / y)
# At x = 0, a constant power of 0 gives dx = 0, and any power gives dy = 0.
_POWER = _binary(
    lambda g, z, x, y: g * (y * x ** _less_one(y)), lambda g, z, x, y: g * (z * _log_base(x))
)
# The remainder is x − y·floor(x/y).
_REMAINDER = _binary(
    lambda g, z, x, y: g,
    lambda g, z, x, y: -g * numpy.floor_divide(value_of(x), value_of(y)),
)


def _less_one(y: Value) -> Value | int:
    """Return y − 1; for a constant power of 0, any power."""
    if isinstance(y, Node):
        return minus(y, 1)
    return numpy.where(y == 0, 1, y - 1) if numpy.ndim(y) else (y - 1 if y != 0 else 1)


def _log_base(x: object) -> Value:
    """Return log x, and 0 at x = 0, where x**y is 0 for all y."""
    return log(x + (value_of(x) == 0))


add = rules.rule(numpy.add, _ADD)
subtract = rules.rule(numpy.subtract, _SUBTRACT)
multiply = rules.rule(numpy.multiply, _MULTIPLY)
divide = rules.rule(numpy.divide, _DIVIDE)
power = rules.rule(numpy.power, _POWER)
remainder = rules.rule(numpy.remainder, _REMAINDER)
logaddexp = rules.rule(
    numpy.logaddexp,
    _binary(lambda g, z, x, y: g * exp(x - z), lambda g, z, x, y: g * exp(y - z)),
)
hypot = rules.rule(
    numpy.hypot, _binary(lambda g, z, x, y: g * (x / z), lambda g, z, x, y: g * (y / z))
)
#: The angle of the point (y, x); the first argument is y.
arctan2 = rules.rule(
    numpy.arctan2,
    _binary(
        lambda g, z, y, x: g * (x / (x * x + y * y)),
        lambda g, z, y, x: g * (-y / (x * x + y * y)),
    ),
)


# Python's operators compute the same, many times faster for single numbers.
plus = primitive(operator.add, _ADD, "add")
minus = primitive(operator.sub, _SUBTRACT, "subtract")
times = primitive(operator.mul, _MULTIPLY, "multiply")
over = primitive(operator.truediv, _DIVIDE, "divide")
to_the = primitive(operator.pow, _POWER, "power")
minus_sign = primitive(operator.neg, lambda y, x: [lambda g: -g], "negative")
