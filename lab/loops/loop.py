"""Declare a loop, build its graph, differentiate it, and trace it.

    >>> loop = Loop(lambda x: x**2, states=[State("x", 0.95)], n_steps=4)
    >>> trace = loop.trace(order=2)

`lab.loops.declaration` describes the fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable

from lab.equations.reading import system
from lab.equations.system import System
from lab.errors import argument_error, check_choice, check_type
from lab.gradients.derivative import Derivative, derivative
from lab.loops.build import LoopGraph, as_weights, build_loop, cost_label
from lab.loops.declaration import BY, OF, Declaration
from lab.loops.text.source import choose_name
from lab.loops.variables import State
from lab.loops.written import Parameters, Sequences, States, fields_of_text
from lab.notation import Number, first_values
from lab.retired import RetiredAttribute
from lab.scans.buffers import as_tensor
from lab.traces.trace import Trace
from lab.traces.tracing import trace


@dataclass(frozen=True, eq=False)
class Loop(Declaration):
    """A declared loop, with methods that build, differentiate, and trace its graph."""

    valued = RetiredAttribute()

    @classmethod
    def from_text(
        cls,
        text: str,
        states: States = (),
        sequences: Sequences = (),
        parameters: Parameters = (),
        **others: Any,  # values of other fields
    ) -> "Loop":
        """Build a loop from the text of its step; `lab.loops.text.grammar` describes the grammar.

        The variables are values by name, such as ``{"x": 0.95}``, and the text determines the taps.
        A single initial value of a state is repeated for each step that its taps reach back.
        The variables can also be `State`, `Sequence`, and `Parameter` objects, whose taps must
        agree with the text.  Other names that the text assigns are outputs.  `others` are fields of
        the loop, such as `n_steps`.  ``str(loop.step)`` is the text.  Raise ArgumentError for an
        invalid text.

            >>> Loop.from_text("x[t] = sin(x[t-2])*u[t]", {"x": [0.1, 0.2]}, {"u": [1.0, 2.0]})
        """
        written = fields_of_text(text, states, sequences, parameters)
        known = [field.name for field in fields(cls) if field.name not in written]
        for name in others:
            check_choice("argument", name, known, "a loop has the fields {}.")
        return cls(**written, **others)

    def build(self) -> LoopGraph:
        """Build a PyTensor graph with one Scan, also for a loop of one step."""
        return build_loop(self)

    def system(self) -> System:
        """Return the equations of the loop; Jupyter shows them as LaTeX."""
        given = {state.name: Number(_short_text(state.initial)) for state in self.states}
        return system(self.build().node, given)

    def cost(
        self, graph: LoopGraph, cost: npt.ArrayLike = "last", of: str | None = None
    ) -> TensorVariable:
        """Return a scalar cost of the state or output `of` (default: the first of them).

        The cost is ``sum_t weight[t] * sum(value[t])`` over the computed values.  The weights are
        0, …, 0, 1 for "last", and 1, …, 1 for "sum"; otherwise `cost` contains a weight per step.
        Raise ArgumentError for any other `cost`, and for an unknown name `of`.
        """
        of = choose_name("of", of, graph.outputs, OF)
        values = graph.outputs[of]
        if isinstance(cost, str):
            if cost not in ("last", "sum"):
                raise argument_error("cost", cost, "expected 'last', 'sum', or a weight per step.")
            chosen = as_tensor(graph.buffers[of])[-1] if cost == "last" else values
            return chosen if chosen.type.ndim == 0 else chosen.sum()
        weights = as_weights(cost)
        if len(weights) != self.steps:
            reason = f"expected {self.steps} weights, one per step, got {len(weights)}."
            raise argument_error("cost", cost, reason)
        weights = weights.reshape(-1, *[1] * (values.type.ndim - 1))
        if graph.stops_early:
            return (values * pt.constant(weights)[: values.shape[0]]).sum()
        return (values * weights).sum()

    def derivative(
        self,
        order: int = 1,
        wrt: str | None = None,
        cost: npt.ArrayLike = "last",
        of: str | None = None,
        graph: LoopGraph | None = None,
        mode: str = "reverse",
    ) -> Derivative:
        """Return the derivatives of a cost up to `order`; `trace` describes the arguments."""
        graph = self.build() if graph is None else graph
        check_type("graph", graph, LoopGraph, "a LoopGraph")
        wrt = choose_name("wrt", wrt, self.values, BY)
        result = derivative(self.cost(graph, cost, of), graph.inputs[wrt], order, mode=mode)
        label = cost_label(self, graph, cost, of)
        by = _initial_values(self.variables[wrt])
        return replace(result, given=graph.given, by=by, cost=label)

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
        """Trace the derivatives of a cost of the loop, up to `order`.

        `wrt` names the variable to differentiate with respect to (default: the first variable).
        `cost` and `of` are the arguments of the method `cost`.  `at` contains other values for
        variables, and `mode` is the mode of `lab.derivative`.  For a long loop, `keep` selects the
        recorded steps, as in `lab.trace`.
        """
        loop = self if at is None else self.with_values(at, "at")
        graph = loop.build()
        derived = loop.derivative(order, wrt, cost, of, graph, mode)
        return trace(derived, also=graph.node.outputs[:1] if mode == "reverse" else (), keep=keep)


def refuse_options(**options: object) -> None:
    """Raise ArgumentError unless all options have their defaults: `given`, or options of loops."""
    for name, value in options.items():
        default = "last" if name == "cost" else None
        if not isinstance(value, str | None) or value != default:
            why = "use loop.with_values(…)" if name == "given" else "only loops have this option"
            raise argument_error(name, value, f"expected {default}; {why}.")


def _initial_values(variable: object) -> str:
    """Write the initial values of a state as x₀ or (x₀, x₁); return "" for other variables."""
    if not isinstance(variable, State):
        return ""
    names = first_values(variable.name, variable.reach)
    return f"({names})" if variable.reach > 1 else names


def _short_text(initial: np.ndarray) -> str:
    """Write up to four initial values as numbers, and other arrays as their shape."""
    if initial.size < 5 and initial.ndim < 2:
        numbers = [f"{value:.10g}" for value in initial.reshape(-1)]
        return f"[{', '.join(numbers)}]" if initial.ndim else numbers[0]
    return f"array({'×'.join(map(str, initial.shape))})"
