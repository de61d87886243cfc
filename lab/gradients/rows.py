"""Select, reverse, and pad the rows of arrays that a backward loop reads and returns.

A backward loop reads the arrays of the forward loop from the last step to the first, and fills its
own tapes from the last slot to the first.
"""

from collections.abc import Sequence
from dataclasses import replace

import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.raise_op import Assert
from pytensor.tensor.variable import TensorVariable

from lab.gradients.decisions import (
    GROUPS,
    BackwardVariable,
    PullbackRule,
    Reading,
    ReadingGroup,
    StepCount,
    StepGradients,
    Task,
)
from lab.gradients.status import Disconnected, cast_like, gradient_dtype, status_of
from lab.gradients.symbols import gradient_name
from lab.scans.buffers import as_tensor, is_cut_to, is_freshly_allocated
from lab.scans.node import LoopVariable, ScanParts, build_scan, outer_outputs
from lab.scans.slices import constant_value
from lab.tape import ONE_READ, ONE_WRITE, Kind


def reverse_sequences(
    task: Task, step: StepGradients, built: Sequence[BackwardVariable]
) -> tuple[Reading, ...]:
    """Phase 7: build a reversed sequence for each value or cotangent that a backward step reads.

    The result excludes values on which no gradient in `built` depends.
    """
    forward = task.forward
    used = set(ancestors([v for each in built for v in each.variable.inner_outputs]))
    candidates: list[tuple[ReadingGroup, LoopVariable, int, Variable]] = [
        (GROUPS[part.kind], part, tap, argument)
        for part in (*forward.of_kind(Kind.SEQUENCE), *forward.states)
        for tap, argument in part.reads
    ]
    candidates += [
        (ReadingGroup.NIT_SOT_GRADIENT, part, tap, cotangent)
        for (part, tap), cotangent in step.output_cotangents.items()
        if part.kind is Kind.NIT_SOT
    ]
    candidates += [
        (ReadingGroup.RESULT, part, tap, step.reused[result])
        for part in forward.of_kind(Kind.MIT_SOT, Kind.SIT_SOT, Kind.NIT_SOT)
        for tap, result in part.writes
        if result in step.reused
    ]
    lost = _lost_values(forward, used) if task.rule.replays else {}
    readings = []
    for group, part, tap, argument in candidates:
        if argument not in used:
            continue
        name = part.name
        if group is ReadingGroup.NIT_SOT_GRADIENT:
            array, name = task.given[part.filled], gradient_name(task.order, name)
        else:
            is_sequence = group is ReadingGroup.SEQUENCE
            array = part.outer_input if is_sequence else task.rule.recalls(part)
        array, first = lost.get(argument, (array, part.tape.row(0, tap)))
        rows, slices = _reversed_rows(as_tensor(array), first, task.steps, task.rule)
        variable = LoopVariable(Kind.SEQUENCE, name, ONE_READ, rows, (argument,))
        readings.append(Reading(part, variable, group, tap, slices))
    return tuple(readings)


def _lost_values(
    forward: ScanParts, arguments: set[Variable]
) -> dict[Variable, tuple[Variable, int]]:
    """Map each argument with overwritten values to an array of its values, and the row of step 0.

    After a step reads a slot of a mit-mot at tap r, this step or a later step can write the slot
    again, at any tap up to r.  If a write changes the slot, the forward loop runs again, with
    outputs for the values that its steps read.  Loops by `pytensor.scan` and backward loops need no
    second run, because no gradient depends on the values that they overwrite.
    """
    lost = []
    for part in forward.of_kind(Kind.MIT_MOT):
        reads = dict(part.reads)
        changed = [tap for tap, result in part.writes if result is not reads.get(tap)]
        lost += [v for tap, v in part.reads if v in arguments and any(w <= tap for w in changed)]
    if not lost:
        return {}
    records = tuple(
        LoopVariable(Kind.NIT_SOT, f"read {v}", ONE_WRITE, forward.n_steps, (), (v,)) for v in lost
    )
    replay = replace(
        forward, name=f"replay_of_{forward.name}", variables=(*forward.variables, *records)
    )
    filled = outer_outputs(replay, build_scan(replay))
    return {v: (filled[record], 0) for v, record in zip(lost, records, strict=True)}


