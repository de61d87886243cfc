"""Find values in records that are not plain data, such as functions and graphs."""

from collections.abc import Mapping
from dataclasses import is_dataclass

import numpy as np

PLAIN = (str, int, float, bool, type(None), np.ndarray, np.generic)


def impurities(value, path="record"):
    """Yield the paths of values that are not plain data, also of values that a record caches."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = {f".{name}": part for name, part in vars(value).items()}
    elif isinstance(value, Mapping):
        parts = {f" key {key!r:.20}": key for key in value}
        parts |= {f"[{key!r:.20}]": part for key, part in value.items()}
    elif isinstance(value, tuple | list):
        parts = {f"[{number}]": part for number, part in enumerate(value)}
    else:
        parts = {}
        yield from [] if isinstance(value, PLAIN) else [path]
    for name, part in parts.items():
        yield from impurities(part, path + name)
