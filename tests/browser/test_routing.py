"""Routing pictures in a real browser: texts stay in their boxes and apart."""

import pytest
from in_browser.chromium import measured, pytestmark  # noqa: F401 (marks)
from routing_pictures import DRAWN, LARGE
from strange_loops import LOOPS

import lab
import visual
from lab.errors import GraphError
from lab.loops import gallery

EVERY = {**DRAWN, **LARGE}
DEFINED = [name for name in gallery.loops if name != "undefined"]


@pytest.mark.parametrize("name", EVERY)
def test_routing(page, name):
    case = EVERY[name]
    scene = visual.routing(case.name, case.inputs, **case.metadata)
    assert measured(page, scene.svg()) == []


def test_odd_numbers(page):
    odd = [float("nan"), -1.23456e-300, 1e300, 123456789.123]
    scene = visual.routing("where", (odd, odd), condition=[True, False, True, True])
    assert measured(page, scene.svg()) == []
    pair = [complex(1.23456e-100, -1.23456e200)]
    assert measured(page, visual.routing("cat", [pair, pair], dim=0).svg()) == []


@pytest.mark.parametrize("name", [*gallery.loops, "long name", "matrix", "wide vector", "huge"])
def test_transposed(page, name):
    for order in (1, 2):
        trace = {**gallery.loops, **LOOPS}[name].trace(order=order)
        try:
            scene = visual.transposed(trace, step=0)
        except GraphError:
            continue
        assert measured(page, scene.svg()) == []


@pytest.mark.parametrize("name", [*DEFINED, "long name", "five states", "matrix", "huge"])
def test_dot_products(page, name):
    scene = visual.dot_product(lab.dot_product({**gallery.loops, **LOOPS}[name]))
    assert measured(page, scene.svg()) == []
