"""A loop or a graph with its derivatives.

Pictures read a `Study`, which builds and runs each derivative once, on first use.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from pytensor.graph.basic import Apply, Variable

from lab.errors import ArgumentError, LabError, check_integer, check_type, listing
from lab.gradients.derivative import Derivative, derivative
from lab.loops.build import LoopGraph
from lab.loops.loop import Loop
from lab.loops.model import log_density
from lab.loops.variables import as_value
from lab.records import cached_property
from lab.scans.replacing import scan_nodes
from lab.traces.run import Values
from lab.traces.trace import Trace
from lab.traces.tracing import trace
from visual.options import AT, COST, DERIVATIVE, KEEP, MODE, OF, ORDER, STEPS, TAPS, WRT, Value

# Calls in Python have no upper limit for the order and the steps; forms have limits.
CHECKS: Mapping[str, Callable[[object], Value]] = {
    choice.name: replace(choice, most=None).check for choice in (ORDER, STEPS)
}


@dataclass(frozen=True)
class Frozen:
    """A number or an array of numbers in hashable form, for the key of a cache."""

    shape: tuple[int, ...]
    dtype: str | None
    entries: bytes

    @classmethod
    def freeze(cls, name: str, value: object) -> "Frozen":
        """Return the frozen `value` of the variable `name`; only a NumPy value fixes the dtype."""
        array = as_value(value, f"value of {name}")
        dtype = str(array.dtype) if isinstance(value, np.ndarray | np.generic) else None
        plain = array if dtype else array.astype("float64")
        return cls(array.shape, dtype, plain.tobytes())

    @property
    def value(self) -> ArrayLike:
        """The value as an array; if the dtype is None, as a number or nested lists."""
        array = np.frombuffer(self.entries, dtype=self.dtype or "float64").reshape(self.shape)
        return array if self.dtype else array.tolist()


@dataclass(frozen=True)
class Chosen:
    """The options of a loop's derivative in hashable form, for the key of a cache."""

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
    """Return the checked options of a loop's derivative; see `visual.options.DERIVATIVE`."""
    at = AT.check({} if at is None else at)
    return Chosen(
        tuple(TAPS.check({} if taps is None else taps).items()),
        cost=COST.check(cost),
        at=tuple((name, Frozen.freeze(name, value)) for name, value in at.items()),
        **{name: CHECKS.get(name, DERIVATIVE[name].check)(value) for name, value in others.items()},
    )


@dataclass(frozen=True, eq=False)
class Study:
    """The derivatives of a loop or a graph up to `order`.

    `differentiate` returns the derivatives up to an order. `given` has a value for every input,
    `also` contains further variables to compute, and `keep` selects the recorded steps of a long
    loop.
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
        """The trace of the derivative."""
        return self._run(self.derivative)

    @cached_property
    def trace_of_cost(self) -> Trace:
        """The trace of the derivative (order 0: of order 1), or of a cost without a derivative."""
        if self.order:
            return self.trace
        try:
            return self._run(self.differentiate(1))
        except LabError:  # the cost has no derivative
            return self.trace

    @property
    def scans(self) -> list[Apply]:
        """The Scan nodes in the order of ``trace.scans``."""
        return scan_nodes([*self.derivative.values, *self.also])

    def _run(self, derived: Derivative) -> Trace:
        return trace(derived.values, self.given, self.also, derived.names, keep=self.keep)


MODEL_OPTIONS = ("order", "wrt", "at")


def study_of(subject: object, given: Values | None = None, **choices: Value) -> Study:
    """Return the cached study of a loop, or the study of a graph's derivative or a PyMC model.

    `choices` are options of `DERIVATIVE` for a loop, and `order`, `wrt`, and `at` for a model. A
    derivative accepts no options; `given` has the values of its inputs. The cache has 64 loops.
    """
    density = log_density(subject)
    if density is not None:
        order = check_integer("order", choices.get("order", ORDER.default))
        (wrt, *_) = density.resolve_wrt(choices.get("wrt"))
        given = density.bind_values(AT.check(choices.get("at", {})))
        subject = replace(derivative(density.cost, wrt, order), cost="the log-density")
        choices = {name: value for name, value in choices.items() if name not in MODEL_OPTIONS}
    if isinstance(subject, Derivative):
        if choices:
            raise ArgumentError(
                f"{listing(choices)}: not an option of a lab.Derivative; pass such options to "
                "lab.derivative. For a PyMC model, expected order, wrt, or at."
            )
        return _study_of_graph(subject, {} if given is None else given)
    expected = "a lab.Loop, a lab.Derivative, or a PyMC model"
    return _study_of_loop(check_type("subject", subject, Loop, expected), choose(**choices))


def _study_of_graph(derived: Derivative, given: Values) -> Study:
    cost, wrt = derived.values[0], derived.wrt

    def differentiate(order: int) -> Derivative:
        if order == derived.order:
            return derived
        return replace(derivative(cost, wrt, order), by=derived.by, cost=derived.cost)

    return Study(differentiate, derived.order, given)


@lru_cache(maxsize=64)
def _study_of_loop(loop: Loop, choice: Chosen) -> Study:
    graph, differentiate = _cached_graph(loop, replace(choice, order=0, at=()))
    given = graph.given
    if choice.at:
        shaped = with_shape(loop, dict(choice.taps), choice.steps)
        valued = shaped.with_values({name: frozen.value for name, frozen in choice.at}, "at")
        other = valued.build()
        given = dict(zip(graph.given, other.given.values(), strict=True))
        if valued.steps != shaped.steps or [v.type for v in given] != [v.type for v in other.given]:
            graph, differentiate = other, _derivatives(valued, choice, other)
            given = other.given
    return Study(
        lambda order: replace(differentiate(order), given=given),
        choice.order,
        given,
        tuple(graph.node.outputs[:1]) if choice.mode == MODE.default else (),
        choice.keep,
    )


def with_shape(loop: Loop, taps: Mapping[str, Value], steps: int | None) -> Loop:
    """Return a loop with other taps and another number of steps."""
    loop = loop.with_taps(taps) if taps else loop
    return loop if steps is None else loop.with_steps(steps)


@lru_cache(maxsize=16)
def _cached_graph(loop: Loop, choice: Chosen) -> tuple[LoopGraph, Callable[[int], Derivative]]:
    """Return the graph of a loop, and a function that returns the derivatives up to an order.

    The values of the inputs are not part of the key of the cache.
    """
    loop = with_shape(loop, dict(choice.taps), choice.steps)
    graph = loop.build()
    return graph, lru_cache(maxsize=8)(_derivatives(loop, choice, graph))


def _derivatives(loop: Loop, choice: Chosen, graph: LoopGraph) -> Callable[[int], Derivative]:
    arguments = (choice.wrt, choice.cost, choice.of, graph, choice.mode)
    return lambda order: loop.derivative(order, *arguments)
