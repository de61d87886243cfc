"""Where, cat, narrow and clamp: against tables, numpy, PyTensor and finite differences."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structural_cases import (
    TOLERANCE,
    Case,
    cases,
    inner,
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


def dot_product(case, linear, rng):
    """The dot-product test of a linear map: raises WrongGradientError."""
    dtype = case.inputs[0].dtype
    tangents = [noise(rng, value.shape, dtype) for value in case.inputs]
    out = linear(*tangents)
    cotangent = noise(rng, out.shape, dtype)
    gradients = linear.T(cotangent)
    forward, backward = inner([cotangent], [out]), inner(gradients, tangents)
    check.compare(backward, forward, TOLERANCE[str(dtype)], "<J* g, v>")


def difference_quotient(case, tangents, step=1e-3):
    moved = [
        reference(case, [x + sign * step * v for x, v in zip(case.inputs, tangents, strict=True)])
        for sign in (1, -1)
    ]
    return (moved[0] - moved[1]) / (2 * step)


def compare_with_differences(case, linear, rng):
    tangents = [noise(rng, v.shape, v.dtype) / 10 for v in case.inputs]
    check.compare(linear(*tangents), difference_quotient(case, tangents), 1e-10, "J v")


@given(cases(dtypes=("float64", "complex128")), st.integers(0, 2**16))
def test_finite_differences(case, seed):
    linear = primitives[case.name].linearize(case.inputs, **case.metadata)
    compare_with_differences(case, linear, np.random.default_rng(seed))


# Wrong rules: the checkers must object to each.


def swapped(pull, g):
    return tuple(reversed(pull(g)))


def unmasked(pull, g):
    return g, pull(g)[1]


def turned(pull, g):
    return pull(-g)


def shifted(pull, g):
    return [np.roll(gradient, 1) for gradient in pull(g)]


def everywhere(pull, g):
    return g, *pull(g)[1:]


def conjugated(pull, g):
    return pull(np.conj(g))


X = np.linspace(-2, 2, 7)
PARTS = (X[:3], X[3:])
WRONG = {
    "where, branches swapped": (swapped, Case("where", (X, -X), {"condition": X > 0.3})),
    "where, mask forgotten": (unmasked, Case("where", (X, -X), {"condition": X > 0.3})),
    "where, conjugated": (conjugated, Case("where", (1j * X, X + 0j), {"condition": X > 0.3})),
    "cat, sign": (turned, Case("cat", PARTS, {"dim": 0})),
    "narrow, shifted": (shifted, Case("narrow", (X,), {"dim": 0, "start": 1, "length": 3})),
    "clamp, passed on outside": (everywhere, Case("clamp", (X, X * 0 - 1.1, X * 0 + 1.1))),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_dot_product_test_objects_to_wrong_transposes(name):
    wrong, case = WRONG[name]
    linear = primitives[case.name].linearize(case.inputs, **case.metadata)
    dot_product(case, linear, np.random.default_rng(0))
    pull = partial(wrong, linear.pull)
    with pytest.raises(check.WrongGradientError):
        dot_product(case, replace(linear, pull=pull), np.random.default_rng(0))


def test_a_sum_that_was_forgotten_is_seen():
    case = Case("where", (X[:1], X), {"condition": X > 0.3})
    (found, _) = primitives["where"].transpose(X, case.inputs, **case.metadata)
    assert found.shape == (1,)
    with pytest.raises(check.WrongGradientError, match="shape"):
        check.compare(np.where(X > 0.3, X, 0), found, 1e-12)


def test_finite_differences_object_to_a_wrong_map_with_the_right_adjoint():
    """Bounds swapped in both directions: adjoint to one another, and wrong."""
    case = Case("clamp", (X, X * 0 - 1.1, X * 0 + 1.1))
    linear = primitives["clamp"].linearize(case.inputs)
    swapped = replace(
        linear,
        push=lambda dx, dlo, dhi: linear.push(dx, dhi, dlo),
        pull=lambda g: [linear.pull(g)[n] for n in (0, 2, 1)],
    )
    dot_product(case, swapped, np.random.default_rng(0))
    with pytest.raises(check.WrongGradientError):
        compare_with_differences(case, swapped, np.random.default_rng(0))
