"""How much room an unrolled picture has, and how wide its boxes are."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from visual.layout.columns import Gap
from visual.layout.routes import TRACK
from visual.layout.sheet import SCREEN, Sheet

FOLD = 34  # the width of a gap
SLIM = 0.85  # of the width of a box, for the sake of the words beside it


@dataclass(frozen=True)
class Room:
    """Where the boxes stand, how wide they may be, how small letters are, and what is told.

    Without `right` the picture becomes as wide as it needs.  What is `open` has the factors on its
    arrows, and of the loop on top nothing is washed out.
    """

    top: float = 40.0
    left: float = 216.0
    right: float = inf
    narrowest: float = 96.0
    widest: float = 150.0
    small: float = 10.5
    open: bool = False
    sheet: Sheet = SCREEN

    @property
    def margin(self) -> float:
        """On the left of all."""
        return self.sheet.margin

    @property
    def headings(self) -> float:
        """How wide the heading of a block is, at the left of the arrows that lead to it."""
        return self.left - 12 - self.margin

    @property
    def has_headings(self) -> bool:
        """Whether there is room for the headings of all blocks."""
        return self.headings > 80

    def sizes(
        self, columns: Sequence[int | Gap], wanted: float, count: int, words: float
    ) -> tuple[float, float]:
        """How wide boxes are, and how far apart they stand, with so many tracks between.

        Boxes are a little narrower if then there is room for `words` between them.
        """
        width = min(max(self.narrowest, wanted), self.widest)
        between = 26.0 + TRACK * count
        gaps = sum(isinstance(column, Gap) for column in columns)
        boxes, ways = len(columns) - gaps, max(1, len(columns) - 1)
        room = self.right - self.left - FOLD * gaps
        if self.right == inf or not boxes:
            return width, between
        between += max(0.0, min(60.0, (room - boxes * width) / ways - between))
        if boxes * width + ways * between > room:
            between -= 8.0
            width = (room - ways * between) / boxes
        slim = (room - ways * words) / boxes
        return (slim, words) if words > between and slim >= SLIM * width else (width, between)


FREE = Room()


def opened_on(sheet: Sheet, is_open: bool = True) -> Room:
    """The room on a sheet."""
    sizes = sheet.labels - 2, sheet.width - sheet.margin, 72.0, 110.0
    return Room(16.0, *sizes, 11.0, is_open, sheet)
