"""Scans that run once for every entry of a batch, held against NumPy, entry by entry."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from graphs import scan
from pytensor.graph.replace import vectorize_graph
from pytensor.scan.utils import until

import lab
from lab.errors import GraphError

U = np.array([0.1, -0.2, 0.3, 0.4])
X0, W = pt.dscalar("x0"), pt.dscalar("w")
US = pt.dvector("us")
GIVEN = {X0: 0.5, W: 0.8, US: U}


def loop(x, w, us):
    """The last value of the loop below, in NumPy, also of complex numbers."""
    before = x
    for u in us:
        x, before = np.tanh(w * x) + u * before, x
    return x


def last():
    """The same by a new Scan, because compilation may alter a Scan."""
    taps = {"initial": pt.stack([X0, X0]), "taps": [-2, -1]}
    xs = scan(
        lambda u, before, x, w: pt.tanh(w * x) + u * before,
        sequences=[US],
        outputs_info=[taps],
        non_sequences=[W],
    )
    return xs[-1]


def slope(which, values):
    """The derivative of the loop, with respect to x by a complex step, without cancellation."""
    moved = {name: np.asarray(value, complex) for name, value in values.items()}
    moved[which] = moved[which] + 1e-30j
    return np.imag(loop(**moved)) / 1e-30


ENTRIES = {
    "a state": (X0, pt.dvector("X"), np.array([0.5, 0.7, 0.9]), "x"),
    "a parameter": (W, pt.dvector("Ws"), np.array([0.1, 0.2]), "w"),
    "a parameter, along two axes": (W, pt.dmatrix("WW"), np.array([[0.1, 0.2], [0.3, 0.4]]), "w"),
    "a state, of one entry": (X0, pt.TensorType("float64", (1,))("X1"), np.array([0.5]), "x"),
}


@pytest.mark.parametrize("case", ENTRIES)
def test_every_entry_is_as_it_is_alone(case):
    one, many, values, name = ENTRIES[case]
    batched = vectorize_graph(last(), {one: many})
    derived = lab.derivative(batched.sum(), many, 1)
    given = {variable: v for variable, v in GIVEN.items() if variable is not one} | {many: values}
    trace = lab.trace(derived, given)
    others = {"x": 0.5, "w": 0.8, "us": U}
    alone = [{**others, name: entry} for entry in values.ravel()]
    assert trace.outputs[0] == pytest.approx(sum(loop(**entry) for entry in alone))
    slopes = np.array([slope(name, entry) for entry in alone]).reshape(values.shape)
    np.testing.assert_allclose(trace.outputs[1], slopes, rtol=1e-12)
    assert trace.scans[0].name == "batch of scan_fn"
    assert trace.scans[0].tapes[0].final.shape[1:] == values.shape


def test_batches_of_sequences_and_gradients_and_a_second_derivative():
    rows, values, others = np.array([U, U[::-1], 2 * U]), np.array([0.5, 0.7]), {"w": 0.8, "us": U}
    many_rows, many = pt.dmatrix("USs"), pt.dvector("X")
    trace = lab.trace(vectorize_graph(last(), {US: many_rows}), {X0: 0.5, W: 0.8, many_rows: rows})
    np.testing.assert_allclose(trace.outputs[0], [loop(0.5, 0.8, row) for row in rows])

    batched = vectorize_graph(pytensor.grad(last(), X0), {X0: many})
    trace = lab.trace(batched, {many: values, W: 0.8, US: U})
    alone = [slope("x", {"x": value, **others}) for value in values]
    np.testing.assert_allclose(trace.outputs[0], alone, rtol=1e-12)

    batched = vectorize_graph(last(), {X0: many})
    trace = lab.trace(lab.derivative(batched.sum(), many, 2), {many: values, W: 0.8, US: U})
    up, down = (
        np.array([slope("x", {"x": v + h, **others}) for v in values]) for h in (1e-5, -1e-5)
    )
    np.testing.assert_allclose(trace.outputs[2], (up - down) / 2e-5, rtol=1e-7)


def test_entries_that_may_stop_elsewhere_are_refused():
    xs = scan(lambda x: (x * 2, until(x > 4)), outputs_info=[X0], n_steps=9)
    many = pt.dvector("X")
    batched = vectorize_graph(xs[-1], {X0: many})
    with pytest.raises(GraphError, match="a batch of scan_fn: its entries can stop at different"):
        lab.trace(batched, {many: [0.5, 0.7]})
