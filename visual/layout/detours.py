"""Arrows between cells that stand in columns: straight where the way is clear, else around.

An arrow that would run through a cell turns into the gap beside its target's column, in which
no cell stands, and comes in from the side.  Arrows from different cells keep apart.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import count, pairwise

from visual.layout.canvas import BETWEEN
from visual.scene.shapes import Arrow, Box

Point = tuple[float, float]
FIRST, APART, MOST = 9.0, 3.0, 4  # tracks in the gap between two columns
BELOW = 5.0  # where the first track along a row runs
ENDS = (12.0, -12.0, 7.0, -7.0, 16.0, -16.0)  # where arrows meet the side of a cell


@dataclass
class Detours:
    """The ways taken so far, around cells of one size."""

    boxes: Collection[Box]
    stretches: dict[tuple[str, float], list[tuple[float, float, Box, int]]] = field(
        default_factory=dict
    )
    ends: dict[tuple[float, float, int], list[Box]] = field(default_factory=dict)

    def arrow(self, straight: tuple[Point, ...], source: Box, target: Box, **look: bool) -> Arrow:
        """An arrow along `straight`, if no cell is in its way, else around them."""
        others = (box for box in self.boxes if not _same(box, source) and not _same(box, target))
        if not any(meets(*piece, box) for box in others for piece in pairwise(straight)):
            return Arrow(straight, **look)
        return Arrow(self._around(source, target), straight=True, **look)

    def _around(self, source: Box, target: Box) -> tuple[Point, ...]:
        side = 1 if source.x >= target.x else -1
        edge = target.x + (target.width if side > 0 else 0)
        enter = self._end(target, side, source)
        if (
            abs(source.x - target.x) <= source.width + BETWEEN
        ):  # the gap lies beside the source as well
            facing = side if source.x == target.x else -side
            out = source.x + (source.width if facing > 0 else 0)
            leave = self._end(source, facing, source)
            x = edge + side * (FIRST + APART * self._track(("down", edge), leave, enter, source))
            return (out, leave), (x, leave), (x, enter), (edge + side, enter)
        down = 1 if target.y > source.y else -1
        start = source.y + (source.height if down > 0 else 0)
        middle = source.x + source.width / 2
        number = self._track(("along", start), middle, edge, source)
        along = start + down * (BELOW + (APART + 1) * number)
        x = edge + side * (FIRST + APART * self._track(("down", edge), along, enter, source))
        middle += 4 * number
        return (middle, start), (middle, along), (x, along), (x, enter), (edge + side, enter)

    def _track(self, where: tuple[str, float], start: float, end: float, source: Box) -> int:
        """The first track on which a stretch meets none from another cell."""
        low, high = sorted((start, end))
        taken = self.stretches.setdefault(where, [])

        def free(number: int) -> bool:
            return all(
                n != number or box is source or high < a or b < low for a, b, box, n in taken
            )

        numbers: Iterable[int] = range(MOST) if where[0] == "down" else count()
        number = next(filter(free, numbers), MOST - 1)  # where there is room for no more
        taken.append((low, high, source, number))
        return number

    def _end(self, box: Box, side: int, source: Box) -> float:
        """The height at which an arrow from `source` meets a side of a cell."""
        used = self.ends.setdefault((box.x, box.y, side), [])
        if source not in used:
            used.append(source)
        number = used.index(source)
        return box.y + box.height / 2 + ENDS[number % len(ENDS)]


def _same(one: Box, other: Box) -> bool:
    return (one.x, one.y) == (other.x, other.y)


def meets(start: Point, end: Point, box: Box) -> bool:
    """Whether a straight piece runs through a cell, or touches it."""
    (x0, y0), (x1, y1) = start, end
    low, high = 0.0, 1.0
    for begin, step, least, most in (
        (x0, x1 - x0, box.x, box.x + box.width),
        (y0, y1 - y0, box.y, box.y + box.height),
    ):
        if step:
            first, last = sorted(((least - begin) / step, (most - begin) / step))
            low, high = max(low, first), min(high, last)
        elif not least <= begin <= most:
            return False
    return low <= high
