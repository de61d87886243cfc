"""In a real browser: no text leaves its box, no two texts overlap, nothing leaves the picture."""

import shutil

import pytest
from strange_loops import LOOPS, WRT

import visual
from lab import gallery
from visual.pictures import PICTURES

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
EVERY = {**gallery.loops, **LOOPS}
OPTIONS = [
    ("unrolled", {"all_direct": True}),
    ("tapes", {"buffer": True}),
    ("tapes", {"contributions": True}),
    ("tapes", {"step": 0}),
    ("rolled", {"scan": 2}),
]
DRAWN = [(name, {}) for name in PICTURES if name != "values"] + OPTIONS  # plots: test_plots
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: texts are not measured"),
]

MEASURE = """() => {
    const page = document.querySelector('svg').getBoundingClientRect();
    const texts = [...document.querySelectorAll('text')].map(t => {
        const cell = t.closest('g[data-cell]');
        return {words: t.textContent, box: t.getBoundingClientRect(),
                room: cell && cell.querySelector('rect').getBoundingClientRect()};
    });
    const wrong = [];
    const inside = (a, b) => a.left >= b.left - .5 && a.right <= b.right + .5;
    for (const t of texts) {
        if (!inside(t.box, page)) wrong.push('leaves the picture: ' + t.words);
        if (t.room && !inside(t.box, t.room)) wrong.push('leaves its box: ' + t.words);
    }
    texts.sort((a, b) => a.box.top - b.box.top);
    for (let i = 0; i < texts.length; i++)
        for (let j = i + 1; j < texts.length && texts[j].box.top < texts[i].box.bottom; j++) {
            const a = texts[i].box, b = texts[j].box;
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            // Line boxes are taller than letters: a quarter of a line is empty.
            if (wide > 1 && high > 0.3 * Math.min(a.height, b.height))
                wrong.push('overlap: ' + texts[i].words + ' and ' + texts[j].words);
        }
    return wrong;
}"""


@pytest.fixture(scope="module")
def page():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser.new_page()
        browser.close()


def measured(page, svg):
    page.set_content(f"<body style='margin:0'>{svg}</body>")
    return page.evaluate(MEASURE)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(("picture", "options"), DRAWN, ids=str)
def test_no_text_leaves_its_box(page, name, picture, options):
    for order in (1, 2):
        drawn = visual.draw(EVERY[name], picture, order=order, **options, **WRT.get(name, {}))
        assert measured(page, drawn.svg()) == []


@pytest.mark.parametrize("number", range(1, 9))
def test_no_text_leaves_its_box_in_the_figures(page, number):
    assert measured(page, visual.figure(number).svg()) == []


@pytest.mark.parametrize("picture", ["unrolled", "tapes", "ssa", "genealogy", "taps"])
def test_no_text_leaves_its_box_at_order_4(page, picture):
    loop = gallery.loops["square"].with_taps({"x": (-3, -1)}).with_steps(3)
    assert measured(page, visual.draw(loop, picture, order=4).svg()) == []


def test_the_measure_sees_what_is_wrong(page):
    svg = visual.tapes(gallery.loops["square"].trace()).svg()
    assert measured(page, svg.replace(">0.9025<", ">0.9025123456789012<"))
    assert measured(page, svg.replace(">step 0<", "><tspan dx='60'>step 0</tspan><"))
    shifted = svg.replace(
        ">2 · grad_of_square: the tape, order 1<", ' dx="900">2 · grad_of_square<'
    )
    assert shifted != svg
    assert measured(page, shifted)
