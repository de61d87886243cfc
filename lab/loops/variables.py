"""Define the variables of a loop: states, sequences, parameters, and random states."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, ClassVar, Self

import numpy as np
from pytensor.configdefaults import config
from pytensor.scan.utils import until as until  # part of the public interface
from pytensor.tensor.type import all_dtypes

from lab.errors import ArgumentError, argument_error, check_integer, check_type, quote, shorten
from lab.loops.text.source import identifier
from lab.records import as_array
from lab.tape import check_taps


def as_value(value: object, argument: str) -> np.ndarray:
    """Return a copy of `value` as an array of real numbers, or raise ArgumentError.

    Python numbers and lists receive the dtype ``floatX``; arrays keep their dtype.
    """
    array = as_array(argument, value)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind == "c":
        reason = "loops take real numbers only; pass real and imaginary parts as two variables."
        raise argument_error(argument, value, reason)
    if array.dtype.name not in all_dtypes:
        raise argument_error(argument, value, "expected a number or an array of numbers.")
    has_dtype = isinstance(value, np.ndarray | np.generic)
    return array.astype(array.dtype if has_dtype else config.floatX, copy=True)


def check_name(name: object) -> str:
    """Return the normalized name of a variable; raise ArgumentError if it is not valid."""
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
        expected = f"expected a text of 1 to {LONGEST_NAME} printable characters."
        raise argument_error("name", name, expected)
    return identifier(name)


LONGEST_NAME = 500  # pictures of much longer names need minutes
Takes = int | tuple[int, ...] | None


def check_variable_taps(variable: "State | Sequence", taps: Iterable[int]) -> tuple[int, ...]:
    """Return `taps` as a tuple; raise ArgumentError unless the variable can have these taps."""
    argument, takes, why = f"taps of {variable.label}", variable.takes, ""
    taps = check_taps(taps, argument)
    check_type("takes", takes, (int, tuple, NoneType), "a number of taps, or the taps in a tuple")
    if not taps:
        why = "expected at least one tap."
    elif isinstance(variable, State) and max(taps) >= 0:
        why = (
            "expected taps below 0, because a state reads only earlier values. To read later "
            "values, use a sequence."
        )
    elif isinstance(takes, tuple) and taps != takes:
        why = f"the step of this loop is written for the taps {quote(list(takes))}."
    elif isinstance(takes, int) and len(taps) != takes:
        noun = "tap" if takes == 1 else "taps"
        why = f"the step of this loop takes exactly {quote(takes)} {noun}."
    if why:
        error = argument_error(argument, list(taps), why)
        error.argument, error.reason = "taps", f"{variable.label}: {why}"
        raise error
    return taps


class _NamedVariable:
    """Base class of variables with a name and a value."""

    name: str
    kind: ClassVar[str]
    value_field: ClassVar[str]  # the name of the field with the value

    def __post_init__(self) -> None:
        value = getattr(self, self.value_field)
        object.__setattr__(self, "name", check_name(self.name))
        value = as_value(value, f"{self.value_field} of {self.label}")
        object.__setattr__(self, self.value_field, value)

    @property
    def label(self) -> str:
        """The kind and the name: "state x"."""
        return f"{self.kind} {shorten(self.name)}"

    def with_value(self, value: object) -> Self:
        """Return the variable with another value, or a state with other initial values."""
        return replace(self, **{self.value_field: value})  # type: ignore[type-var]  # all are dataclasses


@dataclass(frozen=True, eq=False)
class State(_NamedVariable):
    """A variable whose next value depends on its earlier values.

    `taps` are the offsets of the values that the step reads; -1 is the previous value.  With the
    single tap -1, `initial` is the initial value.  Otherwise `initial` has one row for each step
    that the taps reach back, oldest first.  The step receives one value, or a list of values in
    the order of `taps`.  `takes` is the only allowed number of taps, a tuple of the only
    allowed taps, or None for any taps.
    """

    kind, value_field = "state", "initial"
    name: str
    initial: Any  # any value that NumPy converts to an array; stored as an array
    taps: tuple[int, ...] = (-1,)
    takes: Takes = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "taps", check_variable_taps(self, self.taps))
        count = len(np.atleast_1d(self.initial))
        if self.reach > 1 and count != self.reach:
            taps = f"values for the taps {quote(list(self.taps))}, oldest first, got {count}."
            name, reason = f"initial of {self.label}", f"expected {self.reach} {taps}"
            raise argument_error(name, self.initial.tolist(), reason)

    @property
    def reach(self) -> int:
        """The number of initial values: the steps that the taps reach back."""
        return -min(self.taps)

    @property
    def first_values(self) -> np.ndarray:
        """The initial values, one row each."""
        return self.initial[None] if self.reach == 1 else self.initial

    def with_taps(self, taps: Iterable[int]) -> "State":
        """Return the state with other taps; drop old initial values, or repeat the oldest value."""
        taps = check_variable_taps(self, taps)
        rows, reach = self.first_values, -min(taps)
        missing = max(0, reach - len(rows))
        rows = np.concatenate([np.repeat(rows[:1], missing, axis=0), rows])[-reach:]
        return replace(self, taps=taps, initial=rows[0] if reach == 1 else rows)


@dataclass(frozen=True, eq=False)
class Sequence(_NamedVariable):
    """An array from which each step reads one value or a window of values.

    Step s reads ``values[s + tap - lowest]`` for every tap, where ``lowest`` is the lowest tap, or
    0 if all taps are positive.  `takes` has the same meaning as in a `State`.
    """

    kind, value_field = "sequence", "values"
    name: str
    values: Any  # any value that NumPy converts to an array; stored as an array
    taps: tuple[int, ...] = (0,)
    takes: Takes = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.values.ndim == 0:
            raise ArgumentError(f"values of {self.label} = {self.values}: expected a list.")
        object.__setattr__(self, "taps", check_variable_taps(self, self.taps))

    def with_taps(self, taps: Iterable[int]) -> "Sequence":
        """Return the sequence with other taps."""
        return replace(self, taps=check_variable_taps(self, taps))

    def start(self, tap: int) -> int:
        """Return the index of the value that step 0 reads at `tap`."""
        return tap - min(0, *self.taps)

    @property
    def steps(self) -> int:
        """The largest number of steps for which the values suffice."""
        return len(self.values) - max(self.start(tap) for tap in self.taps)


@dataclass(frozen=True, eq=False)
class Parameter(_NamedVariable):
    """A variable with the same value at every step; PyTensor calls it a non-sequence."""

    kind, value_field = "parameter", "value"
    name: str
    value: Any  # any value that NumPy converts to an array; stored as an array


@dataclass(frozen=True)
class RandomState(_NamedVariable):
    """A random generator that every step reads and returns: an untraced state."""

    kind = "random state"
    name: str
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", check_name(self.name))
        seed = check_integer(f"seed of {self.label}", self.seed, "0, 1, 2, …", least=0)
        object.__setattr__(self, "seed", seed)


def value_of(variable: State | Sequence | Parameter) -> np.ndarray:
    """Return the declared value of a variable."""
    return np.asarray(getattr(variable, variable.value_field))


def call_step(step: Callable[..., object], read: Mapping[str, Any]) -> object:
    """Call a step with values by name. A list of a single value is passed as this value."""
    return step(**{name: v if v[1:] else v[0] for name, v in read.items()})


def results_of(returned: object) -> tuple[list[Any], Any]:
    """Return the results of a step, and its stop condition or None."""
    results: list[Any] = list(returned) if isinstance(returned, list | tuple) else [returned]
    stops = bool(results) and isinstance(results[-1], until)
    return results, results.pop().condition if stops else None
