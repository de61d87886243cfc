"""Loops as a learner declares them, and what can be done with them.

    >>> loop = Loop(lambda x: x**2, states=[State("x", 0.95)], n_steps=4)
    >>> trace = loop.trace(order=2)

What a loop is declared by is in `lab.loops.declaration`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from pytensor.tensor.variable import TensorVariable

from lab.equations.reading import system
from lab.equations.system import System
from lab.errors import check_choice, check_type
from lab.gradients.derivative import Derivative, derivative
from lab.loops.build import LoopGraph, build_loop, cost_label, scalar_cost
from lab.loops.declaration import BY, Declaration
from lab.loops.text.source import one_named
from lab.loops.variables import State
from lab.loops.written import Parameters, Sequences, States, written_loop
from lab.notation import Number, value_symbol
from lab.traces.trace import Trace
from lab.traces.tracing import trace


@dataclass(frozen=True, eq=False)
class Loop(Declaration):
    """A loop, declared.  `n_steps` is a number, a `Parameter`, or left to the sequences."""

    @classmethod
    def from_text(
        cls,
        text: str,
        states: States = (),
        sequences: Sequences = (),
        parameters: Parameters = (),
        **others: Any,  # the values of other fields
    ) -> "Loop":
        """A loop whose step is written as text, in the grammar of `lab.loops.text.grammar`.

        The variables are values by name, ``{"x": 0.95}``, whose taps follow from the text, or
        `State`, `Sequence` and `Parameter` with taps that must agree with it.  Whatever is
        assigned and is no state is an output.  `others` are fields of the loop, as `n_steps`.
        ``str(loop.step)`` is the text again.

            >>> Loop.from_text("x[t] = sin(x[t-2])*u[t]", {"x": [0.1, 0.2]}, {"u": [1.0, 2.0]})
        """
        known = [one.name for one in fields(cls)]
        for name in others:
            check_choice("argument", name, known, "a loop has the fields {}.")
        return cls(*written_loop(text, states, sequences, parameters), **others)

    def build(self) -> LoopGraph:
        """The loop as a PyTensor graph with one Scan in it, also for a single step."""
        return build_loop(self)

    def system(self) -> System:
        """The loop as a system of equations: print it, or let Jupyter show it as LaTeX."""
        given = {state.name: Number(_in_a_word(state.initial)) for state in self.states}
        return system(self.build().node, given)

    def cost(
        self, graph: LoopGraph, cost: npt.ArrayLike = "last", of: str | None = None
    ) -> TensorVariable:
        """A scalar cost of the state or output `of` (the first one unless given).

        ``sum_t weight[t] * sum(value[t])`` over the values that the loop computes, where the
        weights are 0, …, 0, 1 for "last", all 1 for "sum", or as given, one for each step.
        """
        return scalar_cost(graph, cost, of, self.steps)

    def derivative(
        self,
        order: int = 1,
        wrt: str | None = None,
        cost: npt.ArrayLike = "last",
        of: str | None = None,
        graph: LoopGraph | None = None,
        mode: str = "reverse",
    ) -> Derivative:
        """The derivatives up to `order` of a cost of this loop; see `trace` and `cost`."""
        graph = (
            self.build() if graph is None else check_type("graph", graph, LoopGraph, "a LoopGraph")
        )
        wrt = one_named("wrt", wrt, self.valued, BY)
        made = derivative(self.cost(graph, cost, of), graph.inputs[wrt], order, mode=mode)
        starts = {state.name: state.reach for state in self.states}
        told = cost_label(graph, cost, of, self.steps, starts)
        by = _initial_values(self.variables[wrt])
        return replace(made, given=graph.given, by=by, cost=told)

    def trace(
        self,
        order: int = 1,
        wrt: str | None = None,
        cost: npt.ArrayLike = "last",
        of: str | None = None,
        at: Mapping[str, npt.ArrayLike] | None = None,
        mode: str = "reverse",
        keep: str | slice = "all",
    ) -> Trace:
        """The trace of the derivatives up to `order` of a cost of this loop.

        `wrt` names the variable to differentiate by, the first state unless given; `cost` and
        `of` are those of `cost`; `at` gives other values for the loop's variables; `mode` is one
        of `lab.derivative`, and `keep` what `lab.trace` keeps of a long loop.
        """
        loop = self if at is None else self.with_values(at, "at")
        graph = loop.build()
        derived = loop.derivative(order, wrt, cost, of, graph, mode)
        return trace(derived, also=graph.node.outputs[:1] if mode == "reverse" else (), keep=keep)


def _initial_values(variable: object) -> str:
    """What is given of a state: x₀, or (x₀, x₁); empty for what is no state."""
    if not isinstance(variable, State):
        return ""
    names = [value_symbol(variable.name, index) for index in range(variable.reach)]
    names = names if len(names) < 4 else [names[0], "…", names[-1]]
    return f"({', '.join(names)})" if len(names) > 1 else names[0]


def _in_a_word(initial: np.ndarray) -> str:
    """Initial values in a word: a number, a few numbers, or the shape of an array."""
    if initial.size < 5 and initial.ndim < 2:
        numbers = [f"{value:.10g}" for value in initial.reshape(-1)]
        return f"[{', '.join(numbers)}]" if initial.ndim else numbers[0]
    return f"array({'×'.join(map(str, initial.shape))})"
