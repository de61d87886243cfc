"""Which function of numpy has which differentiable version, and how one is given to it.

`rule` gives a function of numpy a gradient maker; `composed` names a function that is written
with others that have one, and needs none of its own.
"""

from collections.abc import Callable
from functools import wraps

from lab.eager.checks import check_arguments, name_of
from lab.eager.tape import (
    Function,
    GradientMaker,
    Node,
    Operand,
    Plain,
    Value,
    map_leaves,
    primitive,
    value_of,
)
from lab.errors import LabError

#: The differentiable version of every function of numpy that has one.
REGISTERED: dict[object, Operand] = {}


def rule(theirs: Plain, gradient_maker: GradientMaker) -> Function:
    """The differentiable version of a function of numpy, by a gradient maker (see `primitive`)."""
    REGISTERED[theirs] = ours = primitive(theirs, gradient_maker)
    return ours


def composed(*theirs: Plain) -> Callable[[Plain], Function]:
    """A decorator: the differentiable version of functions of numpy, made of such versions.

    Where there are no nodes, numpy's own function is called; and where there is an error, to
    tell what it refuses.
    """

    def register(function: Plain) -> Function:
        @wraps(function)
        def lifted(*args: object, **kwargs: object) -> Value:
            if not holds_node(args) and not holds_node([*kwargs.values()]):
                return theirs[0](*args, **kwargs)
            try:
                return function(*args, **kwargs)
            except (TypeError, ValueError, IndexError) as error:
                if not isinstance(error, LabError):
                    theirs[0](*map_leaves(_plain, args), **map_leaves(_plain, kwargs))
                    check_arguments(name_of(theirs[0]), function, args, kwargs)
                raise

        REGISTERED.update(dict.fromkeys(theirs, lifted))
        return lifted

    return register


def _plain(x: object, _: str) -> object:
    return value_of(x)


def holds_node(entries: object) -> bool:
    """Whether there is a node in it: in lists and tuples, however deep."""
    if isinstance(entries, list | tuple):
        return any(map(holds_node, entries))
    return isinstance(entries, Node)
