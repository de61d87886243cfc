"""The controls of a workbench as plain records; `form.js` builds a form from the records.

The key of a control names the choice to change: ``["order"]``, ``["taps", "x"]``, or
``["at", "u", 2]`` for one of several values. Start with `controls` and `changed`; `visual.options`
declares labels and ranges. `draw_ahead` draws the pictures of probable next changes.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from zlib import compress

from lab.errors import ArgumentError, LabError, argument_error, check_choice
from lab.loops import gallery
from lab.loops.variables import Sequence as Series
from lab.loops.variables import State
from lab.progress import pause
from lab.reports.breaking.rules import BROKEN
from visual.drawing.catalogue import PICTURES, VIEW
from visual.layout.names import NamedScan
from visual.options import COST, KEEP, OF, ORDER, RULE, STEPS, TAPS, THEME, WRT, Choice, Control
from visual.player.state import MAPPINGS
from visual.widgets.sliders import sliders
from visual.workbench.state import CHOICES, WRITTEN, Bench, LoopBench, view_options
from visual.workbench.texts import bench_of, short, text_of, with_loop, written_loop

Key = list[Any]  # the key of a control: texts and numbers
CORRECT = "correct"
FAULTY_RULE = "faulty rule"  # the name of a tab
WEIGHTS = "weights"
OLDEST_TAP = -4  # the earliest tap of a state that the form offers
STEP = Choice(WRITTEN, "", "step", kind="written")
STEP_HELP = (
    "x[t-1] is the previous value of x, u[t+1] the next value of u. A variable that the step does "
    "not assign is a parameter if it has one value, else a sequence. until(x > 2) stops the loop."
)


def equation(bench: Bench) -> str:
    """Return the equations of a step as text."""
    rule = bench.breakage
    named = NamedScan(rule.true if rule else bench.study(bench.state.order).trace, 0)
    return "; ".join(map(named.equation, named.scan.formulas))


def controls(bench: Bench) -> Iterator[Control]:
    """Yield all controls, with the present values: tabs, values, subject, rule, options, theme."""
    state, loop = bench.state, bench.chosen if isinstance(bench, LoopBench) else None
    tabs = [[kind.name, f"{kind.name}: {kind.about}"] for kind in PICTURES.values()]
    about = f"{FAULTY_RULE}: the correct and the faulty run of a rule with a mistake"
    tabs.insert(1, [FAULTY_RULE, about])
    yield VIEW.control(FAULTY_RULE if state.rule else state.view, group="views", options=tabs)
    for slider in sliders(bench.values, bench.given, loop.variables if loop else {}):
        yield {**slider, "group": "values"}
    if isinstance(bench, LoopBench):
        yield from _loop(bench)
    else:
        yield ORDER.control(state.order, group="loop")
        if state.wrt:
            yield WRT.control(state.wrt, bench.values, group="derivative")
    rules = [[CORRECT, "correct rule"], *([name, rule.title] for name, rule in BROKEN.items())]
    about = bench.breakage.rule.change if bench.breakage else ""
    yield RULE.control(state.rule or CORRECT, group="rule", options=rules, about=about)
    for option in view_options(state.view) if state.rule is None else ():
        if option.label:
            value = state.options.get(option.name, option.default)
            yield option.control(value, group="options", key=["options", option.name])
    yield THEME.control(state.theme, group="look")


def _loop(bench: LoopBench) -> Iterator[Control]:
    state, loop, group = bench.state, bench.loop, "derivative"
    names = dict.fromkeys([WRITTEN, *gallery.loops, state.loop])
    labels = {WRITTEN: "your own …"} | ({} if loop.name == WRITTEN else {state.loop: loop.name})
    options = [[name, labels.get(name, name)] for name in names]
    is_changed = bool(loop.reason and (state.taps or state.steps))
    about = f"Original loop: {loop.reason}" if is_changed else loop.reason
    yield Choice("loop", "", "loop").control(state.loop, group="loop", options=options, about=about)
    yield ORDER.control(state.order, group="loop")
    weights = None if isinstance(state.cost, str) else " ".join(map(short, state.cost))
    yield COST.control(WEIGHTS if weights else state.cost, (*COST.known, WEIGHTS), group="loop")
    if texts := text_of(bench.chosen) or text_of(loop):
        yield STEP.control(list(texts), group="written", about=STEP_HELP)
    yield STEPS.control(bench.chosen.steps, group=group)
    yield WRT.control(state.wrt or next(iter(bench.values)), bench.values, group=group)
    if weights:
        yield Choice(WEIGHTS, "", "weights of the steps", kind="text").control(weights, group=group)
    results = [*(state.name for state in loop.states), *loop.outputs]
    if len(results) > 1:
        yield OF.control(state.of or results[0], results, group=group)
    yield KEEP.control(state.keep, group=group, about="all, last, or a range such as 500:510")
    for name, variable in bench.chosen.variables.items():
        if isinstance(variable, State | Series):
            is_state = isinstance(variable, State)
            offered = {*(range(OLDEST_TAP, 0) if is_state else range(-2, 3)), *variable.taps}
            boxes = Choice(TAPS.name, "", f"{TAPS.label} of {name}", kind="checks")
            taps = boxes.control([*variable.taps], group="taps", options=sorted(offered))
            yield taps | {"key": [TAPS.name, name], "makes": is_state}


def changed(bench: Bench, key: Key, value: object) -> Bench:
    """Return `bench` after a change of the control `key`; raise LabError if it is impossible."""
    change: dict[str, Any]
    match key, value:
        case ["loop"], _:
            return with_loop(bench, value)
        case ["link"], _:
            return bench_of(str(value))[0]
        case ["written"], [str(text), str(values)]:
            kept: tuple[Any, ...] = ()
            if isinstance(bench, LoopBench) and bench.state.loop == WRITTEN:
                kept = bench.chosen.steps, bench.loop.name
            return with_loop(bench, written_loop(text, values, *kept))
        case ["at", str(name), int(place)], _:
            entries = bench.values[check_choice("at", name, bench.values)].astype(float)
            if place not in range(entries.size):
                raise ArgumentError(f"at = {name}[{place}]: {entries.size} values, from 0.")
            entries.ravel()[place] = _float(name, value)
            change = {"at": {name: entries}}
        case ["weights"], _:
            change = {"cost": [_float(WEIGHTS, part) for part in str(value).split()]}
        case ["cost"], _ if value == WEIGHTS and isinstance(bench, LoopBench):
            weights = [float(bench.state.cost == "sum")] * (bench.chosen.steps - 1) + [1.0]
            change = {"cost": weights if isinstance(bench.state.cost, str) else bench.state.cost}
        case ["options", str(name)], _:
            if name not in {option.name for option in view_options(bench.state.view)}:
                PICTURES[bench.state.view].check({name: value})  # raises and lists the options
            change = {"options": {name: value}}
        case ["taps" | "at" as field, str(name)], _:
            change = {field: {name: value}}
        case ["rule"], _:
            change = {"rule": None if value == CORRECT else value}
        case ["view"], _ if value == FAULTY_RULE:
            change = {"rule": bench.state.rule or next(iter(BROKEN))}
        case [str(field)], _ if field in CHOICES and field not in MAPPINGS:
            change = {field: value}
        case _:
            raise argument_error("key", key, "expected the key of a control, and a possible value.")
    return bench.changed(**change)


def draw_bench(bench: Bench, keeps_options: bool = True) -> Bench:
    """Draw the picture of a bench, and return the bench.

    An option can become invalid, for example the number of a Scan that no longer exists. If not
    `keeps_options`, draw and return a copy without options in this case. If no picture is
    possible, raises the LabError of the picture with options.
    """
    try:
        bench.machine, bench.svg  # noqa: B018 (the bench caches both)
    except LabError:
        if not keeps_options:
            with suppress(LabError):
                return draw_bench(bench.changed(options=dict.fromkeys(bench.state.options)))
        raise
    return bench


def _float(name: str, written: object) -> float:
    with suppress(ValueError):
        return float(str(written))
    raise argument_error(name, written, "expected a number.")


HIGHEST = 3  # the highest order that is drawn ahead
SLOW = 0.5  # seconds; after a slower picture, no other picture is drawn ahead


def draw_ahead(bench: Bench, version: int, send: Callable[[object, list[bytes]], object]) -> None:
    """Draw the probable next pictures of a loop, for the caches and the page. Ignore errors.

    For each change to a machine, `send` receives a message with the `version` of the bench, and
    the machine and its controls as compressed JSON.
    """
    for key, value in _probable_changes(bench) if isinstance(bench, LoopBench) else ():
        start = time.monotonic()
        pause()
        with suppress(Exception):
            drawn = draw_bench(changed(bench, key, value), keeps_options=False)
            if drawn.machine:
                form = {"controls": [*controls(drawn)], "equation": equation(drawn)}
                content = json.dumps({**form, "machine": drawn.machine}, allow_nan=False)
                send({"ahead": [version, key, value]}, [compress(content.encode(), 1)])
        if time.monotonic() - start > SLOW:
            return


def _probable_changes(bench: LoopBench) -> Iterator[tuple[Key, object]]:
    """Yield the key and the value of probable changes, the most probable first."""
    order, steps = bench.state.order, bench.chosen.steps
    near = [other for other in (order + 1, order - 1) if 0 <= other <= HIGHEST]
    yield from ((["order"], other) for other in near)
    yield from ((["steps"], other) for other in (steps + 1, steps - 1))
    for state in bench.chosen.states:
        for tap in range(OLDEST_TAP, 0):
            yield ["taps", state.name], sorted({*state.taps} ^ {tap})
    yield from ((["order"], other) for other in {*range(HIGHEST + 1)} - {order, *near})
    if bench.state.rule is None:
        yield from ((["loop"], name) for name in gallery.loops)
