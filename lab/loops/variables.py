"""What a loop is declared with: states, sequences, parameters and random states."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, ClassVar, Self

import numpy as np
from pytensor.configdefaults import config
from pytensor.scan.utils import until as until  # part of what a step is written with
from pytensor.tensor.type import all_dtypes

from lab.errors import ArgumentError, argument_error, check_type, quote, shorten
from lab.loops.text.source import identifier
from lab.records import as_array
from lab.tape import check_taps


def as_value(value: object, argument: str) -> np.ndarray:
    """Return a copy of `value` as an array: Python numbers become floats, arrays keep their dtype.

    It is a copy, because a loop does not change when somebody writes into the array.
    """
    array = as_array(argument, value)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind == "c":
        raise ArgumentError(
            f"{argument} = {quote(value)}: loops take real numbers only; give the real and "
            "imaginary parts as variables of their own."
        )
    if array.dtype.name not in all_dtypes:
        raise argument_error(argument, value, "expected a number or an array of numbers.")
    kept = isinstance(value, np.ndarray | np.generic)
    return array.astype(array.dtype if kept else config.floatX, copy=True)


def checked_name(name: object) -> str:
    """A variable's name in its one form; ArgumentError for what can be none."""
    if not isinstance(name, str) or not name.isprintable() or not name:
        raise argument_error(
            "name", name, "a variable's name is a text of printable letters, not empty."
        )
    return identifier(name)


Takes = int | tuple[int, ...] | None


def check_takes(taps: tuple[int, ...], takes: Takes, variable: str) -> None:
    """Raise ArgumentError if a step that takes certain taps, or so many, is given others."""
    check_type("takes", takes, (int, tuple, NoneType), "a number of taps, or the taps in a tuple")
    if isinstance(takes, tuple) and taps != takes:
        raise ArgumentError(
            f"taps of {variable} = {quote(list(taps))}: this loop's step is written for the taps "
            f"{quote(list(takes))}."
        )
    if isinstance(takes, int) and len(taps) != takes:
        raise ArgumentError(
            f"taps of {variable} = {quote(list(taps))}: this loop's step takes exactly "
            f"{quote(takes)} {'tap' if takes == 1 else 'taps'}."
        )


class _Called:
    """What errors call a variable: its kind and its name, which may be long."""

    name: str
    kind: ClassVar[str]
    holds: ClassVar[str]  # the name of its value

    @property
    def called(self) -> str:
        """As in "state x"."""
        return f"{self.kind} {shorten(self.name)}"

    def with_value(self, value: object) -> Self:
        """The same variable with another value, or a state with other initial ones."""
        return replace(self, **{self.holds: value})  # type: ignore[type-var]  # all are dataclasses


