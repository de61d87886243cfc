"""Figures for papers: the requested width, with letters of seven points."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pypdfium2
import pytest
from pictures.checkers import Picture, sized

import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.layout.sheet import on_paper
from visual.options import WIDTH
from visual.scene.shapes import Box, Scene, Text
from visual.scene.theme import THEMES, Role

SQUARE = gallery.loops["square"]
INCH = 25.4


def faults(scene, millimeters):
    """Return the faults of a figure with a width in millimeters: wrong sizes, or small letters."""
    return list(sized(Picture("", "", scene, {"width": f"{millimeters}mm"})))


def test_an_unfit_figure_is_detected():
    good, wide = (visual.draw(SQUARE, width=width) for width in ("85mm", "170mm"))
    assert faults(good, 85) == []
    for wrong in (
        replace(good, millimeters=0.0),
        replace(good, millimeters=84.0),
        replace(wide, millimeters=85.0),
        replace(wide, width=wide.width / 2),
        replace(good, shapes=(*good.shapes, Text(20, 20, "small", 10))),
    ):
        assert faults(wrong, 85)


def test_pdf_and_png_are_as_wide():
    scene = visual.draw(SQUARE, width="column", theme="print")
    (page,) = pypdfium2.PdfDocument(scene.pdf())
    assert page.get_width() / 72 * INCH == pytest.approx(85, abs=0.1)
    shape = page.get_height() / page.get_width()
    assert shape == pytest.approx(scene.height / scene.width, rel=1e-3)


def test_a_narrow_picture_is_not_enlarged():
    """A picture that is narrower than its figure is centered and not scaled."""
    scene = Scene(100, 50, (Box(20, 10, 60, 30, Role.SEED),), "", "", THEMES["light"])
    figure = on_paper(scene, WIDTH.check("page"))
    root = ElementTree.fromstring(figure.svg())
    across = float(root.get("viewBox").split()[2])
    assert across == pytest.approx(170 / INCH * 96, abs=0.1)
    (box,) = (s for s in figure.walk() if isinstance(s, Box))
    assert box.width == 60
    assert box.x == pytest.approx(20 + (across - 100) / 2, abs=1)


def test_an_error_names_the_smallest_width():
    """The width in the message is sufficient; a width that is one millimeter less is not."""
    kind, loop = "stepgraph", gallery.loops["coupled"]
    with pytest.raises(ArgumentError) as caught:
        visual.draw(loop, kind, width="50mm")
    match = re.fullmatch(
        rf"width = '50mm': the picture {kind} of this loop needs (\d+)mm or more to stay legible.",
        str(caught.value),
    )
    smallest = int(match[1])
    assert faults(visual.draw(loop, kind, width=f"{smallest}mm"), smallest) == []
    with pytest.raises(ArgumentError):
        visual.draw(loop, kind, width=f"{smallest - 1}mm")
