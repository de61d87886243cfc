"""`lab.influence`, compared with unrolled loops and closed forms."""

import pickle
from itertools import product

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from graphs import ifelse, scan
from matplotlib.figure import Figure
from pytensor.compile.mode import Mode
from twins import assert_twin

import lab
import visual
from lab import gallery
from lab.errors import ArgumentError, GradientError, GraphError, KindError
from lab.loops.variables import results_of
from lab.reports.runs import influence

COUPLED = lab.Loop(
    lambda a, b: (a * b[0] + a, pt.stack([b[1] * a, pt.sin(b[0])])),
    (lab.State("a", 0.7), lab.State("b", np.array([0.4, -0.3]))),
    n_steps=4,
)
LOOPS = {"vectors": COUPLED, **gallery.loops}
CASES = [  # the step of `walk` draws random numbers, and the step of `undefined` has no derivative
    (name, of, by)
    for name in LOOPS.keys() - {"walk", "undefined"}
    for of, by in product([s.name for s in LOOPS[name].states], repeat=2)
]


def unrolled_influence(loop, of, by):
    """Return ∂of_t/∂by_s by PyTensor's gradient of the loop without a Scan."""
    rows = {s.name: [pt.constant(row).copy() for row in s.first_values] for s in loop.states}
    parameters = {p.name: pt.constant(p.value) for p in loop.parameters}
    for k in range(loop.trace(order=0).scans[0].steps):
        read = {s.name: [rows[s.name][tap] for tap in s.taps] for s in loop.states}
        for s in loop.sequences:
            read[s.name] = [pt.constant(s.values[k + tap - min(0, *s.taps)]) for tap in s.taps]
        read = {name: row if len(row) > 1 else row[0] for name, row in read.items()}
        results, _ = results_of(loop.step(**read, **parameters))
        for state, new in zip(loop.states, results, strict=False):
            rows[state.name].append(new)
    size = rows[of][0].type.shape[0] if rows[of][0].ndim else 1
    slopes = [
        pytensor.grad(value.ravel()[entry], rows[by], disconnected_inputs="ignore")
        for value in rows[of]
        for entry in range(size)
    ]
    outputs = [slope for row in slopes for slope in row]
    values = pytensor.function([], outputs, mode=Mode("py", None))()
    return np.reshape(values, (len(rows[of]), size, len(rows[by]), -1)).swapaxes(1, 2)


def test_the_second_of_two_loops_with_the_same_name():
    x0 = pt.dscalar("x0")
    options = {"n_steps": 2, "name": "a, from step 2"}
    first = scan(pt.sin, outputs_info=[x0], **options)
    second = scan(pt.cos, outputs_info=[first[-1]], **options)
    derivative = lab.derivative(second[-1], x0, 1)
    report = lab.influence(derivative, scan=2, given={x0: 0.5})
    start = np.sin(np.sin(0.5))
    slopes = [-np.sin(start), -np.sin(np.cos(start))]
    expected = [[1, 0, 0], [slopes[0], 1, 0], [slopes[0] * slopes[1], slopes[1], 1]]
    np.testing.assert_allclose(np.tril(np.squeeze(report.values)), expected, rtol=1e-12)


@pytest.mark.parametrize(("name", "of", "by"), sorted(CASES))
def test_influence_equals_gradients_of_the_unrolled_loop(name, of, by, monkeypatch):
    derivative = LOOPS[name].derivative(0)
    report = lab.influence(derivative, of, by)
    monkeypatch.setattr(influence, "BATCH", 2)
    assert lab.influence(derivative, of, by, trace=lab.trace(derivative)) == report
    expected = unrolled_influence(LOOPS[name], of, by)
    np.testing.assert_allclose(report.values.reshape(expected.shape), expected, rtol=1e-10)


