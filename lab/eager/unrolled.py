"""Convert a declared loop to plain Python, to compare the eager tape with the tapes of the Scan.

>>> loop = gallery.loops["square"]
>>> recording(grad(unrolled(loop)), 0.95), loop.trace(order=1)
"""

from typing import TYPE_CHECKING, NoReturn

from pytensor.tensor import _as_tensor_variable

from lab.eager.recorder import steps
from lab.eager.shaping import shape_of, sum
from lab.eager.tape import Function, Node, Value
from lab.errors import ArgumentError, GradientError, argument_error, listing
from lab.loops.variables import call_step, results_of

if TYPE_CHECKING:
    from lab.loops.loop import Loop


def _refuse_node(x: Node, name: object, ndim: object, **_: object) -> NoReturn:
    """Raise GradientError: a function of PyTensor cannot compute with a node."""
    reason = "was passed to a function of PyTensor, which builds graphs; use lab.eager.np."
    raise GradientError(f"{x!r} {reason}")


_as_tensor_variable.register(Node, _refuse_node)


def unrolled(loop: "Loop") -> Function:
    """Return the loop as a Python function of its variables, in the order of ``loop.variables``.

    The function returns the cost "last", the sum of the last value of the first state.  For a loop
    without states, the cost is the sum of the last value of the first output.  The function calls
    the step of the loop with numbers, and recorded nodes store the number of the step.  The step
    may use Python's operators, but no functions of PyTensor.

    Raise ArgumentError for loops with random states or a truncated gradient.
    """
    if not hasattr(loop, "truncate_gradient"):
        raise argument_error("loop", loop, "expected a lab.Loop.")
    if loop.random or loop.truncate_gradient != -1:
        what = "random" if loop.random else "truncate_gradient"
        raise ArgumentError(f"{what} = {getattr(loop, what)}: unrolled loops do not support it.")
    names = loop.values

    def function(*values: Value) -> Value:
        if len(values) != len(names):
            reason = f"expected {len(names)} values, for {listing(names)}, got {len(values)}."
            raise argument_error("values", values, reason)
        given = dict(zip(names, values, strict=True))
        tapes = {
            s.name: [given[s.name]] if s.reach == 1 else [given[s.name][n] for n in range(s.reach)]
            for s in loop.states
        }
        for step in steps(loop.steps):
            results, stop = results_of(call_step(loop.step, _values_read(loop, given, tapes, step)))
            for state, result in zip(loop.states, results, strict=False):  # outputs come later
                tapes[state.name].append(result)
            if stop is not None and stop.data:  # a constant, because the loop runs on numbers
                break
        last = tapes[loop.states[0].name][-1] if loop.states else results[0]
        return sum(last) if shape_of(last) else last

    function.__name__ = loop.name
    return function


def _values_read(
    loop: "Loop", given: dict[str, Value], tapes: dict[str, list[Value]], step: int
) -> dict[str, list[Value]]:
    """Return the values that a step reads, by name, with a value for each tap."""
    read = {state.name: [tapes[state.name][tap] for tap in state.taps] for state in loop.states}
    for sequence in loop.sequences:
        values = given[sequence.name]
        read[sequence.name] = [values[sequence.start(tap) + step] for tap in sequence.taps]
    return read | {parameter.name: [given[parameter.name]] for parameter in loop.parameters}
