"""The site works in Chromium from file://, without a network, light and dark, wide and narrow."""

import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pypdfium2
import pytest
from in_browser.chromium import CHROMIUM, Opened, pytestmark, violations  # noqa: F401 (marks)
from sites import ROOT, small_site

import visual
from lab.loops import gallery
from visual.backends import dark as dark_colors


@pytest.fixture
def opened(browser):
    """Yield a function that opens a page. No page loads other files or prints a message."""
    with ExitStack() as stack:

        def open_page(name, width=1200, **options):
            size = {"width": width, "height": 800}
            opened = Opened(browser, small_site() / name, viewport=size, **options)
            stack.callback(opened.check_quiet, small_site())
            return stack.enter_context(opened).page

        yield open_page


def test_each_exercise_of_a_page_checks_its_own_answer(opened):
    page = opened("02_second.html")
    exercises = page.locator(".exercise")
    verdicts = page.locator(".verdict")
    assert exercises.count() == 5
    answers = [("1", "Right."), ("1000", "Wrong.")]  # step 0 of the gradient writes at tap 1
    answers += [("0, 1", "Wrong.")]  # taps: -1 becomes 1, and no other tap
    answers += [("0", "Right.")]  # step 0 reads position 0 and preserves it
    for number, (typed, outcome) in enumerate(answers):
        exercises.nth(number).locator("input").fill(typed)
        exercises.nth(number).locator("[type=submit]").click()
        assert verdicts.nth(number).text_content().startswith(outcome), number
    exercises.nth(4).get_by_label("yes").check()  # 0.9 times 0.9 is 0.81
    exercises.nth(4).locator("[type=submit]").click()
    assert verdicts.nth(4).text_content() == "Right. 0.81 is."
    assert page.locator(".score").text_content() == "6 of 10 points; 3 of 5 answered."
    page.locator(".again").click()
    assert page.locator(".score").text_content() == "0 of 10 points; 0 of 5 answered."


def test_lessons_can_be_searched(opened):
    for typed, pages in {
        "tapestry": ["Everything a lesson can hold"],
        "gradient guess": ["What is the gradient of a loop?"],
        "WORKBENCH machine": ["Everything a lesson can hold"],
        "kaleidoscope": [],  # only in a solution
        "0.81": [],  # only in the hidden code of a question
        "<img src=x>": [],
    }.items():
        page = opened("index.html")
        page.get_by_placeholder("Search").fill(typed)
        page.keyboard.press("Enter")
        finished = re.compile("finished|did not match")
        page.locator(".search-summary").filter(has_text=finished).wait_for()
        links = page.locator("#search-results li > a")
        assert [link.split(" > ")[0] for link in links.all_text_contents()] == pages, typed


COLORS = """(svg) => [...svg.querySelectorAll('rect, path, text')].map(shape => {
    const style = getComputedStyle(shape);
    return [shape.tagName, style.fill, style.stroke].join(' ');
})"""


@pytest.mark.parametrize("kind", ["unrolled", "tapes", "stepgraph"])
def test_a_dark_screen_shows_the_colors_of_the_dark_theme(page, kind):
    loop = gallery.loops["rnn"]
    light, dark = (visual.draw(loop, kind, theme).svg() for theme in ("light", "dark"))
    page.emulate_media(color_scheme="dark")
    page.set_content(
        f"<style>:root{{color-scheme:light dark}}{dark_colors.style()}</style>"
        f"<div class='light'>{light}</div><div>{dark}</div>"
    )
    actual, expected = (page.locator("svg").nth(n).evaluate(COLORS) for n in (0, 1))
    assert len(actual) == len(expected) > 10
    # Some roles share a light color, and have two dark colors that hardly differ.
    number = re.compile(r"\d+")
    assert [number.sub("", a) for a in actual] == [number.sub("", b) for b in expected]
    digits = ([int(n) for a in colors for n in number.findall(a)] for colors in (actual, expected))
    assert max(abs(a - b) for a, b in zip(*digits, strict=True)) <= 28


@pytest.mark.parametrize(
    ("name", "scheme", "rules"),
    [
        ("index.html", "dark", {}),
        ("02_second.html", "light", {}),
        ("02_second.html", "dark", {"runOnly": ["color-contrast"]}),  # differs in colors only
    ],
)
def test_axe_finds_no_violation(opened, name, scheme, rules):
    page = opened(name, color_scheme=scheme, bypass=True)
    assert violations(page, options={"preload": False, **rules}) == []


