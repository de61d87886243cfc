"""Walking through pictures in a page: keys, buttons, light, links, limits, and no network."""

import re
from xml.etree import ElementTree

import pytest
from in_browser.chromium import pytestmark  # noqa: F401 (marks)

import visual
from lab.errors import ArgumentError
from lab.loops import gallery

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    """The file of a page with two linked pictures of a second derivative."""
    loop = gallery.loops["square"]
    scenes = [
        visual.draw(loop, order=2, picture="unrolled", all=True),
        visual.draw(loop, order=2, picture="tapes", all=True),
    ]
    return visual.Stepper(*scenes).save(tmp_path_factory.mktemp("page") / "walk.html")


@pytest.fixture
def page(browser, linked):
    """The page, opened from its file with the network cut; what it complains about is an error."""
    page = browser.new_page()
    page.context.set_offline(True)
    told = []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto(linked.as_uri())
    yield page
    assert told == []
    page.close()


def now(page):
    return int(page.get_attribute("[data-current-step]", "data-current-step"))


def test_buttons_slider_and_keys_walk(page):
    assert page.locator("[data-current-step]").count() == 0  # at rest: all is shown
    page.click("button[aria-label='next step']")
    assert now(page) == 0
    page.click("button[aria-label='next step']")
    assert now(page) == 1
    page.focus("input[aria-label=step]")
    for key, step in (("ArrowRight", 2), ("ArrowLeft", 1), ("End", 15), ("Home", 0)):
        page.keyboard.press(key)
        assert now(page) == step
    page.click("button[aria-label='last step']")
    assert now(page) == 15
    assert page.inner_text("[data-current-step]") == "16 of 16 · Scan 4, step 3"
    name = "4 · C′ back through 1, step 3"
    assert page.get_attribute("input[aria-label=step]", "aria-valuetext") == name
    page.fill("input[aria-label=step]", "6")
    assert now(page) == 6


def test_space_plays_and_pauses(page):
    page.select_option("select[aria-label=speed]", "fast")
    page.focus("input[aria-label=step]")
    page.keyboard.press("Space")
    page.wait_for_function(
        "() => Number(document.querySelector('[data-current-step]')?.dataset.currentStep) >= 2"
    )
    page.keyboard.press("Space")
    stopped = now(page)
    page.wait_for_timeout(900)
    assert now(page) == stopped


def test_the_current_step_stands_out_in_both_pictures(page):
    for _ in range(6):
        page.click("button[aria-label='next step']")
    seen = page.evaluate(
        """() => [...document.querySelectorAll('svg')].map(svg => {
            const step = shape => shape.closest('[data-step]')?.dataset.step;
            const shapes = [...svg.querySelectorAll('rect, path, text')].filter(step);
            const seen = some => some.map(shape => getComputedStyle(shape).opacity);
            const read = shape => shape.closest('[data-read]');
            return [seen(shapes.filter(s => step(s) === '5' || read(s))),
                    seen(shapes.filter(s => step(s) !== '5' && !read(s))),
                    [...svg.querySelectorAll('[data-read]')].map(cell => cell.dataset.cell)];
        })"""
    )
    assert len(seen) == 2
    for current, others, read in seen:
        assert set(current) == {"1"}
        assert set(others) == {"0.3"}
        assert set(read) == {"0:x:2", "0:dx:3"}  # of which dC/dx₂ is made


READABLE = """step => {
    const drawn = text => getComputedStyle(text).visibility === 'visible';
    return [...document.querySelectorAll('[data-step]')]
        .filter(part => Number(part.dataset.step) > step)
        .flatMap(part => [...part.querySelectorAll('text')]).filter(drawn)
        .map(text => text.textContent);
}"""


def test_what_has_not_happened_cannot_be_read(page):
    page.fill("input[aria-label=step]", "5")
    assert page.evaluate(READABLE, 5) == []
    assert page.evaluate(READABLE, 4) != []  # the reader sees what can be read
    later = page.locator("[data-later]")
    assert later.count() > 10
    assert set(later.evaluate_all("e => e.map(x => x.ariaHidden)")) == {"true"}
    steps = later.evaluate_all("e => e.map(x => Number(x.dataset.step))")
    assert min(steps) == 6
    dashed = "e => getComputedStyle(e).strokeDasharray !== 'none' && getComputedStyle(e).fill"
    assert page.locator("[data-later] rect").first.evaluate(dashed) == "none"
    spoken = page.locator("body").aria_snapshot()
    assert "dC/dx₄" in spoken
    assert not {"27.30", "57.49", "109.2"} & set(
        re.findall(r"[\d.]+\d", spoken)
    )  # of the last Scan
    page.click("button[aria-label='last step']")
    assert later.count() == 0
    assert "57.49" in page.locator("body").aria_snapshot()
    page.fill("input[aria-label=step]", "3")
    page.click("button[aria-label='all steps']")
    assert later.count() == 0


