"""Numbers as they are written in pictures and equations."""

import re

import numpy as np
import pytest

from lab.equations.quantities import Quantities
from lab.equations.spelling import Speller
from lab.loops import gallery
from lab.notation import below, number_text

PLACE = re.compile(r"\[([−+k0-9]*k[−+0-9]*)\]")
INDEX = re.compile("[₀-₉₊₋]*ₖ[₀-₉₊₋]*")
PLAIN_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋ₖ−", "0123456789+-k-")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (0.66342, "0.6634"),
        (float("nan"), "⚠ nan"),
        (float("-inf"), "⚠ -inf"),
        (1e-300, "1e-300"),
        (-1.23456e300, "-1.235e300"),
        (np.int64(123456), "123456"),
        (np.int64(12345678901), "1.235e10"),
        (True, "True"),
        (1.5e-7, "1.5e-7"),
    ],
)
def test_numbers_have_four_significant_digits(value, written):
    assert number_text(value) == written


def with_step(formula, k):
    """A formula in k at the step that k stands for."""

    def number(found):
        total = 0
        for sign, term in re.findall("([+-]?)(k|[0-9]+)", found.translate(PLAIN_DIGITS)):
            total += (-1 if sign == "-" else 1) * (k if term == "k" else int(term))
        return total

    formula = PLACE.sub(lambda m: f"[{number(m[1])}]".replace("-", "−"), formula)
    return INDEX.sub(lambda m: below(number(m[0])), formula)


@pytest.mark.parametrize("name", ["square", "gap", "coupled", "rnn", "newton", "window"])
def test_in_k_alone_a_formula_is_that_of_every_step(name):
    for order in (1, 2, 3):
        trace = gallery.loops[name].trace(order=order)
        compared = 0
        for number, scan in enumerate(trace.scans):
            speller = Speller(Quantities(trace, number))
            for formula in scan.formulas if scan.parent is not None else ():
                told = speller.at_k(formula)
                assert not re.search(r"\[t[−+\]]", told)
                for step in range(scan.steps):
                    assert with_step(told, step) == speller.at(formula, step)
                    compared += "k" in told
                shifted = told.replace("[k", "[1+k")
                assert shifted == told or with_step(shifted, 0) != speller.at(formula, 0)
        assert compared
