"""From a loop and what a person chose to a picture, remembering what was drawn before."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from lab import Loop, Trace
from lab.build import as_weights
from lab.variables import as_value
from visual.scene import Scene
from visual.tapes import tapes

REMEMBERED = 64


@dataclass(frozen=True)
class Choice:
    """What can be chosen about a loop's derivative, in a form that can be looked up."""

    taps: tuple[tuple[str, tuple[int, ...]], ...] = ()
    steps: int | None = None
    order: int = 1
    wrt: str | None = None
    cost: str | tuple[float, ...] = "last"
    of: str | None = None
    at: tuple[tuple[str, "Frozen"], ...] = ()


@dataclass(frozen=True)
class Frozen:
    """A number or an array of numbers that can be looked up."""

    shape: tuple[int, ...]
    dtype: str | None
    entries: bytes

    @classmethod
    def of(cls, name: str, value: Any) -> "Frozen":
        """The `value` of the variable `name`; of what is no array, the dtype is left open."""
        array = as_value(value, f"value of {name}")
        dtype = str(array.dtype) if isinstance(value, np.ndarray | np.generic) else None
        plain = array if dtype else array.astype("float64")
        return cls(array.shape, dtype, plain.tobytes())

    @property
    def value(self) -> Any:
        """What was frozen: an array, or plain numbers."""
        array = np.frombuffer(self.entries, dtype=self.dtype or "float64").reshape(self.shape)
        return array if self.dtype else array.tolist()


def choose(
    taps: Mapping[str, Iterable[int]] | None = None,
    steps: int | None = None,
    order: int = 1,
    wrt: str | None = None,
    cost: Any = "last",
    of: str | None = None,
    at: Mapping[str, Any] | None = None,
) -> Choice:
    """The options of `draw` as a `Choice`."""
    return Choice(
        taps=tuple((name, tuple(chosen)) for name, chosen in (taps or {}).items()),
        steps=steps,
        order=order,
        wrt=wrt,
        cost=cost if isinstance(cost, str) else tuple(as_weights(cost).tolist()),
        of=of,
        at=tuple((name, Frozen.of(name, value)) for name, value in (at or {}).items()),
    )


@lru_cache(maxsize=REMEMBERED)
def traced(loop: Loop, choice: Choice) -> Trace:
    """The trace of a loop's derivative as chosen; the last 64 are remembered."""
    if choice.taps:
        loop = loop.with_taps(dict(choice.taps))
    if choice.steps is not None:
        loop = loop.with_steps(choice.steps)
    at = {name: frozen.value for name, frozen in choice.at}
    return loop.trace(choice.order, choice.wrt, choice.cost, choice.of, at)


@lru_cache(maxsize=REMEMBERED)
def _drawn(loop: Loop, choice: Choice, theme: str, around: int | None) -> Scene:
    return tapes(traced(loop, choice), theme, around)


def draw(loop: Loop, theme: str = "light", around: int | None = None, **chosen: Any) -> Scene:
    """The tape picture of a loop's derivative; the last 64 pictures are remembered.

    `chosen` are `taps` (by name), `steps`, `order`, `wrt`, `cost`, `of` and `at` (values by
    name), with the meaning that they have in `lab.Loop.trace`.

        >>> visual.draw(gallery.loops["square"], taps={"x": (-2, -1)}, order=2)
    """
    return _drawn(loop, choose(**chosen), theme, around)