def test_a_choice_of_the_step_and_a_state_without_entries():
    """The values of x are 0.5, 0.25, sin(0.25), and sin(sin(0.25))."""
    x = lab.State("x", 0.5)
    chosen = lab.Loop(lambda x: ifelse(pt.gt(x, 0.3), x**2, pt.sin(x)), [x], n_steps=3)
    slopes = [1, np.cos(np.sin(0.25)), np.cos(0.25), 2 * 0.5]
    last = lab.influence(chosen.derivative()).last
    np.testing.assert_allclose(last, np.cumprod(slopes)[::-1], rtol=1e-12)
    empty = lab.Loop.from_text("x[t] = x[t-1]**2", {"x": np.zeros(0)}, n_steps=3)
    assert lab.influence(empty.derivative()).last.tolist() == [0, 0, 0, 0]


def test_a_random_walk_draws_the_same_numbers():
    """x_t = 0.9·x_{t−1} + a random number: the influence over n steps is 0.9ⁿ."""
    report = lab.influence(gallery.loops["walk"].derivative())
    t, s = np.meshgrid(report.rows, report.columns, indexing="ij")
    np.testing.assert_allclose(report.values, np.where(t >= s, 0.9 ** (t - s), 0), rtol=1e-14)


def linear(matrix, steps):
    return lab.Loop.from_text("w@h", {"h": np.ones(len(matrix))}, {}, {"w": matrix}, n_steps=steps)


SUMMARIES = {  # a factor, whose ninth power is below 0.01, above 100, or between these bounds
    0.0: "A small change of the first value has no first-order effect.",
    0.5: "shrinks with distance: ×0.5 per step (geometric mean). It vanishes.",
    0.8: "shrinks with distance: ×0.8 per step (geometric mean).",
    1.0: "Influence is about constant over 9 steps.",
    1.3: "grows with distance: ×1.3 per step (geometric mean).",
    2.0: "grows with distance: ×2 per step (geometric mean). It explodes.",
}


@pytest.mark.parametrize(("factor", "summary"), SUMMARIES.items())
def test_a_linear_loop_has_the_powers_of_its_matrix(factor, summary):
    """A rotation times a factor multiplies the norm by the factor at every step."""
    rotation = np.array([[0.6, -0.8], [0.8, 0.6]]) * factor
    report = lab.influence(linear(rotation, 9).derivative())
    for t, s in ((9, 0), (5, 3), (4, 4)):
        power = np.linalg.matrix_power(rotation, t - s)
        np.testing.assert_allclose(report.values[t, s], power, atol=1e-12)
        np.testing.assert_allclose(report.sizes[t, s], factor ** (t - s))
    assert report.rate == pytest.approx(factor)
    assert next(report.summary()).endswith(summary)


def test_blocks_of_a_long_loop():
    report = lab.influence(linear(np.array([[0.99]]), 3_000).derivative(0))
    assert report.values.shape == (200, 200, 1, 1)
    assert (report.rows[0], report.columns[0], report.end) == (0, 0, 3_000)
    t, s = np.meshgrid(np.arange(3_001), np.arange(3_001), indexing="ij")
    powers = np.where(t >= s, 0.99 ** np.maximum(t - s, 0), 0)
    expected = [  # the largest entry of each block
        [block.max() for block in np.split(part, report.columns[1:], axis=1)]
        for part in np.split(powers, report.rows[1:])
    ]
    np.testing.assert_allclose(report.values[..., 0, 0], expected, rtol=1e-10)
    assert report.index.tolist() == list(range(3_001))
    np.testing.assert_allclose(report.last, 0.99 ** (3_000 - report.index), rtol=1e-10)


ODD_STEPS = {  # a formula of y that differs at one step, and its derivative dy/dx at this step
    "nan": ("sqrt(far*x)", np.nan),
    "large": ("where(far, x, -1e9*x)", -1e9),
    "infinite": ("x/far", np.inf),
}


