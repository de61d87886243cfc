"""Formulas against formulas written by hand, and against their own numbers."""

import re
from dataclasses import replace

import numpy as np
import pytensor.tensor as pt
import pytest
from oracles import Remembering, computed

import lab
from lab.equations.spelling import Speller
from lab.loops import gallery
from lab.notation import LATEX, text


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
    scan = gallery.loops["extra"].trace(order=0).scans[0]
    speller = Speller(scan)
    equations = [speller.equation(formula) for formula in scan.formulas]
    assert equations == ["x[t] = exp(x[t−1]·w)", "cube[t−1] = exp(x[t−1]·w)³"]


# Every formula is read back as Python and computed from the values that its step read.


def recomputed(scan, formula, step):
    """The value of a formula's expression, computed from its text by Python and numpy."""
    speller, values = Speller(scan), {}

    def leaf(found):
        name = f"v{found.argument}_{found.tap or 0}".replace("-", "m")
        values[name] = np.asarray(speller._value(found, step)).view(Remembering)
        return name

    return computed(text(formula.expression, leaf), values)


def disagreements(scan):
    """Formulas of a Scan whose text does not give what its steps have written."""
    for formula in scan.formulas:
        target = scan.variable(formula.target)
        access = next(a for a in target.writes if a.tap == formula.target.tap)
        for step in range(scan.steps):
            found = recomputed(scan, formula, step)
            if not np.allclose(found, access.values[step], rtol=1e-9, atol=1e-12):
                yield formula, step, found, access.values[step]


@pytest.mark.parametrize("name", [n for n in gallery.loops if n != "walk"])
def test_every_formula_computes_what_its_step_wrote(name):
    for order in (1, 2):
        for scan in gallery.loops[name].trace(order=order).scans:
            assert list(disagreements(scan)) == []


@pytest.mark.parametrize("wrt", ["W", "U", "x"])
def test_products_of_matrices_are_written_without_columns(wrt):
    """By a matrix, PyTensor makes columns of vectors, and transposes what it has transposed."""
    for scan in gallery.loops["rnn"].trace(order=3, wrt=wrt).scans:
        assert list(disagreements(scan)) == []
        for equation in map(Speller(scan).equation, scan.formulas):
            assert "None" not in equation
            assert "ᵀ)ᵀ" not in equation


M = np.array([[0.5, 0.2], [0.1, 0.7]])
STEPS = {
    "sum": lambda x: x * x.sum(),
    "product": lambda x: x * pt.prod(x),
    "softmax by hand": lambda x: x / pt.exp(x).sum(),
    "reversed": lambda x: x[::-1] * 0.5,
    "shifted": lambda x: x + x[1:].sum(),
    "comparison": lambda x: x + (x > 0.6) * 0.5,
    "choice": lambda x: pt.switch(x >= 0.6, x * 0.5, x - 0.1),
    "difference of differences": lambda x: x - (x.sum() - (x - 0.1)),
    "quotient of quotients": lambda x: x / (2.0 / (x + 1.0)),
    "power of a power": lambda x: (x**2.5) ** 1.5,
    "negation": lambda x: -(x + 1.0) * 0.1,
    "matrix": lambda x: x @ pt.outer(x, x),
    "truncation": lambda x: x + pt.cast(x * 3, "int64"),
    "first": lambda x: x * x[0],
    "last two": lambda x: x * x[-2:].prod(),
}


@pytest.mark.parametrize("name", STEPS)
def test_formulas_of_strange_steps(name):
    loop = lab.Loop(STEPS[name], states=(lab.State("x", np.array([0.4, 0.7, 0.9])),), n_steps=2)
    for scan in loop.trace(order=1, cost="sum").scans:
        assert list(disagreements(scan)) == []


def test_reductions_along_an_axis():
    loop = lab.Loop(
        lambda m: m * m.sum(axis=1, keepdims=True),
        states=(lab.State("m", M),),
        n_steps=1,
    )
    (written,) = lab.spelled(loop.trace(order=0).scans[0], 0)
    assert "sum(m[0], axis=1)" in written.formula


def test_the_reader_of_formulas_notices_a_wrong_one():
    scan = gallery.loops["gap"].trace(order=0).scans[0]
    (formula,) = scan.formulas
    wrong = replace(formula, expression=formula.expression.arguments[0])
    assert list(disagreements(replace(scan, formulas=(wrong,))))
    backward = gallery.loops["rnn"].trace().scans[1]  # dh[t+1] = Wᵀ @ … + dh[t+1]
    turned = next(f for f in backward.formulas if "Wᵀ" in Speller(backward).equation(f))
    body = turned.expression.arguments[0]
    straight = replace(body, arguments=(body.arguments[0].arguments[0], body.arguments[1]))
    wrong = replace(turned, expression=straight)
    assert list(disagreements(replace(backward, formulas=(wrong,))))


def test_a_rotation_of_axes_is_no_transposition():
    loop = lab.Loop(
        lambda x: x.dimshuffle(1, 2, 0) * 0.5,
        states=(lab.State("x", np.ones((2, 2, 2))),),
        n_steps=1,
    )
    scan = loop.trace(order=0).scans[0]
    (equation,) = map(Speller(scan).equation, scan.formulas)
    assert "dimshuffle(" in equation
    assert "ᵀ" not in equation


@pytest.mark.parametrize("name", [n for n in gallery.loops if n != "walk"])
def test_the_numbers_of_a_formula_are_those_of_its_text(name):
    trace = gallery.loops[name].trace(order=2)
    for scan in trace.scans:
        for step in range(scan.steps):
            for written in lab.spelled(scan, step):
                if written.numbers:
                    left, right = written.numbers.split(" = ", 1)
                    numbers = map(float, re.findall(r"\d+\.?\d*(?:e-?\d+)?", right))
                    scale = max(1.0, *map(abs, numbers))
                    found = computed(right, {})
                    assert found == pytest.approx(float(left), rel=5e-3, abs=5e-3 * scale)


GROWING = {
    "products": lambda a, b: a * b,
    "sums": lambda a, b: a + b,
    "differences": lambda a, b: a - b,
    "quotients": lambda a, b: a / b,
    "powers": lambda a, b: (a * b) ** 0.5,
}


def growing(join, times):
    """Each result is made of the last two, so that written out it has Fibonacci's many members."""

    def step(x):
        before, last = x, pt.sin(x)
        for _ in range(times):
            before, last = last, join(before, last)
        return last

    return lab.Loop(step, states=(lab.State("x", 0.9),), n_steps=2)


@pytest.mark.filterwarnings("ignore:overflow")  # of quotients
@pytest.mark.parametrize("name", GROWING)
def test_what_doubles_with_every_line_is_written(name):
    """At 60 PyTensor's simplifying does not end, nor does the formula; at 4 both do."""
    for scan in growing(GROWING[name], 60).trace(order=1).scans:
        assert all(written.formula for written in lab.spelled(scan, 0))
    for scan in growing(GROWING[name], 4).trace(order=1).scans:
        assert list(disagreements(scan)) == []


@pytest.mark.parametrize("name", ["products", "sums", "differences"])
def test_what_is_not_simplified_has_the_same_numbers(name):
    for scan in growing(GROWING[name], 11).trace(order=1).scans:
        assert list(disagreements(scan)) == []


def test_a_fraction_of_nothing_is_written_without_a_warning():
    loop = lab.Loop.from_text("x + 1/0", {"x": 1.0}, n_steps=1)
    assert loop.trace(order=0).outputs[0] == np.inf
