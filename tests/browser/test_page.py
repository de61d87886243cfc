"""The page of machines in Chromium: dragged values give the numbers of a new run."""

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal

import numpy as np
import pytest
from in_browser.chromium import Opened, pytestmark  # noqa: F401 (marks)
from playwright.sync_api import expect

import lab
import visual
from lab import gallery
from lab.notation import number_text
from visual.pictures.machine.build import machine_of
from visual.player.page import HERE
from visual.scene.fonts import text_width

Y = "constructor"  # in JavaScript, every object has a property of this name
WAVE = lab.Loop.from_text(f"sin({Y})", {Y: [-0.7, 0.4]}, n_steps=2, name="wave")
LOOPS = {**gallery.loops, "wave": WAVE}
NAMES = ("square", "gap", "coupled", "extra", "wave")
PAGE = visual.Page(
    [LOOPS[name] for name in NAMES],
    taps={name: [{}] for name in NAMES} | {"square": [(-1,), (-2, -1)]},
    orders=[1, 2],
    costs=["last"],
    rules=["correct"],
)
VALUES = {"square": {"x": 1.07}, "coupled": {"prey": 1.2, "birth": 0.7}, "extra": {"w": -0.4}}
VALUES["wave"] = {Y: np.array([0.9, -1.3])}
DATA = 'document.querySelector(".scantape-machine").machine.data'
NUMBERS = f"""() => {DATA}.cells.map((cell) =>
    cell.keys.map(({{ moment, text }}) => [Math.ceil(moment), text]))"""
SENTENCES = f"""() => {DATA}.events.flatMap((event) =>
    event.groups.flatMap(({{ parts }}) => parts.flatMap((part) => [part, ...part.by_entry].map(
        ({{ sentence, exact }}) => [sentence, exact].map((line) =>
            line.map(({{ text }}) => text).join(""))))))"""
