"""The subject of a workbench, a loop or a PyTensor graph, and all choices about the subject.

    >>> open_bench(gallery.loops["square"]).changed(order=2, view="tapes").picture.save("x.svg")

Start with `Bench`. Caches store the correct derivatives of recent benches; the workbench compares
these derivatives with the derivatives of faulty rules.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, Self, Union

import numpy as np
from pytensor.graph.basic import Variable

from lab.errors import ArgumentError, argument_error, check_choice, quote
from lab.gradients.derivative import Derivative, derivative
from lab.loops import gallery
from lab.loops.loop import Loop
from lab.loops.model import log_density
from lab.loops.variables import as_value
from lab.loops.written import WrittenStep
from lab.records import cached_property
from lab.reports.breaking.breakage import Breakage, Truth
from visual.drawing.catalogue import PICTURES, VIEW
from visual.drawing.draw import draw_study
from visual.drawing.study import Frozen, Study, study_of, with_shape
from visual.options import AT, DERIVATIVE, RULE, THEME, Choice, Value, boolean
from visual.pictures.machine.arrange import arrange
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.content import MachineContent
from visual.pictures.machine.pair import pair_of
from visual.pictures.machine.still import still
from visual.player.data import as_data
from visual.player.state import MAPPINGS
from visual.retired import RETIRED_NAMES, refuse_retired
from visual.scene.shapes import Scene

WRITTEN = "written"  # the default name of a loop from texts
GRAPH = "graph"  # a PyTensor graph
LEAST = 3  # compare at least the orders up to 3, because a faulty rule may change only order 3
REMEMBERED, AHEAD = 16, 64  # results in a cache; drawing ahead fills most of the second cache
OPTIONS = replace(AT, name="options", help="options of the view")  # values by name, as for AT
CONTRIBUTOR = boolean("contributor", "printed Scans, taps, and positions in buf[…]")
OF_THE_VIEW = (VIEW, OPTIONS, THEME, RULE, CONTRIBUTOR)
CHOICES = {**DERIVATIVE, **{choice.name: choice for choice in OF_THE_VIEW}}
NO_ENTRIES: Any = partial(MappingProxyType, {})
# The content of an array: a number, or nested tuples of numbers.
Numbers = Union[float, tuple["Numbers", ...]]  # noqa: UP007 (the type contains its own name)


@dataclass(frozen=True)
class BenchState:
    """All choices of a workbench.

    `loop` is the name of a loop of the gallery, "written" for a loop with a step as text, "own" for
    another loop, or "graph" for a PyTensor graph. `taps`, `steps`, `order`, `wrt`, `cost`, `of`,
    `at`, `mode`, and `keep` are arguments of `visual.draw`; None and missing names select the
    values of the loop. `view` is the kind of picture, `options` are options of this kind, and
    `theme` names the colors; a dark page shows light pictures in dark colors. If `rule` is the name
    of a rule of `lab.BROKEN`, the machine shows the correct and the faulty run instead of the view.
    With `contributor`, the machine shows printed Scans, taps, and positions in ``buf[…]``.
    """

    loop: str
    taps: Mapping[str, tuple[int, ...]] = field(default_factory=NO_ENTRIES)
    steps: int | None = None
    order: int = DERIVATIVE["order"].default
    wrt: str | None = None
    cost: str | tuple[float, ...] = DERIVATIVE["cost"].default
    mode: str = DERIVATIVE["mode"].default
    keep: str = DERIVATIVE["keep"].default
    of: str | None = None
    at: Mapping[str, Numbers] = field(default_factory=NO_ENTRIES)
    view: str = "machine"
    options: Mapping[str, Value] = field(default_factory=NO_ENTRIES)
    theme: str = THEME.default
    rule: str | None = None
    contributor: bool = False

    def changed(self, **changes: object) -> "BenchState":
        """Return the state with other choices; entries of `taps`, `at`, and `options` are merged.

        The value None removes an entry. A choice of the view selects the correct rule unless `rule`
        is also chosen; another view keeps no option except `scan`. Raises ArgumentError for an
        unknown choice, or a value that is invalid for every loop.
        """
        for name in changes:
            refuse_retired(f"Workbench.{name}", RETIRED_NAMES)
            check_choice("choice", name, CHOICES)
        checked = {name: CHOICES[name].check(value) for name, value in changes.items()}
        if "at" in checked:
            at = checked["at"].items()
            checked["at"] = {n: numbers(as_value(value, f"value of {n}")) for n, value in at}
        old = self
        if "view" in checked:
            checked = {"rule": None, **checked}
            if checked["view"] != self.view:
                names = {option.name for option in view_options(checked["view"])} & {"scan"}
                options = {name: self.options[name] for name in names & self.options.keys()}
                old = replace(self, options=MappingProxyType(options))
        for name in checked.keys() & {*MAPPINGS}:
            both = {**getattr(old, name), **checked[name]}
            checked[name] = MappingProxyType({n: v for n, v in both.items() if v is not None})
        return replace(old, **checked)

    def differences_from(self, usual: "BenchState") -> dict[str, object]:
        """Return the choices that differ from a `usual` state, by name."""
        return {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in vars(self).items()
            if value != getattr(usual, name)
        }


def view_options(view: str) -> tuple[Choice, ...]:
    """Return the options of a view; the machine has no options in a workbench."""
    return () if view == "machine" else PICTURES[view].options


def numbers(value: object) -> Numbers:
    """Return an array as a number, or as nested tuples of numbers."""
    array = np.asarray(value)
    return tuple(map(numbers, array)) if array.ndim else array.item()


@dataclass(frozen=True, eq=False)
class Bench(ABC):
    """The subject of a workbench, its state, and its `usual` state with the values `given`."""

    state: BenchState
    usual: BenchState
    name: str
    given: Mapping[str, np.ndarray]

    @property
    def values(self) -> dict[str, np.ndarray]:
        """The chosen values of the variables, by name."""
        return {**self.given, **self.at}

    @abstractmethod
    def study(self, order: int) -> Study:
        """Return the study of the derivatives up to an order; the latest studies are cached."""

    def changed(self, **changes: object) -> Self:
        """Return the bench with other choices; raise LabError for an impossible choice."""
        return replace(self, state=self.state.changed(**changes))

    @cached_property
    def at(self) -> dict[str, np.ndarray]:
        """The chosen values with the dtypes of their variables; unknown names are not checked.

        Raises ArgumentError if the value of an integer variable is a fraction.
        """
        values = {name: np.asarray(value) for name, value in self.state.at.items()}
        for name in values.keys() & self.given.keys():
            value, dtype = values[name], self.given[name].dtype
            if dtype.kind in "iub" and not np.array_equal(value, np.round(value.real)):
                raise argument_error(f"value of {name}", self.state.at[name], "expected integers.")
            values[name] = value.astype(dtype)
        return values

    @property
    def choices(self) -> dict[str, object]:
        """The choices that differ from the usual state, by name."""
        return self.state.differences_from(self.usual)

    @cached_property
    def breakage(self) -> Breakage | None:
        """The effect of the faulty rule on the derivatives; None for the correct rule."""
        if self.state.rule is None:
            return None
        order = max(1, self.state.order)
        self.study(order).playable()
        return _broken(_truth(self.study(max(order, LEAST))), self.state.rule, order)

    @property
    def content(self) -> MachineContent | None:
        """The machine of the view, or of both runs with a faulty rule; None for another view."""
        if self.breakage is not None:
            return _pair(self.breakage)
        is_machine = self.state.view == "machine"
        return _machine(self.study(self.state.order)) if is_machine else None

    @cached_property
    def picture(self) -> Scene:
        """The picture of the view, or the final moment of the machine. Raises LabError."""
        return self.picture_at(None)

    def picture_at(self, moment: int | None) -> Scene:
        """Return the picture of the view; for a machine, at a moment (None: at the end)."""
        if (content := self.content) is None:
            return self._draw(self.study(self.state.order))
        sheet = arrange(content, contributor=self.state.contributor)
        return still(sheet, content.moments if moment is None else moment).themed(self.state.theme)

    def _draw(self, study: Study) -> Scene:
        return PICTURES[self.state.view].draw(study, **self.state.options).themed(self.state.theme)

    @cached_property
    def svg(self) -> str:
        """The picture as SVG; empty if a page plays a machine instead."""
        return "" if self.machine else self.picture.svg()

    @cached_property
    def machine(self) -> Mapping[str, Any]:
        """The data of the machine for the page; empty for another view without a faulty rule."""
        return self.machine_data(self.state.contributor)

    def machine_data(self, *views: bool) -> Mapping[str, Any]:
        """Return machine data for `views` (see `as_data`), or an empty mapping."""
        if (content := self.content) is None:
            return {}
        nested = None if self.breakage else self.study(self.state.order)
        return _data(content, nested, views)


_machine = lru_cache(maxsize=AHEAD)(lambda study: machine_of(study.playable().trace))
_pair = lru_cache(maxsize=REMEMBERED)(pair_of)
_data = lru_cache(maxsize=AHEAD)(lambda m, s, views: as_data(m, s and s.trace, views))
_truth = lru_cache(maxsize=REMEMBERED)(lambda study: Truth(study.derivative, study.given))
_broken = lru_cache(maxsize=REMEMBERED)(Truth.broken_by)


@dataclass(frozen=True, eq=False)
class LoopBench(Bench):
    """A bench whose subject is a loop."""

    loop: Loop

    @classmethod
    def from_loop(cls, loop: Loop) -> "LoopBench":
        """Return the bench of a loop in its usual state."""
        other = WRITTEN if isinstance(loop.step, WrittenStep) else "own"
        state = BenchState(loop.name if gallery.loops.get(loop.name) is loop else other)
        return cls(state, state, loop.name, loop.values, loop)

    @property
    def values(self) -> dict[str, np.ndarray]:
        """The values of the variables of the loop with the chosen taps, steps, and values."""
        return self.chosen.values

    def changed(self, **changes: object) -> Self:
        """Return the bench with other choices. Omit default taps; fit values to new taps."""
        bench = super().changed(**changes)
        taps = {name: taps for name, taps in bench.state.taps.items() if name in self.state.at}
        if "taps" in changes and taps:
            values = self.chosen.with_taps(taps).values
            state = bench.state.changed(at={name: values[name] for name in taps})
            bench = replace(bench, state=state.changed(at=changes.get("at", {})))
        default = {name: getattr(own, "taps", None) for name, own in self.loop.variables.items()}
        omitted = {n: None for n, taps in bench.state.taps.items() if taps == default.get(n)}
        return replace(bench, state=bench.state.changed(taps=omitted))

    @cached_property
    def chosen(self) -> Loop:
        """The loop with the chosen taps, steps, and values; raises ArgumentError if impossible."""
        loop = with_shape(self.loop, tuple(self.state.taps.items()), self.state.steps)
        return loop.with_values(self.at)

    def study(self, order: int) -> Study:
        """Return the study of the loop's derivatives up to an order."""
        about = {name: getattr(self.state, name) for name in DERIVATIVE}
        return study_of(self.loop, **{**about, "at": self.at, "order": order})

    def _draw(self, study: Study) -> Scene:
        return draw_study(study, self.state.view, self.state.theme, self.state.options)  # cached


