"""The PDF, the PNG image, and the page of a picture equal its SVG; files are complete or absent."""

import io
import math
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pypdfium2
import pytest
from in_browser.chromium import Opened, needs_browser
from PIL import Image
from strange_loops import HOSTILE, trace_of

import visual
from lab.errors import ArgumentError
from visual.backends.page import document, to_page
from visual.pictures.plots.values import values
from visual.pictures.unrolled.unrolled import unrolled
from visual.scene import fonts
from visual.scene.shapes import Arrow, Box, Scene, Text
from visual.scene.theme import LIGHT, THEMES, Role


@pytest.fixture(scope="module")
def page(browser):
    """A page with the resolution of the other formats."""
    page = browser.new_page(device_scale_factor=SHARP)
    yield page
    page.close()


def faces():
    for name, file in (("Sans", "DejaVuSans"), ("Sans Mono", "DejaVuSansMono")):
        for weight, suffix in ((400, ""), (700, "-Bold")):
            data = b64encode((fonts.folder() / f"{file}{suffix}.ttf").read_bytes()).decode()
            yield (
                f"@font-face{{font-family:'Our {name}';font-weight:{weight};"
                f"src:url(data:font/ttf;base64,{data})}}"
            )


STYLE = "".join(faces())


def in_browser(page, picture):
    """Return the image of an SVG in Chromium, with the fonts of the other formats."""
    svg = picture.svg().replace(fonts.MONO, "'Our Sans Mono'").replace(fonts.SANS, "'Our Sans'")
    width, height = math.ceil(picture.width), math.ceil(picture.height)
    page.set_viewport_size({"width": width, "height": height})
    # Browsers round the positions of letters to whole pixels; this setting prevents it.
    rules = f"html{{background:{picture.theme.background}}}body{{margin:0}}"
    rules += "svg{display:block;text-rendering:geometricPrecision}"
    page.set_content(f"<style>{STYLE}{rules}</style>{svg}")
    page.evaluate("document.fonts.ready.then(() => 1)")
    return gray(page.screenshot(full_page=True))


def gray(png):
    """Return a PNG image in shades of gray, from 0 to 255."""
    return np.asarray(Image.open(io.BytesIO(png)).convert("L"), "int32")


def image_of_pdf(data):
    """Return the image of a PDF in gray, with the resolution of the other formats."""
    document = pypdfium2.PdfDocument(data)
    assert len(document) == 1
    return np.asarray(document[0].render(scale=SHARP * 96 / 72).to_pil().convert("L"), "int32")


def difference(first, second, size=12):
    """Return the largest difference of two pictures, from 0 to 1, of means over 6 by 6 CSS pixels.

    Programs smooth edges differently, but draw the same amount of ink at the same position.
    """
    height, width = np.minimum(first.shape, second.shape)
    assert np.all(np.abs(np.subtract(first.shape, second.shape)) <= SHARP)
    differences = first[:height, :width] - second[:height, :width]
    sums = np.zeros((height + 1, width + 1), "int32")
    differences.cumsum(0, "int32", sums[1:, 1:]).cumsum(1, "int32", sums[1:, 1:])
    inside = sums[size:] - sums[:-size]
    return float(np.abs(inside[:, size:] - inside[:, :-size]).max()) / size**2 / 255


CASES = [
    (visual.tapes, "square", 1, "light"),
    (visual.tapes, "rnn", 1, "dark"),
    (visual.tapes, "coupled", 1, "print"),
    (visual.tapes, "latex name", 2, "dark"),
    (visual.tapes, "nan", 1, "print"),
    (unrolled, "window", 1, "light"),
    (unrolled, "square", 2, "dark"),
    (values, "coupled", 2, "light"),
    (values, "rnn", 1, "dark"),
]
SHARP, TOLERANCE = 2, 0.105  # at twice the size, smoothing has less influence


@needs_browser
@pytest.mark.parametrize(("draw", "name", "order", "theme"), CASES)
def test_pdf_and_png_agree_with_the_svg(page, draw, name, order, theme):
    scene = draw(trace_of(name, order)).themed(theme)
    image = in_browser(page, scene)
    assert difference(gray(scene.png(SHARP)), image) < TOLERANCE
    assert difference(image_of_pdf(scene.pdf()), image) < TOLERANCE


WRONG = {
    "a box moved": (Box, lambda shape: [replace(shape, x=shape.x + 6, y=shape.y + 6)]),
    "a box missing": (Box, lambda shape: []),
    "a text missing": (Text, lambda shape: []),
    "a text moved": (Text, lambda shape: [replace(shape, y=shape.y + 3)]),
    "a wrong text": (Text, lambda shape: [replace(shape, content=shape.content + "8")]),
    "an arrow missing": (Arrow, lambda shape: []),
}


@pytest.fixture(scope="module")
def square(page):
    """A picture, and the image that Chromium draws of it."""
    scene = visual.tapes(trace_of("square", 1))
    return scene, in_browser(page, scene)


