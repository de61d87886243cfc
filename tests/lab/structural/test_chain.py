"""Compare structural primitives, chains, and steps of tapes with NumPy; check kinks and errors."""

import re

import numpy as np
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from hypothesis import given, settings
from hypothesis import strategies as st
from structural_cases import cases, inner, noise, reference, reference_gradients, reference_tangent

import lab
from lab import structural
from lab.errors import ArgumentError
from lab.structural import primitives
from lab.tape import Tape

A = np.arange(6.0).reshape(2, 3)
G = 10 + A
MIXED = np.array([[True, False, True], [False, False, True]])
SIGN = np.array([True, True, False, True, True, True])
LIMITS = np.array([0.5, 1.5, 1.5, 1.0, 1.0, 3.0])


@settings(max_examples=150)
@given(cases(), st.integers(0, 2**16))
def test_output_tangent_and_cotangents_equal_numpy(case, seed):
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


@settings(max_examples=15)  # JAX compiles every shape
@given(cases(), st.integers(0, 2**16))
def test_tangent_and_cotangents_equal_jax(case, seed):
    jax = pytest.importorskip("jax")
    data, rng = case.metadata, np.random.default_rng(seed)
    function = {
        "where": lambda x, y: jax.numpy.where(data["condition"], x, y),
        "cat": lambda *xs: jax.numpy.concatenate(xs, data["dim"]),
        "narrow": lambda x: jax.numpy.take(
            x, np.arange(data["length"]) + data["start"], data["dim"]
        ),
        "clamp": lambda x, lo, hi: jax.numpy.clip(x, lo, hi),
    }[case.name]
    tangents = [noise(rng, value.shape, value.dtype) for value in case.inputs]
    with jax.enable_x64(True):
        output, tangent = jax.jvp(function, case.inputs, tuple(tangents))
        cotangent = noise(rng, output.shape, case.inputs[0].dtype)
        gradients = jax.vjp(function, *case.inputs)[1](cotangent)
    primitive = primitives[case.name]
    ours = primitive.jvp(case.inputs, tangents, **data)[1]
    np.testing.assert_allclose(ours, tangent, 1e-5)
    pulled = primitive.transpose(cotangent, case.inputs, **data)
    for mine, other in zip(pulled, gradients, strict=True):
        np.testing.assert_allclose(mine, other, 1e-4)


def routed(x, y):
    """Apply every primitive, with x twice, a nested cat, and a constant."""
    head = structural.narrow(x, 0, 0, 2)
    both = structural.cat([structural.cat([head, y], 0), x], 0)
    chosen = structural.where(SIGN, both, 0.25)
    return structural.clamp(chosen, -1.0, LIMITS)


def routed_by_numpy(x, y):
    both = np.concatenate([x[:2], y, x])
    return np.clip(np.where(SIGN, both, 0.25), -1, LIMITS)


def test_an_input_that_the_chain_does_not_read_has_a_gradient_of_zeros():
    _, pullback = structural.vjp(lambda x, y: structural.narrow(x, 0, 0, 1), [V, [1, 2]])
    assert [g.tolist() for g in pullback([5.0])] == [[5, 0, 0], [0.0, 0.0]]


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
    repeated, pullback = structural.vjp(routed, inputs)
    np.testing.assert_array_equal(output, routed_by_numpy(*inputs))
    np.testing.assert_array_equal(repeated, output)
    moved = ([x + h * d for x, d in zip(inputs, v, strict=True)] for h in (1e-4, -1e-4))
    ahead, behind = (routed_by_numpy(*each) for each in moved)
    np.testing.assert_allclose(tangent, (ahead - behind) / 2e-4, atol=1e-9)
    assert inner([g], [tangent]) == pytest.approx(inner(pullback(g), v), abs=1e-12)


def test_the_conventions_of_jax_and_torch():
    """JAX's convention omits metadata, and Torch's convention names every argument."""
    output, pullback = primitives["narrow"].vjp_jax((A,), dim=0, start=1, length=1)
    np.testing.assert_array_equal(output, [[3, 4, 5]])
    (gradient,) = pullback(np.ones((1, 3)))
    np.testing.assert_array_equal(gradient, [[0, 0, 0], [1, 1, 1]])
    results = {
        "where": primitives["where"].vjp_torch(G, (A, A), condition=MIXED),
        "cat": primitives["cat"].vjp_torch(G, [A[:1], A[1:]], dim=0),
        "narrow": primitives["narrow"].vjp_torch(G, (A,), dim=0, start=0, length=2),
        "clamp": primitives["clamp"].vjp_torch(G, (A, 1.5, 3.5)),
    }
    assert {name: list(gradients) for name, gradients in results.items()} == {
        "where": ["condition", "x", "y"],
        "cat": ["inputs", "dim"],
        "narrow": ["a", "dim", "start", "length"],
        "clamp": ["x", "lo", "hi"],
    }
    for name, gradients in results.items():
        for argument, gradient in gradients.items():
            assert (gradient is None) == (argument in primitives[name].metadata)
    assert [g.tolist() for g in results["cat"]["inputs"]] == [[[10, 11, 12]], [[13, 14, 15]]]


