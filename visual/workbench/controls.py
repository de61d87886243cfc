"""The controls of a workbench as plain records, of which `form.js` makes a form.

A control has a key, which tells what it changes: ``["order"]``, ``["taps", "x"]``, or
``["at", "u", 2]`` for one of several values.
"""

from collections.abc import Iterator, Mapping
from math import floor, log10
from typing import Any

import numpy as np

from lab.errors import ArgumentError
from lab.loops import gallery
from lab.loops.loop import Loop
from lab.loops.variables import Sequence, State
from lab.reports.breaking.rules import BROKEN
from visual.choices import switch
from visual.drawing.kinds import PICTURES, TYPES
from visual.scene.theme import THEMES
from visual.workbench.graph import GraphBench
from visual.workbench.loop import LoopBench, value_of, valued
from visual.workbench.rule import BROKEN_RULE, TRUE, rules, told
from visual.workbench.state import HIGHEST_ORDER, OWN, WRITTEN, BenchState, numbers
from visual.workbench.written import short, text_of

Bench = LoopBench | GraphBench
Arrays = Mapping[str, np.ndarray]
Control = dict[str, Any]
BACK, MOST_ENTRIES = 4, 12
WRITING = (
    "x1 or x[t-1] is x one step back, x2 two, u[t+1] the next value of u. Of what is not assigned, "
    "one value is a parameter, several are a sequence. until(x > 2) stops the loop."
)
OPTIONS = {
    "scan": "Scan, by its number",
    "step": "step of the Scan",
    "around": "unfold around step",
    "buffer": "in the buffer's order",
    "contributions": "with every contribution",
    "all_direct": "with all uses of the inputs",
}
COSTS = ("last", "sum", "weights")


def controls(bench: Bench) -> list[Control]:
    """All controls, with the present values."""
    if isinstance(bench, GraphBench):
        return [
            *_graph(bench),
            *_rule(bench),
            *_options(bench.state),
            *_entries(bench.values, bench.usual_values),
        ]
    return [
        *_loop(bench),
        *_written(bench),
        *_derivative(bench),
        *_rule(bench),
        *_taps(bench),
        *_options(bench.state),
        *_entries(_values(bench.chosen), _values(bench.loop)),
    ]


def views() -> list[Control]:
    """The tabs."""
    pictures = [{"name": kind.name, "about": kind.about} for kind in PICTURES.values()]
    return [*pictures, {"name": BROKEN_RULE, "about": "what goes wrong if a rule is broken"}]


def view_shown(state: BenchState) -> str:
    """The tab that is open."""
    return state.view if state.rule is None else BROKEN_RULE


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


def _written(bench: LoopBench) -> Iterator[Control]:
    texts = text_of(bench.chosen)
    if texts is not None:
        yield _control(["written"], "written", "step", list(texts), "written", about=WRITING)


def _graph(bench: GraphBench) -> Iterator[Control]:
    state, inputs = bench.state, list(bench.inputs)
    inputs += [state.wrt] if state.wrt and state.wrt not in inputs else []
    group = "derivative"
    yield _control(["order"], "number", "order", state.order, group, min=0, max=HIGHEST_ORDER)
    if state.wrt:
        options = _same(inputs)
        yield _control(["wrt"], "select", "differentiate by", state.wrt, group, options=options)
    yield _control(["theme"], "select", "colours", state.theme, group, options=_same(THEMES))


def _same(names: Any) -> list[list[str]]:
    return [[name, name] for name in names]


def _derivative(bench: LoopBench) -> Iterator[Control]:
    state, group = bench.state, "derivative"
    variables = list(valued(bench.loop))
    yield _control(["order"], "number", "order", state.order, group, min=0, max=HIGHEST_ORDER)
    wrt = state.wrt or variables[0]
    yield _control(["wrt"], "select", "differentiate by", wrt, group, options=_same(variables))
    cost = state.cost if isinstance(state.cost, str) else "weights"
    yield _control(["cost"], "select", "cost", cost, group, options=_same(COSTS))
    if not isinstance(state.cost, str):
        written = " ".join(map(short, state.cost))
        yield _control(["weights"], "text", "weights of the steps", written, group)
    results = [*(state.name for state in bench.loop.states), *bench.loop.outputs]
    if len(results) > 1:
        of = state.of or results[0]
        yield _control(["of"], "select", "cost of", of, group, options=_same(results))
    limit = "" if state.truncate == -1 else state.truncate
    yield _control(["truncate"], "number", "truncate after steps", limit, group, min=1, max=10_000)


