"""Figures for papers: the requested width, with letters of seven points."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pypdfium2
import pytest

import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.cli.main import main
from visual.drawing.catalogue import PICTURES
from visual.drawing.paper import on_paper
from visual.options import WIDTH
from visual.scene.shapes import Box, Scene, Text
from visual.scene.theme import THEMES, Role

pytestmark = pytest.mark.same

SQUARE = gallery.loops["square"]
INCH = 25.4


def unfit(written, millimetres):
    """The faults of an SVG as a figure of a width: a wrong size, or illegible text."""
    root = ElementTree.fromstring(written)
    left, top, across, down = map(float, root.get("viewBox").split())
    found = [] if root.get("width") == f"{millimetres}mm" and left == top == 0 else ["width"]
    scale = millimetres / across  # of a unit of the picture, in millimetres
    high = float(root.get("height").removesuffix("mm"))
    if abs(high - down * scale) > 0.1:
        found.append(f"{high} mm high")
    sizes = [float(e.get("font-size")) for e in root.iter() if e.get("font-size")]
    points = min(sizes) * scale / INCH * 72
    if points < 6.99 or any("scale" in e.get("transform", "") for e in root.iter()):
        found.append(f"letters of {points:.2f} points")
    return found


def test_an_unfit_figure_is_detected():
    good = visual.draw(SQUARE, width="85mm")
    assert unfit(good.svg(), 85) == []
    small = Text(20, 20, "small", 10)
    shrunk = visual.draw(SQUARE, width="170mm")
    for wrong in (
        replace(good, millimetres=0.0),
        replace(good, millimetres=84.0),
        replace(shrunk, millimetres=85.0),
        replace(shrunk, width=shrunk.width / 2),
        replace(good, shapes=(*good.shapes, small)),
    ):
        assert unfit(wrong.svg(), 85)


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
    """The width that is named is enough, and a millimetre less is not."""
    kind, loop = "stepgraph", gallery.loops["coupled"]
    with pytest.raises(ArgumentError) as refused:
        visual.draw(loop, kind, width="50mm")
    told = re.fullmatch(
        rf"width = '50mm': the picture {kind} of this loop needs (\d+)mm or more to stay legible.",
        str(refused.value),
    )
    least = int(told[1])
    assert unfit(visual.draw(loop, kind, width=f"{least}mm").svg(), least) == []
    with pytest.raises(ArgumentError):
        visual.draw(loop, kind, width=f"{least - 1}mm")


def rows(scene):
    """The steps with rows."""
    texts = (s.content for s in scene.walk() if isinstance(s, Text) and s.bold)
    return [int(found[1]) for text in texts if (found := re.fullmatch(r"step (\d+)", text))]


@pytest.mark.parametrize("steps", ["1:3", range(1, 3)])
def test_some_steps_are_selected(steps):
    scene = visual.draw(SQUARE, steps=steps)
    assert rows(scene) == [1, 2]
    assert "1 step is not shown" in scene.text()
    assert rows(visual.draw(SQUARE, steps=":2")) == [0, 1]
    assert rows(visual.draw(SQUARE, steps=6)) == [0, 1, 2, 3, 4, 5]
    assert scene.height < visual.draw(SQUARE).height


def told(scene):
    """The texts of a scene."""
    return [s.content for s in scene.walk() if isinstance(s, Text)]


def test_a_figure_of_the_lesson_fits_a_paper(tmp_path):
    path = tmp_path / "figure.svg"
    words = ["--width", "page", "-o", str(path)]
    assert main(["draw", "figure2", *words]) == 0
    assert unfit(path.read_text(), 170) == []


def swatches(scene):
    """The small boxes of a legend, which are in no cell."""
    boxes = [s for s in scene.shapes if isinstance(s, Box)]
    return [box for box in boxes if (box.width, box.height) == (24, 15)]


KEYS = {  # of charts, which have words in the place of small boxes
    "values": "a panel shows one quantity",
    "influence": "a cell: the derivative of",
}


@pytest.mark.parametrize("kind", PICTURES)
def test_a_legend_can_be_left_out(kind):
    with_it, without = (visual.draw(SQUARE, kind, order=2, no_legend=no) for no in (False, True))
    assert without.height < with_it.height
    assert swatches(without) == []
    if kind in KEYS:
        found = [any(KEYS[kind] in word for word in told(scene)) for scene in (with_it, without)]
        assert found == [True, False]
    else:
        assert swatches(with_it)
