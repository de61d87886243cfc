"""The structural primitives against torch and jax, where they are installed (extra `oracles`)."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structural_cases import TOLERANCE, Case, cases, noise, reference

from lab.structural import primitives


def installed(name):
    with warnings.catch_warnings():  # its warnings on import do not concern this code
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


@pytest.fixture(scope="module")
def torch():
    return installed("torch")


@pytest.fixture(scope="module")
def jax():
    jax = installed("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


def same(case, ours, theirs):
    dtype = str(case.inputs[0].dtype)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(
            mine, np.asarray(other), rtol=10 * TOLERANCE[dtype], atol=10 * TOLERANCE[dtype]
        )
        assert mine.dtype == dtype


def by_torch(torch, case, inputs):
    if case.name == "where":
        return torch.where(torch.tensor(case.metadata["condition"]), *inputs)
    if case.name == "cat":
        return torch.cat(inputs, **case.metadata)
    if case.name == "narrow":
        return torch.narrow(*inputs, **case.metadata)
    # torch cannot differentiate a clamp that broadcasts x; a separate test covers this case
    x, lo, hi = inputs
    return torch.clamp(x.expand(reference(case).shape), lo, hi)


def by_jax(jax, case, inputs):
    if case.name == "where":
        return jax.numpy.where(case.metadata["condition"], *inputs)
    if case.name == "cat":
        return jax.numpy.concatenate(inputs, axis=case.metadata["dim"])
    if case.name == "narrow":
        dim, start, length = case.metadata.values()
        return jax.lax.slice_in_dim(*inputs, start, start + length, axis=dim)
    return jax.numpy.clip(*inputs)


@given(case=cases(), seed=st.integers(0, 2**16))
def test_torch_agrees(torch, case, seed):
    inputs = [torch.tensor(x, requires_grad=True) for x in case.inputs]
    output = by_torch(torch, case, inputs)
    cotangent = noise(np.random.default_rng(seed), reference(case).shape, case.inputs[0].dtype)
    theirs = torch.autograd.grad(output, inputs, torch.tensor(cotangent))
    primitive = primitives[case.name]
    same(case, [primitive.forward(*case.inputs, **case.metadata)], [output.detach()])
    ours = primitive.vjp_torch(cotangent, list(case.inputs), **case.metadata)
    same(
        case,
        ours["inputs"] if case.name == "cat" else [g for g in ours.values() if g is not None],
        theirs,
    )


def test_torch_chooses_the_same_where_clamp_is_not_smooth(torch):
    x = np.array([0.0, 1.0, 1.5, 2.0, 3.0])
    case = Case("clamp", (x, np.ones(5), np.full(5, 2.0)))
    inputs = [torch.tensor(value, requires_grad=True) for value in case.inputs]
    theirs = torch.autograd.grad(torch.clamp(*inputs).sum(), inputs)
    same(case, primitives["clamp"].transpose(np.ones(5), case.inputs), theirs)


# few shapes, because jax compiles each
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", list(primitives))
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_jax_agrees(jax, name, dtype, seed):
    if name == "clamp" and dtype == "complex128":
        return
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

    same(
        case,
        primitive.jvp(case.inputs, tangents, **case.metadata),
        jax.jvp(function, case.inputs, tuple(tangents)),
    )
    output, pullback = primitive.vjp_jax(case.inputs, **case.metadata)
    cotangent = noise(rng, output.shape, dtype)
    same(case, pullback(cotangent), jax.vjp(function, *case.inputs)[1](cotangent))
