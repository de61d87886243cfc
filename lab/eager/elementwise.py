"""Functions of single entries, each with its gradient written next to it.

A rule is given the gradient g of the result, the result y and the argument x.
"""

import operator
from collections.abc import Callable

import numpy

from lab.eager import rules
from lab.eager.shaping import shape_of, unbroadcast
from lab.eager.tape import Function, Gradients, Node, Value, primitive, value_of


def _unary(name: str, rule: Callable[[Value, Value, Value], Value]) -> Function:
    """A function of one argument: C depends on x by dC/dx = rule(dC/dy, y, x)."""
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


def _add_gradient(z: Value, x: Value, y: Value) -> Gradients:
    """The gradients: dx = g, dy = g."""
    shapes = shape_of(x), shape_of(y)
    return [lambda g: unbroadcast(g, shapes[0]), lambda g: unbroadcast(g, shapes[1])]


def _subtract_gradient(z: Value, x: Value, y: Value) -> Gradients:
    """The gradients: dx = g, dy = -g."""
    shapes = shape_of(x), shape_of(y)
    return [lambda g: unbroadcast(g, shapes[0]), lambda g: unbroadcast(-g, shapes[1])]


def _multiply_gradient(z: Value, x: Value, y: Value) -> Gradients:
    """The gradients: dx = g·y, dy = g·x."""
    shapes = shape_of(x), shape_of(y)
    return [lambda g: unbroadcast(g * y, shapes[0]), lambda g: unbroadcast(g * x, shapes[1])]


def _divide_gradient(z: Value, x: Value, y: Value) -> Gradients:
    """The gradients: dx = g / y, dy = -g·z / y."""
    shapes = shape_of(x), shape_of(y)
    return [lambda g: unbroadcast(g / y, shapes[0]), lambda g: unbroadcast(-g * z / y, shapes[1])]


def _power_gradient(z: Value, x: Value, y: Value) -> Gradients:
    """The gradients: dx = g·y·x**(y-1), dy = g·z·log x.

    At x = 0, a constant power of 0 gives dx = 0, and any power gives dy = 0.
    """
    shapes = shape_of(x), shape_of(y)
    return [
        lambda g: unbroadcast(g * (y * x ** _less_one(y)), shapes[0]),
        lambda g: unbroadcast(g * (z * _log_base(x)), shapes[1]),
    ]


def _less_one(y: Value) -> Value | int:
    """The power that is left; where a constant power is 0, any will do."""
    if isinstance(y, Node):
        return minus(y, 1)
    return numpy.where(y == 0, 1, y - 1) if numpy.ndim(y) else (y - 1 if y != 0 else 1)


def _log_base(x: object) -> Value:
    """Log x; 0 at 0, where x**y stays 0 when y moves."""
    return log(x + (value_of(x) == 0))


def _remainder_gradient(z: Value, x: Value, y: Value) -> Gradients:
    """Z = x - y·floor(x/y); the gradients: dx = g, dy = -g·floor(x/y)."""
    shapes = shape_of(x), shape_of(y)
    times = numpy.floor_divide(value_of(x), value_of(y))
    return [lambda g: unbroadcast(g, shapes[0]), lambda g: unbroadcast(-g * times, shapes[1])]


def _binary(name: str, dx: Callable[..., Value], dy: Callable[..., Value]) -> Function:
    """A function of two arguments: the gradients are g·dx(z, x, y) and g·dy(z, x, y)."""

    def gradients(z: Value, x: Value, y: Value) -> Gradients:
        shapes = shape_of(x), shape_of(y)
        return [
            lambda g: unbroadcast(g * dx(z, x, y), shapes[0]),
            lambda g: unbroadcast(g * dy(z, x, y), shapes[1]),
        ]

    return rules.rule(getattr(numpy, name), gradients)


add = rules.rule(numpy.add, _add_gradient)
subtract = rules.rule(numpy.subtract, _subtract_gradient)
multiply = rules.rule(numpy.multiply, _multiply_gradient)
divide = rules.rule(numpy.divide, _divide_gradient)
power = rules.rule(numpy.power, _power_gradient)
remainder = rules.rule(numpy.remainder, _remainder_gradient)
logaddexp = _binary("logaddexp", lambda z, x, y: exp(x - z), lambda z, x, y: exp(y - z))
hypot = _binary("hypot", lambda z, x, y: x / z, lambda z, x, y: y / z)
#: The angle of the point (y, x).
arctan2 = _binary(
    "arctan2", lambda z, x, y: y / (x * x + y * y), lambda z, x, y: -x / (x * x + y * y)
)


# Python's own signs do the same as the functions above, many times faster on single numbers.
plus = primitive(operator.add, _add_gradient, "add")
minus = primitive(operator.sub, _subtract_gradient, "subtract")
times = primitive(operator.mul, _multiply_gradient, "multiply")
over = primitive(operator.truediv, _divide_gradient, "divide")
to_the = primitive(operator.pow, _power_gradient, "power")
minus_sign = primitive(operator.neg, lambda y, x: [lambda g: -g], "negative")
