"""Which rows of which array: the outer side of a pullback.

A backward loop reads what the forward loop left in its arrays, last step first, and its
own tapes come out last slot first.  The functions here cut, reverse and pad accordingly.
"""

import pytensor.tensor as pt
from pytensor.graph.basic import Variable

from lab.cotangent import Disconnected, cast_like, gradient_dtype, status_of
from lab.derivation import PullbackRule, StepCount
from lab.scan import LoopVariable, ScanParts, constant_value, is_cut_to, is_freshly_allocated
from lab.tape import Kind


def reversed_rows(
    array: Variable, first: int, steps: StepCount, rule: PullbackRule
) -> tuple[Variable, str]:
    """The rows of `array` for the steps that are reversed, row `first` being step 0's.

    Returns them last step first, and the slices as text.
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
    return array[last : stop if stop >= 0 else None : -1], f"[{last}:{stop if stop >= 0 else ''}:-1]"


def reversed_gradient(
    gradient: Variable, state: LoopVariable, steps: StepCount, fits: bool
) -> Variable:
    """The external gradients of a state's buffer, last slot first: a tape's initial values."""
    if isinstance(status_of(gradient), Disconnected):
        gradient = pt.zeros_like(state.outer_output)
    if not fits:
        gradient = gradient[: _touched(state, steps)]
    return cast_like(gradient, state.outer_output)[::-1]


def fits(state: LoopVariable, forward: ScanParts, made_here: bool) -> bool:
    """Whether a state's buffer is as long as its loop, with nothing of worth in the rest.

    So are those that `pytensor.scan` allocates and those of our own backward loops; a
    buffer that a person handed to a Scan may be longer and may depend on other things.
    """
    until = forward.until is not None and state.kind is Kind.MIT_MOT
    return not until and (made_here or is_freshly_allocated(state.outer_input))


def initial_gradient(
    rows: Variable,
    gradient: Variable,
    state: LoopVariable,
    forward: ScanParts,
    steps: StepCount,
    fits: bool,
) -> Variable:
    """The gradient of the buffer that `state` started from; `rows` is its tape, in time order."""
    if fits and forward.until is None:
        return rows
    if fits:
        return _padded(rows, state.outer_input)
    buffer = pt.zeros_like(state.outer_input, dtype=rows.type.dtype)
    if state.kind is not Kind.MIT_MOT:
        # Every row but the first ones is replaced before anybody reads it.
        origin = state.tape.origin
        return pt.set_subtensor(buffer[:origin], rows[:origin])
    if not isinstance(status_of(gradient), Disconnected):
        buffer = gradient
    return pt.set_subtensor(buffer[: _touched(state, steps)], rows)


def sequence_gradient(
    rows: Variable, sequence: LoopVariable, forward: ScanParts, steps: StepCount, made_here: bool
) -> Variable:
    """The gradient of a sequence from `rows`, one for each step, in time order."""
    if rows.type.ndim > 1 and constant_value(steps.made) is None:
        # Without steps, Scan does not know the width of its outputs.
        rows = rows.reshape((rows.shape[0], *sequence.outer_input.shape[1:]))
    whole = made_here or is_cut_to(sequence.outer_input, forward.n_steps)
    return rows if whole and forward.until is None else _padded(rows, sequence.outer_input)


def running_total(like: Variable, argument: Variable, steps: StepCount) -> Variable:
    """Zeros for the initial value of a parameter's gradient and for its value after each step."""
    known = constant_value(steps.reversed)
    count = steps.reversed + 1 if known is None else known + 1
    shape = [
        like.shape[axis] if size is None else size for axis, size in enumerate(like.type.shape)
    ]
    return pt.zeros((count, *shape), dtype=gradient_dtype(argument))


def _touched(state: LoopVariable, steps: StepCount) -> Variable:
    return state.tape.origin + max(state.tape.taps) + steps.made


def _padded(rows: Variable, like: Variable) -> Variable:
    """`rows`, and zeros behind them up to the length of `like`."""
    missing = like.shape[0] - rows.shape[0]
    tail = pt.zeros((missing, *(rows.shape[axis] for axis in range(1, rows.type.ndim))))
    return pt.concatenate([rows, tail.astype(rows.type.dtype)], axis=0)
