"""Arrows between the cells of a table: `route` draws the edges of a row.

An arrow within a line of cells is an arc below or above the cells. An arrow to another line is
straight, or runs through the gap between two columns if the straight arrow meets a cell. The factor
of an edge is a text on its arrow, at a point where it touches no cell, other arrow, or other text.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Unpack

import numpy as np

from visual.layout.tracks import Point, Router, meets
from visual.scene.combinators import Envelope, Piece, envelope_of
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Group, Polyline, Shape, Text, TextLook, fitted
from visual.scene.theme import Role

Moment = tuple[int | None, str]  # the number and the name of a moment in a run
LETTERS, FINE = 11, 24  # the font size of a label; the number of segments of a curve
DEPTH, NEST, OVER = 14, 3, 24  # sizes of arcs: depth, more depth per faint arc, height
NEIGHBOR = 30.0  # the maximum distance between two neighboring cells
ASIDE = 0.3  # offset of an end from the middle of a side, as a fraction of the cell width
# The positions of points along a segment or a curve, and the weights of the corners of a curve.
ALONG = np.linspace(0.0, 1.0, FINE + 1)[:, None]
BEZIER = np.hstack(
    [(1 - ALONG) ** 3, 3 * ALONG * (1 - ALONG) ** 2, 3 * ALONG * ALONG * (1 - ALONG), ALONG**3]
)


@dataclass(frozen=True)
class Edge:
    """An arrow between two cells. `source` and `target` are the ids of the cells.

    `labels` are texts for the space below the target, from the longest to the shortest; the picture
    shows the first label that fits. `factor` is a text on the arrow if there is space. An arrow
    within a line is an arc below the cells or, with `over`, above them. With `beside`, the arrow
    connects the sides of the cells that face each other. `plain` and `faint` arrows do not have the
    color of gradients.
    """

    source: Hashable
    target: Hashable
    labels: tuple[str, ...] = ()
    factor: str = ""
    faint: bool = False
    over: bool = False
    beside: bool = False
    plain: bool = False
    title: str = ""
    moment: Moment = (None, "")


def route(edges: Iterable[Edge], cells: Mapping[Hashable, Box], router: Router) -> Iterator[Shape]:
    """Yield the arrows, labels, and factors of edges between `cells`, which maps ids to boxes."""
    known = {(e.source, e.target): e for e in edges if {e.source, e.target} <= cells.keys()}
    if not known:
        return
    heights = [cells[id].y for pair in known for id in pair]
    obstacles = [box for box in cells.values() if min(heights) <= box.y <= max(heights)]
    ports, nested = _ports(known, cells), count()
    arrows, labels = list[Arrow](), list[Text]()
    for pair, edge in known.items():
        source, target, end_x = cells[edge.source], cells[edge.target], ports[pair]
        is_bow = source.y == target.y and not edge.beside
        if is_bow:
            depth = DEPTH + NEST * next(nested) if edge.faint else DEPTH
            points = _bow(edge.over, source, target, end_x, depth)
            labels += _label(edge, target, end_x)
        elif edge.beside:
            levels = sorted({cells[start].y for start, end in known if end == edge.target})
            share = (levels.index(source.y) + 1) / (len(levels) + 1)
            points = router.beside(source, target, 0, target.height * (share - 0.5))
        else:
            is_aside = source.y > target.y and edge.factor
            start_x = source.x + source.width / 2 + (_aside(source, target) if is_aside else 0)
            points = router.across(source, target, start_x, end_x)
        faint = edge.faint or (edge.over and not is_bow)
        accent = not (edge.over or edge.plain or edge.faint)
        arrows.append(Arrow(points, accent=accent, faint=faint, straight=not is_bow))
    for edge, arrow in zip(known.values(), arrows, strict=True):
        step, moment = edge.moment
        is_group = edge.title or step is not None
        yield Group((arrow,), step, title=edge.title, moment=moment) if is_group else arrow
    yield from labels
    yield from _factors([*known.values()], arrows, [*obstacles, *labels])


def _ports(
    known: Mapping[tuple[Hashable, Hashable], Edge], cells: Mapping[Hashable, Box]
) -> dict[tuple[Hashable, Hashable], float]:
    """Return the x coordinate of the head of each arrow.

    Heads at the same side of a cell are in the order of their sources, from left to right.
    """
    sides: dict[tuple[Hashable, bool], list[tuple[Hashable, Hashable]]] = {}
    for pair, edge in known.items():
        start, box = cells[edge.source], cells[edge.target]
        is_above = start.y < box.y or (start.y == box.y and edge.over)
        if not (edge.over and _is_next(start, box)):
            sides.setdefault((edge.target, is_above), []).append(pair)
    ports = dict.fromkeys(known, 0.0)
    for (target, _), pairs in sides.items():
        pairs.sort(key=lambda pair: cells[pair[0]].x)
        end, first = cells[target], cells[pairs[0][0]]
        is_alone = all(cells[start].x == end.x for start, _ in pairs) or not pairs[1:]
        for n, pair in enumerate(pairs):
            share = 0.5 if is_alone else 0.5 - ASIDE + 2 * ASIDE * n / (len(pairs) - 1)
            ports[pair] = end.x + end.width * share
        if not pairs[1:] and known[pairs[0]].factor and first.y != end.y:
            ports[pairs[0]] += _aside(end, first)
    return ports


def _aside(box: Box, other: Box) -> float:
    """Return the offset of the end of an arrow from the middle of `box`, away from `other`."""
    return -ASIDE * box.width if other.x > box.x else ASIDE * box.width


def _is_next(source: Box, target: Box) -> bool:
    return source.y == target.y and 0 < target.x - source.x <= source.width + NEIGHBOR


def _bow(over: bool, source: Box, target: Box, end_x: float, depth: float) -> tuple[Point, ...]:
    """Return the points of an arc or, `over` to the next cell, of a straight line."""
    start_x, y, end_y = source.x + source.width / 2, source.y, source.y - 1
    if over and _is_next(source, target):
        middle = source.y + source.height / 2
        return (source.x + source.width, middle), (target.x - 1, middle)
    if not over:
        y = end_y = source.y + source.height + 2
    along = y - OVER if over else y + depth
    return (start_x, y), (start_x, along), (end_x, along), (end_x, end_y)


def _label(edge: Edge, target: Box, end_x: float) -> Iterator[Text]:
    """Yield the first label that fits below the target. If none fits, shorten the last label."""
    room = target.width + 14
    fitting = (label for label in edge.labels if text_width(label, LETTERS, mono=True) <= room)
    if label := next(fitting, edge.labels[-1] if edge.labels else ""):
        y = target.y + target.height + 24
        yield fitted(end_x, y, label, room, LETTERS, "middle", mono=True, muted=True)


def _factors(
    edges: Sequence[Edge], arrows: Sequence[Arrow], shapes: Sequence[Shape]
) -> Iterator[Group]:
    """Yield the labels of the factors that fit on their arrows.

    The other factors have no label, because the formulas below the cells contain all factors.
    """
    if not any(edge.factor for edge in edges):
        return
    along = [points_along(arrow) for arrow in arrows]
    pairs = zip(arrows, along, strict=True)
    paths = [points if arrow.is_curve else arrow.points for arrow, points in pairs]
    occupied = [envelope_of(s) for s in (*shapes, *(Polyline(arrow.head) for arrow in arrows))]
    factors = ((n, edge.factor) for n, edge in enumerate(edges) if edge.factor)
    labels = {n: labels_on(along[n], factor, mono=True) for n, factor in factors}
    for label in place_labels(labels, paths, occupied).values():
        yield Group(label.shapes)


def place_labels(
    candidates: Mapping[int, Iterable[Piece]],
    paths: Sequence[Sequence[Point]],
    occupied: Iterable[Envelope],
) -> dict[int, Piece]:
    """Map the number of each arrow to the first of its `candidates` that fits.

    The envelope of a label can touch the path of its own arrow, but no other path, no other label,
    and no `occupied` rectangle. The result omits arrows for which no label fits.
    """
    # The padding gives a height to a horizontal path.
    rooms = [envelope_of(Polyline(tuple(path))).padded(1, 1) for path in paths]
    occupied_rooms, labels_by_arrow = [*occupied], dict[int, Piece]()

    def is_free(room: Envelope, own: int) -> bool:
        left, top, right, bottom = room  # a loop without calls: `room.meets` takes twice as long
        for x, y, end, low in occupied_rooms:
            if left < end and x < right and top < low and y < bottom:
                return False
        others = (n for n, other in enumerate(rooms) if n != own and room.meets(other))
        return not any(meets(*part, room) for n in others for part in pairwise(paths[n]))

    for number, labels in candidates.items():
        free = next((label for label in labels if is_free(label.envelope, number)), None)
        if free is not None:
            occupied_rooms.append(free.envelope.padded(3, 1))
            labels_by_arrow[number] = free
    return labels_by_arrow


def labels_on(path: Sequence[Point], text: str, **look: Unpack[TextLook]) -> Iterator[Piece]:
    """Yield labels on a path, with a panel behind the text, from the middle to the ends."""
    half, middle = text_width(text, LETTERS, mono=look.get("mono", False)) / 2 + 4, len(path) // 2
    panel = Box(1 - half, -6.5, 2 * half - 2, 13, Role.PANEL)
    shapes = (panel, Text(0, 4, text, LETTERS, "middle", **look))
    for number in sorted(range(len(path)), key=lambda n: abs(n - middle)):
        x, y = path[number]
        for center in (x, x + (half - 1) / 2, x + (1 - half) / 2):
            room = Envelope(center - half, y - 7.5, center + half, y + 7.5)
            yield Piece(((center, y, shapes),), room)


def points_along(arrow: Arrow) -> list[Point]:
    """Return points along an arrow, from its start to its end."""
    corners = np.array(arrow.points)
    if arrow.is_curve:
        points = BEZIER @ corners
    else:
        points = np.concatenate([a + (b - a) * ALONG for a, b in pairwise(corners)])
    return [(x, y) for x, y in points.tolist()]
