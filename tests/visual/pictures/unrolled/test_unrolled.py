"""The unrolled graph of several loops, nonlinear costs, high orders, and zeros by chance."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from strange_loops import trace_of

import lab
import visual
from lab.loops import gallery
from visual.pictures.unrolled.graph import unrolling
from visual.scene.shapes import Arrow
from visual.scene.theme import Role

x0 = pt.dscalar("x0")


def scan(step, start, steps, **options):
    if steps is not None:
        options["n_steps"] = steps
    return pytensor.scan(step, outputs_info=[start], return_updates=False, **options)


def traced(cost, order=1, at=0.5):
    return lab.trace(lab.derivative(cost, x0, order).values, {x0: at})


def named(graph):
    return [(graph.nodes[a].label, graph.nodes[b].label) for a, b in graph.edges]


def two_loops():
    """v is doubled and summed; the second loop reads all values of the first."""
    first = scan(lambda v: pt.sin(v) * 2, x0, 4)
    return first, scan(lambda s, v: s * v + pt.cos(v), x0, None, sequences=[first])


def test_a_loop_has_edges_from_the_loop_that_it_reads():
    trace = traced(two_loops()[1][-1])
    graph = unrolling(trace)
    first = [n for n, node in enumerate(graph.nodes) if node.lane.scan == 0]
    second = [n for n, node in enumerate(graph.nodes) if node.lane.scan == 1]
    read = [(a, b) for a, b in graph.edges if a in first and b in second]
    # step t of the second loop reads the value that step t of the first computes
    steps = [(graph.nodes[a].step, graph.nodes[b].step) for a, b in read]
    assert sorted(steps) == [(t, t) for t in range(4)]
    assert not any(graph.nodes[n].role is Role.SEED for n in first)
    assert not any(graph.nodes[n].role is Role.RESULT for n in second)


def test_a_nonlinear_cost_needs_the_last_state():
    xs = scan(lambda v: v**2, x0, 3)
    linear = {n.label: n.faded for n in unrolling(traced(xs[-1])).nodes}
    square = {n.label: n.faded for n in unrolling(traced((xs**2).sum())).nodes}
    last = max(label for label in linear if not label.startswith(("d", "∂")))
    assert linear[last]
    assert not square[last]


@pytest.mark.parametrize(
    ("name", "options", "values"),
    [
        ("square", {}, {"x": 0.0}),
        ("square", {"cost": "sum"}, {"x": 0.0}),
        ("logistic", {"wrt": "r"}, {"x": 0.5}),
        ("sequence", {"wrt": "y"}, {"y": [1.0, 0.0, 1.0, 1.0]}),
    ],
)
def test_zeros_by_chance_change_no_edge(name, options, values):
    loop = gallery.loops[name]
    usual = unrolling(loop.trace(2, **options))
    chance = unrolling(loop.trace(2, at=values, **options))
    assert named(chance) == named(usual)
    assert [n.faded for n in chance.nodes] == [n.faded for n in usual.nodes]


def perturbed(loop, order, name, index, change=1e-6):
    """Return the last derivative after a change of a state in the middle of the run."""

    def step(**values):
        state = loop.step(**{k: v for k, v in values.items() if k not in ("bump", "here")})
        return state + pt.switch(pt.eq(values["here"], index - 1), values["bump"], 0.0)

    steps = loop.steps
    moved = lab.Loop(
        step,
        states=loop.states,
        sequences=(*loop.sequences, lab.Sequence("here", np.arange(steps))),
        parameters=(*loop.parameters, lab.Parameter("bump", change)),
        n_steps=steps,
    )
    return moved.trace(order, at={"bump": change}).outputs[-1]


@pytest.mark.parametrize(("name", "order"), [("square", 1), ("square", 2), ("logistic", 1)])
def test_faded_states_change_nothing(name, order):
    """A state is faded if, and only if, a change of it does not change the derivative."""
    loop = gallery.loops[name]
    state = loop.states[0].name
    nodes = {n.label: n for n in unrolling(loop.trace(order)).nodes}
    still = perturbed(loop, order, state, 1, 0.0)
    for index in range(1, loop.steps + 1):
        node = next(
            n
            for n in nodes.values()
            if n.variable == state and n.index == index and n.lane.scan == 0
        )
        moves = abs(perturbed(loop, order, state, index) - still) > 0
        assert moves != node.faded, node.label


# Moments of the run.


def bent(scene):
    return [s for s in scene.walk() if isinstance(s, Arrow) and len(s.points) > 2]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_gradients_that_feed_each_other_are_neighbours(order):
    """All arrows of coupled are straight, and cross at the same places at all orders."""
    scene = visual.draw(gallery.loops["coupled"], "unrolled", order=order)
    assert bent(scene) == []
    across = [s for s in scene.walk() if isinstance(s, Arrow) and len({x for x, _ in s.points}) > 1]
    assert len(across) == 2 * 4 * 3  # four uses in three steps


def test_a_bent_arrow_is_detected():
    assert bent(visual.unrolled(trace_of("coupled", 2), scans=(1, 4)))
