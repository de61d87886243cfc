"""The lines on which values travel, the places of factors, and the lines from saved values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import dist

from visual.pictures.machine.arrange import (
    CHIP,
    LANE,
    NAME,
    UNDER,
    Arrangement,
    CellBox,
    Point,
)
from visual.pictures.machine.content import Movement, Part, PartGroup, PartKind, SlotCell
from visual.scene.fonts import text_width


@dataclass(frozen=True)
class Track:
    """The line of a term, the place of its factor, and the lines from saved values.

    `turn` is the relative position of the factor on the line.
    """

    points: tuple[Point, ...]
    chip: Point | None = None
    turn: float = 0.5
    drops: tuple[tuple[Point, ...], ...] = ()


def track(arrangement: Arrangement, part: Part, term: Movement) -> Track:
    """Return the track of a term of a sum to its target."""
    way = _line(arrangement, term, part.target, part.kind is PartKind.FILL)
    if way.chip is None:
        return way
    reach = CHIP / 2 if term.factor or term.symbol else 0.0
    lines = (_drop(arrangement.boxes[n], way.chip, k, reach) for k, n in enumerate(term.saved))
    return replace(way, drops=tuple(lines))


def group_tracks(arrangement: Arrangement, group: PartGroup) -> list[list[Track]]:
    """Return the tracks of each part of a group, with factors that do not cover each other.

    Of two factors in the same place, only the first is shown; the sentences contain both.
    """
    result: list[list[Track]] = []
    occupied: list[tuple[float, float, float]] = []
    for part in group.parts:
        tracks = []
        for term in part.terms:
            way = track(arrangement, part, term)
            if way.chip is not None and (term.factor or term.symbol):
                (x, y), size = way.chip, factor_size(arrangement)
                half = text_width(factor_text(term), size, bold=True) / 2 + 4
                if group.hides_factors or any(
                    abs(x - x0) < half + half0 and abs(y - y0) < CHIP for x0, y0, half0 in occupied
                ):
                    way = replace(way, chip=None, drops=())
                else:
                    occupied.append((x, y, half))
            tracks.append(way)
        result.append(tracks)
    return result


def factor_text(term: Movement) -> str:
    """Return the text of a factor on its line."""
    return f"×{term.factor}" if term.factor else term.symbol


def factor_size(arrangement: Arrangement) -> float:
    """Return the font size of factors."""
    return 13.0 if arrangement.is_tall else 11.0


def split_line(
    points: Sequence[Point], share: float
) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    """Return the two parts of a line; the first part has the given share of its length."""
    lengths = [dist(a, b) for a, b in pairwise(points)]
    left = share * sum(lengths)
    for n, length in enumerate(lengths):
        if left <= length or n == len(lengths) - 1:
            middle = _between(points[n], points[n + 1], left / length if length else 1.0)
            return (*points[: n + 1], middle), (middle, *points[n + 1 :])
        left -= length
    return tuple(points), tuple(points)


def _line(sheet: Arrangement, term: Movement, target: int, is_filled: bool) -> Track:
    """Return the track of a term: its line, and the place of its factor."""
    to, cell = sheet.boxes[target], sheet.machine.cells[target]
    if is_filled and term.source is None:  # start above the names of the next row
        below = to.bottom + (14 if sheet.is_tall else 7)
        return Track(((to.x, below), (to.x, to.bottom)), turn=0.0)
    side = _side(sheet, to, cell)
    if term.source is None:
        return _from_side(sheet, to, side)
    start, source = sheet.boxes[term.source], sheet.machine.cells[term.source]
    if term.source == target:
        return Track(((to.x, to.top - 14), (to.x, to.top)), (side, to.y))
    way = 1 if cell.column > source.column else -1
    apart = abs(cell.column - source.column)
    is_level = source.row == cell.row
    if is_level and apart == 1 and sheet.is_cramped and term.factor:
        return _under(start, to, way)
    if is_level and apart > 1:
        high = start.top - NAME - 3 - LANE * (1 + source.column % 2)
        return _bow(start, to, way, high, to.x - way * sheet.pitch / 2)
    if apart == 0:
        return _down(start, to, side)
    points = (start.x + way * start.width / 2, start.y), (to.x - way * to.width / 2, to.y)
    share = 0.5 if is_level else 0.3 if sheet.is_cramped else 0.4
    return Track(points, _between(*points, share), share)


def _from_side(sheet: Arrangement, to: CellBox, x: float) -> Track:
    """Return the track of a value that is in no slot, from the side of the target or from below."""
    if sheet.is_cramped:
        low = to.bottom + UNDER
        edge = to.x + (0.2 if x > to.x else -0.2) * to.width
        return Track(((x, low), (edge, low), (edge, to.bottom)), (x, low), 0.3)
    edge = to.left if x < to.x else to.right
    return Track(((x, to.y), (edge, to.y)), (x, to.y), 0.3)


def _side(sheet: Arrangement, to: CellBox, cell: SlotCell) -> float:
    """Return the x of the middle of the gap between a box and the next box of its Scan.

    Next to the edge of the sheet, return the x on the other side of the box.
    """
    scan = sheet.machine.scans[sheet.machine.rows[cell.row].scan - 1]
    way = -1 if scan.is_backward else 1
    x = to.x + way * sheet.pitch / 2
    is_on_sheet = to.width / 2 < x < sheet.width - 18
    return x if is_on_sheet else to.x - way * sheet.pitch / 2


def _bow(start: CellBox, to: CellBox, way: int, high: float, x: float) -> Track:
    """Return a track at the height `high` between two slots of a row, with its factor at `x`."""
    first, last = start.x + way * start.width * 0.42, to.x - way * to.width * 0.42
    points = (first, start.top), (first, high), (last, high), (last, to.top)
    up, over = start.top - high, abs(last - first)
    return Track(points, (x, high), (up + abs(x - first)) / (2 * up + over))


def _under(start: CellBox, to: CellBox, way: int) -> Track:
    """Return a track below two neighboring boxes."""
    low = start.bottom + UNDER
    first, last = start.x + way * start.width * 0.2, to.x - way * to.width * 0.2
    points = (first, start.bottom), (first, low), (last, low), (last, to.bottom)
    return Track(points, ((first + last) / 2, low))


def _down(start: CellBox, to: CellBox, x: float) -> Track:
    """Return a track to another row of the same column, through the gap at `x`."""
    way = 1 if x > to.x else -1
    edge = way * start.width / 2, way * to.width / 2
    points = (start.x + edge[0], start.y), (x, start.y), (x, to.y), (to.x + edge[1], to.y)
    return Track(points, (x, (start.y + to.y) / 2))


def _drop(box: CellBox, chip: Point, number: int, reach: float) -> tuple[Point, ...]:
    """Return the line from a saved value to its factor, or to the line that has no factor.

    `number` counts the lines of a factor, and `reach` is half the height of the factor.
    """
    x = chip[0] + (number + 1) // 2 * (5 if number % 2 else -5)
    if abs(box.x - chip[0]) < 1:
        x = box.x
    below = chip[1] > box.y
    start = box.bottom if below else box.top
    turn = start + (5 + 3 * number) * (1 if below else -1)
    end = chip[1] - reach if below else chip[1] + reach
    return (box.x, start), (box.x, turn), (x, turn), (x, end)


def _between(start: Point, end: Point, share: float) -> Point:
    """Return the point at a relative position on a straight line."""
    (x0, y0), (x1, y1) = start, end
    return x0 + (x1 - x0) * share, y0 + (y1 - y0) * share
