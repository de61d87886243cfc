"""Select, reverse, and pad rows of arrays: the outer side of a pullback.

A backward loop reads the arrays of the forward loop from the last step to the first, and fills its
own tapes from the last slot to the first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.raise_op import Assert
from pytensor.tensor.variable import TensorVariable

from lab.gradients.decisions import (
    PullbackRule,
    Reading,
    ReadingGroup,
    ReverseState,
    StepCount,
    StepGradients,
    Task,
    Total,
    symbol,
)
from lab.gradients.status import Disconnected, cast_like, gradient_dtype, status_of
from lab.scans.buffers import as_tensor, is_cut_to, is_freshly_allocated
from lab.scans.node import LoopVariable, ScanParts, build_scan, outer_outputs
from lab.scans.slices import constant_value
from lab.tape import Kind, Tape

Needed = tuple[
    ReadingGroup, LoopVariable, int, Variable
]  # group, source, tap, argument of the step


def needed(
    task: Task, step: StepGradients, built: Sequence[ReverseState | Total]
) -> tuple[Needed, ...]:
    """Phase 7, in the step: return the forward values and cotangents that the backward steps read.

    There are five groups; only values on which a gradient depends are returned.
    """
    forward, group = task.forward, ReadingGroup
    used = set(ancestors([v for item in built for v in item.variable.inner_outputs]))
    candidates: list[Needed] = [
        (group.SEQUENCE, part, tap, argument)
        for part in forward.of_kind(Kind.SEQUENCE)
        for tap, argument in part.reads
    ]
    candidates += [
        (group.SIT_SOT if part.kind is Kind.SIT_SOT else group.TAPS, part, tap, argument)
        for part in forward.states
        for tap, argument in part.reads
    ]
    candidates += [
        (group.NIT_SOT_GRADIENT, part, tap, cotangent)
        for (part, tap), cotangent in step.output_cotangents.items()
        if part.kind is Kind.NIT_SOT
    ]
    candidates += [
        (group.RESULT, part, tap, step.reused[result])
        for part in forward.of_kind(Kind.MIT_SOT, Kind.SIT_SOT, Kind.NIT_SOT)
        for tap, result in part.writes
        if result in step.reused
    ]
    return tuple(candidate for candidate in candidates if candidate[-1] in used)


def reverse_sequences(task: Task, members: Iterable[Needed]) -> tuple[Reading, ...]:
    """Phase 7, outside: build a reversed sequence for each of the values `needed`."""
    group, members = ReadingGroup, tuple(members)
    lost = _lost_values(task.forward, {v for *_, v in members}) if task.rule.replays else {}
    readings = []
    for kind, part, tap, argument in members:
        if kind is group.SEQUENCE:
            array = part.outer_input
        elif kind is group.NIT_SOT_GRADIENT:
            array = task.given[part.filled]
        else:
            array = task.rule.recalls(part)
        array, first = lost.get(argument, (array, part.tape.row(0, tap)))
        values, slices = reversed_rows(as_tensor(array), first, task.steps, task.rule)
        name = symbol(task.order, part.name) if kind is group.NIT_SOT_GRADIENT else part.name
        variable = LoopVariable(Kind.SEQUENCE, name, Tape((0,), ()), values, (argument,))
        readings.append(Reading(kind, part, tap, variable, slices))
    return tuple(readings)


def _lost_values(forward: ScanParts, needed: set[Variable]) -> dict[Variable, tuple[Variable, int]]:
    """Map arguments at mit-mot taps whose slot was overwritten to a new array and its first row.

    The filled buffer contains the last value written to a slot.  A slot that is read at tap r can
    then be written at any tap up to r.  If such a write changes the slot, the forward loop runs
    again and outputs the values that it reads.  Loops of `pytensor.scan` and backward loops never
    need this, because their overwritten values enter linearly.
    """
    lost = []
    for part in forward.of_kind(Kind.MIT_MOT):
        arguments = dict(part.reads)
        changed = [tap for tap, result in part.writes if result is not arguments.get(tap)]
        lost += [v for tap, v in part.reads if v in needed and any(w <= tap for w in changed)]
    if not lost:
        return {}
    records = tuple(
        LoopVariable(Kind.NIT_SOT, f"read {v}", Tape((), (0,)), forward.n_steps, (), (v,))
        for v in lost
    )
    replay = replace(
        forward, name=f"replay_of_{forward.name}", variables=(*forward.variables, *records)
    )
    filled = outer_outputs(replay, build_scan(replay))
    return {v: (filled[record], 0) for v, record in zip(lost, records, strict=True)}


def reversed_rows(
    array: TensorVariable, first: int, steps: StepCount, rule: PullbackRule
) -> tuple[TensorVariable, str]:
    """Return the rows of `array` for the reversed steps, last step first, and the slices as text.

    Step 0 reads row `first`.
    """
    made, count = constant_value(steps.made), constant_value(steps.reversed)
    if not rule.reverses:
        return array[first : first + steps.made], f"[{first}:{first}+steps]"
    if made is None or count is None:
        rows, text = array[first : first + steps.made][::-1], f"[{first}:{first}+steps][::-1]"
        if steps.reversed is steps.made:
            return rows, text
        return rows[: steps.reversed], f"{text}[:reversed]"
    last, stop = first + made - 1, first + made - 1 - count
    if last < 0:
        return array[:0], "[:0]"
    if stop < 0:
        return array[last::-1], f"[{last}::-1]"
    return array[last:stop:-1], f"[{last}:{stop}:-1]"


def reversed_gradient(
    gradient: Variable, state: LoopVariable, steps: StepCount, fits: bool
) -> TensorVariable:
    """Return the external gradients of a state, last slot first: initial values of a tape."""
    if isinstance(status_of(gradient), Disconnected):
        gradient = pt.zeros_like(state.filled)
    if not fits:
        touched = _touched(state, steps)
        message = (
            f"the buffer of {state.name} has fewer rows than its loop touches; values that the "
            "gradient needs were overwritten"
        )
        checked = Assert(message)(gradient, pt.ge(as_tensor(gradient).shape[0], touched))
        gradient = as_tensor(checked)[:touched]
    return cast_like(gradient, state.filled)[::-1]


def fits(task: Task, state: LoopVariable) -> bool:
    """Return whether the buffer of a state has exactly the rows that its loop touches.

    This holds for buffers from `pytensor.scan` and from backward loops.  A buffer that the user
    passes to a Scan can be longer, and can depend on other values.
    """
    if task.forward.until is not None and state.kind is Kind.MIT_MOT:
        return False  # a mit-mot keeps its length when the loop stops early
    reach = state.tape.origin
    return task.exact or is_freshly_allocated(state.outer_input, task.forward.n_steps, reach)


def initial_gradient(
    rows: TensorVariable,
    gradient: Variable,
    state: LoopVariable,
    forward: ScanParts,
    steps: StepCount,
    fits: bool,
) -> TensorVariable:
    """Return the gradient wrt the initial buffer of `state`; `rows` is its tape, in time order."""
    if fits and forward.until is None:
        return rows
    if fits:
        return _padded(rows, as_tensor(state.outer_input))
    buffer = pt.zeros_like(state.outer_input, dtype=rows.type.dtype)
    if state.kind is not Kind.MIT_MOT:
        # The steps overwrite all other rows before any read.
        origin = state.tape.origin
        return pt.set_subtensor(buffer[:origin], rows[:origin])
    if not isinstance(status_of(gradient), Disconnected):
        buffer = as_tensor(gradient)
    return pt.set_subtensor(buffer[: _touched(state, steps)], rows)


def sequence_gradient(
    rows: TensorVariable,
    sequence: LoopVariable,
    forward: ScanParts,
    steps: StepCount,
    made_here: bool,
) -> TensorVariable:
    """Return the gradient wrt a sequence from `rows`, a row for each step, in time order."""
    whole = as_tensor(sequence.outer_input)
    if rows.type.ndim > 1 and constant_value(steps.made) is None:
        # With 0 steps, the width of the outputs of a Scan is unknown.
        rows = rows.reshape((rows.shape[0], *whole.shape[1:]))
    fits = made_here or is_cut_to(whole, forward.n_steps)
    return rows if fits and forward.until is None else _padded(rows, whole)


def running_total(like: TensorVariable, argument: Variable, steps: StepCount) -> TensorVariable:
    """Return zeros for the initial value of a parameter's gradient and for each step."""
    known = constant_value(steps.reversed)
    count = steps.reversed + 1 if known is None else known + 1
    shape = [
        like.shape[axis] if size is None else size for axis, size in enumerate(like.type.shape)
    ]
    return pt.zeros((count, *shape), dtype=gradient_dtype(argument))


def _touched(state: LoopVariable, steps: StepCount) -> TensorVariable:
    return state.tape.origin + max(state.tape.taps) + steps.made


def _padded(rows: TensorVariable, like: TensorVariable) -> TensorVariable:
    """Append rows of zeros to `rows`, up to the length of `like`."""
    missing = like.shape[0] - rows.shape[0]
    tail = pt.zeros((missing, *(rows.shape[axis] for axis in range(1, rows.type.ndim))))
    return pt.concatenate([rows, tail.astype(rows.type.dtype)], axis=0)
