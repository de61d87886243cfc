"""Chains of structural primitives, also in the step of a loop."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structural_cases import inner

import lab
from lab import structural
from lab.checks import check
from lab.structural import primitives

A = np.arange(6.0).reshape(2, 3)
G = 10 + np.arange(6.0).reshape(2, 3)
MIXED = np.array([[True, False, True], [False, False, True]])


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


def test_transposes_are_made_of_the_same_primitives():
    """Narrow's transpose is a cat with zeros, cat's is narrow, where's is where with zero."""
    zeros = np.zeros((2, 1))
    (scattered,) = primitives["narrow"].transpose(G[:, :2], (A,), dim=1, start=1, length=2)
    np.testing.assert_array_equal(scattered, structural.cat([zeros, G[:, :2]], 1))
    first, _ = primitives["cat"].transpose(G, [A[:, :1], A[:, 1:]], dim=1)
    np.testing.assert_array_equal(first, structural.narrow(G, 1, 0, 1))
    to_x, to_y = primitives["where"].transpose(G, (A, A), condition=MIXED)
    np.testing.assert_array_equal(to_x, structural.where(MIXED, G, 0))
    np.testing.assert_array_equal(to_y, structural.where(MIXED, 0, G))


# In the step of a loop


def gated(x, u):
    """A state of three entries: shifted, a new one in front, half of them halved, clamped."""
    shifted = structural.cat([structural.narrow(u, 0, 0, 1), structural.narrow(x, 0, 0, 2)], 0)
    return structural.clamp(structural.where([True, False, True], shifted, x), -0.9, 0.9)


def gated_by_pytensor(x, u):
    shifted = pt.concatenate([u[:1], x[:2]])
    return pt.clip(pt.switch(np.array([True, False, True]), shifted, x), -0.9, 0.9)


STEPS = np.array([[0.5, 0.1], [-0.3, 0.2], [1.5, -0.4], [0.7, 0.3]])


def routing_loop():
    return lab.Loop(
        gated_by_pytensor,
        states=(lab.State("x", np.array([0.2, -1.4, 0.6])),),
        sequences=(lab.Sequence("u", STEPS),),
    )


def test_the_pullback_of_a_loop_agrees_with_the_rules():
    graph = routing_loop().build()
    weights = np.arange(1.0, 13.0).reshape(4, 3)
    cost = (graph.outputs["x"] * weights).sum()
    wrt = [graph.inputs[name] for name in ("x", "u")]
    found = [check.value_at(g, graph.given) for g in pytensor.grad(cost, wrt)]

    state, pullbacks = np.array([0.2, -1.4, 0.6]), []
    for row in STEPS:  # the same loop, one chain a step
        state, pullback = structural.vjp(gated, [state, row])
        pullbacks.append(pullback)
    gx, gu = np.zeros(3), []
    for weight, pullback in zip(weights[::-1], pullbacks[::-1], strict=True):
        gx, row = pullback(gx + weight)
        gu.append(row)
    np.testing.assert_array_equal(found[0], gx)
    np.testing.assert_array_equal(found[1], gu[::-1])
