"""A gradient taken after shortening, against PyTensor, differences and a simulation."""

from dataclasses import replace

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from graphs import scan, to_compile
from graphs.to_compile import GIVEN
from pytensor.compile import Mode
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors

import lab
from lab.loops import gallery
from lab.loops.scan_call import scan_call
from lab.reports.breaking.breakage import Effect, differences_by
from lab.reports.compile.compiled import BackwardSteps
from lab.reports.compile.late_gradient import FOR_LINKER
from lab.reports.compile.rewriting import rewritten

MODES = ["CVM", "NUMBA"]
LOOPS = [(name, "CVM") for name in ("square", "gap", "coupled", "extra", "newton")]
LOOPS += [(name, "NUMBA") for name in ("gap", "fibonacci", "newton")]


def late_by_pytensor(loop, wrt, mode):
    """What a person gets who does it: rewritten by PyTensor, differentiated and run by PyTensor."""
    call = scan_call(loop)
    cost = next(iter(call.results().values()))[-1]
    cost = cost if not cost.type.ndim else cost.sum()
    made = rewritten([cost], mode, FOR_LINKER)
    copies = {v: copy for v, copy in made.inputs if v in call.given}
    gradient = pytensor.grad(made.graph.outputs[0], copies[call.inputs[wrt]])
    run = pytensor.function(list(copies.values()), gradient, mode="FAST_COMPILE")
    return run(*(call.given[v] for v in copies))


@pytest.mark.parametrize(("name", "mode"), LOOPS)
def test_numbers(name, mode):
    loop = gallery.loops[name]
    wrt = loop.states[0].name
    found = lab.compiled(loop, wrt, mode).late
    right = loop.trace(order=1, wrt=wrt).outputs[1]
    assert np.allclose(found.gradient, right, rtol=1e-12, atol=1e-30)
    graph = loop.build()
    (differences,) = differences_by(loop.cost(graph), graph.inputs[wrt], graph.given)
    if np.isfinite(differences.error).all() and name != "newton":
        assert differences.admits(found.gradient)
        assert found.late is None or not differences.admits(found.late)
    if (name, mode) == ("newton", "NUMBA"):
        with pytest.raises(ValueError, match="cannot reshape") as refused:
            late_by_pytensor(loop, wrt, mode)
        assert found.effect is Effect.REFUSED
        assert str(refused.value).splitlines()[0] in found.error
        return
    theirs = late_by_pytensor(loop, wrt, mode)
    assert found.effect is Effect.WRONG
    assert np.allclose(found.late, theirs, rtol=1e-12, atol=0)
    (backward,) = found.scans
    length = next((b.buffer.ring.length for b in found.buffers), None)
    if length is not None and name != "coupled":
        assert backward.steps == length - len(np.atleast_1d(loop.states[0].initial))


def simulated(taps, length, steps):
    """The rows that the backward loop reads and the rows in their slots, by filling real slots."""
    reach = -min(taps)
    slots = {row: row for row in range(reach)}
    for step in range(steps):
        row = step + reach
        slots[row % length] = row
    for step in range(steps):
        for tap in taps:
            row = step + reach + tap
            yield row, slots[row % length]


@pytest.mark.parametrize(
    ("name", "mode", "length"),
    [
        ("square", "CVM", 2),
        ("square", "NUMBA", 1),
        ("gap", "CVM", 4),
        ("gap", "NUMBA", 3),
    ],
)
def test_lost_rows(name, mode, length):
    loop = gallery.loops[name]
    (found,) = lab.compiled(loop, "x", mode).late.buffers
    (state,) = loop.states
    assert found.buffer.ring.length == length
    expected = [*simulated(state.taps, length, loop.steps)]
    assert found.rows == tuple(sorted({row for row, _ in expected}))
    assert found.lost == tuple(sorted({row for row, holds in expected if row != holds}))


def test_the_number_that_pytensor_gives():
    """x², five times, stored in two slots: a single step is differentiated."""
    loop = gallery.loops["square"].with_steps(5)
    found = lab.compiled(loop, "x", "CVM").late
    assert found.gradient == pytest.approx(32 * 0.95**31)
    assert found.late == pytest.approx(2 * 0.95**16)
    assert found.scans == (BackwardSteps("gradient of square", 1, 5),)


