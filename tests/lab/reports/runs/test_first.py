"""The first value that is nan, infinite, or beyond a bound, compared with NumPy."""

import numpy as np
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from graphs import scan
from twins import assert_twin

import lab
from lab import gallery

START = 10.0


def growing(n_steps=12):
    return lab.Loop(lambda x: x * x - x, (lab.State("x", START),), n_steps=n_steps)


def first_in_numpy(is_met):
    """Return the first step of `growing` with a matching value, and this value."""
    x = np.float64(START)
    with np.errstate(all="ignore"):
        for number in range(12):
            for value in (x * x, x * x - x):
                if is_met(value):
                    return number, value
            x = value
    return None


FORWARD = [
    ("nan", np.isnan),
    ("inf", np.isinf),
    (">1e20", lambda v: abs(v) > 1e20),
    (90, lambda v: v == 90),
    ("=90", lambda v: v == 90),
    ("=91", lambda v: v == 91),
]


@pytest.mark.parametrize(("condition", "is_met"), FORWARD)
def test_the_first_value_equals_the_first_value_in_numpy(condition, is_met, fast_compile):
    """Search a trace, and a derivative without a trace."""
    expected, loop = first_in_numpy(is_met), growing()
    for subject in (loop.trace(order=0), loop.derivative(0)):
        first = lab.first(subject, condition)
        if expected is None:
            assert first is None
            continue
        step, value = expected
        assert (first.scan, first.step) == (0, step)
        np.testing.assert_equal(first.chain[0].value, value)


def test_a_gradient_that_explodes(fast_compile):
    """For x ← 3·x, the gradient after k backward steps is 3**k; at step 209 it exceeds 1e100."""
    loop = lab.Loop(lambda x: 3.0 * x, (lab.State("x", 1e-300),), n_steps=400)
    first = lab.first(loop.derivative(1), ">1e100")
    assert (first.scan, first.step) == (1, 209)
    assert "from step" in first.scans[1]


def test_an_unselected_branch_is_ignored_in_the_loop():
    loop = lab.Loop.from_text("where(x > 0, sqrt(x), 0) - 0.9", {"x": 0.5}, n_steps=3)
    assert lab.first(loop.trace(order=0)) is None  # NumPy's where returns no nan, either


NAN = np.nan
# The arguments of a loop with a nan, the step of its first nan, and the name of the value.
GIVEN = [
    (("x + 1", {"x": NAN}, {}, {}, 3), 0, "x₀"),
    (("x + u", {"x": 0.0}, {"u": [1.0, NAN]}, {}, 2), 1, "u₁"),
    (("x + k", {"x": 0.0}, {}, {"k": NAN}, 3), 0, "k"),
]


@pytest.mark.parametrize(("arguments", "step", "label"), GIVEN)
def test_the_name_of_an_input_is_reported(arguments, step, label):
    *arguments, steps = arguments
    loop = lab.Loop.from_text(*arguments, n_steps=steps)
    first = lab.first(loop.trace(order=0))
    assert (first.step, first.chain[0].given) == (step, True)
    assert f"{label} = nan, an input of the graph" in str(first)


def after_a_loop(step, cost, *initial, order=0, n_steps=2):
    """Return a derivative of a cost of the last state, and the values of its inputs."""
    graph = lab.Loop(step, (lab.State("x", *initial),), n_steps=n_steps).build()
    (xs,) = graph.outputs.values()
    return lab.derivative(cost(xs[-1]), graph.inputs["x"], order), graph.given


