"""The workbench, a box with all widgets, and a lesson work in JupyterLab by mouse and keyboard.

One notebook contains the workbench and the box, because JupyterLab needs seconds to load a page.
"""

import re
from pathlib import Path
from xml.etree import ElementTree

import jupytext
import pytest
from in_browser.chromium import pytestmark, violations  # noqa: F401 (marks)
from in_browser.jupyter_lab import TIMEOUT, run_cell
from playwright.sync_api import expect
from sites import ROOT

import lab
from lab.loops import gallery
from visual.drawing.draw import draw
from visual.scene.theme import DARK, LIGHT

NOTEBOOK = jupytext.read(Path(__file__).with_name("notebook.md"))
SOURCES = [cell.source for cell in NOTEBOOK.cells]
OPENING, STATE, SECOND, USABLE, KERNEL, COPY, BOX, PYTHON, BUFFERS, HOLD, SET = SOURCES
SIZE = {"width": 1700, "height": 1600}  # all controls are visible
TEXTS = ".picture svg text"
SVG = "{http://www.w3.org/2000/svg}"
expect.set_options(timeout=1000 * TIMEOUT)


def tapes(loop="square", **options):
    return draw(gallery.loops[loop], "tapes", **options)


class Notebook:
    """A notebook in JupyterLab, and the workbench in its first cell."""

    def __init__(self, page):
        self.page = page
        self.cells = page.locator(".jp-Notebook .jp-CodeCell")
        self.bench = self.bench_in(OPENING)

    def bench_in(self, source):
        """Return the workbench in the output of a cell."""
        return self.cells.nth(SOURCES.index(source)).locator(".scantape-bench")

    def run(self, source):
        """Run a cell, wait for its end, and return the cell."""
        cell = self.cells.nth(SOURCES.index(source))
        before = cell.locator(".jp-InputPrompt").inner_text()
        run_cell(self.page, SOURCES.index(source))
        prompt = cell.locator(".jp-InputPrompt", has_text=re.compile(r"\d"), has_not_text=before)
        prompt.wait_for()
        return cell

    def shows(self, picture, source=OPENING):
        """Wait until the workbench of a cell shows only this picture."""
        root = ElementTree.fromstring(picture.svg())
        texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
        expect(self.bench_in(source).locator(TEXTS)).to_have_text(texts)

    def choose(self, label, value):
        """Type a value into a control, and press Enter."""
        control = self.bench.get_by_role("spinbutton", name=label, exact=True)
        control.fill(value)
        control.press("Enter")

    def order(self, number):
        """Choose an order by its button."""
        self.bench.get_by_role("button", name=f"order {number}", exact=True).click()

    def select(self, loop):
        self.bench.get_by_role("combobox", name="loop", exact=True).select_option(loop)

    def tab(self, name):
        return self.bench.get_by_role("tab", name=name)

    def begin(self, loop="square", order=1):
        """Show the tapes of a loop's derivative. Tests can run in any order and leave any state."""
        self.select(loop)
        self.tab("tapes").click()
        self.order(order)
        self.shows(tapes(loop, order=order))  # with the taps of the declaration

    def machine(self):
        """Select the tab of the machine, and return the machine."""
        self.tab("machine").click()
        machine = self.bench.locator(".scantape-machine")
        machine.wait_for()
        return machine


@pytest.fixture(scope="module")
def shared(browser, jupyter):
    page, errors = jupyter.open(browser, "bench", NOTEBOOK, viewport=SIZE)
    shared = Notebook(page)
    shared.run(OPENING)
    shared.bench.wait_for()
    shared.bench.locator(".scantape-panel > summary").click()
    yield shared
    page.close()
    assert errors == []


@pytest.fixture
def opened(shared):
    """Return the shared notebook with the tapes of the gradient of square in its workbench."""
    shared.begin()
    return shared


def test_loop_order_and_taps_select_the_picture(opened):
    form = opened.bench
    opened.begin(order=2)
    opened.select("coupled")
    opened.shows(tapes("coupled", order=2))
    form.get_by_label("differentiate wrt").select_option("birth")
    opened.shows(tapes("coupled", order=2, wrt="birth"))
    opened.select("square")
    opened.tab("tapes").click()
    opened.shows(tapes(order=2))
    form.get_by_role("checkbox", name="t−2").check()
    opened.shows(tapes(order=2, taps={"x": (-2, -1)}))
    opened.order(1)
    opened.shows(tapes(taps={"x": (-2, -1)}))
    assert "state: 1 {'x': (-2, -1)}" in opened.run(STATE).inner_text()


