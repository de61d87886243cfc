"""Step graphs and genealogies in a real browser: texts stay in their boxes and apart."""

import pytest
from in_browser.chromium import measured, pytestmark  # noqa: F401 (marks)
from pictures import drawings
from strange_loops import LOOPS, trace_of

from lab.loops import gallery


@pytest.mark.parametrize("name", [*gallery.loops, *LOOPS])
def test_no_text_leaves_its_box(page, name):
    for order in (1, 2):
        for scene in drawings(trace_of(name, order)):
            assert measured(page, scene.svg()) == [], scene.title


def test_higher_orders(page):
    for order in (3, 4):
        for scene in drawings(gallery.loops["square"].trace(order=order)):
            assert measured(page, scene.svg()) == [], scene.title
