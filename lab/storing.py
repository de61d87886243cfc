"""Records as plain JSON, and back.

Every record becomes a dict with its class name under ``"is"``.  Only classes that were
marked with `record` are ever made from JSON, and nothing is evaluated.
"""

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from lab.arrays import array_from_json, array_to_json
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
