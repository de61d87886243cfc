"""Atlases in Chromium: from file://, with the network cut, by mouse, keyboard and address."""

import json
from xml.etree import ElementTree

import pytest
from in_browser.chromium import Opened, pytestmark  # noqa: F401 (marks)

import visual
from lab.loops import gallery
from visual.backends.page import document
from visual.drawing.draw import drawn
from visual.exercises.page import answer_data, content, source
from visual.layout.sheet import OFFLINE
from visual.scene.theme import THEMES
from visual.widgets.module import STEPPER
from visual.widgets.stories import of_all

ATLAS = visual.Atlas(
    ["square", "coupled"],
    taps={"square": [(-1,), (-2, -1)], "coupled": [{}]},
    costs=["last", (0, 0, 0, 1)],
    views=["unrolled", "tapes", "taps"],
)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return ATLAS.save(tmp_path_factory.mktemp("atlas") / "lesson.html")


def shown(page, *choice, place=0):
    """Waits until an atlas shows what was chosen, and returns all words of its picture."""
    page.wait_for_function(
        "([n, key]) => document.querySelectorAll('[data-atlas]')[n].dataset.shown === key",
        arg=[place, " ".join(choice)],
    )
    atlas = page.locator("[data-atlas]").nth(place)
    return atlas.locator(".picture svg").locator("title, text").all_text_contents()


def words(loop, view, theme="light", **chosen):
    svg = ElementTree.fromstring(drawn(OFFLINE, gallery.loops[loop], view, theme, **chosen).svg())
    return ["".join(e.itertext()) for e in svg.iter() if e.tag in (f"{SVG}text", f"{SVG}title")]


def radio(page, field, value, place=0):
    atlas = page.locator("[data-atlas]").nth(place)
    return atlas.locator(f"input[name={field}][value='{value}']")


def now(page):
    return int(page.get_attribute("[data-current-step]", "data-current-step"))


def test_what_is_chosen_is_shown_walked_and_found_again(browser, path):
    with Opened(browser, path) as opened:
        page = opened.page
        assert shown(page, "square", "x:-1", "1", "last", "unrolled") == words("square", "unrolled")
        radio(page, "taps", "x:-2,-1").check()
        radio(page, "order", "1").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight")  # from unrolled to tapes
        taps = {"x": (-2, -1)}
        found = shown(page, "square", "x:-2,-1", "2", "last", "tapes")
        assert found == words("square", "tapes", taps=taps, order=2)
        assert page.evaluate("document.activeElement.value") == "tapes"  # the focus is kept
        twin = drawn(OFFLINE, gallery.loops["square"], "tapes", taps=taps, order=2).text()
        assert page.text_content("pre[aria-label='as text']") == twin
        page.focus("input[aria-label=step]")
        for _ in range(6):  # of which the first leads from all steps to the first one
            page.keyboard.press("ArrowRight")
        assert now(page) == 5
        page.select_option("select[aria-label=speed]", "slow")
        radio(page, "view", "taps").check()  # a view without steps
        shown(page, "square", "x:-2,-1", "2", "last", "taps")
        radio(page, "view", "unrolled").check()
        shown(page, "square", "x:-2,-1", "2", "last", "unrolled")
        assert now(page) == 5
        page.wait_for_function("() => location.hash.includes('view=unrolled&step=5')")
        link = page.get_attribute(".scantape-link a", "href")
        assert link == page.evaluate("location.hash")
        assert "loop=square&taps=x:-2,-1&order=2&cost=last&view=unrolled" in link
        assert "theme" not in link  # it is the reader's
        page.get_by_label("colours").select_option("dark")
        page.wait_for_function("() => location.hash.includes('theme=dark')")
        assert page.evaluate("document.documentElement.dataset.colours") == "dark"
        page.goto("about:blank")
        page.goto(path.as_uri() + link)
        found = shown(page, "square", "x:-2,-1", "2", "last", "unrolled")
        assert found == words("square", "unrolled", taps=taps, order=2)
        assert now(page) == 5
        assert radio(page, "taps", "x:-2,-1").is_checked()
        assert opened.told == []
        assert {url.split(":")[0] for url in opened.asked} <= {"file", "about"}


def test_another_scan_is_opened_by_a_click_and_found_again(browser, path):
    with Opened(browser, path) as opened:
        page = opened.page
        radio(page, "order", "2").check()
        radio(page, "view", "tapes").check()
        key = "square", "x:-1", "2", "last", "tapes"
        assert shown(page, *key) == words("square", "tapes", order=2)
        for scan in (3, 1):
            page.locator(f"svg [data-cell='scan:{scan}']").click(position={"x": 40, "y": 12})
            page.wait_for_function("n => location.hash.endsWith(`scan=${n}`)", arg=scan)
            page.get_by_text(f"{scan} · ", exact=False).first.wait_for()
            assert shown(page, *key) == words("square", "tapes", order=2, scan=scan)
        address = page.url
        radio(page, "view", "taps").check()  # which shows no Scans
        assert shown(page, *key[:-1], "taps") == words("square", "taps", order=2)
    with Opened(browser, path) as again:
        again.page.goto(address)
        assert shown(again.page, *key) == words("square", "tapes", order=2, scan=1)


