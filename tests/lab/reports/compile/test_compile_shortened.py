"""The worked warning: a gradient taken too late, against PyTensor, differences and a simulation."""

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
from lab.errors import ArgumentError
from lab.loops import gallery
from lab.loops.scan_call import scan_call
from lab.reports.breaking.breakage import Effect
from lab.reports.compile.rewriting import rewritten
from lab.reports.compile.shortening import LINKED, Shortened

MODES = ["CVM", "NUMBA"]
LOOPS = [(name, "CVM") for name in ("square", "gap", "coupled", "extra", "newton")]
LOOPS += [(name, "NUMBA") for name in ("gap", "fibonacci", "newton")]


def late_by_pytensor(loop, wrt, mode):
    """What a person gets who does it: rewritten by PyTensor, differentiated and run by PyTensor."""
    call = scan_call(loop)
    cost = next(iter(call.results().values()))[-1]
    cost = cost if not cost.type.ndim else cost.sum()
    made = rewritten([cost], mode, LINKED)
    copies = {v: copy for v, copy in made.inputs if v in call.given}
    gradient = pytensor.grad(made.graph.outputs[0], copies[call.inputs[wrt]])
    run = pytensor.function(list(copies.values()), gradient, mode="FAST_COMPILE")
    return run(*(call.given[v] for v in copies))


@pytest.mark.parametrize(("name", "mode"), LOOPS)
def test_numbers(name, mode):
    loop = gallery.loops[name]
    wrt = loop.states[0].name
    found = lab.shortened(loop, wrt, mode=mode)
    right = loop.trace(order=1, wrt=wrt).outputs[1]
    assert np.allclose(found.right, right, rtol=1e-12, atol=1e-30)
    if np.isfinite(found.differences.error).all() and name != "newton":
        assert found.differences.admits(found.right)
        assert found.too_late is None or not found.differences.admits(found.too_late)
    if (name, mode) == ("newton", "NUMBA"):
        with pytest.raises(ValueError, match="cannot reshape") as refused:
            late_by_pytensor(loop, wrt, mode)
        assert found.effect is Effect.REFUSED
        assert str(refused.value).splitlines()[0] in found.refusal
        return
    theirs = late_by_pytensor(loop, wrt, mode)
    assert found.effect is Effect.WRONG
    assert np.allclose(found.too_late, theirs, rtol=1e-12, atol=0)
    (backward,) = found.loops
    length = next(b.ring.length for b in found.buffers) if found.buffers else None
    if length is not None and name != "coupled":
        assert backward.too_late == length - len(np.atleast_1d(loop.states[0].initial))


def simulated(taps, length, steps):
    """Which of the rows that the backward loop needs are gone, by filling real slots."""
    reach = -min(taps)
    slots = {row: row for row in range(reach)}
    for step in range(steps):
        row = step + reach
        slots[row % length] = row
    for step in reversed(range(steps)):
        for tap in taps:
            row = step + reach + tap
            yield steps - 1 - step, row, slots[row % length]


@pytest.mark.parametrize(
    ("name", "mode", "length"),
    [
        ("square", "CVM", 2),
        ("square", "NUMBA", 1),
        ("gap", "CVM", 4),
        ("gap", "NUMBA", 3),
    ],
)
def test_what_is_gone(name, mode, length):
    loop = gallery.loops[name]
    (lost,) = lab.shortened(loop, "x", mode=mode).buffers
    (state,) = loop.states
    assert lost.ring.length == length
    asked = [(ask.step, ask.row, ask.holds) for ask in lost.asked]
    assert sorted(asked) == sorted(simulated(state.taps, length, loop.steps))
    gone = [(ask.step, ask.row) for ask in lost.gone]
    expected = simulated(state.taps, length, loop.steps)
    assert sorted(gone) == sorted((step, row) for step, row, holds in expected if row != holds)


def test_what_a_reader_of_the_slots_would_find():
    """x0², five times, read from two slots: the derivative made by hand of what is there."""
    loop = gallery.loops["square"].with_steps(5)
    found = lab.shortened(loop, "x", mode="CVM")
    x = [0.95 ** (2**k) for k in range(6)]
    slots = [x[4], x[5]]
    product = np.prod([2 * slots[t % 2] for t in range(5)])
    assert found.looked_up == pytest.approx(product)
    assert found.right == pytest.approx(32 * 0.95**31)
    assert found.too_late == pytest.approx(2 * x[4])


