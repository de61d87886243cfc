"""Reference results: closed forms, finite differences, loops and printed equations in NumPy.

The parsers of equations use only the printed text.
"""

import ast
import math
import re
from itertools import pairwise

import numpy as np
from scipy.special import jv, softmax

import lab
from lab.checks import check
from lab.gradients.decisions import RULE
from lab.scans.replacing import scan_nodes
from lab.tape import Kind


def power_derivative(power: int, order: int, x: float) -> float:
    """Return the derivative of x**power: power·(power-1)·…·x**(power-order)."""
    return math.perm(power, order) * x ** (power - order)


def check_orders(cost, wrt, given, order=2, tolerance=1e-6, rule=RULE):
    """Compare each derivative with finite differences of the previous derivative."""
    values = lab.derivative(cost, wrt, order, rule=rule).values
    for lower, higher in pairwise(values):
        check.gradient(lower.sum() if lower.ndim else lower, wrt, higher, given, tolerance)


# Formulas, read back as Python.

RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

SAME = "abs cos exp int64 log1p nan outer prod sign sin sqrt sum tanh where"
NUMPY = {
    "prodwithoutzeros": lambda values: np.prod(values, where=values != 0),
    "zeros": lambda n: np.zeros(int(n)),
    **{name: getattr(np, name) for name in SAME.split()},
    "concat": lambda *arrays, axis=0: np.concatenate(arrays, axis),
    "softmax": softmax,
    "split": lambda whole, sizes, axis=0: np.split(whole, np.cumsum(sizes)[:-1], axis),
    "jv": jv,
    "max": np.maximum,
    "inv": np.linalg.inv,
}


class Placed:
    """A value at an index, which can be added to an array: ``array + (value|Placed[index])``."""

    __array_ufunc__ = None  # NumPy calls the methods of this class

    def __class_getitem__(cls, index):
        return type("", (cls,), {"index": index})()

    def __ror__(self, value):
        self.value = value
        return self

    def __radd__(self, array):
        result = np.array(array)
        np.add.at(result, self.index, self.value)
        return result


# Signs of indices; _k is the number of the step, because a variable can have the name k.
BELOW = {
    ord(sign): part
    for sign, part in zip("₀₁₂₃₄₅₆₇₈₉₊₋ₖₙ", [*"0123456789+-", "_k", "n"], strict=True)
}


def as_code(formula):
    """Return a formula with the operators of Python."""
    code = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: f"**{m.group().translate(RAISED)}", formula)
    for sign, operator in {"·": "*", "−": "-", "^": "**", "ᵀ": ".T", " = ": " == "}.items():
        code = code.replace(sign, operator)
    return code.replace("≥", ">=").replace("≤", "<=").replace("≠", "!=").replace(" at [", "|at[")


def as_python(formula):
    """Return ``x₃₋ₖ`` as x[3-k]; do not replace ``x[t−1]``, which depends on t."""
    return re.sub("[₀-₉₊₋ₖₙ]+", lambda m: f"[{m.group().translate(BELOW)}]", as_code(formula))


def evaluate(formula, names):
    """Return the value of a formula with definitions after it: ``a·a; a := sin(x)``."""
    right, *definitions = formula.split("; ")
    names = {**NUMPY, "at": Placed, **names}
    for name, part in (binding.split(" := ") for binding in reversed(definitions)):
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
        return self.values[int(index)]

    def __setitem__(self, index, value):
        self.values[int(index)] = np.asarray(value)


def equations_of(printed):
    """Return both sides of each printed equation, the line of steps, and t for each name."""
    pairs, steps, starts = [], "", {}
    for line in map(str.strip, printed.split("\n\n")[1].splitlines()):
        if line.startswith("for "):
            steps = line
        elif line.startswith("step k: "):
            definitions = re.findall(r"([^\s\[]+)\[t\] is ([^,]+)", line)
            starts = {n: as_python(v.removeprefix(n)).strip("[]") for n, v in definitions}
        elif not line.endswith(", where") and "the generator after" not in line:
            pairs.append(tuple(re.split(" = | ← ", line, maxsplit=1)))
    return pairs, steps, starts


def steps_of(text, n=None):
    """Return ``for steps 0 to 3`` as numbers; for n−1 at the end, `n` is the number of steps."""
    steps = re.sub(", until.*", "", text.removeprefix("for step").removeprefix("s"))
    if steps == "for no steps":
        return range(0)
    numbers = steps.replace("n−1", str((n or 0) - 1)).split(" to ")
    return range(int(numbers[0]), int(numbers[-1]) + 1)


