"""The pushforward of operations with several inputs, compared with NumPy and SciPy."""

import numpy as np
import pytensor.tensor as pt
import pytest
import scipy.linalg
from pytensor.gradient import grad
from pytensor.tensor import linalg

import lab
from lab import check
from lab.gradients.forward import taylor

A = np.array([[2.0, 0.3], [0.3, 1.5]])
B = np.array([[1.0, 0.2], [0.2, 0.9]])
LOWER = np.tril(np.ones((2, 2)))


def symbolic(name, a):
    """A matrix and a vector that both vary with a, as the inputs of one operation."""
    matrix, vector = A + a * B, pt.stack([a, pt.constant(2.0, dtype="float64")])
    match name:
        case "solve":
            return linalg.solve(matrix, vector)
        case "solve_triangular":
            return linalg.solve_triangular(matrix, vector, lower=True)
        case "cho_solve":
            return linalg.cho_solve((matrix * LOWER, True), vector)
        case "gradient of cholesky":  # its pullback solves triangular systems, both inputs vary
            return grad((linalg.cholesky(matrix)[1] * vector).sum(), a)
        case "gradient of qr":
            return grad((linalg.qr(matrix)[1] @ vector).sum(), a)


def numeric(name, a):
    matrix, vector = A + a * B, np.array([a, 2.0])
    match name:
        case "solve":
            return np.linalg.solve(matrix, vector)
        case "solve_triangular":
            return scipy.linalg.solve_triangular(matrix, vector, lower=True)
        case "cho_solve":
            return scipy.linalg.cho_solve((matrix * LOWER, True), vector)
        case "gradient of cholesky":
            return np.sum(np.linalg.cholesky(matrix)[1] * vector)
        case "gradient of qr":
            return np.sum(np.linalg.qr(matrix)[1] @ vector)


NAMES = ("solve", "solve_triangular", "cho_solve", "gradient of cholesky", "gradient of qr")


@pytest.mark.parametrize("name", NAMES)
def test_all_inputs_of_an_operation_vary(name):
    a, da = pt.dscalar("a"), pt.dscalar("da")
    (tangent,) = lab.pushforward([symbolic(name, a)], [a], [da])
    found = check.value_at(tangent, {a: 1.1, da: 2.0})
    h = 1e-4
    before, at, after = (numeric(name, 1.1 + k * h) for k in (-1, 0, 1))
    is_second = name.startswith("gradient")
    expected = (before - 2 * at + after) / h**2 if is_second else (after - before) / (2 * h)
    np.testing.assert_allclose(found, 2 * expected, rtol=1e-5 if is_second else 1e-6)


def solving():
    """p becomes solve(A + a·B, p), twice."""
    return lab.Loop(
        lambda p, a: linalg.solve(pt.constant(A) + a * pt.constant(B), p),
        states=(lab.State("p", [1.0, 2.0]),),
        parameters=(lab.Parameter("a", 1.1),),
        n_steps=2,
    )


def test_the_steps_of_a_scan_solve_a_system_that_varies():
    """By d(M⁻²p)/da = −(M⁻¹BM⁻² + M⁻²BM⁻¹)p, whose sum is −0.22817."""
    graph = solving().build()
    a, da = graph.inputs["a"], pt.dscalar("da")
    (tangent,) = lab.pushforward([graph.outputs["p"][-1].sum()], [a], [da])
    inverse = np.linalg.inv(A + 1.1 * B)
    twice = inverse @ inverse
    expected = -np.sum((inverse @ B @ twice + twice @ B @ inverse) @ [1.0, 2.0])
    assert expected == pytest.approx(-0.22817, abs=5e-6)
    found = check.value_at(tangent, {**graph.given, da: 1.0})
    assert float(found) == pytest.approx(expected, rel=1e-12)


def test_a_wrong_rule_of_taylor_mode_is_noticed_by_verify(monkeypatch):
    """PyTensor compiles the wrong graph to the same wrong numbers; reverse mode does not."""
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
    trace = lab.trace(derivative, {**graph.given, v: [1.0, -2.0]})
    assert derivative.verify(trace) < 1e-12


def test_one_input_is_computed_from_the_other():
    """solve(M, M M) is M, whose derivative is B: no way from one input to the other counts."""
    a, da = pt.dscalar("a"), pt.dscalar("da")
    matrix = A + a * B
    (tangent,) = lab.pushforward([linalg.solve(matrix, matrix @ matrix)], [a], [da])
    found = check.value_at(tangent, {a: 1.1, da: 1.0})
    np.testing.assert_allclose(found, B, rtol=1e-13)
