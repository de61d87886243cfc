"""Derivatives of orders 0 to 3 against powers of x, and the name of each."""

from collections import Counter
from math import comb

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor.scan import scan

import lab
from lab.progress import hide_progress

X0, STEPS = 0.95, 3
POWER = 2**STEPS  # x₃ = x₀⁸


def falling(power, order):
    """power · (power − 1) · …, a factor for each order: the derivative of x^power at x = 1."""
    return np.prod([power - k for k in range(order)])


def squares(x0, steps=STEPS):
    return scan(lambda x: x**2, outputs_info=[x0], n_steps=steps, return_updates=False)


@pytest.mark.parametrize("mode", ["reverse", "taylor"])
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_every_order_of_a_power(mode, order):
    x0 = pt.dscalar("x0")
    found = lab.derivative(squares(x0)[-1], x0, order, mode=mode)
    assert found.order == order
    trace = lab.trace(found.values, {x0: X0})
    wanted = [falling(POWER, k) * X0 ** (POWER - k) for k in range(order + 1)]
    np.testing.assert_allclose([float(v) for v in trace.outputs], wanted, rtol=1e-12)


@pytest.mark.parametrize("mode", ["reverse", "taylor"])
def test_a_direction_of_a_vector(mode):
    """C = Σ x⁸: C″ is the gradient of v·∇C, and C‴ that of v·C″; order 1 ignores the direction."""
    x0, x, v = pt.dvector("x0"), np.array([0.9, 1.1]), np.array([2.0, -0.5])
    found = lab.derivative(squares(x0)[-1].sum(), x0, 3, direction=pt.constant(v), mode=mode)
    trace = lab.trace(found.values, {x0: x})
    for order, value in enumerate(trace.outputs[1:], 1):
        wanted = falling(POWER, order) * x ** (POWER - order) * v ** (order - 1)
        np.testing.assert_allclose(value, wanted, rtol=1e-12)


@pytest.mark.parametrize("order", range(1, 6))
def test_the_square_has_each_of_its_derivatives_as_often_as_pascals_triangle(order):
    """Distinct step functions, by PyTensor's equality of Scans."""
    x0 = pt.dscalar("x0")
    with hide_progress():  # the number of Scans is intentional
        derived = lab.derivative(squares(x0, 4)[-1], x0, order)
    counts = Counter(one.node.op for one in derived.genealogy)
    assert sorted(counts.values()) == sorted(comb(order, k) for k in range(order + 1))