@pytest.mark.parametrize("length", [29, 400])
@pytest.mark.parametrize("name", ODD_STEPS)
def test_a_map_shows_a_single_large_or_odd_derivative(name, length):
    """Step k writes value k + 1 of y, and no later step reads y."""
    formula, slope = ODD_STEPS[name]
    odd = 20 if length < 100 else 101
    start, far = {"x": 0.7, "y": 0.0}, (np.arange(length) != odd) * 1.0
    loop = lab.Loop.from_text(f"x = cos(x); y = {formula}", start, {"far": far})
    derivative = loop.derivative(0, of="x")
    report = lab.influence(derivative, "y", "x")
    row = np.searchsorted(report.rows, odd + 1, "right") - 1
    column = np.searchsorted(report.columns, odd, "right") - 1
    assert report.rows.size == min(200, length + 1)
    np.testing.assert_equal(abs(report.values[row, column]), abs(slope))
    assert ("nan or infinite" in str(report)) == (not np.isfinite(slope))
    axes = Figure().add_subplot()
    visual.influence(report, ax=axes)
    heats = np.asarray(axes.collections[0].get_array())
    extreme = np.sign(report.values[row, column])
    extremes = np.isnan(heats) if np.isnan(extreme) else heats == extreme
    rows = np.unique(np.nonzero(extremes)[0])
    assert len(rows) == 1 or (len(rows) and np.isinf(slope))  # large values look like infinity


def test_a_report_states_that_only_some_derivatives_were_computed(monkeypatch):
    derivative = linear(np.array([[0.99]]), 500).derivative(0)
    full = lab.influence(derivative)
    assert "were computed" not in str(full)
    monkeypatch.setattr(influence, "MOST_WORK", 1e3)
    report = lab.influence(derivative)
    assert f"wrt {len(report.index)} of 501 values of h were computed" in str(report)
    positions = np.searchsorted(full.index, report.index)
    np.testing.assert_array_equal(report.last, full.last[positions])
    assert set(range(301, 501)) <= set(report.index.tolist())  # all values at the end are compared


def test_reach_is_the_smallest_distance_below_one_percent():
    """For x ← x/2 + w the influence after k steps is 2**-k, and 2**-7 < 1 % < 2**-6."""
    loop = lab.Loop.from_text("x/2 + w", {"x": 1.0}, {}, {"w": 0.1}, n_steps=30)
    assert lab.influence(loop.derivative(wrt="w")).reach == 7


def influence_with(**wrong):
    return lab.influence(**{"derivative": gallery.loops["square"].derivative(), **wrong})


COUNTING = lab.Loop.from_text("k = k + k; y = k*w", {"k": np.int64(1)}, {}, {"w": 0.5}, n_steps=3)
BESSEL = lab.Loop(lambda v: pt.jv(v, 1.5), (lab.State("v", 0.5),), n_steps=2)
test_errors = error_test(
    (lambda: lab.influence(COUNTING.derivative(0, "w", of="y")), GraphError, "no state is real"),
    (lambda: lab.influence(BESSEL.derivative(0)), GradientError, "no derivative"),
    (lambda: influence_with(derivative=5), KindError, "derivative = 5"),
    (lambda: influence_with(trace=5), KindError, "trace = 5"),
    (lambda: influence_with(given=5), KindError, "given = 5"),
    (lambda: influence_with(of="y"), "of = 'y'"),
    (lambda: influence_with(by=3), "by = 3"),
    (lambda: influence_with(scan=3), "scan = 3"),
)


def test_a_pickled_trace():
    derivative = gallery.loops["square"].derivative()
    trace = pickle.loads(pickle.dumps(lab.trace(derivative)))
    assert lab.influence(derivative, trace=trace) == lab.influence(derivative)
    with pytest.raises(ArgumentError, match="expected a trace of square and gradient of square"):
        lab.influence(derivative, trace=gallery.loops["gap"].trace())


@pytest.mark.parametrize("name", ["logistic", "rnn"])
def test_the_text_of_the_picture(name):
    assert_twin(f"influence-{name}", visual.draw(gallery.loops[name], "influence"))
