"""The structural primitives against PyTensor's own gradients, and in second order."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from hypothesis import given
from hypothesis import strategies as st
from structural_cases import REAL, Case, cases, evaluated, noise, reference, variables

from lab.checks import check
from lab.structural import primitives

# PyTensor's own operations and gradients, without any of ours


def pytensors(case, inputs):
    if case.name == "where":
        return pt.switch(case.metadata["condition"], *inputs)
    if case.name == "cat":
        return pt.join(case.metadata["dim"], *inputs)
    if case.name == "clamp":
        return pt.clip(*inputs)
    dim, start, length = case.metadata.values()
    rows = [slice(None)] * inputs[0].type.ndim
    rows[dim] = slice(start, start + length)
    return inputs[0][tuple(rows)]


@given(cases(dtypes=REAL), st.integers(0, 2**16))
def test_pytensors_own_gradient(case, seed):
    inputs = variables(case.inputs)
    output = pytensors(case, inputs)
    cotangent = noise(np.random.default_rng(seed), reference(case).shape, case.inputs[0].dtype)
    theirs = pytensor.grad(None, inputs, known_grads={output: pt.constant(cotangent)})
    ours = primitives[case.name].transpose(cotangent, case.inputs, **case.metadata)
    for mine, other in zip(ours, evaluated(theirs, inputs, case.inputs), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-6)


@given(cases(dtypes=("float64",)), st.integers(0, 2**16))
def test_pytensors_gradient_of_our_functions(case, seed):
    """What PyTensor makes of the graph that a function builds is what the rule says."""
    inputs = variables(case.inputs)
    output = primitives[case.name].forward(*inputs, **case.metadata)
    cotangent = noise(np.random.default_rng(seed), reference(case).shape, "float64")
    theirs = pytensor.grad((output * cotangent).sum(), inputs)
    ours = primitives[case.name].transpose(cotangent, case.inputs, **case.metadata)
    for mine, other in zip(ours, evaluated(theirs, inputs, case.inputs), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-14)


# Second order


@given(cases(dtypes=("float64",)), st.integers(0, 2**16))
def test_second_derivatives_are_zero(case, seed):
    """J* g does not change with the inputs: asked of the numbers, and of PyTensor."""
    rng = np.random.default_rng(seed)
    primitive = primitives[case.name]
    cotangent = noise(rng, reference(case).shape, "float64")
    moved = [x + rng.uniform(-0.01, 0.01, size=x.shape) for x in case.inputs]
    here = primitive.transpose(cotangent, case.inputs, **case.metadata)
    there = primitive.transpose(cotangent, moved, **case.metadata)
    for a, b in zip(here, there, strict=True):
        np.testing.assert_array_equal(a, b)
    inputs = variables(case.inputs)
    total = sum(g.sum() for g in primitive.transpose(cotangent, inputs, **case.metadata))
    second = pytensor.grad(total, inputs, disconnected_inputs="ignore")
    assert not any(np.any(value) for value in evaluated(second, inputs, case.inputs))


@given(cases(dtypes=("float64",)), st.integers(0, 2**16))
def test_second_derivatives_through_a_curved_function(case, seed):
    """C(x) = sum(c · f(x²)³): the Hessian along v, by rules in rules, and by differences."""
    squared = Case(case.name, tuple(x**2 for x in case.inputs), case.metadata)
    if case.name == "clamp":  # squares would touch the bounds
        squared = case
    primitive, rng = primitives[case.name], np.random.default_rng(seed)
    start = [np.sqrt(np.abs(x)) for x in squared.inputs]
    signs = [np.sign(x) for x in squared.inputs]
    weight = noise(rng, reference(case).shape, "float64")
    v = [noise(rng, x.shape, "float64") for x in start]

    def gradient(values, lift):
        inner_values = [s * x**2 for s, x in zip(signs, values, strict=True)]
        z, pullback = primitive.vjp_jax(inner_values, **case.metadata)
        parts = pullback(3 * lift(weight) * z**2)
        return [2 * s * x * g for s, x, g in zip(signs, values, parts, strict=True)]

    inputs, along = variables(start), variables(start)
    ours = gradient(inputs, pt.constant)
    total = sum((g * d).sum() for g, d in zip(ours, along, strict=True))
    hessian = pytensor.grad(total, inputs, disconnected_inputs="ignore")
    found = evaluated(hessian, [*inputs, *along], [*start, *v])
    step = 1e-5
    sides = [
        gradient([x + sign * step * d for x, d in zip(start, v, strict=True)], np.asarray)
        for sign in (1, -1)
    ]
    for mine, plus, minus in zip(found, *sides, strict=True):
        check.compare(mine, (plus - minus) / (2 * step), 1e-6, "H v")
