"""Build the tapes of a backward loop: phases 6, 8, and 9 of a pullback.

Every state becomes a mit-mot with the reverse of its tape, every sequence becomes an output with
a gradient per step, and every parameter becomes a running sum.
"""

import pytensor.tensor as pt

from lab.errors import BroadcastError, GradientError
from lab.gradients import rows
from lab.gradients.decisions import BackwardVariable, ReverseState, StepGradients, Task
from lab.gradients.status import Connected, cast_like
from lab.gradients.symbols import gradient_name
from lab.notation import tap_symbol
from lab.scans.buffers import as_tensor
from lab.scans.node import LoopVariable
from lab.tape import ONE_WRITE, Kind, Tape


def reverse_state(task: Task, step: StepGradients, state: LoopVariable) -> ReverseState:
    """Phases 6 and 8: return the mit-mot of the gradient of a state.

    The gradient of a slot that the forward step reads receives a contribution.  If the forward step
    preserves the slot, later steps read the slot as well, and the slot of the gradient contains
    their contributions.  The backward step adds its contribution to them.  If the forward step
    overwrites the slot, the slot of the gradient contains the gradient of the new value, which the
    backward step has just read.  The backward step replaces that gradient.
    """
    _check_broadcasting(task, state)
    tape, cleared = _reverse_tape(task, state)
    like, name = state.inner_inputs[0], gradient_name(task.order, state.name)
    output_cotangents = {-tap: step.output_cotangents[state, tap] for tap in state.tape.writes}
    arguments = {
        tap: output_cotangents[tap]
        if tap in output_cotangents
        else like.type(name=tap_symbol(name, tap))
        for tap in tape.reads
    }
    accumulated = task.rule.accumulates(state.tape)
    results = []
    for tap, argument in state.reads:
        contribution = step.gradients.get(argument)
        before = arguments[-tap] if tap in accumulated else None
        terms = [as_tensor(term) for term in (contribution, before) if term is not None]
        results.append(sum(terms[1:], start=terms[0]) if terms else pt.zeros_like(like))
    results += [pt.zeros_like(like) for _ in cleared]
    variable = LoopVariable(
        Kind.MIT_MOT,
        name,
        tape,
        rows.reversed_gradient(task, state),
        tuple(arguments[tap] for tap in task.rule.binds(tape)),
        tuple(cast_like(result, like) for result in results),
    )
    return ReverseState(state, variable, accumulated, cleared)


def _check_broadcasting(task: Task, state: LoopVariable) -> None:
    """Raise BroadcastError if a step changes the broadcastable axes of a state."""
    before = state.inner_inputs[0].type
    for _, result in state.writes:
        if result.type.broadcastable != before.broadcastable:
            raise BroadcastError(
                f"{task.forward.called}: a step reads {state.name} as {before} and returns it as "
                f"{result.type}. Only one type states that the length of a dimension is 1. Apply "
                "pytensor.tensor.specify_shape to the result of the step, or to the initial value."
            )


def _reverse_tape(task: Task, state: LoopVariable) -> tuple[Tape, tuple[int, ...]]:
    """Return the reverse of a state's tape, and the write taps at which a backward step writes 0.

    A mit-mot built by hand can write a slot that the step does not read.  The old value of the slot
    is lost, and its gradient must be 0.  The steps of sit-sots and mit-sots write each slot once.
    """
    tape = state.tape.reverse()
    if state.kind is not Kind.MIT_MOT:
        return tape, ()
    if min(state.tape.writes) < min(state.tape.reads):
        lowest, read = min(state.tape.writes), min(state.tape.reads)
        reason = f"writes at tap {lowest}, below its lowest read tap {read}, before row 0"
        raise GradientError(f"{task.forward.called}: {state.name} {reason} of its buffer.")
    return tape, tuple(-tap for tap in state.tape.cleared)


def remaining_outputs(task: Task, step: StepGradients) -> tuple[BackwardVariable, ...]:
    """Phase 9: return the gradients of sequences (a value per step) and parameters (a sum)."""
    totals = []
    for part in task.forward.of_kind(Kind.SEQUENCE, Kind.PARAMETER):
        argument, name = part.inner_inputs[0], gradient_name(task.order, part.name)
        if not isinstance(step.statuses.get(argument), Connected):
            continue
        contribution = cast_like(step.gradients[argument], argument)
        if part.kind is Kind.SEQUENCE:
            count = task.steps.forward  # the outer input of an output is its number of rows
            variable = LoopVariable(Kind.NIT_SOT, name, ONE_WRITE, count, (), (contribution,))
        else:
            before = as_tensor(argument).type(name=name)
            variable = LoopVariable(
                Kind.SIT_SOT,
                name,
                Tape((-1,), (0,)),
                rows.running_total(task, part),
                (before,),
                (cast_like(before + contribution, argument),),
            )
        totals.append(BackwardVariable(part, variable))
    return tuple(totals)
