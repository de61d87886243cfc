"""What a workbench is opened with, and what becomes of it by what a page asks for."""

from typing import Any

from pytensor.graph.basic import Variable

from lab.errors import ArgumentError, listing
from lab.gradients.derivative import Derivative
from lab.loops import gallery
from lab.loops.loop import Loop
from visual.workbench.cell import Bench
from visual.workbench.controls import change
from visual.workbench.graph import GraphBench
from visual.workbench.loop import LoopBench
from visual.workbench.state import WRITTEN
from visual.workbench.written import START, STEPS, written


def changed(bench: Bench, key: list[Any], value: Any) -> Bench:
    """What a bench becomes by what a control asks for."""
    if key == ["loop"]:
        return with_loop(bench, value)
    if key == ["written"]:
        return _rewritten(bench, *map(str, value))
    return bench.changed(**change(bench, key, value))


def with_loop(bench: Bench, loop: Loop | str) -> LoopBench:
    """Another loop, seen in the same way: its taps and values are its own."""
    if isinstance(loop, str):
        loop = _loop_named(loop)
    if not isinstance(loop, Loop):
        raise ArgumentError(f"loop = {loop!r:.60}: expected a lab.Loop.")
    kept = {name: getattr(bench.state, name) for name in ("order", "view", "theme", "rule")}
    return LoopBench.of(loop).changed(**kept)


def _rewritten(bench: Bench, text: str, values: str) -> LoopBench:
    """The loop that is written, seen in the same way."""
    steps, name = STEPS, WRITTEN
    if isinstance(bench, LoopBench) and bench.state.loop == WRITTEN:
        steps, name = bench.chosen.steps, bench.loop.name
    return with_loop(bench, written(text, values, steps, name))


def opened(subject: Any, *about: Any) -> Bench:
    """What a workbench is opened with."""
    match subject, *about:
        case [Derivative(), given]:
            return GraphBench.of_derivative(subject, given)
        case [Variable(), Variable() as wrt, given]:
            return GraphBench.of(subject, wrt, given)
        case [None | Loop()]:
            return LoopBench.of(subject or gallery.loops["square"])
    raise ArgumentError(
        f"subject = {subject!r:.60} and {len(about)} more: expected a lab.Loop alone, a "
        "lab.Derivative and the values of its inputs, or a cost, what to differentiate by, and "
        "the values."
    )


def _loop_named(name: str) -> Loop:
    if name == WRITTEN:
        return written(*START)
    if name not in gallery.loops:
        raise ArgumentError(f"loop = {name!r:.60}: the gallery has {listing(gallery.loops)}.")
    return gallery.loops[name]
