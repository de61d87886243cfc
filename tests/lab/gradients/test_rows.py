"""The rows that a backward Scan reads, when a Scan stops early or its gradient is cut off."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.scan import scan
from pytensor.scan.utils import until

import lab

X0 = 0.95


def gradient(cost, x0, value):
    (_, slope) = lab.trace(lab.derivative(cost, x0, 1).values, {x0: value}).outputs
    return np.asarray(slope)


@pytest.mark.parametrize("stop", [0.7, 0.3])
def test_a_scan_that_stops_early(stop):
    """x₀, x₀², x₀⁴, … until the value is below `stop`: a power of x₀."""
    x0 = pt.dscalar("x0")
    states = scan(
        lambda x: (x**2, until(x**2 < stop)), outputs_info=[x0], n_steps=20, return_updates=False
    )
    count, value = 0, X0
    while value >= stop:
        count, value = count + 1, value**2
    power = 2**count
    assert gradient(states[-1], x0, X0) == pytest.approx(power * X0 ** (power - 1), rel=1e-12)
    # All states together: the sum of the powers of every step.
    wanted = sum(2**k * X0 ** (2**k - 1) for k in range(1, count + 1))
    assert gradient(states.sum(), x0, X0) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_gradient_that_is_cut_off(cut):
    """Only the last steps are differentiated; PyTensor's own gradient does the same."""
    x0, w = pt.dscalar("x0"), pt.dscalar("w")
    states = scan(
        lambda x, w: x * w,
        outputs_info=[x0],
        non_sequences=[w],
        n_steps=4,
        truncate_gradient=cut,
        return_updates=False,
    )
    found = lab.trace(lab.derivative(states[-1], w, 1).values, {x0: X0, w: 1.5}).outputs[1]
    # x₄ = x₀·w⁴; each step that is reversed adds x₀·w³.
    assert float(found) == pytest.approx(cut * X0 * 1.5**3, rel=1e-12)


@pytest.mark.parametrize("taps", [[-1], [-2, -1], [-3, -1]])
def test_sequences_and_states_are_read_in_step(taps):
    """Each row of the gradient of a sequence belongs to its own step: finite differences."""
    reach, steps = -min(taps), 4
    start, u = pt.dvector("start"), pt.dvector("u")
    states = scan(
        lambda u, *x: u * sum(x) + u**2,
        sequences=[u],
        outputs_info=[{"initial": start if reach > 1 else start[0], "taps": taps}],
        n_steps=steps,
        return_updates=False,
    )
    weights = np.arange(1.0, steps + 1)
    cost = (states * weights).sum()
    values = {start: np.linspace(0.5, 0.9, reach), u: np.array([0.3, 1.2, -0.7, 0.8])}
    run = pytensor.function([start, u], cost)
    for wrt, other in ((start, u), (u, start)):
        found = lab.trace(lab.derivative(cost, wrt, 1).values, values).outputs[1]
        for n in range(values[wrt].size):
            ends = []
            for sign in (1, -1):
                moved = values[wrt].copy()
                moved[n] += sign * 1e-6
                ends.append(run(**{wrt.name: moved, other.name: values[other]}))
            assert found[n] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-8)
