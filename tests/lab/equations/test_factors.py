"""Factors of a leaf in expressions, compared with factors by hand."""

import pytest

from lab.equations.factors import factor_of
from lab.notation import Binding, Call, Leaf, Let, Number, SharedTerm, render

A, B, X = Leaf("a", 0, 0), Leaf("b", 0, 1), Leaf("x", None, 2)
TWO = Number("2")


BOUND = (Binding("c", Call("Mul", (A, X))),)
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
    found = factor_of(expression, A)
    assert (None if found is None else render(found, lambda leaf: leaf.variable)) == factor
