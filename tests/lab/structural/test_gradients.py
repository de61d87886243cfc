"""The structural primitives against PyTensor's own gradients, and in second order."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from hypothesis import given
from hypothesis import strategies as st
from structural_cases import REAL, cases, evaluated, noise, reference, variables

from lab.structural import primitives

# operations and gradients of PyTensor only


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


# Second order


@given(cases(dtypes=("float64",)), st.integers(0, 2**16))
def test_second_derivatives_are_zero(case, seed):
    """J* g does not change with the inputs."""
    rng = np.random.default_rng(seed)
    primitive = primitives[case.name]
    cotangent = noise(rng, reference(case).shape, "float64")
    moved = [x + rng.uniform(-0.01, 0.01, size=x.shape) for x in case.inputs]
    here = primitive.transpose(cotangent, case.inputs, **case.metadata)
    there = primitive.transpose(cotangent, moved, **case.metadata)
    for a, b in zip(here, there, strict=True):
        np.testing.assert_array_equal(a, b)