@needs_browser
@pytest.mark.parametrize("wrong", WRONG)
def test_a_faulty_picture_is_detected(square, wrong):
    scene, image = square
    kind, change = WRONG[wrong]
    shapes = list(scene.walk())
    assert difference(gray(replace(scene, shapes=tuple(shapes)).png(SHARP)), image) < TOLERANCE
    numbers = [n for n, shape in enumerate(shapes) if isinstance(shape, kind)]
    for n in numbers[:: max(1, len(numbers) // 2)]:
        other = replace(scene, shapes=(*shapes[:n], *change(shapes[n]), *shapes[n + 1 :]))
        assert difference(gray(other.png(SHARP)), image) > TOLERANCE, shapes[n]


def test_an_image_has_the_size_of_the_scene_times_its_scale():
    scene = Scene(100.2, 50, (Text(5, 20, "x"),), "t", "d")
    for scale, size in {1: (101, 50), 2: (201, 100), 0.5: (51, 25), 3.3: (331, 165)}.items():
        assert Image.open(io.BytesIO(scene.png(scale))).size == size
    long = Scene(500, 40_000, (Box(10, 39_900, 80, 40, Role.SEED),), "t", "d")
    for each, size in ((scene, (100.2 * 0.75, 37.5)), (long, (180, 14_400))):  # the largest page
        page = pypdfium2.PdfDocument(each.pdf())[0]
        assert page.get_size() == pytest.approx(size, abs=0.01)


NAMES = [r"$x_1$", r"\frac{", "שלום", r"a^{2}$ and $", "_hidden", "%s {0}", HOSTILE, "Ωμέγα_θ̂"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_plain_text_before_its_value(name):
    scene = Scene(400, 60, (Text(10, 30, f"{name} = -5", mono=True),), name, "d")
    page = pypdfium2.PdfDocument(scene.pdf())[0].get_textpage()
    letters = "".join(filter(str.isprintable, page.get_text_range()))
    assert name.replace(" ", "") in letters.replace(" ", "")
    order = sorted(range(page.count_chars()), key=lambda n: page.get_charbox(n)[0])
    assert "".join(page.get_text_range(n, 1).strip() for n in order).endswith("-5")
    assert scene.png()


def test_letters_that_the_font_lacks_are_boxes():
    texts = (Text(10, 30, f"{name} = 5") for name in ("温度", "□□"))
    letters, boxes = (Scene(100, 40, (text,), "t", "d").png() for text in texts)
    assert letters == boxes


def test_pdfs_contain_their_fonts_and_a_title():
    data = visual.tapes(trace_of("square")).pdf()
    assert b"/FontFile2" in data  # TrueType
    assert b"CreationDate" not in data
    metadata = pypdfium2.PdfDocument(data).get_metadata_dict()
    assert metadata["Title"] == "Tapes of square, derivative of order 1"


# Files

DOT = replace(Scene(10, 10, (), "t", "d"), dot="digraph { a -> b }")


def test_dot_is_saved_if_the_picture_has_it(tmp_path):
    assert DOT.save(tmp_path / "a.dot").read_text() == DOT.dot
    assert DOT.save(tmp_path / "a.PDF").read_bytes().startswith(b"%PDF")
    with pytest.raises(ArgumentError, match=r"b\.dot.*\.svg, \.pdf.*step graph and a genea"):
        visual.tapes(trace_of("square")).save(tmp_path / "b.dot")
    assert not (tmp_path / "b.dot").exists()


# Pages


@pytest.mark.parametrize("draw", [visual.tapes, values])
@pytest.mark.parametrize("theme", THEMES)
def test_pages_allow_only_their_own_style(draw, theme):
    html = to_page(draw(trace_of("hostile name", 1)).themed(theme))
    assert "<script" not in html
    style = re.search(r"<style>(.*?)</style>", html, re.S)[1]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert not re.search("unsafe|script-src", policy)
    assert THEMES[theme].background in style
    assert not re.search(r'(href|src|style)="', html)
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


@needs_browser
def test_pages_work_from_a_file(browser, tmp_path):
    """The policy admits the style and the picture; the page sends no request to the network."""
    trace = trace_of("hostile name", 1)
    path = visual.tapes(trace).save(tmp_path / "page.html", theme="dark")
    with Opened(browser, path, viewport={"width": 400, "height": 600}) as opened:
        page = opened.page
        assert "(17, 24, 39)" in page.evaluate("getComputedStyle(document.body).background")
        assert page.evaluate("document.documentElement.scrollWidth") <= 400  # the picture scrolls
        assert page.evaluate("document.querySelector('.picture').scrollWidth") > 400
        assert page.locator("h1").count() == page.locator("main svg").count() == 1
        page.click("summary")
        assert HOSTILE in page.inner_text("pre")
        opened.check_quiet(tmp_path)


@needs_browser
def test_a_page_runs_its_own_module_only(page, tmp_path):
    path = tmp_path / "page.html"
    body = "<script>document.body.id = 'foreign'</script>"
    path.write_text(document("t", LIGHT, body, script="document.title = 'ran'"))
    page.goto(path.as_uri())
    assert page.title() == "ran"
    assert page.evaluate("document.body.id") == ""