SPACE = """bench => {  // above the picture, and next to it
    const [all, picture] = [bench, bench.querySelector('.picture')]
        .map(part => part.getBoundingClientRect());
    return [picture.top - all.top, all.width - picture.width];
}"""


def test_a_folded_panel_leaves_the_full_width_to_the_picture(opened):
    """If the panel is folded, the picture begins near the top and has the full width."""
    panel = opened.bench.locator(".scantape-panel")
    panel.locator("summary").first.click()
    above, left = opened.bench.evaluate(SPACE)
    assert above <= 150
    assert left < 1
    opened.select("your own …")
    control = opened.bench.get_by_label("loop", exact=True)
    assert control.inner_text().startswith("loop\nyour own …\n")
    step = opened.bench.get_by_role("textbox", name="step", exact=True)
    step.fill("x.y")
    step.press("Tab")
    expect(opened.bench.get_by_role("alert").get_by_text("x.y")).to_be_visible()
    assert step.input_value() == "x.y"
    opened.bench.get_by_label("differentiate wrt").wait_for()
    assert opened.bench.evaluate(SPACE)[1] > 200
    opened.begin()


def test_a_light_picture_and_the_machine_have_the_colors_of_a_dark_page(opened):
    fills = """() => [...document.querySelectorAll('.picture svg rect:not([fill=none])')]
        .map(box => getComputedStyle(box).fill)"""
    for theme in (DARK, LIGHT):
        is_light = str(theme is LIGHT).lower()
        opened.page.evaluate("is => { document.body.dataset.jpThemeLight = is; }", is_light)
        root = ElementTree.fromstring(tapes().themed(theme.name).svg())
        drawn = [box.get("fill") for box in root.iter(f"{SVG}rect")]
        # A browser writes a color as decimal numbers.
        ground, *boxes = (f"rgb{(*bytes.fromhex(f[1:]),)}" for f in drawn if f != "none")
        assert opened.page.evaluate(fills) == ["none", *boxes]
        if theme is DARK:
            color = "machine => getComputedStyle(machine).backgroundColor"
            assert opened.machine().evaluate(color) == ground
            opened.begin()


def test_an_invalid_value_shows_a_message_and_the_old_picture(opened):
    before = opened.bench.locator(TEXTS).all_text_contents()
    steps = opened.bench.get_by_role("spinbutton", name="steps", exact=True)
    opened.choose("steps", "0")
    message = opened.bench.get_by_text("steps = 0: expected an integer, 1 to 10000.")
    message.wait_for()
    assert steps.get_attribute("aria-describedby") == message.get_attribute("id")
    assert opened.bench.locator(TEXTS).all_text_contents() == before
    opened.choose("steps", "4")
    message.wait_for(state="hidden")


def test_keys_move_the_machine_and_delete_no_cell(opened):
    machine, cells = opened.machine(), opened.cells.count()
    machine.get_by_label("speed").select_option(index=3)
    machine.get_by_label("moment").focus()
    for key, moment in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)):
        opened.page.keyboard.press(key)
        opened.bench.locator(f".scantape-machine[data-moment='{moment}']").wait_for()
    opened.page.keyboard.type("ddxxab")
    opened.bench.get_by_role("checkbox", name="−3").focus()
    opened.page.keyboard.type("dd")
    assert opened.cells.count() == cells


def test_python_shows_and_hides_the_positions_in_buffers(opened):
    buffers = opened.machine().locator(".legend input")
    for is_shown in (True, False):
        opened.run(BUFFERS)
        expect(buffers).to_be_checked(checked=is_shown)
    buffers.check()
    source = opened.bench.locator(".scantape-save pre")
    expect(source).to_contain_text("contributor=True")
    opened.bench.get_by_role("button", name="undo").click()
    expect(source).not_to_contain_text("contributor=True")
    expect(buffers).not_to_be_checked()