GRAPH_CHOICES = ("order", "wrt", "at", *(choice.name for choice in OF_THE_VIEW))


@dataclass(frozen=True, eq=False)
class GraphBench(Bench):
    """A bench whose subject is the `cost` of a graph, or the log-density of a `model`."""

    cost: Variable
    wrt: Variable
    inputs: Mapping[str, Variable]
    model: object | None = None

    @classmethod
    def from_graph(
        cls, cost: Variable, wrt: Variable, given: object, order: int = 1, model: object = None
    ) -> "GraphBench":
        """Return the bench of a cost with values `given` for its inputs.

        An input without a unique name has a name such as ``input 2``.
        """
        if not isinstance(given, Mapping) or not all(isinstance(v, Variable) for v in given):
            expected = "expected the values of the graph's inputs, as in {x0: 0.5}."
            raise argument_error("given", given, expected)
        own = [variable.name for variable in given]
        inputs = {
            variable.name if own.count(variable.name) == 1 else f"input {number}": variable
            for number, variable in enumerate(given, start=1)
        }
        chosen_wrt = next((name for name, variable in inputs.items() if variable is wrt), None)
        state = BenchState(GRAPH, order=order, wrt=chosen_wrt)
        name = getattr(model, "name", "") or cost.name or GRAPH
        usual = {n: as_value(given[v], f"value of {n}") for n, v in inputs.items()}
        return cls(state, state, name, usual, cost, wrt, inputs, model)

    def changed(self, **changes: object) -> Self:
        """Return the graph's bench with other choices; raise LabError for an impossible choice."""
        other = "a graph has the choices {}. For other changes, edit the graph."
        for name in changes:
            check_choice("choice", name, GRAPH_CHOICES, other)
        bench = super().changed(**changes)
        expected = "the inputs of this graph are {}."
        for name in bench.state.at:
            check_choice("at", name, self.inputs, expected)
        if bench.state.wrt != self.usual.wrt:
            check_choice("wrt", bench.state.wrt, self.inputs, expected)
        return bench

    def study(self, order: int) -> Study:
        """Return the study of the cost's derivatives up to an order."""
        wrt = self.inputs.get(self.state.wrt or "", self.wrt)
        given = tuple((self.inputs[n], Frozen.freeze(n, v)) for n, v in self.values.items())
        return _study_of_graph(_derived(self.cost, wrt, order), given)


