"""Widgets go into boxes and are linked; a page is told of them when they are shown, not before."""

import gc
import weakref

import ipywidgets
import pytest
from ipywidgets.widgets.widget import _instances
from traitlets import TraitError

import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.drawing.draw import drawn
from visual.layout.sheet import OFFLINE

SQUARE = gallery.loops["square"]
TRACE = SQUARE.trace()
MADE = {
    "Stepper": lambda: visual.Stepper(visual.tapes(TRACE)),
    "Workbench": lambda: visual.Workbench(view="taps"),
    "Exercise": lambda: visual.Exercise(TRACE, "taps"),
    "Exercises": lambda: visual.Exercises.of(TRACE, ("taps", "number")),
    "Question": lambda: visual.Question("How many Scans?", 2, "The loop, and its gradient."),
    "Atlas": lambda: visual.Atlas(
        ["square", "gap"],
        {"square": [(-1,), (-2, -1)], "gap": [(-3, -1)]},
        [1, 2],
        ["last"],
        ["tapes"],
    ),
}


def test_all_go_into_boxes():
    before = len(_instances)
    widgets = [make() for make in MADE.values()]
    assert len(_instances) == before  # no page is told of any
    box = ipywidgets.VBox([*widgets, ipywidgets.Tab(widgets[:2])])
    ipywidgets.AppLayout(header=widgets[0], center=box, footer=widgets[-1])
    assert all(_instances[widget.model_id] is widget for widget in widgets)
    told = box.get_state("children")["children"]
    assert told[:6] == [f"IPY_MODEL_{widget.model_id}" for widget in widgets]
    # Where no kernel is, a box has its text alone.
    shown = box._repr_mimebundle_()["text/plain"]
    assert all(f"<{name}: " in repr(box) for name in MADE)
    assert "object at 0x" not in shown


def test_they_are_made_anew_by_interact():
    asked = []
    play = ipywidgets.interactive(
        lambda seed: asked.append(visual.Exercise(TRACE, "number", seed)) or asked[-1], seed=(0, 9)
    )
    play.update()
    play.children[0].value = 3
    assert play.result is asked[-1]
    assert play.result.question == visual.Exercise(TRACE, "number", 3).question


def test_what_was_answered_can_be_observed():
    asked, bar, seen = MADE["Exercises"](), ipywidgets.IntProgress(), []
    ipywidgets.dlink((asked, "points"), (bar, "value"))
    asked.observe(seen.append, "answered")
    first, second = (task.question for task in asked.tasks)
    page = {first: {"tries": 1, "points": 1, "done": True}}
    asked.set_state({"progress": page})  # as a page tells it
    asked.set_state({"progress": {**page, second: {"tries": 0, "points": 2, "done": True}}})
    assert (bar.value, [change.new for change in seen]) == (3, [1, 2])
    assert asked.current is None
    with pytest.raises(TraitError, match="points"):
        asked.points = 2


def test_an_atlas_is_linked_both_ways():
    atlas, bench = MADE["Atlas"](), visual.Workbench(view="tapes")
    ipywidgets.link((bench, "order"), (atlas, "order"))
    ipywidgets.link((bench, "loop"), (atlas, "loop"))
    bench.order = 2
    assert atlas.picture.svg() == drawn(OFFLINE, SQUARE, "tapes", order=2).svg()
    chosen = {"loop": "gap", "taps": "x:-3,-1", "order": "1", "cost": "last", "view": "tapes"}
    atlas.set_state({"_chosen": {**chosen, "theme": "dark"}, "step": 5})  # as a page tells it
    assert (bench.order, bench.loop) == (1, "gap")
    assert (atlas.taps, atlas.theme, atlas.step) == ({"x": (-3, -1)}, "dark", 5)
    assert atlas.picture.svg() == visual.draw(gallery.loops["gap"], theme="dark").svg()
    atlas.loop, atlas.taps = "square", (-2, -1)
    told = atlas.get_state("_chosen")["_chosen"]
    assert told == {**chosen, "loop": "square", "taps": "x:-2,-1", "theme": "dark"}
    atlas.theme = None
    assert atlas.picture.theme.name == "light"
    atlas.order = 2
    atlas.set_state({"_chosen": {**told, "order": "2", "theme": None, "scan": "1"}})
    assert atlas.scan == 1
    opened = drawn(OFFLINE, SQUARE, "tapes", order=2, taps={"x": (-2, -1)}, scan=1)
    assert atlas.picture.svg() == opened.svg()
    atlas.scan = 2
    assert atlas.get_state("_chosen")["_chosen"]["scan"] == "2"
    atlas.scan = 9  # which there is not: the usual one is open
    usual = drawn(OFFLINE, SQUARE, "tapes", order=2, taps={"x": (-2, -1)})
    assert atlas.picture.svg() == usual.svg() != opened.svg()
    atlas.scan = None
    assert atlas.picture.svg() == usual.svg()


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("loop", "rnn", "loop = 'rnn': this atlas has square and gap"),
        ("loop", None, "loop = None: this atlas has square and gap"),
        ("taps", (-3,), "taps = .-3,.: this atlas has x:-1 and x:-2,-1"),
        ("taps", {"y": (-1,)}, "y"),
        ("order", 3, "order = 3: this atlas has 1 and 2"),
        ("order", True, "order = True: this atlas has 1 and 2"),
        ("cost", "sum", "cost = 'sum': this atlas has last"),
        ("view", object(), "view = <object .*: this atlas has tapes"),
        ("scan", 0, "should not be less than 1"),
        ("scan", "2", "expected an int"),
        ("theme", "pink", "theme = 'pink': this atlas has light and dark"),
        ("step", 99, "step = 99: the moments of these pictures are 0 to 7"),
    ],
)
def test_what_is_not_offered_changes_nothing(name, value, told):
    atlas = MADE["Atlas"]()
    names = ("loop", "taps", "order", "cost", "view", "theme", "step", "_chosen")
    before = [getattr(atlas, one) for one in names]
    with pytest.raises((TraitError, ArgumentError), match=told):
        setattr(atlas, name, value)
    assert [getattr(atlas, one) for one in names] == before


def test_what_no_page_was_told_of_is_not_kept(monkeypatch):
    monkeypatch.setattr("visual.widgets.rerun._running", lambda: ("cell", "1"))
    kept = [weakref.ref(MADE["Question"]()) for _ in range(3)]
    gc.collect()
    assert [one() for one in kept] == [None] * 3
    shown = MADE["Question"]()
    told = weakref.ref(shown), shown.model_id
    del shown
    gc.collect()
    assert told[0]() is _instances[told[1]]
    monkeypatch.setattr("visual.widgets.rerun._running", lambda: ("cell", "2"))
    MADE["Question"]()
    assert told[1] not in _instances
