"""Pictures as figures of a paper: so wide, with letters that can be read."""

from dataclasses import replace
from math import ceil

from lab.errors import ArgumentError
from visual.layout.sheet import ASIDE, HIGHEST, SCREEN, Sheet
from visual.options import Length
from visual.scene.shapes import MM, Scene, Text, moved

LETTERS = 11.0  # pixels: the smallest on a screen
POINTS = 7 * 96 / 72  # pixels: the smallest in print
TALLEST = 240 / MM  # of a page


def sheet(
    screen: Sheet = SCREEN,
    width: Length | None = None,
    height: int = HIGHEST,
    steps: range | None = None,
    no_legend: bool = False,
    bare: bool = False,
) -> Sheet:
    """A `screen` on which a picture's smallest letters keep the size that they need, or a paper.

    Where there is room beside a picture of the usual width, its legend stands there.
    """
    size = replace(screen, width=width.pixels if width else screen.width, height=height)
    if size.width >= SCREEN.width + ASIDE:
        size = replace(size, width=size.width - ASIDE, aside=ASIDE)
    if width and width.on_paper:
        more, tallest = LETTERS / POINTS, TALLEST if height == HIGHEST else height
        size = Sheet(width.pixels * more, tallest * more, on_paper=True)
    return replace(size, steps=steps, legend=not no_legend, bare=bare)


def on_paper(scene: Scene, width: Length | None, kind: str) -> Scene:
    """The picture in the middle of a figure of that width, no larger than life.

    ArgumentError if that makes its letters too small to be read.
    """
    if width is None:
        return scene
    smallest = min((s.size for s in scene.walk() if isinstance(s, Text)), default=LETTERS)
    zoom = min(1.0, width.pixels / scene.width) if width.on_paper else 1.0
    least = scene.width * (min(1.0, POINTS / smallest) if width.on_paper else 1.0)
    if least > width.pixels + 0.01:
        told = f"{ceil(least * MM)}mm" if width.on_paper else f"{ceil(least)}"
        raise ArgumentError(
            f"width = {width.written!r}: the picture {kind} of this loop needs {told} for letters "
            "that can be read; expected that or more."
        )
    across = width.pixels / zoom
    shapes = tuple(moved(shape, (across - scene.width) / 2, 0) for shape in scene.shapes)
    millimetres = width.pixels * MM if width.on_paper else 0.0
    return replace(scene, width=across, shapes=shapes, millimetres=millimetres)
