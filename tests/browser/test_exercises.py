"""A page of exercises works in Chromium from file://, without a network, by mouse and keyboard."""

import re
from itertools import product
from pathlib import Path

import pytest
from in_browser.chromium import Opened, pytestmark, violations  # noqa: F401 (marks)
from strange_loops import LOOPS

import visual
from lab.loops import gallery
from visual.exercises.answers import ExerciseTask
from visual.exercises.progress import load
from visual.exercises.sheet import MODULE

TRACE = gallery.loops["square"].trace()


def step_of(question):
    return int(re.search(r"step (\d+)", question).group(1))


@pytest.fixture
def opened(browser, tmp_path):
    with Opened(browser, visual.Exercises.of(TRACE).save(tmp_path / "x.html")) as opened:
        yield opened
    opened.check_quiet(tmp_path)
    assert len(opened.requests) == 1


def test_a_wrong_answer_is_explained_and_can_be_corrected(opened):
    step = step_of(opened.section(0).locator(".question").text_content())
    for typed, start in (("a", "Not understood. Expected positions"), (step, "Wrong. ")):
        opened.answer(0, typed)
        assert opened.verdict(0).startswith(start)
    assert "is read and preserved" in opened.verdict(0)
    assert f"the slot at {step + 1}" not in opened.verdict(0)
    assert opened.section(0).locator(".revealed").is_hidden()
    assert opened.score() == "0 of 6 points; 0 of 3 answered."
    opened.section(0).locator("input").fill(str(step + 1))  # the step reads and writes tap 1
    opened.section(0).locator("[type=submit]").click()
    assert opened.verdict(0).startswith("Right. ")
    assert f"it overwrites the slot at {step + 1}." in opened.verdict(0)
    assert opened.section(0).locator(".revealed").is_visible()
    assert opened.score() == "1 of 6 points; 1 of 3 answered."
    opened.section(0).locator("input").press("Enter")
    assert opened.score() == "1 of 6 points; 1 of 3 answered."


def test_everything_is_reachable_by_keyboard(opened):
    opened.section(1).locator(".show").focus()
    opened.page.keyboard.press("Enter")
    step = step_of(opened.section(1).locator(".question").text_content())
    assert opened.verdict(1).startswith(f"Answer: {step}. ")  # read at tap 0, not written
    assert f"it preserves the slot at {step}." in opened.verdict(1)
    assert opened.score() == "0 of 6 points; 1 of 3 answered."
    focused = "document.activeElement.className"
    presses = 0
    while opened.page.evaluate(focused) != "again":
        opened.page.keyboard.press("Tab")
        presses += 1
        assert presses < 30
    opened.page.keyboard.press("Enter")
    assert opened.score().startswith("0 of 6")
    assert opened.verdict(1) == ""
    assert opened.section(1).locator(".revealed").is_hidden()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_violation(browser, tmp_path, theme):
    path = visual.Exercises.of(TRACE, theme=theme).save(tmp_path / "x.html")
    with Opened(browser, path, bypass=True) as opened:
        assert violations(opened.page) == []
        for number in range(3):
            opened.section(number).locator(".show").click()
        assert violations(opened.page) == []


def test_a_hostile_name_does_not_run_as_code(browser, tmp_path):
    path = visual.Exercises.of(LOOPS["hostile name"].trace()).save(tmp_path / "x.html")
    with Opened(browser, path) as opened:
        for number in range(opened.page.locator(".exercise").count()):
            opened.section(number).locator(".show").click()
        assert opened.messages == []
        assert opened.page.locator(".exercise script, .exercise img").count() == 0


SLOTS = ExerciseTask("?", "s", (1.0, -2.0), ("the rule",), "the working", "otherwise", {3: "three"})
NUMBER = ExerciseTask("?", "n", (0.95,), ("r",), "w", "o", {2: "two"}, 0.01, is_set=False)
NUMBERS = ExerciseTask("?", "m", (0.5, -2.0), ("r",), "w", "o", tolerance=0.01)
CHOICE = visual.Question(
    "Does x grow?", "no", "w", ("yes", "no", "it depends"), "hint", {"yes": "0.95 ** 2 is less."}
).task
TYPED = [
    *("0", "2", "perhaps"),
    *("1", "1, -2", "pos 1 and −2", "buf[1] buf[-2]", "1 1", "3", "1 3", "9", "5 1 -2", "", "x"),
    *(".95", "0,95", "0.955", "9.5e-1", "2.005", "2.1", "1e9999", "²", "١", "1;-2", "(1,-2)"),
    *("0.5, -2", "0.5, 0.501", "0,5; -2,0", "0,95;1,5", "1,2,3", "1,000,5;2", "1.0 -2.", "+1 -2"),
    *("__proto__", "constructor", "9" * 200, "POS 1, SLOT -2", "posit 1"),
]


