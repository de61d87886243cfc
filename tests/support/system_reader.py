"""Reads a printed system of equations and runs it in numpy, knowing nothing else of the loop."""

import re

import numpy as np
from test_formula import NUMPY, Remembering, add_at, as_python


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
    names = {"n": n, "add_at": add_at, **NUMPY, **quantities}
    for t in steps_of(told, n):
        names["t"] = t
        found = [eval(as_python(right), names) for _, right in pairs]
        stops = condition is not None and bool(eval(as_python(condition[1]), names))
        for (left, _), value in zip(pairs, found, strict=True):
            name, index = re.fullmatch(r"(\w+)\[(.*)\]", left).groups()
            quantities[name][eval(as_python(index), {"t": t})] = value
        if stops:
            return t + 1
    return len(steps_of(told, n))
