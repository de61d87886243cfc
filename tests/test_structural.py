"""Where, cat, narrow and clamp: against tables, numpy, PyTensor and finite differences."""

from dataclasses import dataclass, fields

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structural_cases import (
    REAL,
    TOLERANCE,
    Case,
    cases,
    evaluated,
    inner,
    noise,
    reference,
    reference_gradients,
    reference_tangent,
    variables,
)

import lab
from lab import check, structural
from lab.structural import backends, primitives
from lab.structural.rearrangement import Joining, Narrowing
from lab.structural.selection import Clamping, Selecting

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
        Case("where", (np.array(7.0), A), {"condition": MIXED}),
        G,
        [[7, 1, 7], [3, 4, 7]],
        (37.0, [[0, 11, 0], [13, 14, 0]]),
    ),
    (
        Case("where", (A, np.array(7.0)), {"condition": MIXED}),
        G,
        [[0, 7, 2], [7, 7, 5]],
        ([[10, 0, 12], [0, 0, 15]], 38.0),
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
        Case("cat", (A[:, :1], A[:, 1:]), {"dim": -1}),
        G,
        A,
        ([[10], [13]], [[11, 12], [14, 15]]),
    ),
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
    (
        Case("narrow", (A,), {"dim": -2, "start": 1, "length": 1}),
        G[:1],
        [[3, 4, 5]],
        ([[0, 0, 0], [10, 11, 12]],),
    ),
    (Case("narrow", (A,), {"dim": 0, "start": 2, "length": 0}), A[:0], A[:0], (A * 0,)),
    (
        Case("clamp", (A, np.array(1.5), np.array(3.5))),
        G,
        [[1.5, 1.5, 2], [3, 3.5, 3.5]],
        ([[0, 0, 12], [13, 0, 0]], 21.0, 29.0),
    ),
    (
        Case("clamp", (A, A - 1, A + 1)),
        G,
        A,
        (G, A * 0, A * 0),
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


@pytest.mark.parametrize(("case", "cotangent", "output", "gradients"), TABLE, ids=IDS)
def test_the_table_with_variables(case, cotangent, output, gradients):
    primitive = primitives[case.name]
    inputs = variables(case.inputs)
    g = pt.tensor("g", shape=np.shape(cotangent), dtype="float64")
    found = primitive.transpose(g, inputs, **case.metadata)
    value = primitive.forward(*inputs, **case.metadata)
    known = [*case.inputs, np.asarray(cotangent)]
    ours = evaluated([value, *found], [*inputs, g], known)
    for mine, expected in zip(ours, [output, *gradients], strict=True):
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


@given(cases(), st.integers(0, 2**16))
def test_the_transpose_is_the_adjoint(case, seed):
    linear = primitives[case.name].linearize(case.inputs, **case.metadata)
    dot_product(case, linear, np.random.default_rng(seed))


@given(cases(dtypes=("float64", "complex128")), st.integers(0, 2**16))
def test_the_transpose_is_the_adjoint_with_variables(case, seed):
    rng = np.random.default_rng(seed)
    primitive, dtype = primitives[case.name], case.inputs[0].dtype
    tangents = [noise(rng, value.shape, dtype) for value in case.inputs]
    inputs, moved = variables(case.inputs), variables(case.inputs)
    output, tangent = primitive.jvp(inputs, moved, **case.metadata)
    shape = reference(case).shape
    cotangent, g = noise(rng, shape, dtype), pt.tensor("g", dtype=dtype, shape=shape)
    _, pullback = primitive.vjp_jax(inputs, **case.metadata)
    names = [*inputs, *moved, g]
    values = [*case.inputs, *tangents, cotangent]
    out, jv, *gradients = evaluated([output, tangent, *pullback(g)], names, values)
    np.testing.assert_array_equal(out, reference(case))
    np.testing.assert_array_equal(jv, reference_tangent(case, tangents))
    assert inner([cotangent], [jv]) == pytest.approx(inner(gradients, tangents), abs=1e-12)


@given(cases(), st.integers(0, 2**16))
def test_the_linearization_is_linear(case, seed):
    rng = np.random.default_rng(seed)
    linear = primitives[case.name].linearize(case.inputs, **case.metadata)
    dtype = case.inputs[0].dtype
    v, w = ([noise(rng, value.shape, dtype) for value in case.inputs] for _ in range(2))
    both = linear(*((2 * a - b).astype(dtype) for a, b in zip(v, w, strict=True)))
    np.testing.assert_allclose(both, 2 * linear(*v) - linear(*w), atol=1e-5)


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


# Wrong rules: the checkers must object to each.


@dataclass(frozen=True, eq=False)
class Swapped(Selecting):
    def pull(self, backend, cotangent):
        return tuple(reversed(super().pull(backend, cotangent)))


@dataclass(frozen=True, eq=False)
class Unmasked(Selecting):
    def pull(self, backend, cotangent):
        return cotangent, super().pull(backend, cotangent)[1]


@dataclass(frozen=True, eq=False)
class Turned(Joining):
    def pull(self, backend, cotangent):
        return super().pull(backend, -cotangent)


@dataclass(frozen=True, eq=False)
class Shifted(Narrowing):
    def pull(self, backend, cotangent):
        return [np.roll(gradient, 1) for gradient in super().pull(backend, cotangent)]


@dataclass(frozen=True, eq=False)
class Everywhere(Clamping):
    def pull(self, backend, cotangent):
        return cotangent, *super().pull(backend, cotangent)[1:]


@dataclass(frozen=True, eq=False)
class Conjugated(Selecting):
    def pull(self, backend, cotangent):
        return super().pull(backend, np.conj(cotangent))


X = np.linspace(-2, 2, 7)
PARTS = (X[:3], X[3:])
WRONG = {
    "where, branches swapped": (Swapped, Case("where", (X, -X), {"condition": X > 0.3})),
    "where, mask forgotten": (Unmasked, Case("where", (X, -X), {"condition": X > 0.3})),
    "where, conjugated": (Conjugated, Case("where", (1j * X, X + 0j), {"condition": X > 0.3})),
    "cat, sign": (Turned, Case("cat", PARTS, {"dim": 0})),
    "narrow, shifted": (Shifted, Case("narrow", (X,), {"dim": 0, "start": 1, "length": 3})),
    "clamp, passed on outside": (Everywhere, Case("clamp", (X, X * 0 - 1.1, X * 0 + 1.1))),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_dot_product_test_objects_to_wrong_transposes(name):
    kind, case = WRONG[name]
    linear = primitives[case.name].linearize(case.inputs, **case.metadata)
    dot_product(case, linear, np.random.default_rng(0))
    linear = primitives[case.name].linearize(case.inputs, **case.metadata)
    parts = {part.name: getattr(linear, part.name) for part in fields(linear)}
    with pytest.raises(check.WrongGradientError):
        dot_product(case, kind(**parts), np.random.default_rng(0))


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
    swapped = Clamping(linear.call, linear.above, linear.below, linear.surface)
    dot_product(case, swapped, np.random.default_rng(0))
    with pytest.raises(check.WrongGradientError):
        compare_with_differences(case, swapped, np.random.default_rng(0))


# Conventions


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
    assert structural.clamp(pt.fvector(), 0, 1.5).type.dtype == "float32"


def test_where_the_clamp_is_not_smooth():
    """x = lo or x = hi: marked, and the cotangent goes to x, all of it."""
    x, lo, hi = np.array([0.0, 1.0, 1.5, 2.0, 3.0]), 1.0, 2.0
    linear = structural.primitives["clamp"].linearize((x, lo, hi))
    assert linear.nonsmooth.tolist() == [False, True, False, True, False]
    _, pullback = structural.primitives["clamp"].vjp_jax((x, lo, hi))
    assert pullback.nonsmooth.tolist() == linear.nonsmooth.tolist()
    gx, glo, ghi = pullback(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert gx.tolist() == [0, 2, 3, 4, 0]
    assert (glo, ghi) == (1, 5)
    assert not primitives["where"].linearize((x, x), condition=x > 0).nonsmooth.any()
    v = pt.dvector("v")
    marked = primitives["clamp"].linearize((v, lo, hi)).nonsmooth
    assert evaluated([marked], [v], [x])[0].tolist() == linear.nonsmooth.tolist()


@given(cases(names=("clamp",)), st.integers(0, 2**16))
def test_a_clamp_passes_every_cotangent_to_exactly_one_input(case, seed):
    cotangent = noise(np.random.default_rng(seed), reference(case).shape, case.inputs[0].dtype)
    parts = primitives["clamp"].transpose(cotangent, case.inputs)
    total = sum(float(part.sum()) for part in parts)
    assert total == pytest.approx(float(cotangent.sum()), abs=1e-4)


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


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_large_arrays_are_chosen_by_their_bits(dtype):
    rng = np.random.default_rng(0)
    n = 2 * backends.BLOCK + 5
    x, y = noise(rng, n, dtype), noise(rng, n, dtype)
    x[::7], y[::5], x[::11] = np.nan, np.inf, -0.0
    mask = rng.integers(2, size=n).astype(bool)
    where = primitives["where"]
    np.testing.assert_array_equal(where.forward(x, y, condition=mask), np.where(mask, x, y))
    view = where.forward(x[::-1], y, condition=mask)
    np.testing.assert_array_equal(view, np.where(mask, x[::-1], y))
    mixed = where.forward(x, y[:1], condition=mask)
    np.testing.assert_array_equal(mixed, np.where(mask, x, y[:1]))
    to_x, to_y = where.transpose(x, (x, y), condition=mask)
    np.testing.assert_array_equal(to_x, np.where(mask, x, 0))
    np.testing.assert_array_equal(to_y, np.where(mask, 0, x))
    assert not np.any(np.signbit(to_y[mask].real))


@pytest.mark.parametrize("bounds", ["numbers", "arrays", "broadcast"])
def test_large_clamps_are_numpys(bounds):
    rng = np.random.default_rng(0)
    shape = (3, backends.BLOCK)
    x, g, v = (rng.integers(-3, 4, size=shape).astype(float) for _ in range(3))
    size = {"numbers": (), "arrays": shape, "broadcast": (3, 1)}[bounds]
    lo, hi = rng.integers(-2, 0, size=size) * 1.0, rng.integers(1, 3, size=size) * 1.0
    linear = primitives["clamp"].linearize((x, lo, hi))
    np.testing.assert_array_equal(linear.nonsmooth, (x == lo) | (x == hi))
    expected = np.where(x < lo, 7 * lo, np.where(x > hi, 9 * hi, v))
    np.testing.assert_array_equal(linear(v, 7 * lo, 9 * hi), expected)
    to_x, to_lo, to_hi = linear.T(g)
    np.testing.assert_array_equal(to_x, np.where((x >= lo) & (x <= hi), g, 0))
    for mine, mask in ((to_lo, x < lo), (to_hi, x > hi)):
        parts = np.where(mask, g, 0)
        sums = {"numbers": parts.sum(), "arrays": parts, "broadcast": parts.sum(1, keepdims=True)}
        np.testing.assert_allclose(mine, sums[bounds], rtol=1e-12)


def test_nan_goes_through():
    x = np.array([np.nan, 0.5])
    assert np.isnan(structural.clamp(x, 0.0, 1.0)[0])
    gx, _, _ = primitives["clamp"].transpose(np.array([np.inf, np.nan]), ([9.0, 0.5], 0.0, 1.0))
    assert gx[0] == 0  # not 0 * inf
    assert np.isnan(gx[1])


# Chains


def routed(x, y):
    """Every primitive, x twice, an inner cat, and a number that is no input."""
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
    # x0 is cut at 0.5, and meets its bound where it is read again; x1 is read twice
    np.testing.assert_array_equal(gx, [8, 18, 32])
    np.testing.assert_array_equal(gy, [0])
    assert [n.tolist() for n in pullback.nonsmooth.values() if n.any()] == [
        [False, False, False, True, False, False]
    ]


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


def test_a_chain_of_variables_is_what_pytensor_says():
    x, y = pt.dvector("x"), pt.dvector("y")
    weight = np.arange(1.0, 7.0)
    output, pullback = structural.vjp(routed, [x, y])
    theirs = pytensor.grad((output * weight).sum(), [x, y])
    found = evaluated([*pullback(weight), *theirs], [x, y], XY)
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])


def test_a_chain_can_be_read_and_used_again():
    chain = structural.record(
        lambda x, y: structural.cat([structural.narrow(x, 0, 1, 2), y], 0), XY
    )
    assert str(chain).splitlines() == [
        "x1, x2 ↦ z2",
        "    z1 = narrow(x1; dim=0, start=1, length=2)",
        "    z2 = cat(z1, x2; dim=0)",
    ]
    assert chain(np.arange(4.0), np.ones(2)).tolist() == [1, 2, 1, 1]
    _, pullback = structural.vjp(chain, [np.arange(4.0), np.ones(2)])
    assert [g.tolist() for g in pullback(np.arange(1.0, 5.0))] == [[0, 1, 2, 0], [3, 4]]


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


STEPS = np.array([[0.5, 0.1], [-0.3, 0.2], [1.5, -0.4], [0.7, 0.3]])


def routing_loop():
    return lab.Loop(
        gated,
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


def test_a_routing_loop_both_ways_and_by_differences():
    loop = routing_loop()
    lab.dot_product(loop)
    graph = loop.build()
    made = loop.derivative(1, "u", cost="sum", graph=graph)
    check.gradient(made.values[0], made.wrt, made.values[1], graph.given)


def test_places_may_depend_on_the_loop():
    """A start that is read from a sequence; in a vector of unknown length."""
    table = pt.dvector("table")
    k = pt.lvector("k")
    read = pytensor.scan(
        lambda k, table: structural.narrow(table, 0, k, 2).sum(),
        sequences=[k],
        non_sequences=[table],
        return_updates=False,
    )
    gradient = pytensor.grad((read**2).sum(), table)
    given = {table: np.array([1.0, 2.0, 4.0, 8.0]), k: np.array([2, 0, 2])}
    np.testing.assert_array_equal(check.value_at(gradient, given), [6, 6, 48, 48])
    with pytest.raises(lab.GraphError):
        check.value_at(gradient, {**given, k: np.array([3, 0, 0])})
