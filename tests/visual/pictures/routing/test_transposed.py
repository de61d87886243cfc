"""A step of a tape as routing, compared with the traced gradient, NumPy, and hand calculations."""

from dataclasses import replace

import numpy as np
import pytest
from pictures import arrows, cells
from strange_loops import trace_of
from twins import assert_twin

import visual
from lab.loops import gallery
from visual.pictures.routing.transposed import StepTable, differentiated_scans
from visual.scene.theme import Role


def rows_of(scene):
    """(block, row) -> the values of the row by the names of the slots, and their roles."""
    values, roles = {}, {}
    for _, role, _, title, block in cells(scene):
        name, _, value = title.partition(" = ")
        name = name.removesuffix(": not written yet").removeprefix("g of ")
        slot, _, row = name.partition(": ")
        number = float(value.split(" (before")[0]) if value else None
        values.setdefault((block, row), {})[slot] = number
        roles.setdefault((block, row), []).append(role)
    return values, roles


@pytest.mark.parametrize("step", range(4))
def test_the_gradient_of_the_square_loop_by_hand(step):
    """dx[s+1] = 2 x dx[s] + dx[s+1], where s counts the steps backwards; then transposed."""
    x = 0.95**2.0 ** np.arange(5)
    tape = np.zeros(5)
    tape[0] = 1
    for s in range(step):
        tape[s + 1] = 2 * x[3 - s] * tape[s] + tape[s + 1]
    g = np.zeros(5)
    g[4] = 1
    for s in range(3, step, -1):  # of the steps that follow
        g[s] = g[s] + 2 * x[3 - s] * g[s + 1]
    written = 2 * x[3 - step] * tape[step] + tape[step + 1]
    after, left = tape.copy(), g.copy()
    after[step + 1], left[step + 1] = written, 0
    brought = np.zeros(5)
    brought[step], brought[step + 1] = 2 * x[3 - step] * g[step + 1], g[step + 1]
    wanted = {
        (0, "tape before"): tape,
        (0, "tape after"): after,
        (1, "gradient after"): g,
        (1, "wrt the rest"): left,
        (1, "+ wrt read"): brought,
        (1, "gradient before"): left + brought,
        (2, "tape before"): g,
        (2, "tape after"): left + brought,
    }
    scene = visual.transposed(trace_of("square", 2), step=step)
    values, roles = rows_of(scene)
    for row, numbers in wanted.items():
        shown = values[row]
        assert len(shown) >= 3
        for slot, value in shown.items():
            index = "₀₁₂₃₄".index(slot[-1])  # x₄ stands in row 0
            np.testing.assert_allclose(value, numbers[4 - index], rtol=1e-13)
    one = f"dC/dx{'₀₁₂₃₄'[4 - step - 1]}"
    assert values[0, "written"] == {one: pytest.approx(written)}
    assert values[1, "wrt written"] == {one: pytest.approx(g[step + 1])}
    assert roles[1, "wrt the rest"].count(Role.OVERWRITTEN) == 1
    assert roles[2, "tape after"].count(Role.OVERWRITTEN) == 1
    assert roles[2, "tape after"].count(Role.PRESERVED) == 1
    assert len(arrows(scene)) == 6


def test_a_preserved_tap_is_a_sum():
    """x[t] = sin(x[t-3]) + x[t-3] x[t-1]: at step 2, x[4] has another reader, step 4."""
    trace = gallery.loops["gap"].trace(order=1, cost="sum")
    values, _ = rows_of(visual.transposed(trace, step=2))
    x = trace.scans[0].tapes[0].final
    g = values[1, "gradient after"]
    assert g["x₅"] == values[1, "wrt written"]["x₅"] != 0
    brought = values[1, "+ wrt read"]
    assert brought["x₄"] == pytest.approx(x[2] * g["x₅"])
    assert brought["x₂"] == pytest.approx((np.cos(x[2]) + x[4]) * g["x₅"])
    assert g["x₄"] != 0
    assert values[1, "gradient before"]["x₄"] == g["x₄"] + brought["x₄"]
    assert values[2, "tape after"]["x₄"] == values[1, "gradient before"]["x₄"]
    assert values[2, "tape after"]["x₅"] == g["x₅"]  # unchanged: no later step reads it
    assert values[0, "tape before"]["x₅"] is None  # no step has written it


@pytest.mark.parametrize("name", gallery.loops)
def test_routing_gives_what_was_traced(name):
    for order in (1, 2):
        trace = trace_of(name, order)
        for number, (tape, later, reverse) in differentiated_scans(trace).items():
            source = trace.scans[number]
            for step in range(source.steps):
                found = StepTable(trace, tape, later, reverse, step)
                spent = {
                    tape.tape.row(s, tap)
                    for s in range(step, source.steps)
                    for tap in set(tape.tape.writes) - set(tape.tape.reads)
                }
                kept = [row for row in range(len(found.traced)) if row not in spent]
                np.testing.assert_allclose(
                    found.traced[kept], found.gradient_before[kept], rtol=1e-13, atol=1e-300
                )


def test_a_trace_with_another_rule_differs():
    """With a pullback that adds at overwritten taps, routing and trace differ."""
    trace = trace_of("square", 2)
    known = differentiated_scans(trace).values()
    tape, later, reverse = next(parts for parts in known if parts[0].tape.overwritten)
    access = next(a for a in reverse.writes if a.tap == -1)
    wrong = replace(access, values=access.values + access.before)
    others = tuple(wrong if a is access else a for a in reverse.writes)
    faulty = replace(reverse, writes=others)
    tapes = tuple(faulty if each is reverse else each for each in trace.scans[later].tapes)
    scans = [*trace.scans]
    scans[later] = replace(scans[later], tapes=tapes)
    found = StepTable(replace(trace, scans=tuple(scans)), tape, later, faulty, 1)
    right = StepTable(trace, tape, later, reverse, 1)
    assert np.max(np.abs(right.traced - right.gradient_before)) == 0
    row = tape.tape.row(1, 1)
    assert found.traced[row] == 2 * right.traced[row]
    assert found.gradient_before[row] != right.gradient_before[row]


@pytest.mark.parametrize(
    ("twin", "name", "order", "step"),
    [("transposed-square", "square", 2, 1), ("transposed-gap", "gap", 1, 2)],
)
def test_text_twins(twin, name, order, step):
    trace = gallery.loops[name].trace(order=order, cost="last" if order == 2 else "sum")
    assert_twin(twin, visual.transposed(trace, step=step))
