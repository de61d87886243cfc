"""Derivatives, compared with derivatives of a power."""

import re
from collections import Counter

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from graphs import scan, squares
from oracles import power_derivative
from pytensor.gradient import grad_not_implemented, grad_undefined

import lab
from lab.gradients.status import status_of
from lab.loops import gallery
from lab.progress import hide_progress
from lab.scans.replacing import scan_nodes

X0 = 0.95


@pytest.mark.parametrize(("steps", "highest", "tolerance"), [(5, 3, 1e-13), (4, 4, 1e-12)])
def test_every_order_of_a_power(steps, highest, tolerance):
    x0, xs = squares(steps)
    derivative = lab.derivative(xs[-1], x0, highest)
    assert derivative.order == highest
    actual = [float(v) for v in lab.trace(derivative.values, {x0: X0}).outputs]
    expected = [power_derivative(2**steps, order, X0) for order in range(highest + 1)]
    np.testing.assert_allclose(actual, expected, rtol=tolerance)


@pytest.mark.parametrize("mode", ["reverse", "taylor"])
def test_a_direction_of_a_vector(mode):
    """C = Σ x⁸: C″ is the gradient of v·∇C, C‴ is the gradient of v·C″, and ∇C ignores v."""
    x0, x, v = pt.dvector("x0"), np.array([0.9, 1.1]), np.array([2.0, -0.5])
    xs = scan(lambda x: x**2, outputs_info=[x0], n_steps=3)
    derivative = lab.derivative(xs[-1].sum(), x0, 3, direction=pt.constant(v), mode=mode)
    trace = lab.trace(derivative.values, {x0: x})
    for order, value in enumerate(trace.outputs[1:], 1):
        expected = power_derivative(8, order, x) * v ** (order - 1)
        np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_pascals_triangle_counts_the_scans_of_the_fourth_derivative():
    """PyTensor's equality of Scans counts the distinct step functions."""
    x0, xs = squares(4)
    with hide_progress():  # the number of Scans is intentional
        derivative = lab.derivative(xs[-1], x0, 4)
    counts = Counter(scan.node.op for scan in derivative.genealogy)
    assert sorted(counts.values()) == [1, 1, 4, 4, 6]


def test_the_reason_for_a_missing_gradient():
    x = pt.dvector("x")
    for gradient, start in ((grad_undefined, "There is"), (grad_not_implemented, "PyTensor has")):
        status = status_of(gradient(pt.sort(x).owner.op, 1, x, "It jumps."))
        expected = r" no derivative of Sort.+ with respect to its 2nd argument. It jumps\."
        assert re.fullmatch(start + expected, status.reason)


def test_each_part_of_a_phase_has_a_verdict():
    derivative = gallery.loops["rnn"].derivative(1)
    record = scan_nodes([derivative.value])[-1].op.derivation.record
    verdicts = [" ".join(item.verdict for item in phase.items) for phase in record.phases]
    assert verdicts[3:7] == [
        "noted reused",  # the saved result tanh(…) replaces the formula
        "connected connected connected connected reused",
        "accumulated",
        "read absent read absent reused",
    ]
    graph = pytensor.dprint(derivative.value, file="str")
    assert "Assert" not in graph  # `pytensor.scan` allocates all rows; no check is necessary
