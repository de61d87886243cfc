"""Factors on the arrows of an unrolled gradient: local derivatives, and their products.

The oracles are new implementations of three steps, and their finite differences.
"""

import re

import numpy as np
import pytensor.tensor as pt
import pytest
from pictures import arrows, boxes, meets
from strange_loops import trace_of

import lab
import visual
from lab.equations.events.events import events
from lab.loops import gallery
from visual.pictures.unrolled.factors import factor_along
from visual.pictures.unrolled.graph import Unrolling
from visual.scene.shapes import Text

DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
NAME = re.compile(r"∂([a-z]+)(\d+)/∂([a-z]+)(\d+)")


def gap(v, t):
    return {"x": np.sin(v["x", t - 3]) + v["x", t - 1] * v["x", t - 3]}


def coupled(v, t):
    prey, hunters = v["prey", t - 1], v["hunters", t - 1]
    caught = prey * hunters
    return {
        "prey": prey + 0.1 * (1.1 * prey - caught),
        "hunters": hunters + 0.1 * (caught - hunters),
    }


def logistic(v, t):
    return {"x": 3.7 * v["x", t - 1] * (1 - v["x", t - 1])}


def branches(v, t):
    x = v["x", t - 1]
    return {"x": 0.5 * x + (3 * x if x > 0.2 else x**2)}


LOOPS = {  # the step, the initial values, and the numbers of steps and of factors in a step
    "gap": (gap, {("x", 0): 0.3, ("x", 1): 0.6, ("x", 2): 0.9}, 5, 2),
    "coupled": (coupled, {("prey", 0): 1.5, ("hunters", 0): 0.8}, 3, 4),
    "logistic": (logistic, {("x", 0): 0.2}, 6, 1),
    "branches": (branches, {("x", 0): 0.1}, 3, 1),
}


def run(name):
    """Return all values of a loop by name and index."""
    step, given, steps, _ = LOOPS[name]
    values, first = dict(given), max(i for _, i in given)
    for t in range(first + 1, first + 1 + steps):
        values |= {(variable, t): value for variable, value in step(values, t).items()}
    return values


def local(name, written, read, change=1e-6):
    """Return the derivative of a written value wrt a read value: central differences."""
    step, values = LOOPS[name][0], run(name)
    sides = (step({**values, read: values[read] + h}, written[1]) for h in (change, -change))
    upper, lower = (state[written[0]] for state in sides)
    return (upper - lower) / (2 * change)


def last_gradient(trace):
    """Yield the factor and the target node of each edge of the last gradient."""
    graph = Unrolling(trace, (trace.scans[-1].parent, len(trace.scans) - 1))
    for edge in graph.edges:
        if factor := factor_along(events(trace), graph, edge):
            yield factor, graph.nodes[edge[1]]


def factors_of(name, order):
    """Return the unrounded factors on the arrows of a gradient, by pairs of quantities."""
    factors = [factor for factor, _ in last_gradient(trace_of(name, order))]
    matches = [(NAME.fullmatch(f.name.translate(DIGITS)), f.number) for f in factors]
    return {((m[1], int(m[2])), (m[3], int(m[4]))): number for m, number in matches if m}


def differing(factors, name):
    """Return the pairs with a factor that differs from the derivative of the step."""
    return [pair for pair, number in factors.items() if abs(number - local(name, *pair)) > 1e-7]


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", LOOPS)
def test_factors_are_derivatives_of_the_step(name, order):
    actual, (*_, steps, factors) = factors_of(name, order), LOOPS[name]
    assert len(actual) == factors * steps
    assert differing(actual, name) == []
    pair = next(iter(actual))
    for wrong in (actual[pair] * 1.001, -actual[pair]):  # a wrong factor is detected
        assert differing({**actual, pair: wrong}, name) == [pair]


def test_a_label_on_an_arrow_contains_all_terms_of_a_formula():
    """Another term reads the same slot: a label with the factor 0.5 alone is wrong."""
    assert not re.search(r"(?m)^ *·0\.5$", visual.tapes(trace_of("branches")).text())
    loop = lab.Loop(lambda x: 0.5 * x + pt.cumsum(x), (lab.State("x", [0.1, 0.2]),), n_steps=2)
    factors = [factor for factor, _ in last_gradient(loop.trace(1)) if factor.name]
    assert {(f.formula.count("▢"), f.number) for f in factors} == {(2, None)}


def test_a_parameter_can_have_the_name_1():
    given = {"states": (lab.State("x", 0.5),), "parameters": (lab.Parameter("1", 0.7),)}
    loop = lab.Loop(lambda **v: v["x"] * v["1"], n_steps=2, **given)
    assert "<title>∂x₁/∂x₀ = 1 = 0.7</title>" in visual.draw(loop, "unrolled").svg()


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", gallery.loops)
def test_every_factor_is_shown_and_touches_no_box(name, order):
    trace = trace_of(name, order)
    scene = visual.unrolled(trace)
    lines = [s for s in scene.walk() if isinstance(s, Text) and re.match("∂.* = ", s.title)]
    for text in lines:
        low, ends = text.y + 1, (text.left, text.left + text.width)
        edges = [((ends[0], y), (ends[1], y)) for y in (text.y - 8, low)]
        assert not any(meets(e, cell, 0.0) for e in edges for cell in boxes(scene)), text.content
    shown, factors = {text.title for text in lines}, [*last_gradient(trace)]
    titles = [f.title for f, node in factors if f.name and not (node.lasting or node.faded)]
    assert {*titles} <= shown
    assert len(titles) <= len(arrows(scene))
