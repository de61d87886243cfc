"""Compare the recorded origins of a result with the rows whose change alters the result."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from graphs import scan

import lab
from lab import gallery

SOME = np.array([2, 0])
EXACT = (  # operations that move or add rows
    lambda v: pt.concatenate([pt.zeros(2), v[::-1]])[1:4],
    lambda v: pt.inc_subtensor(pt.zeros(6)[1::2], v[1:4])[2:],
    lambda v: pt.second(pt.zeros(3), v[1]) + pt.alloc(v[2:].sum(), 3),
    lambda v: v[:, None].reshape((4, 1))[1:],
)
MIXED = (  # for other operations, all rows of an input count
    lambda v: pt.basic.split(v, [1, 3], n_splits=2)[1],
    lambda v: v[SOME],
    lambda v: v[np.array([[0, 1], [1, 2]])],
    lambda v: pt.inc_subtensor(pt.zeros(5)[SOME], v[:2])[:2],
    lambda v: (v[1:] * v[:-1])[:2],
    lambda v: pt.stack([v, 2 * v], axis=1)[1],
)


@pytest.mark.parametrize("function", [*EXACT, *MIXED])
def test_a_result_originates_from_the_rows_that_change_it(function):
    rows, start = pt.dvector("v"), pt.dscalar("x0")
    compute, values = pytensor.function([rows], function(rows), "FAST_COMPILE"), np.full(4, 0.5)
    changed = {row: np.where(np.arange(4) == row, 2, values) for row in range(4)}
    expected = {n + 1 for n in changed if np.any(compute(changed[n]) != compute(values))}
    result = function(scan(lambda x: x * x, outputs_info=[start], n_steps=4))
    origins = lab.trace(result, given={start: 0.9}).origins[-1].values()
    found = {origin.row for each in origins for origin in each}
    assert found == expected if function in EXACT else found >= expected


@pytest.mark.parametrize(("order", "cost"), [(1, "C"), (2, "C′")])
def test_only_gradients_of_initial_values_are_results_of_a_loop_that_stops_early(order, cost):
    """`newton` stops early; its last step computes the gradient of x₀, which is the output."""
    events = lab.events(gallery.loops["newton"].trace(order=order))
    last = [slot for slot in events.slots if slot.scan == len(events.trace.scans) - 1]
    roles = {slot.quantity: events.role(slot, len(events)).value for slot in last}
    assert {f"d{cost}/dx{n}" for n in "₂₃₄"} == {q for q, role in roles.items() if role == "done"}
    assert roles[f"d{cost}/dx₀"] == "overwritten"