NEGATE = """() => {
    const { run } = document.querySelector("[data-lesson]").lesson;
    run.lines[run.lines.findIndex(([name]) => name === "Sqr")][0] = "Neg";
}"""
BOXES = """() => [...document.querySelectorAll("[data-cell]")].map((cell) => {
    const box = cell.querySelector("rect").getBoundingClientRect();
    return [Math.round(2 * box.x), Math.round(2 * box.y)];
})"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return PAGE.save(tmp_path_factory.mktemp("page") / "lesson.html")


def opened_at(browser, path, link="", **options):
    opened = Opened(browser, path, link=link, **options)
    opened.page.wait_for_selector("[data-lesson][data-ready]")
    opened.page.evaluate("new Promise(requestAnimationFrame)")  # the machine fits the window
    return opened


def type_values(page, values):
    for name, value in values.items():
        for n, entry in enumerate(np.ravel(value)):
            entry_name = f"{name}[{n}]" if np.ndim(value) else name
            field = page.get_by_label(f"{entry_name}, exactly")
            field.fill(str(entry))
            field.press("Enter")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def new_run(name, order, values):
    """Run a loop with other values; return the numbers of all cells, and all sentences."""
    machine = machine_of(LOOPS[name].with_values(values).trace(order=order))
    keys = [[[key.moment, key.text] for key in cell.keys] for cell in machine.cells]
    equations = [e for part in machine.parts() for e in (part, *part.by_entry)]
    return keys, [["".join(p.text for p in s) for s in (e.sentence, e.exact)] for e in equations]


def at_moments(keys):
    """Return the keys of each cell at the moments that change its number."""
    return [
        [key for n, key in enumerate(cell) if not n or key[1] != cell[n - 1][1]] for cell in keys
    ]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", VALUES)
def test_typed_values_have_the_numbers_of_a_new_run(browser, path, name, order):
    with opened_at(browser, path, f"loop={name}&order={order}") as opened:
        page, before = opened.page, opened.page.evaluate(BOXES)
        type_values(page, VALUES[name])
        keys, sentences = new_run(name, order, VALUES[name])
        assert at_moments(page.evaluate(NUMBERS)) == at_moments(keys)
        assert page.evaluate(SENTENCES) == sentences
        assert page.evaluate(BOXES) == before
        if name == "square":  # the comparison detects a wrong instruction
            page.evaluate(NEGATE)
            type_values(page, {"x": 1.08})
            keys, sentences = new_run(name, order, {"x": 1.08})
            assert at_moments(page.evaluate(NUMBERS)) != at_moments(keys)
            assert page.evaluate(SENTENCES) != sentences


def test_an_invalid_value_is_reported_and_remains(browser, path):
    with opened_at(browser, path, "loop=square&order=1") as opened:
        field = opened.page.get_by_label("x, exactly")
        for typed in ("abc", "1e400", "1,5", ""):
            field.fill(typed)
            field.press("Enter")
            opened.page.get_by_text(f"x = '{typed}': expected a finite number.").wait_for()
            assert field.input_value() == typed
        type_values(opened.page, {"x": 1.07})
        assert opened.page.get_by_text("expected a finite number").count() == 0


def test_a_link_restores_everything_and_a_note_lists_unknown_choices(browser, path):
    link = "loop=square&order=2&taps.x=-2,-1&at.x=0.50,0.75&moment=9&color=blue&at.y=1&%E0=1"
    with opened_at(browser, path, link) as opened:
        page = opened.page
        assert page.locator(".scantape-machine").get_attribute("data-moment") == "9"
        expected = "#loop=square&taps.x=-2,-1&order=2&cost=last&at.x=0.5,0.75&moment=9"
        page.wait_for_url(lambda url: url.endswith(expected))
        page.get_by_text("The link contains color=blue, at.y=1,").wait_for()
        buffers = page.locator(".legend input")
        buffers.check()
        page.wait_for_url(lambda url: url.endswith("&contributor=True&moment=9"))
        page.get_by_role("button", name="undo").click()
        expect(buffers).not_to_be_checked()
        page.evaluate("location.hash = 'loop=square&contributor=1'")
        expect(buffers).to_be_checked()
        assert page.get_by_text("The link contains").count() == 0
        page.evaluate("location.hash = 'loop=gap&order=1&moment=2'")
        page.locator(".scan", has_text="1 gap").wait_for()
        assert page.locator(".scantape-machine").get_attribute("data-moment") == "2"
    others = ("steps=8", "mode=taylor", "view=tapes", "at.x=abc", "at.x=5;6", "moment=-3")
    with opened_at(browser, path) as opened:
        for other in others:
            opened.page.evaluate(  # write() can replace the address before the event
                f"""location.hash = "loop=square&view=machine&{other}";
                state = document.querySelector("[data-lesson]").lesson.state;
                history.replaceState(null, "", "#" + state)"""
            )
            note = f"The link contains {other}, which this page does not have."
            opened.page.get_by_text(note).wait_for()
    with opened_at(
        browser, path, "loop=nothing&order=9&top&constructor=1&taps.x=5,&moment=0"
    ) as opened:
        assert opened.page.locator(".scan").first.text_content().startswith("1 square")
        note = "loop=nothing, order=9, constructor=1, taps.x=5, which this page does not have."
        opened.page.get_by_text(f"The link contains {note}").wait_for()
        opened.page.get_by_label("order").select_option("2")
        opened.page.get_by_text(note).wait_for(state="hidden")
    with opened_at(browser, path, "loop=square&order=1&taps.x=-1&rule=correct") as opened:
        assert opened.page.get_by_text("The link contains").count() == 0


def test_a_page_shows_the_example_of_a_rule_without_effect(browser, tmp_path):
    rules = ["correct", "accumulate-overwritten"]
    page = visual.Page(["square"], taps={"square": [(-1,), (-2, -1)]}, orders=[1, 2], rules=rules)
    with opened_at(browser, page.save(tmp_path / "rule.html"), f"rule={rules[1]}") as opened:
        title = opened.page.locator(".title")
        assert title.inner_text().startswith("The faulty rule changes no derivative")
        opened.page.locator(".rules button").click()
        opened.page.locator("text=With the faulty rule").wait_for()  # 46.31 instead of 25.73
        for label, value in (("taps of x", "taps.x=-2,-1"), ("order", "order=2")):
            assert opened.page.get_by_label(label).input_value() == value
        first = opened.page.evaluate(f"{DATA}.mistake.first_wrong")  # the rule had no effect before
        assert opened.page.locator(".scantape-machine").get_attribute("data-moment") == str(first)
        assert opened.page.evaluate("document.documentElement.scrollHeight") == 720


def test_undo_and_redo_restore_choices_and_values(browser, path):
    with opened_at(browser, path) as opened:
        page = opened.page
        field = page.get_by_label("x, exactly")
        assert page.get_by_role("button", name="undo").is_disabled()
        page.get_by_label("order").select_option("2")
        page.locator("text=4 Scans").wait_for()
        field.fill("1.25")
        page.get_by_label("x", exact=True).press("Control+z")
        assert field.input_value() == "0.95"
        page.get_by_role("button", name="undo").click()
        page.locator("text=Each backward step multiplies").wait_for()
        page.get_by_role("button", name="redo").click()
        page.locator("text=4 Scans").wait_for()
        page.get_by_role("button", name="redo").click()
        page.locator('.number:text("1.25")').wait_for()
        page.get_by_label("back to the given values").click()
        page.locator('.number:text("0.95")').wait_for()


def test_a_given_cell_is_dragged_and_the_sentence_follows(browser, path):
    with opened_at(browser, path, "loop=square&order=1&moment=1") as opened:
        page = opened.page
        for key, moment in (("Home", 0), ("ArrowRight", 1)):  # no element has the focus
            page.keyboard.press(key)
            page.locator(f"[data-moment='{moment}']").wait_for()
        cell = page.locator("[data-given]")
        assert cell.count() == 1
        box = cell.locator("rect").first.bounding_box()
        page.mouse.move(box["x"] + 20, box["y"] + 10)
        page.mouse.down()
        page.mouse.move(box["x"] + 50, box["y"] + 10, steps=5)
        page.mouse.up()
        page.locator('.number:text("1.25")').wait_for()
        assert page.locator(".scantape-sentence").inner_text() == "x₁:  1.562 = 1.25²"
        assert page.locator(".picked").count() == 0
        page.locator('[data-name="x₁"]').click()
        assert page.locator(".scantape-sentence").inner_text() == "x₁:  1.562 = 1.25²"
        page.keyboard.press("Control+z")
        page.locator('.number:text("0.95")').wait_for()
        page.keyboard.press("Control+y")  # the cell with the focus was replaced
        page.locator('.number:text("1.25")').wait_for()
        type_values(page, {"x": -0.0123456789})  # numbers with more digits stay in their cells
        widths = "nodes => nodes.map((node) => node.getBoundingClientRect().width)"
        boxes = page.locator("[data-cell] rect:first-child").evaluate_all(widths)
        assert max(page.locator(".number").evaluate_all(widths)) < min(boxes)
        page.evaluate("document.querySelector('.scantape-machine').machine.go(6.5)")
        width = "(nodes) => nodes.map((node) => node.width.baseVal.value)"
        shown, texts = page.locator(".pill rect").evaluate_all(width), page.locator(".pill text")
        known = {text: text_width(text, 13, bold=True) + 8 for text in texts.all_text_contents()}
        assert shown == pytest.approx([*known.values()], abs=0.02)


def test_a_hostile_name_is_text(browser, tmp_path):
    hostile = "</title><img src=x onerror=alert(1)></script><script>alert(2)</script>"
    state = lab.State("infected", 0.5)
    loop = lab.Loop(lambda infected: infected**2, (state,), n_steps=3, name=hostile, reason=hostile)
    file = visual.Page([loop], orders=[1], costs=["last"], title=hostile).save(tmp_path / "a.html")
    with opened_at(browser, file) as opened:
        assert opened.page.locator("img").count() == 0
        assert opened.page.locator("h1").inner_text() == hostile
        assert opened.page.get_by_label("loop").locator("option").inner_text() == hostile
        assert hostile in opened.page.locator("svg .scan").first.text_content()
        assert opened.page.locator('[data-name="infected₀"]').count() == 1


def plain(value, digits):
    """Return a number as text by decimal arithmetic, without final zeros if the text is exact."""
    if not math.isfinite(value):
        return f"⚠ {value}"
    rounded = Context(digits, ROUND_HALF_EVEN).create_decimal(Decimal(value or 0))
    power = rounded.adjusted()
    shift = 0 if -4 <= power < digits else power
    text = f"{rounded.scaleb(-shift):.{digits - 1 - power + shift}f}"
    if "." in text and abs(float(rounded) - value) <= 1e-12 * abs(value):
        text = text.rstrip("0").rstrip(".")
    return f"{text}e{shift}" if shift else text


SPECIAL = [
    *(0.0, -0.0, 1.0, -2.5, 0.1 + 0.2, 1.0625, 1.0635, 0.00012345, 0.000012345, 12345.0, 99995.0),
    *(123456789.0, 1e300, -1e-300, 5e-324, 2 / 3, 0.99999, 9999.5, 1e22, 0.5, 1e-5, 123.45, 7e-7),
    *(float("inf"), float("-inf"), float("nan")),
]


def test_ten_thousand_numbers_are_printed_as_python_and_exact_decimals_do(page):
    source = (HERE / "numbers.js").read_text(encoding="utf-8")
    page.add_script_tag(content=f"{{{source}; window.numberText = numberText;}}")
    random = np.random.default_rng(3)
    halves = (random.integers(1, 10**5, 3000) + 0.5) / 2.0 ** random.integers(0, 8, 3000)
    samples = [*random.normal(size=7000) * 10.0 ** random.integers(-9, 9, 7000), *halves]
    numbers = [*SPECIAL, *map(float, samples)]
    words = [str(number).replace("inf", "Infinity") for number in numbers]
    script = "([all, digits]) => all.map((n) => numberText(Number(n), digits))"
    for digits in (3, 4, 10, 17):
        shown = page.evaluate(script, [words, digits])
        assert shown == [number_text(number, digits) for number in numbers]
        assert shown == [plain(number, digits) for number in numbers]
    assert page.evaluate(script, [words, 3]) != page.evaluate(script, [words, 4])