@pytest.fixture
def sized(opened):
    """Yield a function that sets the size of the window, and folds the panel or list of files."""
    folds = {
        "panel": opened.bench.locator(".scantape-panel > summary"),
        "files": opened.page.locator(".jp-SideBar [title^='File Browser']").first,
    }
    folded = []

    def size(width, height, *fold):
        for name in fold:
            folds[name].click()
        folded.extend(fold)
        opened.page.set_viewport_size({"width": width, "height": height})

    yield size
    opened.page.set_viewport_size(SIZE)
    for name in reversed(folded):
        folds[name].click()


REST = """(part, frames) => new Promise((done) => {  // until a notebook no longer scrolls
    let top, same = 0;
    const look = () => {
        const now = part.getBoundingClientRect().top;
        [same, top] = [now === top ? same + 1 : 0, now];
        same < frames ? requestAnimationFrame(look) : done();
    };
    look();
})"""


@pytest.mark.parametrize("size", [(1280, 800), (390, 800)])
def test_a_step_of_the_machine_is_visible_with_its_sentence(opened, sized, size):
    opened.begin(order=2)
    machine = opened.machine()
    sized(*size, "panel", "files")
    for name in ("undo", "redo"):
        assert opened.bench.get_by_role("button", name=name).is_visible()
    opened.bench.scroll_into_view_if_needed()
    opened.bench.evaluate(REST, 60)
    for moment in (6, 12, 16):
        target = machine.evaluate(
            """({ machine }, moment) => {
            machine.go(moment);
            return machine.data.events[moment - 1].groups.at(-1).parts.at(-1).target; }""",
            moment,
        )
        opened.bench.evaluate(REST, 15)
        cell = machine.locator(f"[data-cell='{target}']").bounding_box()
        sentence = machine.locator(".scantape-sentence").bounding_box()
        assert 60 <= cell["y"] <= sentence["y"] - cell["height"]
        assert sentence["y"] + sentence["height"] <= size[1]


def test_the_menu_of_files_covers_the_options(opened, sized):
    sized(1280, 800, "panel")
    opened.bench.locator(".scantape-save > summary").click()
    opened.bench.get_by_role("button", name="copy as Python").click()  # nothing covers it
    opened.page.keyboard.press("Escape")


def test_on_a_phone_the_picture_begins_in_the_upper_part(opened, sized):
    sized(360, 780, "files")
    opened.bench.locator(".scantape-fold:not([open])").wait_for()
    above, _ = opened.bench.evaluate(SPACE)
    assert above <= 0.4 * 780 - 100  # JupyterLab's own bars
    opened.bench.locator(".scantape-fold > summary").click()
    assert opened.bench.get_by_role("combobox", name="loop", exact=True).is_visible()


def test_a_scan_is_opened_by_its_card(opened):
    opened.begin(order=2)
    chosen = opened.bench.locator("[role=tab][aria-selected=true]")
    chosen.press("ArrowRight")
    opened.bench.locator("[role=tab]:focus").press("ArrowLeft")
    assert chosen.evaluate("tab => tab.matches(':focus') && tab.tabIndex === 0")
    assert opened.bench.locator(".scantape-hint").inner_text() == "click a Scan to open it"
    assert opened.bench.locator(".scantape-equation").inner_text() == "x[t] = x[t−1]²"
    opened.bench.locator("[data-cell='scan:2']").click()
    opened.shows(tapes(order=2, scan=2))
    opened.bench.locator("[data-cell='scan:1']").press("Enter")
    opened.shows(tapes(order=2, scan=1))


def test_a_click_counts_although_the_controls_change_meanwhile(opened):
    opened.bench.get_by_role("button", name="order 2", exact=True).hover()
    opened.page.mouse.down()
    opened.tab("unrolled").evaluate("tab => tab.click()")
    opened.shows(draw(gallery.loops["square"], "unrolled"))
    opened.page.mouse.up()
    opened.shows(draw(gallery.loops["square"], "unrolled", order=2))


