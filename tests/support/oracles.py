"""Independent answers: closed forms, finite differences, loops and printed equations in NumPy.

The parsers of equations use only the printed text.
"""

import ast
import math
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.special import jv

import lab
from lab.checks import check
from lab.gradients.decisions import RULE
from lab.scans.replacing import scan_nodes
from lab.tape import Kind


def power_derivative(power: int, order: int, at: float) -> float:
    """Return the derivative of x**power: power·(power-1)·…·x**(power-order)."""
    return math.perm(power, order) * at ** (power - order)


def square_tape(start: float, steps: int, seeds: Sequence[float]) -> list[list[float]]:
    """Return the tape of gradients of iterated squares, before and after every backward step.

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
    """Return the values of a loop that multiplies its taps, or squares a single tap."""
    values = list(map(float, initial))
    for _ in range(steps):
        read = [values[len(values) + tap] for tap in taps]
        values.append(read[0] ** 2 if len(read) == 1 else float(np.prod(read)))
    return np.array(values)


def check_orders(cost, wrt, given, order=2, tolerance=1e-6, rule=RULE):
    """Compare each derivative with finite differences of the previous derivative."""
    values = lab.derivative(cost, wrt, order, rule=rule).values
    for lower, higher in pairwise(values):
        check.gradient(lower.sum() if lower.ndim else lower, wrt, higher, given, tolerance)


# Formulas, read back as Python.

RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


NUMPY = {
    "prodwithoutzeros": lambda values: np.prod(values, where=values != 0),
    "zeros": lambda n: np.zeros(int(n)).view(Remembering),
    **{n: getattr(np, n) for n in ("sin", "cos", "tanh", "exp", "where", "outer", "sum", "prod")},
    "abs": np.abs,
    "jv": jv,
    "max": np.maximum,
    "nan": np.nan,
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
    """An array. Each part stores the array and its index, so that `add_at` can change a copy."""

    def __getitem__(self, index):
        part = np.asarray(super().__getitem__(index)).view(Remembering)
        part.whole, part.index = np.asarray(self), index
        return part


def add_at(part, value):
    result = part.whole.copy()
    result[part.index] += value
    return result


# Signs of indices; _k is the number of the step, because a variable can have the name k.
BELOW = {
    ord(sign): part
    for sign, part in zip("₀₁₂₃₄₅₆₇₈₉₊₋ₖₙ", [*"0123456789+-", "_k", "n"], strict=True)
}


def unraised(written):
    """Return a formula with the operators of Python."""
    code = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: f"**{m.group().translate(RAISED)}", written)
    for sign, operator in {"·": "*", "−": "-", "^": "**", "ᵀ": ".T", " = ": " == "}.items():
        code = code.replace(sign, operator)
    return code.replace("≥", ">=").replace("≤", "<=").replace("≠", "!=")


def as_python(written):
    """Return ``x₃₋ₖ`` as x[3-k]; do not replace ``x[t−1]``, which depends on t."""
    return re.sub("[₀-₉₊₋ₖₙ]+", lambda m: f"[{m.group().translate(BELOW)}]", unraised(written))


def computed(written, names):
    """Return the value of a formula with definitions after it: ``a·a; a := sin(x)``."""
    right, *named = written.split("; ")
    names = {**NUMPY, "add_at": add_at, **names}
    for name, part in (binding.split(" := ") for binding in reversed(named)):
        names[name] = eval(as_python(part), names)
    return eval(as_python(right), names)


# Systems of equations.


class Series:
    """A quantity over time: ``x[3]`` is x₃ of the equations, and x₀ is the first value.

    On a tape that a loop overwrites, ``x[-1]`` is the position −1.
    """

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
    """An array with Python's negative indices, from its end."""

    def __getitem__(self, index):
        index = int(index)
        return self.values[index if index >= 0 else self.count + index]


def equations_of(printed):
    """Return the equations of a printed system as pairs of text; its steps; and t of each name."""
    pairs, steps, starts = [], "", {}
    for line in map(str.strip, printed.split("\n\n")[1].splitlines()):
        if line.startswith("for "):
            steps = line
        elif line.startswith("step k: "):
            told = re.findall(r"([^\s\[]+)\[t\] is ([^,]+)", line)
            starts = {name: as_python(value.removeprefix(name)).strip("[]") for name, value in told}
        elif not line.endswith(", where") and "the generator after" not in line:
            pairs.append(tuple(re.split(" = | ← ", line, maxsplit=1)))
    return pairs, steps, starts


def steps_of(told, n=None):
    """Return ``for steps 0 to 3`` as numbers; for n−1 at the end, `n` is the number of steps."""
    listed = re.sub(", until.*", "", told.removeprefix("for step").removeprefix("s"))
    if listed == "for no steps":
        return range(0)
    numbers = listed.replace("n−1", str((n or 0) - 1)).split(" to ")
    return range(int(numbers[0]), int(numbers[-1]) + 1)


def run_printed(printed, quantities, n=None):
    """Run the equations of `printed`, change `quantities`, and return the steps.

    A line defines t, for example x[t] is xₖ₊₁; buf[k+1] is a position of a tape.
    """
    pairs, told, starts = equations_of(printed)
    condition = re.search(", until (.*)", told)

    def timed(written):
        placed = re.sub(r"\[k(?=[\]+−])", "[_k", written)
        return re.sub(r"(\w+)\[t(?=[\]+−])", lambda m: f"{m[1]}[{starts.get(m[1], '_k')}", placed)

    names = {"n": n, **quantities}
    for k in steps_of(told, n):
        names["_k"] = k
        found = [computed(timed(right), names) for _, right in pairs]
        stops = condition is not None and bool(computed(timed(condition[1]), names))
        for (left, _), value in zip(pairs, found, strict=True):
            name, index = re.fullmatch(r"(\w+)\[(.*)\]", timed(left)).groups()
            quantities[name][eval(as_python(index), {"_k": k})] = value
        if stops:
            return k + 1
    return len(steps_of(told, n))


