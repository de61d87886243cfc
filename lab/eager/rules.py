"""Register differentiable versions of numpy functions.

`rule` registers a function with a gradient maker; `composed` registers a function that consists
of other registered functions.
"""

from collections.abc import Callable
from functools import wraps

from lab.eager.checks import check_arguments, name_of
from lab.eager.tape import Function, GradientMaker, Node, Operand, Plain, Value, primitive

#: The differentiable version of each function of numpy.
REGISTERED: dict[object, Operand] = {}


def rule(theirs: Plain, gradient_maker: GradientMaker) -> Function:
    """Register and return a differentiable version of a NumPy function.

    `primitive` describes gradient makers.
    """
    REGISTERED[theirs] = ours = primitive(theirs, gradient_maker)
    return ours


def composed(theirs: Plain) -> Callable[[Plain], Function]:
    """Register a differentiable version of a numpy function that calls other versions.

    The decorated function calls numpy's function if no argument is a node.
    """

    def register(function: Plain) -> Function:
        @wraps(function)
        def lifted(*args: object, **kwargs: object) -> Value:
            if not any(isinstance(x, Node) for x in (*args, *kwargs.values())):
                return theirs(*args, **kwargs)
            try:
                return function(*args, **kwargs)
            except TypeError:
                check_arguments(name_of(theirs), function, args, kwargs)
                raise

        REGISTERED[theirs] = lifted
        return lifted

    return register
