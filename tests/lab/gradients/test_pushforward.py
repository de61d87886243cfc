"""The pushforward of operations with several inputs, compared with NumPy and SciPy."""

import numpy as np
import pytensor.tensor as pt
import pytest
import scipy.linalg
from graphs import scan
from pytensor.gradient import grad
from pytensor.tensor import linalg

import lab
from lab import check
from lab.gradients.forward import taylor

A = np.array([[2.0, 0.3], [0.3, 1.5]])
B = np.array([[1.0, 0.2], [0.2, 0.9]])
LOWER = np.tril(np.ones((2, 2)))


# The operation in PyTensor, in NumPy or SciPy, and the order of its derivative. The pullbacks of
# the Cholesky and QR decompositions solve triangular systems, both inputs of which vary.
CASES = {
    "solve": (linalg.solve, np.linalg.solve, 1),
    "solve a product": (lambda m, v: linalg.solve(m, m @ m), lambda m, v: m, 1),
    "solve in a Scan": (
        lambda m, v: scan(
            lambda p, m: linalg.solve(m, p), outputs_info=[v], non_sequences=[m], n_steps=2
        )[-1],
        lambda m, v: np.linalg.solve(m, np.linalg.solve(m, v)),
        1,
    ),
    "solve_triangular": (
        lambda m, v: linalg.solve_triangular(m, v, lower=True),
        lambda m, v: scipy.linalg.solve_triangular(m, v, lower=True),
        1,
    ),
    "cho_solve": (
        lambda m, v: linalg.cho_solve((m * LOWER, True), v),
        lambda m, v: scipy.linalg.cho_solve((m * LOWER, True), v),
        1,
    ),
    "cholesky": (
        lambda m, v: (linalg.cholesky(m)[1] * v).sum(),
        lambda m, v: np.sum(np.linalg.cholesky(m)[1] * v),
        2,
    ),
    "qr": (
        lambda m, v: (linalg.qr(m)[1] @ v).sum(),
        lambda m, v: np.sum(np.linalg.qr(m)[1] @ v),
        2,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_all_inputs_of_an_operation_vary(name):
    symbolic, numeric, order = CASES[name]
    a, da = pt.dscalar("a"), pt.dscalar("da")
    value = symbolic(A + a * B, pt.stack([a, pt.constant(2.0, dtype="float64")]))
    value = grad(value, a) if order == 2 else value
    (tangent,) = lab.pushforward([value], [a], [da])
    actual = check.value_at(tangent, {a: 1.1, da: 2.0})
    h = 1e-4
    before, middle, after = (numeric(A + x * B, [x, 2.0]) for x in (1.1 - h, 1.1, 1.1 + h))
    expected = (before - 2 * middle + after) / h**2 if order == 2 else (after - before) / (2 * h)
    np.testing.assert_allclose(actual, 2 * expected, rtol=1e-5 if order == 2 else 1e-6)


def test_a_wrong_rule_of_taylor_mode_is_noticed_by_verify(monkeypatch):
    """The compiled graph has the same wrong values; reverse mode has correct values."""
    loop = lab.Loop(lambda x: pt.tanh(x), states=(lab.State("x", 0.5),), n_steps=2)
    derivative = loop.derivative(2, mode="taylor")
    assert derivative.verify(lab.trace(derivative)) < 1e-12
    monkeypatch.setitem(taylor.SLOPES, "Tanh", lambda x, y: 1 - y)
    wrong = loop.derivative(2, mode="taylor")
    assert wrong.verify(lab.trace(wrong)) > 1e-2


def test_verify_follows_the_direction_of_taylor_mode():
    loop = lab.Loop(lambda x: pt.sin(x), states=(lab.State("x", [0.5, 0.2]),), n_steps=3)
    graph = loop.build()
    v = pt.dvector("v")
    x = graph.inputs["x"]
    cost = graph.outputs["x"][-1].sum()
    derivative = lab.derivative(cost, x, 2, direction=v, mode="taylor")
    assert derivative.verify(lab.trace(derivative, {**graph.given, v: [1.0, -2.0]})) < 1e-12