@pytest.mark.parametrize(
    "answer", [SLOTS, NUMBER, NUMBERS, CHOICE], ids=lambda answer: answer.expected
)
def test_page_and_python_check_answers_equally(page, answer):
    page.add_script_tag(type="module", content=MODULE + "\nwindow.check = check;")
    page.wait_for_function("window.check !== undefined")
    table = """([answer, all]) => all.map(([typed, tries]) => {
        const { outcome, reason } = check(answer, typed, tries);
        return [typed, outcome, reason]; })"""
    typed = [*product(TYPED, (1, 2))]
    verdicts = [(text, answer.check(text, tries)) for text, tries in typed]
    expected = [[text, verdict.outcome.value, verdict.reason] for text, verdict in verdicts]
    assert page.evaluate(table, [answer.page_data, typed]) == expected


def test_answers_are_stored_between_visits(browser, tmp_path):
    taps = visual.Question("At which taps?", (-3, -1), "Backward.", hint="See the last state.")
    path = visual.Exercises([*visual.Exercises.of(TRACE).tasks, taps]).save(tmp_path / "x.html")
    with Opened(browser, path) as opened:
        page, section = opened.page, opened.section(3)
        for typed, outcome in (("-1, -2", "Wrong."), ("-3, -1", "Right. Backward.")):
            opened.answer(3, typed)
            section.locator(".verdict").get_by_text(outcome).wait_for()
        page.get_by_text("1 of 8 points; 1 of 4 answered.").wait_for()
        page.reload()
        page.get_by_text("1 of 8 points; 1 of 4 answered.").wait_for()
        assert "Answered before, for 1 of 2 points: -3, -1." in opened.verdict(3)
        with page.expect_download() as download:
            page.locator(".export").click()
        (record,) = load(Path(download.value.path())).values()
        assert (record.tries, record.points, record.done) == (1, 1, True)
        page.locator(".again").click()
        page.reload()
        page.get_by_text("0 of 8 points; 0 of 4 answered.").wait_for()
        assert page.locator(".export").is_hidden()


@pytest.fixture
def two_questions(browser, tmp_path):
    """Yield the address of a page with two questions, and a browser context for the page."""
    tasks = [visual.Question(f"Is it {n}?", n, "It is.") for n in (1, 2)]
    with browser.new_context() as context:
        yield visual.Exercises(tasks).save(tmp_path / "x.html").as_uri(), context


def answer(page, number, typed):
    page.locator(".exercise input").nth(number).fill(typed)
    page.locator(".exercise input").nth(number).press("Enter")


def wait_until_stored(page, part):
    """Wait until the page has results with a part. Its policy forbids `wait_for_function`."""
    for _ in range(1500):
        if part in (page.evaluate("localStorage.getItem('scantape-progress')") or ""):
            return
        page.wait_for_timeout(20)
    pytest.fail(f"{part!r} was not stored within 30 seconds")


def test_two_windows_store_the_answers_of_both(two_questions):
    address, context = two_questions
    left, right = (context.new_page() for _ in "ab")
    for page in (left, right):
        page.goto(address)
    # Browsers drop one of two writes that cross: each waits until the other window has the last.
    left.evaluate("""localStorage.setItem("scantape-progress", '{"Is it 2?": null}')""")
    wait_until_stored(right, "null")
    answer(right, 0, "7")
    wait_until_stored(left, 'tries":1')
    answer(left, 0, "1")  # after the wrong answer of the other window
    right.get_by_text("1 of 4 points; 1 of 2 answered.").wait_for()
    answer(right, 1, "2")
    for page in (left, right):
        page.get_by_text("3 of 4 points; 2 of 2 answered.").wait_for()
        page.reload()  # the page may load before it receives the answers of another window
        page.get_by_text("3 of 4 points; 2 of 2 answered.").wait_for()


FORBIDDEN = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no') } })"


@pytest.mark.parametrize("storage", [FORBIDDEN, "localStorage.setItem('scantape-progress', '7')"])
def test_all_answers_are_saved_as_a_file_without_valid_storage(two_questions, storage):
    address, context = two_questions
    context.add_init_script(storage)
    page = context.new_page()
    page.goto(address)
    assert page.locator(".export").is_hidden()
    for number, typed in enumerate(("1", "2")):
        answer(page, number, typed)
    page.get_by_text("4 of 4 points; 2 of 2 answered.").wait_for()
    with page.expect_download() as download:
        page.locator(".export").click()
    records = load(Path(download.value.path()))
    assert sorted(records) == ["Is it 1?", "Is it 2?"]
    assert [record.points for record in records.values()] == [2, 2]
    page.locator(".again").click()
    assert page.locator(".export").is_hidden()
