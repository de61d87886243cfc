"""Runs and traces of graphs, compared with plain NumPy and closed forms."""

from dataclasses import replace

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from graphs import scan
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.traversal import explicit_graph_inputs

import lab
from lab.equations.quantities import Quantities
from lab.loops import gallery
from lab.scans.replacing import with_plain
from lab.traces.run import Evaluator, run
from lab.traces.scan_of import ScanOf


def test_values_inside_the_step():
    """The step moves the axes of a parameter, of a state, and of the product of both."""
    w, states = np.array([[0.1, 0.2], [0.3, -0.4]]), (lab.State("h", [0.5, -1.0]),)
    parameters = (lab.Parameter("w", w),)
    loop = lab.Loop(lambda h, w: pt.exp(w.T @ h), states, parameters=parameters, n_steps=3)
    (scan,) = loop.trace(order=0).scans
    h, products = scan.tapes[0].final, scan.tapes[0].final[:-1] @ w
    expected = h[:-1, :, None], [w.T] * 3, products[..., None], products, h[1:]
    for value, numbers in zip(scan.inside, expected, strict=True):
        np.testing.assert_allclose(value.values, numbers, rtol=1e-15)


def test_the_last_backward_step_reads_the_first_values_of_the_loop():
    trace = lab.Loop.from_text("x*u", {"x": 1.0}, {"u": [1.0, 2.0]}).trace(wrt="u")
    read = {s.name: ScanOf(trace, 1).value_read(s, 1) for s in trace.scans[1].sequences}
    assert read == {"u": (0, "u", -1, 0, 0), "x": (0, "x", 1, 0, 0)}


def test_formulas_are_cut_after_five_levels():
    """The argument of the logarithm is below 0, in a step and before a loop."""

    def deep(x):
        return pt.log(pt.cos(pt.cos(pt.cos(pt.cos(pt.cos(pt.cos(x)))))) - 2)

    x0 = pt.dscalar("x0")
    in_step = scan(lambda x: deep(x), outputs_info=[x0], n_steps=2)
    before = scan(lambda x: x, outputs_info=[deep(2 * x0)], n_steps=2)
    for xs in (in_step, before):
        assert "log(cos(cos(cos(…))) − 2) = log(-1." in str(lab.first(lab.trace(xs, {x0: 1.0})))


def test_symbolic_steps():
    n = lab.Parameter("n", np.int64(3))
    loop = lab.Loop.from_text("x*u", {"x": 1.0}, {"u": [1.0, 2.0, 3.0, 4.0]}, n_steps=n)
    assert loop.trace(order=1, wrt="u", at={"n": 2}).outputs[1].tolist() == [2.0, 1.0, 0.0, 0.0]
    assert loop.trace(order=1).scans[1].steps == 3


def quantities_of(trace):
    """Map the order and the name of each value of a derivative to the values of this name."""
    values = {}
    for named in Quantities.each(trace):
        for tape in named.scan.tapes if named.scan.order else ():
            for row, value in enumerate(tape.final if tape.used else ()):
                key = named.scan.order, named.tape_label(tape, row)
                values.setdefault(key, []).append(value)
    return values


def gradient_by_pytensor(loop, order, **cost):
    """Return the derivative of a loop by `pytensor.grad`, and the values of its inputs."""
    (cost,) = with_plain([loop.cost(loop.build(), **cost)])
    inputs = {v.name: v for v in explicit_graph_inputs([cost])}
    wrt = inputs[loop.states[0].name]
    for _ in range(order):
        cost = pytensor.grad(cost.sum(), wrt)
    return cost, {variable: loop.values[name] for name, variable in inputs.items()}


