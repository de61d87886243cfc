"""In a real browser: no text leaves its box, no two texts overlap, nothing leaves the picture."""

import pytest
from in_browser.chromium import measured, pytestmark  # noqa: F401 (marks)
from strange_loops import LOOPS, WRT

import visual
from lab.loops import gallery
from visual.drawing.catalogue import PICTURES

EVERY = {**gallery.loops, **LOOPS}
OPTIONS = [
    ("unrolled", {"all_direct": True}),
    ("tapes", {"buffer": True}),
    ("tapes", {"contributions": True}),
    ("tapes", {"step": 0}),
    ("rolled", {"scan": 2}),
]
DRAWN = [(name, {}) for name in PICTURES if name != "values"] + OPTIONS  # plots: test_formats


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(("picture", "options"), DRAWN, ids=str)
def test_no_text_leaves_its_box(page, name, picture, options):
    for order in (1, 2):
        drawn = visual.draw(EVERY[name], picture, order=order, **options, **WRT.get(name, {}))
        assert measured(page, drawn.svg()) == []


@pytest.mark.parametrize("width", [360, "85mm"])
@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("name", gallery.loops)
def test_no_text_leaves_its_box_in_a_narrow_picture(page, name, picture, width):
    for order in (1, 2):
        drawn = visual.draw(gallery.loops[name], picture, order=order, width=width)
        assert measured(page, drawn.svg()) == []


@pytest.mark.parametrize("number", range(1, 9))
def test_no_text_leaves_its_box_in_the_figures(page, number):
    assert measured(page, visual.figure(number).svg()) == []


@pytest.mark.parametrize("picture", ["unrolled", "tapes", "ssa", "genealogy", "taps"])
def test_no_text_leaves_its_box_at_order_4(page, picture):
    loop = gallery.loops["square"].with_taps({"x": (-3, -1)}).with_steps(3)
    assert measured(page, visual.draw(loop, picture, order=4).svg()) == []


def test_the_measure_sees_what_is_wrong(page):
    svg = visual.tapes(gallery.loops["square"].trace()).svg()
    assert measured(page, svg.replace(">0.9025<", ">0.9025123456789012<"))
    assert measured(page, svg.replace(">step 0<", "><tspan dx='60'>step 0</tspan><"))
    shifted = svg.replace(
        ">2 · gradient of square: the tape, order 1<", ' dx="900">2 · gradient of square<'
    )
    assert shifted != svg
    assert measured(page, shifted)
