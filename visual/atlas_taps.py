"""The tap patterns that an atlas offers for a loop."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lab import Loop
from lab.errors import ArgumentError, listing
from lab.variables import State, Takes
from visual.names import signed

# For steps that take any number of taps, and for those that take one or two.
ANY = ((-1,), (-2, -1), (-3, -1), (-2,))
ONE = ((-1,), (-2,))
TWO = ((-2, -1), (-3, -1), (-3, -2))


@dataclass(frozen=True)
class Pattern:
    """The taps of states and sequences, by name."""

    taps: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def chosen(self) -> dict[str, tuple[int, ...]]:
        """As `visual.draw` takes them."""
        return dict(self.taps)

    @property
    def key(self) -> str:
        """As in ``x:-2,-1``; several are parted by a semicolon."""
        return ";".join(f"{name}:{','.join(map(str, taps))}" for name, taps in self.taps)

    @property
    def names(self) -> str:
        """Whose taps they are, for a reader."""
        return f"taps of {listing(name for name, _ in self.taps)}" if self.taps else "taps"

    @property
    def words(self) -> str:
        """For a reader; a single variable needs no name."""
        if len(self.taps) == 1:
            return _written(self.taps[0][1])
        return " · ".join(f"{name} {_written(taps)}" for name, taps in self.taps) or "none"


def _written(taps: tuple[int, ...]) -> str:
    return ", ".join(map(signed, taps))


def own(loop: Loop) -> Pattern:
    """The pattern that a loop was declared with."""
    return Pattern(tuple((state.name, state.taps) for state in loop.states))


def pattern(loop: Loop, given: Any, names: Iterable[str] = ()) -> Pattern:
    """A pattern as a person gives it: taps of the first state, or taps by name.

    It has the taps of all states, and of the variables that are in `names` besides.
    ArgumentError if the loop cannot have them.
    """
    if not isinstance(given, Mapping):
        if not loop.states:
            raise ArgumentError(f"taps of loop {loop.name} = {given!r:.60}: it has no state.")
        given = {loop.states[0].name: given}
    chosen = loop.with_taps(given).variables
    all_names = dict.fromkeys([*own(loop).chosen, *names, *given])
    return Pattern(
        tuple((name, chosen[name].taps) for name in all_names)  # type: ignore[union-attr]
    )


def offered(loop: Loop) -> tuple[Pattern, ...]:
    """A loop's own taps, and others that its step can take, one state at a time."""
    return tuple(dict.fromkeys(_offered(loop)))


def _offered(loop: Loop) -> Iterator[Pattern]:
    yield own(loop)
    for state in loop.states:
        for taps in _fitting(state):
            yield pattern(loop, {state.name: taps})


def _fitting(state: State) -> tuple[tuple[int, ...], ...]:
    counted: Mapping[Takes, tuple[tuple[int, ...], ...]] = {None: ANY, 1: ONE, 2: TWO}
    return counted.get(state.takes, ())
