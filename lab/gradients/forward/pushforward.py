"""Compute the tangents of outputs from the tangents of inputs: derivatives in forward mode.

PyTensor's forward derivative multiplies the local derivative wrt a constant by a tangent of zero.
If the local derivative is nan, as for the exponent of x**2 at negative x, the sum is nan.  Here, a
constant has no tangent.
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
    GradientError,
    GraphError,
    argument_error,
    check_sequence,
    check_type,
    first_line,
    listing,
)
from lab.gradients.forward.series import Coefficients, Jet, JetPropagation, coefficient
from lab.gradients.status import gradients_or_zeros, is_continuous
from lab.scans.buffers import is_empty

# Operations that accept an input without a tangent.  Other operations receive zeros.
SKIPPING = (Elemwise, Dot)


def pushforward(
    outputs: Sequence[Variable], wrt: Sequence[Variable], tangents: Sequence[Variable]
) -> tuple[Variable, ...]:
    """Return J v: the tangents of the outputs for the tangents v of the variables `wrt`.

    A tangent has the type of its variable.  The pushforward of an operation without a forward
    derivative is computed from two pullbacks.  The pushforward of a Scan is a Scan with an added
    variable for each tangent.

    Raises GradientError if a derivative is undefined, GraphError if no output depends on the
    variables, and ArgumentError for an invalid argument.
    """
    for name, variables in {"outputs": outputs, "wrt": wrt, "tangents": tangents}.items():
        check_type(name, variables, (list, tuple), "a list of PyTensor variables")
        check_sequence(name, variables, "a list of PyTensor variables", Variable)
    if len(wrt) != len(tangents):
        reason = f"expected {len(wrt)}, one for each variable of wrt, got {len(tangents)}."
        raise argument_error("tangents", tangents, reason)
    pairs = zip(wrt, tangents, strict=True)
    fitting = {v: Jet(v, (cast_tangent("tangents", v, tangent),)) for v, tangent in pairs}
    jets = JetPropagation(push).propagate(outputs, fitting)
    if not any(output in jets for output in outputs):
        raise GraphError(f"outputs: none of {listing(outputs)} depends on {listing(wrt)}.")
    return tuple(coefficient(jets, v, 1) for v in outputs)


def cast_tangent(argument: str, variable: Variable, tangent: Variable) -> Variable:
    """Convert `tangent` to the type of `variable`; raise ArgumentError if that fails."""
    if not is_continuous(variable):
        reason = f"expected a floating-point variable, got {variable.type}."
        raise argument_error("wrt", variable, reason)
    try:
        return variable.type.filter_variable(tangent)
    except TypeError:
        reason = f"expected type {variable.type} of {variable}, got {tangent.type}."
        raise argument_error(argument, tangent, reason) from None


def push(node: Apply, tangents: Sequence[Coefficients]) -> Iterator[Coefficients]:
    """Yield the tangents of the results of a node other than a Scan, or raise GradientError."""
    pairs = [(v, tangent) for v, (tangent,) in zip(node.inputs, tangents, strict=True)]
    with_tangents = {v: tangent for v, tangent in pairs if tangent is not None}
    given = [_zero_tangent(node, v) if tangent is None else tangent for v, tangent in pairs]
    try:
        try:
            pushed = node.op.pushforward(node.inputs, node.outputs, given)
        except NotImplementedError:
            pushed = _transpose_pullback(node, [tangent for _, tangent in pairs])
    except (gradient.NullTypeGradError, NotImplementedError, TypeError) as error:
        # A product with PyTensor's marker of an undefined derivative is a TypeError.
        by, reason = listing(map(str, with_tangents)), first_line(error)
        message = f"wrt: the derivative of {node.op} wrt {by} is undefined ({reason})."
        raise GradientError(message) from error
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
    # This is the pullback of a single operation.  `grad` wrt its inputs would also differentiate
    # the operations that compute one input from another input.
    gradients = node.op.pullback(node.inputs, node.outputs, cotangents)
    known: dict[Variable, Variable] = {}
    for x_bar, dx in zip(gradients, tangents, strict=True):
        if dx is None or isinstance(x_bar.type, DisconnectedType):
            continue
        if isinstance(x_bar.type, NullType):
            raise gradient.NullTypeGradError(x_bar.type.why_null)
        # `known_grads` replaces the gradient of a variable.  In solve(A, b), x̄ of A is computed
        # from x̄ of b, which therefore needs both gradients; the view of x̄ separates them.
        known[view_op.make_node(x_bar).outputs[0]] = dx
    real = [v for v in cotangents if not isinstance(v.type, DisconnectedType)]
    pushed = dict(zip(real, gradients_or_zeros(known, real), strict=True))
    return [pushed.get(v) for v in cotangents]


def _zero_tangent(node: Apply, variable: Variable) -> Variable:
    """Return the substitute for a missing tangent: zeros, or PyTensor's disconnected type."""
    if isinstance(node.op, SKIPPING) or not is_continuous(variable):
        return disconnected_type()
    return variable if is_empty(variable) else pt.zeros_like(variable)
