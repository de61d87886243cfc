"""Detect, report, and avoid 0·∞ in the gradient of a branch that a step does not select."""

import numpy as np
import pytensor.tensor as pt
import pytest
from graphs import scan
from pytensor.compile.mode import Mode

import lab
import visual
from lab import gallery

COMPILED = Mode("py", "fast_run")

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


def made(step, at):
    x = pt.tensor("x", dtype="float64", shape=np.shape(at))
    xs = scan(step, outputs_info=[x], n_steps=2)
    cost = xs.sum()
    cost.name = "cost"
    return lab.derivative(cost, x), {x: at}


@pytest.mark.parametrize("name", TRAPS)
def test_a_lost_branch_is_described_and_avoided_by_rewrites(name):
    step, at, when, branch = TRAPS[name]
    derived, given = made(step, at)
    trace = lab.trace(derived, given)
    assert np.isnan(trace.outputs[1]).any()
    (note,) = lab.first(trace).explanations
    assert f"step {when} of scan_fn, where does not select {branch}." in note
    assert "but step 0 of gradient of scan_fn multiplies" in note
    for picture in (visual.tapes(trace), visual.stepgraph(trace), visual.stepgraph(trace, 1)):
        assert "where does not select" in picture.text()
    wrt = next(iter(given))
    assert "where does not select" in " ".join(
        str(lab.compare(derived.values[0], wrt, given)).split()
    )
    explained = lab.explain(derived.values[0], wrt)
    assert [trap.name for trap in explained.traps] == ["untaken_branch"]
    compiled = derived.value.eval(given, mode=COMPILED)
    trace = lab.trace(derived, given, rewritten=True)
    assert np.isfinite(compiled).all()
    np.testing.assert_allclose(trace.outputs[1], compiled, rtol=1e-12)
    assert lab.first(trace) is None
    assert derived.verify(trace) < 1e-12
    assert [(one.name, one.order, one.parent) for one in trace.scans] == [
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
def test_nothing_is_told_where_nothing_is_lost(name):
    derived, given = made(*HARMLESS[name])
    nan = lab.first(lab.trace(derived, given))
    assert nan is None or nan.explanations == ()


@pytest.mark.parametrize("name", gallery.loops)
def test_rewritten_loops_have_the_same_tapes(name):
    derived = gallery.loops[name].derivative(2 if name in ("square", "gap", "coupled") else 1)
    plain, other = lab.trace(derived), lab.trace(derived, rewritten=True)
    assert derived.verify(other) < 1e-12
    for one, two in zip(plain.scans, other.scans, strict=True):
        assert (one.name, one.order, one.parent) == (two.name, two.order, two.parent)
        for first, second in zip(one.tapes, two.tapes, strict=True):
            np.testing.assert_allclose(first.final, second.final, rtol=1e-9, atol=1e-12)
            told = [(t.name, t.tape, t.axis, t.gradient_of, t.used) for t in (first, second)]
            assert told[0] == told[1]
            assert np.array_equal(first.unwritten, second.unwritten)
        assert [s.axis for s in one.sequences] == [s.axis for s in two.sequences]