@pytest.mark.parametrize("mode", MODES)
def test_where_nothing_is_shortened_nothing_is_lost(mode):
    """The sum over all steps keeps its rows, and may be differentiated at any time."""
    (cost,) = to_compile.summed()
    x0 = next(v for v in ancestors([cost]) if v.name == "x0")
    found = lab.compiled(cost, x0, mode, {x0: 0.95}).late
    assert found.effect is Effect.RIGHT
    assert found.late == pytest.approx(found.gradient)
    assert [buffer.lost for buffer in found.buffers] == [()]
    assert found.scans == ()


def test_a_state_that_a_gradient_needs_no_value_of_is_not_read():
    """`lookup` multiplies by a constant: of its state, no value enters the gradient by it."""
    assert lab.compiled(gallery.loops["lookup"], "x", "CVM").late.buffers == ()


@pytest.mark.parametrize("mode", MODES)
def test_steps_that_nobody_needs_are_not_missed(mode):
    """xs[2] of ten steps: three are run, and their values all stored, so it is never too late."""
    (cost,) = to_compile.third_of_ten()
    x0 = next(v for v in ancestors([cost]) if v.name == "x0")
    found = lab.compiled(cost, x0, mode, {x0: 0.95}).late
    assert found.gradient == pytest.approx(8 * 0.95**7)
    assert found.late == pytest.approx(8 * 0.95**7)
    assert found.scans == ()
    assert [buffer.lost for buffer in found.buffers] == [()]


def test_an_infinite_gradient_is_wrong():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**8, outputs_info=[x0], n_steps=5)
    found = lab.compiled(xs[-1], x0, "NUMBA", {x0: 1e9}).late
    assert (found.gradient, found.late, found.effect) == (np.inf, 1.0, Effect.WRONG)


def test_rewriting_after_the_gradient_is_right():
    """The right order, in PyTensor itself."""
    loop = gallery.loops["gap"]
    found = lab.compiled(loop, "x", "CVM").late
    call = scan_call(loop)
    cost = call.results()["x"][-1]
    rewrites = Mode("py", "fast_run").excluding("inplace")
    in_time = pytensor.function(
        list(call.given), pytensor.grad(cost, call.inputs["x"]), mode=rewrites
    )
    assert np.allclose(in_time(*call.given.values()), found.gradient)


def test_garch_keeps_the_rows_that_it_needs():
    (logp,), theta = to_compile.garch()
    roots = [v for v in ancestors([logp]) if v.owner is None and not isinstance(v, Constant)]
    given = {v: GIVEN[v.name] for v in roots}
    found = lab.compiled(logp, theta, "CVM", given).late
    assert found.effect is Effect.RIGHT
    assert differences_by(logp, theta, given)[0].admits(found.gradient)


def test_text():
    printed = " ".join(str(lab.compiled(gallery.loops["square"], "x", "CVM")).split())
    for told in (
        "before rewriting 7.413",
        "after shortening 1.327: wrong",
        "PyTensor gives no error and no warning.",
        "gradient of square runs 1 of 4 steps",
        "x x₀, x₁, x₂, x₃ x₀, x₁, x₂",
    ):
        assert told in printed, told


def test_without_all_values_it_is_not_computed():
    """A value of n is missing; and what is computed is no input."""
    (cost,) = to_compile.last_two()
    cost = cost.sum()
    x0 = next(v for v in ancestors([cost]) if v.name == "x0")
    report = lab.compiled(cost, x0, "CVM", {x0: 0.5})
    assert report.late is None
    assert "pass values of all inputs" in str(report)
    middle = pt.dscalar("x0") * 2
    xs = scan(lambda x: x**2, outputs_info=[middle], n_steps=3)
    assert lab.compiled(xs[-1], middle, "CVM", {middle: 0.5}).late is None


def test_two_reports_are_the_same():
    first, second = (lab.compiled(gallery.loops["square"], "x", "CVM") for _ in range(2))
    assert first == second
    late = replace(first.late, gradient=first.late.gradient + 1)
    assert first != replace(first, late=late)
