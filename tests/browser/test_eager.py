"""Eager tapes in a real browser: texts stay in their boxes and apart."""

import pytest
from eager.programs import FOLDED, RUNS, STRANGE, TWO_TAPES
from in_browser.chromium import measured, pytestmark  # noqa: F401 (marks)

import visual
from lab.loops.gallery import loops


@pytest.mark.parametrize("name", [*RUNS, *FOLDED])
def test_no_text_leaves_its_box(page, name):
    run = {**RUNS, **FOLDED}[name]()
    assert measured(page, visual.eager(run).svg()) == []


@pytest.mark.parametrize(("name", "wrt"), TWO_TAPES)
def test_two_tapes(page, name, wrt):
    assert measured(page, visual.two_tapes(loops[name], wrt=wrt).svg()) == []


@pytest.mark.parametrize("name", STRANGE)
def test_strange_loops(page, name):
    assert measured(page, visual.two_tapes(STRANGE[name]).svg()) == []


def test_the_measure_sees_a_text_that_is_too_long(page):
    svg = visual.eager(RUNS["square"]()).svg()
    assert measured(page, svg.replace(">0.9025<", ">0.9025123456789012345678901234<"))
