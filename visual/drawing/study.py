"""What a person wants to look at: a loop or a graph, and its derivatives, built and run.

All pictures are drawn from a `Study`.  It builds and runs when it is first asked, and once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike
from pytensor.graph.basic import Apply, Variable

from lab.errors import LabError
from lab.gradients.derivative import Derivative, derivative
from lab.loops.build import LoopGraph
from lab.loops.loop import Loop
from lab.loops.variables import as_value
from lab.records import cached_property
from lab.scans.replacing import scan_nodes
from lab.traces.run import Values
from lab.traces.trace import Trace
from lab.traces.tracing import trace
from visual.options import (
    AT,
    COST,
    DERIVATIVE,
    KEEP,
    MODE,
    OF,
    ORDER,
    STEPS,
    TAPS,
    WRT,
    Value,
    check_integer,
    whole_or_none,
)

# What a form offers has an end; Python does not.
CHECKS: Mapping[str, Callable[[object], Value]] = {
    "order": partial(check_integer, "order"),
    "steps": partial(whole_or_none, "steps"),
}


@dataclass(frozen=True)
class Frozen:
    """A number or an array of numbers that can be looked up."""

    shape: tuple[int, ...]
    dtype: str | None
    entries: bytes

    @classmethod
    def of(cls, name: str, value: object) -> "Frozen":
        """The `value` of the variable `name`; of what is no array, the dtype is left open."""
        array = as_value(value, f"value of {name}")
        dtype = str(array.dtype) if isinstance(value, np.ndarray | np.generic) else None
        plain = array if dtype else array.astype("float64")
        return cls(array.shape, dtype, plain.tobytes())

    @property
    def value(self) -> ArrayLike:
        """What was frozen: an array, or plain numbers."""
        array = np.frombuffer(self.entries, dtype=self.dtype or "float64").reshape(self.shape)
        return array if self.dtype else array.tolist()


@dataclass(frozen=True)
class Chosen:
    """What was chosen about a loop's derivative, in a form that can be looked up."""

    taps: tuple[tuple[str, tuple[int, ...]], ...] = ()
    steps: int | None = STEPS.default
    order: int = ORDER.default
    wrt: str | None = WRT.default
    cost: str | tuple[float, ...] = COST.default
    of: str | None = OF.default
    at: tuple[tuple[str, Frozen], ...] = ()
    mode: str = MODE.default
    keep: str = KEEP.default


def choose(
    taps: object = None, cost: object = COST.default, at: object = None, **others: Value
) -> Chosen:
    """What a person says about a loop's derivative; see `visual.options.DERIVATIVE`."""
    at = AT.check({} if at is None else at)
    return Chosen(
        tuple(TAPS.check({} if taps is None else taps).items()),
        cost=COST.check(cost),
        at=tuple((name, Frozen.of(name, value)) for name, value in at.items()),
        **{name: CHECKS.get(name, DERIVATIVE[name].check)(value) for name, value in others.items()},
    )


@dataclass(frozen=True, eq=False)
class Study:
    """The derivatives up to `order` of something that `differentiate` builds.

    `given` has a value for every input, `also` are variables that are run as well, and of a long
    loop `keep` tells which steps are kept.
    """

    differentiate: Callable[[int], Derivative]
    order: int
    given: Values
    also: tuple[Variable, ...] = ()
    keep: str = KEEP.default

    @cached_property
    def derivative(self) -> Derivative:
        """The derivatives up to the order."""
        return self.differentiate(self.order)

    @cached_property
    def trace(self) -> Trace:
        """Their run."""
        return self._run(self.derivative)

    @cached_property
    def trace_of_cost(self) -> Trace:
        """A run that tells what the cost acts on: that of a derivative, if there is any."""
        if self.order:
            return self.trace
        try:
            return self._run(self.differentiate(1))
        except LabError:  # there is no derivative, and nothing to tell
            return self.trace

    @property
    def scans(self) -> list[Apply]:
        """The Scans in the order of ``trace.scans``."""
        return scan_nodes([*self.derivative.values, *self.also])

    def _run(self, derived: Derivative) -> Trace:
        return trace(derived.values, self.given, self.also, derived.names, keep=self.keep)


def study(subject: Loop | Derivative, choice: Chosen, given: Values | None = None) -> Study:
    """A loop with what was chosen about it, or the derivative of a graph with its inputs."""
    if isinstance(subject, Derivative):
        cost, wrt = subject.values[0], subject.wrt
        return Study(
            lambda order: (
                subject
                if order == subject.order
                else replace(derivative(cost, wrt, order), by=subject.by, cost=subject.cost)
            ),
            subject.order,
            {} if given is None else given,
        )
    graph, differentiate = _built(subject, replace(choice, order=0, at=()))
    given = graph.given
    if choice.at:
        loop = shaped(subject, dict(choice.taps), choice.steps)
        valued = loop.with_values({name: frozen.value for name, frozen in choice.at}, "at")
        other = valued.build()
        given = dict(zip(graph.given, other.given.values(), strict=True))
        if valued.steps != loop.steps or [v.type for v in given] != [v.type for v in other.given]:
            graph, differentiate = other, _derivatives(valued, choice, other)
            given = other.given
    return Study(
        lambda order: replace(differentiate(order), given=given),
        choice.order,
        given,
        tuple(graph.node.outputs[:1]) if choice.mode == MODE.default else (),
        choice.keep,
    )


def shaped(loop: Loop, taps: Mapping[str, Value], steps: int | None) -> Loop:
    """A loop with other taps and steps."""
    loop = loop.with_taps(taps) if taps else loop
    return loop if steps is None else loop.with_steps(steps)


@lru_cache(maxsize=16)
def _built(loop: Loop, choice: Chosen) -> tuple[LoopGraph, Callable[[int], Derivative]]:
    """The graph of a loop and its derivatives, which are the same for all of its values."""
    loop = shaped(loop, dict(choice.taps), choice.steps)
    graph = loop.build()
    return graph, lru_cache(maxsize=8)(_derivatives(loop, choice, graph))


def _derivatives(loop: Loop, choice: Chosen, graph: LoopGraph) -> Callable[[int], Derivative]:
    asked = (choice.wrt, choice.cost, choice.of, graph, choice.mode)
    return lambda order: loop.derivative(order, *asked)