_derived = lru_cache(maxsize=REMEMBERED)(derivative)


@lru_cache(maxsize=2)  # one study for the view, one for the rules; a graph can be large
def _study_of_graph(derived: Derivative, values: tuple[tuple[Variable, Frozen], ...]) -> Study:
    return study_of(derived, {variable: frozen.value for variable, frozen in values})


def open_bench(subject: object, *about: object) -> Bench:
    """Return the bench for the arguments of `Workbench`; raise ArgumentError for other calls."""
    match subject, *about:
        case [Derivative() as derived, given]:
            return GraphBench.from_graph(derived.values[0], derived.wrt, given, derived.order)
        case [Variable() as cost, Variable() as wrt, given]:
            return GraphBench.from_graph(cost, wrt, given)
        case [model] if (density := log_density(model)) is not None:
            wrt, *_ = density.resolve_wrt()
            return GraphBench.from_graph(density.cost, wrt, density.given, model=model)
        case [None]:
            return LoopBench.from_loop(gallery.loops["square"])
        case [Loop() as loop]:
            return LoopBench.from_loop(loop)
    raise ArgumentError(
        f"subject = {', '.join(map(quote, (subject, *about)))}: expected a lab.Loop or a PyMC "
        "model alone; a lab.Derivative and the values of its inputs; or a cost, a variable to "
        "differentiate with respect to, and the values."
    )
