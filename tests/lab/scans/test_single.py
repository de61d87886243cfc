"""Loops of a single step, and Scans inside other operations."""

from math import cos, sin

import numpy as np
import pytensor.tensor as pt
import pytest
from graphs import scan
from pytensor.compile.builders import OpFromGraph

import lab
from lab.errors import GradientError, GraphError
from lab.gradients.status import Undefined

try:
    from pytensor.conditional.op import ifelse
except ImportError:  # PyTensor before 3.3
    from pytensor.ifelse import ifelse

X0, A = pt.dscalar("x0"), pt.dscalar("a")
GIVEN = {X0: 0.5, A: 0.9}


def loop(x, a, steps=3, name="loop"):
    xs = scan(
        lambda x, a: pt.sin(x) * a, outputs_info=[x], non_sequences=[a], n_steps=steps, name=name
    )
    return xs[-1]


def test_a_single_step_is_a_loop_of_one_step():
    cost = 2 * loop(X0, A, steps=1) + A
    trace = lab.trace(lab.derivative(cost, X0), GIVEN)
    assert np.allclose(trace.outputs, [2 * sin(0.5) * 0.9 + 0.9, 2 * cos(0.5) * 0.9])
    assert [one.steps for one in trace.scans] == [1, 1]
    assert {p.name for p in trace.scans[0].parameters} == {"x0", "a"}
    explanation = lab.explain(cost, X0)
    assert "PyTensor builds no Scan for a constant n_steps of 1" in " ".join(
        str(explanation).split()
    )
    compared = lab.compare(cost, X0, GIVEN)
    assert compared.agree
    assert [one.steps for one in compared.theirs.scans] == [1, 1]


def by_hand(x, a):
    for _ in range(3):
        x = sin(x) * a
    return x


X, Y = pt.dscalar("X"), pt.dscalar("Y")
INSIDE = OpFromGraph([X, Y], [loop(X, Y)])
PLACES = {
    "an OpFromGraph": (INSIDE(X0, A) * 2, 2 * by_hand(0.5, 0.9)),
    "one in another": (OpFromGraph([X, Y], [INSIDE(X, Y) + 1])(X0, A), by_hand(0.5, 0.9) + 1),
    "an IfElse": (ifelse(X0 > 0, loop(X0, A), loop(2 * X0, A)), by_hand(0.5, 0.9)),
    "the other branch": (ifelse(X0 < 0, loop(X0, A), loop(2 * X0, A)), by_hand(1.0, 0.9)),
}


@pytest.mark.parametrize("place", PLACES)
def test_scans_inside_other_operations(place):
    cost, value = PLACES[place]
    derivative = lab.derivative(cost, X0)
    trace = lab.trace(derivative, GIVEN)
    assert np.isclose(trace.outputs[0], value)
    assert derivative.verify(trace) < 1e-12
    steps = [lab.trace(cost, {X0: 0.5 + h, A: 0.9}).outputs[0] for h in (1e-6, -1e-6)]
    assert np.isclose(trace.outputs[1], (steps[0] - steps[1]) / 2e-6)
    explanation = lab.explain(cost, X0)
    assert {scan.name for scan in explanation.scans} - {"loop2"} == {"loop"}
    assert all(scan.saved for scan in explanation.scans)


def test_an_operation_with_a_pullback_of_its_own_is_explained():
    own = OpFromGraph([X, Y], [loop(X, Y)], pullback=lambda inputs, outputs, given: given * 2)
    cost = own(X0, A)
    status = lab.explain(cost, X0).status
    assert isinstance(status, Undefined)
    assert "cannot replace that gradient" in status.reason
    assert [one.name for one in lab.trace(cost, GIVEN).scans] == ["loop"]
    with pytest.raises((GraphError, GradientError), match="cannot replace that gradient"):
        lab.derivative(cost, X0)
