"""Records: frozen dataclasses that can be compared, kept in memory, and stored as plain JSON.

A stored record is a dict with its class name under ``"is"``; an outermost one has the
``"version"`` of the form as well.  What is read is checked, field by field, by cattrs, which
tells the place of what does not fit; only classes that were marked with `record` are ever made,
and nothing is evaluated.
"""

import functools
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Generic,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from lab.errors import LONGEST, ArgumentError, listing, quoted, refused

if TYPE_CHECKING:
    from cattrs import Converter

VERSION = 2  # of the stored form; version 1 did not tell
NUMERIC = "biufc"  # kinds of arrays that are stored

Class = TypeVar("Class", bound=type)
T = TypeVar("T")
Faults = Callable[..., Iterable[tuple[str, str]]]  # of an instance: where, and what
Hook = Callable[[object, type], object]  # makes a value of a type from what was stored
_RECORDS: dict[str, type] = {}
_FAULTS: dict[type, Faults] = {}


def stored(cls: Class) -> Class:
    """Class decorator: instances, or members of an enumeration, can be stored and read back."""
    taken = _RECORDS.setdefault(cls.__name__, cls)
    if taken.__module__ != cls.__module__:  # what is stored is told apart by its name alone
        raise TypeError(f"{cls.__name__}: {taken.__module__} has a record of this name.")
    _RECORDS[cls.__name__] = cls
    return cls


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Class decorator: a frozen dataclass, whose instances can be stored and read back."""
    return stored(dataclass(frozen=True)(cls))


@dataclass_transform(frozen_default=True, eq_default=False)
def of_arrays(cls: type[T]) -> type[T]:
    """A frozen dataclass that can hold arrays: such are equal as `same` says, and have no hash."""
    cls.__eq__, cls.__hash__ = same, None  # type: ignore[assignment]  # as `dataclass` sets them
    return dataclass(frozen=True, eq=False)(cls)


@dataclass_transform(frozen_default=True, eq_default=False)
def record_of_arrays(cls: type[T]) -> type[T]:
    """A `record` that can hold arrays; see `of_arrays`."""
    return stored(of_arrays(cls))


def faults_of(cls: type) -> Callable[[Faults], Faults]:
    """Decorator: the function that tells what does not fit in a stored `cls`, and where."""

    def register(faults: Faults) -> Faults:
        _FAULTS[cls] = faults
        return faults

    return register


def freeze(array: np.ndarray) -> np.ndarray:
    """The same array, which can no longer be written."""
    array = np.asarray(array)
    array.flags.writeable = False
    return array


def refuse_masked(argument: str, value: object) -> None:
    """Raise ArgumentError if entries of `value` are masked; numpy takes what lies below them."""
    waiting, seen = [value], set[int]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, list | tuple) and id(part) not in seen:  # one may hold itself
            seen.add(id(part))
            waiting += part
        elif isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            raise refused(
                argument, value, "what is masked is no number; fill it, as by value.filled(0.0)."
            )


def same(first: object, second: object) -> bool:
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
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if is_dataclass(first):
        return all(
            same(getattr(first, field.name), getattr(second, field.name))
            for field in fields(first)
            if field.compare
        )
    return bool(first == second)


def reached(start: Iterable[T], after: Callable[[T], Iterable[T]]) -> dict[T, None]:
    """All from which `start` leads to others, by what comes `after` each; itself included."""
    found, waiting = dict[T, None](), [*start]
    while waiting:
        if (one := waiting.pop()) not in found:
            found[one] = None
            waiting += after(one)
    return found


def to_json(value: object) -> dict[str, object]:
    """A record as dicts, lists, strings and numbers."""
    plain = _converter().unstructure(value)
    return {**plain, "version": VERSION} if isinstance(plain, dict) else plain


def from_json(data: object) -> object:
    """The inverse of `to_json`.

    Raises ArgumentError for what is none of our records, was stored in another version of the
    form, or does not fit: the message names the first place that does not, as in
    ``scans[1].tapes[0].reads``.
    """
    if not isinstance(data, Mapping):
        raise ArgumentError(f"from_json: expected a stored record, a dict, not {quoted(data)}.")
    name, version = data.get("is"), data.get("version")
    if not isinstance(name, str) or name not in _RECORDS:
        raise ArgumentError(
            f"from_json: {quoted(name)} is none of the records that Scantape stores."
        )
    if version != VERSION or isinstance(version, bool):
        told = "no version, as the first edition left it" if version is None else quoted(version)
        raise ArgumentError(
            f"from_json: this {name} has version = {told}; this edition reads version {VERSION}. "
            "Trace the loop once more."
        )
    inner = {key: item for key, item in data.items() if key != "version"}
    from cattrs import transform_error  # only who reads what was stored waits for its import

    try:
        stored: object = _converter().structure(inner, _RECORDS[name])
    except Exception as error:  # a group of whatever did not fit, each with its place
        first = transform_error(error, path=name, format_exception=_told)[0]
        what, _, place = first.rpartition(" @ ")
        where = place.removeprefix(name).removeprefix(".") or "it"
        where = where if len(where) <= LONGEST else f"{where[:LONGEST]}…"
        raise ArgumentError(f"from_json: {name}, {where}: {what}.") from None
    for where, what in _FAULTS.get(type(stored), lambda _: ())(stored):
        raise ArgumentError(f"from_json: {name}, {where}: {what}.")
    return stored


class Storable:
    """A record that is stored and read back by itself."""

    def to_json(self) -> dict[str, object]:
        """Plain dicts, lists, strings and numbers."""
        return to_json(self)

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Self:
        """The inverse of `to_json`.

        Raises ArgumentError for what is none of these, and for one that does not hold together;
        the message names the place, as in ``scans[1].tapes[0].reads``.
        """
        found = from_json(data)
        if not isinstance(found, cls):
            raise ArgumentError(f"from_json: this is not a stored {cls.__name__.lower()}.")
        return found


def _told(error: BaseException, _: object) -> str:
    """What did not fit, without its place."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, KeyError):
        return f"it is not complete: {error.args[0]} is missing"
    return f"{error}".rstrip(".") or type(error).__name__


