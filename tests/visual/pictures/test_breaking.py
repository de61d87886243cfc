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
from lab.notation import number_text
from lab.reports.breaking.breakage import Effect
from lab.reports.breaking.rules import BROKEN
from visual.pictures.breaking import breaking
from visual.scene.shapes import Text
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
    cells = wrong_cells(drawn("square"))
    assert cells.pop("order 3:broken rule") == ["20171.5", "≠ true"]
    (texts,) = cells.values()
    assert texts == ["2", "1"]  # the first wrong one, and the old one, struck through
    assert wrong_cells(drawn("unseen")) == {}
    assert wrong_cells(drawn("refused")) == {}


@pytest.mark.parametrize("rule", BROKEN)
@pytest.mark.parametrize("name", ["coupled", "rnn"])
def test_no_cell_of_the_true_row_is_marked(name, rule):
    breakage = truth_of(name, 2, "sum").broken_by(rule)
    marked = wrong_cells(breaking(breakage))
    assert not [key for key in marked if key.startswith("true rule")]
    if breakage.contrast.parting is not None:
        assert [key for key in marked if key.startswith("broken rule")]
    wrong = [row.order for row in breakage.rows if row.effect is Effect.WRONG]
    found = [key for key in marked if key.startswith("order")]
    assert found == [f"order {order}:broken rule" for order in wrong]


def test_the_sentences_are_those_of_the_comparison():
    breakage = lab.break_rule(SQUARE, "accumulate-overwritten", 3)
    told = " ".join(breaking(breakage).text().split())
    assert "Up to there both rules write the same. The step" in told
    assert "its formula is another one" in told
    assert "wrong: 3 times the true value" in told
    assert f"first to differ, by {number_text(1.0)}" in told
    assert "the step reads other values" in " ".join(drawn("shortened").text().split())


def test_slots_say_what_the_step_that_is_differentiated_does():
    """Of Scan 3, position p at step 0 is dx at tap −p; dx reads 0 and 1, and writes 1."""
    texts = [shape for shape in drawn("square").walk() if isinstance(shape, Text)]
    heads = {shape.content: shape.x for shape in texts if shape.content.startswith(("pos", "dx:"))}
    assert heads["dx: replaced"] == heads["pos −1"]
    assert heads["dx: only read"] == heads["pos 0"]
    assert [shape.content for shape in texts].count("dC/dx₁") == 0  # no formula shown reads it


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
