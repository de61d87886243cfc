"""Reverse and Taylor mode, compared with each other, closed forms, and unrolled loops."""

from dataclasses import replace
from math import factorial

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from fuzzing.outcomes import error_test
from graphs import scan
from hypothesis import given as given_examples
from hypothesis import settings
from hypothesis import strategies as st
from pytensor.compile.mode import Mode
from random_loops import costs, loops

import lab
from lab import gallery
from lab.errors import ArgumentError, GradientError, UnknownNameError
from lab.gradients.decisions import PullbackRule
from lab.gradients.forward import taylor
from lab.progress import hide_progress
from lab.traces.run import run

# FAST_COMPILE changes the third derivative of the iterated clip(x, 0.1, 0.9)*x.
MODES = ("reverse", "taylor")
LOOPS = [name for name in gallery.loops if name != "undefined"]  # Taylor mode has no rule for jv


def values(loop, order, mode, **options):
    """Return the outputs of a run without records, which would double the time."""
    with hide_progress():
        derivative = loop.derivative(order, mode=mode, **options)
        results, _ = run(derivative.values, derivative.given, record=False)
    return [results[value] for value in derivative.values]


def assert_close(actual, expected, tolerance=1e-9):
    for a, b in zip(actual, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * (1 + np.abs(b).max()))


@pytest.mark.parametrize("name", LOOPS)
def test_the_gallery_has_the_same_derivatives(name):
    loop = gallery.loops[name]
    options = {"wrt": loop.states[0].name}
    assert_close(values(loop, 3, "taylor", **options), values(loop, 3, "reverse", **options))
    for parameter in loop.parameters:
        options = {"wrt": parameter.name, "cost": "sum"}
        assert_close(values(loop, 2, "taylor", **options), values(loop, 2, "reverse", **options))


@settings(max_examples=8)
@given_examples(st.data())
def test_random_loops_have_the_same_derivatives(data):
    loop = data.draw(loops())
    of, cost = data.draw(costs(loop))
    names = [n for n in loop.variables if n != "flag"]
    options = {"of": of, "cost": cost, "wrt": data.draw(st.sampled_from(names))}
    try:
        expected = values(loop, 2, "reverse", **options)
    except lab.LabError as error:
        with pytest.raises(type(error)):
            values(loop, 2, "taylor", **options)
        return
    assert_close(values(loop, 2, "taylor", **options), expected)


def test_high_orders():
    """Compare with closed forms, also for factorials above 2**53."""
    derivative = gallery.loops["square"].derivative(10, mode="taylor")
    assert len(derivative.genealogy) == 1
    expected = [factorial(16) / factorial(16 - k) * 0.95 ** (16 - k) for k in range(11)]
    np.testing.assert_allclose(lab.trace(derivative).outputs, expected, rtol=1e-12)
    sine = lab.Loop(lambda x: pt.sin(x), (lab.State("x", 0.5),), n_steps=1)
    expected = np.sin(0.5 + np.arange(11) * np.pi / 2)
    np.testing.assert_allclose(values(sine, 10, "taylor"), expected, rtol=1e-12)
    moebius = lab.Loop(lambda x: x / (1 - x), states=(lab.State("x", 0.1),), n_steps=2)
    actual = float(values(moebius, 30, "taylor")[30])
    # two steps compute x / (1 - 2x)
    assert actual == pytest.approx(2**29 * factorial(30) / 0.8**31, rel=1e-9)


# Steps with initial values, for every rule of Taylor mode. PyTensor differentiates the unrolled
# loop, without a Scan.
ELEMENTWISE = (
    "exp exp2 expm1 log1p sqrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arctanh"
    " sigmoid softplus erf erfc sqr reciprocal neg"
)
STEPS = {
    **{name: (getattr(pt, name), 0.4) for name in ELEMENTWISE.split()},
    "log": (lambda x: pt.log(x) + 3, 0.4),
    "log2": (lambda x: pt.log2(x) + 3, 0.4),
    "log10": (lambda x: pt.log10(x) + 3, 0.4),
    "arccosh": (lambda x: pt.arccosh(x + 2) + 0.5, 1.4),
    "powers": (lambda x: x**3 + x**-2 + x**0.7 + x**0, 0.8),
    "a variable power": (lambda x: x**x, 0.8),
    "two to the x": (lambda x: 2.0**x, 0.8),
    "quotient": (lambda x: (x + 1) / (x * x - 3) - x, 0.4),
    "abs": (lambda x: abs(x - 1) * x, 0.4),
    "where": (lambda x: pt.switch(x > 0.5, x * x, pt.sin(x)), 0.4),
    "where with a constant": (lambda x: pt.switch(x > 0.3, x * x, 1.0), 0.4),
    "max and min": (lambda x: pt.maximum(x, 0.3) * pt.minimum(x * x, x), 0.4),
    "clip": (lambda x: pt.clip(x, 0.1, 0.9) * x, 0.4),
    "floor and sign": (lambda x: x * x + pt.floor(3 * x) * 0.1 + pt.sign(x) * x * x, 0.4),
    "a sum of three": (lambda x: pt.add(x, x * x, pt.sin(x)) / 2, 0.4),
    "float32 and back": (lambda x: pt.cast(pt.cast(x, "float64") * x, "float64"), 0.4),
}  # fmt: skip


