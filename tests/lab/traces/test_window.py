"""A trace of a window of steps has the same numbers as the full trace, compiled or not."""

import tracemalloc

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from graphs import scan

import lab
import visual
from lab import gallery
from lab.errors import ArgumentError, GraphError
from lab.traces import loop_run, window

pytestmark = pytest.mark.usefixtures("fast_compile")
NEAR = {"rtol": 1e-12, "atol": 1e-14}  # PyTensor can fuse operations, and add in another order
CASES = [("gap", 2), ("coupled", 2), ("rnn", 1), ("delay", 1)]
WINDOWS = {"last": "last", "the middle": slice(1, 3), "the end": slice(-2, None)}


def differing(part, whole):
    """Return the names of values that differ between the trace of a window and the whole trace."""
    pairs = [*zip(part.names, part.outputs, whole.outputs, strict=True)]
    for trace_window, full in zip(part.scans, whole.scans, strict=True):
        steps = slice(trace_window.first, trace_window.first + trace_window.steps)
        for tape, twin in zip(trace_window.buffers, full.buffers, strict=True):
            rows = slice(trace_window.first, trace_window.first + len(tape.initial))
            if twin.axis is not None:
                pairs.append((f"{tape.name}: axis", tape.axis.index, twin.axis.index[rows]))
            both = zip((*tape.reads, *tape.writes), (*twin.reads, *twin.writes), strict=True)
            for a, b in both:
                pairs.append((f"{tape.name}[{a.tap}]", a.values, b.values[steps]))
        for a, b in zip(trace_window.sequences, full.sequences, strict=True):
            pairs.append((a.name, a.values, b.values[steps]))
            pairs.append((f"{a.name}: axis", a.axis.index, b.axis.index[steps]))
        for a, b in zip(trace_window.inside, full.inside, strict=True):
            pairs.append((str(a.operation), a.values, b.values[steps]))
    return [name for name, a, b in pairs if not np.allclose(a, b, **NEAR)]


@pytest.mark.parametrize("keep", WINDOWS)
@pytest.mark.parametrize(("name", "order"), CASES)
def test_a_window_has_the_numbers_of_the_full_trace(name, order, keep):
    derivative = gallery.loops[name].derivative(order)
    whole = lab.trace(derivative)
    assert differing(lab.trace(derivative, keep=WINDOWS[keep]), whole) == []


def test_the_checker_detects_another_number():
    loop = gallery.loops["coupled"]
    trace_window = lab.trace(loop.derivative(1), keep="last")
    other = lab.trace(loop.with_values({"prey": 1.4}).derivative(1))
    assert len(differing(trace_window, other)) > 10


def test_the_last_step_of_a_long_loop_by_a_closed_form():
    """For x ← x·w, the derivative of the last x wrt w is n·x·w**(n−1), the running total."""
    n, w = 5_000, 0.999
    loop = lab.Loop.from_text("x*w", {"x": 2.0}, parameters={"w": w}, n_steps=n)
    trace = lab.trace(loop.derivative(1, "w"), keep="last")
    np.testing.assert_allclose(trace.outputs, [2 * w**n, n * 2 * w ** (n - 1)], rtol=1e-9)
    forward, backward = trace.scans
    assert (forward.first, forward.steps, backward.first) == (n - 1, 1, n - 1)
    assert forward.tapes[0].axis.index.tolist() == [n - 1, n]
    (total,) = (tape for tape in backward.tapes if tape.is_total)
    np.testing.assert_allclose(total.final[-1], trace.outputs[1], rtol=1e-12)
    np.testing.assert_allclose(total.initial[0], (n - 1) * 2 * w ** (n - 1), rtol=1e-9)


def test_a_loop_whose_step_reads_only_a_parameter_has_all_its_rows():
    """In the mode FAST_RUN, PyTensor loses the last of three values of x."""
    loop = lab.Loop.from_text("tanh(w)", {"x": 0.1}, parameters={"w": 0.7}, n_steps=3)
    with pytensor.config.change_flags(mode="FAST_RUN"):
        trace = lab.trace(loop.derivative(1, "w", cost="sum"), keep="last")
    value = np.tanh(0.7)
    np.testing.assert_allclose(trace.outputs, [3 * value, 3 * (1 - value**2)])