def test_numbers_and_lists_take_the_dtype_of_arrays():
    x = np.ones(3, dtype="float32")
    assert structural.where([True, False, True], x, 2).dtype == "float32"
    assert structural.clamp([1, 2, 3], 0, 2.5).tolist() == [1, 2, 2.5]
    assert structural.where(True, 1j, 2).dtype == "complex128"


def test_kinks_and_values_that_are_not_finite():
    """At x = lo and at x = hi, the operation is marked, and x receives the whole cotangent."""
    x, lo, hi = np.array([0.0, 1.0, 1.5, 2.0, 3.0]), 1.0, 2.0
    linear = primitives["clamp"].linearize((x, lo, hi))
    assert linear.nonsmooth.tolist() == [False, True, False, True, False]
    gx, glo, ghi = linear.T(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert (gx.tolist(), glo, ghi) == ([0, 2, 3, 4, 0], 1, 5)
    assert not primitives["where"].linearize((x, x), condition=x > 0).nonsmooth.any()
    assert np.isnan(structural.clamp(np.array([np.nan, 0.5]), 0.0, 1.0)[0])
    gx, _, _ = primitives["clamp"].transpose(np.array([np.inf, np.nan]), ([9.0, 0.5], 0.0, 1.0))
    np.testing.assert_array_equal(gx, [0, np.nan])  # not 0 * inf


def test_results_do_not_share_changes_with_their_inputs():
    x, mask, a = np.array([0.5, 1.5]), np.array([True, False]), np.arange(4.0)
    clamped = primitives["clamp"].linearize((x, 0.0, 1.5))
    chosen = primitives["where"].linearize((x, x), condition=mask)
    x[:], mask[:] = 7, False
    assert clamped.nonsmooth.tolist() == [False, True]
    assert clamped(np.ones(2), 0.0, 0.0).tolist() == [1, 1]
    assert chosen(np.ones(2), np.zeros(2)).tolist() == [1, 0]
    (joined,) = primitives["cat"].transpose(a, [a], dim=0)
    for result in (structural.narrow(a, 0, 1, 2), joined):
        with pytest.raises(ValueError, match="read-only"):
            result[0] = 5
    assert a.flags.writeable


# Tapes: overwritten taps are `set_subtensor`.


@given(st.integers(1, 4), st.integers(0, 3), st.data())
def test_set_subtensor_writes_like_numpy_and_routes_its_cotangent(rows, new, data):
    """At the written rows, the gradient of x is zero, and y receives the output gradient."""
    new = min(new, rows)
    i = data.draw(st.integers(0, rows - new))
    x, y = np.arange(2.0 * rows).reshape(rows, 2), -np.ones((new, 2))
    output, pullback = structural.vjp(lambda x, y: structural.set_subtensor(x, y, i), [x, y])
    gradient = np.random.default_rng(0).normal(size=x.shape)
    to_x, to_y = pullback(gradient)
    np.testing.assert_array_equal(to_y, gradient[i : i + new])
    for actual, old, written in ((output, x, y), (to_x, gradient, 0)):
        expected = old.copy()
        expected[i : i + new] = written
        np.testing.assert_array_equal(actual, expected)
    with pytest.raises(lab.LabError, match="set_subtensor: x = "):
        structural.set_subtensor(pt.constant(x), y, i)


TAPES = [Tape((-1,), (0,)), Tape((-2, -1), (0,)), Tape((0, 1), (1,)), Tape((-1, 0), (0, -1))]
TAPES += [Tape((-3, -1), (0,)), Tape((-1, 0, 1), (1, 0))]


@pytest.mark.parametrize("tape", TAPES, ids=str)
def test_the_transpose_of_a_step_is_a_step_of_the_reverse_tape(tape):
    """Compare with the rule of `Tape.reverse`: clear written slots, accumulate at read slots."""
    rows, step = tape.rows(2), 1
    buffer, written = np.zeros(rows), np.zeros(len(tape.writes))
    _, pullback = structural.vjp(structural.tape_step(tape, step), [buffer, written])
    given_read = 100.0 * np.arange(1, len(tape.reads) + 1)
    given_after = np.arange(1.0, rows + 1)
    before, to_written = pullback(np.concatenate([given_read, given_after]))

    expected = given_after.copy()
    for number, tap in enumerate(tape.writes):
        assert to_written[number] == given_after[tape.row(step, tap)]
        expected[tape.row(step, tap)] = 0
    for number, tap in enumerate(tape.reads):
        expected[tape.row(step, tap)] += given_read[number]
    np.testing.assert_array_equal(before, expected)

    reverse = tape.reverse()
    changed = set(np.flatnonzero(before != given_after))
    cleared = {tape.row(step, tap) for tap in tape.writes if tap not in tape.reads}
    assert changed - cleared == {tape.row(step, -tap) for tap in reverse.writes} - cleared
    assert {tape.row(step, -tap) for tap in reverse.reads} >= changed


V = A[0]
YES = np.array([True, False, True])

# A call, the start of its message, and a later part.
ERRORS = [
    (lambda: structural.where(YES, V, np.ones(2)), "where: condition has shape (3,)", "broadcast"),
    (lambda: structural.where(YES, V, V.astype("float32")), "where: x is float64 and y", "dtype"),
    (lambda: structural.where(YES, np.arange(3), V), "where: x has dtype int64", "float32"),
    (lambda: structural.where(YES, V, 1j), "where: y = 1j is complex", "expected float64"),
    (lambda: structural.where([1, 0], 1, 2), "where: condition = [1, 0]", "booleans"),
    (lambda: structural.where(YES, "x", 2), "where: x = 'x': expected a NumPy array", ""),
    (lambda: structural.where(YES, pt.dvector("v"), 2.0), "where: x = v", "pytensor.tensor"),
    (lambda: structural.where(YES, [[1], [1, 2]], 2), "where: x = [[1], [1, 2]]", "expected"),
    (lambda: structural.cat([A, A[:, :2]], 0), "cat: inputs[0] has shape (2, 3)", "dim = 0"),
    (lambda: structural.cat([A, V], 0), "cat: inputs[0] has shape (2, 3)", "dimensions"),
    (lambda: structural.cat([A, A], 2), "cat: dim = 2: inputs[0] has 2 dim", "expected -2 to 1"),
    (lambda: structural.cat([np.array(1.0)], 0), "cat: dim = 0: inputs[0] is a scalar", ""),
    (lambda: structural.cat([], 0), "cat: inputs = []: expected at least one", ""),
    (lambda: structural.cat(A, 0), "cat: inputs = array(", "tuple or a list"),
    (lambda: structural.narrow(A, 1, 4, 0), "narrow: start = 4: a has shape (2, 3)", "0 to 3"),
    (lambda: structural.narrow(A, 0, 1, 2), "narrow: length = 2: a has shape (2, 3)", "0 to 1"),
    (lambda: structural.narrow(A, 0, 1, -1), "narrow: length = -1", "0 to 1"),
    (lambda: structural.narrow(V, 0, 0.5, 1), "narrow: start = 0.5", "integer"),
    (lambda: structural.clamp(V, 2.0, V), "clamp: lo[0] = 2.0 and hi[0] = 0.0", "lo ≤ hi"),
    (lambda: structural.clamp(V + 1j, 0, 1), "clamp: x has dtype complex128", "float32 or float64"),
    (lambda: structural.clamp(True, 0, 1), "clamp: x = True: expected numbers", ""),
    (lambda: structural.set_subtensor(A, A[:1], 2), "set_subtensor: i = 2: y has 1 rows", "all of"),
    (lambda: structural.set_subtensor([1.0], [2.0], 0), "set_subtensor: x = [1.0]", "rows"),
    (lambda: primitives["x" * 1000], "", "the primitives are where, cat, narrow, and clamp"),
    (lambda: primitives["narrow"].forward(A, dim=0), "narrow: metadata = dim: expec", "start"),
    (lambda: primitives["clamp"].forward(A, 0), "clamp: inputs: expected x", "2"),
    (lambda: primitives["cat"].jvp([V, V], [V], dim=0), "cat: tangents = ", "got 1"),
    (lambda: primitives["clamp"].jvp((V, 0.0, 1.0), (V, V, 0.0)), "clamp: the tangent of lo", "()"),
    (
        lambda: primitives["where"].transpose(V + 0j, (V, V), condition=YES),
        "where: the cotangent of the output has dtype complex128",
        "float64",
    ),
    (lambda: structural.vjp(lambda x: 3.0, [V]), "function: it returned 3.0", ""),
    (
        lambda: structural.vjp(lambda x: structural.where(np.asarray(x), x, x), [V]),
        "a chain consists of where, cat, narrow, and clamp only",
        "",
    ),
]
test_errors = error_test(
    *((call, f"^{re.escape(start)}.*{re.escape(rest)}") for call, start, rest in ERRORS),
    longest=210,
)


def test_two_recordings_do_not_mix():
    values = []
    structural.vjp(lambda x: values.append(x) or structural.narrow(x, 0, 0, 1), [V])
    with pytest.raises(ArgumentError, match="expected values of one chain"):
        structural.vjp(lambda x: structural.cat([x, values[0]], 0), [V])