# Squares of 1e200 and the power 10³⁰⁹ are above the largest number, 1.8e308.
ROOTS = {
    "after-the-loop": lambda: lab.trace(
        *after_a_loop(lambda x: x * x, lambda x: x - x, 1e200, n_steps=1)
    ),
    "from-the-gradient": lambda: lab.Loop(  # 1/x has finite values and an infinite derivative
        lambda x, y: (x * x, y + 1 / x), (lab.State("x", 1e100), lab.State("y", 0.0)), n_steps=6
    ).trace(order=1, of="y"),
    "many-infinities": lambda: lab.Loop(
        lambda x, u: x * 10.0 * u, (lab.State("x", 1.0),), (lab.Sequence("u", [1.0] * 900 + [0]),)
    ).trace(order=0),
    "vector": lambda: lab.Loop.from_text(  # the step computes inf − 2, and then 0·inf + 2
        "W@h", {"h": [1e200, 2.0]}, {}, {"W": np.array([[1e200, -1.0], [0.0, 1.0]])}, n_steps=4
    ).trace(order=0),
}


@pytest.mark.parametrize("name", ROOTS)
def test_the_chain_to_the_first_infinity(name):
    assert_twin(f"first-{name}", lab.first(ROOTS[name](), "nan"))


# The step, the cost, the Scan with the nan, and C‴ at x₀ = 0: sin(sin(x))² is an even function, and
# C = Σ x₀⁴ has C‴ = 24·x₀.
SQUARES = {
    "outside": (lambda x: pt.sin(x), lambda x: (x**2).sum(), None, 0.0),
    "in the step": (lambda x: x**2, lambda x: x.sum(), 5, 0.0),
}


@pytest.mark.parametrize("name", SQUARES)
def test_a_square_of_zero_is_reported_and_its_rewrite_is_correct(name):
    step, cost, scan, expected = SQUARES[name]
    derivative, given = after_a_loop(step, cost, [0.0, 0.5], order=3)
    trace = lab.trace(derivative, given)
    assert np.isnan(trace.outputs[3]).tolist() == [True, False]
    first = lab.first(trace)
    product, power = (link for link in first.chain if link.operation in ("Mul", "Pow"))
    assert [(x.operation, x.scan) for x in (product, power)] == [("Mul", scan), ("Pow", scan)]
    assert (power.inputs[0].value[power.entry], power.value[power.entry]) == (0, np.inf)
    words = " ".join(str(first).split())
    assert "rewritten=True" in words
    assert "an input of the graph" not in words
    assert ("x₁^(-1) = inf" in words) == (scan is not None)  # not x₁^(2 − 1 − 1 − 1)
    rewritten = lab.trace(derivative, given, rewritten=True)
    assert lab.first(rewritten) is None
    np.testing.assert_allclose(rewritten.outputs[3][0], expected, atol=1e-15)


def test_uninitialized_memory_is_no_cause(monkeypatch):
    """The buffers of the states contain nan until the steps write them."""
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: pt.where(x > 0, pt.sqrt(x), 0.0), outputs_info=[x0], n_steps=3)
    derivative = lab.derivative(xs[-1], x0, order=2)
    monkeypatch.setattr(np, "empty_like", lambda like: np.full_like(like, np.nan))
    trace = lab.trace(derivative, {x0: -1.0})
    assert trace.outside == ()
    assert np.isnan(trace.outputs[-1])


test_errors = error_test(
    *(
        (lambda condition=condition: lab.first(growing(2).trace(order=0), condition), "value = ")
        for condition in ("Nan", "1e6", ">much", ">nan", np.nan, True, None, [1])
    )
)


@pytest.mark.parametrize("name", gallery.loops)
@pytest.mark.parametrize(
    ("condition", "is_met"), [(">1", lambda v: np.abs(v) > 1), ("=0", lambda v: v == 0)]
)
def test_no_matching_value_was_written_earlier(name, condition, is_met):
    trace = gallery.loops[name].trace(order=2)
    first = lab.first(trace, condition)
    written = [
        (number, step)
        for number, scan in enumerate(trace.scans)
        for tape in scan.buffers
        for write in tape.writes
        for step, value in enumerate(write.values)
        if is_met(value).any()
    ]
    if first is None:
        assert written == []
        return
    matched = first.chain[0]
    assert is_met(matched.value)[matched.entry]
    if first.scan is not None and written:
        assert (first.scan, first.step) <= min(written)
