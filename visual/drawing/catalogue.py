"""All pictures by their names, each drawn from a `Study`, and what can be chosen about each.

    >>> PICTURES["unrolled"].draw(study, step=50)

Scans are chosen by the numbers in the headings, from 1, steps from 0.  Whatever is declared here
is an option of `visual.draw`, of the command and of the workbench.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lab.errors import ArgumentError, GraphError, Registry, check_choice, listing, quote
from lab.gradients.derivation import derivation_of
from lab.reports.runs.influence import influence as influence_of
from visual.drawing.nested import with_ways, within
from visual.drawing.paper import lacking, on_paper, sheet, wider
from visual.drawing.study import Study
from visual.layout.columns import Steps, one_or_more
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet
from visual.options import (
    INSIDE,
    NO_LEGEND,
    SHOWN,
    WIDTH,
    Choice,
    Control,
    OneOf,
    Switch,
    Value,
    Whole,
    Wholes,
    opened,
    step_of,
)
from visual.pictures.genealogy import genealogy
from visual.pictures.machine.arrange import arrange
from visual.pictures.machine.still import machine_on, moment_of_step, still
from visual.pictures.phases.phases import phases
from visual.pictures.plots.influence import influence
from visual.pictures.plots.memory import memory
from visual.pictures.plots.values import values
from visual.pictures.rolled import rolled
from visual.pictures.ssa import ssa
from visual.pictures.stepgraph.stepgraph import stepgraph
from visual.pictures.tapes.tapes import tapes
from visual.pictures.taps import taps
from visual.pictures.unrolled.unrolled import fitting, unrolled
from visual.retired import RETIRED_NAMES, RETIRED_OPTIONS, refuse_retired
from visual.scene.combinators import gap
from visual.scene.shapes import Scene


@dataclass(frozen=True)
class Kind:
    """A kind of picture: its name, what it shows, the function that draws it, and its options.

    It `follows` who walks through a run by those of its options that say what of it is open.
    """

    name: str
    about: str
    make: Callable[..., Scene]
    options: tuple[Choice, ...] = ()
    follows: tuple[str, ...] = ()
    on_sheet: tuple[Choice, ...] = ()

    def draw(self, study: Study, /, **options: object) -> Scene:
        """Draw a study; ArgumentError for an option that the picture does not have.

        `on_sheet` are the options of the sheet that it is laid out on.
        """
        known: dict[str, Value] = self.check(options)
        paper = {c.name: known.pop(c.name) for c in self._for_papers if c.name in known}
        width, path = paper.get("width"), known.pop(INSIDE.name, None) or ()
        study = within(study, path)
        scene = self.make(study, sheet=sheet(**paper), **known)
        if width is None:
            ways = study, path, known.get("scan"), known.get("step")
            return with_ways(scene, *ways) if INSIDE in self.options else scene
        least = width
        while pixels := lacking(scene, least):  # a wider sheet may be laid out otherwise
            least = wider(least, pixels)
            scene = self.make(study, sheet=sheet(**{**paper, "width": least}), **known)
        if least is not width:
            raise ArgumentError(
                f"width = {width.written!r}: the picture {self.name} of this loop needs "
                f"{least.written} for letters that can be read; expected that or more."
            )
        return on_paper(scene, width)

    @property
    def _for_papers(self) -> tuple[Choice, ...]:
        return (WIDTH, NO_LEGEND, *self.on_sheet)

    def check(self, options: Mapping[str, object]) -> dict[str, Value]:
        """The options as they are kept; ArgumentError for one that the picture does not have."""
        own = {choice.name: choice for choice in (*self.options, *self._for_papers)}
        for name in options:
            refuse_retired(name, {} if name in own else RETIRED_OPTIONS, "option {}")
        told = f"the options of the picture {self.name} are {{}}."
        return {
            n: own[check_choice("option", n, own, told)].check(value)
            for n, value in options.items()
        }


def _unrolled(
    study: Study,
    step: Steps = None,
    scan: int | None = None,
    all: bool = False,
    sheet: Sheet = SCREEN,
) -> Scene:
    trace = study.trace_of_cost
    loops = [number for number, one in enumerate(trace.scans) if not one.order]
    if study.order or scan is not None or all:
        return unrolled(trace, step, scan=scan, all=all, sheet=sheet)
    return fitting(trace, loops, gap(), step, sheet=sheet)


def _influence(study: Study, scan: int = 1, sheet: Sheet = SCREEN) -> Scene:
    found = influence_of(study.derivative, scan=scan, trace=study.trace, given=study.given)
    return influence(found, sheet=sheet)


def _phases(study: Study, scan: int | None = None, **options: Value) -> Scene:
    found = enumerate(map(derivation_of, study.scans))
    derivations = {number: one for number, one in found if one is not None}
    if not derivations:
        none = "order = 0: nothing is differentiated; the phases begin at order 1."
        raise GraphError(f"phases: {NO_PULLBACK}." if study.order else none)
    number = opened(study.trace, scan, tuple(derivations))
    if number not in derivations:
        known = listing(f"{n + 1} · {one.backward.called}" for n, one in derivations.items())
        raise ArgumentError(f"scan = {quote(scan)}: the Scans of derivatives are {known}.")
    return phases(derivations[number], NamedScan(study.trace, number), **options)


NO_PULLBACK = "no Scan is the pullback of another, as those of mode = 'reverse' are"


class StepOrSteps(Wholes):
    """A step, or several."""

    def check(self, value: object) -> Value:
        """The step, or the steps; a trace knows which there are."""
        steps = one_or_more(self.name, value)
        return steps if steps[1:] else next(iter(steps), None)

    def control(self, value: Value, names: Iterable[str] = ()) -> Control:
        """A text with the steps between commas."""
        return self._control("text", ", ".join(map(str, one_or_more(self.name, value))))


STEP = StepOrSteps(
    "step",
    "step to show, from 0, in addition to the ends of a long loop",
    "show step",
    metavar="STEP",
)
SCAN = Whole("scan", "Scan to show, by its number in the headings", "Scan, by its number", least=1)
ALL = Switch("all", "show everything, in a picture of any size", "all of it")


def _of_trace(draw: Callable[..., Scene]) -> Callable[..., Scene]:
    return lambda study, **options: draw(study.trace, **options)


def _machine(
    study: Study,
    scan: int | None = None,
    step: int | None = None,
    sheet: Sheet = SCREEN,
) -> Scene:
    if scan is None and step is None:
        machine = machine_on(study.trace, sheet)
        return still(arrange(machine, sheet.width), machine.moments, study.trace, sheet)
    number = opened(study.trace, scan)
    of = study.trace.scans[number]
    chosen = step_of(of, of.steps - 1 if step is None else step)
    return moment_of_step(study.trace, number, chosen, sheet)


_KINDS = (
    Kind(
        "machine",
        "all tapes at the end of one event: what it reads, overwrites, and adds",
        _machine,
        (SCAN, STEP),
    ),
    Kind(
        "tapes",
        "what every backward step reads, overwrites and leaves",
        _of_trace(tapes),
        (SCAN, STEP, ALL, INSIDE),
        follows=("scan", "step"),
        on_sheet=(SHOWN,),
    ),
    Kind(
        "unrolled",
        "what every step computes, and from what",
        _unrolled,
        (SCAN, STEP, ALL, INSIDE),
        follows=("scan", "step"),
        on_sheet=(SHOWN,),
    ),
    Kind(
        "rolled",
        "the loop as one box with its taps",
        lambda study, **options: rolled(study.trace_of_cost, **options),
        (SCAN, STEP, ALL, INSIDE),
        on_sheet=(SHOWN,),
    ),
    Kind(
        "taps",
        "which taps the backward loops have, and by what rule",
        lambda study, **options: taps(study.trace_of_cost, max(1, study.order), **options),
    ),
    Kind(
        "values",
        "states, gradients and tapes over the steps",
        _of_trace(values),
        (SCAN, ALL, INSIDE),
        on_sheet=(SHOWN,),
    ),
    Kind(
        "influence",
        "how much each value moves the later ones, and what truncation loses",
        _influence,
        (SCAN,),
        on_sheet=(SHOWN,),
    ),
    Kind(
        "memory",
        "which buffers there are, from when to when, and plans with fewer states",
        _of_trace(memory),
        (SCAN,),
    ),
    Kind(
        "ssa",
        "the tapes, and each of their values by itself",
        _of_trace(ssa),
        (SCAN, STEP, ALL, INSIDE),
        on_sheet=(SHOWN,),
    ),
    Kind(
        "stepgraph",
        "what one step reads, makes and writes, with its values",
        _of_trace(stepgraph),
        (SCAN, STEP, ALL, INSIDE),
        follows=("scan", "step"),
    ),
    Kind("phases", "how a derivative is built, in eleven phases", _phases, (SCAN, ALL, INSIDE)),
    Kind("genealogy", "which Scan differentiates which", _of_trace(genealogy), (ALL, INSIDE)),
)


class _Pictures(Registry[Kind]):
    """The kinds by name; an error for a retired picture names its replacement."""

    def __getitem__(self, name: object) -> Kind:
        refuse_retired(name, RETIRED_NAMES, "picture {}")
        return super().__getitem__(name)


PICTURES = _Pictures("picture", {kind.name: kind for kind in _KINDS})
PAPER = (WIDTH, NO_LEGEND)  # and `SHOWN`, which is an option of the derivative as well
_OWN = dict.fromkeys(option for kind in _KINDS for option in kind.options)
OPTIONS = tuple(option for option in _OWN if option not in PAPER)
VIEW = OneOf("view", listing(PICTURES), "view", default="tapes", known=PICTURES)
