"""Descriptions of sliders for the values of a loop, in notebooks and pages."""

from collections.abc import Iterator, Mapping
from math import floor, log10

import numpy as np

from lab.loops.variables import Sequence, State
from lab.notation import value_symbol
from visual.options import AT, Control

MOST_ENTRIES = 12  # a note replaces the sliders of a larger array


def sliders(
    values: Mapping[str, np.ndarray],
    usual: Mapping[str, np.ndarray],
    variables: Mapping[str, object],
) -> Iterator[Control]:
    """Yield a slider for each entry of a real value, or a note for a large or other value.

    The range of a slider contains the corresponding entry of `usual`.
    """
    for name, value in values.items():
        if value.size > MOST_ENTRIES or value.dtype.kind not in "iuf":
            shape = " × ".join(map(str, value.shape))
            note = {"kind": "note", "label": f"{name}: {shape} values", "value": ""}
            yield {"key": [AT.name, name], **note}
            continue
        for place, entry in enumerate(value.ravel().tolist()):
            start = usual[name].ravel()[place] if place < usual[name].size else entry
            whole = value.dtype.kind != "f"
            label = _entry_name(name, variables.get(name), value, place)
            slider = {"kind": "range", "label": label, "value": repr(entry)}
            yield {"key": [AT.name, name, place], **slider, **_bounds(float(start), whole)}


def _entry_name(name: str, variable: object, value: np.ndarray, place: int) -> str:
    """Return a label such as ``x₁`` (a value at a time) or ``W[0, 1]`` (an entry of an array)."""
    if value.size == 1:
        return name
    index = [int(number) for number in np.unravel_index(place, value.shape)]
    if isinstance(variable, Sequence) or (isinstance(variable, State) and variable.reach > 1):
        name = value_symbol(name, index.pop(0))
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def _bounds(start: float, whole: bool) -> Control:
    """Return the limits and the step of a slider for at least `start` ± max(1, abs(start))."""
    start = start if np.isfinite(start) else 0.0
    reach = max(1.0, abs(start))
    if whole:
        return {"min": round(min(0, start - reach)), "max": round(start + reach + 2), "step": 1}
    digits = 2 - floor(log10(reach))
    step = float(f"1e{-digits}")
    return {"min": round(start - reach, digits), "max": round(start + reach, digits), "step": step}