def test_a_number_tells_where_it_comes_from(browser, path):
    with Opened(browser, path) as opened:
        page = opened.page
        radio(page, "view", "tapes").check()
        shown(page, "square", "x:-1", "1", "last", "tapes")
        told = of_all(visual.draw(gallery.loops["square"], "tapes"))
        number = max(
            range(len(told["cells"])), key=lambda n: told["values"][told["cells"][n]]["made"]
        )
        page.locator("[data-cell]").nth(number).click()
        story = told["values"][told["cells"][number]]
        page.locator(".scantape-story p").first.wait_for()
        lines = page.locator(".scantape-story p").all_inner_texts()
        assert lines == [*story["origin"][1:], *story["fate"]]
        assert opened.told == []


def test_what_is_not_there_is_told(browser, path):
    with Opened(browser, path) as opened:
        page = opened.page
        radio(page, "cost", "0,0,0,1").check()
        page.get_by_label("loop").select_option("coupled")
        shown(page, "coupled", "prey:-1;hunters:-1", "1", "0,0,0,1", "unrolled")
        assert "takes as many weights, not 4" in page.inner_text("p.scantape-problem")
        assert page.locator(".picture").is_hidden()
        radio(page, "cost", "last").check()
        found = shown(page, "coupled", "prey:-1;hunters:-1", "1", "last", "unrolled")
        assert found == words("coupled", "unrolled")
        assert page.inner_text("p.scantape-problem") == ""
        page.evaluate("location.hash = 'order=9&view=tapes&taps=__proto__&loop=<b>'")
        shown(page, "coupled", "prey:-1;hunters:-1", "1", "last", "tapes")
        told = page.inner_text("p.scantape-problem")
        assert told.endswith("what is not on this page: loop <b>, taps __proto__, order 9.")
        assert opened.told == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, path, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(bypass_csp=True, color_scheme=scheme)
    page.goto(path.as_uri())
    found = shown(page, "square", "x:-1", "1", "last", "unrolled")
    assert found == words("square", "unrolled", scheme)
    radio(page, "cost", "0,0,0,1").check()
    page.get_by_label("loop").select_option("coupled")
    page.click("summary:visible")
    violations = Axe().run(page).response["violations"]
    radio(page, "cost", "last").check()
    shown(page, "coupled", "prey:-1;hunters:-1", "1", "last", "unrolled")
    page.click("summary >> text=as text")
    violations += Axe().run(page).response["violations"]
    assert page.evaluate("document.documentElement.dataset.colours") == scheme
    page.close()
    assert [f"{v['id']}: {v['help']}" for v in violations] == []


def test_many_live_on_one_page(browser, tmp_path):
    tapes = visual.draw(gallery.loops["fibonacci"], "tapes")
    exercise = visual.Question("How many Scans has a gradient?", 2, "The loop, and one back.")
    body = (
        f'<div id="walk" class="scantape" data-scantape><div class="picture">{tapes.svg()}</div>'
        f'</div>{ATLAS.content}{ATLAS.content}<div id="ask">{content([exercise.task])}</div>'
    )
    answer = json.dumps(answer_data(exercise.task.answer))
    asking = f"{source()}start(document.getElementById('ask'), [{answer}]);"
    scripts = [STEPPER, ATLAS.script, asking]
    path = tmp_path / "lesson.html"
    path.write_text(document("t", THEMES["light"], body, scripts, ATLAS.style))
    with Opened(browser, path) as opened:
        page = opened.page
        shown(page, "square", "x:-1", "1", "last", "unrolled")
        radio(page, "order", "2", place=1).check()
        found = shown(page, "square", "x:-1", "2", "last", "unrolled", place=1)
        assert found == words("square", "unrolled", order=2)
        radio(page, "view", "tapes").check()
        shown(page, "square", "x:-1", "1", "last", "tapes")
        assert radio(page, "order", "1").is_checked()
        page.click("#walk button[aria-label='next step']")
        steps = page.locator("[data-current-step]")
        assert steps.evaluate_all("all => all.map((s) => s.dataset.currentStep)") == ["1"]
        page.wait_for_function("() => location.hash.includes('&view=tapes')")
        assert "2.order=2" in page.evaluate("location.hash")
        page.reload()
        shown(page, "square", "x:-1", "1", "last", "tapes")
        shown(page, "square", "x:-1", "2", "last", "unrolled", place=1)
        page.fill("#ask input", "2")
        page.press("#ask input", "Enter")
        assert page.inner_text("#ask .verdict").startswith("Right.")
        assert opened.told == []


def test_in_a_sandboxed_frame_and_without_scripts(browser, path, tmp_path):
    outer = tmp_path / "outer.html"
    outer.write_text(f'<iframe sandbox="allow-scripts" src="{path.as_uri()}"></iframe>')
    with Opened(browser, outer) as opened:
        frame = opened.page.frame_locator("iframe")
        frame.locator("input[name=view][value=tapes]").check()
        frame.locator("[data-shown='square x:-1 1 last tapes']").wait_for()
        frame.locator("button[aria-label='next step']").click()
        assert frame.locator("[data-current-step]").get_attribute("data-current-step") == "0"
        opened.page.wait_for_timeout(300)  # the address would have been written
        assert opened.told == []
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("svg").count() == 1
    assert "unrolled of square, taps −1, order 1, cost last" in page.inner_text("noscript")
    context.close()
