"""Equal Scans are differentiated once: their number, and unchanged results."""

from contextlib import nullcontext
from math import comb

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor.graph.basic import equal_computations

import lab
from lab import check, gallery
from lab.gradients import derivative as module
from lab.gradients import pullback
from lab.gradients.decisions import PullbackRule
from lab.progress import hide_progress
from lab.scans.node import inner_graph

ORDER = 3
LOOPS = [name for name in gallery.loops if name not in ("newton", "walk", "undefined")]
X0 = 0.95


def made(name, monkeypatch=None, order=ORDER):
    if monkeypatch is not None:
        monkeypatch.setattr(module, "share_derivations", nullcontext)
    return gallery.loops[name].derivative(order)


def compute_the_same(one, other):
    """Whether two steps are the same, by PyTensor's walk along both graphs."""
    (inputs, outputs), (others, other_outputs) = inner_graph(one), inner_graph(other)
    types = [v.type for v in inputs] == [v.type for v in others]
    return one.info == other.info and types and (
        equal_computations(outputs, other_outputs, inputs, others)
    )  # fmt: skip


@pytest.mark.parametrize("order", range(1, 6))
def test_the_square_has_each_of_its_derivatives_as_often_as_pascals_triangle_says(order):
    with hide_progress():  # the number of Scans is intentional
        derived = made("square", order=order)
    counts = {}
    for one in derived.genealogy:
        like = next((op for op in counts if compute_the_same(op, one.node.op)), one.node.op)
        counts[like] = counts.get(like, 0) + 1
    assert sorted(counts.values()) == sorted(comb(order, k) for k in range(order + 1))
    assert derived.different == (1, *range(1, order + 1))


@pytest.mark.parametrize("name", LOOPS)
def test_traces_records_and_names_are_those_without_sharing(name, monkeypatch):
    shared, alone = made(name), made(name, monkeypatch)
    one, other = (lab.trace(derived) for derived in (shared, alone))
    assert one == other  # to the last bit, with all taps, names and formulas
    for one, other in zip(shared.genealogy, alone.genealogy, strict=True):
        assert (one.order, one.through) == (other.order, other.through)
        assert compute_the_same(one.node.op, other.node.op)
        if one.order:
            assert str(one.node.op.derivation) == str(other.node.op.derivation)
    assert len({d.node.op.derivation for d in shared.genealogy}) == len(shared.genealogy)


def test_what_differs_by_what_a_gradient_reaches_is_not_shared(monkeypatch):
    """The first derivative reads e, the second is differentiated from it as well."""

    def step(x, w):
        e = pt.exp(w * x)
        return x - e, e

    state, parameter = lab.State("x", 0.2), lab.Parameter("w", 0.5)
    loop = lab.Loop(step, (state,), (), (parameter,), ("e",), n_steps=3)

    def second(x):
        return float(loop.with_values({"x": x}).trace(1).outputs[1])

    found = loop.trace(order=2).outputs[2]
    check.compare(found, check.finite_differences(second, 0.2), 1e-6)
    monkeypatch.setattr(pullback, "_cache_key", lambda task, classes: task.op)
    with pytest.raises(check.WrongGradientError):
        check.compare(loop.trace(order=2).outputs[2], found, 1e-6)


def test_a_high_order_is_the_closed_form():
    with hide_progress():
        derived = lab.derivative(*_square(), 5)
    found = lab.trace(derived, {derived.wrt: X0}).outputs
    factor, powers = 1.0, []
    for k in range(6):
        powers.append(factor * X0 ** (16 - k))
        factor *= 16 - k
    np.testing.assert_allclose(found, powers, rtol=1e-10)
    assert derived.different == (1, *range(1, 6))


def _square():
    graph = gallery.loops["square"].build()
    return gallery.loops["square"].cost(graph), graph.inputs["x"]


def test_different_rules_are_not_shared():
    cost, wrt = _square()
    true = lab.derivative(cost, wrt, 2)
    broken = lab.derivative(cost, wrt, 2, rule=PullbackRule(accumulates=lambda tape: ()))
    assert broken.different[2] <= true.different[2]
    assert broken.genealogy[-1].node.op.rule is not true.genealogy[-1].node.op.rule
