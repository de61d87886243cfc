"""Records as plain JSON, and back.

Every record becomes a dict with its class name under ``"is"``.  Only classes that were
marked with `record` are ever made from JSON, and nothing is evaluated.

Frozen arrays: comparing records that hold them, and arrays as plain JSON.

Properties that are computed when they are first asked for, and kept.

`functools.cached_property`, but without the lock that it has before Python 3.12: that one is
shared by all instances and held while a value is computed, so that two threads, each of which
lets the other go first (see `lab.progress`), would wait for each other forever.
"""

import functools
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from lab.errors import ArgumentError, listing
from lab.expression import Call, Leaf, Number, Slice
from lab.tape import Kind, Tape

Record = TypeVar("Record", bound=type)

_RECORDS: dict[str, type] = {}


def record(cls: Record) -> Record:
    """Class decorator: instances, or members of an enumeration, can be stored and read back."""
    taken = _RECORDS.setdefault(cls.__name__, cls)
    if taken.__module__ != cls.__module__:  # what is stored is told apart by its name alone
        raise TypeError(f"{cls.__name__}: {taken.__module__} has a record of this name.")
    _RECORDS[cls.__name__] = cls
    return cls


for _plain in (Kind, Tape, Leaf, Number, Call, Slice):
    record(_plain)


def to_json(value: Any) -> Any:
    """`value`, a record or what records hold, as dicts, lists, strings and numbers."""
    if isinstance(value, np.ndarray):
        return {"is": "array", **array_to_json(value)}
    if isinstance(value, Enum):
        return {"is": type(value).__name__, "value": value.value}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    stored = {f.name: to_json(getattr(value, f.name)) for f in fields(value) if f.name != "live"}
    if hasattr(value, "formulas"):
        stored["formulas"] = to_json(value.formulas)
    return {"is": type(value).__name__, **stored}


def from_json(data: Any) -> Any:
    """The inverse of `to_json`."""
    if isinstance(data, list):
        return tuple(from_json(item) for item in data)
    if not isinstance(data, Mapping):
        return data
    name = data.get("is")
    if name == "array":
        return array_from_json(data)
    if name not in _RECORDS:
        raise ArgumentError(f"from_json: {name!r} is none of the records that Scantape stores.")
    if issubclass(_RECORDS[name], Enum):
        return _member(_RECORDS[name], data.get("value"))
    values = {key: from_json(item) for key, item in data.items() if key != "is"}
    found = values.pop("formulas", None)
    try:
        made = _RECORDS[name](**values)
    except TypeError as error:
        raise ArgumentError(f"from_json: this {name} is not complete: {error}.") from error
    if found is not None:
        object.__setattr__(made, "live", lambda: found)
    return made


def _member(members: type[Enum], value: Any) -> Enum:
    try:
        return members(value)
    except ValueError as error:
        allowed = listing(member.value for member in members)
        raise ArgumentError(
            f"from_json: {value!r} is no {members.__name__}; there are {allowed}."
        ) from error


_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def freeze(array: np.ndarray) -> np.ndarray:
    """The same array, which can no longer be written."""
    array = np.asarray(array)
    array.flags.writeable = False
    return array


def same(first: Any, second: Any) -> bool:
    """Whether two records are equal, arrays included; nan equals nan."""
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return (
            isinstance(first, np.ndarray)
            and isinstance(second, np.ndarray)
            and first.dtype == second.dtype
            and np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")
        )
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if is_dataclass(first):
        return all(
            same(getattr(first, field.name), getattr(second, field.name))
            for field in fields(first)
            if field.compare
        )
    return bool(first == second)


def array_to_json(array: np.ndarray) -> dict[str, Any]:
    """Shape, dtype and numbers; nan and infinities as words, complex numbers as pairs."""
    flat = array.reshape(-1)
    if array.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    numbers = [n if not isinstance(n, float) or math.isfinite(n) else str(n) for n in flat.tolist()]
    return {"shape": list(array.shape), "dtype": str(array.dtype), "numbers": numbers}


def array_from_json(data: Mapping[str, Any]) -> np.ndarray:
    """The inverse of `array_to_json`."""
    dtype = np.dtype(data["dtype"])
    numbers = [_WORDS.get(n, n) if isinstance(n, str) else n for n in data["numbers"]]
    plain = np.array(numbers, dtype=dtype if dtype.kind != "c" else f"f{dtype.itemsize // 2}")
    return freeze(plain.view(dtype).reshape(data["shape"]))


T = TypeVar("T")

if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = functools.cached_property
else:

    class cached_property(Generic[T]):  # noqa: N801 (a property, named as the one it replaces)
        """A method whose first result stands in the instance's place of the same name."""

        def __init__(self, make: Callable[[Any], T]) -> None:
            self.make, self.__doc__ = make, make.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            if self.name not in instance.__dict__:
                instance.__dict__[self.name] = self.make(instance)
            return instance.__dict__[self.name]
