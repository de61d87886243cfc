"""Scans inside steps: the run of every step, compared with loops in Python."""

from math import sin

import numpy as np
import pytensor.tensor as pt
import pytest
from graphs import scan
from pytensor.compile.builders import OpFromGraph

import lab
from lab import check


def two_levels(outer=3, inner=4):
    x0, a = pt.dscalar("x0"), pt.dscalar("a")

    def step(x, a):
        start = {"outputs_info": [x], "non_sequences": [x, a], "n_steps": inner}
        return scan(lambda y, x, a: pt.sin(y) * a + x, **start, name="inner")[-1]

    xs = scan(step, outputs_info=[x0], non_sequences=[a], n_steps=outer, name="outer")
    return xs[-1], x0, a


def three_levels():
    x0, a = pt.dscalar("x0"), pt.dscalar("a")

    def middle(y, x, a):
        start = {"outputs_info": [a], "non_sequences": [y], "n_steps": 2}
        return pt.sin(scan(lambda z, y: z * y, **start, name="innermost")[-1]) + x

    def step(x, a):
        return scan(middle, outputs_info=[x], non_sequences=[x, a], n_steps=3, name="inner")[-1]

    xs = scan(step, outputs_info=[x0], non_sequences=[a], n_steps=3, name="outer")
    return xs[-1], x0, a


def inner_values(x, a, outer=3, inner=4):
    """Yield the values of the inner state for every step of the outer loop."""
    for _ in range(outer):
        ys = [x]
        for _ in range(inner):
            ys.append(sin(ys[-1]) * a + x)
        x = ys[-1]
        yield ys


@pytest.fixture(scope="module")
def first():
    cost, x0, a = two_levels()
    return lab.trace(lab.derivative(cost, x0), {x0: 0.5, a: 0.9})


def test_every_step_has_its_own_run(first):
    outer, _ = first.scans
    assert len(outer.nested) == outer.steps == 3
    for step, expected in zip(outer.nested, inner_values(0.5, 0.9), strict=True):
        (inner,) = step.scans
        assert np.allclose(inner.tapes[0].final, expected)
        assert np.allclose(step.outputs[0], expected[-1])
        assert step.names == ("x[t]",)
        assert [value.name for value in step.inputs] == ["x[t−1]", "a"]


def test_the_derivative_inside_the_step_of_the_derivative(first):
    """Compare the inner tape with finite differences of the outer step."""
    _, outer = first.scans
    for number, step in enumerate(outer.nested):
        loop, back = step.scans
        assert (loop.name, back.name) == ("inner", "gradient of inner")
        assert (back.parent, back.order) == (0, 1)
        start, seed = loop.tapes[0].initial[0], back.tapes[0].initial[0]

        def last(y, x=start):
            for _ in range(4):
                y = sin(y) * 0.9 + x
            return y

        assert np.isclose(back.tapes[0].final[-1], seed * check.finite_differences(last, start))
        assert back.tapes[0].axis.index.tolist() == [4, 3, 2, 1, 0]
        assert np.isclose(seed, outer.tapes[0].reads[0].values[number])
    slope = check.finite_differences(lambda x: [*inner_values(x, 0.9)][-1][-1], 0.5)
    assert np.isclose(first.outputs[1], slope)


def test_long_loops_have_no_run_of_each_step():
    cost, x0, a = two_levels(outer=501, inner=2)
    assert lab.trace(cost, {x0: 0.5, a: 0.9}).scans[0].nested == ()


def test_a_scan_in_an_opfromgraph_in_a_step():
    x, y = pt.dscalar("x"), pt.dscalar("y")
    powers = scan(lambda z, y: z * y, outputs_info=[x], non_sequences=[y], n_steps=3, name="powers")
    power = OpFromGraph([x, y], [powers[-1]])
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: power(x, x), outputs_info=[x0], n_steps=2, name="outer")
    trace = lab.trace(xs[-1], {x0: 1.1})
    actual = [step.scans[0].tapes[0].final for step in trace.scans[0].nested]
    assert np.allclose(actual, [1.1 ** np.arange(1, 5), (1.1**4) ** np.arange(1, 5)])


def test_the_gradient_of_a_scan_inside_is_explained():
    """Explain Scans at three levels."""
    cost, x0, _ = three_levels()
    report = lab.explain(cost, x0)
    assert [scan.inside for scan in report.scans] == ["", "outer", "inner"]
    for scan_report in report.scans:
        assert {str(outcome.verdict) for outcome in scan_report.outcomes} == {"connected"}
        assert scan_report.saved
    assert "x2 = x[t−1]" in str(report)
