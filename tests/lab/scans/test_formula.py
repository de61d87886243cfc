"""Compare formulas of steps with handwritten formulas, and run the formulas in NumPy."""

import pickle
import re

import numpy as np
import pytensor.tensor as pt
import pytest
from graphs import scan
from oracles import backward_disagreements, derive_with_systems
from pytensor.compile.builders import OpFromGraph
from strange_loops import formulas_at

import lab
from lab.equations.quantities import Quantities
from lab.loops import gallery
from lab.notation import MAX_CHARACTERS, calls_of
from lab.reports.canonical import outer_expression
from lab.traces.run import run


@pytest.mark.parametrize("wrt", ["W", "U", "x"])
def test_products_of_matrices_are_written_without_columns(wrt):
    """With a matrix, PyTensor uses columns instead of vectors, and transposes twice."""
    loop = gallery.loops["rnn"]
    assert list(backward_disagreements(loop, 1, wrt=wrt)) == []
    for system in derive_with_systems(loop, 3, wrt=wrt)[1]:
        assert "None" not in str(system)
        assert "ᵀ)ᵀ" not in str(system)


@pytest.mark.parametrize(("name", "right", "wrong"), [("rnn", "Wᵀ", "W"), ("gap", "cos", "sin")])
def test_a_wrong_equation_of_a_derivative_is_detected(name, right, wrong):
    assert list(backward_disagreements(gallery.loops[name], 1, lambda s: s.replace(right, wrong)))


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
    "softmax": lambda x: x * pt.special.softmax(x * 2),
    "neighbors": lambda x: x + pt.concatenate([x[1:], x[:1]]) / x.shape[0],
    "vector": lambda x: x * pt.stack([x[1], x[2] * x[0], x[0]]),
    "selected": lambda x: x * x[[1, 1, 2]],
}


@pytest.mark.parametrize("name", STEPS)
def test_systems_of_strange_steps(name):
    loop = lab.Loop(STEPS[name], states=(lab.State("x", np.array([0.4, 0.7, 0.9])),), n_steps=2)
    assert list(backward_disagreements(loop, 1, cost="sum")) == []


GROWING = {
    "products": lambda a, b: a * b,
    "sums": lambda a, b: a + b,
    "differences": lambda a, b: a - b,
    "quotients": lambda a, b: a / b,
    "powers": lambda a, b: (a * b) ** 0.5,
    "sines": lambda _, b: pt.sin(b) * pt.cos(b),
}


def growing(join, times):
    """Return a loop; the number of terms in its expanded formula is a Fibonacci number."""

    def step(x):
        before, last = x, pt.sin(x)
        for _ in range(times):
            before, last = last, join(before, last)
        return last

    return lab.Loop(step, states=(lab.State("x", 0.9),), n_steps=2)


@pytest.mark.filterwarnings("ignore:overflow")  # in quotients
@pytest.mark.parametrize("name", GROWING)
def test_formulas_that_double_with_every_line_are_written(name):
    """With 60 lines, PyTensor's simplification and the full formula would not end."""
    trace = growing(GROWING[name], 60).trace(order=1)
    assert len(pickle.dumps(trace)) < 100_000
    for quantities in Quantities.each(trace):
        (formula,) = quantities.scan.formulas
        assert len(calls_of(formula.expression)) < 500
        for text in (quantities.equation(formula), quantities.formula_at(formula, 0)):
            assert 0 < len(text) < MAX_CHARACTERS + 100
    assert list(backward_disagreements(growing(GROWING[name], 4), 1)) == []


def test_the_outputs_of_an_inner_scan_are_distinct():
    x = pt.dscalar("x")

    def step(x):
        z, w = scan(lambda z, w: [z * 2, w + 1], outputs_info=[x, x * 0.5], n_steps=2)
        return z[-1] - w[-1]

    trace = lab.trace(scan(step, outputs_info=[x], n_steps=2), {x: 1})
    assert re.search(r"\[0\]\[-1\] − .*\[1\]\[-1\]$", next(formulas_at(trace, 0, 0))[0])


def test_different_operations_have_different_formulas():
    x, i, v = pt.dmatrix("x"), pt.lvector("i"), pt.dvector("v")
    join, repeat = (lambda x, k: pt.concatenate([x, x], k)), (lambda x, k: pt.repeat(x, i, k))
    along = (pt.cumsum, pt.diagonal, pt.argmax, pt.special.softmax, pt.sort, join, repeat)
    pairs = [[operation(x, k) for k in (0, 1)] for operation in along]
    pairs += [[pt.repeat(x, 2, k) for k in (0, 1)]]
    pairs += [[pt.searchsorted(v, v, side=k) for k in ("left", "right")]]
    pairs += [[pt.einsum(k, x, x) for k in ("ij,jk->ik", "ij,ij->ij")]]
    pairs += [[pt.pad(v, 2, mode=k) for k in ("edge", "wrap")]]
    pairs += [[pt.cast(i, k) for k in ("bool", "int8")], [x, OpFromGraph([x], [x * 2])(x)]]
    first, other = (scan(lambda a, k=k: a * k, outputs_info=[v], n_steps=2) for k in (2, 3))
    pairs += [[first - first, first - other]]
    for pair in pairs:
        values = run(pair, {x: [[3.0, 8.0], [2.0, 1.0]], i: [1, 2], v: [2.0, 3.0]})[0]
        assert not np.array_equal(*(values[each] for each in pair))
        assert len({*map(outer_expression, pair)}) == 2


def test_a_name_differs_from_an_operator():
    i, v, y, z = pt.lvector("i"), pt.dvector("v"), pt.dvector(), pt.dvector()
    cases = {
        "'with'(v)[1:][-1]": scan(lambda a: a * 2, outputs_info=[v[0]], n_steps=3, name="with")[-1],
        "add_ignoring_duplicates(v, 1, [i])": pt.inc_subtensor(v[i], 1, ignore_duplicates=True),
        "(v + (2 at [0])) with (3 at [1])": pt.set_subtensor(pt.inc_subtensor(v[0], 2)[1], 3),
        "0 with (v at [i])": pt.set_subtensor(pt.zeros(3)[i], v),
        "input·input2": y * z,
    }
    for expected, variable in cases.items():
        assert outer_expression(variable) == expected
