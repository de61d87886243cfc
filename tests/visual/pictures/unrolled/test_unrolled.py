"""The unrolled graph of several loops, nonlinear costs, high orders, and accidental zeros."""

from dataclasses import replace

import numpy as np
import pytensor.tensor as pt
import pytest
from graphs import scan
from pictures import arrows, boxes
from strange_loops import trace_of

import lab
import visual
from lab.loops import gallery
from visual.layout.canvas import GapMark
from visual.pictures.unrolled.graph import Unrolling
from visual.scene.theme import Role

x0 = pt.dscalar("x0")


def test_a_loop_has_edges_from_the_loop_that_it_reads():
    """Step t of the second loop reads the value that step t of the first loop computes."""
    first = scan(lambda v: pt.sin(v) * 2, outputs_info=[x0], n_steps=4)
    second = scan(lambda s, v: s * v + pt.cos(v), outputs_info=[x0], sequences=[first])
    graph = Unrolling(lab.trace(lab.derivative(second[-1], x0).values, {x0: 0.5}))
    pairs = [(graph.nodes[a], graph.nodes[b]) for a, b in graph.edges]
    steps = [(a.step, b.step) for a, b in pairs if (a.lane.scan, b.lane.scan) == (0, 1)]
    assert sorted(steps) == [(t, t) for t in range(4)]
    roles = {(node.lane.scan, node.role) for node in graph.nodes}
    assert not {(0, Role.SEED), (1, Role.RESULT)} & roles


def test_a_nonlinear_cost_needs_the_last_state():
    xs = scan(lambda v: v**2, outputs_info=[x0], n_steps=3)
    costs = xs[-1], (xs**2).sum()
    traces = (lab.trace(lab.derivative(cost, x0).values, {x0: 0.5}) for cost in costs)
    linear, square = ({n.name: n.faded for n in Unrolling(trace).nodes} for trace in traces)
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
    def drawn(at):
        graph = Unrolling(gallery.loops[name].trace(2, at=at, **options))
        pairs = [(graph.nodes[a].name, graph.nodes[b].name) for a, b in graph.edges]
        return pairs, [node.faded for node in graph.nodes]

    assert drawn(values) == drawn({})


def test_all_hidden_columns_have_a_mark():
    """The columns of u₀ to u₁₁ follow the columns of x₀, x₁, and x₂."""
    state, u = lab.State("x", [0.1, 0.2, 0.3], taps=(-1, -3)), lab.Sequence("u", np.ones(12))
    loop = lab.Loop(lambda x, u: x[0] * u + pt.tanh(x[1]), (state,), (u,))
    scene = visual.draw(loop, "unrolled", cost="sum", width=360)
    marks = {(s.x, int(s.content[1:])) for s in scene.walk() if isinstance(s, GapMark)}
    shown = {box.x for box in boxes(scene) if box.role is not Role.PANEL}
    assert sum(hidden for _, hidden in marks) + len(shown) == 3 + 12


def perturbed(loop, order, name, index, change=1e-6):
    """Return the last derivative after a change of a state in the middle of the run."""

    def step(**values):
        state = loop.step(**{k: v for k, v in values.items() if k not in ("bump", "here")})
        return state + pt.switch(pt.eq(values["here"], index - 1), values["bump"], 0.0)

    bumped = replace(
        loop,
        step=step,
        sequences=(*loop.sequences, lab.Sequence("here", np.arange(loop.steps))),
        parameters=(*loop.parameters, lab.Parameter("bump", change)),
    )
    return bumped.trace(order).outputs[-1]


@pytest.mark.parametrize(("name", "order"), [("square", 1), ("square", 2), ("logistic", 1)])
def test_faded_states_change_nothing(name, order):
    """A state is faded if, and only if, a change of it does not change the derivative."""
    loop = gallery.loops[name]
    state, nodes = loop.states[0].name, Unrolling(loop.trace(order)).nodes
    faded = {n.index: n.faded for n in nodes if n.variable == state and n.lane.scan == 0}
    still = perturbed(loop, order, state, 1, 0.0)
    for index in range(1, loop.steps + 1):
        assert (perturbed(loop, order, state, index) != still) != faded[index], index


def bent_arrows(scene):
    return [arrow for arrow in arrows(scene) if len(arrow.points) > 2]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_gradients_that_feed_each_other_are_neighbors(order):
    """All arrows of coupled are straight at all orders, but not in a picture of Scans 1 and 4."""
    scene = visual.draw(gallery.loops["coupled"], "unrolled", order=order)
    assert bent_arrows(scene) == []
    assert len([a for a in arrows(scene) if len({x for x, _ in a.points}) > 1]) == 2 * 4 * 3
    assert bent_arrows(visual.unrolled(trace_of("coupled", 2), scans=(1, 4)))


def test_a_loop_of_no_steps_and_no_states_has_an_empty_picture():
    n, u = pt.iscalar("n"), pt.dvector("u")
    squares = scan(lambda u: u * u, sequences=[u], n_steps=n)
    assert not visual.unrolled(lab.trace(squares.sum(), {u: [1.0, 2.0], n: 0})).shapes
