"""Compare widths of texts with FreeType and Chromium; check the sizes of combined shapes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_browser.chromium import needs_browser
from matplotlib.ft2font import FT2Font, LoadFlags
from strange_loops import loop_of

import visual
from lab.loops import gallery
from visual.drawing.catalogue import PICTURES
from visual.scene.combinators import above, beside, envelope_of, piece
from visual.scene.fonts import EM, advances, folder, text_width
from visual.scene.shapes import Arrow, Box, Polyline, Text, shortened, walk
from visual.scene.theme import Role

BOUNDS = """svg => {
    document.body.innerHTML = svg;
    const texts = [...document.querySelectorAll('text')].filter(text => text.textContent);
    return texts.map(text => {
        const start = text.getStartPositionOfChar(0);
        return [start.x, start.y, text.getComputedTextLength()];
    });
}"""


@pytest.mark.parametrize("mono", [False, True])
@pytest.mark.parametrize("bold", [False, True])
def test_widths_equal_the_widths_of_the_font(bold, mono):
    name = f"DejaVuSans{'Mono' * mono}{'-Bold' * bold}.ttf"
    font = FT2Font(str(folder() / name))
    assert font.units_per_EM == EM
    assert advances(bold, mono) == {
        chr(code): font.load_glyph(glyph, LoadFlags.NO_SCALE).horiAdvance
        for code, glyph in font.get_charmap().items()
    }


@needs_browser
@pytest.mark.parametrize("loop", ["coupled", "rnn"])
@pytest.mark.parametrize("kind", PICTURES)
def test_texts_have_the_computed_positions_and_widths(page, kind, loop):
    """Kerning moves some pairs of letters closer, by a few hundredths of the width."""
    scene = visual.draw(gallery.loops[loop], kind, order=2)
    texts = [shape for shape in scene.walk() if isinstance(shape, Text) and shape.content]
    for text, (left, line, width) in zip(texts, page.evaluate(BOUNDS, scene.svg()), strict=True):
        assert 0.97 * text.width - 0.1 <= width <= text.width + 0.1, text.content
        assert abs(left - text.left) <= 0.02 * text.width + 0.1, text.content
        assert line == pytest.approx(text.y, abs=0.1), text.content


def test_unknown_letters_take_an_em_and_texts_are_shortened_to_their_width():
    assert text_width("梯", 10) == text_width("梯", 10, mono=True) == 10
    assert text_width("→", 10, mono=True) == text_width("x", 10, mono=True) != text_width("→", 10)
    assert shortened("short", 100, 12) == "short"
    assert shortened("a long name [id A]", 70, 12).endswith("…")  # [id A] is no index
    assert shortened("a long name[t−1]", 70, 12).endswith("…[t−1]")
    cut = shortened("a very long name indeed", 60, 12)
    assert cut.endswith("…")
    assert text_width(cut, 12) <= 60


@pytest.mark.parametrize("kind", PICTURES)
def test_texts_with_a_long_name_are_inside_the_picture(kind):
    scene = visual.draw(replace(loop_of("x" * 300, 0.5), name="loop" * 75), kind, order=1)
    texts = [shape for shape in scene.walk() if isinstance(shape, Text)]
    assert all(text.left >= 0 and text.left + text.width <= scene.width for text in texts)


POSITIONS = st.integers(-200, 200).map(float)
SIZES = st.integers(1, 120).map(float)
POINTS = st.tuples(POSITIONS, POSITIONS)
LETTERS = st.text("abcxyzWM₀₃·Σθ 0123456789", min_size=1, max_size=12)
ANCHORS = st.sampled_from(["start", "middle", "end"])
SHAPES = st.one_of(
    st.builds(Box, POSITIONS, POSITIONS, SIZES, SIZES, st.sampled_from(Role)),
    st.builds(Text, POSITIONS, POSITIONS, LETTERS, st.integers(9, 16), ANCHORS),
    st.builds(Polyline, st.lists(POINTS, min_size=1, max_size=4).map(tuple)),
    st.builds(Arrow, st.lists(POINTS, min_size=2, max_size=4, unique=True).map(tuple)),
)
PIECES = st.lists(SHAPES, min_size=1, max_size=4).map(lambda shapes: piece(*shapes))
GAPS = st.integers(0, 30).map(float)


def is_inside(shape, envelope, slack=1e-6):
    """Return whether a shape is in a rectangle, by its coordinates and not by `envelope_of`."""
    if isinstance(shape, Box):
        corners = [(shape.x, shape.y), (shape.x + shape.width, shape.y + shape.height)]
    elif isinstance(shape, Text):
        corners = [(shape.left, shape.y - shape.size * 0.7), (shape.left + shape.width, shape.y)]
    else:
        corners = list(shape.points)
    (left, top), (right, bottom) = np.min(corners, axis=0), np.max(corners, axis=0)
    outside = [envelope.left - left, envelope.top - top]
    return max(*outside, right - envelope.right, bottom - envelope.bottom) <= slack


@given(PIECES, PIECES, GAPS)
def test_sizes_of_combinations_are_sums_and_maxima(a, b, apart):
    row, stack = beside(a, b, apart=apart).envelope, above(a, b, apart=apart).envelope
    (wide, high), (wide_b, high_b) = ((p.envelope.width, p.envelope.height) for p in (a, b))
    assert (row.width, row.height) == pytest.approx((wide + apart + wide_b, max(high, high_b)))
    assert (stack.width, stack.height) == pytest.approx((max(wide, wide_b), high + apart + high_b))


@given(st.lists(PIECES, min_size=1, max_size=5), GAPS)
def test_no_shape_leaves_its_envelope(parts, apart):
    combined = above(beside(*parts, apart=apart), above(*parts, apart=apart), apart=apart)
    assert all(is_inside(shape, combined.envelope) for shape in walk(combined.shapes))


def test_a_shape_outside_its_envelope_is_detected():
    box = Box(0, 0, 50, 20, Role.SEED)
    assert not is_inside(box, piece(box).envelope._replace(right=49.0))
    assert not is_inside(Text(0, 10, "Wide words", 12), envelope_of(Text(0, 10, "Wide", 12)))
