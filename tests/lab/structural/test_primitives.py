"""Where, cat, narrow and clamp: against tables, numpy, PyTensor and finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structural_cases import (
    Case,
    cases,
    noise,
    reference,
    reference_gradients,
    reference_tangent,
)

from lab.checks import check
from lab.structural import primitives

A = np.arange(6.0).reshape(2, 3)
G = 10 + np.arange(6.0).reshape(2, 3)
MIXED = np.array([[True, False, True], [False, False, True]])

# call, cotangent, output, cotangents: written by hand
TABLE = [
    (
        Case("where", (A, -A), {"condition": MIXED}),
        G,
        [[0, -1, 2], [-3, -4, 5]],
        ([[10, 0, 12], [0, 0, 15]], [[0, 11, 0], [13, 14, 0]]),
    ),
    (
        Case("where", (A, A[:1]), {"condition": np.array([[True], [False]])}),
        G,
        [[0, 1, 2], [0, 1, 2]],
        ([[10, 11, 12], [0, 0, 0]], [[13, 14, 15]]),
    ),
    (Case("where", (np.array(1.0), np.array(2.0)), {"condition": False}), 3.0, 2.0, (0.0, 3.0)),
    (Case("cat", (A[:1], A[1:]), {"dim": 0}), G, A, ([[10, 11, 12]], [[13, 14, 15]])),
    (
        Case("cat", (A[:, None, :], A[:, None, :]), {"dim": 1}),
        np.stack([G, -G], axis=1),
        [[[0, 1, 2], [0, 1, 2]], [[3, 4, 5], [3, 4, 5]]],
        (G[:, None], -G[:, None]),
    ),
    (Case("cat", (A,), {"dim": -2}), G, A, (G,)),
    (Case("cat", (A[:0], A), {"dim": 0}), G, A, (A[:0], G)),
    (
        Case("narrow", (A,), {"dim": 1, "start": 1, "length": 2}),
        G[:, :2],
        [[1, 2], [4, 5]],
        ([[0, 10, 11], [0, 13, 14]],),
    ),
    (Case("narrow", (A,), {"dim": 0, "start": 2, "length": 0}), A[:0], A[:0], (A * 0,)),
    (
        Case("clamp", (A, np.array(1.5), np.array(3.5))),
        G,
        [[1.5, 1.5, 2], [3, 3.5, 3.5]],
        ([[0, 0, 12], [13, 0, 0]], 21.0, 29.0),
    ),
    (
        Case("clamp", (A, np.array([0.5, 1.5, 1.5]), np.array([[1.75], [4.5]]))),
        G,
        [[0.5, 1.5, 1.75], [3, 4, 4.5]],
        ([[0, 0, 0], [13, 14, 0]], [10, 11, 0], [[12], [15]]),
    ),
    (Case("clamp", (np.array(9.0), np.array(0.0), A)), G, A, (0.0, 0.0, G)),
]

IDS = [str(case) for case, *_ in TABLE]


@pytest.mark.parametrize(("case", "cotangent", "output", "gradients"), TABLE, ids=IDS)
def test_the_table(case, cotangent, output, gradients):
    primitive = primitives[case.name]
    np.testing.assert_array_equal(primitive.forward(*case.inputs, **case.metadata), output)
    found = primitive.transpose(cotangent, case.inputs, **case.metadata)
    for mine, expected in zip(found, gradients, strict=True):
        np.testing.assert_array_equal(mine, expected)
        assert mine.shape == np.shape(expected)


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
        assert mine.dtype == dtype


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