def test_a_picture_can_fill_the_screen(opened):
    opened.bench.get_by_label("more views").select_option("stepgraph")
    opened.shows(draw(gallery.loops["square"], "stepgraph"))
    small = opened.bench.locator(".picture svg").bounding_box()["width"]
    opened.bench.locator(".picture").focus()
    opened.page.keyboard.press("f")
    opened.page.wait_for_function("document.fullscreenElement?.matches('.scantape-stage')")
    assert opened.bench.locator(".picture svg").bounding_box()["width"] > 1.3 * small
    opened.bench.get_by_role("button", name="leave").click()
    opened.page.wait_for_function("!document.fullscreenElement")
    assert not opened.bench.get_by_role("button", name="leave").is_visible()


def saved(opened, name):
    """Save a file with a button of the menu; return the name and the content of the file."""
    opened.bench.locator(".scantape-save > summary").click()
    with opened.page.expect_download() as download:
        opened.bench.get_by_role("button", name=name).click()
    assert not opened.bench.get_by_role("button", name="SVG").is_visible()  # the menu is closed
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_a_picture_is_saved(opened):
    for name, start in (("SVG", b"<svg"), ("PDF", b"%PDF")):
        file, content = saved(opened, name)
        assert opened.bench.locator(".scantape-hint").inner_text().startswith(f"saved as {file}, ")
        assert content.startswith(start)


def test_a_machine_is_saved_at_the_moment_of_the_page(opened):
    machine = opened.machine()
    for moment in (5, 9):
        assert f"moment {moment} of 9:".encode() in saved(opened, "SVG")[1]
        machine.get_by_label("moment").press("End")


def test_the_last_value_of_a_dragged_slider_is_shown(opened):
    """If changes arrive faster than pictures, the last change is shown."""
    opened.bench.get_by_role("checkbox", name="t−2").check()
    opened.shows(tapes(taps={"x": (-2, -1)}))
    slider = opened.bench.get_by_role("slider", name="x₀", exact=True)
    pictures = """bench => { window.pictures = 0; new MutationObserver(() => window.pictures++)
        .observe(bench.querySelector('.picture'), {childList: true}); }"""
    opened.bench.evaluate(pictures)
    drag = """slider => { for (let i = 0; i <= 40; i++) {
        slider.value = 0.5 + i / 100; slider.dispatchEvent(new Event('input')); } }"""
    slider.evaluate(drag)
    taps, at = {"x": (-2, -1)}, {"x": (0.9, 0.95)}
    opened.shows(tapes(taps=taps, at=at))
    assert slider.input_value() == "0.9"
    assert opened.page.evaluate("window.pictures") < 10


def test_cancel_and_the_next_change_stop_a_slow_change(opened):
    opened.begin("rnn", 2)
    opened.order(6)
    opened.bench.get_by_role("button", name="cancel").click()
    expect(opened.bench).to_have_attribute("aria-busy", "false")
    opened.bench.locator("[aria-pressed=true]", has_text="2").wait_for()
    opened.shows(tapes("rnn", order=2))
    opened.order(6)
    expect(opened.bench).to_have_attribute("aria-busy", "true")
    assert opened.bench.get_by_text("working …").is_visible()
    assert "42" in opened.run(USABLE).inner_text()
    opened.order(1)
    opened.shows(tapes("rnn"))
    expect(opened.bench).to_have_attribute("aria-busy", "false")
    assert opened.bench.get_by_text("working").count() == 0
    assert "orders: [1] no work is left" in opened.run(KERNEL).inner_text()


RECORD = """machine => { window.seen = []; new MutationObserver(() => window.seen.push(
    machine.querySelector("[data-cell='0'] .number").textContent))
        .observe(machine, {childList: true, subtree: true}); }"""


