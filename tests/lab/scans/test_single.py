"""Loops of a single step, Scans in an operation with its own pullback, and batches of Scans."""

from math import cos, sin

import numpy as np
import pytensor.tensor as pt
import pytest
from graphs import scan
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.replace import vectorize_graph
from pytensor.scan.utils import until

import lab
from lab.errors import GradientError, GraphError
from lab.gradients.status import Undefined
from lab.scans.replacing import as_scans

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
    assert [scan.steps for scan in trace.scans] == [1, 1]
    assert {p.name for p in trace.scans[0].parameters} == {"x0", "a"}
    explanation = lab.explain(cost, X0)
    words = " ".join(str(explanation).split())
    assert "PyTensor builds no Scan for a constant n_steps of 1" in words
    comparison = lab.compare(cost, X0, GIVEN)
    assert comparison.agree
    assert [scan.steps for scan in comparison.theirs.scans] == [1, 1]


def test_a_graph_without_scans_does_not_change():
    y = X0 * 2
    assert as_scans([y]) == [y]


def test_an_operation_with_a_custom_pullback_is_explained():
    x, y = pt.dscalar("x"), pt.dscalar("y")
    operation = OpFromGraph([x, y], [loop(x, y)], pullback=lambda inputs, outputs, given: given * 2)
    cost = operation(X0, A)
    status = lab.explain(cost, X0).status
    assert isinstance(status, Undefined)
    assert "which Scantape cannot replace" in status.reason
    assert [scan.name for scan in lab.trace(cost, GIVEN).scans] == ["loop"]
    with pytest.raises((GraphError, GradientError), match="Scantape cannot replace"):
        lab.derivative(cost, X0)


@pytest.mark.parametrize("length", [None, 1])  # a vector of any length, or of one entry
def test_a_batch_has_the_derivatives_of_its_entries(length):
    many = pt.tensor("many", dtype="float64", shape=(length,))
    values = np.array([0.5, 0.7])[:length]
    batched = vectorize_graph(loop(X0, A), {X0: many}).sum()
    trace = lab.trace(lab.derivative(batched, many), {many: values, A: 0.9})
    x, slope = values, np.ones_like(values)
    for _ in range(3):
        x, slope = np.sin(x) * 0.9, slope * np.cos(x) * 0.9
    np.testing.assert_allclose(trace.outputs[0], x.sum(), rtol=1e-14)
    np.testing.assert_allclose(trace.outputs[1], slope, rtol=1e-14)
    batch = trace.scans[0]
    assert (batch.name, batch.tapes[0].final.shape) == ("batch of loop", (4, len(x)))


def test_a_batch_whose_entries_can_stop_at_different_steps_raises_an_error():
    many = pt.dvector("many")
    xs = scan(lambda x: (x * 2, until(x > 4)), outputs_info=[X0], n_steps=9)
    batched = vectorize_graph(xs[-1], {X0: many})
    with pytest.raises(GraphError, match="a batch of scan_fn: its entries can stop at different"):
        lab.trace(batched, {many: [0.5, 0.7]})
