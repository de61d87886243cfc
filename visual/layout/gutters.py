"""Vertical tracks beside a column of boxes, on which arrows pass the boxes between their ends.

All arrows from the same box share a track.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from visual.scene.combinators import Envelope, Name, Piece, grouped, named, over, piece
from visual.scene.shapes import Arrow, Group

TRACK, FIRST = 9, 14  # pixels between two tracks, and from a box to the first one
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Way:
    """An arrow between two named parts of a column, which appears at a `moment`.

    `leave` and `arrive` are the relative heights of its ends in the two parts, 0 at the top to 1.
    Without a moment, only the space of the arrow is reserved.
    """

    start: Name
    end: Name
    moment: Group | None
    leave: float = 0.5
    arrive: float = 0.5


def along(part: Piece, ways: Iterable[Way], is_right: bool = False, track: float = TRACK) -> Piece:
    """Return a column with arrows on tracks at its left, or at its right for gradients.

    The start of a track has the name of its part, followed by ``track``.
    """
    spans: dict[Name, tuple[float, float]] = {}
    routes = []
    for way in ways:
        edge, y0 = part.anchors[way.start].place(is_right, way.leave)
        _, y1 = part.anchors[way.end].place(is_right, way.arrive)
        routes.append((way, edge, y0, y1))
        known = spans.get(way.start, (y0, y0))
        spans[way.start] = min(*known, y1), max(*known, y1)
    numbers, parts = tracks(spans), [part]
    for way, edge, y0, y1 in routes:
        away = FIRST + track * numbers[way.start]
        x = edge + away if is_right else edge - away
        parts.append(named(Piece(envelope=Envelope(x, y0, x, y0)), f"{way.start} track"))
        if way.moment is not None:
            points = ((edge, y0), (x, y0), (x, y1), (edge, y1))
            arrow = Arrow(points, accent=is_right, straight=True)
            parts.append(grouped(piece(arrow), way.moment))
    return over(*parts)


def tracks(spans: Mapping[Key, tuple[float, float]]) -> dict[Key, int]:
    """Return a track for every span (top, bottom); 0 is next to the boxes, for short spans.

    Spans on a track neither overlap nor touch.
    """
    taken: list[list[tuple[float, float]]] = []
    numbers: dict[Key, int] = {}
    for key, (top, bottom) in sorted(spans.items(), key=lambda item: item[1][1] - item[1][0]):
        free = (
            n
            for n, held in enumerate(taken)
            if all(last < top or bottom < first for first, last in held)
        )
        number = next(free, len(taken))
        if number == len(taken):
            taken.append([])
        taken[number].append((top, bottom))
        numbers[key] = number
    return numbers
