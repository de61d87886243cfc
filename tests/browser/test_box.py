"""All widgets in one box of a real JupyterLab: linked, answered, chosen, from both sides."""

import pytest
from in_browser.chromium import CHROMIUM, pytestmark  # noqa: F401 (marks)
from in_browser.jupyter_lab import jupyter_lab, notebook

BOX = """import ipywidgets, visual
from lab import gallery
trace = gallery.loops["square"].trace()
machine, bench = visual.machine(trace), visual.Workbench(view="tapes")
scans = visual.Question("How many Scans?", 2, "The loop, and its gradient.")
series = visual.Exercises.of(trace, ("taps", "preserved"))
told = ipywidgets.Label()
scans.observe(lambda change: setattr(told, "value", f"points: {change.new}"), "points")
ipywidgets.VBox([told, machine, bench, scans, series, scans])"""
PYTHON = "bench.order = 2; machine.moment = 3; series.skip()"
HELD = "from ipywidgets.widgets.widget import _instances; len(_instances)"


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("box")
    with jupyter_lab(folder, box=notebook(BOX, PYTHON, HELD)) as addresses:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(60_000)
        page.goto(addresses["box"])
        page.get_by_text("| Idle").wait_for()
        yield page
        page.close()


def run(page, cell):
    page.locator(".jp-InputArea-editor").nth(cell).click()
    page.keyboard.press("Control+Enter")


def test_a_box_of_all_is_linked_and_answered(page):
    run(page, 0)
    page.locator(".scantape-bench svg").wait_for()
    for selector, count in ((".exercise", 4), (".scantape-bench", 1)):
        assert page.locator(selector).count() == count
    # An answer is observed in Python, and seen where the question stands once more.
    first, again = (page.locator(".exercise").nth(place) for place in (0, 3))
    first.locator("input").fill("3")
    first.get_by_role("button", name="Check").click()
    first.locator("input").fill("2")
    first.get_by_role("button", name="Check").click()
    page.get_by_text("points: 1").wait_for()
    assert first.locator(".verdict").inner_text() == "Right. The loop, and its gradient."
    again.get_by_text("for 1 of 2 points: 2.").wait_for()
    # What Python chooses is seen in all of them.
    run(page, 1)
    bench = page.locator(".scantape-bench")
    bench.get_by_text("4 · C′ back through 1", exact=True).first.wait_for()
    page.locator(".scantape-machine[data-moment='3']").wait_for()
    page.locator(".exercise").nth(1).get_by_text("for 0 of 2 points").wait_for()
    assert page.evaluate("location.hash") == ""
    assert page.get_by_text("1 of 2 answered.").is_visible()


def test_a_box_that_is_made_again_leaves_nothing_behind(page):
    counts = []
    for place in (4, 6):
        run(page, 0)
        page.locator(".scantape-bench svg").wait_for()
        run(page, 2)
        page.locator(f"text=/^\\[{place}\\]:$/").first.wait_for()
        told = page.locator(".jp-CodeCell").nth(2).locator(".jp-OutputArea-output")
        counts.append(told.inner_text())  # a first cell that took long may have shown its progress
    # A label with its layout and style, and a box with its layout: those are ipywidgets' own.
    assert int(counts[1]) - int(counts[0]) == 5
