"""Compute programs with Python's own operations, and pair the values of two traces."""

import math
from dataclasses import fields, is_dataclass

import numpy as np

from lab.loops import gallery

OPERATIONS = {
    "Add": lambda *terms: float(np.cumsum(terms)[-1]),
    "Mul": lambda *factors: math.prod(factors),
    "Sub": lambda a, b: a - b,
    "Neg": lambda a: -a,
    "TrueDiv": lambda a, b: a / b,
    "GT": lambda a, b: a > b,
    "where": lambda chosen, a, b: a if chosen else b,
    "Sqr": lambda a: a * a,
    "Pow": lambda a, b: a**b,
    "abs": abs,
    "sign": lambda a: (a > 0) - (a < 0),
    **{name: getattr(math, name) for name in ("sin", "cos", "exp", "tanh", "sqrt")},
}
COMPUTED = [name for name in gallery.loops if name not in ("newton", "walk", "undefined")]


def compute(lines, given):
    """Return the numbers of all instructions, for values `given` by name."""
    values = []
    for name, *operands in lines:
        if name == "constant":
            values.append(operands[0])
        elif name == "input":
            values.append(float(np.ravel(given[operands[0]])[operands[1]]))
        else:
            values.append(OPERATIONS[name](*(values[int(index)] for index in operands)))
    return values


def pairs(numbers, run):
    """Yield indices and values of all numeric arrays in two traces of the same run."""
    if isinstance(run, np.ndarray):
        if run.dtype.kind in "fb" and isinstance(numbers, np.ndarray) and numbers.dtype.kind == "f":
            yield numbers.astype(int), run.astype(float)
    elif isinstance(run, tuple) and isinstance(numbers, tuple):
        for a, b in zip(numbers, run, strict=True):
            yield from pairs(a, b)
    elif is_dataclass(run) and type(run) is type(numbers):
        for field in fields(run):
            yield from pairs(getattr(numbers, field.name), getattr(run, field.name))
