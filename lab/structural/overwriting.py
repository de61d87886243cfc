"""Express the writes of a loop's step to its tape with narrow and cat.

The chain rule determines the derivatives:

- The transpose of ``set_subtensor(x, y, i)`` sends the rows of the cotangent at i to y, and zero
  in these rows to x.  This is an *overwritten* tap: the replaced value has gradient 0.
- A slot that a step reads and does not write has two uses, and the transpose of this fan-out is
  a sum.  This is a *preserved* tap: its gradient accumulates.
"""

from collections.abc import Callable

from lab.errors import ArgumentError, check_integer, check_type, quote
from lab.structural.chain import Recorded, cat, narrow
from lab.structural.operands import Array
from lab.tape import Tape


def set_subtensor(x: Array, y: Array, i: object) -> Array:
    """Return a copy of the array x with ``x[i : i + len(y)] = y``.

    The result is ``cat([x before, y, x after])``, and its transpose is ``g ↦ (g with zeros in
    the rows of y, the rows of y in g)``.  x and y have the same number of dimensions.
    """
    start, rows, new = check_integer("set_subtensor: i", i), _length("x", x), _length("y", y)
    if not 0 <= start <= rows - new:
        reason = f"y has {new} rows and x has {rows}; expected i from 0, and all of y within x."
        raise ArgumentError(f"set_subtensor: i = {i}: {reason}")
    after = start + new
    return cat([narrow(x, 0, 0, start), y, narrow(x, 0, after, rows - after)], 0)


def tape_step(tape: Tape, step: int) -> Callable[[Array, Array], Array]:
    """Return a function that performs the reads and writes of a tape at `step`.

    The returned function accepts the buffer before the step and the written values, one row per
    write tap.  Its result is the read values, one row per read tap, followed by the buffer after
    the step.  All reads precede all writes.

    The transpose of the function maps the gradients of the result to the gradients of the
    arguments.  It performs a step of the reverse tape (`Tape.reverse`), and also clears each slot
    that the step overwrites without reading.
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
    """Return the number of rows of an array; raise ArgumentError for a scalar."""
    array = value.value if isinstance(value, Recorded) else value
    shape = getattr(array, "shape", ())
    if not isinstance(shape, tuple) or not shape:  # the shape of a Variable is not a tuple
        raise ArgumentError(f"set_subtensor: {name} = {quote(array)}: expected rows.")
    return int(shape[0])
