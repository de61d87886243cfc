"""Compare the transpose of a step with the traced gradient, and with golden texts."""

import numpy as np
import pytest
from strange_loops import trace_of
from twins import assert_twin

import lab
import visual
from lab.loops import gallery
from visual.pictures.routing.transposed import StepTable, differentiated_scans


def differing(trace):
    """Yield (tape, step) if routing and trace differ in slots that later steps read."""
    for number, (tape, later, reverse) in differentiated_scans(trace).items():
        steps = trace.scans[number].steps
        for step in range(steps):
            table = StepTable(trace, tape, later, reverse, step)
            cleared = {
                tape.tape.row(s, tap)
                for s in range(step, steps)
                for tap in set(tape.tape.writes) - set(tape.tape.reads)
            }
            rows = [row for row in range(len(table.traced)) if row not in cleared]
            pair = table.traced[rows], table.gradient_before[rows]
            if not np.allclose(*pair, rtol=1e-13, atol=1e-300):
                yield tape.name, step


@pytest.mark.parametrize("name", gallery.loops)
def test_routing_equals_the_trace(name):
    assert [difference for order in (1, 2) for difference in differing(trace_of(name, order))] == []


def test_a_trace_with_another_rule_differs():
    """Steps 0 to 2 of five read a value that a later step reads again: the rule adds nothing."""
    broken = lab.break_rule(gallery.loops["gap"], "never-accumulate", 1).broken
    assert [*differing(broken)] == [("x", 0), ("x", 1), ("x", 2)]


@pytest.mark.parametrize(("name", "order", "cost"), [("square", 2, "last"), ("gap", 1, "sum")])
def test_text_twins(name, order, cost):
    trace = gallery.loops[name].trace(order=order, cost=cost)
    assert_twin(f"transposed-{name}", visual.transposed(trace, step=3 - order))
