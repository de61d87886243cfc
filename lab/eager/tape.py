"""The eager tape: reverse derivatives of plain Python, written down while it runs.

A Scan's tape is laid out before the loop runs.  Here the program runs first, and every
operation on a `Node` appends a new node to a `Tape`; the tape is then read backwards and
emptied.  The whole algorithm is in this file:

- `grad` opens a tape, runs the function on a start node, and takes the tape back down;
- `D` lifts a function to nodes, `primitive` does so with a gradient maker;
- a `Node` sums what arrives in its outgoing gradients and sends it upstream;
- `mutating_add` forms that sum in place, and a `Setter` is a gradient for some entries only.

Gradients are computed by the same lifted functions, so they are recorded by every tape
further out, and ``grad(grad(f))`` is the second derivative.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from threading import Lock
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from lab.eager.checks import (
    bad_setter,
    check_argnum,
    check_arguments,
    check_given,
    check_gradients,
    check_keywords,
    check_real_gradient,
    check_real_number,
    check_start,
    name_of,
)
from lab.errors import check_function, check_type

#: What a rule computes with: numbers and arrays, and nodes of them where a tape records the rule.
Value = Union[np.ndarray, "Node"]
Operand = Any  # the other side of a sign, or an index: whatever this side takes
Plain = Callable[..., Any]  # a function of numpy, or a user's
Function = Callable[..., Value]
Gradient = Callable[[Value], Value]
Gradients = list[Gradient | None]
GradientMaker = Callable[..., Sequence[Gradient | None]]


class Tape(list["Node"]):
    """The nodes of one run of `function`, in the order in which they were made; a priority.

    Where two tapes meet in one operation, the one of higher priority records it first.  A
    new tape lies above every tape that is active, in any thread.  (Above the tapes of the
    arguments is not enough: a function may also use a node of its surroundings.)
    """

    node: "type[Node]"
    priority = 0

    def __init__(self, function: str = "") -> None:
        super().__init__()
        self.function = function

    def __enter__(self) -> "Tape":
        with _LOCK:
            self.priority = next_priority()
            _ACTIVE.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        with _LOCK:
            _ACTIVE.remove(self)
        while self:
            self.pop().leave()

    # Two tapes are never the same one, even when both are empty.
    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]


_ACTIVE: list[Tape] = []
_LOCK = Lock()
_SPENT = Tape()  # where nodes go when their tape is done; its priority 0 is below all others
new_tape: ContextVar[Callable[[str], Tape]] = ContextVar("new_tape", default=Tape)


def next_priority() -> int:
    """The priority of a new tape: above every active one."""
    return 1 + max((tape.priority for tape in _ACTIVE), default=0)


class Node:
    """A value on a tape.

    `parent_operations` are pairs of a gradient function and the parent that it sends to;
    `outgrads` are the gradients that have arrived so far; `operation` is the name of the
    function that made the value.  The value is itself a node where a tape further out also
    records.  `arguments` are there for tapes that note them; a node does not keep them.
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
        # numpy's numbers divide by zero and take roots as arrays do; Python's do not
        self.value: Any = np.float64(value) if type(value) is float else value
        self.tape = tape
        self.parent_operations = parent_operations
        self.operation = operation
        self.outgrads: list[Value] = []
        tape.append(self)

    def send_upstream(self) -> None:
        """Sum the gradients that arrived, and send every parent its share."""
        if self.outgrads and self.parent_operations:
            total = self.sum_outgrads()
            for gradient, parent in self.parent_operations:
                parent.outgrads.append(gradient(total))

    def sum_outgrads(self) -> Value:
        """The sum of the gradients that arrived: a lone one as it is, several into zeros."""
        if len(self.outgrads) == 1 and not isinstance(value_of(self.outgrads[0]), Setter):
            return self.outgrads[0]
        total = zeros_like(self)
        for new in self.outgrads:
            total = mutating_add(total, new)
        return total

    def leave(self) -> None:
        """Keep the value alone: from now on this node is a constant."""
        self.tape = _SPENT
        self.parent_operations = ()

    if TYPE_CHECKING:  # `lab.eager.operators` sets them, and more

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
    """The plain value of a node, through all its tapes; anything else as it is."""
    while isinstance(x, Node):
        x = x.value
    return x