def run_printed(printed, quantities, n=None):
    """Run the equations of `printed`, change `quantities`, and return the number of steps.

    A line of `printed` defines t, for example x[t] is xₖ₊₁. In buf[k+1], k+1 is a position.
    """
    pairs, steps, starts = equations_of(printed)
    condition = re.search(", until (.*)", steps)

    def substitute(formula):
        text = re.sub(r"\[k(?=[\]+−])", "[_k", formula)
        return re.sub(r"(\w+)\[t(?=[\]+−])", lambda m: f"{m[1]}[{starts.get(m[1], '_k')}", text)

    names = {"n": n, **quantities}
    for k in steps_of(steps, n):
        names["_k"] = k
        values = [evaluate(substitute(right), names) for _, right in pairs]
        stops = condition is not None and bool(evaluate(substitute(condition[1]), names))
        for (left, _), value in zip(pairs, values, strict=True):
            name, index = re.fullmatch(r"(\w+)\[(.*)\]", substitute(left)).groups()
            quantities[name][eval(as_python(index), {"_k": k})] = value
        if stops:
            return k + 1
    return len(steps_of(steps, n))


def derive_with_systems(loop, order, **options):
    """Return the trace of a derivative, and the system of every Scan in it."""
    graph = loop.build()
    derivative = loop.derivative(order, graph=graph, **options)
    trace = lab.trace(derivative.values, graph.given, graph.node.outputs[:1])
    nodes = scan_nodes([*derivative.values, *graph.node.outputs[:1]])
    return trace, [lab.system(node) for node in nodes]


def first_of(tape):
    """Return the index of row 0 of a buffer; on a tape of gradients, it can be negative."""
    return -tape.tape.origin if tape.kind is Kind.MIT_MOT else 0


def backward_disagreements(loop, order, change=str, **options):
    """Yield names of Scans and of tapes whose final values differ from the printed system.

    The function `change` changes each printed system. A system starts from the buffers of its Scan.
    """
    trace, systems = derive_with_systems(loop, order, **options)
    known = {s.name: Series(s.values) for s in loop.sequences}
    for scan_trace, system in zip(trace.scans, systems, strict=True):
        printed = change(str(system))
        buffers = re.findall(r"(buf\w*), the whole buffer of (\w+),", printed)
        buffer_names = {state: buffer for buffer, state in buffers}
        names = {q.argument: buffer_names.get(q.symbol, q.symbol) for q in system.quantities}
        read = dict(known)
        for tape in scan_trace.tapes:
            read[names[tape.argument]] = Series(tape.initial, first_of(tape))
        for tape in scan_trace.outputs:
            read[names[tape.argument]] = Series([])
        read |= {names[p.argument]: p.value for p in scan_trace.parameters}
        run_printed(printed, read, scan_trace.steps)
        for tape in (*scan_trace.tapes, *scan_trace.outputs):
            rows = [read[names[tape.argument]][i + first_of(tape)] for i in range(len(tape.final))]
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


def symbols_of(text):
    """Yield the symbols of a text from left to right, each with its start and end."""
    return ((match[0], *match.span()) for match in SYMBOLS.finditer(text))


def as_names(formula):
    """Return a formula with plain names, and the symbol of each name."""
    names = {f"_{n}": symbol for n, (symbol, *_) in enumerate(symbols_of(formula))}
    rest = iter(names)
    return SYMBOLS.sub(lambda _: next(rest), formula), names


def values_in(formula, numbers):
    """Return pairs of a symbol on the right of a formula and the printed number of the symbol."""
    _, _, right = formula.partition(" ← " if " ← " in formula else " = ")
    _, _, numeric_right = numbers.partition(" ≈ " if " ≈ " in numbers else " = ")
    code, names = as_names(right)
    values = []

    def walk(symbolic, numeric):
        if isinstance(symbolic, ast.Name) and symbolic.id in names:
            values.append((names[symbolic.id], ast.unparse(numeric)))
        if isinstance(symbolic, ast.Name):  # a parameter has no index
            return
        for part, other in zip(
            ast.iter_child_nodes(symbolic), ast.iter_child_nodes(numeric), strict=True
        ):
            walk(part, other)

    for part, other in zip(code.split("; "), numeric_right.split("; "), strict=True):
        trees = [ast.parse(as_code(t.split(" := ")[-1]), mode="eval") for t in (part, other)]
        walk(*trees)
    return [(symbol, float(eval(number))) for symbol, number in values]


def half_a_unit(number):
    """Return half a unit of the last digit of a printed number, where 1 means 1.000."""
    mantissa, _, exponent = number.partition("e")
    whole, _, decimals = mantissa.lstrip("-").partition(".")
    digits = (whole + decimals).lstrip("0")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(decimals) - max(4 - len(digits), 0))


def is_true(line):
    """Return whether a printed equation in numbers is true, with ≈ to one percent."""
    if " ≈ " in line:
        left, _, right = line.partition(" ≈ ")
        return abs(float(evaluate(right, NUMPY)) - float(left)) <= 0.01 * abs(float(left))
    left, _, right = line.replace("⚠ ", "").partition(" = ")
    if left in ("True", "False"):
        return bool(evaluate(right, NUMPY)) == (left == "True")
    if not np.isfinite(float(left)):
        with np.errstate(all="ignore"):
            return np.array_equal(float(evaluate(right, NUMPY)), float(left), equal_nan=True)
    error = abs(float(evaluate(right, NUMPY)) - float(left))
    return error <= half_a_unit(left) * (1 + 1e-6)
