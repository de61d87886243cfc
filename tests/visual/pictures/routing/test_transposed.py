"""A step of a tape as routing, compared with the traced gradient, NumPy, and hand calculations."""

from dataclasses import replace

import numpy as np
import pytest
from strange_loops import trace_of
from twins import assert_twin

import visual
from lab.loops import gallery
from visual.pictures.routing.transposed import StepTable, differentiated_scans


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