def test_a_window_of_a_gradient_has_the_matching_backward_steps():
    trace = lab.trace(gallery.loops["square"].with_steps(50).derivative(1), keep=slice(10, 14))
    forward, backward = trace.scans
    assert (forward.first, backward.first) == (10, 36)
    assert forward.tapes[0].axis.index.tolist() == [10, 11, 12, 13, 14]
    assert backward.sequences[0].axis.index.tolist() == [13, 12, 11, 10]
    assert not forward.stopped_early
    assert "step k: x[t] is xₖ₊₁₁" in visual.tapes(trace).text()
    assert repr(trace).endswith("other steps by PyTensor, VM)")


def test_influence_within_a_window_equals_the_full_influence():
    derivative = gallery.loops["logistic"].with_steps(40).derivative(1)
    full = lab.influence(derivative)
    window = lab.trace(derivative, keep=slice(20, 30))
    trace_window = lab.influence(derivative, trace=window)
    np.testing.assert_allclose(trace_window.values, full.values[20:31, 20:31], rtol=1e-10)
    assert trace_window.rows.tolist() == list(range(20, 31))


def network(steps):
    u, w = np.zeros((steps, 64)), np.zeros((64, 64))
    return lab.Loop.from_text("tanh(w@h + u)", {"h": np.zeros(64)}, {"u": u}, {"w": w})


def test_too_much_memory_raises_an_error_before_the_run(monkeypatch):
    """140,000 partial sums of 64 × 64 numbers are 4.6 GB, the other arrays 0.7 GB."""
    original = window.run

    def run_counts(outputs, *others, **options):
        assert all(v.type.ndim == 0 for v in outputs)
        return original(outputs, *others, **options)

    monkeypatch.setattr(window, "run", run_counts)
    with pytest.raises(ArgumentError, match=r"140,000 steps need 5\.\d+ GB") as caught:
        network(140_000).trace(wrt="w")
    start = int(str(caught.value).split('keep = "')[2].split(":")[0])
    size = (140_000 - start) * 64 * 64 * 8  # the partial sums; the other arrays are small
    assert 0.8 * window.MOST_BYTES < size < window.MOST_BYTES


def test_a_full_trace_stores_each_partial_sum_once(monkeypatch):
    monkeypatch.setattr(loop_run, "MOST_BYTES", 1_000_000)  # no products inside the step
    loop, one_row = network(300), 64 * 64 * 8
    derivative = loop.derivative(wrt="w")
    tracemalloc.start()
    trace = lab.trace(derivative)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * 300 * one_row
    (total,) = (tape for tape in trace.scans[1].tapes if tape.is_total)
    assert np.shares_memory(total.final, total.writes[0].values)
    assert np.shares_memory(total.final, total.reads[0].values)


def test_a_trace_does_not_change_with_the_arrays_that_were_passed():
    x, u, w = pt.dvector("x"), pt.dmatrix("u"), pt.dmatrix("w")
    xs = scan(lambda u, x, w: u * (w.T @ x), sequences=u[1:], outputs_info=x, non_sequences=w)
    given = {x: np.ones(2), u: np.ones((3, 2)), w: np.ones((2, 2))}
    trace = lab.trace(xs, given)
    for value in given.values():
        value[:] = 7.0
    assert trace == lab.trace(xs, {v: np.ones_like(value) for v, value in given.items()})
    assert trace != lab.trace(xs, given)


def trace_window(keep, name="square"):
    return lab.trace(gallery.loops[name].derivative(1), keep=keep)


test_errors = error_test(
    (lambda: trace_window("first"), "keep = 'first'"),
    (lambda: trace_window(100), "keep = 100: expected .all., .last., or a range"),
    (lambda: trace_window(slice(0, 4, 2)), "keep = 0:4:2: expected"),
    (lambda: trace_window(slice(True, 4)), "keep = True:4: expected"),
    (lambda: trace_window(slice(9, 12)), "square runs steps 0 to 3"),
    (lambda: trace_window("last", "newton"), GraphError, "stops on a condition"),
    (lambda: trace_window("last", "walk"), GraphError, "untraced"),
    (lambda: lab.memory(trace_window("last")), "expected a trace of all steps"),
)


@pytest.mark.parametrize("keep", ["all", "last", slice(1, 3)])
def test_a_truncated_gradient_is_cut(keep):
    """For x₃ = x₀u₀u₁u₂, only the last backward step remains: dx₃/du₂ = x₀u₀u₁; others are 0."""
    loop = lab.Loop.from_text("x*u", {"x": 2.0}, {"u": [3.0, 5.0, 7.0]}, truncate_gradient=1)
    trace = lab.trace(loop.derivative(1, wrt="u"), keep=keep)
    np.testing.assert_allclose(trace.outputs[1], [0.0, 0.0, 30.0], rtol=1e-15)
