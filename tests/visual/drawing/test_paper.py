"""Figures for papers: the requested width, with letters of seven points."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pypdfium2
import pytest
from pictures.checkers import Drawn, sized

import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.drawing.paper import on_paper
from visual.options import WIDTH
from visual.scene.shapes import Box, Scene, Text
from visual.scene.theme import THEMES, Role

SQUARE = gallery.loops["square"]
INCH = 25.4


def unfit(scene, millimeters):
    """Return the faults of a picture as a figure of a width: a wrong size, or illegible text."""
    return list(sized(Drawn("", "", scene, {"width": f"{millimeters}mm"})))


def test_an_unfit_figure_is_detected():
    good, wide = (visual.draw(SQUARE, width=width) for width in ("85mm", "170mm"))
    assert unfit(good, 85) == []
    for wrong in (
        replace(good, millimeters=0.0),
        replace(good, millimeters=84.0),
        replace(wide, millimeters=85.0),
        replace(wide, width=wide.width / 2),
        replace(good, shapes=(*good.shapes, Text(20, 20, "small", 10))),
    ):
        assert unfit(wrong, 85)


def test_pdf_and_png_are_as_wide():
    scene = visual.draw(SQUARE, width="column", theme="print")
    (page,) = pypdfium2.PdfDocument(scene.pdf())
    assert page.get_width() / 72 * INCH == pytest.approx(85, abs=0.1)
    shape = page.get_height() / page.get_width()
    assert shape == pytest.approx(scene.height / scene.width, rel=1e-3)


def test_a_narrow_picture_is_not_enlarged():
    """A picture that is narrower than its figure is centered and not scaled."""
    alone = Scene(100, 50, (Box(20, 10, 60, 30, Role.SEED),), "", "", THEMES["light"])
    figure = on_paper(alone, WIDTH.check("page"))
    root = ElementTree.fromstring(figure.svg())
    across = float(root.get("viewBox").split()[2])
    assert across == pytest.approx(170 / INCH * 96, abs=0.1)
    (box,) = (s for s in figure.walk() if isinstance(s, Box))
    assert box.width == 60
    assert box.x == pytest.approx(20 + (across - 100) / 2, abs=1)


def test_an_error_names_the_smallest_width():
    """The width that is named is enough, and a millimeter less is not."""
    kind, loop = "stepgraph", gallery.loops["coupled"]
    with pytest.raises(ArgumentError) as refused:
        visual.draw(loop, kind, width="50mm")
    told = re.fullmatch(
        rf"width = '50mm': the picture {kind} of this loop needs (\d+)mm or more to stay legible.",
        str(refused.value),
    )
    least = int(told[1])
    assert unfit(visual.draw(loop, kind, width=f"{least}mm"), least) == []
    with pytest.raises(ArgumentError):
        visual.draw(loop, kind, width=f"{least - 1}mm")