def unrolled(step, start, order, times=2):
    x = pt.dscalar("x")
    y = x
    for _ in range(times):
        y = step(y)
    derivatives = [y]
    for _ in range(order):
        derivatives.append(pytensor.grad(derivatives[-1], x, disconnected_inputs="ignore"))
    return [*map(float, pytensor.function([x], derivatives, mode=Mode("py", None))(start))]


@pytest.mark.parametrize("name", STEPS)
def test_every_rule_agrees_with_the_unrolled_loop_in_pytensor(name):
    step, start = STEPS[name]
    loop = lab.Loop(lambda x: step(x), (lab.State("x", start),), n_steps=2)
    expected = unrolled(step, start, 3)
    np.testing.assert_allclose(values(loop, 3, "taylor"), expected, rtol=1e-9, atol=1e-9)


def test_a_wrong_rule_is_detected(monkeypatch):
    monkeypatch.setitem(taylor.SLOPES, "Tanh", lambda x, y: 1 - y)
    with pytest.raises(AssertionError):
        test_every_rule_agrees_with_the_unrolled_loop_in_pytensor("tanh")


def test_derivatives_of_arrays_along_a_direction():
    """The modes agree for a step that joins, indexes, sets, reshapes, and multiplies arrays."""

    def step(h, W):  # noqa: N803
        joined = pt.concatenate([pt.stack([h[0], h[1] * h[2]]), pt.tanh(W @ h)[1:2]])
        return pt.set_subtensor(joined[0], (h * h).sum()) / (2 + h.reshape((3,))[0] ** 2)

    rng = np.random.default_rng(0)
    weights, start, direction = rng.normal(size=(3, 3)) / 3, rng.normal(size=3), rng.normal(size=3)
    loop = lab.Loop(step, (lab.State("h", start),), (), (lab.Parameter("W", weights),), n_steps=3)
    graph = loop.build()
    cost, h = loop.cost(graph), graph.inputs["h"]
    v = pt.constant(direction)
    derivatives = [lab.derivative(cost, h, 2, direction=v, mode=mode) for mode in MODES]
    assert_close(*(lab.trace(d.values, graph.given).outputs for d in derivatives), 1e-11)


def test_loops_inside_a_step():
    def step(x):
        inner = scan(lambda y: pt.sin(y) * x, outputs_info=[x], n_steps=2)
        return inner[-1] + x * x

    loop = lab.Loop(step, (lab.State("x", 0.7),), n_steps=2)
    expected = unrolled(lambda x: pt.sin(pt.sin(x) * x) * x + x * x, 0.7, 3)
    for mode in MODES:
        np.testing.assert_allclose(values(loop, 3, mode), expected, rtol=1e-12)


def differentiated(loop, **options):
    """Return a call that differentiates `loop` twice."""
    graph = loop.build()
    (wrt,) = graph.select_inputs(None).values()
    return lambda: lab.derivative(loop.cost(graph), wrt, 2, **options)


SQUARE = gallery.loops["square"]
TRUNCATED = replace(SQUARE, truncate_gradient=2)
VECTOR = lab.Loop(lambda h: h**2, (lab.State("h", [0.5, 0.2]),), n_steps=2)
SORTING = lab.Loop(lambda x: pt.sort(pt.stack([x, x * x]))[0], (lab.State("x", 0.4),), n_steps=2)
test_errors = error_test(
    (lambda: SQUARE.derivative(2, mode="forward"), UnknownNameError, "'forward': exp"),
    (lambda: SQUARE.derivative(65, mode="taylor"), ArgumentError, "at most 64"),
    (lambda: gallery.loops["undefined"].derivative(2, mode="taylor"), GradientError, r"Jv.* rule"),
    (lambda: SORTING.derivative(2, mode="taylor"), GradientError, r"Sort.* has no rule"),
    (lambda: TRUNCATED.derivative(1, mode="taylor"), GradientError, "truncate_gradient = 2"),
    (differentiated(SQUARE, rule=PullbackRule(), mode="taylor"), "expected None with mode"),
    *(
        (
            differentiated(loop, direction=kind("v"), mode=mode),
            r"direction = v: expected .*, got \w",
        )
        for loop, kinds in ((SQUARE, [pt.dvector]), (VECTOR, [pt.dmatrix, pt.dscalar, pt.lvector]))
        for kind in (*kinds, pt.fvector)
        for mode in MODES
    ),
)


@pytest.mark.parametrize("name", ["square", "logistic", "gap", "rnn"])
def test_a_name_with_an_index_has_one_value(name):
    """A value that one Scan computes and another reads has the same name and index in both."""
    trace = lab.trace(gallery.loops[name].derivative(3, mode="taylor"))
    for scan_trace in trace.scans:
        names = [tape.name for tape in scan_trace.buffers]
        assert len(set(names)) == len(names)
    tapes = [tape for scan in trace.scans for tape in scan.tapes if tape.axis is not None]
    written = {
        (tape.axis.variable, index): value
        for tape in reversed(tapes)
        for index, value in zip(tape.axis.index.tolist(), tape.final, strict=True)
    }
    read = [
        ((sequence.axis.variable, index), value)
        for scan in trace.scans[1:]
        for sequence in scan.sequences
        for index, value in zip(sequence.axis.index.tolist(), sequence.values, strict=True)
    ]
    for key, value in read:
        np.testing.assert_array_equal(value, written.get(key, value))
    assert len(trace.scans) == 1 or written.keys() & {key for key, _ in read}