def _reversed_rows(
    array: TensorVariable, first: int, steps: StepCount, rule: PullbackRule
) -> tuple[TensorVariable, str]:
    """Return the rows of `array` that the backward steps read, and the slices as text.

    Forward step 0 reads row `first`.  The rows are in the order of the backward steps.
    """
    n_steps, count = constant_value(steps.forward), constant_value(steps.backward)
    if rule.reverses and n_steps is not None and count is not None:
        last, stop = first + n_steps - 1, first + n_steps - 1 - count
        if last < 0:
            return array[:0], "[:0]"
        if stop < 0:
            return array[last::-1], f"[{last}::-1]"
        return array[last:stop:-1], f"[{last}:{stop}:-1]"
    rows, text = array[first : first + steps.forward], f"[{first}:{first}+steps]"
    if rule.reverses:
        rows, text = rows[::-1], f"{text}[::-1]"
        if steps.backward is not steps.forward:
            rows, text = rows[: steps.backward], f"{text}[:reversed]"
    return rows, text


def reversed_gradient(task: Task, state: LoopVariable) -> TensorVariable:
    """Return the initial buffer of a state's gradient: its external gradients, last slot first."""
    gradient = task.given[state.filled]
    if isinstance(status_of(gradient), Disconnected):
        gradient = pt.zeros_like(state.filled)
    if not _has_exact_rows(task, state):
        rows = _rows_in_use(task, state)
        message = (
            f"the buffer of {state.name} has fewer rows than its loop uses; values that the "
            "gradient needs were overwritten"
        )
        checked = Assert(message)(gradient, pt.ge(as_tensor(gradient).shape[0], rows))
        gradient = as_tensor(checked)[:rows]
    return cast_like(gradient, state.filled)[::-1]


def initial_gradient(task: Task, state: LoopVariable, tape: TensorVariable) -> TensorVariable:
    """Return the gradient wrt the initial buffer of `state` from its `tape`, in time order."""
    if _has_exact_rows(task, state):
        is_whole = task.forward.until is None
        return tape if is_whole else _padded(tape, as_tensor(state.outer_input))
    buffer = pt.zeros_like(state.outer_input)
    if state.kind is not Kind.MIT_MOT:
        # The steps overwrite all other rows before any read.
        origin = state.tape.origin
        return pt.set_subtensor(buffer[:origin], tape[:origin])
    gradient = task.given[state.filled]
    if not isinstance(status_of(gradient), Disconnected):
        buffer = as_tensor(gradient)
    return pt.set_subtensor(buffer[: _rows_in_use(task, state)], tape)


def _has_exact_rows(task: Task, state: LoopVariable) -> bool:
    """Return whether the buffer of a state has exactly the rows that its loop reads or writes.

    `pytensor.scan` and the backward loops allocate such buffers.  A buffer that the user passes to
    a Scan can be longer, and can depend on other values.
    """
    if task.forward.until is not None and state.kind is Kind.MIT_MOT:
        return False  # a mit-mot has all its rows even if the loop stops early
    reach = state.tape.origin
    return task.exact or is_freshly_allocated(state.outer_input, task.forward.n_steps, reach)


def _rows_in_use(task: Task, state: LoopVariable) -> TensorVariable:
    """Return the number of rows that the loop reads or writes in the buffer of a state."""
    return state.tape.origin + max(state.tape.taps) + task.steps.forward


def sequence_gradient(task: Task, sequence: LoopVariable, rows: TensorVariable) -> TensorVariable:
    """Return the gradient wrt a sequence: `rows` for the steps in time order, then zeros."""
    whole = as_tensor(sequence.outer_input)
    if rows.type.ndim > 1 and constant_value(task.steps.forward) is None:
        # With 0 steps, the width of the outputs of a Scan is unknown.
        rows = rows.reshape((rows.shape[0], *whole.shape[1:]))
    is_exact = task.exact or is_cut_to(whole, task.forward.n_steps)
    return rows if is_exact and task.forward.until is None else _padded(rows, whole)


def running_total(task: Task, parameter: LoopVariable) -> TensorVariable:
    """Return the initial buffer of a parameter's gradient: zeros in n + 1 rows for n steps."""
    like = as_tensor(parameter.outer_input)
    known = constant_value(task.steps.backward)
    count = task.steps.backward + 1 if known is None else known + 1
    lengths = enumerate(like.type.shape)
    shape = [like.shape[axis] if length is None else length for axis, length in lengths]
    return pt.zeros((count, *shape), dtype=gradient_dtype(parameter.inner_inputs[0]))


def _padded(rows: TensorVariable, like: TensorVariable) -> TensorVariable:
    """Append rows of zeros to `rows`, up to the length of `like`."""
    zeros = pt.zeros_like(like, dtype=rows.type.dtype)
    return pt.concatenate([rows, zeros[rows.shape[0] :]], axis=0)
