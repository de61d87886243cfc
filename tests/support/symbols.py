"""What is printed, read by one who knows nothing of the loop: symbols, and equations in numbers.

A symbol is a name with a subscript, a derivative, or a place; an equation in numbers stands below
the one in symbols, so that both are the same tree with other leaves.
"""

import ast
import re
from itertools import count

from oracles import NUMPY, computed, unraised

NAME = r"[^\W\d₀-₉ₖₙ][^\W₀-₉ₖₙ]*"
INDEX = "[₀-₉]+"
VALUE = re.compile(rf"{NAME}{INDEX}")
ABOVE = re.compile(rf"[d∂](?:{INDEX})?C(?:[′″‴⁗]|⁽[⁰-⁹]+⁾)?/")
PLACE = re.compile(rf"buf(?:_{NAME})?\[−?\d+\]")


def symbol_at(written, start):
    """Where the symbol that begins at `start` ends; None if there is none."""
    above = ABOVE.match(written, start)
    if above:
        below = above.end() + 1  # after the d
        if written[below] != "(":
            found = re.compile(rf"{NAME}{INDEX}|{NAME}").match(written, below)
            return found and found.end()
        inside = symbol_at(written, below + 1)
        return inside and inside + 1
    for kind in (PLACE, VALUE):
        found = kind.match(written, start)
        if found:
            return found.end()
    return None


def symbols_of(written):
    """All symbols in a text, from left to right, with where they begin and end."""
    start = 0
    while start < len(written):
        begins = start == 0 or not (written[start - 1].isalnum() or written[start - 1] == "_")
        end = symbol_at(written, start) if begins else None
        if end:
            yield written[start:end], start, end
        start = end or start + 1


def as_names(written):
    """A formula whose symbols are plain names, and which symbol each stands for."""
    names, code, last, numbers = {}, "", 0, count()
    for symbol, start, end in symbols_of(written):
        name = f"_{next(numbers)}"
        names[name] = symbol
        code += written[last:start] + name
        last = end
    return code + written[last:], names


def values_in(formula, numbers):
    """Which symbol of a formula's right side has which number, and the number on the left.

    None for formulas that are no trees of numbers.
    """
    _, _, right = formula.partition(" ← " if " ← " in formula else " = ")
    _, _, told = numbers.partition(" ≈ " if " ≈ " in numbers else " = ")
    code, names = as_names(right)
    found = []

    def walk(symbolic, numeric):
        if isinstance(symbolic, ast.Name) and symbolic.id in names:
            found.append((names[symbolic.id], ast.unparse(numeric)))
        if isinstance(symbolic, ast.Name):  # as a parameter, whose name is all of it
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
    """Half a unit of the last digit of a number as it is written."""
    mantissa, _, exponent = number.partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def is_true(line):
    """Whether an equation in numbers is true as it is printed; one with ≈ to a hundredth."""
    if " ≈ " in line:
        left, _, right = line.partition(" ≈ ")
        return abs(float(computed(right, NUMPY)) - float(left)) <= 0.01 * abs(float(left))
    left, _, right = line.partition(" = ")
    if left in ("True", "False"):
        return bool(computed(right, NUMPY)) == (left == "True")
    away = abs(float(computed(right, NUMPY)) - float(left))
    return away <= half_a_unit(left) * (1 + 1e-6)
