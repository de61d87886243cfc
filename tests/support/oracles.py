"""Independent answers: closed forms, plain loops in numpy, and printed equations, run in numpy.

What is printed is read without knowing anything else of the loop.
"""

import re
from collections.abc import Sequence

import numpy as np
from scipy.special import jv


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


# Formulas, read back as Python.

RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def prod_without_zeros(values):
    return np.prod(np.where(values == 0, 1, values))


NUMPY = {
    "prodwithoutzeros": prod_without_zeros,
    "zeros": lambda n: np.zeros(int(n)).view(Remembering),
    **{n: getattr(np, n) for n in ("sin", "cos", "tanh", "exp", "where", "outer", "sum", "prod")},
    "abs": np.abs,
    "jv": jv,
    "max": np.maximum,
    "int64": np.int64,
    "log1p": np.log1p,
    "inv": np.linalg.inv,
    "matrixinverse": np.linalg.inv,
    "svd": np.linalg.svd,
    "switch": np.where,
    "sign": np.sign,
    "sqrt": np.sqrt,
}


class Remembering(np.ndarray):
    """An array of which a part knows what it is a part of, so that one can add there."""

    def __getitem__(self, index):
        part = np.asarray(super().__getitem__(index)).view(Remembering)
        part.whole, part.index = np.asarray(self), index
        return part


def add_at(part, value):
    result = part.whole.copy()
    result[part.index] += value
    return result


def as_python(written):
    code = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: f"**{m.group().translate(RAISED)}", written)
    for sign, operator in {"·": "*", "−": "-", "^": "**", "ᵀ": ".T", " = ": " == "}.items():
        code = code.replace(sign, operator)
    return code.replace("≥", ">=").replace("≤", "<=").replace("≠", "!=")


def computed(written, names):
    """The value of a formula; what has a name in it stands behind it: ``a·a; a := sin(x)``."""
    right, *named = written.split("; ")
    names = {**NUMPY, "add_at": add_at, **names}
    for name, part in (binding.split(" := ") for binding in reversed(named)):
        names[name] = eval(as_python(part), names)
    return eval(as_python(right), names)


# Systems of equations.


class Series:
    """A quantity over time: ``x[-1]`` is what the equations call x[−1]."""

    def __init__(self, rows, first=0):
        self.values = {first + i: np.asarray(row) for i, row in enumerate(rows)}
        self.count = len(rows)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return np.array([self.values[i] for i in range(self.count)])[index]
        return self.values[int(index)].view(Remembering)

    def __setitem__(self, index, value):
        self.values[int(index)] = np.asarray(value)


class FromTheEnd(Series):
    """An array that is read from its end, by Python's negative indices."""

    def __getitem__(self, index):
        index = int(index)
        return self.values[index if index >= 0 else self.count + index]


def equations_of(printed):
    """The equations of a printed system, as pairs of text; and the numbers t of its steps."""
    lines = printed.split("\n\n")[1].splitlines()
    pairs = []
    for line in lines[:-1]:
        if line.endswith(", where") or "the generator after" in line:
            continue
        left, right = re.split(" = | ← ", line.strip(), maxsplit=1)
        pairs.append((left, right))
    return pairs, lines[-1].strip()


def steps_of(told, n=None):
    """``for t = 0, …, 3`` as numbers; with n−1 at the end, `n` says how many."""
    listed = re.sub(", until.*", "", told.removeprefix("for t = "))
    numbers = listed.replace("n−1", str((n or 0) - 1)).split(", ")
    return range(int(numbers[0]), int(numbers[-1]) + 1)


def run_printed(printed, quantities, n=None):
    """Run the equations of `printed` over `quantities`, which are changed; and the steps made."""
    pairs, told = equations_of(printed)
    condition = re.search(", until (.*)", told)
    names = {"n": n, **quantities}
    for t in steps_of(told, n):
        names["t"] = t
        found = [computed(right, names) for _, right in pairs]
        stops = condition is not None and bool(computed(condition[1], names))
        for (left, _), value in zip(pairs, found, strict=True):
            name, index = re.fullmatch(r"(\w+)\[(.*)\]", left).groups()
            quantities[name][eval(as_python(index), {"t": t})] = value
        if stops:
            return t + 1
    return len(steps_of(told, n))
