"""A loop together with what is chosen about it, and the picture of both.

>>> LoopBench.of(gallery.loops["square"]).changed(order=2).picture.save("x.svg")
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from lab.loops import gallery
from lab.loops.loop import Loop
from lab.loops.variables import Parameter, RandomState, Sequence, State
from lab.loops.written import WrittenStep
from lab.records import cached_property
from lab.reports.breaking.breakage import Breakage
from visual.drawing.draw import draw
from visual.drawing.kinds import Picture
from visual.pictures.breaking import breaking
from visual.workbench.rule import breakage_of
from visual.workbench.state import OWN, WRITTEN, BenchState, Numbers, cast

Variable = State | Sequence | Parameter


@lru_cache(maxsize=64)
def truncated(loop: Loop, steps: int) -> Loop:
    """The same loop, whose gradient goes back so many steps; the same object for the same call."""
    return loop if steps == loop.truncate_gradient else replace(loop, truncate_gradient=steps)


@dataclass(frozen=True, eq=False)
class LoopBench:
    """A loop, and the state of the workbench that shows it."""

    loop: Loop
    state: BenchState

    @classmethod
    def of(cls, loop: Loop) -> "LoopBench":
        """A loop on which nothing is chosen yet."""
        truncate = loop.truncate_gradient
        return cls(loop, BenchState(name_of(loop), truncate=truncate))

    def changed(self, **changes: Any) -> "LoopBench":
        """The same loop with other choices; values last for other taps as those of a loop do."""
        state = self.state.changed(**changes)
        kept = {name: taps for name, taps in state.taps.items() if name in self.state.at}
        if "taps" in changes and kept:
            variables = valued(self.chosen.with_taps(kept))
            fitting = {name: value_of(variables[name]) for name in kept}
            state = state.changed(at={**fitting, **changes.get("at", {})})
        return LoopBench(self.loop, state)

    @property
    def choices(self) -> dict[str, Any]:
        """What is chosen about the loop, by name."""
        return self.state.beside(LoopBench.of(self.loop).state)

    @property
    def title(self) -> str:
        """A few words, as for the name of a file."""
        return f"{self.loop.name} {self.state.rule or self.state.view} {self.state.order}"

    @cached_property
    def chosen(self) -> Loop:
        """The loop with the chosen taps, steps and values; ArgumentError if it is none."""
        loop = self._truncated
        loop = loop.with_taps(self.state.taps) if self.state.taps else loop
        loop = loop if self.state.steps is None else loop.with_steps(self.state.steps)
        return loop.with_values(self.values)

    @cached_property
    def values(self) -> dict[str, np.ndarray]:
        """The chosen values, each with the dtype of its variable."""
        return {name: self._value(name, value) for name, value in self.state.at.items()}

    def _value(self, name: str, value: Numbers) -> np.ndarray:
        variable = valued(self.loop).get(name)
        if variable is None:
            return np.asarray(value)  # the loop says what is wrong with it
        return cast(name, value, value_of(variable).dtype)

    @cached_property
    def breakage(self) -> Breakage | None:
        """What the broken rule does to the derivatives, if one is chosen."""
        if self.state.rule is None:
            return None
        return breakage_of(self._truncated, self.state.rule, self.state.order, **self._about)

    @cached_property
    def picture(self) -> Picture:
        """The picture of the view, or of what the broken rule does; LabError if there is none."""
        state = self.state
        if self.breakage is not None:
            return breaking(self.breakage, state.theme)
        chosen = {"order": state.order, **self._about, **state.options}
        return draw(self._truncated, state.view, state.theme, **chosen)

    @property
    def _truncated(self) -> Loop:
        return truncated(self.loop, self.state.truncate)

    @property
    def _about(self) -> dict[str, Any]:
        """What is chosen about the derivative, but for its order."""
        names = ("taps", "steps", "wrt", "cost", "of")
        return {**{name: getattr(self.state, name) for name in names}, "at": self.values}


def name_of(loop: Loop) -> str:
    """The name of a loop of the gallery; what else it is for others."""
    if gallery.loops.get(loop.name) is loop:
        return loop.name
    return WRITTEN if isinstance(loop.step, WrittenStep) else OWN


def valued(loop: Loop) -> Mapping[str, Variable]:
    """The variables of a loop that have a value; one can differentiate by them."""
    return {n: one for n, one in loop.variables.items() if not isinstance(one, RandomState)}


def value_of(variable: Variable) -> np.ndarray:
    """The value that a variable was declared with."""
    if isinstance(variable, State):
        return variable.initial
    return variable.values if isinstance(variable, Sequence) else variable.value
