"""Widths of letters, compared with fontTools and with Chromium."""

import pytest
from fontTools.ttLib import TTFont
from in_browser.chromium import CHROMIUM

import visual
from lab.loops import gallery
from visual.scene.fonts import EM, advances, folder, text_width
from visual.scene.shapes import Text, shortened

LENGTHS = """svg => {
    document.body.innerHTML = svg;
    return [...document.querySelectorAll('text')].map(t => t.getComputedTextLength());
}"""


@pytest.mark.parametrize("mono", [False, True])
@pytest.mark.parametrize("bold", [False, True])
def test_widths_are_those_of_the_font(bold, mono):
    name = f"DejaVuSans{'Mono' * mono}{'-Bold' * bold}.ttf"
    font = TTFont(folder() / name)
    glyphs = {code: glyph for code, glyph in font.getBestCmap().items() if code < 0xFFFF}
    assert font["head"].unitsPerEm == EM
    assert advances(bold, mono) == {chr(c): font["hmtx"][glyph][0] for c, glyph in glyphs.items()}


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium to compare with")
@pytest.mark.parametrize("kind", ["tapes", "phases", "stepgraph", "unrolled"])
def test_no_text_is_drawn_wider_than_it_is_measured(page, kind):
    """Kerning moves some pairs of letters closer, by a few hundredths of the width."""
    scene = visual.draw(gallery.loops["coupled"], kind, order=2)
    texts = [shape for shape in scene.walk() if isinstance(shape, Text)]
    for text, drawn in zip(texts, page.evaluate(LENGTHS, scene.svg()), strict=True):
        assert 0.97 * text.width - 0.1 <= drawn <= text.width + 0.1, text.content


def test_letters_that_no_font_has_take_an_em():
    assert text_width("梯", 10) == text_width("梯", 10, mono=True) == 10
    assert text_width("→", 10, mono=True) == text_width("x", 10, mono=True) != text_width("→", 10)


def test_texts_are_shortened_to_their_width():
    assert shortened("short", 100, 12) == "short"
    cut = shortened("a very long name indeed", 60, 12)
    assert cut.endswith("…")
    assert text_width(cut, 12) <= 60
