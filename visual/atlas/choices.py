"""The tap patterns that an atlas offers for a loop.

What a person may choose for an atlas, checked: every refusal says what is allowed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lab.errors import ArgumentError, listing
from lab.loops import gallery
from lab.loops.loop import Loop
from lab.loops.variables import State, Takes
from visual.choices import whole
from visual.drawing.study import choose
from visual.layout.names import signed

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


Cost = str | tuple[float, ...]
COSTS = ("last", "sum")


def several(
    name: str, given: Any, usual: tuple[Any, ...], made: Callable[[Any], Any]
) -> tuple[Any, ...]:
    """What is `made` of all that was given, or else of what is usual; every one once."""
    if given is None:
        given = usual
    single = isinstance(given, str | Loop) or not isinstance(given, Iterable)
    found = tuple(dict.fromkeys(map(made, (given,) if single else given)))
    if not found:
        raise ArgumentError(f"{name} = {given!r:.60}: expected one at least.")
    return found


def loops_of(given: Any, usual: tuple[str, ...]) -> tuple[Loop, ...]:
    """Loops, by name or themselves, whose names differ."""
    found = several("loops", given, usual, _loop)
    names = [loop.name for loop in found]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(
                f"loops: two are called {name!r}; on a page every loop has a name of its own, as "
                "in lab.Loop(…, name='decay')."
            )
    return found


def _loop(given: Any) -> Loop:
    if isinstance(given, Loop):
        return given
    if not isinstance(given, str) or given not in gallery.loops:
        raise ArgumentError(
            f"loops: {given!r:.60} is no lab.Loop, and the gallery has {listing(gallery.loops)}."
        )
    return gallery.loops[given]


def taps_of(loops: tuple[Loop, ...], given: Any) -> Mapping[str, tuple[Pattern, ...]]:
    """The patterns of every loop."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"taps = {given!r:.60}: expected patterns by the names of loops.")
    names = [loop.name for loop in loops]
    for name in given:
        if name not in names:
            raise ArgumentError(
                f"taps of {name!r:.60}: the loops of this page are {listing(names)}."
            )
    return MappingProxyType({loop.name: _patterns(loop, given.get(loop.name)) for loop in loops})


def _patterns(loop: Loop, given: Any) -> tuple[Pattern, ...]:
    """The patterns of a loop; each of them tells of all variables that one of them names."""
    if given is None:
        return offered(loop)
    several_given = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    listed = tuple(given) if several_given else (given,)
    if not several_given or not all(isinstance(one, Iterable) for one in listed):
        raise ArgumentError(
            f"taps of loop {loop.name} = {given!r:.60}: expected several patterns, as in "
            "[(-1,), (-2, -1)]."
        )
    found = [pattern(loop, one) for one in listed]
    names = dict.fromkeys(name for one in found for name in one.chosen)
    return several(
        f"taps of loop {loop.name}", found, (), lambda one: pattern(loop, one.chosen, names)
    )


def order_of(value: Any) -> int:
    """The order of a derivative."""
    order = whole("orders", value)
    if order < 0:
        raise ArgumentError(f"orders: {order} is no order of a derivative; expected 0, 1, 2, …")
    return order


def cost_of(value: Any) -> Cost:
    """The name of a cost, or the weights of the steps."""
    if value in COSTS if isinstance(value, str) else isinstance(value, Iterable):
        return choose(cost=value).cost
    raise ArgumentError(
        f"costs: {value!r:.60} is no cost; expected {listing(COSTS)}, or one weight for each step, "
        "as in ['last', (0, 0, 1, 0.5)]."
    )
