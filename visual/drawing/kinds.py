"""All pictures by their names, each drawn from a `Study`.

    >>> PICTURES["unrolled"].draw(study, "light", around=50)

The signature of a picture's function tells which options it has.  Scans are chosen by the numbers
in the headings, from 1, steps from 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from types import MappingProxyType
from typing import Any

from lab.equations.reading import system
from lab.errors import ArgumentError, GraphError, listing
from lab.scans.graphs import scan_nodes
from visual.choices import newest, scan_index, switch, whole_or_none
from visual.drawing.study import Study
from visual.layout.names import variable_keys
from visual.pictures.connections import connections
from visual.pictures.equations import equations
from visual.pictures.genealogy import genealogy
from visual.pictures.phases import phases
from visual.pictures.rolled import rolled
from visual.pictures.ssa import ssa
from visual.pictures.stepgraph.stepgraph import stepgraph
from visual.pictures.tapes.tapes import tapes
from visual.pictures.taps import taps
from visual.pictures.unrolled.unrolled import unrolled
from visual.pictures.values.plot import Plot, values
from visual.scene.shapes import Scene

Picture = Scene | Plot
TYPES: Mapping[str, Callable[[str, Any], Any]] = MappingProxyType(
    dict.fromkeys(("around", "scan", "step"), whole_or_none)
    | dict.fromkeys(("buffer", "contributions", "all_direct"), switch)
)


@dataclass(frozen=True)
class Kind:
    """A kind of picture: its name, what it shows, and the function that draws it."""

    name: str
    about: str
    make: Callable[..., Picture]

    @property
    def options(self) -> tuple[str, ...]:
        """The names of its options."""
        return tuple(signature(self.make).parameters)[2:]

    def draw(self, study: Study, theme: str = "light", **options: Any) -> Picture:
        """The picture of a study; ArgumentError for an option that it does not have."""
        self.check(options)
        return self.make(study, theme, **options)

    def check(self, options: Mapping[str, Any]) -> None:
        """ArgumentError for an option that the picture does not have, or of the wrong type."""
        for name, value in options.items():
            if name not in self.options:
                known = listing(self.options) if self.options else "none"
                raise ArgumentError(f"{name}: the options of the picture {self.name} are {known}.")
            if name in TYPES:
                TYPES[name](name, value)


def _equations(study: Study, theme: str, scan: int = 1, step: int = 0) -> Scene:
    nodes = scan_nodes([*study.derivative.values, *study.also])
    found = system(nodes[scan_index(study.trace, scan)])
    return equations(study.trace, found, theme, scan, step)


def _unrolled(
    study: Study,
    theme: str,
    around: int | None = None,
    scans: Sequence[int] | None = None,
    all_direct: bool = False,
) -> Scene:
    trace = study.trace_of_cost
    if not study.order and scans is None:
        scans = [number for number, scan in enumerate(trace.scans, start=1) if not scan.order]
    return unrolled(trace, theme, around, scans, all_direct)


def _rolled(
    study: Study, theme: str, around: int | None = None, scan: int = 1, step: int = 0
) -> Scene:
    return rolled(study.trace_of_cost, theme, around, scan, step)


def _tapes(
    study: Study,
    theme: str,
    around: int | None = None,
    step: int | None = None,
    buffer: bool = False,
    contributions: bool = False,
) -> Scene:
    return tapes(study.trace, theme, around, step, buffer, contributions)


def _ssa(study: Study, theme: str, around: int | None = None) -> Scene:
    return ssa(study.trace, theme, around)


def _taps(study: Study, theme: str) -> Scene:
    return taps(study.trace_of_cost, max(1, study.order), theme)


def _phases(study: Study, theme: str, scan: int | None = None) -> Scene:
    derivations = {
        number: node.op.derivation
        for number, node in enumerate(scan_nodes([*study.derivative.values, *study.also]), start=1)
        if getattr(node.op, "derivation", None) is not None
    }
    if not derivations:
        raise GraphError("order = 0: nothing is differentiated; the phases begin at order 1.")
    first = newest([found.order for found in derivations.values()])
    number = list(derivations)[first] if scan is None else scan
    if number not in derivations:
        known = listing(f"{n} · {found.backward.name}" for n, found in derivations.items())
        raise ArgumentError(f"scan = {scan!r}: the Scans of derivatives are {known}.")
    return phases(derivations[number], theme, variable_keys(study.trace, number - 1))


def _genealogy(study: Study, theme: str) -> Scene:
    return genealogy(study.trace, theme)


def _stepgraph(study: Study, theme: str, scan: int | None = None, step: int = 0) -> Scene:
    return stepgraph(study.trace, scan, step, theme)


def _values(study: Study, theme: str) -> Plot:
    return values(study.trace, theme)


def _connections(study: Study, theme: str) -> Scene:
    return connections(study.derivative, theme)


PICTURES: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            Kind("equations", "the loop as a system, with its values at a step", _equations),
            Kind("unrolled", "what every step computes, and from what", _unrolled),
            Kind("rolled", "the loop as one box with its taps", _rolled),
            Kind("tapes", "what every backward step reads, overwrites and leaves", _tapes),
            Kind("ssa", "the tapes, and each of their values by itself", _ssa),
            Kind("taps", "which taps the backward loops have, and by what rule", _taps),
            Kind("phases", "how a derivative is built, in eleven phases", _phases),
            Kind("genealogy", "which Scan differentiates which", _genealogy),
            Kind("stepgraph", "the operations of one step, with their values", _stepgraph),
            Kind("values", "states, gradients and tapes over the steps", _values),
            Kind("connections", "which inputs get a gradient, and why others do not", _connections),
        )
    }
)


def picture_named(name: str) -> Kind:
    """The kind of picture with a name; ArgumentError for another name."""
    if name not in PICTURES:
        raise ArgumentError(f"picture = {name!r}: expected {listing(PICTURES)}.")
    return PICTURES[name]