@pytest.mark.parametrize(
    ("name", "order", "of"),
    [
        *((name, 1, None) for name in ("sequence", "fibonacci", "window")),
        *((name, 2, None) for name in ("gap", "coupled", "logistic", "rnn", "newton")),
        *(("square", 3, None), ("extra", 3, None), ("extra", 2, "cube")),
    ],
)
def test_a_trace_names_the_derivatives_in_a_graph_of_pytensor(name, order, of):
    """The same names have the same values as in derivatives by our pullback."""
    loop = gallery.loops[name]
    theirs = lab.trace(*gradient_by_pytensor(loop, order, cost="sum", of=of))
    ours = loop.trace(order=order, cost="sum", of=of)
    assert [s.parent for s in theirs.scans] == [s.parent for s in ours.scans]
    for mine, other in zip(ours.scans, theirs.scans, strict=True):
        sources = {(s.source.variable, s.source.tap) for s in other.sequences if s.source}
        assert {(s.source.variable, s.source.tap) for s in mine.sequences if s.source} <= sources
    values = quantities_of(theirs)  # more than ours: compare our keys only
    for key, expected in quantities_of(ours).items():
        np.testing.assert_allclose(np.sort(values[key], 0), np.sort(expected, 0), rtol=1e-9)


def test_an_uncertain_derivative_in_a_graph_of_pytensor_counts_as_a_loop():
    """At order 3, a Scan reads one of two gradients of outputs; its other names are uncertain."""
    gradient = gradient_by_pytensor(gallery.loops["extra"], 3, cost="sum", of="cube")
    trace = lab.trace(*gradient)
    assert {scan.order for scan in trace.scans} == {0}
    expected = gallery.loops["extra"].trace(order=3, cost="sum", of="cube").outputs[3]
    np.testing.assert_allclose(trace.outputs[0], expected, rtol=1e-9)


def test_verify_reports_a_failure_of_pytensor(monkeypatch):
    """PyTensor 3.0.7 fails to run some graphs."""

    def broken(*_, **__):
        raise ValueError("could not broadcast\nand much more")

    derivative = gallery.loops["square"].derivative()
    trace = lab.trace(derivative)
    assert derivative.verify(trace) < 1e-12
    wrong = replace(trace, outputs=(trace.outputs[0] + 1e-3, trace.outputs[1]))
    assert derivative.verify(wrong) > 1e-5
    monkeypatch.setattr("lab.gradients.verify.function", lambda *_, **__: broken)
    with pytest.raises(lab.LabError, match="fails to run this graph") as caught:
        derivative.verify(trace)
    assert str(caught.value).endswith("ValueError: could not broadcast")


def test_runs_that_share_a_cache_are_independent():
    """Run nested loops with an OpFromGraph again after a change of a shared variable."""
    x, shared = pt.dvector("x"), pytensor.shared(2.0, name="w")
    a = pt.dscalar("a")
    doubled = OpFromGraph([a], [a * 2])

    def outer(v, total):
        inner = scan(lambda y: y * shared, outputs_info=[v], n_steps=2)
        return total + inner[-1]

    sums = scan(outer, sequences=[x], outputs_info=[pt.zeros(())])
    outputs = [doubled(sums[-1]), sums, pt.alloc(x[0], 2)]  # no later run overwrites the last array
    evaluator, pairs = Evaluator(), []
    for entries, factor in (([1.0, 2.0], 2.0), ([3.0], 3.0), ([1.0, 2.0, 4.0], 0.5)):
        shared.set_value(factor)
        values, _ = run(outputs, {x: np.array(entries)}, evaluator=evaluator)
        partial = np.cumsum(entries) * factor**2
        pairs.append(([values[v] for v in outputs], [2 * partial[-1], partial, entries[:1] * 2]))
    for results, expected in pairs:
        for result, value in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result, value)


@pytest.mark.parametrize("operation", [pt.add, pt.second, lambda a, b: pt.exp(a * 2.0) / b])
@pytest.mark.parametrize("sizes", [(3, 3), (1, 1), (3, 1), (1, 3), (2, 3)])
def test_elementwise_operations_broadcast_as_in_pytensor(operation, sizes):
    a, b = pt.dvector("a"), pt.dvector("b")
    given = {v: np.linspace(-1, 2, n) for v, n in zip((a, b), sizes, strict=True)}
    result = operation(a, b)
    if sizes[0] != sizes[1]:
        with pytest.raises(lab.LabError):
            run([result], given)
        return
    compiled = pytensor.function([a, b], result, mode="FAST_COMPILE")
    np.testing.assert_array_equal(run([result], given)[0][result], compiled(*given.values()))
