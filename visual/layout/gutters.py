"""Beside a column of boxes: vertical tracks on which arrows run past the boxes between.

All arrows from one box share a track, as wires from one pin do.
"""

from collections.abc import Hashable, Mapping
from typing import TypeVar

TRACK, FIRST = 9, 14  # pixels between two tracks, and from a box to the first one
Key = TypeVar("Key", bound=Hashable)


def tracks(spans: Mapping[Key, tuple[float, float]]) -> dict[Key, int]:
    """A track for every span from top to bottom: 0 is nearest to the boxes, short ones first.

    Spans on one track neither overlap nor touch.
    """
    taken: list[list[tuple[float, float]]] = []
    numbers: dict[Key, int] = {}
    for key, (top, bottom) in sorted(spans.items(), key=lambda item: item[1][1] - item[1][0]):
        free = (n for n, held in enumerate(taken) if not _meets(held, top, bottom))
        number = next(free, len(taken))
        if number == len(taken):
            taken.append([])
        taken[number].append((top, bottom))
        numbers[key] = number
    return numbers


def _meets(held: list[tuple[float, float]], top: float, bottom: float) -> bool:
    return any(first <= bottom and top <= last for first, last in held)


def distance(track: int) -> float:
    """How far from the boxes a track runs."""
    return FIRST + TRACK * track


def width(tracks_of: Mapping[Key, int]) -> float:
    """The room that tracks need."""
    return distance(max(tracks_of.values())) if tracks_of else 0.0
