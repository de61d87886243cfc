"""The space for an unrolled picture, and the width of its boxes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from visual.layout.columns import Gap
from visual.layout.routes import TRACK
from visual.layout.sheet import SCREEN, Sheet

FOLD = 34  # the width of a gap
SLIM = 0.85  # smallest fraction of the width of a box, to leave space for labels


@dataclass(frozen=True)
class Room:
    """The edges and widths of the boxes, and the size of the smallest letters.

    If `right` is infinite, so is the width. In an `open` picture, arrows have local derivatives,
    and the loop on top has no pale boxes.
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
        """The left margin of the sheet."""
        return self.sheet.margin

    @property
    def headings(self) -> float:
        """The width of the heading of a block, to the left of the arrows into the block."""
        return self.left - 12 - self.margin

    @property
    def has_headings(self) -> bool:
        """Whether the headings of all blocks fit."""
        return self.headings > 80

    def sizes(
        self, columns: Sequence[int | Gap], wanted: float, count: int, words: float
    ) -> tuple[float, float]:
        """Return the width of boxes, and their distance with `count` tracks between two columns.

        The boxes are slightly narrower if labels of width `words` fit between narrower boxes.
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


def room_on(sheet: Sheet, is_open: bool = True) -> Room:
    """Return the space for a picture on a sheet."""
    sizes = sheet.labels - 2, sheet.width - sheet.margin, 72.0, 110.0
    return Room(16.0, *sizes, 11.0, is_open, sheet)
