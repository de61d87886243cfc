"""Tapes as structural primitives: overwritten taps are `set_subtensor`."""

import numpy as np
import pytensor.tensor as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab import structural
from lab.tape import Tape


@given(st.integers(1, 4), st.integers(0, 3), st.data())
def test_set_subtensor_is_what_numpy_writes_and_routes_its_cotangent(rows, new, data):
    """At the rows from i, x receives zero and y the gradient."""
    new = min(new, rows)
    i = data.draw(st.integers(0, rows - new))
    x, y = np.arange(2.0 * rows).reshape(rows, 2), -np.ones((new, 2))
    output, pullback = structural.vjp(lambda x, y: structural.set_subtensor(x, y, i), [x, y])
    gradient = np.random.default_rng(0).normal(size=x.shape)
    to_x, to_y = pullback(gradient)
    np.testing.assert_array_equal(to_y, gradient[i : i + new])
    for found, old, written in ((output, x, y), (to_x, gradient, 0)):
        expected = old.copy()
        expected[i : i + new] = written
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(lab.LabError, match="set_subtensor: x = "):
        structural.set_subtensor(pt.constant(x), y, i)


STEPS = [Tape((-1,), (0,)), Tape((-2, -1), (0,)), Tape((0, 1), (1,)), Tape((-1, 0), (0, -1))]
STEPS += [Tape((-3, -1), (0,)), Tape((-1, 0, 1), (1, 0))]


@pytest.mark.parametrize("tape", STEPS, ids=str)
def test_a_step_transposed_is_a_step_of_the_reverse_tape(tape):
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

    back = tape.reverse()
    changed = set(np.flatnonzero(before != given_after))
    spent = {tape.row(step, tap) for tap in tape.writes if tap not in tape.reads}
    assert changed - spent == {tape.row(step, -tap) for tap in back.writes}
    assert {tape.row(step, -tap) for tap in back.reads} >= changed
