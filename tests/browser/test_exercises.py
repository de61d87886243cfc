"""The page of exercises in Chromium: from file://, with the network cut, by mouse and keyboard."""

import re
from pathlib import Path

import pytest
from in_browser.chromium import CHROMIUM, Opened, measured
from strange_loops import LOOPS

import visual
from lab.loops import gallery
from visual.exercises.answers import Answer, Form, Mistake
from visual.exercises.page import answer_data, source
from visual.exercises.progress import load

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: no page is opened"),
]
TRACE = gallery.loops["square"].trace()


def step_of(question):
    return int(re.search(r"step (\d+)", question).group(1))


@pytest.fixture
def opened(browser, tmp_path):
    exercises = visual.Exercises.of(TRACE)
    with Opened(browser, exercises.save(tmp_path / "x.html")) as opened:
        yield opened
    assert opened.told == []
    assert len(opened.asked) == 1
    assert opened.asked[0].startswith("file:")


def slot(opened, number, position):
    return opened.section(number).locator(f'.shown [aria-label^="position {position}:"]')


def test_a_click_on_a_cell_is_checked_and_explained(opened):
    step = step_of(opened.section(0).locator(".question").text_content())
    slot(opened, 0, step).click()  # the slot that is read there and kept: wrong
    assert opened.verdict(0).startswith("Wrong. ")
    assert "is read, and kept" in opened.verdict(0)
    assert f"the one at {step + 1} is" not in opened.verdict(0)
    assert opened.section(0).locator(".revealed").is_hidden()
    assert opened.score() == "0 of 8 points; 0 of 4 answered."
    slot(opened, 0, step + 1).click()  # by the rule: tap 1 is written
    assert opened.verdict(0).startswith("Right. ")
    assert f"the one at {step + 1} is overwritten" in opened.verdict(0)
    assert opened.section(0).locator(".revealed").is_visible()
    assert opened.score() == "1 of 8 points; 1 of 4 answered."
    slot(opened, 0, step).click()  # it is done
    assert opened.score() == "1 of 8 points; 1 of 4 answered."


def test_a_forward_value_is_no_slot(opened):
    opened.section(0).locator(".shown [role=button]").first.click()
    assert "is no slot of dx" in opened.verdict(0)


def test_everything_is_reachable_by_keyboard(opened):
    step = step_of(opened.section(1).locator(".question").text_content())
    slot(opened, 1, step + 1).focus()
    opened.page.keyboard.press("Enter")
    assert opened.verdict(1).startswith("Wrong. ")
    slot(opened, 1, step).focus()
    opened.page.keyboard.press(" ")
    assert opened.verdict(1).startswith("Right. ")
    opened.section(1).locator("input").focus()
    for _ in range(30):
        opened.page.keyboard.press("Tab")
        if opened.page.evaluate("document.activeElement.className") == "again":
            break
    else:
        pytest.fail("the last button was not reached")
    opened.page.keyboard.press("Enter")
    assert opened.score().startswith("0 of 8")
    assert opened.verdict(1) == ""
    assert opened.section(1).locator(".revealed").is_hidden()


def test_a_number_is_typed(opened):
    box = opened.section(3).locator("input")
    for typed, start in (("a", "Not understood. Expected a number"), ("-5", "Wrong. ")):
        box.fill(typed)
        box.press("Enter")
        assert opened.verdict(3).startswith(start)
    question = opened.section(3).locator(".question").text_content()
    step = step_of(question)
    gradient = 1.0
    for s in range(step + 1):
        gradient *= 2 * 0.95 ** (2 ** (3 - s))
    box.fill(f"{gradient:.4g}")
    opened.section(3).locator("button[type=submit]").click()
    assert opened.verdict(3).startswith("Right. ")
    assert opened.score() == "1 of 8 points; 1 of 4 answered."


def test_several_slots_are_chosen_one_after_another(browser, tmp_path):
    exercise = visual.Exercise(gallery.loops["gap"].trace(), "overwritten", 0)
    step = step_of(exercise.question)
    with Opened(browser, exercise.save(tmp_path / "x.html")) as opened:
        for position in (step + 1, step, step + 3):
            slot(opened, 0, position).click()
        assert opened.verdict(0) == ""
        slot(opened, 0, step).click()  # a second click takes it away
        pressed = opened.section(0).locator('[aria-pressed="true"]')
        assert pressed.count() == 2
        assert opened.section(0).locator("input").input_value() == f"{step + 1}, {step + 3}"
        opened.section(0).locator("button[type=submit]").click()
        assert opened.verdict(0).startswith("Right. ")
        assert opened.told == []


def test_the_answer_can_be_shown(opened):
    step = step_of(opened.section(1).locator(".question").text_content())
    opened.section(1).locator(".show").click()
    assert opened.page.evaluate("document.activeElement.className") == "show"
    assert opened.verdict(1).startswith(f"Answer: {step}. ")  # what is read at tap 0
    assert f"the one at {step} is preserved" in opened.verdict(1)
    assert opened.score() == "0 of 8 points; 1 of 4 answered."


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_screen_reader_finds_nothing_wrong(browser, tmp_path, theme):
    from axe_playwright_python.sync_playwright import Axe

    path = visual.Exercises.of(TRACE, theme=theme).save(tmp_path / "x.html")
    with Opened(browser, path, bypass=True) as opened:
        found = Axe().run(opened.page).response["violations"]
        for number in range(4):
            opened.section(number).locator(".show").click()
        found += Axe().run(opened.page).response["violations"]
        assert [f"{v['id']}: {v['help']}" for v in found] == []


