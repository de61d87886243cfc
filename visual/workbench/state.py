"""What is chosen on a workbench: frozen, comparable, and settable from Python.

    >>> BenchState("square").changed(order=2, taps={"x": (-2, -1)})

A state holds only plain numbers, texts and tuples; the loop itself stands beside it, in a
`visual.workbench.loop.Bench`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from operator import index as whole
from types import MappingProxyType
from typing import Any

import numpy as np

from lab.errors import ArgumentError, listing
from lab.loops.build import as_weights
from lab.loops.variables import as_value
from lab.reports.breaking.rules import broken_rule
from visual.drawing.kinds import picture_named
from visual.scene.theme import theme_named

HIGHEST_ORDER = 6
WRITTEN, OWN = "written", "own"  # loops that are not of the gallery: from a text, or handed over
GRAPH = "graph"  # no loop, but a graph of PyTensor's

# A number, or numbers in rows, as they are written: what an array holds.
Numbers = Any
Taps = Mapping[str, tuple[int, ...]]


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class BenchState:
    """All choices of a workbench.

    `loop` is the name of a loop of the gallery, "written" for one whose step is a text, "own",
    or "graph" for a graph of PyTensor's.
    `taps`, `steps`, `order`, `wrt`, `cost`, `of` and `at` are those of `visual.draw`; None and
    what is missing stand for what the loop itself says.  `truncate` is the number of steps that a
    gradient goes back, or -1.  `view` is the picture that is shown, `options` are those that only
    it has, and `theme` its colours.  `rule` is the name of a rule of `lab.BROKEN`: then what it
    breaks is shown instead of the view.
    """

    loop: str
    taps: Taps = field(default_factory=_nothing)
    steps: int | None = None
    order: int = 1
    wrt: str | None = None
    cost: str | tuple[float, ...] = "last"
    of: str | None = None
    at: Mapping[str, Numbers] = field(default_factory=_nothing)
    truncate: int = -1
    view: str = "unrolled"
    options: Mapping[str, Any] = field(default_factory=_nothing)
    theme: str = "light"
    rule: str | None = None

    def changed(self, **changes: Any) -> "BenchState":
        """The state with other choices; of `taps`, `at` and `options` what is not named stays.

        With another view, the options of the one before are forgotten; and whoever chooses a view
        and no rule wants to see it by the true one.

        ArgumentError for a choice that there is not, or that can be no choice of any loop.
        """
        known = [one.name for one in fields(self) if one.name != "loop"]
        for name in changes:
            if name not in known:
                raise ArgumentError(f"{name}: a workbench has the choices {listing(known)}.")
        checked = {name: CHECKS[name](value) for name, value in changes.items()}
        old = self
        if checked.get("view", self.view) != self.view:
            old = replace(self, options=_nothing())
        if "view" in checked:
            checked = {"rule": None, **checked}
        for name in ("taps", "at", "options"):
            if name in checked:
                checked[name] = MappingProxyType(
                    {
                        n: v
                        for n, v in {**getattr(old, name), **checked[name]}.items()
                        if v is not None
                    }
                )
        return replace(old, **checked)

    def beside(self, usual: "BenchState") -> dict[str, Any]:
        """What is chosen otherwise than in a `usual` state, by name."""
        chosen = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in chosen.items()
            if value != getattr(usual, name)
        }


def _taps(taps: Any) -> Taps:
    return {name: tuple(chosen) for name, chosen in _mapping("taps", taps).items()}


def _mapping(name: str, given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{name} = {given!r:.60}: expected a dictionary, such as {{'x': …}}.")
    return given


def _number(name: str, least: int, most: int, lacking: Any, value: Any) -> Any:
    if value is None or value == lacking:
        return lacking
    try:
        found = None if isinstance(value, bool) else whole(value)
    except TypeError:
        found = None
    if found is None or not least <= found <= most:
        raise ArgumentError(f"{name} = {value!r:.60}: expected a whole number, {least} to {most}.")
    return found


def _order(value: Any) -> int:
    return _number("order", 0, HIGHEST_ORDER, 1, value)


def _steps(value: Any) -> int | None:
    return _number("steps", 1, 10_000, None, value)


def _truncate(value: Any) -> int:
    return _number("truncate", 1, 10_000, -1, value)


def _rule(value: Any) -> str | None:
    return None if value is None else broken_rule(str(value)).name


def _name(value: Any) -> str | None:
    return None if value is None else str(value)


def _cost(value: Any) -> str | tuple[float, ...]:
    return value if isinstance(value, str) else tuple(as_weights(value).tolist())


def numbers(value: Any) -> Numbers:
    """An array as a number, or as numbers in tuples."""
    return _tuples(np.asarray(value).tolist())


def cast(name: str, value: Numbers, dtype: np.dtype) -> np.ndarray:
    """Numbers as an array of a dtype; ArgumentError if it cannot hold them."""
    array = np.asarray(value)
    if dtype.kind in "iub" and not np.array_equal(array, np.round(array.real)):
        raise ArgumentError(f"value of {name} = {value!r:.60}: expected whole numbers.")
    return array.astype(dtype)


def _tuples(value: Any) -> Numbers:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _at(values: Any) -> Mapping[str, Numbers]:
    given: Iterable[tuple[str, Any]] = _mapping("at", values).items()
    return {name: numbers(as_value(value, f"value of {name}")) for name, value in given}


CHECKS: Mapping[str, Any] = MappingProxyType(
    {
        "taps": _taps,
        "steps": _steps,
        "order": _order,
        "wrt": _name,
        "cost": _cost,
        "of": _name,
        "at": _at,
        "truncate": _truncate,
        "view": lambda value: picture_named(value).name,
        "options": lambda value: _mapping("options", value),
        "rule": _rule,
        "theme": lambda value: theme_named(value).name,
    }
)
