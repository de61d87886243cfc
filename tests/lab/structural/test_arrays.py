"""Conventions, kinks, and large arrays of the structural primitives."""

import numpy as np
import pytest

from lab import structural
from lab.structural import primitives

A = np.arange(6.0).reshape(2, 3)
G = 10 + np.arange(6.0).reshape(2, 3)
MIXED = np.array([[True, False, True], [False, False, True]])


def test_jaxs_convention_leaves_metadata_out():
    output, pullback = primitives["narrow"].vjp_jax((A,), dim=0, start=1, length=1)
    np.testing.assert_array_equal(output, [[3, 4, 5]])
    (gradient,) = pullback(np.ones((1, 3)))
    np.testing.assert_array_equal(gradient, [[0, 0, 0], [1, 1, 1]])


def test_torchs_convention_names_every_argument():
    found = {
        "where": primitives["where"].vjp_torch(G, (A, A), condition=MIXED),
        "cat": primitives["cat"].vjp_torch(G, [A[:1], A[1:]], dim=0),
        "narrow": primitives["narrow"].vjp_torch(G, (A,), dim=0, start=0, length=2),
        "clamp": primitives["clamp"].vjp_torch(G, (A, 1.5, 3.5)),
    }
    assert {name: list(gradients) for name, gradients in found.items()} == {
        "where": ["condition", "x", "y"],
        "cat": ["inputs", "dim"],
        "narrow": ["a", "dim", "start", "length"],
        "clamp": ["x", "lo", "hi"],
    }
    for name, gradients in found.items():
        for argument, gradient in gradients.items():
            assert (gradient is None) == (argument in primitives[name].metadata)
    assert [g.tolist() for g in found["cat"]["inputs"]] == [[[10, 11, 12]], [[13, 14, 15]]]


def test_numbers_and_lists_take_the_dtype_of_arrays():
    x = np.ones(3, dtype="float32")
    assert structural.where([True, False, True], x, 2).dtype == "float32"
    assert structural.clamp([1, 2, 3], 0, 2.5).tolist() == [1, 2, 2.5]
    assert structural.where(True, 1j, 2).dtype == "complex128"


def test_where_the_clamp_is_not_smooth():
    """x = lo or x = hi: marked, and the cotangent goes to x, all of it."""
    x, lo, hi = np.array([0.0, 1.0, 1.5, 2.0, 3.0]), 1.0, 2.0
    linear = structural.primitives["clamp"].linearize((x, lo, hi))
    assert linear.nonsmooth.tolist() == [False, True, False, True, False]
    gx, glo, ghi = linear.T(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert gx.tolist() == [0, 2, 3, 4, 0]
    assert (glo, ghi) == (1, 5)
    assert not primitives["where"].linearize((x, x), condition=x > 0).nonsmooth.any()


def test_a_linearization_stays_when_its_inputs_change():
    x = np.array([0.5, 1.5])
    linear = primitives["clamp"].linearize((x, 0.0, 1.5))
    x[:] = 7
    assert linear.nonsmooth.tolist() == [False, True]
    assert linear(np.ones(2), 0.0, 0.0).tolist() == [1, 1]
    mask = np.array([True, False])
    linear = primitives["where"].linearize((x, x), condition=mask)
    mask[:] = False
    assert linear(np.ones(2), np.zeros(2)).tolist() == [1, 0]


def test_what_comes_out_cannot_be_written_and_what_went_in_can():
    a = np.arange(4.0)
    part = structural.narrow(a, 0, 1, 2)
    with pytest.raises(ValueError, match="read-only"):
        part[0] = 5
    a[1] = 5
    (joined,) = primitives["cat"].transpose(a, [a], dim=0)
    assert not joined.flags.writeable
    assert a.flags.writeable


def test_nan_goes_through():
    x = np.array([np.nan, 0.5])
    assert np.isnan(structural.clamp(x, 0.0, 1.0)[0])
    gx, _, _ = primitives["clamp"].transpose(np.array([np.inf, np.nan]), ([9.0, 0.5], 0.0, 1.0))
    assert gx[0] == 0  # not 0 * inf
    assert np.isnan(gx[1])
