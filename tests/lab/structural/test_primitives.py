"""Where, cat, narrow, and clamp, compared with NumPy, finite differences, and JAX."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structural_cases import (
    TOLERANCE,
    Case,
    cases,
    noise,
    reference,
    reference_gradients,
    reference_tangent,
)

from lab.checks import check
from lab.structural import primitives


@settings(max_examples=150)
@given(cases(), st.integers(0, 2**16))
def test_output_tangent_and_cotangents_are_those_of_numpy(case, seed):
    primitive, rng = primitives[case.name], np.random.default_rng(seed)
    dtype = case.inputs[0].dtype
    tangents = [noise(rng, value.shape, dtype) for value in case.inputs]
    output, tangent = primitive.jvp(case.inputs, tangents, **case.metadata)
    np.testing.assert_array_equal(output, reference(case))
    np.testing.assert_array_equal(tangent, reference_tangent(case, tangents))
    cotangent = noise(rng, output.shape, dtype)
    gradients = primitive.transpose(cotangent, case.inputs, **case.metadata)
    for mine, expected in zip(gradients, reference_gradients(case, cotangent), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-4 if dtype.itemsize < 8 else 1e-10)
        assert (mine.dtype, mine.shape) == (dtype, expected.shape)


@given(cases(dtypes=("float64", "complex128")), st.integers(0, 2**16))
def test_finite_differences(case, seed):
    linear = primitives[case.name].linearize(case.inputs, **case.metadata)
    rng = np.random.default_rng(seed)
    tangents = [noise(rng, v.shape, v.dtype) / 10 for v in case.inputs]
    ahead, behind = (
        reference(case, [x + step * v for x, v in zip(case.inputs, tangents, strict=True)])
        for step in (1e-3, -1e-3)
    )
    check.compare(linear(*tangents), (ahead - behind) / 2e-3, 1e-10, "J v")


def by_jax(jax, case, inputs):
    if case.name == "where":
        return jax.numpy.where(case.metadata["condition"], *inputs)
    if case.name == "cat":
        return jax.numpy.concatenate(inputs, axis=case.metadata["dim"])
    if case.name == "narrow":
        dim, start, length = case.metadata.values()
        return jax.lax.slice_in_dim(*inputs, start, start + length, axis=dim)
    return jax.numpy.clip(*inputs)


def assert_same(dtype, ours, theirs):
    tolerance = 10 * TOLERANCE[dtype]
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, np.asarray(other), rtol=tolerance, atol=tolerance)
        assert mine.dtype == dtype


# Few shapes, because JAX compiles each.
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", list(primitives))
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_jax_agrees(name, dtype, seed):
    if name == "clamp" and dtype == "complex128":
        return
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(seed)
    x, y = noise(rng, (2, 3), dtype), noise(rng, (1, 3), dtype)
    case = {
        "where": Case("where", (x, y), {"condition": rng.integers(2, size=(2, 1)).astype(bool)}),
        "cat": Case("cat", (x, y), {"dim": -2}),
        "narrow": Case("narrow", (x,), {"dim": 1, "start": seed, "length": 3 - seed}),
        "clamp": Case("clamp", (x, y * 0 - x.dtype.type(0.5), (y * 0 + 1)[:, :1])),
    }[name]
    primitive = primitives[name]
    tangents = [noise(rng, value.shape, dtype) for value in case.inputs]

    def function(*inputs):
        return by_jax(jax, case, inputs)

    ours = primitive.jvp(case.inputs, tangents, **case.metadata)
    assert_same(dtype, ours, jax.jvp(function, case.inputs, tuple(tangents)))
    output, pullback = primitive.vjp_jax(case.inputs, **case.metadata)
    cotangent = noise(rng, output.shape, dtype)
    assert_same(dtype, pullback(cotangent), jax.vjp(function, *case.inputs)[1](cotangent))