@functools.cache
def _converter() -> "Converter":
    """What structures and unstructures our records: every type as it is declared, and strictly."""
    from cattrs import Converter  # a trace that is only drawn does not wait for its import
    from cattrs.gen import make_dict_structure_fn

    converter = Converter(forbid_extra_keys=True)

    def plainly(kind: type, also: tuple[type, ...] = ()) -> None:
        def structure(value: object, _: type) -> object:
            if type(value) is kind or type(value) in also:
                return value
            raise TypeError(f"expected {kind.__name__}, not {quoted(value)}")

        converter.register_structure_hook_func(lambda asked: asked is kind, structure)

    for kind in (bool, int, str):
        plainly(kind)
    plainly(float, (int,))

    def of_class(cls: type) -> Hook:
        hints = get_type_hints(cls)
        for field in fields(cls):  # cattrs takes names of types that come later as they are
            field.type = hints[field.name]
        read: Callable[..., object] = make_dict_structure_fn(
            cls, converter, _cattrs_forbid_extra_keys=True
        )

        def structure(value: object, _: type) -> object:
            if not isinstance(value, Mapping) or value.get("is") != cls.__name__:
                raise TypeError(f"expected a {cls.__name__}, not {quoted(value)}")
            return read({key: item for key, item in value.items() if key != "is"}, cls)

        return structure

    def to_class(cls: type) -> Callable[[object], dict[str, object]]:
        names = [field.name for field in fields(cls)]
        return lambda value: {
            "is": cls.__name__,
            **{name: converter.unstructure(getattr(value, name)) for name in names},
        }

    converter.register_structure_hook_factory(is_dataclass, of_class)
    converter.register_unstructure_hook_factory(is_dataclass, to_class)

    def of_tuple(kind: object) -> Hook:
        element, *_ = get_args(kind)
        items = list[element]  # type: ignore[valid-type]  # a type that is known when it runs

        def structure(value: object, _: type) -> object:
            if not isinstance(value, list | tuple):
                raise TypeError(f"expected a list, not {quoted(value)}")
            return tuple(converter.structure(list(value), items))

        return structure

    def is_series(kind: object) -> bool:
        return get_origin(kind) is tuple and get_args(kind)[1:] == (Ellipsis,)

    converter.register_structure_hook_factory(is_series, of_tuple)
    converter.register_unstructure_hook(
        tuple, lambda items: [converter.unstructure(i) for i in items]
    )

    def of_union(kind: object) -> Hook:
        members = get_args(kind)
        classes = {m.__name__: m for m in members if isinstance(m, type) and is_dataclass(m)}
        others = {m for m in members if not is_dataclass(m)}

        def structure(value: object, _: type) -> object:
            if value is None and type(None) in others:
                return None
            named = value.get("is") if isinstance(value, Mapping) else None
            chosen: type | None = classes.get(named) if isinstance(named, str) else None
            if named == "array" and np.ndarray in others:
                chosen = np.ndarray
            if chosen is None and type(value) in others:
                chosen = type(value)
            if chosen is None and not classes and len(others - {type(None)}) == 1:
                (chosen,) = others - {type(None)}  # one type, or None
            if chosen is None:
                words = listing(getattr(m, "__name__", str(m)) for m in members)
                raise TypeError(f"expected one of {words}, not {quoted(value)}")
            return converter.structure(value, chosen)

        return structure

    converter.register_structure_hook_factory(
        lambda kind: get_origin(kind) in (Union, UnionType), of_union
    )

    def to_enum(value: object, kind: type[Enum]) -> Enum:
        allowed = {member.value: member for member in kind}
        if isinstance(value, str) and value in allowed:
            return allowed[value]
        raise TypeError(f"{quoted(value)} is no {kind.__name__}; there are {listing(allowed)}")

    for choices in (cls for cls in _RECORDS.values() if issubclass(cls, Enum)):
        converter.register_structure_hook(choices, to_enum)  # else cattrs takes its own for them
    converter.register_structure_hook(np.ndarray, lambda value, _: array_from_json(value))
    converter.register_unstructure_hook(np.ndarray, array_to_json)
    return converter