def test_lines_are_readable_and_nothing_is_wider_than_the_screen(opened):
    lines = """() => { const p = [...document.querySelectorAll('article section > p')].sort(
        (a, b) => b.textContent.length - a.textContent.length)[0];
        const range = document.createRange(); range.selectNodeContents(p);
        const tops = new Set([...range.getClientRects()].map(box => Math.round(box.bottom / 8)));
        return p.textContent.length / tops.size; }"""
    wide = opened("01_square.html")
    assert 55 <= wide.evaluate(lines) <= 78
    for name in ("01_square.html", "02_second.html", "index.html"):
        narrow = opened(name, width=360)
        assert narrow.evaluate("document.documentElement.scrollWidth") <= 360


def test_printed_pages_have_no_controls_and_pictures_fit(opened):
    page = opened("02_second.html", width=700, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    controls = ".sidebar-drawer, .scantape-bar, form button, form > label, .toc-drawer"
    assert page.locator(controls).locator("visible=true").count() == 0
    assert page.locator(".picture svg").first.is_visible()
    assert page.get_by_label("yes").is_visible()  # the choices are part of a question
    widths = (
        "[...document.querySelectorAll('article svg')].map(s => s.getBoundingClientRect().right)"
    )
    assert max(page.evaluate(widths)) <= 700
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


SERVER = "http://lessons.test"


def test_an_embedded_page_has_no_sidebars_and_reports_its_height(page, tmp_path):
    """The snippet for lecturers listens to the lesson only."""
    text = (ROOT / "notebooks" / "lecturer.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"^```html\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert snippet.count("01_loop.html?embed") == 1
    snippet = snippet.replace("01_loop.html", "site/01_square.html")
    stranger = "<script>parent.postMessage({scantape: 7}, '*')</script>"
    stranger = f'<iframe sandbox="allow-scripts" srcdoc="{stranger}"></iframe>'
    listener = "<script>heights = []; onmessage = ({data}) => heights.push(data.scantape)</script>"
    (tmp_path / "outer.html").write_text(f"{listener}{snippet}")
    (tmp_path / "strange.html").write_text(f"{listener}{snippet}{stranger}".replace("?embed", ""))
    (tmp_path / "site").symlink_to(small_site())
    # The browser reads the files of this server from the folder.
    page.route(
        f"{SERVER}/**", lambda r: r.fulfill(path=tmp_path / urlsplit(r.request.url).path[1:])
    )
    page.goto(f"{SERVER}/outer.html")
    height = "parseFloat(lesson.style.height)"
    page.wait_for_function(f"{height} > 500")
    assert page.evaluate(f"heights.includes({height})")
    frame = page.frames[1]
    assert not frame.locator(".sidebar-drawer").is_visible()
    assert frame.locator("h1").is_visible()
    page.goto(f"{SERVER}/strange.html")
    page.wait_for_function("heights.includes(7)")
    assert page.evaluate("lesson.style.height") == ""
    assert page.frames[1].locator("html[data-embedded]").count() == 0


def test_lessons_are_printed_with_all_their_pictures(tmp_path):
    def print_course(browser):
        command = ["make", "-o", "site", "pdf", f"SITE={small_site()}", f"CHROMIUM={browser}"]
        command += [f"VENV={tmp_path}", f"BIN={Path(sys.executable).parent}"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    result = print_course(CHROMIUM)
    assert result.returncode == 0, result.stderr
    course = pypdfium2.PdfDocument(small_site() / "course.pdf")
    texts = [page.get_textpage().get_text_range() for page in course]
    parts = [pypdfium2.PdfDocument(path) for path in sorted(small_site().glob("[0-9]*.pdf"))]
    assert len(parts) == 2
    assert len(course) == sum(map(len, parts))
    assert "What is the gradient of a loop?" in texts[0]
    text = "".join(texts)
    scene = visual.tapes(gallery.loops["square"].trace(order=1))
    assert all(words in text for words in re.findall(r"dC/dx.|buf\[\d\] ← \S+", scene.text()))
    assert "Show the answer" not in text
    assert "Chromium is missing" in print_course("").stderr
    assert "nothing did not print" in print_course(tmp_path / "nothing").stderr
