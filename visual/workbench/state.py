"""The subject of a workbench, a loop or a PyTensor graph, and all choices about the subject.

    >>> open_bench(gallery.loops["square"]).changed(order=2, view="tapes").picture.save("x.svg")

Start with `Bench`: `state` contains only numbers, texts, and tuples, `changed` returns another
bench, and `picture` draws the view. Caches store the correct derivatives of recent benches; the
workbench compares these derivatives with the derivatives of faulty rules.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Union

import numpy as np
from pytensor.graph.basic import Variable

from lab.errors import (
    ArgumentError,
    argument_error,
    check_choice,
    closest_match,
    listing,
    quote,
)
from lab.gradients.derivative import Derivative, derivative
from lab.loops import gallery
from lab.loops.loop import Loop
from lab.loops.model import log_density
from lab.loops.variables import as_value, value_of
from lab.loops.written import WrittenStep
from lab.records import cached_property
from lab.reports.breaking.breakage import Breakage, Truth
from visual.drawing.catalogue import PICTURES, VIEW
from visual.drawing.draw import cached_study, draw
from visual.drawing.study import Chosen, Frozen, choose, with_shape
from visual.options import DERIVATIVE, RULE, THEME, ByName, Choice, Value
from visual.pictures.machine.arrange import arrange
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.pair import pair_of
from visual.pictures.machine.still import still
from visual.player.data import for_page
from visual.retired import RETIRED_NAMES, refuse_retired
from visual.scene.shapes import Scene
from visual.workbench.written import START, STEPS, WRITTEN, valued, written_loop

OWN = "own"  # a loop from the user's code
GRAPH = "graph"  # a PyTensor graph
LEAST = 3  # the fewest orders to compare; a faulty rule may change only the third derivative
REMEMBERED = 16
OPTIONS = ByName("options", "options of the view")
CHOICES = {
    **DERIVATIVE,
    **{choice.name: choice for choice in (VIEW, OPTIONS, THEME, RULE)},
}
# The content of an array: a number, or nested tuples of numbers.
Numbers = Union[float, tuple["Numbers", ...]]  # noqa: UP007 (the type contains its own name)


def _nothing() -> Mapping[str, Value]:
    return MappingProxyType({})


@dataclass(frozen=True)
class BenchState:
    """All choices of a workbench.

    `loop` is the name of a loop of the gallery, "written" for a loop with a step as text, "own" for
    another loop, or "graph" for a PyTensor graph. `taps`, `steps`, `order`, `wrt`, `cost`, `of`,
    `at`, `mode`, and `keep` are arguments of `visual.draw`; None and missing names stand for the
    values of the loop. `view` is the kind of picture, `options` are options of this kind, and
    `theme` names the colors. If `rule` is the name of a rule of `lab.BROKEN`, the machine shows the
    correct and the faulty run instead of the view.
    """

    loop: str
    taps: Mapping[str, tuple[int, ...]] = field(default_factory=_nothing)
    steps: int | None = None
    order: int = DERIVATIVE["order"].default
    wrt: str | None = None
    cost: str | tuple[float, ...] = DERIVATIVE["cost"].default
    mode: str = DERIVATIVE["mode"].default
    keep: str = DERIVATIVE["keep"].default
    of: str | None = None
    at: Mapping[str, Numbers] = field(default_factory=_nothing)
    view: str = "machine"
    options: Mapping[str, Value] = field(default_factory=_nothing)
    theme: str = THEME.default
    rule: str | None = None

    def changed(self, **changes: object) -> "BenchState":
        """Return the state with other choices; entries of `taps`, `at`, and `options` are merged.

        A change of the view drops all options except `scan`, and selects the correct rule. Raises
        ArgumentError for an unknown choice, or a value that no loop can have.
        """
        known = [choice.name for choice in fields(self) if choice.name != "loop"]
        for name in changes:
            refuse_retired(f"Workbench.{name}", RETIRED_NAMES)
            if name not in known:
                like = closest_match(name, known)
                advice = f" Did you mean {like}?" if like else ""
                reason = f"unknown choice.{advice} The choices are {listing(known)}."
                raise argument_error(name, changes[name], reason)
        checked = {name: CHOICES[name].check(value) for name, value in changes.items()}
        if "at" in checked:
            at = checked["at"].items()
            checked["at"] = {n: numbers(as_value(value, f"value of {n}")) for n, value in at}
        options = dict(self.options)
        if checked.get("steps", self.steps) != self.steps:
            options.pop("step", None)
        if checked.get("view", self.view) != self.view:
            has_scan = any(option.name == "scan" for option in view_options(checked["view"]))
            options = {n: value for n, value in options.items() if n == "scan" and has_scan}
        old = replace(self, options=MappingProxyType(options))
        if "view" in checked:
            checked = {"rule": None, **checked}
        for name in checked.keys() & {"taps", "at", "options"}:
            both = {**getattr(old, name), **checked[name]}
            checked[name] = MappingProxyType({n: v for n, v in both.items() if v is not None})
        return replace(old, **checked)

    def differences_from(self, usual: "BenchState") -> dict[str, object]:
        """Return the choices that differ from a `usual` state, by name."""
        chosen = {choice.name: getattr(self, choice.name) for choice in fields(self)}
        return {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in chosen.items()
            if value != getattr(usual, name)
        }


def view_options(view: str) -> tuple[Choice, ...]:
    """Return the options of a view; the machine has no options in a workbench."""
    return () if view == "machine" else PICTURES[view].options


def numbers(value: object) -> Numbers:
    """Return an array as a number, or as nested tuples of numbers."""
    array = np.asarray(value)
    return tuple(map(numbers, array)) if array.ndim else array.item()


def cast(name: str, value: Numbers, dtype: np.dtype) -> np.ndarray:
    """Return numbers as an array; raise ArgumentError for a fraction of an integer dtype."""
    array = np.asarray(value)
    if dtype.kind in "iub" and not np.array_equal(array, np.round(array.real)):
        raise ArgumentError(f"value of {name} = {quote(value)}: expected integers.")
    return array.astype(dtype)


@dataclass(frozen=True, eq=False)
class Bench(ABC):
    """The subject of a workbench, its choices (`state`), and its usual state without choices."""

    state: BenchState
    usual: BenchState
    name: str

    @property
    @abstractmethod
    def values(self) -> dict[str, np.ndarray]:
        """The chosen values of the variables, by name."""

    @cached_property
    def usual_values(self) -> dict[str, np.ndarray]:
        """The values of the variables without choices, by name."""
        return replace(self, state=self.usual).values

    @abstractmethod
    def changed(self, **changes: object) -> "Bench":
        """Return the bench with other choices; raise LabError for an impossible choice."""

    @abstractmethod
    def _draw(self, **options: object) -> Scene:
        """Return the picture of the view with its options."""

    @abstractmethod
    def _truth(self, order: int) -> Truth: ...

    @property
    def choices(self) -> dict[str, object]:
        """The choices, by name."""
        return self.state.differences_from(self.usual)

    @property
    def title(self) -> str:
        """A short title, for example for a file name."""
        return f"{self.name} {self.state.rule or self.state.view} {self.state.order}"

    @cached_property
    def breakage(self) -> Breakage | None:
        """The effect of the faulty rule on the derivatives; None for the correct rule."""
        if self.state.rule is None:
            return None
        return _broken(self._truth(max(self.state.order, LEAST)), self.state.rule)

    @cached_property
    def picture(self) -> Scene:
        """The picture of the view. Raises LabError if the picture is impossible."""
        state = self.state
        if self.breakage is not None:
            machine = pair_of(self.breakage)
            return still(arrange(machine), machine.moments).themed(state.theme)
        return self._draw(**state.options)

    @cached_property
    def svg(self) -> str:
        """The picture as SVG."""
        return self.picture.svg()

    @cached_property
    def machine(self) -> Mapping[str, object]:
        """The data of the machine for the page; empty if the view is another picture."""
        if self.breakage is not None:
            return for_page(pair_of(self.breakage))
        trace = self.picture.trace
        if self.state.view != "machine" or trace is None:
            return {}
        return for_page(machine_of(trace), trace)


_broken = lru_cache(maxsize=REMEMBERED)(Truth.broken_by)


@dataclass(frozen=True, eq=False)
class LoopBench(Bench):
    """A loop and its choices."""

    loop: Loop

    @classmethod
    def from_loop(cls, loop: Loop) -> "LoopBench":
        """Return the bench of a loop without choices."""
        known = gallery.loops.get(loop.name) is loop
        other = WRITTEN if isinstance(loop.step, WrittenStep) else OWN
        state = BenchState(loop.name if known else other)
        return cls(state, state, loop.name, loop)

    @property
    def values(self) -> dict[str, np.ndarray]:
        """The values of the chosen loop."""
        return {name: value_of(variable) for name, variable in valued(self.chosen).items()}

    def changed(self, **changes: object) -> "LoopBench":
        """Return the bench with other choices; if the taps change, chosen values are extended."""
        state = self.state.changed(**changes)
        taps = {name: taps for name, taps in state.taps.items() if name in self.state.at}
        if "taps" in changes and taps:
            variables = valued(self.chosen.with_taps(taps))
            fitting = {name: value_of(variables[name]) for name in taps}
            given = changes.get("at", {})
            assert isinstance(given, Mapping)  # `BenchState.changed` has checked the type
            state = state.changed(at={**fitting, **given})
        return replace(self, state=state)

    @cached_property
    def chosen(self) -> Loop:
        """The loop with the chosen taps, steps, and values; raises ArgumentError if impossible."""
        loop = with_shape(self.loop, self.state.taps, self.state.steps)
        return loop.with_values(self._at)

    @cached_property
    def _at(self) -> dict[str, np.ndarray]:
        """The chosen values with the dtypes of their variables; the loop checks the names."""
        usual = {name: value_of(variable).dtype for name, variable in valued(self.loop).items()}
        return {
            name: cast(name, value, usual[name]) if name in usual else np.asarray(value)
            for name, value in self.state.at.items()
        }

    def _about(self, **others: object) -> dict[str, Value]:
        """Return the choices about the derivative, and `others`."""
        about = {name: getattr(self.state, name) for name in DERIVATIVE}
        return {**about, "at": self._at, **others}

    def _draw(self, **options: object) -> Scene:
        state, about = self.state, self._about(**options)
        return draw(self.loop, state.view, state.theme, **about)

    def _truth(self, order: int) -> Truth:
        return _truth_of_loop(self.loop, choose(**self._about(order=order)))


@lru_cache(maxsize=REMEMBERED)
def _truth_of_loop(loop: Loop, chosen: Chosen) -> Truth:
    study = cached_study(loop, chosen)
    return Truth(study.derivative, study.given)


OF_A_GRAPH = ("order", "wrt", "at", "view", "options", "theme", "rule")


@dataclass(frozen=True, eq=False)
class GraphBench(Bench):
    """The cost of a graph, the inputs with their values, and all choices."""

    cost: Variable
    wrt_variable: Variable
    given: Mapping[Variable, object]
    model: object | None = None

    @classmethod
    def from_graph(
        cls, cost: Variable, wrt: Variable, given: object, order: int = 1, model: object = None
    ) -> "GraphBench":
        """Return the bench of a cost, differentiated wrt `wrt`, with values `given` for its inputs.

        The cost may be the log-density of a `model`.
        """
        if not isinstance(given, Mapping) or not all(isinstance(v, Variable) for v in given):
            raise ArgumentError(
                f"given = {quote(given)}: expected the values of the graph's inputs, as in "
                "{x0: 0.5}."
            )
        state = BenchState(GRAPH, order=order)
        name = getattr(model, "name", "") or cost.name or GRAPH
        bench = cls(state, state, name, cost, wrt, dict(given), model)
        named = replace(state, wrt=bench.names.get(wrt))
        return replace(bench, usual=named, state=named)

    @cached_property
    def names(self) -> Mapping[Variable, str]:
        """The name of every input, or ``input 2`` if the name is missing or not unique."""
        own = [variable.name for variable in self.given]
        return {
            variable: name if name and own.count(name) == 1 else f"input {number}"
            for number, (variable, name) in enumerate(zip(self.given, own, strict=True), start=1)
        }

    @cached_property
    def inputs(self) -> Mapping[str, Variable]:
        """The inputs, by name."""
        return {name: variable for variable, name in self.names.items()}

    @property
    def values(self) -> dict[str, np.ndarray]:
        """The chosen values of the inputs, by name."""
        return {
            name: self._value(name, as_value(self.given[variable], f"value of {name}"))
            for name, variable in self.inputs.items()
        }

    def _value(self, name: str, usual: np.ndarray) -> np.ndarray:
        chosen = self.state.at.get(name)
        return usual if chosen is None else cast(name, chosen, usual.dtype)

    def changed(self, **changes: object) -> "GraphBench":
        """Return the bench with other choices; the graph stays the same."""
        for name in changes:
            if name not in OF_A_GRAPH:
                raise ArgumentError(
                    f"{name}: a graph has the choices {listing(OF_A_GRAPH)}. Change the graph "
                    "for anything else."
                )
        bench = replace(self, state=self.state.changed(**changes))
        for name in bench.state.at:
            self._check("at", name)
        if bench.state.wrt != self.usual.wrt:
            self._check("wrt", bench.state.wrt)
        return bench

    def _check(self, argument: str, name: str | None) -> None:
        check_choice(argument, name, self.inputs, "the inputs of this graph are {}.")

    @property
    def _wrt(self) -> Variable:
        return self.inputs.get(self.state.wrt or "", self.wrt_variable)

    @property
    def _given(self) -> dict[Variable, np.ndarray]:
        return {variable: self.values[name] for name, variable in self.inputs.items()}

    def _draw(self, **options: object) -> Scene:
        state, derived = self.state, _derived(self.cost, self._wrt, self.state.order)
        return draw(derived, state.view, state.theme, self._given, **options)

    def _truth(self, order: int) -> Truth:
        values = tuple((v, Frozen.freeze(v.name or "", value)) for v, value in self._given.items())
        return _truth_of_graph(_derived(self.cost, self._wrt, order), values)


_derived = lru_cache(maxsize=REMEMBERED)(derivative)


@lru_cache(maxsize=REMEMBERED)
def _truth_of_graph(derived: Derivative, values: tuple[tuple[Variable, Frozen], ...]) -> Truth:
    return Truth(derived, {variable: frozen.value for variable, frozen in values})


def open_bench(subject: object, *about: object) -> Bench:
    """Return the bench for the positional arguments of `Workbench`."""
    match subject, *about:
        case [Derivative() as derived, given]:
            return GraphBench.from_graph(derived.values[0], derived.wrt, given, derived.order)
        case [Variable() as cost, Variable() as wrt, given]:
            return GraphBench.from_graph(cost, wrt, given)
        case [model] if (density := log_density(model)) is not None:
            return GraphBench.from_graph(
                density.cost, density.resolve_wrt()[0], density.given, model=model
            )
        case [None]:
            return LoopBench.from_loop(gallery.loops["square"])
        case [Loop() as loop]:
            return LoopBench.from_loop(loop)
    raise ArgumentError(
        f"subject = {quote(subject)} and {len(about)} more: expected a lab.Loop or a PyMC model "
        "alone; a lab.Derivative and the values of its inputs; or a cost, a variable to "
        "differentiate with respect to, and the values."
    )


def with_loop(bench: Bench, loop: object) -> LoopBench:
    """Return the bench of another loop, with the same order, view, theme, rule, and named cost."""
    if isinstance(loop, str):
        loop = written_loop(*START) if loop == WRITTEN else gallery.loops[loop]
    if not isinstance(loop, Loop):
        raise argument_error("loop", loop, "expected a lab.Loop.")
    choices = {name: getattr(bench.state, name) for name in ("order", "view", "theme", "rule")}
    if isinstance(bench.state.cost, str):
        choices["cost"] = bench.state.cost
    return LoopBench.from_loop(loop).changed(**choices)


def with_texts(bench: Bench, text: str, values: str) -> LoopBench:
    """Return the bench of a loop given as text, with the same order, view, theme, and rule."""
    steps, name = STEPS, WRITTEN
    if isinstance(bench, LoopBench) and bench.state.loop == WRITTEN:
        steps, name = bench.chosen.steps, bench.loop.name
    return with_loop(bench, written_loop(text, values, steps, name))
