"""The forward derivative of a graph: tangents of its outputs from tangents of its inputs.

PyTensor's own forward derivative gives a tangent of zero also to what does not move, and
multiplies it by the derivative there.  Where that is not a number, as with log(x) from x**2
at a negative x, the sum is none either.  Here, what does not move has no tangent.
"""

from collections.abc import Iterable, Iterator, Sequence

import pytensor.tensor as pt
from pytensor import gradient
from pytensor.compile.ops import view_op
from pytensor.configdefaults import config
from pytensor.gradient import DisconnectedType, NullType, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import Dot

from lab.errors import (
    ArgumentError,
    GradientError,
    GraphError,
    check_sequence,
    check_type,
    first_line,
    listing,
)
from lab.gradients.forward.series import Carrying, Coefficients, Jet, coefficient, is_empty
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
        check_type(name, variables, (list, tuple), "a list of PyTensor variables")
        check_sequence(name, variables, "a list of PyTensor variables", Variable)
    if len(wrt) != len(tangents):
        raise ArgumentError(
            f"tangents: there are {len(tangents)} for {len(wrt)} variables; expected one for each."
        )
    pairs = zip(wrt, tangents, strict=True)
    fitting = {v: Jet(v, (_fitting(v, tangent),)) for v, tangent in pairs}
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
            pushed = _transpose_pullback(node, [tangent for _, tangent in pairs])
    except (gradient.NullTypeGradError, NotImplementedError, TypeError) as error:
        # PyTensor's marker for an undefined derivative cannot be multiplied: a TypeError
        raise GradientError(
            f"wrt: the derivative of {node.op} by {listing(map(str, moving))} is undefined "
            f"({first_line(error)})."
        ) from error
    for tangent in pushed:
        absent = tangent is None or isinstance(tangent.type, DisconnectedType | NullType)
        yield (None if absent else tangent,)


def _transpose_pullback(
    node: Apply, tangents: Sequence[Variable | None]
) -> Iterable[Variable | None]:
    """Derive the pushforward of a node from its pullback, which is linear in the cotangents.

    The tangents of the results are the gradient of Σ <x̄, dx> with respect to the cotangents of the
    results, where x̄ is the gradient of the input x (J. Towns, "A new trick for calculating Jacobian
    vector products", 2017).
    """
    cotangents = [
        pt.zeros_like(v, dtype=config.floatX) if is_continuous(v) else disconnected_type()
        for v in node.outputs
    ]
    # The pullback of this operation only.  `grad` with respect to its inputs would also go from one
    # input to the operations that compute it, and through them to another input.
    gradients = node.op.pullback(node.inputs, node.outputs, cotangents)
    known: dict[Variable, Variable] = {}
    for x_bar, dx in zip(gradients, tangents, strict=True):
        if dx is None or isinstance(x_bar.type, DisconnectedType):
            continue
        if isinstance(x_bar.type, NullType):
            raise gradient.NullTypeGradError(x_bar.type.why_null)
        # `known_grads` replaces the gradient of a variable, also where another x̄ is computed from
        # this one, as A's from that of b in solve(A, b): with the view both contribute.
        known[view_op.make_node(x_bar).outputs[0]] = dx
    real = [v for v in cotangents if not isinstance(v.type, DisconnectedType)]
    pushed = gradient.grad(None, real, known_grads=known, disconnected_inputs="ignore")
    assert isinstance(pushed, list)  # one for each cotangent
    by_cotangent = dict(zip(real, pushed, strict=True))
    return [by_cotangent.get(v) for v in cotangents]


def _at_rest(node: Apply, variable: Variable) -> Variable:
    """What an operation takes as the tangent of an input that does not move."""
    if isinstance(node.op, SKIPPING) or not is_continuous(variable):
        return disconnected_type()
    return variable if is_empty(variable) else pt.zeros_like(variable)
