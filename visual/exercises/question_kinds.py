"""The kinds of exercises, and who makes the questions of each."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from types import MappingProxyType

from lab.traces.trace import Trace
from visual.exercises.candidates import Candidate
from visual.exercises.slots_and_numbers import arrivals, numbers, slots
from visual.exercises.taps_and_scans import scans, taps
from visual.pictures.taps import Use


class Ask(StrEnum):
    """The kinds of exercises."""

    OVERWRITTEN = "overwritten"
    PRESERVED = "preserved"
    TAPS = "taps"
    NUMBER = "number"
    ARRIVAL = "arrival"
    SCANS = "scans"


CANDIDATES: Mapping[Ask, Callable[[Trace], Iterator[Candidate]]] = MappingProxyType(
    {
        Ask.OVERWRITTEN: partial(slots, use=Use.OVERWRITTEN),
        Ask.PRESERVED: partial(slots, use=Use.PRESERVED),
        Ask.TAPS: taps,
        Ask.NUMBER: numbers,
        Ask.ARRIVAL: arrivals,
        Ask.SCANS: scans,
    }
)
