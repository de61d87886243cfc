"""Frozen arrays: comparing records that hold them, and arrays as plain JSON."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

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
