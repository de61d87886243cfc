"""The picture of a broken rule: what it says, what it marks, and how it looks in a browser."""

from dataclasses import replace
from functools import cache

import pytest
from broken_rules import CUT, SQUARE, truth_of
from in_browser.chromium import CHROMIUM, measured
from pictures import stands_alone, wrong_cells
from strange_loops import HOSTILE, LOOPS, WRT
from twins import assert_twin

import lab
from lab.loops import gallery
from lab.reports.breaking.breakage import Effect
from lab.reports.breaking.rules import BROKEN
from visual.pictures.breaking import breaking
from visual.scene.theme import THEMES

DRAWN = {
    "square": (SQUARE, "accumulate-overwritten", 3, {}),
    "gap": (gallery.loops["gap"], "swapped-taps", 2, {"cost": "sum"}),
    "shortened": (SQUARE, "shortened-buffer", 1, {}),
    "rnn": (gallery.loops["rnn"], "unreversed-sequences", 1, {"wrt": "W"}),
    "unseen": (gallery.loops["fibonacci"], "unreversed-sequences", 2, {}),
    "refused": (SQUARE, CUT, 2, {}),
}


@cache
def compared(name):
    loop, rule, order, chosen = DRAWN[name]
    return lab.break_rule(loop, rule, order, **chosen)


def drawn(name, theme="light"):
    return breaking(compared(name), theme)


@pytest.mark.parametrize("name", DRAWN)
def test_text_twins(name):
    assert_twin(f"breaking-{name}", drawn(name))


def test_what_is_wrong_and_only_that_is_marked():
    assert wrong_cells(drawn("square")) == {"order 3:broken rule": ["20171.5", "≠ true"]}
    assert wrong_cells(drawn("unseen")) == {}
    assert wrong_cells(drawn("refused")) == {}


@pytest.mark.parametrize("rule", BROKEN)
@pytest.mark.parametrize("name", ["coupled", "rnn"])
def test_no_cell_of_the_true_row_is_marked(name, rule):
    breakage = truth_of(name, 2, "sum").broken_by(rule)
    marked = wrong_cells(breaking(breakage))
    wrong = [row.order for row in breakage.rows if row.effect is Effect.WRONG]
    assert [*marked] == [f"order {order}:broken rule" for order in wrong]


def test_the_sentences_are_those_of_the_comparison():
    breakage = lab.break_rule(SQUARE, "accumulate-overwritten", 3)
    told = " ".join(breaking(breakage).text().split())
    assert "Up to there both rules write the same. True rule: buf" in told
    assert "wrong: 3 times the true value" in told
    assert "True rule: 1 = 1" in told
    assert "Broken rule: 2 = 1 + 1" in told


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ["square", "rnn", "refused"])
def test_svgs_stand_alone(name, theme):
    written = drawn(name, theme).svg()
    assert stands_alone(written) == []
    assert len(written) < 40_000


@pytest.mark.parametrize("name", [n for n in LOOPS if n != "a thousand steps"])
def test_strange_loops_are_drawn(name):
    scene = breaking(lab.break_rule(LOOPS[name], "swapped-taps", 1, **WRT.get(name, {})))
    assert stands_alone(scene.svg()) == []


def test_a_hostile_rule_and_name_are_harmless():
    rule = replace(CUT, title=HOSTILE, change=HOSTILE, reason=HOSTILE)
    scene = breaking(lab.break_rule(LOOPS["hostile name"], rule, 1))
    assert "<script" not in scene.svg()
    assert stands_alone(scene.svg()) == []


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: texts are not measured")
def test_no_text_leaves_its_box(page):
    strange = ("long name", "hostile name", "nan", "huge", "wide vector", "five states")
    for name in DRAWN:
        assert measured(page, drawn(name).svg()) == [], name
    for name in strange:
        scene = breaking(lab.break_rule(LOOPS[name], "swapped-taps", 1))
        assert measured(page, scene.svg()) == [], name
    for name in ("coupled", "rnn", "window"):
        scene = breaking(truth_of(name, 2, "sum").broken_by("never-accumulate"))
        assert measured(page, scene.svg()) == [], name
    wrong = drawn("square").svg().replace(">20171.5<", ">20171.50000000000000<")
    assert measured(page, wrong)
