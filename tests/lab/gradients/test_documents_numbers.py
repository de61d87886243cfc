"""The numbers of the two documents, to the last digit that float64 allows."""

import numpy as np
import pytest
from oracles import power_derivative, square_tape

from lab.gradients.derivative import ManyScansWarning
from lab.loops import gallery

SQUARE = gallery.loops["square"]
LAST_DIGITS = {"rtol": 4e-16, "atol": 0}  # two units in the last place


def test_the_lesson_forwards():
    assert SQUARE.trace(order=0).outputs[0] == 0.44012666865176564
    states = SQUARE.trace(order=0).scans[0].tapes[0].final
    assert states.tolist() == [0.95, 0.9025, 0.81450625, 0.6634204312890625, 0.44012666865176564]


def test_the_lesson_at_both_orders():
    _, first, second = SQUARE.trace(order=2).outputs
    np.testing.assert_allclose(first, 7.412659682556052, **LAST_DIGITS)
    np.testing.assert_allclose(second, 117.04199498772715, **LAST_DIGITS)


def test_the_lessons_four_partials():
    partials = SQUARE.trace(order=2).scans[2].outputs[0].final
    wanted = [11.1733967375, 9.100801476423358, 8.21347333247208, 7.802799665848476]
    np.testing.assert_allclose(partials[::-1], wanted, rtol=1e-15)


def test_the_foreach_loop_of_the_lesson_has_the_same_partials():
    trace = gallery.loops["sequence"].trace(order=1, wrt="y")
    wanted = [11.1733967375, 9.100801476423358, 8.21347333247208, 7.802799665848476]
    np.testing.assert_allclose(trace.outputs[1], wanted, rtol=1e-15)


def test_sixteenth_power_to_the_sixth_derivative():
    with pytest.warns(ManyScansWarning, match="about 64 Scans"):
        trace = SQUARE.trace(order=6)
    for order in range(1, 7):
        wanted = power_derivative(16, order, 0.95)
        np.testing.assert_allclose(trace.outputs[order], wanted, rtol=1e-12)
    assert len(trace.scans) == 64


def test_five_steps_at_third_order_are_not_three_times_too_much():
    value = SQUARE.with_steps(5).trace(order=3).outputs[-1]
    np.testing.assert_allclose(value, power_derivative(32, 3, 0.95), rtol=1e-13)
    assert abs(value - 6723.84) < 0.005
    assert abs(3 * value - 20171.5) < 0.05  # the number of the historical mistake


@pytest.mark.parametrize("cost", ["last", "sum", [0.0, 2.0, 0.0, -1.0]])
def test_the_tape_step_by_step(cost):
    seeds = {"last": [0, 0, 0, 0, 1], "sum": [0, 1, 1, 1, 1]}.get(str(cost)) or [0, *cost]
    tape = SQUARE.trace(order=1, cost=cost).scans[1].tapes[0]
    for step, wanted in enumerate(square_tape(0.95, 4, seeds), start=-1):
        np.testing.assert_allclose(tape.contents(step)[::-1], wanted, rtol=1e-15)


def test_the_documents_two_step_example():
    """000: buf = [a, b, c]; buf[1] = buf[0]*2*x1 + buf[1]; buf[2] = buf[1]*2*x0 + buf[2]."""
    scan = SQUARE.with_steps(2).trace(order=1, cost=[0.5, 0.25]).scans[1]
    x0, x1 = 0.95, 0.95**2
    a, b, c = 0.25, 0.5, 0.0
    tape = scan.tapes[0]
    assert tape.contents(-1).tolist() == [a, b, c]
    np.testing.assert_allclose(tape.contents(0), [a, a * 2 * x1 + b, c], rtol=1e-15)
    wanted = [a, a * 2 * x1 + b, (a * 2 * x1 + b) * 2 * x0 + c]
    np.testing.assert_allclose(tape.contents(1), wanted, rtol=1e-15)


def test_the_documents_gradient_of_the_gradient():
    """Document 000, corrected: step 0 multiplies by 2*x0, step 1 by 2*x1."""
    tape = SQUARE.with_steps(2).trace(order=2).scans[2].tapes[0]
    x0, x1 = 0.95, 0.95**2
    assert (tape.tape.reads, tape.tape.writes, tape.tape.origin) == ((-1, 0), (0, -1), 1)
    assert tape.contents(-1).tolist() == [1, 0, 0]  # p, q, r: the extracted position is 1
    np.testing.assert_allclose(tape.contents(0), [1, 2 * x0, 0], rtol=1e-15)
    np.testing.assert_allclose(tape.contents(1), [1, 2 * x0, 2 * x0 * 2 * x1], rtol=1e-15)
    np.testing.assert_allclose(tape.contents(1)[1:], [1.9, 3.4295], rtol=1e-12)
