"""What a person may choose for an atlas, checked: every refusal says what is allowed."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from lab import Loop, gallery
from lab.errors import ArgumentError, listing
from visual.atlas_taps import Pattern, offered, pattern
from visual.numbers import whole
from visual.study import choose

Cost = str | tuple[float, ...]
COSTS = ("last", "sum")


def several(name: str, given: Any, usual: tuple[Any, ...]) -> tuple[Any, ...]:
    """What was given, once each, or else what is usual."""
    if given is None:
        return usual
    single = isinstance(given, str | Loop) or not isinstance(given, Iterable)
    found = (given,) if single else tuple(given)
    if not found:
        raise ArgumentError(f"{name} = {given!r:.60}: expected one at least.")
    once: list[Any] = []
    for one in found:
        frozen = tuple(one) if isinstance(one, list) else one
        if not any(frozen is other or frozen == other for other in once):
            once.append(frozen)
    return tuple(once)


def loops_of(given: tuple[Any, ...]) -> tuple[Loop, ...]:
    """Loops, by name or themselves, whose names differ."""
    found = tuple(map(_loop, given))
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
    return MappingProxyType(
        {
            loop.name: tuple(dict.fromkeys(pattern(loop, taps) for taps in given[loop.name]))
            if given.get(loop.name)
            else offered(loop)
            for loop in loops
        }
    )


def order_of(value: Any) -> int:
    """The order of a derivative."""
    order = whole("orders", value)
    if order < 0:
        raise ArgumentError(f"orders: {order} is no order of a derivative; expected 0, 1, 2, …")
    return order


def cost_of(value: Any) -> Cost:
    """The name of a cost, or the weights of the steps."""
    if isinstance(value, str) and value not in COSTS:
        raise ArgumentError(
            f"costs: {value!r:.60} is no cost; expected {listing(COSTS)}, or one weight for each "
            "step, as in (0, 0, 1, 0.5)."
        )
    return choose(cost=value).cost
