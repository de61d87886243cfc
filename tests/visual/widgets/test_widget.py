"""Widgets in boxes and links, their garbage collection, and their outputs without a kernel."""

import gc
import weakref

import ipywidgets
import pytest
from ipywidgets.widgets.widget import _instances
from traitlets import TraitError

import lab
import visual
from lab.loops import gallery

SQUARE = gallery.loops["square"]
TRACE = SQUARE.trace()
WIDGETS = {
    "Machine": lambda: visual.machine(TRACE),
    "Workbench": lambda: visual.Workbench(view="taps"),
    "Exercise": lambda: visual.Exercise(TRACE, "taps"),
    "Exercises": lambda: visual.Exercises.of(TRACE, ("taps", "preserved")),
    "Question": lambda: visual.Question(
        "How many Scans?", 2, "The loop, and its gradient.", shown=visual.tapes(TRACE)
    ),
}


def test_all_widgets_go_into_boxes():
    before = len(_instances)
    widgets = [make() for make in WIDGETS.values()]
    assert len(_instances) == before  # no page has received a widget
    box = ipywidgets.VBox([*widgets, ipywidgets.Tab(widgets[:2])])
    ipywidgets.AppLayout(header=widgets[0], center=box, footer=widgets[-1])
    assert all(_instances[widget.model_id] is widget for widget in widgets)
    children = box.get_state("children")["children"]
    assert children[:5] == [f"IPY_MODEL_{widget.model_id}" for widget in widgets]
    # Without a kernel, a box has only its text.
    text = box._repr_mimebundle_()["text/plain"]
    assert all(f"<{name}: " in repr(box) for name in WIDGETS)
    assert "object at 0x" not in text


def test_answers_can_be_observed():
    exercises, bar, changes = WIDGETS["Exercises"](), ipywidgets.IntProgress(), []
    ipywidgets.dlink((exercises, "points"), (bar, "value"))
    exercises.observe(changes.append, "answered")
    first, second = (task.question for task in exercises.tasks)
    page = {first: {"tries": 1, "points": 1, "done": True}}
    exercises.set_state({"progress": page})  # as a page reports it
    exercises.set_state({"progress": {**page, second: {"tries": 0, "points": 2, "done": True}}})
    assert (bar.value, [change.new for change in changes]) == (3, [1, 2])
    with pytest.raises(TraitError, match="points"):
        exercises.points = 2


def test_a_widget_without_a_page_is_collected():
    gc.freeze()  # collect only the objects of this test
    references = [weakref.ref(WIDGETS["Question"]()) for _ in range(3)]
    gc.collect()
    assert [reference() for reference in references] == [None] * 3
    widget = WIDGETS["Question"]()
    last = weakref.ref(widget), widget.model_id
    del widget
    gc.collect()
    assert last[0]() is _instances[last[1]]
    _instances[last[1]].close()
    assert last[1] not in _instances


def test_a_workbench_without_a_kernel_is_a_page_or_its_picture():
    loop = lab.Loop(lambda u: u * u, sequences=(lab.Sequence("u", [1.0, 2.0]),), outputs=("y",))
    bench = visual.Workbench(loop, view="machine")  # no other taps: a small page
    assert "data-lesson" in bench._repr_mimebundle_()["text/html"]
    assert "data-machine" in visual.Workbench(order=2)._repr_mimebundle_()["text/html"]
    for_contributors = visual.Workbench(order=2, contributor=True)
    assert '"contributor":true' in for_contributors._repr_mimebundle_()["text/html"]
    assert "Scan{grad_of_square" in for_contributors.picture.text()
    fixed = visual.Workbench(order=2, view="tapes")._repr_mimebundle_()["text/html"]
    assert "data-lesson" not in fixed
    assert visual.Workbench(order=2, view="tapes").picture.svg() in fixed
