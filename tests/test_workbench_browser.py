"""The workbench in a real JupyterLab: by mouse, by keyboard, and after its cell was run again."""

import re
from xml.etree import ElementTree

import pytest
from in_browser import CHROMIUM
from jupyter_lab import jupyter_lab, notebook

import visual
from lab import gallery

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: JupyterLab is not opened"),
]
OPENING = "import visual\nbench = visual.Workbench(order=2)\nbench"
SECOND = "import lab\nvisual.Workbench(lab.gallery.loops['gap'])"
STATE = "print('state:', bench.state.order, dict(bench.state.taps))"
OPEN_ONES = (
    "from ipywidgets.widgets.widget import _instances\n"
    "print('open:', sorted(type(widget).__name__ for widget in _instances.values()))"
)
TEXTS = "svg => [...svg.querySelectorAll('text')].map(text => text.textContent)"


def texts(picture):
    """The texts of a picture, in the order in which they stand in its file."""
    root = ElementTree.fromstring(picture.svg())
    return ["".join(e.itertext()) for e in root.iter("{http://www.w3.org/2000/svg}text")]


class Notebook:
    """A notebook in JupyterLab, and the workbench in its first cell."""

    def __init__(self, page, address):
        self.page, self.wrong = page, []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.goto(address)
        page.get_by_text("| Idle").wait_for(timeout=60_000)
        self.cells = page.locator(".jp-Notebook .jp-CodeCell")
        self.bench = page.locator(".scantape-bench")

    def run(self, number):
        self.cells.nth(number).locator(".jp-InputArea-editor").click()
        self.page.keyboard.press("Control+Enter")

    def shows(self, picture, bench=None):
        """Wait until the workbench shows just this picture."""
        wanted, found = texts(picture), None
        bench = bench or self.bench
        for _ in range(200):
            svg = bench.locator(".picture svg")
            found = svg.evaluate(TEXTS) if svg.count() == 1 else None
            if found == wanted:
                return
            self.page.wait_for_timeout(25)
        assert found == wanted

    def step(self):
        return int(self.bench.locator("[data-current-step]").get_attribute("data-current-step"))


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    made = notebook(OPENING, OPEN_ONES, STATE, SECOND)
    folder = tmp_path_factory.mktemp("lab")
    with jupyter_lab(folder, bench=made) as addresses:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        opened = Notebook(page, addresses["bench"])
        opened.run(0)
        opened.bench.wait_for(timeout=60_000)
        yield opened
        page.close()
        assert opened.wrong == []


def test_loop_order_and_taps_become_the_right_picture(opened):
    form = opened.bench
    opened.shows(visual.draw(gallery.loops["square"], "unrolled", order=2))
    form.get_by_role("combobox", name="loop", exact=True).select_option("coupled")
    opened.shows(visual.draw(gallery.loops["coupled"], "unrolled", order=2))
    form.get_by_label("differentiate by").select_option("birth")
    opened.shows(visual.draw(gallery.loops["coupled"], "unrolled", order=2, wrt="birth"))
    form.get_by_role("combobox", name="loop", exact=True).select_option("square")
    form.get_by_role("tab", name="tapes").click()
    opened.shows(visual.draw(gallery.loops["square"], "tapes", order=2))
    form.get_by_role("checkbox", name="−2").check()
    opened.shows(visual.draw(gallery.loops["square"], "tapes", order=2, taps={"x": (-2, -1)}))
    form.get_by_role("spinbutton", name="order").fill("1")
    form.get_by_role("spinbutton", name="order").press("Enter")
    opened.shows(visual.draw(gallery.loops["square"], "tapes", taps={"x": (-2, -1)}))
    opened.run(2)
    opened.page.get_by_text("state: 1 {'x': (-2, -1)}").wait_for()


def test_a_bad_value_is_told_beside_its_control_and_keeps_the_picture(opened):
    before = opened.bench.locator(".picture svg").evaluate(TEXTS)
    order = opened.bench.get_by_role("spinbutton", name="order")
    order.fill("12")
    order.press("Enter")
    told = opened.bench.get_by_text("order = 12: expected a whole number, 0 to 6.")
    told.wait_for()
    assert opened.bench.get_by_role("spinbutton", name="order").get_attribute(
        "aria-describedby"
    ) == told.get_attribute("id")
    assert opened.bench.locator(".picture svg").evaluate(TEXTS) == before
    order.fill("1")
    order.press("Enter")
    told.wait_for(state="hidden")


