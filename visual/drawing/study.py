"""A loop or a graph with its derivatives.

Pictures read a `Study`, which builds and runs each derivative once, on first use.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors

from lab.errors import ArgumentError, LabError, check_integer, check_type, listing
from lab.gradients.derivative import Derivative, derivative
from lab.loops.build import LoopGraph
from lab.loops.loop import Loop, refuse_options
from lab.loops.model import log_density
from lab.loops.variables import as_value
from lab.records import cached_property
from lab.scans.replacing import scan_nodes
from lab.traces.run import Values
from lab.traces.trace import Trace
from lab.traces.tracing import trace
from visual.options import AT, DERIVATIVE, KEEP, MODE, ORDER, Choice, Value, Whole
from visual.pictures.machine.build import check_row_count


@dataclass(frozen=True)
class Frozen:
    """A number, a NumPy array, or nested lists of numbers as a part of a cache key.

    Only `key` is compared: the shape, the dtype (if any), and the bytes of the value.
    """

    key: tuple[tuple[int, ...], str | None, bytes]
    value: ArrayLike = field(compare=False)

    @classmethod
    def freeze(cls, name: str, value: object) -> "Frozen":
        """Return the `Frozen` of a value; only the key of a NumPy value contains a dtype."""
        array = as_value(value, f"value of {name}")  # a copy
        if isinstance(value, np.ndarray | np.generic):
            return cls((array.shape, str(array.dtype), array.tobytes()), array)
        array = array.astype("float64")
        return cls((array.shape, None, array.tobytes()), array.tolist())


def _freeze_option(choice: Choice, value: object) -> Hashable:
    """Return the checked value of an option of a loop's derivative, for the key of a cache."""
    if isinstance(choice, Whole):
        choice = replace(choice, most=None)  # only forms have an upper limit
    if choice.action != "append":
        return choice.check(value)
    entries = choice.check({} if value is None else value).items()
    return tuple((n, Frozen.freeze(n, v) if choice is AT else v) for n, v in entries)


@dataclass(frozen=True, eq=False)
class Study:
    """The derivatives of a loop or a graph up to `order`.

    `differentiate` returns the derivatives up to an order. `given` maps every input to its value,
    `also` contains further variables to compute, and `keep` selects the steps to record.
    """

    differentiate: Callable[[int], Derivative]
    order: int
    given: Values
    also: tuple[Variable, ...] = ()
    keep: str = KEEP.default

    @cached_property
    def derivative(self) -> Derivative:
        """The derivatives up to `order`."""
        return self.differentiate(self.order)

    @cached_property
    def trace(self) -> Trace:
        """The trace of the derivative."""
        return self._run(self.derivative)

    @cached_property
    def trace_of_cost(self) -> Trace:
        """The trace of a derivative of order 1 or more, or of the cost if none exists."""
        if self.order:
            return self.trace
        try:
            return self._run(self.differentiate(1))
        except LabError:  # the cost has no derivative
            return self.trace

    def playable(self) -> "Study":
        """Return the study; raise GraphError, before a run, if a machine has too many tapes."""
        used = {*ancestors(self.derivative.values)}
        results = (v for node in self.scans for v in node.outputs if v in used)
        check_row_count(sum(hasattr(v.type, "dtype") for v in results))
        return self

    @property
    def scans(self) -> list[Apply]:
        """The Scan nodes in the order of ``trace.scans``."""
        return scan_nodes([*self.derivative.values, *self.also])

    def _run(self, derived: Derivative) -> Trace:
        return trace(derived.values, self.given, self.also, derived.names, keep=self.keep)


def study_of(subject: object, given: Values | None = None, **choices: Value) -> Study:
    """Return the cached study of a loop, or the study of a graph's derivative or a PyMC model.

    `choices` are options of `DERIVATIVE` for a loop, and `order`, `wrt`, and `at` for a model. A
    derivative accepts no options; `given` maps its inputs to values. The cache contains at most 64
    studies. Raises ArgumentError for another subject or an invalid option.
    """
    if (density := log_density(subject)) is not None:
        order = check_integer("order", choices.pop("order", ORDER.default))
        refuse_options(given=given)
        (wrt, *_) = density.resolve_wrt(choices.pop("wrt", None))
        given = density.bind_values(AT.check(choices.pop("at", {})))
        subject = replace(derivative(density.cost, wrt, order), cost="the log-density")
    if isinstance(subject, Derivative):
        if choices:
            why = "not an option of a lab.Derivative; pass such options to lab.derivative."
            advice = "For a PyMC model, expected order, wrt, or at."
            raise ArgumentError(f"{listing(choices)}: {why} {advice}")
        return _study_of_graph(subject, {} if given is None else given)
    loop = check_type("subject", subject, Loop, "a lab.Loop, a lab.Derivative, or a PyMC model")
    refuse_options(given=given)
    chosen = {**{name: choice.default for name, choice in DERIVATIVE.items()}, **choices}
    return _study_of_loop(loop, **{n: _freeze_option(DERIVATIVE[n], v) for n, v in chosen.items()})


def _study_of_graph(derived: Derivative, given: Values) -> Study:
    def differentiate(order: int) -> Derivative:
        if order == derived.order:
            return derived
        other = derivative(derived.values[0], derived.wrt, order)
        return replace(other, by=derived.by, cost=derived.cost)

    return Study(differentiate, derived.order, given)


@lru_cache(maxsize=64)
def _study_of_loop(
    loop: Loop, taps: Value, steps: int | None, order: int, at: Value, keep: str, **about: Value
) -> Study:
    shaped = with_shape(loop, taps, steps)
    graph, differentiate = _cached_graph(shaped, **about)
    given = graph.given
    if at:
        valued = shaped.with_values({name: frozen.value for name, frozen in at}, "at")
        other = valued.build()
        given = dict(zip(graph.given, other.given.values(), strict=True))
        if valued.steps != shaped.steps or [v.type for v in given] != [v.type for v in other.given]:
            # The values change the graph.
            graph, differentiate = _cached_graph.__wrapped__(valued, **about)
            given = graph.given
    return Study(
        lambda order: replace(differentiate(order), given=given),
        order,
        given,
        tuple(graph.node.outputs[:1]) if about["mode"] == MODE.default else (),
        keep,
    )


@lru_cache(maxsize=16)
def with_shape(loop: Loop, taps: tuple[tuple[str, Value], ...], steps: int | None) -> Loop:
    """Return a loop with these `taps` by name (if any) and number of `steps` (unless None)."""
    loop = loop.with_taps(dict(taps)) if taps else loop
    return loop if steps is None else loop.with_steps(steps)


@lru_cache(maxsize=32)
def _cached_graph(loop: Loop, **about: Value) -> tuple[LoopGraph, Callable[[int], Derivative]]:
    """Return the graph of a loop, and a function that returns the derivatives up to an order."""
    graph = loop.build()
    return graph, lru_cache(maxsize=8)(partial(loop.derivative, graph=graph, **about))
