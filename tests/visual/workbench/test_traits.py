"""The choices of a workbench as traits: set, observed, linked, and refused."""

import ipywidgets
from strange_loops import trace_of
from workbenches import ask

import visual
from lab.loops import gallery


def test_setting_a_trait_makes_a_choice():
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


def test_a_choice_is_linked_to_a_slider_in_both_directions():
    bench, slider = visual.Workbench(view="tapes"), ipywidgets.IntSlider(value=1, min=0, max=3)
    ipywidgets.link((slider, "value"), (bench, "order"))
    slider.value = 2
    assert bench.state.order == 2
    bench.set(order=3)
    assert slider.value == 3
    box = ipywidgets.VBox([slider, bench, visual.machine(trace_of("square"))])
    assert bench in box.children


def test_the_place_in_a_run_is_kept_in_another_view_that_has_it():
    bench, square = visual.Workbench(order=2, view="tapes"), gallery.loops["square"]
    assert ask(bench, ["options", "scan"], 2) == ""
    assert bench.svg == visual.draw(square, order=2, scan=2).svg()
    bench.set(view="stepgraph")
    assert bench.svg == visual.draw(square, "stepgraph", order=2, scan=2).svg()
    bench.set(view="taps")
    assert not bench.state.options
