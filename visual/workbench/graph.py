"""A graph of PyTensor's on the workbench: its derivatives, and values for its inputs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable

from lab.errors import ArgumentError, listing
from lab.gradients.derivative import Derivative, derivative
from lab.loops.variables import as_value
from lab.records import cached_property
from lab.reports.breaking.breakage import Breakage
from visual.drawing.draw import draw
from visual.drawing.kinds import Picture
from visual.pictures.breaking import breaking
from visual.workbench.rule import breakage_of_graph, compared_up_to
from visual.workbench.state import GRAPH, BenchState, cast

CHOSEN = ("order", "wrt", "at", "view", "options", "theme", "rule")


@dataclass(frozen=True, eq=False)
class GraphBench:
    """A cost, its inputs with their values, and the state of the workbench that shows them."""

    cost: Variable
    by: Variable
    given: Mapping[Variable, Any]
    usual: BenchState
    state: BenchState

    @classmethod
    def of(cls, cost: Variable, wrt: Variable, given: Any, order: int = 1) -> "GraphBench":
        """A cost to differentiate by `wrt`, with a value for every input in `given`."""
        if not isinstance(given, Mapping) or not all(isinstance(v, Variable) for v in given):
            raise ArgumentError(
                f"given = {given!r:.60}: expected the values of the graph's inputs, as in "
                "{x0: 0.5}."
            )
        state = BenchState(GRAPH, order=order)
        bench = cls(cost, wrt, dict(given), state, state)
        named = replace(state, wrt=bench.names.get(wrt))
        return replace(bench, usual=named, state=named)

    @classmethod
    def of_derivative(cls, made: Derivative, given: Any) -> "GraphBench":
        """A derivative that was made already."""
        return cls.of(made.values[0], made.wrt, given, made.order)

    @property
    def title(self) -> str:
        """A few words, as for the name of a file."""
        return f"{self.cost.name or GRAPH} {self.state.rule or self.state.view} {self.state.order}"

    @cached_property
    def names(self) -> Mapping[Variable, str]:
        """A name for every input: its own, or its number if it has none to itself."""
        own = [variable.name for variable in self.given]
        return {
            variable: name if name and own.count(name) == 1 else f"input {number}"
            for number, (variable, name) in enumerate(zip(self.given, own, strict=True), start=1)
        }

    @cached_property
    def inputs(self) -> Mapping[str, Variable]:
        """The inputs by their names."""
        return {name: variable for variable, name in self.names.items()}

    @property
    def usual_values(self) -> dict[str, np.ndarray]:
        """The values of the inputs that were given, by name."""
        return replace(self, state=self.usual).values

    @property
    def values(self) -> dict[str, np.ndarray]:
        """The values of the inputs, as chosen, by name."""
        return {
            name: self._value(name, as_value(self.given[variable], f"value of {name}"))
            for name, variable in self.inputs.items()
        }

    def _value(self, name: str, usual: np.ndarray) -> np.ndarray:
        chosen = self.state.at.get(name)
        return usual if chosen is None else cast(name, chosen, usual.dtype)

    @property
    def choices(self) -> dict[str, Any]:
        """What is chosen about the graph, by name."""
        return self.state.beside(self.usual)

    def changed(self, **changes: Any) -> "GraphBench":
        """The same graph with other choices."""
        for name in changes:
            if name not in CHOSEN:
                raise ArgumentError(
                    f"{name}: of a graph {listing(CHOSEN)} can be chosen; all else is in the graph."
                )
        bench = replace(self, state=self.state.changed(**changes))
        for name in bench.state.at:
            self._check("at", name)
        if bench.state.wrt != self.usual.wrt:
            self._check("wrt", bench.state.wrt)
        return bench

    def _check(self, argument: str, name: str | None) -> None:
        if name not in self.inputs:
            raise ArgumentError(
                f"{argument} = {name!r:.60}: the inputs of this graph are {listing(self.inputs)}."
            )

    @cached_property
    def breakage(self) -> Breakage | None:
        """What the broken rule does to the derivatives, if one is chosen."""
        if self.state.rule is None:
            return None
        made = _derived(self.cost, self._wrt, compared_up_to(self.state.order))
        return breakage_of_graph(made, self._given, self.state.rule)

    @cached_property
    def picture(self) -> Picture:
        """The picture of the view, or of what the broken rule does; LabError if there is none."""
        state = self.state
        if self.breakage is not None:
            return breaking(self.breakage, state.theme)
        made = _derived(self.cost, self._wrt, state.order)
        return draw(made, state.view, state.theme, self._given, **state.options)

    @property
    def _wrt(self) -> Variable:
        return self.inputs.get(self.state.wrt or "", self.by)

    @property
    def _given(self) -> dict[Variable, Any]:
        return {variable: self.values[name] for name, variable in self.inputs.items()}


_derived = lru_cache(maxsize=16)(derivative)
