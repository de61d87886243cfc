"""Formulas against formulas written by hand, and against their own numbers."""

import re

import pytest

import lab
from lab import gallery
from lab.formula import LATEX


def spelled(name, scan, step, style=None, **options):
    trace = gallery.loops[name].trace(**options)
    return lab.spelled(trace.scans[scan], step, *([style] if style else []))


def test_the_first_backward_step():
    (written,) = spelled("square", 1, 0)
    assert written.formula == "buf[1] ← buf[0]·2·x[3] + buf[1]"
    assert written.numbers == "1.327 = 1·2·0.6634 + 0"


def test_the_second_backward_loop_counts_from_minus_one():
    carried, kept, partial = spelled("square", 2, 0, order=2)
    assert carried.formula == "buf[0] ← buf[-1]·2·x[0] + buf[0]"
    assert kept.formula == "buf[-1] ← buf[-1]"
    assert partial.formula == "d2x[0] ← buf[-1]·2·dx[1]"
    assert partial.numbers == "7.803 = 1·2·3.901"


def test_latex():
    (written,) = spelled("square", 1, 0, LATEX)
    assert written.formula == (
        r"\mathrm{buf}_{1} \leftarrow \mathrm{buf}_{0} \cdot 2 \cdot x_{3} + \mathrm{buf}_{1}"
    )
    (newton,) = spelled("newton", 0, 0, LATEX, order=0)
    assert newton.formula == r"x_{1} \leftarrow 0.5 \cdot (x_{0} + \frac{a}{x_{0}})"


@pytest.mark.parametrize(
    ("name", "formulas"),
    [
        ("fibonacci", ["x[2] ← x[0] + x[1]"]),
        ("gap", ["x[3] ← sin(x[0]) + x[2]·x[0]"]),
        ("window", ["x[1] ← x[0] + u[1]·(u[0] + u[2])"]),
        ("rnn", ["h[1] ← tanh(W @ h[0] + U @ x[0])"]),
        ("extra", ["x[1] ← exp(x[0]·w)", "cube[0] ← exp(x[0]·w)³"]),
        ("lookup", ["x[1] ← x[0]·table[k[0]]"]),
        ("logistic", ["x[1] ← x[0]·r·(1 − x[0])"]),
    ],
)
def test_forward_steps(name, formulas):
    assert [written.formula for written in spelled(name, 0, 0, order=0)] == formulas


def test_equations_agree_with_the_indices_of_the_cells():
    """Written for all steps, an output lags behind a state that has an initial value."""
    from lab.spelling import Speller

    scan = gallery.loops["extra"].trace(order=0).scans[0]
    speller = Speller(scan)
    equations = [speller.equation(formula) for formula in scan.formulas]
    assert equations == ["x[t] = exp(x[t−1]·w)", "cube[t−1] = exp(x[t−1]·w)³"]


@pytest.mark.parametrize("name", gallery.loops)
def test_the_numbers_of_a_formula_give_its_left_side(name):
    """1.327 = 1·2·0.6634 + 0: computed again from what is written, with four digits."""
    trace = gallery.loops[name].trace(order=2)
    for scan in trace.scans:
        for step in range(scan.steps):
            for written in lab.spelled(scan, step):
                if not written.numbers or re.search(r"[a-df-z]{2,}", written.numbers):
                    continue
                left, right = written.numbers.split(" = ")
                code = right.replace("·", "*").replace("−", "-").replace("^", "**")
                for digit, raised in zip("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True):
                    code = re.sub(f"{raised}", f"**{digit}", code)
                scale = max(1.0, *map(abs, map(float, re.findall(r"[\d.]+(?:e-?\d+)?", right))))
                assert eval(code) == pytest.approx(float(left), rel=5e-3, abs=5e-3 * scale)


def test_the_checker_of_numbers_would_notice():
    assert eval("1*2*0.6634 + 0") != pytest.approx(1.5, rel=5e-3)
