"""Taking entries of an array, and the sparse gradient that goes back to them.

``take`` and ``untake`` are each the gradient of the other.
"""

from typing import Any

from lab.eager.tape import Function, Setter, primitive


def _take(a: Any, index: Any) -> Any:
    return a[index]


def _untake(x: Any, index: Any) -> Setter:
    return Setter(index, x)


#: ``a[index]``; its gradient is a `Setter`, which is nothing but in the entries taken.
take: Function = primitive(_take, lambda y, a, index: [lambda g: untake(g, index)], "take")

#: The gradient `x` for the entries at `index`, and zero elsewhere, without the zeros.
untake: Function = primitive(_untake, lambda y, x, index: [lambda g: take(g, index)], "untake")
