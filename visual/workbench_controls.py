"""The controls of a workbench as plain records, from which `workbench.js` makes its form.

A control has a key, which tells what it changes: ``["order"]``, ``["taps", "x"]``, or
``["at", "u", 2]`` for one of several values.
"""

from collections.abc import Iterator, Mapping
from math import floor, log10
from typing import Any

import numpy as np

from lab import gallery
from lab.errors import ArgumentError
from lab.variables import Sequence, State
from visual.pictures import PICTURES
from visual.theme import THEMES
from visual.workbench_loop import LoopBench, value_of, valued
from visual.workbench_state import HIGHEST_ORDER, OWN, WRITTEN, BenchState, numbers

Control = dict[str, Any]
BACK, MOST_ENTRIES = 4, 12
COSTS = ("last", "sum", "weights")


def controls(bench: LoopBench) -> list[Control]:
    """All controls, with the present values."""
    return [
        *_loop(bench),
        *_derivative(bench),
        *_taps(bench),
        *_values(bench),
    ]


def views() -> list[Control]:
    """The tabs."""
    return [{"name": kind.name, "about": kind.about} for kind in PICTURES.values()]


def _control(key: list[Any], kind: str, label: str, value: Any, group: str, **more: Any) -> Control:
    return {"key": key, "kind": kind, "label": label, "value": value, "group": group, **more}


def _loop(bench: LoopBench) -> Iterator[Control]:
    state = bench.state
    names = [*gallery.loops, WRITTEN]
    names += [state.loop] if state.loop not in names else []
    options = [[name, bench.loop.name if name == OWN else name] for name in names]
    about = bench.loop.reason
    yield _control(["loop"], "select", "loop", state.loop, "loop", options=options, about=about)
    yield _control(["steps"], "number", "steps", bench.chosen.steps, "loop", min=1, max=10_000)
    yield _control(["theme"], "select", "colours", state.theme, "loop", options=_same(THEMES))


def _same(names: Any) -> list[list[str]]:
    return [[name, name] for name in names]


def _derivative(bench: LoopBench) -> Iterator[Control]:
    state, group = bench.state, "derivative"
    variables = list(valued(bench.loop))
    yield _control(["order"], "number", "order", state.order, group, min=0, max=HIGHEST_ORDER)
    wrt = state.wrt or variables[0]
    yield _control(["wrt"], "select", "differentiate by", wrt, group, options=_same(variables))
    weighted = not isinstance(state.cost, str)
    cost = "weights" if weighted else state.cost
    yield _control(["cost"], "select", "cost", cost, group, options=_same(COSTS))
    if weighted:
        written = " ".join(f"{weight:g}" for weight in state.cost)
        yield _control(["weights"], "text", "weights of the steps", written, group)
    results = [*(state.name for state in bench.loop.states), *bench.loop.outputs]
    if len(results) > 1:
        of = state.of or results[0]
        yield _control(["of"], "select", "cost of", of, group, options=_same(results))
    limit = "" if state.truncate == -1 else state.truncate
    yield _control(["truncate"], "number", "truncate after steps", limit, group, min=1, max=10_000)


def _taps(bench: LoopBench) -> Iterator[Control]:
    for variable in bench.chosen.variables.values():
        if isinstance(variable, State | Sequence):
            kind = "state" if isinstance(variable, State) else "sequence"
            offered = range(-BACK, 0) if kind == "state" else range(-2, 3)
            taps = sorted({*offered, *variable.taps})
            label, chosen = f"taps of {kind} {variable.name}", list(variable.taps)
            key = ["taps", variable.name]
            yield _control(key, "checks", label, chosen, "taps", options=taps)


def _values(bench: LoopBench) -> Iterator[Control]:
    chosen = valued(bench.chosen)
    for name, variable in valued(bench.loop).items():
        value, usual = value_of(chosen[name]), value_of(variable)
        if value.size > MOST_ENTRIES or value.dtype.kind not in "iuf":
            shape = " × ".join(map(str, value.shape))
            yield _control(["at", name], "note", f"{name}: {shape} values", "", "values")
            continue
        for place, entry in enumerate(value.ravel().tolist()):
            start = usual.ravel()[place] if place < usual.size else entry
            whole = value.dtype.kind != "f"
            label = name if value.size == 1 else f"{name}[{', '.join(_index(value, place))}]"
            bounds = _bounds(float(start), whole)
            yield _control(["at", name, place], "range", label, repr(entry), "values", **bounds)


def _index(value: np.ndarray, place: int) -> list[str]:
    return [str(number) for number in np.unravel_index(place, value.shape)]


def _bounds(start: float, whole: bool) -> Mapping[str, float]:
    """From where to where a slider goes: as far again as the value is from zero, but 1 at least."""
    if not np.isfinite(start):
        start = 0.0
    reach = max(1.0, abs(start))
    if whole:
        return {"min": round(min(0, start - reach)), "max": round(start + reach + 2), "step": 1}
    digits = 2 - floor(log10(reach))
    step = float(f"1e{-digits}")
    return {"min": round(start - reach, digits), "max": round(start + reach, digits), "step": step}


def change(bench: LoopBench, key: list[Any], value: Any) -> dict[str, Any]:
    """What a control asks for, as arguments of `BenchState.changed`."""
    match key:
        case ["at", name, place]:
            return {"at": {name: _with_entry(bench, name, place, value)}}
        case [("taps" | "at") as field, name]:
            return {field: {name: value}}
        case ["order" | "steps" | "truncate" as field]:
            return {field: _whole(field, value)}
        case ["weights"]:
            return {"cost": [_float("weights", part) for part in str(value).split()]}
        case ["cost"] if value == "weights":
            return {"cost": _weights(bench.state, bench.chosen.steps)}
        case ["wrt" | "cost" | "of" | "theme" | "view" as field]:
            return {field: value}
    raise ArgumentError(f"key = {key!r:.60}: there is no such control.")


def _weights(state: BenchState, steps: int) -> list[float]:
    """The weights that mean the same as the cost that was chosen before."""
    if not isinstance(state.cost, str):
        return list(state.cost)
    return [1.0] * steps if state.cost == "sum" else [0.0] * (steps - 1) + [1.0]


def _with_entry(bench: LoopBench, name: str, place: int, written: Any) -> Any:
    old = value_of(valued(bench.chosen)[name])
    changed = np.array(old, dtype=float)
    changed.ravel()[place] = _float(name, written)
    return numbers(changed)


def _float(name: str, written: Any) -> float:
    try:
        return float(written)
    except ValueError:
        raise ArgumentError(f"{name} = {written!r:.60}: expected a number.") from None


def _whole(name: str, written: Any) -> Any:
    text = str(written).strip()
    if not text and name != "order":
        return None
    return int(text) if text.removeprefix("-").isdecimal() else text
