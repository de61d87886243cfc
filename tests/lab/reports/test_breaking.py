"""Faulty rules, compared with simulations in plain Python, closed forms, and finite differences."""

import re
from functools import cache

import numpy as np
import pytest
from fuzzing.outcomes import error_test
from oracles import power_derivative
from strange_loops import LOOPS

import lab
from lab.checks.finite_differences import differences
from lab.gradients.decisions import PullbackRule
from lab.loops import gallery
from lab.reports.breaking.breakage import Effect, Truth
from lab.reports.breaking.rules import BROKEN, BrokenRule
from lab.tape import Kind
from lab.traces.differences import contrast

X0, STEPS = 0.95, 5
SQUARE = gallery.loops["square"].with_steps(STEPS)


@cache
def truth_of(name, order, cost="last"):
    loop = SQUARE if name == "square" else gallery.loops[name]
    graph = loop.build()
    return Truth(loop.derivative(order, cost=cost, graph=graph), graph.given)


# Finite differences do not resolve Newton's derivatives; the other loops are slow.
SKIPPED = ("newton", "undefined", "walk", "logistic")


def test_the_historical_mistake():
    breakage = truth_of("square", 3).broken_by("accumulate-overwritten")
    true = [power_derivative(32, order, X0) for order in (1, 2, 3)]
    np.testing.assert_allclose([row.true for row in breakage.rows], true, rtol=1e-12)
    assert round(float(breakage.rows[2].true), 2) == 6723.84
    assert round(float(breakage.rows[2].broken), 1) == 20171.5
    assert [row.effect for row in breakage.rows] == [Effect.RIGHT, Effect.RIGHT, Effect.WRONG]
    assert breakage.visible == 3
    assert "visible at order 3" in str(breakage)
    two_taps = SQUARE.with_taps({"x": (-2, -1)})
    assert lab.break_rule(two_taps, "accumulate-overwritten", 2).visible == 2
    assert "20171.5" in str(breakage)
    parts = re.split(": |With", breakage.parts)
    assert parts[0] == "C‴ is the sum of equal parts from Scans 5, 6, and 7"
    assert parts[2] == " the faulty rule, they are 1, 4, and 4 times as large"
    sums = [np.sum([float(part.rstrip(". ")) for part in parts[n].split("+")]) for n in (1, 3)]
    np.testing.assert_allclose(sums, [true[2], 3 * true[2]], rtol=1e-5)
    assert "sum of parts from" in truth_of("extra", 3).broken_by("accumulate-overwritten").parts
    for other in (truth_of("square", 2), truth_of("gap", 2)):  # correct; an array
        assert not other.broken_by("accumulate-overwritten").parts


def broken_tapes(rule, xs, taps, seeds, slope):
    """Return the tape of x[t] = f(x[t + taps]) by a faulty rule, before and after every step.

    `slope` returns the local derivatives wrt the values at the taps. Slot i of the tape stores
    the gradient of x[i]; at the start, it stores the direct gradient seeds[i].
    """
    tapes, reach, last = [seeds], -min(taps), len(xs) - 1
    steps, stored = len(xs) - reach, reach + 1
    for number in range(steps):
        step = steps - 1 - number
        read_step = number if rule == "unreversed-sequences" else step
        rows = [read_step + reach + tap for tap in taps]
        if rule == "shortened-buffer":
            rows = [last - (last - row) % stored for row in rows]
        targets = [step + reach + tap for tap in taps]
        tape = [*tapes[-1]]
        slots = {row: tape[row] for row in (step + reach, *targets)}
        if rule == "swapped-taps":
            first, second = step + reach, targets[0]
            slots[first], slots[second] = slots[second], slots[first]
        slopes = slope(*(xs[row] for row in rows))
        for target, local in zip(targets, slopes, strict=True):
            old = 0.0 if rule == "never-accumulate" else slots[target]
            tape[target] = slots[step + reach] * local + old
        tapes.append(tape)
    return tapes


