"""An overwritten tap is set_subtensor, a preserved one a fan-out, in PyTensor and in traces."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structural_cases import evaluated

import lab
from lab import structural
from lab.loops import gallery
from lab.tape import Kind, Tape

X, Y = np.arange(5.0), np.array([10.0])
G = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def test_set_subtensor_routes_its_cotangent():
    """x receives zero at i, and y the gradient at i: by hand, and by PyTensor."""
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
    """The gradients by the rule of `Tape.reverse`: clear written slots, add at read slots."""
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

    read_at = dict(zip(tape.reads, given_read, strict=True))
    for tap in tape.overwritten:  # the gradient of the old value stops; reading brings a new one
        assert before[tape.row(step, tap)] == read_at[tap]
    for tap in tape.preserved:  # a fan-out: contributions of later steps, and of the read
        row = tape.row(step, tap)
        assert before[row] == read_at[tap] + given_after[row]

    back = tape.reverse()
    changed = set(np.flatnonzero(before != given_after))
    spent = {tape.row(step, tap) for tap in tape.writes if tap not in tape.reads}
    assert changed - spent == {tape.row(step, -tap) for tap in back.writes}
    assert {tape.row(step, -tap) for tap in back.reads} >= changed


def backward_tapes(trace):
    """Every tape of a gradient with the tape whose gradient it is, and the Scans of both."""
    for scan in trace.scans:
        if scan.order == 0:
            continue
        parent = trace.scans[scan.parent]
        for tape in scan.tapes:
            for source in parent.tapes:
                if source.name == tape.gradient_of and tape.kind is Kind.MIT_MOT:
                    yield tape, source, scan, parent


def derivatives_of_square(parent, step):
    """The derivative of every written value by every read one: of x**2, and of its gradient.

    The step of the gradient is tape[1] = 2 x tape[0] + tape[1].
    """
    if parent.order == 0:
        return np.array([[2 * parent.tapes[0].reads[0].values[step]]])
    return np.array([[2 * parent.sequences[0].values[step], 1.0]])


def derivatives_of_gap(parent, step):
    """Of sin(x[-3]) + x[-3] x[-1]."""
    (tape,) = parent.tapes
    oldest, newest = (read.values[step] for read in tape.reads)
    return np.array([[np.cos(oldest) + newest, oldest]])


@pytest.mark.parametrize(
    ("name", "order", "jacobian", "count"),
    [
        ("square", 1, derivatives_of_square, 1),
        ("square", 2, derivatives_of_square, 3),
        ("gap", 1, derivatives_of_gap, 1),
    ],
)
def test_the_tapes_of_a_gradient_are_these_chains(name, order, jacobian, count):
    """Backward Scans, step by step, against the transposed steps of the loops they derive."""
    trace = gallery.loops[name].trace(order=order, cost="sum")
    pairs = list(backward_tapes(trace))
    assert len(pairs) == count
    for tape, source, scan, parent in pairs:
        held, alive = tape.contents(-1)[::-1], np.ones(len(tape.final), dtype=bool)
        nothing = np.zeros(len(source.reads))
        for back in range(scan.steps):
            step = scan.steps - 1 - back
            given = [source.contents(step - 1), np.zeros(len(source.writes))]
            _, pullback = structural.vjp(structural.tape_step(source.tape, step), given)
            _, to_written = pullback(np.concatenate([nothing, held]))
            held, _ = pullback(np.concatenate([to_written @ jacobian(parent, step), held]))
            for tap in set(source.tape.writes) - set(source.tape.reads):
                alive[source.tape.row(step, tap)] = False  # no later step reads it
            expected = tape.contents(back)[::-1]
            np.testing.assert_allclose(held[alive], expected[alive], rtol=1e-13)
        assert np.any(alive)