_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def array_to_json(array: np.ndarray) -> dict[str, object]:
    """Shape, dtype and numbers; nan and infinities as words, complex numbers as pairs."""
    flat = array.reshape(-1)
    if array.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    numbers = [n if not isinstance(n, float) or math.isfinite(n) else str(n) for n in flat.tolist()]
    return {
        "is": "array",
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "numbers": numbers,
    }


def array_from_json(data: object) -> np.ndarray:
    """The inverse of `array_to_json`; raises TypeError for what is no stored array."""
    if not isinstance(data, Mapping) or data.get("is") != "array" or len(data) != 4:
        raise TypeError(f"expected an array, not {quoted(data)}")
    shape, name, numbers = data.get("shape"), data.get("dtype"), data.get("numbers")
    if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
        raise TypeError(f"shape = {quoted(shape)}: expected a list of lengths")
    if not isinstance(name, str) or name not in np.sctypeDict or len(shape) > 32:
        raise TypeError(f"dtype = {quoted(name)}: expected the name of a numeric type")
    dtype = np.dtype(name)
    if dtype.kind not in NUMERIC or dtype.name != name:
        raise TypeError(f"dtype = {quoted(name)}: expected the name of a numeric type")
    parts = 2 if dtype.kind == "c" else 1
    if not isinstance(numbers, list) or len(numbers) != math.prod(shape) * parts:
        raise TypeError(f"expected {math.prod(shape) * parts} numbers for the shape {shape}")
    plain = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    allowed = {"b": (bool,), "i": (int,), "u": (int,)}.get(dtype.kind, (int, float))
    values = []
    for number in numbers:
        value = _WORDS.get(number) if isinstance(number, str) and plain.kind == "f" else number
        if type(value) not in allowed:
            raise TypeError(f"expected numbers of type {name}, not {quoted(number)}")
        values.append(value)
    try:
        filled = np.array(values, dtype=plain)
    except OverflowError:
        raise TypeError(f"a number is too large for {name}") from None
    return freeze(filled.view(dtype).reshape(shape))


if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = functools.cached_property
else:

    class cached_property(Generic[T]):  # noqa: N801 (a property, named as the one it replaces)
        """A method whose first result stands in the instance's place of the same name.

        `functools.cached_property`, but without the lock that it has before Python 3.12: that one
        is shared by all instances and held while a value is computed, so that two threads, each
        of which lets the other go first (see `lab.progress`), would wait for each other forever.
        """

        def __init__(self, make: Callable[..., T]) -> None:
            self.make, self.__doc__ = make, make.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: object, owner: type | None = None) -> object:
            if instance is None:
                return self
            if self.name not in instance.__dict__:
                instance.__dict__[self.name] = self.make(instance)
            return instance.__dict__[self.name]
