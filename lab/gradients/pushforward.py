"""The forward derivative of a graph: tangents of its outputs from tangents of its inputs.

The tangent of a tape is a tape with the same taps, which the loop fills beside it, in the same
direction; `Tape.reverse` belongs to cotangents only.  So the forward derivative of a Scan is
that Scan with a twin for everything that moves.

PyTensor's own forward derivative gives a tangent of zero also to what does not move, and
multiplies it by the derivative there.  Where that is not a number, as with log(x) from x**2
at a negative x, the sum is none either.  Here, what does not move has no tangent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytensor.tensor as pt
from pytensor import gradient
from pytensor.gradient import DisconnectedType, NullType, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import toposort
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import Dot

from lab.errors import (
    ArgumentError,
    GradientError,
    GraphError,
    KindError,
    first_line,
    listing,
    quoted,
)
from lab.gradients.status import cast_like, is_continuous
from lab.scans.node import LoopVariable, ScanParts, build_scan, is_scan, outer_outputs, read_scan
from lab.tape import Kind

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
        if not isinstance(variables, list | tuple) or not all(
            isinstance(variable, Variable) for variable in variables
        ):
            raise KindError(f"{name} = {quoted(variables)}: expected a list of PyTensor variables.")
    if len(wrt) != len(tangents):
        raise ArgumentError(
            f"tangents: there are {len(tangents)} for {len(wrt)} variables; expected one for each."
        )
    fitting = {v: _fitting(v, tangent) for v, tangent in zip(wrt, tangents, strict=True)}
    moving = _push(outputs, fitting)
    if not any(output in moving for output in outputs):
        raise GraphError(f"outputs: none of {listing(outputs)} depends on {listing(wrt)}.")
    return tuple(moving[v] if v in moving else pt.zeros_like(v) for v in outputs)


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


def _push(
    outputs: Sequence[Variable], tangents: Mapping[Variable, Variable]
) -> dict[Variable, Variable]:
    """The tangents of everything that moves, on the way to the outputs."""
    moving = dict(tangents)
    for node in toposort(outputs, blockers=set(tangents)):
        if not any(v in moving for v in node.inputs):
            continue
        tangents_of = _scan_tangents if is_scan(node) else _node_tangents
        for output, tangent in tangents_of(node, moving).items():
            if output not in moving and is_continuous(output):
                moving[output] = output.type.filter_variable(cast_like(tangent, output))
    return moving


def _node_tangents(node: Apply, moving: Mapping[Variable, Variable]) -> dict[Variable, Variable]:
    """The tangents of the outputs of a node that is no Scan."""
    given = [moving[v] if v in moving else _at_rest(node, v) for v in node.inputs]
    try:
        try:
            pushed = node.op.pushforward(node.inputs, node.outputs, given)
        except NotImplementedError:
            pushed = _pulled_back_twice(node, moving)
    except (gradient.NullTypeGradError, NotImplementedError, TypeError) as error:
        # PyTensor's marker for an undefined derivative cannot be multiplied: a TypeError
        moved = listing(str(v) for v in node.inputs if v in moving)
        raise GradientError(
            f"wrt: the derivative of {node.op} by {moved} is undefined ({first_line(error)})."
        ) from error
    return {
        output: tangent
        for output, tangent in zip(node.outputs, pushed, strict=True)
        if tangent is not None and not isinstance(tangent.type, DisconnectedType | NullType)
    }


def _at_rest(node: Apply, variable: Variable) -> Variable:
    """What an operation takes as the tangent of an input that does not move."""
    if isinstance(node.op, SKIPPING) or not is_continuous(variable):
        return disconnected_type()
    if variable.owner is not None and isinstance(variable.owner.op, AllocEmpty):
        return variable  # what nobody has written has a tangent that nobody has written
    return pt.zeros_like(variable)


def _pulled_back_twice(
    node: Apply, moving: Mapping[Variable, Variable]
) -> Sequence[Variable | None]:
    """J v as the pullback of the pullback, which is linear in the cotangent it starts from."""
    wrt = [v for v in node.inputs if v in moving]
    tangents = [moving[v] for v in wrt]
    pushed = gradient.pushforward(node.outputs, wrt, tangents, use_op_pushforward=False)
    assert isinstance(pushed, list | tuple)  # one for each output
    return pushed


def _scan_tangents(node: Apply, moving: Mapping[Variable, Variable]) -> dict[Variable, Variable]:
    """The tangents of the outputs of a Scan: of another Scan, with twins for what moves."""
    parts = read_scan(node.op, node.inputs, node.outputs)
    twins = _twins(parts, moving)
    made = replace(
        parts,
        name=f"tangent_of_{parts.name}",
        variables=(*parts.variables, *twins.values()),
    )
    filled = outer_outputs(made, build_scan(made))
    return {part.filled: filled[twin] for part, twin in twins.items() if twin in filled}


def _twins(
    parts: ScanParts, moving: Mapping[Variable, Variable]
) -> dict[LoopVariable, LoopVariable]:
    """For every variable that moves in the loop, another one for its tangent."""
    moved = {part for part in parts.variables if part.inner_inputs and part.outer_input in moving}
    while True:
        arguments = {
            v: v.type(name=f"d{v.name}")
            for part in parts.variables
            for v in part.inner_inputs
            if part in moved
        }
        inner = _push(parts.inner_outputs, arguments)
        reached = {s for s in parts.states if any(v in inner for v in s.inner_outputs)}
        if reached <= moved:
            break
        moved |= reached
    twins = {}
    for part in parts.variables:
        if part in moved:
            like = part.outer_input
            outer = like.type.filter_variable(moving[like]) if like in moving else None
            outer = pt.zeros_like(like) if outer is None else outer
        elif part.kind is Kind.NIT_SOT and any(v in inner for v in part.inner_outputs):
            outer = part.outer_input  # the number of rows
        else:
            continue
        twins[part] = replace(
            part,
            name=f"d{part.name}",
            outer_input=outer,
            inner_inputs=tuple(arguments[v] for v in part.inner_inputs),
            inner_outputs=tuple(
                inner[v] if v in inner else pt.zeros_like(v) for v in part.inner_outputs
            ),
            outer_output=None,
        )
    return twins
