"""The forward derivative of a graph: tangents of its outputs from tangents of its inputs.

PyTensor builds it; the forward derivative of a Scan is again a Scan, which runs in the same
direction and carries, beside every state, its tangent.  It shares nothing with our pullback,
so each can be held against the other: see `lab.dot_product`.
"""

from collections.abc import Sequence

from pytensor import gradient
from pytensor.gradient import DisconnectedInputError, NullTypeGradError
from pytensor.graph.basic import Variable

from lab.cotangent import is_continuous
from lab.errors import ArgumentError, GradientError, GraphError, first_line


def pushforward(
    outputs: Sequence[Variable],
    wrt: Sequence[Variable],
    tangents: Sequence[Variable],
    twice: bool = False,
) -> tuple[Variable, ...]:
    """J v: the tangent of each output, for the tangents v of the variables `wrt`.

    A tangent has the type of its variable.  An operation without a forward derivative of its
    own is refused, unless `twice` builds J as the pullback of the pullback, which is linear
    in the cotangent that it starts from; Scans then run there and back, twice.

    Raises GradientError if there is no such derivative, GraphError if an output depends on
    none of the variables.
    """
    if len(wrt) != len(tangents):
        raise ArgumentError(
            f"tangents: there are {len(tangents)} for {len(wrt)} variables; expected one for each."
        )
    for variable, tangent in zip(wrt, tangents, strict=True):
        if not is_continuous(variable):
            raise ArgumentError(
                f"wrt = {variable} ({variable.type}): only real or complex variables can be "
                "differentiated by."
            )
        if not variable.type.is_super(tangent.type):
            raise ArgumentError(
                f"tangents: that of {variable} is {tangent.type}, but should be {variable.type}."
            )
    try:
        found = gradient.pushforward(
            list(outputs), list(wrt), list(tangents), use_op_pushforward=not twice
        )
    except DisconnectedInputError as error:
        raise GraphError(f"outputs: one of them depends on none of {list(wrt)}.") from error
    except NullTypeGradError as error:
        raise GradientError(f"wrt = {list(wrt)}: the derivative is undefined. {error}") from error
    except (NotImplementedError, TypeError) as error:
        # a TypeError is raised where the derivative by something that does not move is undefined
        raise GradientError(
            f"wrt = {list(wrt)}: PyTensor has no forward derivative here ({first_line(error)})"
            + ("." if twice else "; build it as the pullback of the pullback, with twice=True.")
        ) from error
    return tuple(found)