def values(initial, steps, step):
    xs = list(initial)
    for _ in range(steps):
        xs.append(step(xs))
    return xs


GAPS = values([0.3, 0.6, 0.9], 5, lambda xs: np.sin(xs[-3]) + xs[-1] * xs[-3])
CASES = {
    "square": (values([X0], STEPS, lambda xs: xs[-1] ** 2), (-1,), lambda x: (2 * x,)),
    "gap": (GAPS, (-3, -1), lambda a, b: (np.cos(a) + b, a)),
}
WEIGHTS = {"last": (0, 0, 0, 0, 1), "sum": (1, 1, 1, 1, 1)}


@pytest.mark.parametrize("cost", [*WEIGHTS, (0.0, 2.0, 0.0, -1.0, 0.5)])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("rule", BROKEN)
def test_tapes_equal_a_simulation_at_every_step(rule, name, cost):
    xs, taps, slope = CASES[name]
    reach = -min(taps)
    seeds = [0] * reach + [*WEIGHTS.get(cost, cost)]
    truth = truth_of(name, 1, cost).broken_by(rule)
    (row,), results = truth.rows, []
    for trace, run in ((truth.true, None), (truth.broken, rule)):
        tapes = broken_tapes(run, xs, taps, seeds, slope)
        for step, expected in enumerate(tapes, start=-1):
            actual = trace.scans[1].tapes[0].contents(step)[::-1]
            np.testing.assert_allclose(actual, expected, rtol=1e-14)
        results.append(np.squeeze(tapes[-1][:reach]))
    np.testing.assert_allclose([row.true, row.broken], results, rtol=1e-14)
    assert (row.effect is Effect.RIGHT) == np.allclose(*results, rtol=1e-14)


@pytest.mark.parametrize("name", [name for name in gallery.loops if name not in SKIPPED])
def test_finite_differences_confirm_every_verdict(name):
    for rule in BROKEN:
        for row in truth_of(name, 2, "sum").broken_by(rule).rows:
            assert row.confirmed
            assert (row.effect is Effect.RIGHT) == row.differences.admits(row.broken), rule


def test_orders_before_an_error_are_compared():
    """If only the tapes of gradients are cut, the first derivative is correct."""
    rule = PullbackRule(
        recalls=lambda part: part.outer_output[: 0 if part.kind is Kind.MIT_MOT else None]
    )
    breakage = truth_of("square", 3).broken_by(BrokenRule("cut", "cut", "", rule))
    assert [row.effect for row in breakage.rows] == [Effect.RIGHT, *[Effect.REFUSED] * 2]
    assert breakage.visible == 2
    assert "0 rows" in breakage.rows[1].refusal
    assert len(breakage.true.scans) == len(breakage.broken.scans) == 2
    assert (breakage.contrast.first, breakage.contrast.unlike) == (None, ())


def test_a_graph_has_the_same_derivatives_as_its_loop():
    cost, x, rule = GRAPH.outputs["x"][-1], GRAPH.inputs["x"], "accumulate-overwritten"
    breakage = lab.break_rule(cost, rule, wrt=x, given={x: X0})
    true = [power_derivative(32, order, X0) for order in (1, 2, 3)]
    np.testing.assert_allclose([row.true for row in breakage.rows], true, rtol=1e-12)
    assert float(breakage.rows[2].broken) == pytest.approx(3 * true[2])


GRAPH = SQUARE.build()
test_errors = error_test(
    (lambda: lab.break_rule(SQUARE, "none"), "rule = 'none': expected one of accumulate"),
    (lambda: lab.break_rule(SQUARE, "swapped-taps", order=0), "expected 1 or more"),
    (lambda: Truth(SQUARE.derivative(1), {}), "expected a value for x"),
    (lambda: lab.break_rule(GRAPH.outputs["x"][-1], "swapped-taps"), "wrt = None: expected a PyT"),
    (lambda: lab.break_rule(SQUARE, "swapped-taps", given={}), "given = {}: expected None"),
    (lambda: lab.break_rule(5, "swapped-taps"), "loop = 5: expected a lab.Loop or a scalar"),
)


