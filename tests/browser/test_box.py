"""All widgets in one box in JupyterLab, controlled by the user and by Python."""

import pytest
from in_browser.chromium import pytestmark  # noqa: F401 (marks)
from in_browser.jupyter_lab import notebook, run_cell

BOX = """import ipywidgets, visual
from lab import gallery
trace = gallery.loops["square"].trace()
machine, bench = visual.machine(trace), visual.Workbench(view="tapes")
scans = visual.Question("How many Scans?", 2, "The loop, and its gradient.")
series = visual.Exercises.of(trace, ("taps", "preserved"))
DONE = {series.tasks[0].question: {"tries": 0, "points": 0, "done": True}}
label = ipywidgets.Label()
scans.observe(lambda change: setattr(label, "value", f"points: {change.new}"), "points")
ipywidgets.VBox([label, machine, bench, scans, series, scans])"""
PYTHON = "bench.order = 2; machine.moment = 3; series.progress = DONE"
COUNT = "from ipywidgets.widgets.widget import _instances; len(_instances)"


@pytest.fixture(scope="module")
def page(browser, jupyter):
    size = {"width": 1280, "height": 900}
    page, errors = jupyter.open(browser, "box", notebook(BOX, PYTHON, COUNT), viewport=size)
    yield page
    page.close()
    assert errors == []


def test_widgets_in_a_box_follow_the_user_and_python(page):
    run_cell(page, 0)
    page.locator(".scantape-bench svg").wait_for()
    for selector, count in ((".exercise", 4), (".scantape-bench", 1)):
        assert page.locator(selector).count() == count
    # Python observes an answer, and the second view of the question shows it.
    first, again = (page.locator(".exercise").nth(place) for place in (0, 3))
    first.locator("input").fill("3")
    first.get_by_role("button", name="Check").click()
    first.locator("input").fill("2")
    first.get_by_role("button", name="Check").click()
    page.get_by_text("points: 1").wait_for()
    assert first.locator(".verdict").inner_text() == "Right. The loop, and its gradient."
    again.get_by_text("for 1 of 2 points: 2.").wait_for()
    # All views follow Python.
    run_cell(page, 1)
    bench = page.locator(".scantape-bench")
    bench.locator("svg text", has_text="4 · ∇C′ through 1").first.wait_for()
    page.locator(".scantape-machine[data-moment='3']").wait_for()
    page.locator(".exercise").nth(1).get_by_text("for 0 of 2 points").wait_for()
    assert page.evaluate("location.hash") == ""
    assert page.get_by_text("1 of 2 answered.").is_visible()


def test_a_new_box_replaces_the_widgets_of_the_old_one(page):
    counts = []
    for place in (4, 6):
        run_cell(page, 0)
        page.locator(".scantape-bench svg").wait_for()
        run_cell(page, 2)
        page.locator(f"text=/^\\[{place}\\]:$/").first.wait_for()
        output = page.locator(".jp-CodeCell").nth(2).locator(".jp-OutputArea-output")
        counts.append(output.inner_text())
    # ipywidgets keeps a label with its layout and style, and a box with its layout.
    assert int(counts[1]) - int(counts[0]) == 5