def test_a_machine_drawn_ahead_is_shown_before_the_answer_unless_a_value_changed(opened, jupyter):
    opened.begin(order=2)
    machine, python = opened.machine(), opened.bench.locator(".scantape-save pre")
    expect(python).not_to_contain_text("view=")
    results, slider = machine.locator(".more"), machine.get_by_label("moment")
    cases = ((HOLD, 3, 3360 * 0.95**13, "order=2"), (SET, 2, 240 * 0.8**14, "order=3"))
    for source, order, last, before in cases:
        for earlier in (USABLE, KERNEL):  # until all pictures are drawn ahead
            opened.run(earlier)
        cell = opened.cells.nth(SOURCES.index(source))
        run_cell(opened.page, SOURCES.index(source))
        expect(cell.locator(".jp-OutputArea-output")).to_have_text("held")
        machine.evaluate(RECORD)
        opened.order(order)
        expect(opened.bench).to_have_attribute("aria-busy", "true")
        expect(python).to_contain_text(before)  # no answer yet
        expect(opened.bench.get_by_role("button", name="undo")).to_be_enabled()
        if source == HOLD:
            slider.press("End")
            expect(results).to_contain_text(f"{last:.4g}")
            drawn = machine.locator("svg").element_handle()
        (jupyter.folder / "go").touch()
        expect(python).to_contain_text(f"order={order}")
        assert drawn.evaluate("svg => svg.isConnected") == (source == HOLD)
        slider.press("End")
        expect(results).to_contain_text(f"{last:.4g}")
    assert {*opened.page.evaluate("window.seen")} == {"0.8"}


def test_a_faulty_rule_can_be_selected_and_reset(opened):
    rule = opened.bench.get_by_label("rule of the pullback")
    rule.select_option("accumulate at overwritten taps")
    machine = opened.bench.locator(".scantape-machine")
    machine.get_by_text("With the faulty rule, C‴ is 3 times its value").wait_for()
    below = machine.locator(".legend").bounding_box()["y"]
    boxes = [mark.bounding_box() for mark in machine.locator(".marks .mark").all()]
    assert [box["y"] + box["height"] <= below + 0.5 for box in boxes] == [True, True]
    faded = machine.locator("svg .faded .number")  # JupyterLab has styles for short class names
    assert faded.count() > 4
    fonts = faded.evaluate_all("texts => texts.map(text => getComputedStyle(text).fontFamily)")
    assert {font.split(",")[0] for font in fonts} == {'"DejaVu Sans"'}
    sentence = machine.locator(".scantape-sentence").bounding_box()
    table = machine.locator("table").bounding_box()
    assert sentence["x"] + sentence["width"] <= table["x"]
    assert sentence["width"] > 400
    opened.bench.get_by_text(lab.BROKEN["accumulate-overwritten"].change).wait_for()
    assert opened.bench.get_by_role("tab", selected=True).inner_text() == "faulty rule"
    # The first wrong number, after 4 steps, a fill and 4 steps, and a fill and step 0 of Scan 3.
    assert machine.locator(".counter").inner_text().startswith("11 / ")
    rule.select_option("swap two taps")
    machine.get_by_text("With the faulty rule, C′ is 0.1349 times its value").wait_for()
    opened.tab("tapes").click()
    opened.shows(tapes())
    assert rule.input_value() == "correct"


def test_a_choice_is_undone_by_a_button_and_by_a_key(opened):
    opened.begin(order=2)
    opened.bench.get_by_role("button", name="undo").click()
    opened.shows(tapes())
    opened.bench.get_by_role("button", name="redo").click()
    opened.shows(tapes(order=2))
    assert opened.bench.get_by_role("button", name="redo").is_disabled()
    opened.tab("tapes").press("Control+z")
    opened.shows(tapes())


def test_two_workbenches_in_a_notebook_and_one_in_a_cell_that_runs_again(opened):
    for _ in range(3):
        opened.run(OPENING)
    opened.shows(tapes(order=2))
    assert opened.bench.count() == 1
    opened.run(SECOND)
    before = opened.bench.locator(TEXTS).all_text_contents()
    opened.bench_in(SECOND).get_by_role("button", name="order 0", exact=True).click()
    opened.shows(tapes("gap", order=0), SECOND)
    assert opened.bench.locator(TEXTS).all_text_contents() == before


def test_axe_finds_no_violation(opened):
    assert violations(opened.page, context=".scantape-bench") == []


TAPS = ("t−4", "t−3", "t−2", "t−1")
REPORT_DELAY = 250  # milliseconds after which the page reports an unchanged moment to the kernel


def choices(bench):
    """Return the state of a workbench: loop, rule, order, taps, and moment."""
    bench.locator(".scantape-machine").wait_for()
    return (
        bench.get_by_role("combobox", name="loop", exact=True).input_value(),
        bench.get_by_label("rule of the pullback").input_value(),
        bench.locator("[aria-pressed=true]").all_inner_texts(),
        [name for name in TAPS if bench.get_by_role("checkbox", name=name).is_checked()],
        bench.locator(".scantape-machine").get_attribute("data-moment"),
    )


