"""The link of a bench, and the history of benches for undo and redo.

    >>> bench, moment = bench_of("loop=square&order=2&taps.x=-2,-1&moment=7")
    >>> link_of(bench, moment)
    'loop=square&order=2&taps.x=-2,-1&moment=7'

`visual.player.state` writes and reads the text; a page accepts the same text.
"""

import time
from dataclasses import dataclass, field, replace
from math import inf

from lab.errors import ArgumentError, check_choice, check_integer
from lab.loops import gallery
from visual.player.state import as_text, from_text
from visual.workbench.state import Bench, LoopBench
from visual.workbench.written import START, STEPS, WRITTEN, text_of, written_loop

MOST = 30  # the most changes that can be undone
TOGETHER = 1.0  # seconds; undo treats faster changes of values as a single change


def link_of(bench: Bench, moment: int = -1) -> str:
    """Return the text that restores a bench at a moment; -1 is the default moment.

    The text is empty for a graph, and for a loop from the user's code.
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
    """Return the bench and the moment in a text; -1 is the default moment.

    Raises LabError for an invalid text.
    """
    state = from_text(text)
    step, values = state.pop("step", START[0]), state.pop("values", START[1])
    moment = check_integer("moment", state.pop("moment", -1))
    name = state.pop("loop", "square")
    if name == WRITTEN:
        loop = written_loop(
            str(step), str(values), check_integer("steps", state.get("steps", STEPS))
        )
    else:
        loop = gallery.loops[check_choice("loop", name, [WRITTEN, *gallery.loops])]
    return LoopBench.from_loop(loop).changed(**state), moment


@dataclass
class ChangeHistory:
    """The earlier benches, and the undone benches."""

    past: list[Bench] = field(default_factory=list)
    future: list[Bench] = field(default_factory=list)
    _time: float = -inf  # of the latest change, if only values changed

    def note(self, before: Bench, after: Bench) -> None:
        """Store a change, except a change of the theme, which follows the theme of the page."""
        names = {*after.state.differences_from(before.state)} - {"theme"}
        has_loop_changed = getattr(before, "loop", None) is not getattr(after, "loop", None)
        if not names and not has_loop_changed:
            return
        now, are_values = time.monotonic(), names == {"at"} and not has_loop_changed
        if not (self.past and are_values and now - self._time < TOGETHER):
            self._store(self.past, before)
        self._time = now if are_values else -inf
        self.future.clear()

    def undo(self, present: Bench) -> Bench | None:
        """Return the previous bench, or None if the history has no previous bench."""
        return self._move(self.past, self.future, present)

    def redo(self, present: Bench) -> Bench | None:
        """Return the bench of the change that was last undone, or None without such a change."""
        return self._move(self.future, self.past, present)

    def _move(self, source: list[Bench], target: list[Bench], present: Bench) -> Bench | None:
        """Move a step in the history; return the reached bench, or None at the end."""
        if not source:
            return None
        self._time = -inf
        self._store(target, present)
        return source.pop()

    def _store(self, benches: list[Bench], bench: Bench) -> None:
        benches.append(replace(bench))  # a copy without the cached pictures
        del benches[:-MOST]