def _rule(bench: Bench) -> Iterator[Control]:
    chosen, about = bench.state.rule or TRUE, ""
    if bench.breakage is not None:
        about = told(bench.breakage)
    label = "rule of the pullback"
    yield _control(["rule"], "select", label, chosen, "rule", options=rules(), about=about)


def _taps(bench: LoopBench) -> Iterator[Control]:
    for variable in bench.chosen.variables.values():
        if isinstance(variable, State | Sequence):
            kind = "state" if isinstance(variable, State) else "sequence"
            offered = range(-BACK, 0) if kind == "state" else range(-2, 3)
            taps = sorted({*offered, *variable.taps})
            label, chosen = f"taps of {kind} {variable.name}", list(variable.taps)
            key = ["taps", variable.name]
            yield _control(key, "checks", label, chosen, "taps", options=taps)


def _options(state: BenchState) -> Iterator[Control]:
    """What only the view that is shown has."""
    for name in PICTURES[state.view].options if state.rule is None else ():
        label = OPTIONS.get(name)
        if label is None:
            continue
        value = state.options.get(name)
        if TYPES[name] is switch:
            yield _control(["options", name], "check", label, bool(value), "options")
        else:
            least, shown = int(name == "scan"), "" if value is None else value
            key = ["options", name]
            yield _control(key, "number", label, shown, "options", min=least, max=10_000)


def _values(loop: Loop) -> dict[str, np.ndarray]:
    return {name: value_of(variable) for name, variable in valued(loop).items()}


def _entries(
    values: Mapping[str, np.ndarray], usual: Mapping[str, np.ndarray]
) -> Iterator[Control]:
    """A slider for every number of every input; where it begins and ends, the usual values say."""
    for name, value in values.items():
        if value.size > MOST_ENTRIES or value.dtype.kind not in "iuf":
            shape = " × ".join(map(str, value.shape))
            yield _control(["at", name], "note", f"{name}: {shape} values", "", "values")
            continue
        for place, entry in enumerate(value.ravel().tolist()):
            start = usual[name].ravel()[place] if place < usual[name].size else entry
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


def change(bench: Bench, key: list[Any], value: Any) -> dict[str, Any]:
    """What a control asks for, as arguments of `BenchState.changed`."""
    match key:
        case ["at", name, place]:
            return {"at": {name: _with_entry(bench, name, place, value)}}
        case ["weights"] if isinstance(bench, LoopBench):
            return {"cost": [_float("weights", part) for part in str(value).split()]}
        case ["cost"] if value == "weights" and isinstance(bench, LoopBench):
            return {"cost": _weights(bench.state, bench.chosen.steps)}
        case ["options", name]:
            return {"options": {name: value if isinstance(value, bool) else _whole(name, value)}}
        case [("taps" | "at") as field, name]:
            return {field: {name: value}}
        case ["order" | "steps" | "truncate" as field]:
            return {field: _whole(field, value)}
        case ["rule"]:
            return {"rule": None if value == TRUE else value}
        case ["view"] if value == BROKEN_RULE:
            return {"rule": bench.state.rule or next(iter(BROKEN))}
        case ["wrt" | "cost" | "of" | "theme" | "view" as field]:
            return {field: value}
    raise ArgumentError(f"key = {key!r:.60}: there is no such control.")


def _weights(state: BenchState, steps: int) -> list[float]:
    """The weights that mean the same as the cost that was chosen before."""
    if not isinstance(state.cost, str):
        return list(state.cost)
    return [1.0] * steps if state.cost == "sum" else [0.0] * (steps - 1) + [1.0]


def _with_entry(bench: Bench, name: str, place: int, written: Any) -> Any:
    values = bench.values if isinstance(bench, GraphBench) else _values(bench.chosen)
    changed = values[name].astype(float)
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
