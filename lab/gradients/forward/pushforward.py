"""The forward derivative of a graph: tangents of its outputs from tangents of its inputs.

PyTensor's own forward derivative gives a tangent of zero also to what does not move, and
multiplies it by the derivative there.  Where that is not a number, as with log(x) from x**2
at a negative x, the sum is none either.  Here, what does not move has no tangent.
"""

from collections.abc import Iterator, Sequence

import pytensor.tensor as pt
from pytensor import gradient
from pytensor.gradient import DisconnectedType, NullType, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import Dot

from lab.errors import (
    ArgumentError,
    GradientError,
    GraphError,
    expect,
    first_line,
    listing,
    several,
)
from lab.gradients.forward.series import Carrying, Coefficients, Moving, coefficient, is_empty
from lab.gradients.status import is_continuous

# These leave out an input without a tangent; all other operations take zeros for it.
SKIPPING = (Elemwise, Dot)


def pushforward(
    outputs: Sequence[Variable], wrt: Sequence[Variable], tangents: Sequence[Variable]
) -> tuple[Variable, ...]:
    """J v: the tangent of each output, for the tangents v of the variables `wrt`.

    A tangent has the type of its variable.  An operation without a forward derivative of its
    own is pulled back twice, which comes to the same; Scans get twins for what moves.

    Raises GradientError if a derivative is undefined, GraphError if no output depends on any
    of the variables.
    """
    for name, variables in {"outputs": outputs, "wrt": wrt, "tangents": tangents}.items():
        expect(name, variables, (list, tuple), "a list of PyTensor variables")
        several(name, variables, "a list of PyTensor variables", Variable)
    if len(wrt) != len(tangents):
        raise ArgumentError(
            f"tangents: there are {len(tangents)} for {len(wrt)} variables; expected one for each."
        )
    pairs = zip(wrt, tangents, strict=True)
    fitting = {v: Moving(v, (_fitting(v, tangent),)) for v, tangent in pairs}
    moving = Carrying(push).along(outputs, fitting)
    if not any(output in moving for output in outputs):
        raise GraphError(f"outputs: none of {listing(outputs)} depends on {listing(wrt)}.")
    return tuple(coefficient(moving, v, 1) for v in outputs)


def _fitting(variable: Variable, tangent: Variable) -> Variable:
    """`tangent`, with the type of `variable`."""
    if not is_continuous(variable):
        raise ArgumentError(
            f"wrt = {variable} ({variable.type}): only real or complex variables can be "
            "differentiated by."
        )
    try:
        return variable.type.filter_variable(tangent)
    except TypeError as error:
        raise ArgumentError(
            f"tangents: that of {variable} is {tangent.type}, but should be {variable.type}."
        ) from error


def push(node: Apply, tangents: Sequence[Coefficients]) -> Iterator[Coefficients]:
    """The tangents of the results of a node that is no Scan, from those of its inputs."""
    pairs = [(v, tangent) for v, (tangent,) in zip(node.inputs, tangents, strict=True)]
    moving = {v: tangent for v, tangent in pairs if tangent is not None}
    given = [_at_rest(node, v) if tangent is None else tangent for v, tangent in pairs]
    try:
        try:
            pushed = node.op.pushforward(node.inputs, node.outputs, given)
        except NotImplementedError:
            # the pullback of the pullback, which is linear in the cotangent that it starts from
            wrt, along = list(moving), list(moving.values())
            pushed = gradient.pushforward(node.outputs, wrt, along, use_op_pushforward=False)
            assert isinstance(pushed, list | tuple)  # one for each output
    except (gradient.NullTypeGradError, NotImplementedError, TypeError) as error:
        # PyTensor's marker for an undefined derivative cannot be multiplied: a TypeError
        raise GradientError(
            f"wrt: the derivative of {node.op} by {listing(map(str, moving))} is undefined "
            f"({first_line(error)})."
        ) from error
    for tangent in pushed:
        absent = tangent is None or isinstance(tangent.type, DisconnectedType | NullType)
        yield (None if absent else tangent,)


def _at_rest(node: Apply, variable: Variable) -> Variable:
    """What an operation takes as the tangent of an input that does not move."""
    if isinstance(node.op, SKIPPING) or not is_continuous(variable):
        return disconnected_type()
    return variable if is_empty(variable) else pt.zeros_like(variable)
