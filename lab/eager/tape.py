"""The eager tape: reverse-mode derivatives of plain Python from the operations of a run.

The tapes of a Scan exist before the loop runs.  Here the program runs first, and every operation
on a `Node` appends a new node to a `Tape`.  Then `grad` removes the nodes in reverse order.

- `grad` opens a tape, runs the function on a start node, and empties the tape;
- `D` lifts a function to nodes, and `primitive` lifts a function with a gradient maker;
- a `Node` sums its received gradients and sends the sum to its parents;
- `mutating_add` adds in place, and a `Setter` is a gradient of a few entries.

The same lifted functions compute the gradients.  Outer tapes therefore record them, and
``grad(grad(f))`` is the second derivative.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from threading import Lock
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from lab.eager.checks import (
    check_argnum,
    check_arguments,
    check_given,
    check_gradients,
    check_keywords,
    check_real_number,
    check_start,
    name_of,
)
from lab.errors import GradientError, check_function, check_type
from lab.records import UNUSUAL, check_usual

#: A value in a rule: an array, or a node if an outer tape records the rule.
Value = Union[np.ndarray, "Node"]
Operand = Any  # the other operand of an operator, or an index
Plain = Callable[..., Any]  # a function of numpy or of the user
Function = Callable[..., Value]
Gradient = Callable[[Value], Value]
Gradients = list[Gradient | None]
GradientMaker = Callable[..., Sequence[Gradient | None]]


class Tape(list["Node"]):
    """The nodes of one run of `function`, in order of creation.

    If the operands of an operation are on two tapes, the tape of higher priority records the
    operation first.  A new tape has the highest priority of all active tapes in all threads.  This
    priority does not depend on arguments, because a function can use nodes of an enclosing scope.
    """

    node: "type[Node]"
    priority = 0

    def __init__(self, function: str = "") -> None:
        super().__init__()
        self.function = function

    def __enter__(self) -> "Tape":
        with _LOCK:
            self.priority = 1 + max((tape.priority for tape in _ACTIVE), default=0)
            _ACTIVE.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        with _LOCK:
            _ACTIVE.remove(self)
        while self:
            self.pop().leave()

    # Tapes compare by identity, because empty lists would be equal.
    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]


_ACTIVE: list[Tape] = []
_LOCK = Lock()
_SPENT = Tape()  # the tape of all nodes whose tape has ended; its priority 0 is the lowest
new_tape: ContextVar[Callable[[str], Tape]] = ContextVar("new_tape", default=Tape)


class Node:
    """A value on a tape.

    `value` is a node of an outer tape if that tape also records the operation.  `parent_operations`
    are pairs of a gradient function and the parent that receives the result of this function.
    `outgrads` are the received gradients.  `operation` is the name of the function that computed
    the value.  Only `RecordedNode` uses `arguments`.
    """

    __slots__ = ("__weakref__", "operation", "outgrads", "parent_operations", "tape", "value")

    def __init__(
        self,
        value: object,
        tape: Tape,
        parent_operations: "Sequence[tuple[Gradient, Node]]" = (),
        operation: str = "",
        arguments: tuple[object, ...] = (),
    ) -> None:
        if isinstance(value, UNUSUAL):  # their operators differ from the rules
            check_usual(f"result of {operation}", value)
        # numpy's numbers, unlike Python's, can be divided by zero
        self.value: Any = np.float64(value) if type(value) is float else value
        self.tape = tape
        self.parent_operations = parent_operations
        self.operation = operation
        self.outgrads: list[Value] = []
        tape.append(self)

    def send_upstream(self) -> None:
        """Sum the received gradients, and send each parent its contribution."""
        if self.outgrads and self.parent_operations:
            total = self.sum_outgrads()
            for gradient, parent in self.parent_operations:
                parent.receive(gradient(total))

    def receive(self, gradient: Value) -> None:
        """Store a received gradient."""
        self.outgrads.append(gradient)

    def sum_outgrads(self) -> Value:
        """Return the sum of the received gradients; a single gradient is not copied."""
        if len(self.outgrads) == 1 and not isinstance(value_of(self.outgrads[0]), Setter):
            return self.outgrads[0]
        total = zeros_like(self)
        for new in self.outgrads:
            total = mutating_add(total, new)
        return total

    def leave(self) -> None:
        """Remove the node from its tape; later operations treat it as a constant."""
        self.tape = _SPENT
        self.parent_operations = ()

    if TYPE_CHECKING:  # set by `lab.eager.operators`

        def __add__(self, other: Operand, /) -> Value: ...
        def __radd__(self, other: Operand, /) -> Value: ...
        def __sub__(self, other: Operand, /) -> Value: ...
        def __rsub__(self, other: Operand, /) -> Value: ...
        def __mul__(self, other: Operand, /) -> Value: ...
        def __rmul__(self, other: Operand, /) -> Value: ...
        def __truediv__(self, other: Operand, /) -> Value: ...
        def __rtruediv__(self, other: Operand, /) -> Value: ...
        def __pow__(self, other: Operand, /) -> Value: ...
        def __neg__(self) -> Value: ...
        def __getitem__(self, index: Operand, /) -> Value: ...


Tape.node = Node


def value_of(x: object) -> Any:
    """Return the number or array in a node or in nested nodes; return other objects unchanged."""
    while isinstance(x, Node):
        x = x.value
    return x


def zeros_like(x: object) -> Value:
    """Return zeros in the shape and dtype of the value of `x`, or the number 0 for a `Setter`."""
    value = value_of(x)
    if isinstance(value, np.ndarray):
        return np.zeros(value.shape, value.dtype)
    return value.dtype.type(0) if hasattr(value, "dtype") else np.zeros(())[()]


def D(  # noqa: N802 (its name in the mathematics)
    function: Plain,
    forward_pass: Callable[..., tuple[Value, Sequence[Gradient | None]]],
    name: str | None = None,
) -> Function:
    """Return a differentiable version of `function`, which also accepts nodes.

    ``forward_pass(*args)`` returns the result of ``function(*args)`` and one gradient function per
    argument.  The arguments of `forward_pass` are values, which can be nodes of outer tapes.
    Therefore `forward_pass` calls the differentiable version, not `function`.  `name` is the name
    of the operation (default: the name of the function).
    """
    check_function("function", function)
    check_function("forward_pass", forward_pass)
    check_type("name", name, (str, NoneType), "a text")
    operation = name or name_of(function)

    @wraps(function)
    def lifted(*args: object, **kwargs: object) -> Value:
        top = None
        for x in args:
            if isinstance(x, Node) and (top is None or x.tape.priority > top.priority):
                top = x.tape
        if kwargs:
            check_keywords(operation, kwargs, Node)
        if top is None:
            return function(*args, **kwargs)
        values = [x.value if isinstance(x, Node) and x.tape is top else x for x in args]
        result, gradients = forward_pass(*values, **kwargs)
        if top is _SPENT:
            return result
        if type(gradients) is not list or len(gradients) != len(args) or None in gradients:
            on_top = [isinstance(x, Node) and x.tape is top for x in args]
            gradients = check_gradients(operation, gradients, args, on_top)
        parents = [
            (gradient, x)
            for gradient, x in zip(gradients, args, strict=True)
            if isinstance(x, Node) and x.tape is top
        ]
        return top.node(result, top, parents, operation, args)

    lifted.__name__ = operation
    return lifted


def primitive(function: Plain, gradient_maker: GradientMaker, name: str | None = None) -> Function:
    """Return a differentiable version of `function`, defined by its gradient maker.

    ``gradient_maker(y, *args)``, where ``y = function(*args)``, returns a list with one gradient
    function per argument x.  A gradient function maps dC/dy to dC/dx for any cost C.  An argument
    without a gradient function, or with None, cannot be a node.  `function` and `gradient_maker`
    receive the keyword arguments, which are constants.

        >>> cube = primitive(lambda x: x**3, lambda y, x: [lambda g: g * 3 * x**2])
    """
    check_function("gradient_maker", gradient_maker)

    def forward_pass(*args: object, **kwargs: object) -> tuple[Value, Sequence[Gradient | None]]:
        result = lifted(*args, **kwargs)
        try:
            return result, gradient_maker(result, *args, **kwargs)
        except TypeError:
            check_arguments(lifted.__name__, gradient_maker, (result, *args), kwargs)
            raise

    lifted = D(function, forward_pass, name)
    return lifted


#: The registered functions of numpy, and their differentiable versions.
REGISTERED: dict[object, Operand] = {}


def register(theirs: Plain, gradient_maker: GradientMaker) -> Function:
    """Register and return a differentiable version of the NumPy function `theirs`.

    `primitive` describes gradient makers.
    """
    REGISTERED[theirs] = ours = primitive(theirs, gradient_maker)
    return ours


def grad(function: Plain, argnum: int | Sequence[int] = 0) -> Plain:
    """Return a function that computes the gradient of `function` wrt its argument `argnum`.

    `function` returns one real number.  The argument is a real number or an array of real numbers.
    The gradient has the shape of the argument; it is zero if the result does not depend on the
    argument.  For a sequence of argument numbers, the function returns a tuple of gradients.

    Raise ArgumentError if the argument is missing or is not a floating-point value, or if the
    result is not one real number.
    """
    check_function("function", function)
    numbers = check_argnum(argnum)
    several = isinstance(argnum, Sequence)

    @wraps(function)
    def gradient(*args: object, **kwargs: object) -> Value | tuple[Value, ...]:
        for number in numbers:
            check_given(function, args, number)
            check_start(f"argument {number} of {name_of(function)}", value_of(args[number]))
        with new_tape.get()(name_of(function)) as tape:
            starts = {number: tape.node(args[number], tape) for number in numbers}
            end = function(*(starts.get(n, x) for n, x in enumerate(args)), **kwargs)
            check_real_number(function, value_of(end))
            if isinstance(end, Node) and end.tape is tape:
                end.receive(np.ones_like(value_of(end))[()])
                while tape:
                    node = tape.pop()
                    node.send_upstream()
                    node.leave()
            sums = (start.sum_outgrads() for start in starts.values())
            gradients = tuple(_check_result(total, function) for total in sums)
            return gradients if several else gradients[0]

    gradient.__name__ = f"grad({name_of(function)})"
    return gradient


def _check_result(gradient: Value, function: Plain) -> Value:
    """Return a gradient, as an array of its own; raise GradientError if it is complex."""
    if np.iscomplexobj(value_of(gradient)):
        reason = "no rule supports complex numbers; use separate real and imaginary parts."
        raise GradientError(f"{name_of(function)}: {reason}")
    return gradient.copy() if isinstance(gradient, np.ndarray) else gradient


class Setter(NamedTuple):
    """A gradient that is `value` at ``[index]`` and zero elsewhere."""

    index: Any
    value: np.ndarray


def add_into(old: np.ndarray, new: np.ndarray | Setter) -> np.ndarray:
    """Add `new` to `old`, in place if `old` is an array; a `Setter` adds only its entries."""
    if isinstance(new, Setter):
        old = old if isinstance(old, np.ndarray) else np.array(old)
        parts = map(np.asarray, new.index if isinstance(new.index, tuple) else (new.index,))
        if any(part.ndim > 0 and part.dtype.kind != "b" for part in parts):  # entries can repeat
            np.add.at(old, new.index, new.value)
        else:
            old[new.index] += new.value
    else:
        old += new
    return old


#: The differentiable version of `add_into`: both arguments receive the gradient of the sum.
mutating_add = primitive(
    add_into, lambda total, old, new: [lambda g: g, lambda g: g], "mutating_add"
)