@pytest.mark.parametrize("rule", BROKEN)
@pytest.mark.parametrize("name", ["square", "gap", "rnn"])
def test_the_first_difference_is_reported(name, rule):
    """Compare with a search in all writes of both runs."""
    breakage = truth_of(name, 2).broken_by(rule)
    pairs = zip(breakage.true.scans, breakage.broken.scans, strict=True)
    differences = [
        (number, step, tape.argument, write.tap, write.rows[step])
        for number, (scan, other) in enumerate(pairs)
        for tape, twin in zip(scan.buffers, other.buffers, strict=True)
        for write, changed in zip(tape.writes, twin.writes, strict=True)
        for step in range(scan.steps)
        if not np.allclose(write.values[step], changed.values[step], rtol=1e-7, atol=0)
    ]
    first = breakage.contrast.first
    actual = first.scan, first.step, first.tape, first.tap, first.row
    assert actual == min(differences, key=lambda difference: difference[:2])


def test_equal_runs_and_different_structures():
    first, second, nan = SQUARE.trace(order=1), SQUARE.trace(order=2), LOOPS["nan"].trace(order=1)
    result = contrast(second, second)
    assert (result.first, result.differing, result.unlike) == (None, 0, ())
    assert contrast(nan, nan).first is None
    assert len(contrast(second, first).unlike) == 2
    assert "by the correct rule only" in contrast(second, first).unlike[0]
    assert "by the faulty rule only" in contrast(first, second).unlike[0]
    lengths = "values of shape (5,) by the correct rule, but (6,) by the faulty rule"
    longer = SQUARE.with_steps(6).trace(order=1)
    assert contrast(first, longer).unlike[0] == f"Scan 1, square: the tape x at tap 0: {lengths}"


CLOSED = {
    "power": (lambda x: float(x) ** 32, X0, lambda n: power_derivative(32, n, X0)),
    "sine": (lambda x: np.sin(float(x)), 0.5, lambda n: np.sin(0.5 + n * np.pi / 2)),
    "decay": (lambda x: np.exp(-4 * float(x)), 2.0, lambda n: (-4.0) ** n * np.exp(-8)),
    "large": (lambda x: np.log(float(x)), 1e6, lambda n: [1e-6, -1e-12, 2e-18, -6e-24][n - 1]),
}


@pytest.mark.parametrize("name", CLOSED)
def test_differences_and_their_errors(name):
    for order in (1, 2, 3, 4):
        function, point, exact = CLOSED[name]
        estimate = differences(function, point, order)
        assert abs(estimate.value - exact(order)) <= 10 * estimate.error
        if name != "large":
            assert estimate.error < 1e-5 * abs(exact(order))
        assert estimate.admits(np.float64(exact(order)))
        assert not estimate.admits(np.float64(3 * exact(order) + 1e3 * float(estimate.error)))


def test_differences_without_a_number():
    estimate = differences(lambda x: float("nan"), 1.0)
    assert np.isnan(estimate.value)
    assert np.isinf(estimate.error)
    assert lab.break_rule(LOOPS["nan"], "swapped-taps", 1).rows[0].confirmed is None
    assert lab.break_rule(LOOPS["wide vector"], "swapped-taps", 1).rows[0].differences is None


@pytest.mark.parametrize(("name", "order", "last"), [("square", 1, 3), ("gap", 2, 2)])
def test_the_runs_end_at_the_first_order_with_an_error(name, order, last):
    """A derivative of order n has 2ⁿ Scans; in `square`, the first error is at order 3."""
    breakage = truth_of(name, 3).broken_by("accumulate-overwritten", order)
    assert (len(breakage.rows), len(breakage.true.scans)) == (3, 2**last)
    assert breakage.broken.outputs[-1] == pytest.approx(breakage.rows[last - 1].broken)
