"""Chains of structural primitives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structural_cases import inner

from lab import structural


def routed(x, y):
    """Every primitive, x twice, an inner cat, and a constant."""
    head = structural.narrow(x, 0, 0, 2)
    both = structural.cat([structural.cat([head, y], 0), x], 0)
    chosen = structural.where(SIGN, both, 0.25)
    return structural.clamp(chosen, -1.0, LIMITS)


SIGN = np.array([True, True, False, True, True, True])
LIMITS = np.array([0.5, 1.5, 1.5, 1.0, 1.0, 3.0])
XY = [np.array([1.0, -0.5, 2.0]), np.array([0.75])]


def routed_by_numpy(x, y):
    both = np.concatenate([x[:2], y, x])
    return np.clip(np.where(SIGN, both, 0.25), -1, LIMITS)


def test_a_chain_by_hand():
    output, pullback = structural.vjp(routed, XY)
    np.testing.assert_array_equal(output, [0.5, -0.5, 0.25, 1.0, -0.5, 2.0])
    gx, gy = pullback(np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0]))
    # x0 is clamped to 0.5, then equals its bound; the chain reads x1 twice
    np.testing.assert_array_equal(gx, [8, 18, 32])
    np.testing.assert_array_equal(gy, [0])


@given(st.integers(0, 2**16))
def test_chains_by_differences_and_dot_products(seed):
    rng = np.random.default_rng(seed)
    inputs = [
        rng.choice([-1.5, 0.2, 0.8, 1.2, 3.5], size=n) + rng.uniform(-0.05, 0.05, size=n)
        for n in (3, 1)
    ]
    v = [rng.normal(size=n) for n in (3, 1)]
    g = rng.normal(size=6)
    output, tangent = structural.jvp(routed, inputs, v)
    again, pullback = structural.vjp(routed, inputs)
    np.testing.assert_array_equal(output, routed_by_numpy(*inputs))
    np.testing.assert_array_equal(again, output)
    ahead, behind = (
        routed_by_numpy(*(x + sign * 1e-4 * d for x, d in zip(inputs, v, strict=True)))
        for sign in (1, -1)
    )
    np.testing.assert_allclose(tangent, (ahead - behind) / 2e-4, atol=1e-9)
    assert inner([g], [tangent]) == pytest.approx(inner(pullback(g), v), abs=1e-12)


def test_an_input_that_is_not_used_has_a_zero_cotangent():
    _, pullback = structural.vjp(lambda x, y: structural.narrow(x, 0, 0, 1), [XY[0], [1, 2]])
    assert [g.tolist() for g in pullback([5.0])] == [[5, 0, 0], [0.0, 0.0]]
