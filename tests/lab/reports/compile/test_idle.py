"""Reads and adds of zeros in PyTensor's gradients: counted in the trace of a run, and by hand."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from graphs import scan

import lab
from lab.loops import gallery
from lab.reports.compile.idle import idle
from lab.scans.buffers import zero_rows
from lab.traces.run import run

X, U = pt.dscalar("x"), pt.dvector("u")
GIVEN = {X: 0.9, U: np.arange(1.0, 6.0)}


def gradient(cost_of, step=lambda u, x: x * u, taps=None):
    start = X if taps is None else {"initial": pt.stack([X, X]), "taps": taps}
    xs = scan(step, sequences=[U], outputs_info=[start], n_steps=5, name="loop")
    return pytensor.grad(cost_of(xs), X)


def counted(value):
    """How often our own trace of a graph reads an exact 0 that no step has written before."""
    count = 0
    for found in lab.trace([value], GIVEN).scans:
        for tape in (one for one in found.tapes if len(one.reads) > 1):
            seen = set()
            for step in range(found.steps):
                for read in tape.reads:
                    row = int(read.rows[step])
                    count += row not in seen and not np.any(read.values[step])
                seen |= {int(write.rows[step]) for write in tape.writes}
    return count


@pytest.mark.parametrize(
    ("cost_of", "reads"),
    [
        (lambda xs: xs[-1], 5),
        (lambda xs: xs.sum(), 1),  # x₀, which is given, and not in the sum
        (lambda xs: xs[-1] + xs[2], 4),
        (lambda xs: xs[1], 5),  # x₅, x₄, x₃, x₁ and x₀: all but x₂, which the cost reads
    ],
    ids=["the last", "all", "the last and one more", "one on the way"],
)
def test_reads_of_zeros_as_counted_in_a_trace(cost_of, reads):
    value = gradient(cost_of)
    found = idle(value, GIVEN, "FAST_COMPILE")
    assert sum(len(one.steps) for one in found) == counted(value) == reads
    for one in found:
        assert one.adds == (len(one.steps) if one.tap == 1 else 0)


def test_a_sit_sot_gives_the_same_with_an_operation_less():
    (one,) = idle(gradient(lambda xs: xs[-1]), GIVEN, "NUMBA")
    assert one.instead.difference == 0
    was, now = one.instead.operations
    assert was == now + 1
    assert one.instead.rows == (6, 1)
    assert one.instead.seconds is None
    assert "5 × read, 5 × added. With a sit-sot:" in str(one)


def test_what_other_steps_wrote_is_not_taken_for_nothing():
    """Of x·y two steps back each gradient has two parts: a sit-sot would not do."""
    value = gradient(lambda xs: xs[-1], lambda u, a, b: a * u + b, taps=[-2, -1])
    found = idle(value, GIVEN, "FAST_COMPILE")
    assert sum(len(one.steps) for one in found) == counted(value)
    assert all(one.instead is None for one in found)


def test_zeros_by_chance_are_none():
    """A cost whose gradient is 0 at these values, and elsewhere not."""
    value = gradient(lambda xs: (xs**2).sum() + xs[-1])
    at_zero = {**GIVEN, X: 0.0}
    (only,) = idle(value, at_zero, "FAST_COMPILE")  # x₀ alone is not in the cost
    assert len(only.steps) == 1
    assert only.instead is None


@pytest.mark.parametrize("zeros", [pt.zeros(5), pt.zeros_like(U)])
def test_rows_that_are_zero_whatever_comes_in(zeros):
    made = pt.inc_subtensor(zeros[1], X)
    for variable, expected in (
        (zeros, [0, 1, 2, 3, 4]),
        (made, [0, 2, 3, 4]),
        (made[::-1], [0, 1, 2, 4]),
        (made[::-1][:2], [0, 1]),
        (made + pt.set_subtensor(zeros[3:], U[3:]), [0, 2]),
        (U, []),
        (made * 2, []),  # not looked into
    ):
        values = run([variable], GIVEN)[0]
        mask = zero_rows(variable, values)
        assert list(np.flatnonzero(mask)) == expected
        assert not np.any(values[variable][mask])


def test_a_walk_tells_of_them():
    loop = gallery.loops["square"]
    graph = loop.build()
    cost, x = loop.cost(graph), graph.inputs["x"]
    (told,) = lab.rewrites(cost, x, given=graph.given).left
    assert told.startswith("No rewrite removes: gradient of square: each of the 4 steps reads dx")
    assert lab.rewrites(cost, given=graph.given).left == ()
    assert lab.rewrites(cost, x).left == ()


def test_rows_of_unknown_length():
    v = pt.dvector("v")
    xs = scan(pt.sin, outputs_info=[v], n_steps=3, name="loop")
    (one,) = idle(pytensor.grad(xs[-1].sum(), v), {v: [0.5, 1.0]}, "FAST_COMPILE")
    assert one.instead.difference == 0
