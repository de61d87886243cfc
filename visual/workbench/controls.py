"""The controls of a workbench as plain records, of which `form.js` makes a form, and their effect.

A control has a key, which tells what it changes: ``["order"]``, ``["taps", "x"]``, or
``["at", "u", 2]`` for one of several values.  Start with `controls` and `changed`; what a control
is called, and from where to where it goes, is declared in `visual.options`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lab.equations.spelling import Speller
from lab.errors import ArgumentError, LabError, check_choice, quote
from lab.loops import gallery
from lab.loops.variables import Sequence as Series
from lab.loops.variables import State
from lab.notation import integers
from lab.reports.breaking.breakage import Breakage, Effect, precise
from lab.reports.breaking.rules import BROKEN
from visual.drawing.catalogue import PICTURES
from visual.layout.names import NamedScan
from visual.options import (
    COST,
    KEEP,
    OF,
    ORDER,
    RULE,
    STEPS,
    TAPS,
    THEME,
    TRUNCATE,
    WRT,
    ByName,
    Choice,
    Control,
    opened,
)
from visual.pictures.stepgraph.first_sum import first_sum
from visual.widgets.sliders import sliders
from visual.workbench.link import bench_of
from visual.workbench.state import (
    CHOICES,
    OWN,
    Bench,
    BenchState,
    GraphBench,
    LoopBench,
    numbers,
    rewritten,
    with_loop,
)
from visual.workbench.written import WRITTEN, short, text_of, valued

KEPT = "steps to record: all, last, or a range, as 500:510"
Key = list[str | int]  # what a control changes
TRUE = "true"
BROKEN_RULE = "broken rule"  # the tab that shows what a broken rule does
WEIGHTS = "weights"
BACK = 4
WRITING = (
    "x[t-1] is x one step back, u[t+1] the next value of u. Of what is not assigned, "
    "one value is a parameter, several are a sequence. until(x > 2) stops the loop."
)


def controls(bench: Bench) -> list[Control]:
    """All controls, with the present values."""
    entries = _entries(bench, bench.usual_values)
    if isinstance(bench, LoopBench):
        own = [*_written(bench), *_derivative(bench), *_rule(bench), *_taps(bench)]
        return [*_loop(bench), *entries, *own, *_options(bench.state)]
    assert isinstance(bench, GraphBench)
    return [*entries, *_graph(bench), *_rule(bench), *_options(bench.state)]


def views() -> list[Control]:
    """The tabs."""
    told = {kind.name: (kind.name, kind.about) for kind in PICTURES.values()}
    told[BROKEN_RULE] = BROKEN_RULE, "what goes wrong if a rule is broken"
    return [
        {"name": name, "label": label, "about": f"{name}: {about}"}
        for name, (label, about) in told.items()
    ]


def view_shown(state: BenchState) -> str:
    """The tab that is open."""
    return state.view if state.rule is None else BROKEN_RULE


def equation(bench: Bench) -> str:
    """What the loop does at a step, in symbols; empty of a picture that shows no run."""
    if bench.shown.trace is None:
        return ""
    spell = Speller(NamedScan(bench.shown.trace, 0))
    return "; ".join(map(spell.equation, spell.scan.formulas))


def chosen_step(bench: Bench) -> Mapping[str, object]:
    """The moment that a picture of a single one shows where nobody chose any, and why; or nothing.

    That is the first sum of the Scan that is open.
    """
    trace, options = bench.shown.trace, bench.state.options
    shows_one = bench.state.view == "stepgraph"
    chooses = shows_one and bench.state.rule is None
    if trace is None or not chooses or bench.moment >= 0 or "step" in options:
        return {}
    scan = opened(trace, options.get("scan"))
    step, named = first_sum(trace.scans[scan]), NamedScan(trace, scan)
    why = "its first" if step is None else "the first that adds two things"
    told = f"step {step or 0} of Scan {scan + 1}, {why}"
    return {"moment": named.moment(step or 0)[0], "words": told}


def _control(
    group: str, choice: Choice, value: object, names: Iterable[str] = (), **more: object
) -> Control:
    """The control of a choice; `more` is what it has in this place."""
    return {"key": [choice.name], "group": group, **choice.control(value, names), **more}


def _loop(bench: LoopBench) -> Iterator[Control]:
    state = bench.state
    names = dict.fromkeys([*gallery.loops, WRITTEN, state.loop])
    own = {one.name: one.taps for one in bench.loop.states}
    own |= {one.name: one.taps for one in bench.loop.sequences}
    taps = [_tapped(name, some) for name, some in state.taps.items() if some != own[name]]
    steps = [f"{state.steps} steps"] if state.steps not in (None, bench.loop.steps) else []
    called = ", ".join([bench.loop.name, *taps])
    options = [[n, called if n == state.loop or n == OWN else n] for n in names]
    about = bench.loop.reason
    if about and (taps or steps):
        about = f"Here it has {' and '.join([*taps, *steps])}. As it came: {about}"
    loop = Choice("loop", "", "loop")
    yield _control("loop", loop, state.loop, options=options, about=about)
    yield _control("loop", ORDER, state.order)
    yield _control("loop", STEPS, bench.chosen.steps)


def _tapped(name: str, taps: Sequence[int]) -> str:
    """``taps −2, −1 of x``."""
    return f"taps {integers(*taps)} of {name}"


def _written(bench: LoopBench) -> Iterator[Control]:
    texts = text_of(bench.chosen)
    if texts is not None:
        step = {"kind": "written", "label": "step", "value": list(texts)}
        yield {"key": ["written"], "group": "written", **step, "about": WRITING}


def _graph(bench: GraphBench) -> Iterator[Control]:
    state, group = bench.state, "derivative"
    yield _control("loop", ORDER, state.order)
    if state.wrt:
        yield _control(group, WRT, state.wrt, dict.fromkeys([*bench.inputs, state.wrt]))


def _derivative(bench: LoopBench) -> Iterator[Control]:
    state, group = bench.state, "derivative"
    variables = list(valued(bench.loop))
    yield _control(group, WRT, state.wrt or variables[0], variables)
    cost = state.cost if isinstance(state.cost, str) else WEIGHTS
    yield _control(group, COST, cost, (*COST.known, WEIGHTS))
    if not isinstance(state.cost, str):
        weights = " ".join(map(short, state.cost))
        text = {"kind": "text", "label": "weights of the steps", "value": weights}
        yield {"key": [WEIGHTS], "group": group, **text}
    results = [*(state.name for state in bench.loop.states), *bench.loop.outputs]
    if len(results) > 1:
        yield _control(group, OF, state.of or results[0], results)
    yield _control(group, TRUNCATE, state.truncate)
    yield _control(group, KEEP, state.keep, about=KEPT)


def _rule(bench: Bench) -> Iterator[Control]:
    options = [[TRUE, "the true one"], *([name, rule.title] for name, rule in BROKEN.items())]
    about = verdict(bench.breakage) if bench.breakage else ""
    yield _control("rule", RULE, bench.state.rule or TRUE, options=options, about=about)


def verdict(breakage: Breakage) -> str:
    """What a broken rule does, and which derivatives are wrong by it, in two sentences."""
    visible, orders = breakage.visible, f"orders 1 to {breakage.rows[-1].order}"
    if visible is None:
        return f"{breakage.rule.change} All {orders} are right all the same."
    row = breakage.rows[visible - 1]
    kind = "refused" if row.effect is Effect.REFUSED else "wrong"
    first = f"Of the {orders}, the first {kind} one is {visible}"
    if row.broken is not None and not row.true.ndim and not row.broken.ndim:
        first = f"{first}: {precise(row.broken)} instead of {precise(row.true)}"
    return f"{breakage.rule.change} {first}."


def _taps(bench: LoopBench) -> Iterator[Control]:
    for variable in bench.chosen.variables.values():
        if isinstance(variable, State | Series):
            kind = "state" if isinstance(variable, State) else "sequence"
            offered = range(-BACK, 0) if kind == "state" else range(-2, 3)
            taps = sorted({*offered, *variable.taps})
            about: Control = {"kind": "checks", "label": f"{TAPS.label} of {variable.name}"}
            about["makes"] = kind == "state"
            chosen = {"value": list(variable.taps), "options": taps}
            yield {"key": [TAPS.name, variable.name], "group": "taps", **about, **chosen}


def _options(state: BenchState) -> Iterator[Control]:
    """What only the view that is shown has, and the colours of all."""
    for option in PICTURES[state.view].options if state.rule is None else ():
        if option.label:
            value = state.options.get(option.name)
            yield _control("options", option, value, key=["options", option.name])
    yield _control("look", THEME, state.theme)


def _entries(bench: Bench, usual: Mapping[str, np.ndarray]) -> Iterator[Control]:
    """A slider for every number of every input; where it begins and ends, the usual values say."""
    variables = bench.chosen.variables if isinstance(bench, LoopBench) else {}
    for slider in sliders(bench.values, usual, variables):
        yield {**slider, "group": "values"}


def changed(bench: Bench, key: Key, value: object) -> Bench:
    """What a bench becomes by what a control asks for."""
    match key:
        case ["loop"]:
            return with_loop(bench, value)
        case ["link"]:
            return replace(bench_of(str(value))[0], room=bench.room)
        case ["written"]:
            match value:
                case [str(text), str(values)]:
                    return rewritten(bench, text, values)
            raise ArgumentError(f"written = {quote(value)}: expected a step and values, two texts.")
    change = _change(bench, key, value)
    if "view" in change:
        return bench.seen(change["view"])
    if {"scan", "step", "inside"} & change.get("options", {}).keys():  # chosen, and not walked to
        bench = replace(bench, moment=-1)
    return bench.changed(**change)


def lasting(bench: Bench) -> Bench:
    """The same without an option that names what there is no more, as the third of two Scans.

    LabError if nothing can be shown without options either: what is wrong with all of them.
    """
    options, wrong = bench.state.options, None
    for gone in ((), *((name,) for name in options), tuple(options)):
        less = bench.changed(options=dict.fromkeys(gone)) if gone else bench
        try:
            less.shown  # noqa: B018 (it is remembered)
        except LabError as error:
            wrong = wrong or error
        else:
            return less
    assert wrong is not None  # as was tried
    raise wrong


def _change(bench: Bench, key: Key, value: object) -> dict[str, Any]:
    """What a control asks for, as arguments of `Bench.changed`."""
    match key:
        case ["at", str(name), int(place)]:
            values = bench.values[check_choice("at", name, bench.values)].astype(float)
            if place not in range(values.size):
                raise ArgumentError(f"at = {name}[{place}]: it has {values.size} values, from 0.")
            values.ravel()[place] = _float(name, value)
            return {"at": {name: numbers(values)}}
        case ["weights"] if isinstance(bench, LoopBench):
            return {"cost": [_float(WEIGHTS, part) for part in str(value).split()]}
        case ["cost"] if value == WEIGHTS and isinstance(bench, LoopBench):
            return {"cost": _weights(bench.state, bench.chosen.steps)}
        case ["options", str(name)]:
            own = {option.name: option for option in PICTURES[bench.state.view].options}
            if name not in own:
                PICTURES[bench.state.view].check({name: value})  # says which there are
            before = dict.fromkeys(own.keys() & {"scan", "step"}) if name == "inside" else {}
            return {"options": {**before, name: own[name].typed(value)}}
        case ["taps" | "at" as field, str(name)]:
            return {field: {name: value}}
        case ["rule"]:
            return {"rule": None if value == TRUE else value}
        case ["view"] if value == BROKEN_RULE:
            return {"rule": bench.state.rule or next(iter(BROKEN))}
        case [str(field)] if field in CHOICES and not isinstance(CHOICES[field], ByName):
            return {field: CHOICES[field].typed(value)}
    raise ArgumentError(f"key = {quote(key)}: there is no such control.")


def _weights(state: BenchState, steps: int) -> list[float]:
    """The weights that mean the same as the cost that was chosen before."""
    if not isinstance(state.cost, str):
        return list(state.cost)
    return [1.0] * steps if state.cost == "sum" else [0.0] * (steps - 1) + [1.0]


def _float(name: str, written: object) -> float:
    try:
        return float(str(written))
    except ValueError:
        raise ArgumentError(f"{name} = {quote(written)}: expected a number.") from None
