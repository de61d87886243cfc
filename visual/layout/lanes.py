"""Boxes in lanes and columns, and arrows between the boxes: `LaneGrid` computes all positions.

A straight arrow connects boxes in neighboring columns of the same or a neighboring lane, or stacked
boxes. Any other arrow runs on tracks below a lane or in the gap between two columns. No arrow
crosses a box, and a label touches no other shape.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf
from typing import NamedTuple

import numpy as np

from visual.layout.arrows import Edge, labels_on, place_labels, points_along
from visual.layout.canvas import HEIGHT, GapMark
from visual.layout.cells import draw_cell
from visual.layout.columns import Gap, numbers
from visual.layout.sheet import SCREEN, Sheet
from visual.layout.table import Cell
from visual.layout.tracks import Point, Router, tracks_in
from visual.scene.combinators import Envelope, Piece, envelope_of, over, piece, shifted, sized
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Group, Shape, Text, fitted, folded
from visual.scene.theme import Role

TRACK, LEAN = 7.0, 8.0  # distance of tracks; offset of the ends of sloping arrows
# The depth of the first track, and the distance of tracks: with labels, and without labels.
LABELS, CLOSE = (57.0, 32.0), (TRACK, TRACK)
FAR = 1e4  # the distance between the lines of a grid with enough space for all tracks
GAP, SLIM = 34.0, 0.85  # the width of a gap; boxes between labels may shrink to this fraction
LEAST, NARROW = 0.64, 56  # minimum fraction of `narrowest`; minimum gap for labels
SIZE, LINE, NEAR = 11.0, 13.0, 3.0  # font size, height of a line, and margin of a label


class Spot(NamedTuple):
    """The lane and the column of a box, from 0."""

    lane: int
    column: int


@dataclass(frozen=True)
class LaneHead:
    """The name of a lane. The first lane of a block has a heading: a `title`, and lines `about` it.

    A `bold` name has one line.
    """

    name: str
    bold: bool
    title: str = ""
    about: Sequence[str] = ()


@dataclass(eq=False)
class LaneGrid:
    """Lanes with their heads, and `cells` with `edges` between them, on a sheet.

    The `labels` of an edge are lines on its arrow; without space, the arrow has only the last line.
    If `is_open`, headings have one line. A grid that is not open has any width (`right` is
    infinite) if the sheet has the default width. `fits` states whether the columns fit the sheet.
    """

    lanes: Sequence[LaneHead]
    columns: Sequence[int | Gap]
    cells: Mapping[Spot, Cell]
    edges: Sequence[Edge]
    sheet: Sheet
    is_open: bool

    def __post_init__(self) -> None:
        sheet, cells, edges = self.sheet, self.cells, self.edges
        self.top, self.left, self.right = 40.0, 216.0, inf
        # The minimum and the maximum width of boxes, and the smallest font size.
        narrowest, widest, self.small = 96.0, 150.0, 10.5
        if self.is_open or sheet.width != SCREEN.width:
            self.right = sheet.width - sheet.margin
            self.top, self.left = 16.0, sheet.labels - 2
            narrowest, widest, self.small = 72.0, 110.0, 11.0
        spots = {cell.id: spot for spot, cell in cells.items()}
        self.ends = [(spots[edge.source], spots[edge.target]) for edge in edges]
        self.labeled = [pair for pair, edge in zip(self.ends, edges, strict=True) if edge.labels]
        # Lanes whose tracks have space for labels, because a labeled arrow in the lane has corners.
        deep = (a.lane for a, b in self.labeled if a.lane == b.lane and not _are_near(a, b))
        self.depths = dict.fromkeys(deep, LABELS)
        # The arrows of the picture use the same tracks as the arrows of a grid with enough space.
        far = {s: Box(FAR * s.column, FAR * s.lane, FAR / 2, HEIGHT, Role.PANEL) for s in cells}
        _, router = self._routed(far, FAR / 2)
        self.count = max(map(tracks_in, router.columns.values()), default=0)  # between columns
        self.below = {s.lane: tracks_in(router.rows[box.y + HEIGHT]) for s, box in far.items()}
        names = ((text_width(c.label, 12, bold=True), np.asarray(c.value)) for c in cells.values())
        # In an open grid, the name of an array fills half of the box.
        wide = (2 * w + 8 if self.is_open and value.ndim else w + 12 for w, value in names)
        width, least = min(max([narrowest, *wide]), widest), LEAST * narrowest
        words = max((text_width(e.labels[0], SIZE) + 8 for e in edges if e.labels), default=0.0)
        self._place_columns(width, 26.0 + TRACK * self.count, least, words)

    def _place_columns(self, width: float, between: float, least: float, words: float) -> None:
        """Compute the left edges of columns, the width of boxes, and the distance between them.

        Without a right end, boxes have this `width` and distance. On a sheet, the distance fills
        the width, or the boxes are narrower, but not narrower than `least`. They are also slightly
        narrower if labels of the width `words` then fit between them.
        """
        boxes, distances = len(numbers(self.columns)), max(1, len(self.columns) - 1)
        room = self.right - self.left - GAP * (len(self.columns) - boxes)
        if boxes and self.right < inf:
            between += max(0.0, min(60.0, (room - boxes * width) / distances - between))
            if boxes * width + distances * between > room:
                between -= 8.0
                width = (room - distances * between) / boxes
            if words > between and (slim := (room - distances * words) / boxes) >= SLIM * width:
                width, between = slim, words
        self.width, self.between, self.fits = max(width, least), between, width >= least
        widths = [GAP if isinstance(column, Gap) else self.width for column in self.columns]
        self.lefts = [*accumulate((w + between for w in widths), initial=self.left)][:-1]

    def draw(self) -> Piece:
        """Draw the headings of blocks and the names of lanes, then arrows, then boxes."""
        y, words, tops = self.top, list[Piece](), list[float]()
        for number, lane in enumerate(self.lanes):
            if lane.title:
                words.append(shifted(self._heading(lane), 0, y + 16 * bool(number)))
                y = words[-1].envelope.bottom
            tops.append(y)
            words += self._name(lane, y + HEIGHT / 2 + 4)
            y += HEIGHT + 20 + self._space(number)
        boxes = {
            s: Box(self.lefts[s.column], tops[s.lane], self.width, HEIGHT, c.role, faded=c.faded)
            for s, c in self.cells.items()
        }
        shapes = [*self._arrows(boxes), *(draw_cell(c, boxes[s]) for s, c in self.cells.items())]
        for left, column in zip(self.lefts, self.columns, strict=True):
            if isinstance(column, Gap):
                mark, lows = f"⋯{column.hidden:,}", (top + HEIGHT / 2 + 4 for top in tops)
                middle = left + GAP / 2
                shapes += [GapMark(middle, low, mark, 11, "middle", muted=True) for low in lows]
        right = max(self.lefts, default=0.0) + self.width + TRACK * (self.count + 2)
        return replace(over(*words, piece(*shapes)), envelope=Envelope(0, 0, right, y))

    def _name(self, lane: LaneHead, middle: float) -> Iterator[Piece]:
        """Yield the lines of the name of a lane, around the baseline `middle`."""
        end, bold = self.left - 12, lane.bold
        room = end - self.sheet.margin
        size = 13 if bold and text_width(lane.name, 13, bold=True) <= room else self.small
        names = [lane.name] if bold else folded(lane.name, room, size)
        for n, name in enumerate(names):
            low = middle + LINE * (n - (len(names) - 1) / 2)
            yield piece(fitted(end, low, name, room, size, "end", bold=bold, muted=not bold))

    def _heading(self, lane: LaneHead) -> Piece:
        """Draw the heading of a block: one line, or several lines to the left of the block."""
        margin, lines, name = self.sheet.margin, lane.about, lane.title
        title = fitted(margin, 0, name, self.right - margin, 13, bold=True, title=name)
        if self.is_open:
            x = margin + title.width + 12
            more = fitted(x, 0, " · ".join(lines), self.right - x, self.small, muted=True)
            return sized(0, 12, title, more)
        wide = self.left - 12 - margin
        below = enumerate(lines, start=1)
        texts = [fitted(margin, 15 * n, line, wide, self.small, muted=True) for n, line in below]
        return sized(0, 15 * len(lines) + 8, title, *texts)

    def _space(self, lane: int) -> float:
        """Return the space below a lane for tracks, and for labels on its and diagonal arrows."""
        (first, apart), count = self.depths.get(lane, CLOSE), self.below.get(lane, 0)
        tracks = TRACK + (first + apart * (count - 1) if count else 0.0)
        near = ((a, b) for a, b in self.labeled if {a.lane, b.lane} == {lane, lane + 1})
        if any(a.column != b.column for a, b in near):
            return tracks + 44
        is_labeled = any(a.lane == b.lane == lane for a, b in self.labeled)
        is_narrow = self.between < NARROW and lane not in self.depths
        return tracks + 16 * (is_labeled and is_narrow)

    def _arrows(self, boxes: Mapping[Spot, Box]) -> Iterator[Shape]:
        """Yield arrows with their labels. An arrow from or to a faded box is faded."""
        paths, _ = self._routed(boxes, self.between)
        arrows, edges = list[Arrow](), self.edges
        for (source, target), edge, points in zip(self.ends, edges, paths, strict=True):
            faded = boxes[source].faded or boxes[target].faded
            arrows.append(Arrow(points, faint=edge.faint, straight=True, faded=faded))
        names = Envelope(-inf, -inf, self.left - 12, inf)
        outside = Envelope(self.right + self.sheet.margin, -inf, inf, inf)
        order = sorted(range(len(edges)), key=lambda number: len(paths[number]))
        labels = {n: _labels(points_along(arrows[n]), edges[n]) for n in order if edges[n].labels}
        obstacles = [names, outside, *map(envelope_of, boxes.values())]
        placed = place_labels(labels, paths, obstacles)
        for number, (edge, arrow) in enumerate(zip(edges, arrows, strict=True)):
            label, (step, moment) = placed.get(number, Piece()).shapes, edge.moment
            is_group = label or step is not None
            yield Group((arrow, *label), step, moment=moment) if is_group else arrow

    def _routed(
        self, boxes: Mapping[Spot, Box], between: float
    ) -> tuple[list[tuple[Point, ...]], Router]:
        """Return the corners of each arrow. Columns of boxes are `between` pixels apart."""
        depths = {b.y + b.height: self.depths.get(spot.lane, CLOSE) for spot, b in boxes.items()}
        router, paths = Router(boxes.values(), between, depths), dict[object, tuple[Point, ...]]()
        for a, b in sorted(self.ends, key=lambda ends: not _are_near(*ends)):
            source, target = boxes[a], boxes[b]
            if _are_near(a, b):
                lean = LEAN * (b.lane - a.lane)
                paths[a, b] = router.beside(source, target, lean, -lean)
            elif a.column == b.column:
                middle = source.x + source.width / 2
                paths[a, b] = router.across(source, target, middle, middle)
            else:
                paths[a, b] = (router.below if a.lane == b.lane else router.around)(source, target)
        return [paths[ends] for ends in self.ends], router


def _are_near(source: Spot, target: Spot) -> bool:
    """Return whether two spots are in neighboring columns of the same or a neighboring lane."""
    return abs(source.column - target.column) == 1 and abs(source.lane - target.lane) <= 1


def _labels(path: Sequence[Point], edge: Edge) -> Iterator[Piece]:
    """Yield possible labels: above and below the arrow, on the arrow, then below its two boxes."""
    (x, y), (_, below) = path[len(path) // 2], path[len(path) // 2 - 1]
    if y == below:
        yield _label(edge, x, y if edge.labels[1:] else y - LINE / 2 - 3, apart=5)
    for line in (" = ".join(edge.labels), edge.labels[-1]):
        yield from labels_on(path, line, title=edge.title)
    if path[0][1] == path[-1][1] == y:
        yield _label(edge, x, y + HEIGHT / 2 + LINE + 3)


def _label(edge: Edge, x: float, y: float, apart: float = 0.0) -> Piece:
    """Return a label with its center at (x, y), and with `apart` pixels between its lines."""
    wide = max(text_width(line, SIZE) for line in edge.labels) + 2 * NEAR
    top, texts = y - (LINE * len(edge.labels) + apart) / 2, list[Text]()
    for n, line in enumerate(edge.labels):
        baseline = top + n * (LINE + apart) + 0.8 * LINE
        texts.append(Text(x, baseline, line, SIZE, "middle", title=edge.title))
    room = Envelope(x - wide / 2, top, x + wide / 2, 2 * y - top)
    return replace(piece(*texts), envelope=room)
