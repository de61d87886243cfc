"""Pictures as figures of a paper: the width of a figure, and letters that can be read."""

from dataclasses import replace
from math import ceil

from visual.layout.sheet import SCREEN, Sheet
from visual.options import Length
from visual.scene.shapes import MM, Scene, Text, moved

LETTERS = 11.0  # pixels: the smallest on a screen
POINTS = 7 * 96 / 72  # pixels: the smallest in print


def sheet(
    width: Length | None = None, steps: range | None = None, no_legend: bool = False
) -> Sheet:
    """Return the sheet for a figure; on paper, letters of 11 pixels shrink to 7 points."""
    on_paper = width is not None and width.on_paper
    wide = SCREEN.width
    if width is not None:
        wide = min(wide, width.pixels * (LETTERS / POINTS if on_paper else 1.0))
    return Sheet(wide, steps, not no_legend, on_paper)


def lacking(scene: Scene, width: Length) -> float:
    """Return the pixels that a picture needs for letters that can be read; 0 if it has them."""
    smallest = min((s.size for s in scene.walk() if isinstance(s, Text)), default=LETTERS)
    least = scene.width * (min(1.0, POINTS / smallest) if width.on_paper else 1.0)
    return least if least > width.pixels + 0.01 else 0.0


def wider(width: Length, pixels: float) -> Length:
    """Return a width of at least so many pixels, in whole millimetres or pixels."""
    unit = MM if width.on_paper else 1.0
    whole = ceil(pixels * unit)
    return Length(f"{whole}{'mm' if width.on_paper else ''}", whole / unit, width.on_paper)


def on_paper(scene: Scene, width: Length) -> Scene:
    """Return the picture in the middle of a figure of that width, no larger than life."""
    zoom = min(1.0, width.pixels / scene.width) if width.on_paper else 1.0
    across = width.pixels / zoom
    shapes = tuple(moved(shape, (across - scene.width) / 2, 0) for shape in scene.shapes)
    millimetres = width.pixels * MM if width.on_paper else 0.0
    return replace(scene, width=across, shapes=shapes, millimetres=millimetres)
