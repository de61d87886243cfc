"""Fit pictures to the width of a printed figure, with legible text."""

from dataclasses import replace
from math import ceil

from visual.layout.sheet import SCREEN, Sheet
from visual.options import Length
from visual.scene.shapes import MM, Scene, Text, moved

SMALLEST_ON_SCREEN = 11.0  # pixels
SMALLEST_IN_PRINT = 7 * 96 / 72  # 7 points, in pixels


def sheet(
    width: Length | None = None, steps: range | None = None, no_legend: bool = False
) -> Sheet:
    """Return the sheet for a figure; in print, text of 11 pixels shrinks to 7 points."""
    on_paper = width is not None and width.on_paper
    wide = SCREEN.width
    if width is not None:
        wide = min(
            wide, width.pixels * (SMALLEST_ON_SCREEN / SMALLEST_IN_PRINT if on_paper else 1.0)
        )
    return Sheet(wide, steps, not no_legend, on_paper)


def missing_width(scene: Scene, width: Length) -> float:
    """Return the width in pixels that a picture needs for legible text; 0 if `width` suffices."""
    sizes = (shape.size for shape in scene.walk() if isinstance(shape, Text))
    smallest = min(sizes, default=SMALLEST_ON_SCREEN)
    least = scene.width * (min(1.0, SMALLEST_IN_PRINT / smallest) if width.on_paper else 1.0)
    return least if least > width.pixels + 0.01 else 0.0


def rounded_up(width: Length, pixels: float) -> Length:
    """Round `pixels` up to whole millimeters if `width` is on paper, otherwise to whole pixels."""
    unit = MM if width.on_paper else 1.0
    whole = ceil(pixels * unit)
    return Length(f"{whole}{'mm' if width.on_paper else ''}", whole / unit, width.on_paper)


def on_paper(scene: Scene, width: Length) -> Scene:
    """Center the picture in a figure of this width; on paper, shrink a wider picture."""
    zoom = min(1.0, width.pixels / scene.width) if width.on_paper else 1.0
    across = width.pixels / zoom
    shapes = tuple(moved(shape, (across - scene.width) / 2, 0) for shape in scene.shapes)
    millimeters = width.pixels * MM if width.on_paper else 0.0
    return replace(scene, width=across, shapes=shapes, millimeters=millimeters)
