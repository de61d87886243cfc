"""Tapes as structural primitives: overwritten taps are `set_subtensor`."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structural_cases import evaluated

import lab
from lab import structural
from lab.tape import Tape

X, Y = np.arange(5.0), np.array([10.0])
G = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def test_set_subtensor_routes_its_cotangent():
    """At i, x receives zero and y the gradient, by hand and by PyTensor."""
    output, pullback = structural.vjp(lambda x, y: structural.set_subtensor(x, y, 2), [X, Y])
    assert output.tolist() == [0, 1, 10, 3, 4]
    to_x, to_y = pullback(G)
    assert to_x.tolist() == [1, 2, 0, 4, 5]
    assert to_y.tolist() == [3]

    x, y = pt.dvector("x"), pt.dvector("y")
    theirs = pt.set_subtensor(x[2:3], y)
    gradients = pytensor.grad(None, [x, y], known_grads={theirs: pt.constant(G)})
    found = evaluated([theirs, *gradients], [x, y], [X, Y])
    for mine, other in zip((output, to_x, to_y), found, strict=True):
        np.testing.assert_array_equal(mine, other)


@given(st.integers(1, 4), st.integers(0, 3), st.data())
def test_set_subtensor_is_what_numpy_writes(rows, new, data):
    new = min(new, rows)
    i = data.draw(st.integers(0, rows - new))
    x, y = np.arange(2.0 * rows).reshape(rows, 2), -np.ones((new, 2))
    expected = x.copy()
    expected[i : i + new] = y
    np.testing.assert_array_equal(structural.set_subtensor(x, y, i), expected)
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
