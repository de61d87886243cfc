"""Coefficients of power series against the derivatives of one-variable functions."""

from math import factorial

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor.scan import scan

import lab

A = 0.4
# Derivatives at A of a function, order by order, from textbook formulas.
FUNCTIONS = {
    "exp": (pt.exp, [np.exp(A)] * 5),
    "sin": (pt.sin, [np.sin(A), np.cos(A), -np.sin(A), -np.cos(A), np.sin(A)]),
    "log": (pt.log, [np.log(A)] + [(-1) ** (k - 1) * factorial(k - 1) / A**k for k in range(1, 5)]),
    "sqrt": (pt.sqrt, [A**0.5, A**-0.5 / 2, -(A**-1.5) / 4, 3 * A**-2.5 / 8, -15 * A**-3.5 / 16]),
    "reciprocal": (lambda x: 1 / x, [(-1) ** k * factorial(k) / A ** (k + 1) for k in range(5)]),
    "cube": (lambda x: x * x * x, [A**3, 3 * A**2, 6 * A, 6, 0]),
    "tanh": (
        pt.tanh,
        [
            (t := np.tanh(A)),
            (d := 1 - t**2),
            -2 * t * d,
            d * (6 * t**2 - 2),
            d * (16 * t - 24 * t**3),
        ],
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_a_function_in_one_step(name):
    function, wanted = FUNCTIONS[name]
    x0 = pt.dscalar("x0")
    states = scan(lambda x: function(x), outputs_info=[x0], n_steps=1, return_updates=False)
    found = lab.derivative(states[-1], x0, 4, mode="taylor")
    values = [float(v) for v in lab.trace(found.values, {x0: A}).outputs]
    np.testing.assert_allclose(values, wanted, rtol=1e-10, atol=1e-12)
