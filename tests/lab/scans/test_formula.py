"""Formulas against formulas written by hand, and against their own numbers."""

from dataclasses import replace

import numpy as np
import pytensor.tensor as pt
import pytest
from oracles import Remembering, computed
from strange_loops import formulas_at

import lab
from lab.equations.quantities import Quantities
from lab.equations.spelling import Speller, loop_offsets
from lab.loops import gallery
from lab.notation import render

# The loop, its order, the Scan, and the formulas of step 0.
FORMULAS = [
    ("square", 1, 1, ["buf[1] ← buf[0]·2·x₃ + buf[1]"]),
    (
        "square",
        2,
        2,
        ["buf[0] ← buf[−1]·2·x₀ + buf[0]", "buf[−1] ← buf[−1]", "∂C′/∂x₀ = buf[−1]·2·dC/dx₁"],
    ),
    ("fibonacci", 0, 0, ["x₂ = x₀ + x₁"]),
    ("gap", 0, 0, ["x₃ = sin(x₀) + x₂·x₀"]),
    ("window", 0, 0, ["x₁ = x₀ + u₁·(u₀ + u₂)"]),
    ("rnn", 0, 0, ["h₁ = tanh(W @ h₀ + U @ x₀)"]),
    ("extra", 0, 0, ["x₁ = exp(x₀·w)", "cube₀ = exp(x₀·w)³"]),
    ("lookup", 0, 0, ["x₁ = x₀·table[k₀]"]),
    ("logistic", 0, 0, ["x₁ = x₀·r·(1 − x₀)"]),
    ("newton", 0, 0, ["x₁ = 0.5·(x₀ + a/x₀)"]),
]


@pytest.mark.parametrize(("name", "order", "scan", "formulas"), FORMULAS)
def test_formulas_of_a_step(name, order, scan, formulas):
    written = formulas_at(gallery.loops[name].trace(order=order), scan, 0)
    assert [formula for formula, _ in written] == formulas


def test_numbers_of_a_step():
    trace = gallery.loops["square"].trace(order=2)
    assert next(formulas_at(trace, 1, 0))[1] == "1.327 = 1·2·0.6634 + 0"
    assert [*formulas_at(trace, 2, 0)][-1][1] == "7.803 = 1·2·3.9014"


def test_taps_count_from_what_the_step_makes():
    """A sentence names their values, which differ between variables."""
    named = Quantities(gallery.loops["extra"].trace(order=0), 0)
    equations = [Speller(named).equation(formula) for formula in named.scan.formulas]
    assert equations == ["x[t] = exp(x[t−1]·w)", "cube[t] = exp(x[t−1]·w)³"]
    assert loop_offsets(named) == "step k: x[t] is xₖ₊₁, cube[t] is cubeₖ"


# Python evaluates every formula with the values that its step read.


def recomputed(named, formula, step):
    """The value of a formula's expression, computed from its text by Python and numpy."""
    speller, values = Speller(named), {}

    def leaf(found):
        name = f"v{found.argument}_{found.tap or 0}".replace("-", "m")
        values[name] = np.asarray(speller.value(found, step)).view(Remembering)
        return name

    return computed(render(formula.expression, leaf), values)


def disagreements(trace):
    """Formulas of Scans whose value differs from the written value."""
    for named in Quantities.each(trace):
        yield from disagreements_of(named)


def disagreements_of(named):
    scan = named.scan
    for formula in scan.formulas:
        target = scan.variable(formula.target)
        access = next(a for a in target.writes if a.tap == formula.target.tap)
        for step in range(scan.steps):
            found = recomputed(named, formula, step)
            if not np.allclose(found, access.values[step], rtol=1e-9, atol=1e-12):
                yield formula, step, found, access.values[step]


@pytest.mark.parametrize("name", [n for n in gallery.loops if n != "walk"])
def test_every_formula_computes_what_its_step_wrote(name):
    for order in (1, 2):
        assert list(disagreements(gallery.loops[name].trace(order=order))) == []


@pytest.mark.parametrize("wrt", ["W", "U", "x"])
def test_products_of_matrices_are_written_without_columns(wrt):
    """With a matrix, PyTensor uses columns instead of vectors, and transposes twice."""
    for named in Quantities.each(gallery.loops["rnn"].trace(order=3, wrt=wrt)):
        assert list(disagreements_of(named)) == []
        for equation in map(Speller(named).equation, named.scan.formulas):
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
    assert list(disagreements(loop.trace(order=1, cost="sum"))) == []


def test_the_reader_of_formulas_notices_a_wrong_one():
    trace = gallery.loops["gap"].trace(order=0)
    (formula,) = trace.scans[0].formulas
    wrong = replace(formula, expression=formula.expression.arguments[0])
    scan = replace(trace.scans[0], formulas=(wrong,))
    assert list(disagreements(replace(trace, scans=(scan,))))
    trace = gallery.loops["rnn"].trace()
    backward = Quantities(trace, 1)  # dh[t+1] ← Wᵀ @ … + dh[t+1]
    spell = Speller(backward)
    turned = next(f for f in backward.scan.formulas if "Wᵀ" in spell.equation(f))
    body = turned.expression.arguments[0]
    straight = replace(body, arguments=(body.arguments[0].arguments[0], body.arguments[1]))
    wrong = replace(turned, expression=straight)
    scans = (trace.scans[0], replace(backward.scan, formulas=(wrong,)))
    assert list(disagreements(replace(trace, scans=scans)))


GROWING = {
    "products": lambda a, b: a * b,
    "sums": lambda a, b: a + b,
    "differences": lambda a, b: a - b,
    "quotients": lambda a, b: a / b,
    "powers": lambda a, b: (a * b) ** 0.5,
}


def growing(join, times):
    """Each result reads the last two; the expanded formula grows like Fibonacci's numbers."""

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
    trace = growing(GROWING[name], 60).trace(order=1)
    for number in range(len(trace.scans)):
        assert all(formula for formula, _ in formulas_at(trace, number, 0))
    assert list(disagreements(growing(GROWING[name], 4).trace(order=1))) == []
