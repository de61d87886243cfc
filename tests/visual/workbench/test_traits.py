"""The choices of a workbench as traits: set, observed, linked, and refused."""

import ipywidgets
import pytest
import traitlets
from workbenches import ask

import visual
from lab.loops import gallery


def test_a_trait_that_is_set_is_a_choice():
    bench, seen = visual.Workbench(view="tapes"), []
    bench.observe(lambda change: seen.append((change.name, change.new)), ["order", "loop"])
    bench.order = 2
    assert bench.svg == visual.draw(gallery.loops["square"], order=2).svg()
    bench.loop = "gap"
    assert bench.svg == visual.draw(gallery.loops["gap"], order=2).svg()
    bench.set(order=1)
    assert ask(bench, ["view"], "taps") == ""
    assert seen == [("order", 2), ("loop", "gap"), ("order", 1)]
    assert bench.order == bench.state.order == 1


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("order", -1, "order = -1: expected a whole number"),
        ("view", "tape", "did you mean 'tapes'"),
        ("taps", {"y": (-1,)}, "y"),
        ("loop", "squre", "did you mean 'square'"),
        ("step", 99, "step = 99: the moments of these pictures are 0 to 7"),
    ],
)
def test_what_is_not_possible_changes_nothing(name, value, told):
    bench = visual.Workbench(view="tapes")
    before = bench.state, bench.svg, bench.step, bench.trait_values()["order"]
    with pytest.raises((traitlets.TraitError, ValueError), match=told):
        setattr(bench, name, value)
    assert (bench.state, bench.svg, bench.step, bench.order) == before


def test_it_is_linked_to_a_slider_both_ways():
    bench, slider = visual.Workbench(view="tapes"), ipywidgets.IntSlider(value=1, min=0, max=3)
    ipywidgets.link((slider, "value"), (bench, "order"))
    slider.value = 2
    assert bench.state.order == 2
    bench.set(order=3)
    assert slider.value == 3
    box = ipywidgets.VBox([slider, bench, visual.Stepper(bench.picture)])
    assert bench in box.children


def test_who_walks_is_followed():
    bench = visual.Workbench(order=2, view="tapes")
    square = gallery.loops["square"]
    assert bench.step == -1
    bench.step = 5
    assert bench.svg == visual.draw(square, order=2, scan=2).svg()
    bench.set(view="stepgraph")
    assert bench.svg == visual.draw(square, "stepgraph", order=2, scan=2, step=1).svg()
    bench.step = 15
    assert bench.svg == visual.draw(square, "stepgraph", order=2, scan=4, step=3).svg()
    bench.set(order=1)  # in which there is no such moment
    assert bench.step == -1
    bench.step = 3
    bench.set(view="taps")  # which shows no moments
    assert bench.step == -1


def test_a_scan_that_is_chosen_is_shown_whole():
    bench = visual.Workbench(order=2, view="tapes")
    bench.step = 15
    assert ask(bench, ["options", "scan"], 2) == ""
    assert bench.step == -1
    assert bench.svg == visual.draw(gallery.loops["square"], order=2, scan=2).svg()
