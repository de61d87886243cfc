"""Gradients after PyTensor shortens buffers, compared with PyTensor and finite differences."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from graphs import scan, squares

import lab
from lab.checks.check import MovedCost
from lab.loops import gallery
from lab.loops.scan_call import scan_call
from lab.reports.breaking.breakage import Effect
from lab.reports.compile.compile import FOR_LINKER
from lab.reports.compile.rewriting import rewrite_graph

MODES = ["CVM", "NUMBA"]
LOOPS = [(name, "CVM") for name in ("square", "gap", "coupled", "extra", "newton")]
LOOPS += [(name, "NUMBA") for name in ("gap", "fibonacci", "newton")]


def late_by_pytensor(loop, wrt, mode):
    """Rewrite, differentiate, and run the graph of a loop with PyTensor only."""
    call = scan_call(loop)
    cost = next(iter(call.results().values()))[-1]
    cost = cost if not cost.type.ndim else cost.sum()
    result = rewrite_graph([cost], mode, FOR_LINKER)
    copies = {v: copy for v, copy in result.inputs if v in call.given}
    gradient = pytensor.grad(result.graph.outputs[0], copies[call.inputs[wrt]])
    run = pytensor.function(list(copies.values()), gradient, mode="FAST_COMPILE")
    return run(*(call.given[v] for v in copies))


@pytest.mark.parametrize(("name", "mode"), LOOPS)
def test_the_late_gradient_equals_the_gradient_of_pytensor(name, mode):
    loop = gallery.loops[name]
    wrt = loop.states[0].name
    late = lab.compiled(loop, wrt, mode).late
    expected = loop.trace(order=1, wrt=wrt).outputs[1]
    assert np.allclose(late.gradient, expected, rtol=1e-12, atol=1e-30)
    graph = loop.build()
    values = {graph.inputs[wrt]: graph.given[graph.inputs[wrt]]}
    differences = MovedCost(loop.cost(graph), values, graph.given).differences()
    if np.isfinite(differences.error).all() and name != "newton":
        assert differences.admits(late.gradient)
        assert late.late is None or not differences.admits(late.late)
    if (name, mode) == ("newton", "NUMBA"):
        with pytest.raises(ValueError, match="cannot reshape") as caught:
            late_by_pytensor(loop, wrt, mode)
        assert late.effect is Effect.REFUSED
        assert str(caught.value).splitlines()[0] in late.error
        return
    theirs = late_by_pytensor(loop, wrt, mode)
    assert late.effect is Effect.WRONG
    assert np.allclose(late.late, theirs, rtol=1e-12, atol=0)


def test_pytensor_differentiates_one_step():
    """The buffer of five squares has two slots, and the backward Scan runs a single step."""
    loop = gallery.loops["square"].with_steps(5)
    late = lab.compiled(loop, "x", "CVM").late
    assert late.gradient == pytest.approx(32 * 0.95**31)
    assert late.late == pytest.approx(2 * 0.95**16)
    (sentence,) = late.missing
    assert sentence.startswith("The gradient of square runs 1 of 5 steps")


@pytest.mark.parametrize("mode", MODES)
def test_full_buffers_preserve_the_gradient(mode):
    """The sum over all steps needs all rows."""
    x0, xs = squares(5)
    late = lab.compiled(xs.sum(), x0, mode, {x0: 0.95}).late
    assert late.effect is Effect.RIGHT
    assert late.late == pytest.approx(late.gradient)
    assert late.missing == ()


def test_an_infinite_gradient_is_wrong():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**8, outputs_info=[x0], n_steps=5)
    late = lab.compiled(xs[-1], x0, "NUMBA", {x0: 1e9}).late
    assert (late.gradient, late.late, late.effect) == (np.inf, 1.0, Effect.WRONG)


def test_missing_values():
    """Without a value of n, or wrt a computed variable, a report contains no late gradient."""
    x0, xs = squares(pt.lscalar("n"))
    report = lab.compiled(xs[-2:].sum(), x0, "CVM", {x0: 0.5})
    assert report.late is None
    assert "pass values of all inputs" in str(report)
    middle = x0 * 2
    xs = scan(lambda x: x**2, outputs_info=[middle], n_steps=3)
    assert lab.compiled(xs[-1], middle, "CVM", {x0: 0.5}).late is None
