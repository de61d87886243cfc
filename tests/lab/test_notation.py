"""Numbers, ranges of numbers, and counts of operations as text; factors in expressions."""

import re
from itertools import combinations

import numpy as np
import pytest

from lab import notation
from lab.equations.factors import factor_of
from lab.notation import Call, Leaf, Let, Number, SharedTerm, number_text, ranges_text, render


def test_consecutive_numbers_are_written_as_a_range():
    for expected in combinations(range(9), 5):
        text, numbers = ranges_text(expected), list[int]()
        for part in text.split(", "):
            first, _, last = part.partition("–")
            numbers += range(int(first), int(last or first) + 1)
            assert not last or int(last) >= int(first) + 2
        assert numbers == list(expected)
    assert ranges_text([1, 33, 34, 35, 37]) == "1, 33–35, 37"
    assert ranges_text([]) == ""


LATEX_NAMES = [("a-b", r"a\text{-}b"), ("x = 1", r"x\ =\ 1"), ("{^\\", r"\{\wedge \backslash ")]


@pytest.mark.parametrize(("name", "latex"), LATEX_NAMES)
def test_latex_contains_all_characters_of_a_name(name, latex):
    assert notation.symbol(name, notation.LATEX) == rf"\mathrm{{{latex}}}"
    assert render(Number(f"{name}="), str, notation.LATEX) == rf"\mathrm{{{latex}=}}"  # a property


@pytest.mark.parametrize("unwritten", [0, 1, 7])
def test_operations_that_are_not_written_are_counted_once(unwritten):
    """Equal terms fill a text up to its limit; the text counts the `unwritten` operations."""
    repeated = Call("sin", (Leaf("x", None, 0),))
    others = tuple(Call(f"f{number}", (Leaf("x", None, 0),)) for number in range(unwritten))
    words = render(
        Call("Add", (repeated,) * notation.MAX_CHARACTERS + others), lambda leaf: leaf.variable
    )
    counts = re.findall(r"\((-?\d+) more operations?\)", words)
    assert counts == [str(unwritten)] * bool(unwritten)


NUMBERS = [(0.0, "0"), (-0.0, "0"), (1.0, "1"), (0.66342, "0.6634"), (float("nan"), "⚠ nan")]
NUMBERS += [(float("-inf"), "⚠ -inf"), (1e-300, "1e-300"), (-1.23456e300, "-1.235e300")]
NUMBERS += [(np.int64(123456), "123456"), (np.int64(12345678901), "1.235e10"), (True, "True")]
NUMBERS += [(1.5e-7, "1.5e-7")]
ONE_DIGIT = [(0.26, "0.3"), (2.6, "3"), (1234567.9, "1e6"), (-0.000012, "-1e-5")]


@pytest.mark.parametrize(
    ("value", "written", "digits"), [(*n, 4) for n in NUMBERS] + [(*n, 1) for n in ONE_DIGIT]
)
def test_numbers_have_their_significant_digits(value, written, digits):
    assert number_text(value, digits) == written


A, B, X = Leaf("a", 0, 0), Leaf("b", 0, 1), Leaf("x", None, 2)
TWO = Number("2")


BOUND = (("c", Call("Mul", (A, X))),)
FACTORS = [
    (A, "1"),
    (Call("Mul", (A, TWO, X)), "2·x"),
    (Call("Add", (Call("Mul", (TWO, A)), B)), "2"),
    (Call("Add", (A, Call("Mul", (X, Call("Add", (A, B)))))), "1 + x"),
    (Call("Sub", (A, Call("TrueDiv", (A, X)))), "1 − 1/x"),
    (Call("Sub", (B, Call("Mul", (A, X)))), "−x"),
    (Call("Neg", (A,)), "−1"),
    (Let(BOUND, Call("Add", (SharedTerm("c"), SharedTerm("c")))), "x + x"),
    (B, None),
    (Call("Mul", (A, A)), None),
    (Call("TrueDiv", (X, A)), None),
    (Call("tanh", (A,)), None),
    (Call("Add", (A, Call("Mul", (X, Call("exp", (A,)))))), None),
]


@pytest.mark.parametrize(("expression", "factor"), FACTORS)
def test_factors(expression, factor):
    result = factor_of(expression, A)
    assert (None if result is None else render(result, lambda leaf: leaf.variable)) == factor
