"""Compare loops of the gallery with three finite differences, and with PyTensor's values."""

import re

import numpy as np
import pytest
from fuzzing.outcomes import error_test
from graphs import squares
from oracles import check_orders

import lab
from lab.errors import GradientError
from lab.loops import gallery

NAMES, SQUARE = list(gallery.loops), gallery.loops["square"]
DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


# For the cost "last", test only the derivative wrt the first variable. `k` are integers, `v` has
# an undefined derivative, and `rng` is a generator.
CASES = [
    (name, wrt, cost)
    for name, loop in gallery.loops.items()
    for number, wrt in enumerate(n for n in loop.variables if n not in ("k", "v", "rng"))
    for cost in (("last", "sum") if number == 0 else ("sum",))
]


@pytest.mark.parametrize(("name", "wrt", "cost"), CASES)
def test_three_orders_against_finite_differences(name, wrt, cost):
    loop = gallery.loops[name]
    if name == "newton":  # a converged value has derivative 0
        loop = loop.with_values({"x": 3.0, "a": 40.0})
    graph = loop.build()
    x = graph.inputs[wrt]
    given = {**graph.given, x: np.array(graph.given[x], dtype=float)}
    check_orders(loop.cost(graph, cost), x, given, order=3, tolerance=2e-7)


test_errors = error_test(
    (lambda: gallery.loops["undefined"].derivative(1, "v"), GradientError, "jv"),
    (lambda: SQUARE.derivative().verify(SQUARE.trace(order=2)), "3 values .* graph has 2"),
    (lambda: SQUARE.derivative().verify(gallery.loops["logistic"].trace()), "on r and x"),
)


def test_traces_are_frozen_and_compared_by_value():
    trace = SQUARE.trace(order=1)
    assert trace == SQUARE.trace(order=1) != SQUARE.trace(order=1, at={"x": 0.9})
    with pytest.raises(ValueError, match="read-only"):
        trace.scans[1].tapes[0].writes[0].values[0] = 3.0


@pytest.mark.parametrize("cost", ["last", "sum", [0.5, 0, -1], [0, -2.0, 3]])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "newton"])
def test_the_name_of_the_cost_is_its_formula(name, cost):
    loop = gallery.loops[name].with_steps(3)
    trace = loop.trace(order=0, cost=cost)
    (tape, *_) = (t for t in trace.scans[0].buffers if t.name == next(iter(loop.states)).name)
    values = dict(zip(tape.axis.index.tolist(), tape.final, strict=True))
    formula = trace.names[0].removeprefix("C = ").replace(" − ", " + -").replace("−", "-")
    total = 0.0
    for term in formula.split(" + "):
        factor, _, value = term.rpartition("·")
        sign = -1 if value.startswith("-") else 1
        index = re.search("([₀-₉]+)", value)[1].translate(DIGITS)
        total += sign * float(factor or 1) * np.sum(values[int(index)])
    np.testing.assert_allclose(trace.outputs[0], total, rtol=1e-12)


def test_a_loop_that_may_stop_early_has_a_last_value_without_an_index():
    assert gallery.loops["newton"].trace(order=0).names == ("C = the last x",)
    weighted = gallery.loops["newton"].derivative(0, cost=range(20))
    assert weighted.names == ("C = a weighted sum of x₁, x₂, …",)  # the cost does not read x₀
    assert gallery.loops["newton"].trace(order=0, cost="sum").names == ("C = x₁ + x₂ + …",)


def test_the_cost_of_a_user_has_its_own_name():
    x0, xs = squares()
    cost = xs[-1]
    assert lab.derivative(cost, x0).names == ("C = your cost", "C′ = dC/dx0")
    cost.name = "loss"
    assert lab.derivative(cost, x0).names == ("C = loss", "C′ = dC/dx0")