@pytest.mark.parametrize("mode", MODES)
def test_where_nothing_is_shortened_nothing_is_lost(mode):
    """The sum over all steps keeps its rows, and may be differentiated at any time."""
    (cost,) = to_compile.summed()
    x0 = next(v for v in ancestors([cost]) if v.name == "x0")
    found = lab.shortened(cost, x0, {x0: 0.95}, mode)
    assert found.effect is Effect.RIGHT
    assert found.too_late == pytest.approx(found.right)
    assert found.gone == ()
    assert "nothing that the gradient needs was lost" in " ".join(str(found).split())
    assert all(loop.steps == loop.too_late for loop in found.loops)


def test_a_state_that_a_gradient_needs_no_value_of_is_asked_for_nothing():
    """`lookup` multiplies by a constant: of its state, no value enters the gradient by it."""
    assert lab.shortened(gallery.loops["lookup"], "x", mode="CVM").buffers == ()


@pytest.mark.parametrize("mode", MODES)
def test_steps_that_nobody_needs_are_not_missed(mode):
    """xs[2] of ten steps: three are made, and their values all kept, so it is never too late."""
    (cost,) = to_compile.third_of_ten()
    x0 = next(v for v in ancestors([cost]) if v.name == "x0")
    found = lab.shortened(cost, x0, {x0: 0.95}, mode)
    assert found.right == pytest.approx(8 * 0.95**7)
    assert found.too_late == pytest.approx(8 * 0.95**7)
    assert found.looked_up == pytest.approx(8 * 0.95**7)
    assert [(loop.steps, loop.too_late) for loop in found.loops] == [(3, 3)]
    assert "nothing that the gradient needs was lost" in " ".join(str(found).split())


def test_an_infinite_gradient_is_not_right_all_the_same():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**8, outputs_info=[x0], n_steps=5)
    found = lab.shortened(xs[-1], x0, {x0: 1e9}, "NUMBA")
    assert (found.right, found.too_late, found.effect) == (np.inf, 1.0, Effect.WRONG)


def test_rewriting_after_the_gradient_is_right():
    """The right order of events, in PyTensor itself."""
    loop = gallery.loops["gap"]
    found = lab.shortened(loop, "x", mode="CVM")
    call = scan_call(loop)
    cost = call.results()["x"][-1]
    rewrites = Mode("py", "fast_run").excluding("inplace")
    in_time = pytensor.function(
        list(call.given), pytensor.grad(cost, call.inputs["x"]), mode=rewrites
    )
    assert np.allclose(in_time(*call.given.values()), found.right)


def test_garch_keeps_what_it_needs():
    (logp,), theta = to_compile.garch()
    roots = [v for v in ancestors([logp]) if v.owner is None and not isinstance(v, Constant)]
    found = lab.shortened(logp, theta, {v: GIVEN[v.name] for v in roots}, "CVM")
    assert found.effect is Effect.RIGHT
    assert found.differences.admits(found.right)


def test_text():
    printed = str(lab.shortened(gallery.loops["square"], "x", mode="CVM"))
    for told in (
        "in time                7.413",
        "too late               1.327",
        "without an error or a warning",
        "gradient of square makes 1 of 4 steps",
        "of the 4 values that the gradient asks for 3 are gone",
        "              1        2         x₂      0   x₄: gone",
    ):
        assert told in printed.replace("\nwarning", " warning"), told


@pytest.mark.parametrize(
    ("subject", "wrt", "given", "says"),
    [
        (gallery.loops["square"], "z", None, "this loop has x"),
        ("square", "x", None, "subject"),
        (to_compile.last()[0], "x", None, "wrt"),
        (to_compile.whole()[0], "x", None, "subject"),
    ],
)
def test_mistakes_are_told(subject, wrt, given, says):
    with pytest.raises(ArgumentError, match=says):
        lab.shortened(subject, wrt, given)


def test_what_is_computed_is_no_input():
    middle = pt.dscalar("x0") * 2
    cost = scan(lambda x: x**2, outputs_info=[middle], n_steps=3)[-1]
    with pytest.raises(ArgumentError, match="expected an input"):
        lab.shortened(cost, middle, {middle: 0.5})


def test_two_reports_are_the_same():
    first, second = (lab.shortened(gallery.loops["square"], "x", mode="CVM") for _ in range(2))
    assert first == second
    assert isinstance(first, Shortened)
    assert first != replace(first, right=first.right + 1)
    assert {b.name for b in first.buffers} == {"x"}
