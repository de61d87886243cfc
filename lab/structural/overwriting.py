"""Writing into an array, and what a loop's step does to its tape, made of narrow and cat.

Nothing here has a derivative of its own: the chain rule finds that

- ``set_subtensor(x, y, i)`` routes its cotangent: zero at i for x, and what stood at i for y.
  An *overwritten* tap is that: the gradient of the value that was replaced stops there;
- a slot that is read and left as it is goes two ways, and the transpose of such a fan-out is
  a sum.  A *preserved* tap is that: its gradient accumulates.
"""

from collections.abc import Callable

from lab.errors import ArgumentError, check_integer, check_type, quote
from lab.structural.arrays import Array
from lab.structural.chain import Recorded, cat, narrow
from lab.tape import Tape


def set_subtensor(x: Array, y: Array, i: object) -> Array:
    """The array x with its rows from i on replaced by those of y: ``x[i : i + len(y)] = y``.

    It is ``cat([x before, y, x after])``, so that ``g ↦ (g with zeros there, g there)``
    transposes it.  x and y have as many dimensions, so that a single
    row is a y of length 1.
    """
    start, rows, new = check_integer("set_subtensor: i", i), _length("x", x), _length("y", y)
    if not 0 <= start <= rows - new:
        raise ArgumentError(
            f"set_subtensor: i = {i}: y has {new} rows and x has {rows}; expected i from 0, and "
            "all of y within x."
        )
    after = start + new
    return cat([narrow(x, 0, 0, start), y, narrow(x, 0, after, rows - after)], 0)


def tape_step(tape: Tape, step: int) -> Callable[[Array, Array], Array]:
    """What a loop does at `step` with the buffer of a tape, apart from computing.

    The function takes the buffer before the step, and what the step writes, a row for every
    write tap.  It returns, joined, what the step reads, a row for every read tap, and the
    buffer after the step.  All reads come before any write.

    Its transpose takes the gradients of what was read and those of the buffer after the step,
    to those of the buffer before it and of what was written: that is a step of the reverse
    tape (`Tape.reverse`), except that the latter leaves a slot as it is that nobody reads again.
    """
    check_type("tape_step: tape", tape, Tape, "a lab.tape.Tape")
    check_integer("tape_step: step", step)

    def move(buffer: Array, written: Array) -> Array:
        read = [narrow(buffer, 0, tape.row(step, tap), 1) for tap in tape.reads]
        for number, tap in enumerate(tape.writes):
            buffer = set_subtensor(buffer, narrow(written, 0, number, 1), tape.row(step, tap))
        return cat([*read, buffer], 0)

    return move


def _length(name: str, value: object) -> int:
    """The number of rows of an array."""
    held = value.value if isinstance(value, Recorded) else value
    shape = getattr(held, "shape", ())
    if not isinstance(shape, tuple) or not shape:  # of a variable, shape is a variable
        raise ArgumentError(f"set_subtensor: {name} = {quote(held)}: expected rows.")
    return int(shape[0])
