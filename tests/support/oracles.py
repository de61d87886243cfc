"""Independent answers: closed forms, plain loops in numpy, PyTensor itself."""

from collections.abc import Sequence

import numpy as np


def power_derivative(power: int, order: int, at: float) -> float:
    """The derivative of x**power: power·(power-1)·…·x**(power-order)."""
    factor = 1.0
    for k in range(order):
        factor *= power - k
    return factor * at ** (power - order)


def square_tape(start: float, steps: int, seeds: Sequence[float]) -> list[list[float]]:
    """The gradient tape of x**2 iterated, after every step, from a loop in plain Python.

    seeds[i] is the gradient that the cost gives x_i directly; row 0 is before any step.
    Written as in the lesson: tape[i] += 2·x[i]·tape[i+1], for i from the last to the first.
    """
    xs = [start]
    for _ in range(steps):
        xs.append(xs[-1] ** 2)
    tape = list(map(float, seeds))
    history = [tape[:]]
    for i in reversed(range(steps)):
        tape[i] += 2 * xs[i] * tape[i + 1]
        history.append(tape[:])
    return history


def numpy_loop(initial: Sequence[float], taps: Sequence[int], steps: int) -> np.ndarray:
    """The product of the tapped values (the square of a single one), in plain numpy."""
    values = list(map(float, initial))
    for _ in range(steps):
        read = [values[len(values) + tap] for tap in taps]
        values.append(read[0] ** 2 if len(read) == 1 else float(np.prod(read)))
    return np.array(values)
