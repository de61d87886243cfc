"""The picture of a comparison: what it says, what it marks, and how it stands in a browser."""

from dataclasses import replace
from functools import cache

import pytest
from broken_rules import following
from graphs import known_mistakes
from in_browser.chromium import CHROMIUM, measured
from pictures import stands_alone, wrong_cells
from strange_loops import HOSTILE, LOOPS
from twins import assert_twin

import lab
from lab.loops import gallery
from visual.pages.comparison import comparison_page
from visual.pictures.comparing import comparing
from visual.scene.theme import THEMES


@cache
def comparison(name):
    if name == "unreversed":
        with following("unreversed-sequences"):
            found = lab.compare(gallery.loops["square"], order=1, cost="sum")
    elif name in gallery.loops:
        found = lab.compare(gallery.loops[name], order=1)
    else:
        found = lab.compare(*getattr(known_mistakes, name)(), order=2)
    return replace(found, version="X")


DRAWN = ("delay_line", "truncated", "unreversed", "rnn")


@pytest.mark.parametrize("name", ["delay_line", "unreversed"])
def test_text_twins(name):
    assert_twin(f"comparing-{name}", comparing(comparison(name)))


def test_what_finite_differences_disagree_with_is_marked():
    found = wrong_cells(comparing(comparison("delay_line")))
    assert found == {"2:y0:PyTensor's": ["0", "≠ ours"]}
    found = wrong_cells(comparing(comparison("unreversed")))
    assert "1:x:PyTensor's" in found
    assert [key for key in found if key.startswith("PyTensor's:")]
    assert not [key for key in found if key.startswith("our pullback:")]
    assert wrong_cells(comparing(comparison("rnn"))) == {}


def test_a_truncated_gradient_is_called_wrong_only_where_frozen_loops_say_so():
    found = wrong_cells(comparing(comparison("truncated")))
    assert [key for key in found if key.startswith(("1:", "2:"))] == ["2:w:PyTensor's"]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ["truncated", "rnn"])
def test_svgs_stand_alone(name, theme):
    assert stands_alone(comparing(comparison(name), theme).svg()) == []


@pytest.mark.parametrize("name", ["hostile name", "nan", "five states", "integers", "float32"])
def test_strange_loops_are_drawn(name):
    found = lab.compare(LOOPS[name])
    assert found.agree
    assert stands_alone(comparing(found).svg()) == []
    page = comparison_page(found)
    assert "<script" not in page
    assert HOSTILE not in page


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: texts are not measured")
def test_no_text_leaves_its_box(page):
    for name in DRAWN:
        assert measured(page, comparing(comparison(name)).svg()) == [], name
