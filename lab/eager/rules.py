"""Which function of numpy has which differentiable version, and how one is given to it.

`rule` gives a function of numpy a gradient maker; `composed` names a function that is written
with others that have one, and needs none of its own.
"""

from collections.abc import Callable
from functools import wraps

from lab.eager.checks import check_arguments, name_of
from lab.eager.tape import Function, GradientMaker, Node, Operand, Plain, Value, primitive

#: The differentiable version of every function of numpy that has one.
REGISTERED: dict[object, Operand] = {}


def rule(theirs: Plain, gradient_maker: GradientMaker) -> Function:
    """The differentiable version of a function of numpy, by a gradient maker (see `primitive`)."""
    REGISTERED[theirs] = ours = primitive(theirs, gradient_maker)
    return ours


def composed(theirs: Plain) -> Callable[[Plain], Function]:
    """Decorator: the differentiable version of a function of numpy, composed of other versions.

    Without a node in its arguments, numpy's own function is called.
    """

    def register(function: Plain) -> Function:
        @wraps(function)
        def lifted(*args: object, **kwargs: object) -> Value:
            if not holds_node(args) and not holds_node([*kwargs.values()]):
                return theirs(*args, **kwargs)
            try:
                return function(*args, **kwargs)
            except TypeError:
                check_arguments(name_of(theirs), function, args, kwargs)
                raise

        REGISTERED[theirs] = lifted
        return lifted

    return register


def holds_node(entries: object) -> bool:
    """Whether there is a node in it: in lists and tuples, however deep."""
    if isinstance(entries, list | tuple):
        return any(map(holds_node, entries))
    return isinstance(entries, Node)
