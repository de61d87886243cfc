"""The output without a kernel: HTML with its script, and plain text."""

import pytest
from strange_loops import trace_of

import lab
import visual
from visual.widgets.widget import in_notebook

TRACE = trace_of("square")
LIVE = "application/vnd.jupyter.widget-view+json"
STILL = ("text/html", "image/svg+xml", "image/png", "text/plain")


class Kernel:
    kernel = parent_header = None


@pytest.fixture
def kernel(monkeypatch):
    pytest.importorskip("IPython")
    monkeypatch.setattr("IPython.get_ipython", Kernel)


@pytest.mark.parametrize(
    "made",
    [
        lambda: visual.machine(TRACE),
        lambda: visual.Workbench(view="tapes"),
        lambda: visual.Exercise(TRACE),
        lambda: visual.Exercises.of(TRACE, ("taps", "preserved")),
        lambda: visual.Question("Which slot?", 1, "It is.", shown=visual.tapes(TRACE)),
    ],
)
def test_a_widget_is_also_a_page_without_a_kernel(kernel, monkeypatch, made):
    shown = made()
    assert set(shown._repr_mimebundle_()) == {LIVE, *STILL}
    monkeypatch.setenv("SCANTAPE_STATIC", "1")
    assert not in_notebook()
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == {*STILL}
    is_still = isinstance(shown, visual.Workbench)  # its view is a picture
    assert is_still != ('<script type="module">' in bundle["text/html"].replace("'", '"'))


def test_a_workbench_without_a_kernel_is_a_page_or_its_picture():
    loop = lab.Loop(lambda u: u * u, sequences=(lab.Sequence("u", [1.0, 2.0]),), outputs=("y",))
    bench = visual.Workbench(loop, view="machine")  # no other taps: a small page
    assert "data-lesson" in bench._repr_mimebundle_()["text/html"]
    assert "data-machine" in visual.Workbench(order=2)._repr_mimebundle_()["text/html"]
    fixed = visual.Workbench(order=2, view="tapes")._repr_mimebundle_()["text/html"]
    assert "data-lesson" not in fixed
    assert visual.Workbench(order=2, view="tapes").picture.svg() in fixed
