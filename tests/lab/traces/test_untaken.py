"""Detect, report, and avoid 0·∞ in the gradient of a branch that a step does not select."""

import numpy as np
import pytensor.tensor as pt
import pytest
from graphs import scan
from pytensor.compile.mode import Mode

import lab
import visual
from lab import gallery

pytestmark = pytest.mark.usefixtures("fast_compile")
# The step, its initial value, the true gradient, the forward step, and the unselected branch.
TRAPS = {
    "a root below 0": (lambda s: pt.switch(s > 0, pt.sqrt(s), 0.0) - 0.9, 0.5, 1, "sqrt(x[t−1])"),
    "a root at 0": (lambda s: pt.switch(s > 0, pt.sqrt(s), 0.0), 0.0, 1, "sqrt(x[t−1])"),
    "a quotient": (
        lambda s: pt.switch(pt.neq(s, 0), pt.sin(s) / s, 1.0) - 1.0, 0.0, 1, "sin(x[t−1])/x[t−1]"
    ),
    "the other branch": (
        lambda s: pt.switch(s <= 0, 0.0, pt.log(s)), 0.0, 1, "log(x[t−1])"
    ),
    "some entries": (
        lambda s: pt.switch(s > 0, pt.sqrt(s), 0.0), np.array([0.0, 0.5]), 1, "sqrt(x[t−1])"
    ),
}  # fmt: skip


def derivative_of(step, start):
    x = pt.tensor("x", dtype="float64", shape=np.shape(start))
    xs = scan(step, outputs_info=[x], n_steps=2)
    cost = xs.sum()
    cost.name = "cost"
    return lab.derivative(cost, x), {x: start}


@pytest.mark.parametrize("name", TRAPS)
def test_nan_of_an_unselected_branch_is_explained_and_avoided(name):
    step, start, number, branch = TRAPS[name]
    derivative, given = derivative_of(step, start)
    trace = lab.trace(derivative, given)
    assert np.isnan(trace.outputs[1]).any()
    (note,) = lab.first(trace).explanations
    assert f"step {number} of scan_fn, where does not select {branch}." in note
    assert "but step 0 of gradient of scan_fn multiplies" in note
    for picture in (visual.tapes(trace), visual.stepgraph(trace), visual.stepgraph(trace, 1)):
        assert "where does not select" in picture.text()
    wrt = next(iter(given))
    comparison = str(lab.compare(derivative.values[0], wrt, given))
    assert "where does not select" in " ".join(comparison.split())
    (trap,) = lab.explain(derivative.values[0], wrt).traps
    assert trap.name == "untaken_branch"
    for text in (note, trap.message):  # the advice contains no name of the graph
        assert "where(condition, f(where(condition, argument, 1)), 0)" in text
    compiled = derivative.value.eval(given, mode=Mode("py", "fast_run"))
    trace = lab.trace(derivative, given, rewritten=True)
    assert np.isfinite(compiled).all()
    np.testing.assert_allclose(trace.outputs[1], compiled, rtol=1e-12)
    assert lab.first(trace) is None
    assert derivative.verify(trace) < 1e-12
    assert [(scan.name, scan.order, scan.parent) for scan in trace.scans] == [
        ("scan_fn", 0, None),
        ("gradient of scan_fn", 1, 0),
    ]


HARMLESS = {
    "a pole far away": (lambda s: pt.switch(s > 0, pt.log(s + 2), 0.0), 0.5),
    "a finite slope": (lambda s: pt.switch(s > 0, s**3, 0.0) - 0.5, 0.5),
    "a pole that was not met": (lambda s: pt.switch(s > 0, pt.log(s), -s), -0.5),
    "nan from elsewhere": (lambda s: pt.switch(s > 5, s, 0.0) + s, np.nan),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_branches_have_no_explanation(name):
    derivative, given = derivative_of(*HARMLESS[name])
    nan = lab.first(lab.trace(derivative, given))
    assert nan is None or nan.explanations == ()


@pytest.mark.parametrize("name", gallery.loops)
def test_rewritten_loops_have_the_same_tapes(name):
    derivative = gallery.loops[name].derivative(2 if name in ("square", "gap", "coupled") else 1)
    plain, other = lab.trace(derivative), lab.trace(derivative, rewritten=True)
    assert derivative.verify(plain) < 1e-12
    assert derivative.verify(other) < 1e-12
    for a, b in zip(plain.scans, other.scans, strict=True):
        assert (a.name, a.order, a.parent) == (b.name, b.order, b.parent)
        for first, second in zip(a.tapes, b.tapes, strict=True):
            np.testing.assert_allclose(first.final, second.final, rtol=1e-9, atol=1e-12)
            attributes = [(t.name, t.tape, t.axis, t.gradient_of, t.used) for t in (first, second)]
            assert attributes[0] == attributes[1]
            assert np.array_equal(first.unwritten, second.unwritten)
        assert [s.axis for s in a.sequences] == [s.axis for s in b.sequences]