@dataclass(frozen=True, eq=False)
class State(_Called):
    """A quantity that the loop feeds back: its next value depends on earlier ones.

    `taps` tell how far back the step looks, -1 being the last value.  With the single tap
    -1, `initial` is the value to start from; otherwise it holds, oldest first, as many
    values as the taps reach back.  The step receives the value at a single tap, or the list
    of the values at several, in the order of `taps`.  A step that can only take a certain
    number of taps, or certain taps, says so with `takes`.
    """

    kind, holds = "state", "initial"
    name: str
    initial: Any  # given as whatever numpy makes an array of, kept as that array
    taps: tuple[int, ...] = (-1,)
    takes: Takes = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", checked_name(self.name))
        taps = check_taps(self.taps, f"taps of {self.called}")
        if not taps:
            raise ArgumentError(f"taps of {self.called} = []: a state needs at least one tap.")
        if max(taps) >= 0:
            raise ArgumentError(
                f"taps of {self.called} = {quote(list(taps))}: a state can only look back, "
                "so every tap must be below 0. Look ahead with a sequence."
            )
        check_takes(taps, self.takes, self.called)
        initial = as_value(self.initial, f"initial of {self.called}")
        object.__setattr__(self, "taps", taps)
        object.__setattr__(self, "initial", initial)
        if self.reach > 1 and (initial.ndim == 0 or len(initial) != self.reach):
            count = 1 if initial.ndim == 0 else len(initial)
            raise ArgumentError(
                f"initial of {self.called}: the taps {quote(list(taps))} reach back "
                f"{self.reach} steps, so {self.reach} initial values are needed, oldest first, "
                f"not {count}."
            )

    @property
    def reach(self) -> int:
        """How many steps back the taps look; so many initial values there are."""
        return -min(self.taps)

    @property
    def first_values(self) -> np.ndarray:
        """The initial values, one row each."""
        return self.initial[None] if self.reach == 1 else self.initial

    def with_taps(self, taps: Iterable[int]) -> "State":
        """The same state with other taps; the oldest initial value is repeated as needed."""
        taps = check_taps(taps, f"taps of {self.called}")
        reach = -min(taps, default=1)
        check_takes(taps, self.takes, self.called)
        if reach < 1:
            return replace(self, taps=taps)  # which says what is wrong with them
        rows = self.first_values
        missing = max(0, reach - len(rows))
        rows = np.concatenate([np.repeat(rows[:1], missing, axis=0), rows])[-reach:]
        return replace(self, taps=tuple(taps), initial=rows[0] if reach == 1 else rows)


@dataclass(frozen=True, eq=False)
class Sequence(_Called):
    """A quantity of which every step reads one value, or a window of several.

    At step s the step reads ``values[s + tap]`` for every tap; if the lowest tap is negative,
    `values` begins that many steps before the loop.  `takes` is as for a `State`.
    """

    kind, holds = "sequence", "values"
    name: str
    values: Any  # as the `initial` of a State
    taps: tuple[int, ...] = (0,)
    takes: Takes = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", checked_name(self.name))
        taps = check_taps(self.taps, f"taps of {self.called}")
        if not taps:
            raise ArgumentError(f"taps of {self.called} = []: it needs at least one tap.")
        check_takes(taps, self.takes, self.called)
        values = as_value(self.values, f"values of {self.called}")
        if values.ndim == 0:
            raise ArgumentError(f"values of {self.called} = {values}: expected a list.")
        object.__setattr__(self, "taps", taps)
        object.__setattr__(self, "values", values)

    def with_taps(self, taps: Iterable[int]) -> "Sequence":
        """The same sequence, read at other taps."""
        return replace(self, taps=check_taps(taps, f"taps of {self.called}"))

    def start(self, tap: int) -> int:
        """The index of the value that step 0 reads at `tap`."""
        return tap - min(0, *self.taps)

    @property
    def steps(self) -> int:
        """For how many steps there are values."""
        return len(self.values) - max(self.start(tap) for tap in self.taps)


@dataclass(frozen=True, eq=False)
class Parameter(_Called):
    """A quantity that is the same at every step; PyTensor calls it a non-sequence."""

    kind, holds = "parameter", "value"
    name: str
    value: Any  # as the `initial` of a State

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", checked_name(self.name))
        object.__setattr__(self, "value", as_value(self.value, f"value of {self.called}"))


@dataclass(frozen=True)
class RandomState(_Called):
    """A random generator that every step takes and hands on: an untraced state."""

    kind = "random state"
    name: str
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", checked_name(self.name))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise argument_error(f"seed of {self.called}", self.seed, "expected 0, 1, 2, …")


Valued = State | Sequence | Parameter


def value_of(variable: Valued) -> np.ndarray:
    """The value that a variable was declared with."""
    return np.asarray(getattr(variable, variable.holds))


def results_of(returned: object) -> tuple[list[Any], Any]:
    """What a step returned: its results, and the condition on which it stops, or None."""
    results: list[Any] = list(returned) if isinstance(returned, list | tuple) else [returned]
    stops = bool(results) and isinstance(results[-1], until)
    return results, results.pop().condition if stops else None
