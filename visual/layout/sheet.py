"""The sheet of a picture: the width, the selected steps, and whether the picture has a legend.

`fit` fits pictures to the width of a printed figure, with legible text.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

from lab.errors import argument_error
from visual.options import Length
from visual.scene.shapes import CHECKED, MM, Scene, Text, moved

SMALLEST_ON_SCREEN = 11.0  # pixels
SMALLEST_IN_PRINT = 7 * 96 / 72  # 7 points, in pixels


@dataclass(frozen=True)
class Sheet:
    """The properties of a picture that do not depend on its content. `width` is in pixels.

    The picture shows only `steps` or, if `steps` is None, a selection that fits. `on_paper` means
    that the reader cannot change the options of the picture.
    """

    width: float = 840.0
    steps: range | None = None
    legend: bool = True
    on_paper: bool = False

    @property
    def margin(self) -> float:
        """The margin on the left and on the right."""
        return min(24.0, self.width // 35)

    @property
    def labels(self) -> float:
        """The x of the left edge of the first column, to the right of the names of rows."""
        return min(150.0, self.width * 0.19 // 1)

    @property
    def line(self) -> float:
        """The width between the margins."""
        return self.width - 2 * self.margin

    def hint(self, words: str, before: str = ": ") -> str:
        """Return `before` and the hint `words` about an option. On paper, return an empty text."""
        return "" if self.on_paper else before + words

    def steps_of(self, steps: int, name: str) -> range:
        """Return the range of shown steps of a loop that runs `steps` steps.

        Raises ArgumentError, with the `name` of the loop, for a step that does not run.
        """
        shown = range(steps) if self.steps is None else self.steps
        if shown.stop > steps:
            why = f"{name} runs {steps} steps; expected 0:{steps} or a part of it."
            raise argument_error("steps", f"{shown.start}:{shown.stop}", why)
        return shown


SCREEN = Sheet()
CHECKED[Sheet] = "a visual.layout.sheet.Sheet"


def fit(
    make: Callable[..., Scene],
    name: str,
    width: Length | None = None,
    steps: range | None = None,
    no_legend: bool = False,
) -> Scene:
    """Return the picture that `make` draws on a `sheet`, as a figure of this width.

    In print, text of 11 pixels shrinks to 7 points. If the picture `name` is too wide, or its text
    would be too small, raises ArgumentError with the smallest possible width.
    """
    sheet = replace(SCREEN, steps=steps, legend=not no_legend)
    if width is None:
        return make(sheet=sheet)
    shrink = SMALLEST_ON_SCREEN / SMALLEST_IN_PRINT if width.on_paper else 1.0
    unit, suffix = (MM, "mm") if width.on_paper else (1.0, "")
    pixels = width.pixels
    while True:  # a wider sheet can change the layout
        wide = min(SCREEN.width, pixels * shrink)
        scene = make(sheet=replace(sheet, width=wide, on_paper=width.on_paper))
        sizes = (shape.size for shape in scene.walk() if isinstance(shape, Text))
        legible = SMALLEST_IN_PRINT / min(sizes, default=SMALLEST_ON_SCREEN)
        needed = scene.width * (min(1.0, legible) if width.on_paper else 1.0)
        if needed <= pixels + 0.01:
            break
        pixels = ceil(needed * unit) / unit
    if pixels > width.pixels:
        needs = f"the picture {name} of this loop needs {round(pixels * unit)}{suffix} or more"
        raise argument_error("width", width.written, f"{needs} to stay legible.")
    return on_paper(scene, width)


def on_paper(scene: Scene, width: Length) -> Scene:
    """Return the scene centered in a figure of this width; on paper, shrink a wider scene."""
    zoom = min(1.0, width.pixels / scene.width) if width.on_paper else 1.0
    across = width.pixels / zoom
    shapes = tuple(moved(shape, (across - scene.width) / 2, 0) for shape in scene.shapes)
    millimeters = width.pixels * MM if width.on_paper else 0.0
    return replace(scene, width=across, shapes=shapes, millimeters=millimeters)
