"""Define the operators, comparisons, indexing, and NumPy methods of a node.

A comparison compares values and returns a plain boolean, which ``if`` and ``while`` accept.
"""

import operator
from typing import NoReturn

import numpy

from lab.eager import elementwise, products, shaping
from lab.eager.checks import name_of
from lab.eager.shaping import take
from lab.eager.tape import REGISTERED, Function, Node, Plain, Value, value_of
from lab.errors import GradientError

#: Functions of numpy whose derivative is zero wherever it exists.  Their results are plain values.
FLAT = {
    *(numpy.equal, numpy.not_equal, numpy.less, numpy.less_equal, numpy.greater),
    *(numpy.greater_equal, numpy.isfinite, numpy.isinf, numpy.isnan, numpy.sign, numpy.round),
    *(numpy.logical_and, numpy.logical_not, numpy.logical_or, numpy.all, numpy.any),
    *(numpy.argmax, numpy.argmin, numpy.ceil, numpy.floor, numpy.rint, numpy.trunc),
    *(numpy.ndim, numpy.shape, numpy.size, numpy.ones_like, numpy.zeros_like),
}


def _swap_operands(operation: Function) -> Function:
    return lambda self, other: operation(other, self)


def _compare_values(operation: Plain) -> Function:
    return lambda self, other: operation(value_of(self), value_of(other))


def _apply(function: Plain, args: tuple[object, ...], kwargs: dict[str, object]) -> Value:
    """Return the result of a NumPy function for nodes; raise GradientError without a rule."""
    if function in REGISTERED:
        return REGISTERED[function](*args, **kwargs)
    if function in FLAT:
        return function(*map(value_of, args), **kwargs)
    reason = "has no gradient rule; use lab.eager.np, or add a rule with lab.eager.primitive."
    raise GradientError(f"{_numpy_name(function)} {reason}")


def _numpy_name(function: object) -> str:
    name = name_of(function)
    return f"numpy.{name}" if getattr(numpy, name, None) is function else name


def _ufunc(self: Node, ufunc: numpy.ufunc, method: str, *args: object, **kwargs: object) -> Value:
    if kwargs.get("out") is not None:
        reason = "would write a node into an array; write a = a + b instead of a += b."
        raise GradientError(f"{_numpy_name(ufunc)} {reason}")
    if method != "__call__":
        reason = "does not accept nodes. Use np.sum, for example, or a lab.eager.primitive."
        raise GradientError(f"{_numpy_name(ufunc)}.{method} {reason}")
    return _apply(ufunc, args, kwargs)


def _refuse_conversion(self: Node, *_: object, **__: object) -> NoReturn:
    raise GradientError(
        f"{self!r} is the argument of a function that is not registered and would lose the "
        "gradient; use lab.eager.np, a lab.eager.primitive, or lab.eager.value_of."
    )


def _refuse_assignment(self: Node, index: object, value: object) -> NoReturn:
    reason = "a node cannot change in place; compute a new node with lab.eager.np.where."
    raise GradientError(f"{self!r}[{index!r}] = …: {reason}")


def _value_property(name: str) -> property:
    return property(lambda self: getattr(numpy.asarray(value_of(self)), name))


def _numpy_method(name: str) -> Function:
    """Return a method of `Node` that calls the NumPy function `name` on the node."""
    theirs = getattr(numpy, name)
    return lambda self, *args, **kwargs: _apply(theirs, (self, *args), kwargs)


METHODS_OF_NUMPY = (
    *("sum", "mean", "max", "min", "dot", "ravel", "swapaxes", "clip"),
    *("round", "all", "any", "argmax", "argmin"),
)
# Binary operators; either operand can be the node.
SIGNS: dict[str, Plain] = {
    "add": elementwise.plus,
    "sub": elementwise.minus,
    "mul": elementwise.times,
    "truediv": elementwise.over,
    "pow": elementwise.to_the,
    "matmul": products.at_sign,
}
METHODS: dict[str, Plain | property] = {
    **{f"__{name}__": sign for name, sign in SIGNS.items()},
    **{f"__r{name}__": _swap_operands(sign) for name, sign in SIGNS.items()},
    "__neg__": elementwise.minus_sign,
    **dict.fromkeys(("__pos__", "__copy__", "__deepcopy__"), lambda self, *_: self),
    "__abs__": elementwise.absolute,
    "__getitem__": take,
    "__setitem__": _refuse_assignment,
    "__iter__": lambda self: (take(self, index) for index in range(len(value_of(self)))),
    "__len__": lambda self: len(value_of(self)),
    "__bool__": lambda self: bool(value_of(self)),
    "__repr__": lambda self: f"Node({value_of(self)!r})",
    "__format__": lambda self, form: format(value_of(self), form),
    "__array_ufunc__": _ufunc,
    "__array_function__": lambda self, function, _, args, kwargs: _apply(function, args, kwargs),
    **dict.fromkeys(("__array__", "__float__", "__int__", "__index__"), _refuse_conversion),
    **{name: _value_property(name) for name in ("shape", "ndim", "size", "dtype")},
    "T": property(shaping.transpose),
    "reshape": lambda self, *shape: shaping.reshape(self, shape[0] if len(shape) == 1 else shape),
    **{name: _numpy_method(name) for name in METHODS_OF_NUMPY},
    **{
        f"__{name}__": _compare_values(getattr(operator, name))
        for name in ("lt", "le", "eq", "ne", "ge", "gt")
    },
}

# The class Node does not define these methods, because the rules import Node.
for _name, _entry in METHODS.items():
    setattr(Node, _name, _entry)
# Nodes compare by value, but sets and dicts distinguish nodes by identity.
Node.__hash__ = object.__hash__  # type: ignore[method-assign]