def test_keys_move_the_step_and_delete_no_cell(opened):
    cells, step = opened.cells.count(), opened.step()
    opened.bench.get_by_label("step", exact=True).focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("ArrowRight")
    assert opened.step() == step + 2
    opened.page.keyboard.press("ArrowLeft")
    assert opened.step() == step + 1
    for key in "ddxxab":
        opened.page.keyboard.press(key)
    opened.bench.get_by_role("checkbox", name="−3").focus()
    for key in "dd":
        opened.page.keyboard.press(key)
    assert opened.cells.count() == cells


def test_a_picture_is_saved(opened, tmp_path):
    for name, start in (("SVG", b"<svg"), ("PDF", b"%PDF")):
        with opened.page.expect_download() as waiting:
            opened.bench.get_by_role("button", name=name).click()
        waiting.value.save_as(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)


def test_a_slider_that_is_dragged_stays_where_it_is_and_wins(opened):
    """Of changes that come faster than pictures, the last one counts."""
    opened.bench.locator(".scantape-values summary").click()
    slider = opened.bench.get_by_role("slider", name="x[0]", exact=True)
    pictures = """bench => { window.pictures = 0; new MutationObserver(() => window.pictures++)
        .observe(bench.querySelector('.scantape-walked'), {childList: true}); }"""
    opened.bench.evaluate(pictures)
    drag = """slider => { for (let i = 0; i <= 40; i++) {
        slider.value = 0.5 + i / 100; slider.dispatchEvent(new Event('input')); } }"""
    slider.evaluate(drag)
    taps, at = {"x": (-2, -1)}, {"x": (0.9, 0.95)}
    opened.shows(visual.draw(gallery.loops["square"], "tapes", taps=taps, at=at))
    assert slider.input_value() == "0.9"
    assert opened.page.evaluate("window.pictures") < 10


def test_a_slow_change_says_that_it_is_being_worked_on(opened):
    opened.bench.get_by_role("combobox", name="loop", exact=True).select_option("rnn")
    opened.bench.get_by_role("spinbutton", name="order").fill("4")
    opened.bench.get_by_role("spinbutton", name="order").press("Enter")
    opened.page.locator('.scantape-bench[aria-busy="true"]').wait_for()
    opened.page.locator('.scantape-bench[aria-busy="false"]').wait_for()
    assert opened.bench.get_by_text("working").count() == 0


def test_a_cell_that_is_run_again_keeps_one_stepper(opened):
    for _ in range(3):
        opened.run(0)
        opened.cells.nth(0).locator(".jp-InputPrompt", has_text=re.compile(r"\d")).wait_for()
    opened.shows(visual.draw(gallery.loops["square"], "unrolled", order=2))
    assert opened.bench.count() == 1
    assert opened.bench.locator(".scantape-bar").count() == 1
    step = opened.step()
    opened.bench.get_by_label("step", exact=True).focus()
    opened.page.keyboard.press("ArrowRight")
    assert opened.step() == step + 1
    opened.run(1)
    opened.page.get_by_text("open: ['Layout', 'Workbench']", exact=True).wait_for()


def test_two_workbenches_in_a_notebook(opened):
    opened.run(3)
    second = opened.page.locator(".scantape-bench").nth(1)
    second.wait_for()
    before = opened.page.locator(".scantape-bench .picture svg").nth(0).evaluate(TEXTS)
    step = opened.page.locator("[data-current-step]").nth(0).get_attribute("data-current-step")
    second.get_by_role("spinbutton", name="order").fill("0")
    second.get_by_role("spinbutton", name="order").press("Enter")
    opened.shows(visual.draw(gallery.loops["gap"], "unrolled", order=0), second)
    second.get_by_label("step", exact=True).focus()
    opened.page.keyboard.press("ArrowRight")
    assert opened.page.locator(".scantape-bench .picture svg").nth(0).evaluate(TEXTS) == before
    now = opened.page.locator("[data-current-step]")
    assert now.nth(0).get_attribute("data-current-step") == step
    assert now.nth(1).get_attribute("data-current-step") == "1"


def test_axe_finds_nothing(opened):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(opened.page, context=".scantape-bench")
    assert [(v["id"], v["nodes"][0]["html"]) for v in found.response["violations"]] == []
