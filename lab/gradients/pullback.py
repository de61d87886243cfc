"""Build the reverse derivative of a Scan, which is another Scan, in eleven phases.

The derivative of a loop runs the steps backward.  Every backward step reads the gradients of the
values that the forward step wrote, and multiplies these gradients by the local derivatives.  The
step accumulates the products in the gradients of the values that the forward step read.  Every loop
variable is a tape, and the reverse of a tape is a tape (`Tape.reverse`).  Therefore the result is a
loop of the same kind, which can be differentiated again.

`derive` returns a `Derivation` with the results of each phase.  `pullback` returns the gradients
only, with the arguments of ``Scan.pullback``.

The phases of "How Scan.L_op Works" (R. P. Vieira, 2026) are: 1. count the steps; 2. classify the
variables; 3. differentiate the step, 4. with placeholders, 5. and with known gradients; 6. choose
the taps that accumulate; 7. reverse the sequences; 8. build the mit-mots; 9. build the remaining
outputs; 10. construct the backward Scan; 11. reorder its outputs.

Forward values are read from the filled buffers of the forward Scan.  If a buffer no longer contains
a value that a step has read, the forward Scan runs again (see `lab.gradients.rows`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import compress

import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.scan.op import Scan
from pytensor.tensor.type import TensorType, integer_dtypes
from pytensor.tensor.variable import TensorVariable

from lab.errors import (
    GradientError,
    KindError,
    argument_error,
    check_sequence,
    check_type,
    first_line,
)
from lab.gradients import rows
from lab.gradients.decisions import (
    RULE,
    BackwardVariable,
    PullbackRule,
    StepCount,
    Task,
    relation_of,
)
from lab.gradients.derivation import Derivation
from lab.gradients.status import (
    Disconnected,
    ThroughUntraced,
    Undefined,
    gradient_dtype,
    marker,
    status_of,
    with_shape_of,
)
from lab.gradients.step import classify, differentiate_step
from lab.gradients.tapes import remaining_outputs, reverse_state
from lab.progress import pause
from lab.scans.buffers import as_tensor, is_freshly_allocated
from lab.scans.node import (
    LoopVariable,
    ScanParts,
    TapeScan,
    build_scan,
    label,
    outer_outputs,
    read_scan,
    variable_names,
    with_initial_values,
)
from lab.scans.slices import constant_value
from lab.tape import Kind


def pullback(
    op: Scan,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    output_gradients: Sequence[Variable],
) -> list[Variable]:
    """Return the gradients wrt all `inputs` of a Scan, with the arguments of ``Scan.pullback``.

    For outputs y = scan(x) and output gradients g, the gradient of input i is
    ``sum_j g[j] * d y[j] / d x[i]``, or PyTensor's marker for a disconnected or undefined gradient.
    """
    return list(derive(op, inputs, outputs, output_gradients).gradients)


TapeScan.pullback = pullback  # type: ignore[method-assign]


def derive(
    op: Scan,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    output_gradients: Sequence[Variable],
    rule: PullbackRule | None = None,
) -> Derivation:
    """Build the reverse derivative of a Scan, and record the results of each phase.

    The first four arguments are the arguments of `pullback`.  `rule` can be a faulty rule, for
    demonstrations; derivatives of the result follow the same rule.

    Raises GradientError for a loop with an until condition and no output that counts its steps, for
    a mit-mot with a write tap below all read taps, and if PyTensor cannot differentiate the step.
    Raises BroadcastError if a step changes the broadcastable dimensions of a state, and
    ArgumentError for an invalid argument.
    """
    pause()
    check_type("op", op, Scan, "the op of a Scan's node")
    if rule is not None:
        check_type("rule", rule, PullbackRule, "a PullbackRule, such as lab.BROKEN[…].rule")
    inputs = _variables("inputs", inputs, op.n_outer_inputs)
    outputs = _variables("outputs", outputs, op.n_outer_outputs)
    output_gradients = _variables("output_gradients", output_gradients, op.n_outer_outputs)
    if getattr(inputs[0].type, "dtype", "") not in integer_dtypes:
        expected = "expected the number of steps, an integer, first."
        raise argument_error("inputs", inputs[0], expected)
    try:
        given = {v: with_shape_of(g, v) for v, g in zip(outputs, output_gradients, strict=True)}
    except TypeError as error:
        reason = f"expected a gradient of its type for each output: {first_line(error)}."
        raise KindError(f"output_gradients: {reason}") from error
    if rule is None:
        own = op.rule if isinstance(op, TapeScan) else None
        rule = own if isinstance(own, PullbackRule) else RULE
    forward = read_scan(op, inputs, outputs)
    steps, order = _count_steps(forward), _order(op, output_gradients)  # phase 1
    task = Task(op=op, forward=forward, given=given, steps=steps, order=order, rule=rule)
    derivation = _build_derivation(task)
    if derivation.node is not None:
        op = derivation.node.op
        label(op, variable_names(op), derivation)
    return derivation


def _order(op: Scan, output_gradients: Sequence[Variable]) -> int:
    """Return the order of the derivative of `op`.

    The order is higher than the order of `op`, and at least the order of every Scan on which
    the output gradients depend.
    """
    own = relation_of(op)
    nodes = {v.owner for v in ancestors(list(output_gradients)) if v.owner is not None}
    orders = (relation.order for node in nodes if (relation := relation_of(node.op)) is not None)
    return max([own.order + 1 if own else 1, *orders])


def _build_derivation(task: Task) -> Derivation:
    """Build the derivative of a Scan: phases 2 to 11."""
    classes = classify(task.forward, task.given)
    step = differentiate_step(task.forward, classes)  # phases 3, 4, and 5
    pause()
    states = tuple(  # phases 6 and 8
        reverse_state(task, step, state)
        for state in task.forward.states
        if state in classes.reached and not step.undefined(state)
    )
    totals = remaining_outputs(task, step)  # phase 9
    readings = rows.reverse_sequences(task, step, (*states, *totals))  # phase 7
    backward = _assemble(task, (*readings, *states, *totals))
    node = build_scan(backward, rule=task.rule) if states or totals else None  # phase 10
    build = partial(Derivation, task.forward, backward, task.order, classes=classes, step=step)
    derivation = build(states=states, readings=readings, totals=totals, steps=task.steps, node=node)
    pause()
    return replace(derivation, gradients=_reorder(task, derivation))  # phase 11


def _variables(argument: str, given: object, count: int) -> tuple[Variable, ...]:
    """Return `given` as a tuple; raise ArgumentError unless it contains `count` variables."""
    variables = check_sequence(argument, given, "a list of PyTensor variables", Variable)
    if len(variables) != count:
        raise argument_error(argument, given, f"expected {count} variables, as this Scan has.")
    return variables


def _count_steps(forward: ScanParts) -> StepCount:
    """Phase 1: return the numbers of forward steps and of backward steps."""
    if forward.until is None:
        count, source = forward.n_steps, "the input n_steps of the loop"
    else:
        count, source = _count_until_steps(forward)
    limit = forward.truncate_gradient
    if limit == -1:
        return StepCount(count, count, source)
    known = constant_value(count)
    limited = pt.minimum(count, limit) if known is None else pt.constant(min(known, limit))
    return StepCount(count, limited, f"{source}, but at most truncate_gradient = {limit}")


def _count_until_steps(forward: ScanParts) -> tuple[TensorVariable, str]:
    """Return the number of steps of an until loop and its source, or raise GradientError."""
    for part in forward.of_kind(Kind.NIT_SOT):
        if part.outer_input is forward.n_steps:
            return part.filled.shape[0], f"the rows of the output {part.name}"
    for part in forward.of_kind(Kind.SIT_SOT, Kind.MIT_SOT):
        source = f"the rows of the state {part.name}, less its initial values"
        if is_freshly_allocated(part.outer_input, forward.n_steps, part.tape.origin):
            return part.filled.shape[0] - part.tape.origin, source
        cut_off = as_tensor(part.outer_input).shape[0] - part.filled.shape[0]
        return forward.n_steps - cut_off, source
    reason = "the loop stops on a condition, and no output counts its steps"
    raise GradientError(f"{forward.called}: {reason}. Return one more value from the step.")


def _assemble(task: Task, decisions: Sequence[BackwardVariable]) -> ScanParts:
    """Return the parts of the backward loop, including the parameters that its step reads."""
    built = tuple(decision.variable for decision in decisions)
    used = set(ancestors([v for variable in built for v in variable.inner_outputs]))
    parameters = tuple(
        part
        for part in task.forward.of_kind(Kind.PARAMETER)
        if used.intersection(part.inner_inputs)
    )
    return ScanParts(
        name=f"grad_of_{task.forward.name}",
        n_steps=task.steps.backward,
        variables=built + parameters,
        truncate_gradient=task.forward.truncate_gradient,
        mode=task.forward.mode,
    )


def _reorder(task: Task, derivation: Derivation) -> tuple[Variable, ...]:
    """Phase 11: return the gradients wrt the outer inputs of the forward Scan, in their order."""
    node = derivation.node
    filled = {} if node is None else outer_outputs(derivation.backward, node)
    produced: dict[LoopVariable, Variable] = {}
    for reverse in derivation.states:
        state, tape = reverse.source, as_tensor(filled[reverse.variable])[::-1]
        produced[state] = rows.initial_gradient(task, state, tape)
    for total in derivation.totals:
        part, series = total.source, as_tensor(filled[total.variable])
        produced[part] = (
            series[-1]
            if part.kind is Kind.PARAMETER
            else rows.sequence_gradient(task, part, series[::-1])
        )
    pattern = task.op.connection_pattern(next(iter(task.given)).owner)
    pattern = with_initial_values(task.op, pattern)
    given = [not isinstance(status_of(gradient), Disconnected) for gradient in task.given.values()]
    gradients = [marker(Disconnected())]  # wrt the number of steps
    for part, connections in zip(task.forward.variables, pattern[1:], strict=True):
        if not any(compress(given, connections)):
            gradients.append(marker(Disconnected()))
        elif part in produced:
            gradients.append(produced[part])
        else:
            gradients.append(_zero_or_undefined(part, derivation))
    return tuple(gradients)


def _zero_or_undefined(part: LoopVariable, derivation: Derivation) -> Variable:
    """Return zeros or an undefined marker for a connected input that no phase differentiates."""
    if part.kind is Kind.UNTRACED:
        return marker(ThroughUntraced(f"{part.name} changes from step to step without a record"))
    for status in map(derivation.step.statuses.get, part.inner_inputs):
        if isinstance(status, Undefined):
            return marker(status)
    if not isinstance(part.outer_input.type, TensorType):
        return marker(Undefined(f"{part.name} is not a dense tensor"))
    return pt.zeros_like(part.outer_input, dtype=gradient_dtype(part.outer_input))