def derived(loop, order, **choice):
    """Return the trace of a derivative, and the system of every Scan in it."""
    graph = loop.build()
    made = loop.derivative(order, graph=graph, **choice)
    trace = lab.trace(made.values, graph.given, graph.node.outputs[:1])
    nodes = scan_nodes([*made.values, *graph.node.outputs[:1]])
    return trace, [lab.system(node) for node in nodes]


def first_of(tape):
    """Return the index of row 0 of a buffer; on a tape of gradients, it can be negative."""
    return -tape.tape.origin if tape.kind is Kind.MIT_MOT else 0


def backward_disagreements(loop, order, change=str, **choice):
    """Yield names of Scans and of tapes whose final values differ from the printed system.

    Each system is changed by `change`, and starts from the buffers of its Scan.
    """
    trace, systems = derived(loop, order, **choice)
    known = {s.name: Series(s.values) for s in loop.sequences}
    for scan_trace, system in zip(trace.scans, systems, strict=True):
        printed = change(str(system))
        buffers = re.findall(r"(buf\w*), the whole buffer of (\w+),", printed)
        called = {state: buffer for buffer, state in buffers}
        own = {q.argument: called.get(q.symbol, q.symbol) for q in system.quantities}
        read = dict(known)
        for tape in scan_trace.tapes:
            read[own[tape.argument]] = Series(tape.initial, first_of(tape))
        for tape in scan_trace.outputs:
            read[own[tape.argument]] = Series([])
        read |= {own[p.argument]: p.value for p in scan_trace.parameters}
        run_printed(printed, read, scan_trace.steps)
        for tape in (*scan_trace.tapes, *scan_trace.outputs):
            rows = [read[own[tape.argument]][i + first_of(tape)] for i in range(len(tape.final))]
            if not np.allclose(np.array(rows), tape.final, rtol=1e-11, atol=1e-13):
                yield scan_trace.name, tape.name
            known[tape.name] = Series(tape.final)


# Symbols, and equations in numbers below equations in symbols.

NAME = r"[^\W\d₀-₉ₖₙ][^\W₀-₉ₖₙ]*"
INDEX = "[₀-₉]+"
SYMBOL = SLOT_OR_VALUE = rf"buf(?:_{NAME})?\[−?\d+\]|{NAME}{INDEX}"
for _ in range(5):  # a derivative wrt a variable, or wrt a derivative in parentheses
    wrt = rf"(?:\((?:{SYMBOL})\)|{NAME}(?:{INDEX})?)"
    SYMBOL = rf"[d∂](?:{INDEX})?C(?:[′″‴⁗]|⁽[⁰-⁹]+⁾)?/[d∂]{wrt}|{SLOT_OR_VALUE}"
SYMBOLS = re.compile(rf"(?<!\w)(?:{SYMBOL})")


def symbols_of(written):
    """Yield the symbols of a text from left to right, each with its start and end."""
    return ((found[0], *found.span()) for found in SYMBOLS.finditer(written))


def as_names(written):
    """Return a formula with plain names, and the symbol of each name."""
    names = {f"_{n}": symbol for n, (symbol, *_) in enumerate(symbols_of(written))}
    rest = iter(names)
    return SYMBOLS.sub(lambda _: next(rest), written), names


def values_in(formula, numbers):
    """Return the numbers of the symbols on the right of a formula, and the number on the left.

    Returns None unless the formula is a tree of numbers.
    """
    _, _, right = formula.partition(" ← " if " ← " in formula else " = ")
    _, _, told = numbers.partition(" ≈ " if " ≈ " in numbers else " = ")
    code, names = as_names(right)
    found = []

    def walk(symbolic, numeric):
        if isinstance(symbolic, ast.Name) and symbolic.id in names:
            found.append((names[symbolic.id], ast.unparse(numeric)))
        if isinstance(symbolic, ast.Name):  # a parameter has no index
            return
        for part, other in zip(
            ast.iter_child_nodes(symbolic), ast.iter_child_nodes(numeric), strict=True
        ):
            walk(part, other)

    for part, other in zip(code.split("; "), told.split("; "), strict=True):
        trees = [ast.parse(unraised(t.split(" := ")[-1]), mode="eval") for t in (part, other)]
        walk(*trees)
    return [(symbol, float(eval(number))) for symbol, number in found]


def half_a_unit(number):
    """Return half a unit of the last printed digit of a number with four digits or fewer."""
    mantissa, _, exponent = number.partition("e")
    whole, _, behind = mantissa.lstrip("-").partition(".")
    digits = (whole + behind).lstrip("0")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(behind) - max(4 - len(digits), 0))


def is_true(line):
    """Return whether a printed equation in numbers is true, with ≈ to one percent."""
    if " ≈ " in line:
        left, _, right = line.partition(" ≈ ")
        return abs(float(computed(right, NUMPY)) - float(left)) <= 0.01 * abs(float(left))
    left, _, right = line.replace("⚠ ", "").partition(" = ")
    if left in ("True", "False"):
        return bool(computed(right, NUMPY)) == (left == "True")
    if not np.isfinite(float(left)):
        with np.errstate(all="ignore"):
            return np.array_equal(float(computed(right, NUMPY)), float(left), equal_nan=True)
    away = abs(float(computed(right, NUMPY)) - float(left))
    return away <= half_a_unit(left) * (1 + 1e-6)