def test_a_cell_of_later_is_neither_pinned_nor_reached(page):
    page.click("button[aria-label='last step']")
    page.locator("[data-step='15'] [data-cell]").first.click()
    assert page.inner_text(".scantape-told")
    page.click("button[aria-label='first step']")
    assert page.inner_text(".scantape-told") == ""
    page.locator("svg [data-cell]").first.focus()
    for _ in range(40):
        page.keyboard.press("Shift+ArrowRight")
        assert not page.evaluate("() => Boolean(document.activeElement.closest('[data-later]'))")


def test_a_quantity_is_lit_wherever_it_stands(page):
    cell = page.locator("svg").nth(0).locator("[data-cell='0:dx:3']").first
    cell.hover()
    told = page.inner_text(".scantape-told")
    assert "dC/dx₃ = 1.327 " in told  # as many digits as in the picture; its tooltip has all
    assert "buf[1] ← buf[0]·2·x₃ + buf[1]" in told
    lit = page.eval_on_selector_all("[data-lit]", "e => e.map(x => x.dataset.cell || 'formula')")
    assert set(lit) == {"0:dx:3", "formula"}
    count = page.locator("[data-cell='0:dx:3']").count()
    assert lit.count("0:dx:3") == count > 4
    cell.click()  # pins it
    page.mouse.move(0, 0)
    assert page.locator("[data-lit][data-cell='0:dx:3']").count() == count
    page.keyboard.press("Escape")
    assert page.locator("[data-lit]").count() == 0


def test_cells_are_reached_by_keyboard(page):
    page.locator("svg [data-cell]").first.focus()
    first = page.evaluate("() => document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Shift+ArrowRight")
    second = page.evaluate("() => document.activeElement.getAttribute('aria-label')")
    assert first != second
    assert " = " in second
    page.keyboard.press("Enter")
    assert page.locator("[data-lit]").count() > 0


def test_it_runs_in_a_sandboxed_frame(browser, linked, tmp_path):
    outer = tmp_path / "outer.html"
    outer.write_text(f'<iframe sandbox="allow-scripts" src="{linked.as_uri()}"></iframe>')
    page = browser.new_page()
    page.goto(outer.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("button[aria-label='next step']").click()
    assert frame.locator("[data-current-step]").get_attribute("data-current-step") == "0"
    page.close()


def test_axe_finds_nothing(browser, linked):
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(bypass_csp=True)  # axe is a script; the page's policy knows one only
    page.goto(linked.as_uri())
    found = Axe().run(page).response["violations"]
    page.close()
    assert [violation["id"] for violation in found] == []


def test_moments_are_those_of_the_run():
    scene = visual.draw(gallery.loops["square"], "tapes", order=2, all=True)
    names = ["square", "C back through 1", "C′ back through 2", "C′ back through 1"]
    expected = [f"{n} · {name}, step {s}" for n, name in enumerate(names, 1) for s in range(4)]
    assert list(scene.moments.values()) == expected
    root = ElementTree.fromstring(scene.svg())
    assert {int(g.get("data-step")) for g in root.iter() if g.get("data-step")} == set(range(16))


def test_the_widget_takes_steps_that_there_are():
    scenes = [visual.draw(gallery.loops["square"], name) for name in ("unrolled", "tapes")]
    widget = visual.Stepper(*scenes, step=6)
    assert widget.step == 6
    widget.show(visual.draw(gallery.loops["square"], "tapes", steps=2))
    assert widget.step == -1  # the shorter loop has no step 6
    with pytest.raises(ArgumentError, match="step = 99"):
        visual.Stepper(*scenes, step=99)
    with pytest.raises(ArgumentError, match=r"\.html"):
        widget.save("walk.svg")


LIT = """() => [...document.querySelectorAll('svg')].map(svg => ({
    cells: [...svg.querySelectorAll('[data-lit][data-cell]')].map(part => part.dataset.cell),
    told: [...svg.querySelectorAll('[data-lit][data-mentions]')].map(part => part.dataset.mentions),
}))"""


def test_a_quantity_is_lit_in_every_picture(browser, tmp_path):
    pictures = ("unrolled", "tapes", "stepgraph", "phases")
    scenes = [visual.draw(gallery.loops["square"], name, order=1) for name in pictures]
    page = browser.new_page()
    page.goto(visual.Stepper(*scenes).save(tmp_path / "lit.html").as_uri())
    slot = page.locator("svg").nth(1).locator("[data-cell='0:dx:3']").first
    slot.dispatch_event("pointerover")
    unrolled, tapes, step, phases = page.evaluate(LIT)
    for found in (unrolled, tapes, step):
        assert set(found["cells"]) == {"0:dx:3"}
    assert all("0:dx:3" in keys.split("|") for keys in [*tapes["told"], *step["told"]])
    assert tapes["told"]
    assert set(phases["told"]) == {"0:dx:*"}
    underlined = "e => [...e.querySelectorAll('text')].map(t => t.style.textDecoration)"
    (first, *_) = page.locator("[data-lit][data-mentions='0:dx:*']").all()
    assert set(first.evaluate(underlined)) == {"underline"}
    chip = page.locator("[data-mentions='0:dx:*'] [data-cell]").first
    chip.dispatch_event("pointerover")
    _, tapes, _, _ = page.evaluate(LIT)
    assert set(tapes["cells"]) == {f"0:dx:{index}" for index in range(5)}
    page.close()