def test_a_link_restores_a_workbench_and_a_restart_is_reported(opened):
    opened.begin(order=2)
    first, page = opened.bench, opened.page
    opened.machine()
    first.locator(".scantape-panel").evaluate("panel => { panel.open = true; }")
    opened.choose("steps", "2")
    first.get_by_role("checkbox", name="t−2").check()
    first.get_by_label("rule of the pullback").select_option("swap two taps")
    first.get_by_text("With the faulty rule").wait_for()
    first.locator(".scantape-machine").get_by_label("moment").press("End")
    chosen = choices(first)
    assert chosen[0] == "square"
    assert chosen[2:4] == (["2"], ["t−2", "t−1"])
    page.evaluate(f"new Promise((done) => setTimeout(done, {2 * REPORT_DELAY}))")
    opened.run(COPY)
    assert choices(opened.bench_in(COPY)) == chosen

    page.get_by_role("button", name="Restart the kernel", exact=True).click()
    with page.expect_response(re.compile("/restart")):  # later, the page shows another status
        page.locator(".jp-Dialog .jp-mod-accept").click()
    page.get_by_text("| Idle").wait_for()
    first.get_by_role("button", name="order 1", exact=True).click()
    first.get_by_text("no kernel: run the cell again").wait_for()
    assert first.get_attribute("aria-busy") == "false"
    assert choices(first) == chosen
    run_cell(page, 0)  # the new kernel counts from 1 again
    first.get_by_text("no kernel: run the cell again").wait_for(state="detached")
    opened.order(1)
    first.locator("[aria-pressed=true]", has_text="1").wait_for()


def test_widgets_in_a_box_follow_the_user_and_python(opened):
    box = opened.run(BOX)
    box.locator(".scantape-bench svg").wait_for()
    expect(box.locator(".exercise")).to_have_count(4)
    expect(box.locator(".scantape-bench")).to_have_count(1)
    # Python observes an answer, and the second view of the question shows it.
    first, second = (box.locator(".exercise").nth(number) for number in (0, 3))
    for answer in ("3", "2"):
        first.locator("input").fill(answer)
        first.get_by_role("button", name="Check").click()
    box.get_by_text("points: 1").wait_for()
    assert first.locator(".verdict").inner_text() == "Right. The loop, and its gradient."
    second.get_by_text("for 1 of 2 points: 2.").wait_for()
    # All views follow Python.
    opened.run(PYTHON)
    box.locator(".scantape-bench svg text", has_text="4 · ∇C′ through 1").first.wait_for()
    box.locator(".scantape-machine[data-moment='3']").wait_for()
    box.locator(".exercise").nth(1).get_by_text("for 0 of 2 points").wait_for()
    assert opened.page.evaluate("location.hash") == ""
    assert box.get_by_text("1 of 2 answered.").is_visible()


LESSON = jupytext.read(ROOT / "notebooks" / "01_loop.md")
QUESTION = re.compile(r'visual\.Question\(\s*"(?P<question>.*?)",\s*"(?P<answer>.*?)",')


def test_a_lesson_runs_by_keyboard_and_its_question_is_answered_by_mouse(browser, jupyter):
    size = {"width": 1300, "height": 1500}
    page, errors = jupyter.open(browser, "lesson", LESSON, viewport=size)
    cells = [cell for cell in LESSON.cells if cell.cell_type == "code"]
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Escape")
    for _ in LESSON.cells:
        page.keyboard.press("Shift+Enter")
    page.locator(".jp-OutputPrompt", has_text=f"[{len(cells)}]:").wait_for()
    assert page.locator("[data-mime-type$=stderr]").count() == 0
    (question, answer), *_ = QUESTION.findall("\n".join(cell.source for cell in cells))
    exercise = page.locator(".exercise").filter(has_text=question)
    wrong = exercise.locator("label").filter(has_not_text=answer).first
    for choice, verdict in ((wrong, "Wrong. "), (exercise.get_by_label(answer), "Right. ")):
        choice.click()
        exercise.locator("[type=submit]").click()
        assert exercise.locator(".verdict").text_content().startswith(verdict)
    page.close()
    assert errors == []