def test_a_hostile_name_runs_nothing(browser, tmp_path):
    path = visual.Exercises.of(LOOPS["hostile name"].trace()).save(tmp_path / "x.html")
    with Opened(browser, path) as opened:
        for number in range(opened.page.locator(".exercise").count()):
            opened.section(number).locator(".show").click()
        assert opened.told == []
        assert opened.page.locator(".exercise script, .exercise img").count() == 0


def test_page_and_python_check_alike(browser):
    slots = Answer(
        Form.SLOTS,
        (1.0, -2.0),
        "the rule",
        "the working",
        "otherwise",
        "incomplete",
        (Mistake(3, "three"),),
        cells={"k": 1},
        beside={"0:x:1": "no slot"},
    )
    number = Answer(
        Form.NUMBER, (0.95,), "r", "w", "o", mistakes=(Mistake(2, "two"),), tolerance=0.01
    )
    several = Answer(Form.NUMBERS, (0.5, -2.0), "r", "w", "o", "incomplete", tolerance=0.01)
    typed = ["0.5, -2", "0.5, 0.501"]
    typed += ["1", "1, -2", "pos 1 and −2", "buf[1] buf[-2]", "1 1", "3", "1 3", "9", "0:x:1", ""]
    typed += [
        ".95",
        "0,95",
        "0.955",
        "9.5e-1",
        "2.005",
        "2.1",
        "x",
        "1e9999",
        "²",
        "١",
        "1;-2",
        "(1,-2)",
    ]
    typed += [
        "__proto__",
        "constructor",
        "9" * 200,
        "POS 1, SLOT -2",
        "1.0 -2.",
        "+1 -2",
        "posit 1",
    ]
    page = browser.new_page()
    page.add_script_tag(type="module", content=source() + "\nwindow.check = check;")
    page.wait_for_function("window.check !== undefined")
    table = "([answer, typed, tries]) => { const v = check(answer, typed, tries); "
    table += "return [v.outcome, v.reason]; }"
    for answer in (slots, number, several):
        for text in typed:
            for tries in (1, 2):
                verdict = answer.check(text, tries)
                found = page.evaluate(table, [answer_data(answer), text, tries])
                assert found == [verdict.outcome.value, verdict.reason], text
    page.close()


def test_the_widget_module_answers_in_a_notebook_cell(browser):
    widget = visual.Question("How many Scans?", 2, "The loop, and its gradient.")
    page = browser.new_page()
    page.set_content("<div id=a></div><div id=b></div>")
    page.add_script_tag(
        type="module",
        content=source().replace("export default", "window.widget =") + "\nwindow.ready = true;",
    )
    page.wait_for_function("window.ready")
    show = """([content, answers]) => { for (const id of ['a', 'b']) window.widget.render(
        {model: {get: (name) => ({content, answers, progress: {}})[name],
                set() {}, save_changes() {}, on() {}}, el: document.getElementById(id)}) }"""
    page.evaluate(show, [widget.content, widget.answers])
    page.locator("#b input").fill("2")
    page.locator("#b button[type=submit]").click()
    assert page.locator("#b .score").text_content() == "2 of 2 points; 1 of 1 answered."
    assert page.locator("#a .score").text_content() == "0 of 2 points; 0 of 1 answered."
    page.close()


@pytest.mark.parametrize("name", ["square", "coupled", "rnn", "hostile name"])
def test_no_text_leaves_its_box(browser, name):
    page = browser.new_page()
    trace = {**gallery.loops, **LOOPS}[name].trace()
    for exercise in visual.Exercises.of(trace).members:
        for scene in filter(None, (exercise.shown, exercise.revealed)):
            assert measured(page, scene.svg()) == []
    page.close()


def test_answers_are_kept_from_one_visit_to_the_next(browser, tmp_path):
    path = visual.puzzles().save(tmp_path / "x.html")
    context = browser.new_context(accept_downloads=True)
    page = context.new_page()
    page.goto(path.as_uri())
    section = page.locator(".exercise").nth(2)  # taps
    for typed in ("-1, -2", "-3, -1"):
        section.locator("input").fill(typed)
        section.locator("button[type=submit]").click()
    assert section.locator(".verdict").text_content().startswith("Right. −3, −1. Backwards:")
    page.reload()
    assert page.locator(".score").text_content() == "1 of 12 points; 1 of 6 answered."
    verdict = section.locator(".verdict").text_content()
    assert "Answered before, for 1 of 2 points: -3, -1." in verdict
    with page.expect_download() as download:
        page.locator(".export").click()
    (one,) = load(Path(download.value.path())).values()
    assert (one.tries, one.points, one.done) == (1, 1, True)
    page.locator(".again").click()
    page.reload()
    assert page.locator(".score").text_content() == "0 of 12 points; 0 of 6 answered."
    assert page.locator(".export").is_hidden()
    context.close()