def zeros_like(x: object) -> Value:
    """Zero in the shape and dtype of the value of `x`.

    For a `Setter` it is the number 0: gradients of one are whole arrays, which 0 takes on.
    """
    value = value_of(x)
    if isinstance(value, np.ndarray):
        return np.zeros(value.shape, value.dtype)
    return value.dtype.type(0) if hasattr(value, "dtype") else np.zeros(())[()]


def D(  # noqa: N802 (its name in the mathematics)
    function: Plain,
    forward_pass: Callable[..., tuple[Value, Sequence[Gradient | None]]],
    name: str | None = None,
) -> Function:
    """The differentiable version of `function`, which takes nodes wherever it takes numbers.

    ``forward_pass(*args)`` returns what ``function(*args)`` does, and one gradient function
    for each argument.  It sees the values on the top tape; those may be nodes of tapes
    further out, for which it calls the differentiable version again.  `name` is what to call
    the operation, if not by the name of the function.
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
    """`function`, made differentiable by its gradient maker.

    ``gradient_maker(y, *args)``, where ``y = function(*args)``, returns a list with one
    function for each argument x, which maps dC/dy to dC/dx for any cost C.  Arguments at the
    end of the list may be left out, and others be None: those cannot be nodes.  Keyword
    arguments are handed to both and never differentiated.

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


def grad(function: Plain, argnum: int | Sequence[int] = 0) -> Plain:
    """The function that returns the gradient of `function` by its argument `argnum`.

    `function` returns one real number.  The argument is a real number or an array of real numbers.
    The gradient has its shape, and is zero where the result does not depend on it.  For several
    numbers of arguments there is a tuple of gradients.

    Raises ArgumentError if there is no such argument, if it is not real (an integer cannot
    be moved a little), or if the result is not one real number.
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
                end.outgrads.append(np.ones_like(value_of(end))[()])
                while tape:
                    node = tape.pop()
                    node.send_upstream()
                    node.leave()
            sums = (start.sum_outgrads() for start in starts.values())
            gradients = tuple(_handed_over(total, function) for total in sums)
            return gradients if several else gradients[0]

    gradient.__name__ = f"grad({name_of(function)})"
    return gradient


def _handed_over(gradient: Value, function: Plain) -> Value:
    """The gradient as its receiver may use it: real, and an array that can be written to."""
    check_real_gradient(function, value_of(gradient))
    if isinstance(gradient, np.ndarray) and not gradient.flags.writeable:
        return gradient.copy()  # it was one number, seen as a whole array
    return gradient


class Setter(NamedTuple):
    """A gradient that is `value` at ``[index]`` and zero elsewhere."""

    index: Any
    value: np.ndarray


def add_into(old: np.ndarray, new: np.ndarray | Setter) -> np.ndarray:
    """`old` + `new`, in place if `old` is an array; of a `Setter` its entries alone."""
    if isinstance(new, Setter):
        old = old if isinstance(old, np.ndarray) else np.array(old)
        try:
            if _may_repeat(new.index):
                np.add.at(old, new.index, new.value)
            else:
                old[new.index] += new.value
        except (IndexError, ValueError) as error:
            raise bad_setter(old, new, error) from error
    else:
        old += new
    return old


def _may_repeat(index: object) -> bool:
    """Whether an index may name an entry twice: a sequence can, unless it is a mask."""
    for part in index if isinstance(index, tuple) else (index,):
        single = part is None or part is Ellipsis or isinstance(part, int | slice)
        if not single and np.asarray(part).ndim and np.asarray(part).dtype.kind != "b":
            return True
    return False


#: Add `new` to `old`, in place if `old` is an array; a `Setter` adds to its entries only.
#: Both gradients are that of the sum, so that sums of gradients are differentiable again.
mutating_add = primitive(
    add_into, lambda total, old, new: [lambda g: g, lambda g: g], "mutating_add"
)
