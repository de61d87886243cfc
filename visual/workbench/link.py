"""The text of a bench, and the history of the benches that were shown.

    >>> bench, moment = bench_of("loop=square&order=2&taps.x=-2,-1&moment=7")
    >>> link_of(bench, moment)
    'loop=square&order=2&taps.x=-2,-1&moment=7'

The text is the one of `visual.player.state`, so that a page and a notebook take the same.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from lab.errors import ArgumentError, argument_error, check_integer
from lab.loops import gallery
from visual.player.state import as_text, from_text
from visual.workbench.state import Bench, BenchState, LoopBench
from visual.workbench.written import START, STEPS, WRITTEN, text_of, written

MOST = 30  # changes that can be undone
TOGETHER = 1.0  # seconds in which changes of one value, as by a slider, are one change


def link_of(bench: Bench, moment: int = -1) -> str:
    """Return the text that restores a bench at a moment, or at the default moment for -1.

    It is empty for a graph, and for a loop from the user's code.
    """
    if not isinstance(bench, LoopBench):
        return ""
    state: dict[str, object] = {"loop": bench.loop.name}
    if gallery.loops.get(bench.loop.name) is not bench.loop:
        texts = text_of(bench.loop)
        if texts is None:
            return ""
        state = {"loop": WRITTEN, "step": texts[0], "values": texts[1]}
        if not bench.loop.sequences and bench.loop.steps != STEPS:
            state["steps"] = bench.loop.steps
    state |= {name: value for name, value in bench.choices.items() if name != "loop"}
    if moment >= 0:
        state["moment"] = moment
    try:
        return as_text(state)
    except ArgumentError:  # an array of high rank
        return ""


def bench_of(text: str) -> tuple[LoopBench, int]:
    """Return the bench and the moment, or -1, in a text; raise LabError if it is invalid."""
    state = from_text(text)
    step, values = state.pop("step", START[0]), state.pop("values", START[1])
    moment = check_integer("moment", state.pop("moment", -1))
    name = state.pop("loop", "square")
    if name == WRITTEN:
        loop = written(str(step), str(values), check_integer("steps", state.get("steps", STEPS)))
    elif name in gallery.loops:
        loop = gallery.loops[str(name)]
    else:
        known = f"{WRITTEN!r} with step and values, or a loop of the gallery"
        raise argument_error("loop", name, f"expected {known}.")
    return LoopBench.of(loop).changed(**state), moment


@dataclass
class ChangeHistory:
    """The earlier benches, and those that were undone."""

    past: list[Bench] = field(default_factory=list)
    future: list[Bench] = field(default_factory=list)
    _last: tuple[frozenset[str], float] = (frozenset(), 0.0)

    def note(self, before: Bench, after: Bench) -> None:
        """Store a change; combine changes of the same value within a second."""
        changed = _differences(before, after)
        if not changed:
            return
        now = time.monotonic()
        are_values = all(name.startswith("at.") for name in changed)
        is_same = are_values and self._last[0] == changed and now - self._last[1] < TOGETHER
        self._last = changed, now
        if not (is_same and self.past):
            self._store(self.past, before)
        self.future.clear()

    def undo(self, present: Bench) -> Bench | None:
        """Return the previous bench, or None."""
        return self._move(self.past, self.future, present)

    def redo(self, present: Bench) -> Bench | None:
        """Return the bench that was undone last, or None."""
        return self._move(self.future, self.past, present)

    def _move(self, source: list[Bench], target: list[Bench], present: Bench) -> Bench | None:
        if not source:
            return None
        self._last = frozenset(), 0.0
        self._store(target, present)
        return source.pop()

    def _store(self, benches: list[Bench], bench: Bench) -> None:
        benches.append(replace(bench))  # a copy without the cached pictures
        del benches[:-MOST]


def _differences(before: Bench, after: Bench) -> frozenset[str]:
    """Return the names of the choices that differ; of mappings, the names of their entries."""
    if getattr(before, "loop", None) is not getattr(after, "loop", None):
        return frozenset({f"loop {id(after)}"})
    names = set()
    for choice in fields(BenchState):
        a, b = getattr(before.state, choice.name), getattr(after.state, choice.name)
        if a == b or choice.name == "theme":  # the page changes the theme, too
            continue
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            names |= {f"{choice.name}.{n}" for n in {*a, *b} if a.get(n) != b.get(n)}
        else:
            names.add(choice.name)
    return frozenset(names)
