"""In JupyterLab: a lesson by keyboard and mouse, a shared workbench, and a kernel restart."""

import re

import jupytext
import pytest
from in_browser.chromium import pytestmark  # noqa: F401 (marks)
from in_browser.jupyter_lab import notebook, run_cell
from sites import ROOT

LESSON = jupytext.read(ROOT / "notebooks" / "01_loop.md")
QUESTION = re.compile(r'visual\.Question\(\s*"(?P<question>.*?)",\s*"(?P<answer>.*?)",')
BENCH = "import visual\nbench = visual.Workbench(order=2)\nbench"
TAPS = ("t−4", "t−3", "t−2", "t−1")
RESTING = 250  # milliseconds until the page reports a constant moment to the kernel
COPIES = ("visual.Workbench(bench.link)", "exec(bench.python)\nbench")


@pytest.fixture
def open_notebook(browser, jupyter):
    """A function that opens a notebook in a new page, and reports errors of the page."""
    opened = []

    def open_page(name, content):
        size = {"width": 1300, "height": 1500}
        opened.append(jupyter.open(browser, name, content, viewport=size))
        return opened[-1][0]

    yield open_page
    for page, errors in opened:
        page.close()
        assert errors == []


def test_a_lesson_runs_by_keyboard_and_its_question_is_answered_by_mouse(open_notebook):
    page = open_notebook("lesson", LESSON)
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


def test_a_link_and_copied_python_restore_a_workbench_and_a_restart_is_reported(open_notebook):
    page = open_notebook("copies", notebook(BENCH, *COPIES))
    run_cell(page, 0)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    benches = [cells.nth(number).locator(".scantape-bench") for number in range(3)]
    first = benches[0]
    first.get_by_role("checkbox", name="t−2").check()
    first.locator(".scantape-panel > summary").click()
    first.get_by_label("rule of the pullback").select_option("swap two taps")
    first.get_by_text("With the faulty rule").wait_for()
    first.locator(".scantape-machine").get_by_label("moment").press("End")
    chosen = choices(first)
    assert chosen[0] == "square"
    assert chosen[2:4] == (["2"], ["t−2", "t−1"])
    page.evaluate(f"new Promise((done) => setTimeout(done, {2 * RESTING}))")
    for number in (1, 2):
        run_cell(page, number)
        assert choices(benches[number]) == chosen

    page.get_by_role("button", name="Restart the kernel", exact=True).click()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    page.get_by_text("| Restarting").or_(page.get_by_text("| Unknown")).first.wait_for()
    page.get_by_text("| Idle").wait_for()
    first.get_by_role("button", name="order 1", exact=True).click()
    first.get_by_text("no kernel: run the cell again").wait_for()
    assert first.get_attribute("aria-busy") == "false"
    assert choices(first) == chosen
    run_cell(page, 0)
    first.get_by_text("no kernel: run the cell again").wait_for(state="detached")
    first.get_by_role("button", name="order 1", exact=True).click()
    first.locator("[aria-pressed=true]", has_text="1").wait_for()
