"""Slides of a lesson, in Chromium with the network cut: step by step, nothing of the future."""

import re

import jupytext
import pytest
from in_browser.chromium import CHROMIUM
from sites import ROOT

from lab.errors import ArgumentError, LabError
from visual.cli.main import main
from visual.lessons import slides as slides_of
from visual.lessons.slides import plain, slides

SMALL = """# A small one

Here it **begins**, with a [link](x.ipynb).

## First

Something is said.

```{code-cell} ipython3
import visual
from lab import gallery
```

```{code-cell} ipython3
trace = gallery.loops["square"].trace()
visual.Stepper(visual.tapes(trace))
```

```{code-cell} ipython3
:jupyter: {source_hidden: true}

asked = visual.Question("How many?", "two", "One and one.", choices=("one", "two"))
asked
```

## Second

```{code-cell} ipython3
print("1 < 2")
3
```
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    lesson = tmp_path_factory.mktemp("slides") / "small.md"
    lesson.write_text(SMALL, encoding="utf-8")
    return slides(lesson)


def test_each_cell_that_shows_something_is_a_slide(page):
    sections = re.findall(r"<section>(.*?)</section>", page, re.DOTALL)
    assert len(sections) == 4
    assert "<h1>A small one</h1><p>Here it begins, with a link.</p>" in sections[0]
    assert sections[1].count("<svg") == 4
    assert '<aside class="notes"><p>Something is said.</p></aside>' in sections[1]
    assert "<li>one</li><li>two</li>" in sections[2]
    assert "<p class='fragment'><b>two</b>. One and one.</p>" in sections[2]
    assert "visual.Question" not in sections[2]
    assert "1 &lt; 2" in sections[3]
    assert "<pre class='output'>3</pre>" in sections[3]


def test_a_notebook_gives_the_same_slides(page, tmp_path):
    path = tmp_path / "small.ipynb"
    jupytext.write(jupytext.reads(SMALL, "md:myst"), path)
    again = slides(path)
    assert again.count("<section>") == page.count("<section>")
    assert "visual.Question" not in again


def test_nothing_is_loaded_from_elsewhere(page):
    markup = re.sub(r"(<script>).*?</script>", r"\1", page, flags=re.DOTALL)
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=", markup)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: no slides are shown")
def test_reveal_walks_through_them(page, browser, tmp_path):
    path = tmp_path / "slides.html"
    path.write_text(page, encoding="utf-8")
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 720})
    shown, told, asked = context.new_page(), [], []
    shown.on("pageerror", lambda error: told.append(str(error)))
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(path.as_uri())
    assert shown.evaluate("Reveal.getTotalSlides()") == 4
    shown.keyboard.press("ArrowRight")
    seen = []
    for _ in range(4):
        seen.append([one.is_visible() for one in shown.locator("section.present .fragment").all()])
        shown.keyboard.press("ArrowRight")
        shown.wait_for_timeout(300)
    # One step at a time: what comes is not shown, what was is gone.
    assert seen == [[place == step for place in range(4)] for step in range(4)]
    assert "Something is said." in shown.evaluate("Reveal.getSlideNotes(Reveal.getSlide(1))")
    context.close()
    assert told == []
    assert all(url.startswith("file:") for url in asked)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("No title.", "expected a text with a title"),
        ("# T\n\n```{code-cell} ipython3\n1/0\n```\n", "a cell fails with ZeroDivisionError"),
    ],
)  # fmt: skip
def test_what_is_no_lesson_is_refused(tmp_path, text, words):
    path = tmp_path / "x.md"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=words):
        slides(path)


def test_a_lesson_is_found_by_its_name(tmp_path, capsys, monkeypatch):
    assert slides_of.found("01_loop") == ROOT / "notebooks" / "01_loop.md"
    assert main(["slides", "no_such", "-o", str(tmp_path / "x.html")]) == 2
    assert re.search(r"lesson = 'no_such': .*11_your_own", capsys.readouterr().err)
    assert main(["slides", str(tmp_path / "no.md"), "-o", str(tmp_path / "x.html")]) == 2
    assert capsys.readouterr().err.endswith("no.md': No such file or directory.\n")
    for name in ("x.doc", "x.pdf", "x.svg"):
        assert main(["slides", "01_loop", "-o", str(tmp_path / name)]) == 2
        assert f"{name}': a page ends in .html." in capsys.readouterr().err
    assert main(["slides", "01_loop", "-o", str(tmp_path / "none" / "x.html")]) == 2
    assert "x.html': there is no folder" in capsys.readouterr().err
    monkeypatch.setattr(slides_of, "find_spec", lambda name: None)
    with pytest.raises(LabError, match=r"reveal\.js is not installed"):
        slides(tmp_path / "x.md")


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: no slides are shown")
def test_all_that_was_printed_is_seen(tmp_path, browser):
    text = tmp_path / "x.md"
    cell = "```{code-cell} ipython3\nprint('\\n'.join(['word ' * 18] * 38))\n```\n"
    text.write_text(f"# T\n\nOne.\n\n## A\n\n{cell}")
    page = tmp_path / "x.html"
    page.write_text(slides(text), encoding="utf-8")
    shown = browser.new_page(viewport={"width": 1280, "height": 720})
    shown.goto(f"{page.as_uri()}#/1")
    shown.wait_for_function("window.Reveal && Reveal.isReady()")
    box = shown.locator("section.present .output").bounding_box()
    shown.close()
    assert box["y"] > 0
    assert box["y"] + box["height"] < 720
    assert box["height"] > 300  # large enough to be read


def test_a_picture_below_many_lines_has_a_slide_of_its_own(tmp_path):
    lesson = tmp_path / "x.md"
    for lines, slides_of_it in ((3, 1), (6, 2)):
        code = "import visual\n" + "print(1)\n" * (lines // 2) + "visual.figure(2)"
        lesson.write_text(
            f"# T\n\nHello.\n\n## A\n\nSaid.\n\n```{{code-cell}} ipython3\n{code}\n```\n"
        )
        _, *made = re.findall(r"<section>(.*?)</section>", slides(lesson), re.DOTALL)
        assert len(made) == slides_of_it
        assert "<p>Said.</p>" in made[0]
        assert ["<svg" in one for one in made] == [False, True][-slides_of_it:]


PICTURES = """
visual.breaking(lab.break_rule(square.with_steps(2), "accumulate-overwritten"))
visual.two_tapes(square)
visual.unrolled(square.trace(order=2), scans=(2, 3))
visual.draw(square, "genealogy", order=2)
visual.routing("narrow", (numpy.arange(5.0),), cotangent=[1.0, 2.0], dim=0, start=1, length=2)
visual.tapes(gallery.loops["rnn"].trace())
"""


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: no letters are measured")
def test_letters_are_large_enough(tmp_path, browser):
    imports = (
        "import numpy, lab, visual\nfrom lab import gallery\n\nsquare = gallery.loops['square']"
    )
    cells = [imports, *PICTURES.strip().splitlines()]
    told = "\n".join(f"```{{code-cell}} ipython3\n{cell}\n```\n" for cell in cells)
    (tmp_path / "x.md").write_text(f"# T\n\n## A\n\n{told}", encoding="utf-8")
    page = tmp_path / "x.html"
    page.write_text(slides(tmp_path / "x.md"), encoding="utf-8")
    shown = browser.new_page(viewport={"width": 1280, "height": 720})
    shown.goto(page.as_uri())
    shown.wait_for_function("window.Reveal && Reveal.isReady()")
    told, pictures = [], set()
    while told[-1:] != (now := [shown.evaluate("JSON.stringify(Reveal.getIndices())")]):
        told += now
        sizes = shown.evaluate(LETTERS)
        assert all(size >= 11 for size in sizes), (told[-1], min(sizes))
        box = shown.evaluate(PLACE)
        if box:
            pictures.add(told[-1])
            assert box["top"] >= 0, told[-1]
            assert box["bottom"] <= 720, told[-1]
            assert box["right"] - box["left"] <= 1280, told[-1]
        shown.evaluate("Reveal.next()")
    assert len(pictures) > len(cells)  # some are shown in parts
    shown.evaluate("Reveal.getCurrentSlide().querySelector('svg').setAttribute('width', 300)")
    assert min(shown.evaluate(LETTERS)) < 11
    shown.close()


# How large the letters of the present slide are, on the screen; where its picture is.
LETTERS = """() => [...Reveal.getCurrentSlide().querySelectorAll("svg text")].map((text) =>
  parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d)"""
PLACE = """() => [...Reveal.getCurrentSlide().querySelectorAll("svg")].filter((svg) =>
  svg.checkVisibility({visibilityProperty: true}))[0]?.getBoundingClientRect().toJSON()"""


def test_a_lesson_without_a_lead_keeps_its_first_slide(tmp_path):
    lesson = tmp_path / "x.md"
    cell = "```{code-cell} ipython3\nprint(1)\n```\n"
    for told, lead in (("", ""), ("Hello.\n\n", "<p>Hello.</p>"), ("Hello.\n", "<p>Hello.</p>")):
        lesson.write_text(f"# T\n\n{told}{cell}\n## B\n\n{cell}")
        title, *others = re.findall(r"<section>(.*?)</section>", slides(lesson), re.DOTALL)
        assert title == f"<h1>T</h1>{lead}"
        assert ["print(1)" in one for one in others] == [True, True]
        assert "<h2>T</h2>" in others[0]


def test_what_is_no_part_of_the_talk_is_left_out(tmp_path):
    lesson = tmp_path / "x.md"
    cell = "```{code-cell} ipython3\nprint(1)\n```\n"
    more = f"<details>\n<summary>More</summary>\n\nMuch.\n\n{cell.replace('1', '2')}\n</details>"
    lesson.write_text(f"# T\n\nHello.\n\n## B\n\n{cell}\n{more}\n")
    told = slides(lesson)
    assert "print(1)" in told
    assert "print(2)" not in told
    assert "Much." not in told


def test_markdown_is_spoken():
    assert plain("A **tape**, a *slot* and `buf[1]`:\n[here](x.md), 2*3*4") == (
        "A tape, a slot and buf[1]: here, 2*3*4"
    )


def test_no_slide_is_empty(tmp_path):
    """What is said after a picture is said over it; where there is none, it is to be read."""
    lesson = tmp_path / "small.md"
    bench = "```{code-cell} ipython3\nimport visual\nvisual.Workbench(view='taps')\n```"
    lesson.write_text(f"# A\n\nHello.\n\n## B\n\n{bench}\n\nSo it is.\n\n## C\n\nRead **me**.\n")
    _, second, third = re.findall(r"<section>(.*?)</section>", slides(lesson), re.DOTALL)
    assert "<svg" in second
    assert '<aside class="notes"><p>So it is.</p></aside>' in second
    assert "<h2>C</h2>\n<p>Read me.</p>" in third
