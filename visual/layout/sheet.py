"""The sheet of a picture: the width, the selected steps, and whether the picture has a legend."""

from dataclasses import dataclass

from lab.errors import ArgumentError, quote
from visual.scene.shapes import CHECKED


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
            raise ArgumentError(
                f"steps = {quote(f'{shown.start}:{shown.stop}')}: {name} runs "
                f"{steps} steps; expected 0:{steps} or a part of it."
            )
        return shown


SCREEN = Sheet()
CHECKED[Sheet] = "a visual.layout.sheet.Sheet"
