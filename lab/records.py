"""Define frozen dataclasses that contain arrays, and compare them; cache properties."""

import functools
import sys
from collections.abc import Callable, Iterable, Sized
from contextlib import nullcontext
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, TypeVar, dataclass_transform

import numpy as np

from lab.errors import argument_error

MOST_ENTRIES = 100_000_000  # largest length of a list or range that becomes an array
T = TypeVar("T")
R = TypeVar("R")


@dataclass_transform(frozen_default=True, eq_default=False)
def record_of_arrays(cls: type[T]) -> type[T]:
    """Return `cls` as a frozen dataclass that compares arrays by value and has no hash."""
    cls.__eq__, cls.__hash__ = are_equal, None  # type: ignore[assignment]  # as in `dataclass`
    return dataclass(frozen=True, eq=False)(cls)


def freeze(array: np.ndarray) -> np.ndarray:
    """Make an array read-only and return it."""
    array = np.asarray(array)
    array.flags.writeable = False
    return array


UNUSUAL = (np.matrix, np.ma.MaskedArray)


def check_usual(argument: str, value: object) -> None:
    """Raise ArgumentError for a matrix, and for masked entries, because NumPy ignores the mask."""
    waiting, seen = [value], set[int]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, list | tuple) and id(part) not in seen:  # a list may contain itself
            seen.add(id(part))
            waiting += part
        elif isinstance(part, np.matrix):
            raise argument_error(argument, value, "expected an array; use np.asarray(value).")
        elif np.ma.is_masked(part):
            raise argument_error(argument, value, "expected no masked entries; use .filled(0.0).")


def as_array(
    argument: str,
    value: object,
    expected: str = "a number or an array of numbers",
    dtype: str | None = None,
) -> np.ndarray:
    """Return `value` as an array of numbers; raise ArgumentError for other values.

    `expected` describes the allowed values in the message.  A list or a range may have up to
    100 million members.
    """
    check_usual(argument, value)
    try:
        if isinstance(value, Sized) and not hasattr(value, "dtype") and len(value) > MOST_ENTRIES:
            raise OverflowError(f"it has more than {MOST_ENTRIES:,} members")
        array = np.asarray(value, dtype)
        if array.dtype.kind not in "biufc":
            raise TypeError("its entries are not numbers")
    except Exception as error:  # ragged lists, or any exception of the object
        raise argument_error(argument, value, f"expected {expected}.") from error
    return array


def are_equal(first: object, second: object) -> bool:
    """Return whether two records are equal, arrays included; nan equals nan."""
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return (
            isinstance(first, np.ndarray)
            and isinstance(second, np.ndarray)
            and first.dtype == second.dtype
            and np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")
        )
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(are_equal, first, second))
    if is_dataclass(first):
        return all(
            are_equal(getattr(first, field.name), getattr(second, field.name))
            for field in fields(first)
            if field.compare
        )
    return bool(first == second)


def cached_in_record(compute: Callable[[T], R]) -> Callable[[T], R]:
    """Return `compute` with a cache: each record stores its result, as with `cached_property`.

    The record may be frozen, and its class may be in a package that cannot import `compute`.
    """
    name = f"{compute.__module__}.{compute.__qualname__}"

    @functools.wraps(compute)
    def cached(record: T) -> R:
        results: dict[str, R] = vars(record)
        if name not in results:
            results[name] = compute(record)
        return results[name]

    return cached


def find_reachable(start: Iterable[T], after: Callable[[T], Iterable[T]]) -> dict[T, None]:
    """Return the items in `start`, and all items that repeated calls of `after` reach from them."""
    reached, waiting = dict[T, None](), [*start]
    while waiting:
        if (item := waiting.pop()) not in reached:
            reached[item] = None
            waiting += after(item)
    return reached


if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = functools.cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 (named as Python's property)
        """`functools.cached_property` without the lock that Python has before version 3.12.

        All instances share this lock.  Two computations that wait for each other in `pause` (see
        `lab.progress`) would deadlock.
        """

        def __init__(self, compute: Callable[..., object]) -> None:
            super().__init__(compute)
            self.lock = nullcontext()
