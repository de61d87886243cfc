"""All pictures by their names, each drawn from a `Study`, and what can be chosen about each.

    >>> PICTURES["unrolled"].draw(study, "light", unfold=50)

Scans are chosen by the numbers in the headings, from 1, steps from 0.  Whatever is declared here
is an option of `visual.draw`, of the command and of the workbench.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lab.equations.reading import system
from lab.errors import ArgumentError, GraphError, Named, listing, one_of, quoted, refused
from lab.gradients.derivation import derivation_of
from lab.reports.runs.influence import influence as influence_of
from visual.drawing.nested import with_ways, within
from visual.drawing.paper import on_paper, sheet
from visual.drawing.study import Study
from visual.layout.columns import Unfold, one_or_more
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet
from visual.options import (
    BARE,
    HEIGHT,
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
)
from visual.pictures.equations import equations
from visual.pictures.genealogy import genealogy
from visual.pictures.influence import influence
from visual.pictures.machine.arrange import arrange, most_columns, runs_down
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.still import still
from visual.pictures.memory import memory
from visual.pictures.moment.moment import moment
from visual.pictures.phases.phases import phases
from visual.pictures.rolled import rolled
from visual.pictures.ssa import ssa
from visual.pictures.stepgraph.stepgraph import stepgraph
from visual.pictures.tapes.tapes import tapes
from visual.pictures.taps import taps
from visual.pictures.unrolled.unrolled import fitting, unrolled
from visual.pictures.values.values import values
from visual.retired import RETIRED_NAMES, RETIRED_OPTIONS, refuse_retired
from visual.scene.combinators import gap
from visual.scene.shapes import Scene


@dataclass(frozen=True)
class Kind:
    """A kind of picture: its name, what it shows, the function that draws it, and its options.

    It `follows` who walks through a run by those of its options that say what of it is open.
    Its `label` is what a control calls it, if that is not its name.
    """

    name: str
    about: str
    make: Callable[..., Scene]
    options: tuple[Choice, ...] = ()
    follows: tuple[str, ...] = ()
    on_sheet: tuple[Choice, ...] = ()
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.name)

    def draw(
        self, study: Study, theme: str = "light", screen: Sheet = SCREEN, /, **options: object
    ) -> Scene:
        """The picture of a study on a `screen`; ArgumentError for an option that it does not have.

        All are laid out on a sheet, and so keep to any width; `on_sheet` are more options of it.
        """
        known: dict[str, Value] = self.check(options)
        paper: dict[str, Value] = {
            c.name: known.pop(c.name) for c in self._for_papers if c.name in known
        }
        page = sheet(screen, **paper)
        if INSIDE not in self.options:
            scene = self.make(study, theme, sheet=page, **known)
            return on_paper(scene, paper.get("width"), self.name)
        path = known.pop(INSIDE.name, None) or ()
        study = within(study, path)
        scene = self.make(study, theme, sheet=page, **known)
        if not (paper.get(BARE.name) or paper.get("width")):
            ways = study, path, known.get("scan"), known.get("step")
            whole = with_ways(scene, *ways)
            above = whole.height - scene.height
            if scene.height <= page.height < whole.height:  # it leaves room for what stands above
                low = replace(page, height=page.height - above)
                whole = with_ways(self.make(study, theme, sheet=low, **known), *ways)
            scene = whole
        return on_paper(scene, paper.get("width"), self.name)

    @property
    def _for_papers(self) -> tuple[Choice, ...]:
        return (WIDTH, NO_LEGEND, *self.on_sheet)

    def check(self, options: Mapping[str, object]) -> dict[str, Value]:
        """The options as they are kept; ArgumentError for one that the picture does not have."""
        own = {choice.name: choice for choice in (*self.options, *self._for_papers)}
        for name in options:
            refuse_retired(name, {} if name in own else RETIRED_OPTIONS, "option {}")
        told = f"the options of the picture {self.name} are {{}}."
        return {n: own[one_of("option", n, own, told)].check(value) for n, value in options.items()}


def _equations(
    study: Study,
    theme: str,
    scan: int | None = None,
    step: int | None = None,
    sheet: Sheet = SCREEN,
) -> Scene:
    number = opened(study.trace, scan)
    if len(study.scans) != len(study.trace.scans):
        raise GraphError("keep: the run has several windows; the equations are those of one.")
    return equations(study.trace, system(study.scans[number]), theme, number + 1, step, sheet)


def _unrolled(
    study: Study,
    theme: str,
    unfold: Unfold = None,
    scans: Sequence[int] | None = None,
    all_direct: bool = False,
    sheet: Sheet = SCREEN,
    **chosen: Any,
) -> Scene:
    trace = study.trace_of_cost
    loops = [number for number, scan in enumerate(trace.scans) if not scan.order]
    if study.order or scans is not None or any(chosen.values()):
        return unrolled(trace, theme, unfold, scans, all_direct, sheet=sheet, **chosen)
    return fitting(trace, loops, gap(), theme, unfold, all_direct, sheet=sheet)


def _influence(study: Study, theme: str, scan: int = 1, sheet: Sheet = SCREEN) -> Scene:
    found = influence_of(study.derivative, scan=scan, trace=study.trace, given=study.given)
    return influence(found, theme, sheet=sheet)


def _phases(study: Study, theme: str, scan: int | None = None, **options: Value) -> Scene:
    found = enumerate(map(derivation_of, study.scans))
    derivations = {number: one for number, one in found if one is not None}
    if not derivations:
        none = "order = 0: nothing is differentiated; the phases begin at order 1."
        raise GraphError(f"phases: {NO_PULLBACK}." if study.order else none)
    number = opened(study.trace, scan, tuple(derivations))
    if number not in derivations:
        known = listing(f"{n + 1} · {one.backward.called}" for n, one in derivations.items())
        raise ArgumentError(f"scan = {quoted(scan)}: the Scans of derivatives are {known}.")
    return phases(derivations[number], theme, NamedScan(study.trace, number), **options)


NO_PULLBACK = "no Scan is the pullback of another, as those of mode = 'reverse' are"


class Unfolding(Wholes):
    """A step, or several."""

    def check(self, value: object) -> Value:
        """The steps; a trace knows which there are."""
        return one_or_more(self.name, value) or None

    def control(self, value: Value, names: Iterable[str] = ()) -> Control:
        """A text with the steps between commas."""
        return self._control("text", ", ".join(map(str, value or ())))


UNFOLD = Unfolding("unfold", "unfold a long loop here: 3, or 3,7", "unfold at step", metavar="STEP")
STEP = Whole("step", "the step to show, from 0", "step of the Scan", metavar="STEP")
SCAN = Whole(
    "scan", "the Scan to show, by its number in the headings", "Scan, by its number", least=1
)
PLANS = Switch("plans", "of memory: plans that keep fewer states, and make them again", "plans")
LIMIT = Whole(
    "limit",
    "of the plans of memory: bytes of states, for the best one",
    "bytes of states",
    metavar="BYTES",
    least=1,
)
MOMENT = Whole("moment", "the event of the machine, 0 before all (default: the last)", "moment")
PHASE = Whole("phase", "the phase to open, 1 to 11", "phase", least=1, most=11)
SCANS = Wholes("scans", "the Scans to unroll, by their numbers in the headings")
BUFFER = Switch("buffer", "tapes in the buffer's order", "in the buffer's order")
CONTRIBUTIONS = Switch(
    "contributions", "in tapes: what came directly, and what later", "with every contribution"
)
ALL = Switch("all", "everything, in a picture of any size", "all of it")
ALL_DIRECT = Switch(
    "all_direct", "unrolled: every gradient with its direct part", "with all uses of the inputs"
)


def _of_trace(draw: Callable[..., Scene]) -> Callable[..., Scene]:
    return lambda study, theme, **options: draw(study.trace, theme=theme, **options)


def _machine(study: Study, theme: str, moment: int | None = None, sheet: Sheet = SCREEN) -> Scene:
    machine = machine_of(study.trace)
    if not runs_down(machine, sheet.width):
        machine = machine_of(study.trace, most=most_columns(sheet.width))
    if moment is not None and moment > machine.moments:
        raise refused("moment", moment, f"this machine has the moments 0 to {machine.moments}.")
    at = machine.moments if moment is None else moment
    return still(arrange(machine, sheet.width), at, theme, study.trace, sheet)


_KINDS = (
    Kind(
        "machine",
        "all tapes at the end of one event: what it reads, overwrites, and adds",
        _machine,
        (MOMENT,),
    ),
    Kind(
        "tapes",
        "what every backward step reads, overwrites and leaves",
        _of_trace(tapes),
        (UNFOLD, SCAN, STEP, BUFFER, CONTRIBUTIONS, ALL, INSIDE),
        follows=("scan", "unfold"),
        on_sheet=(HEIGHT, SHOWN, BARE),
    ),
    Kind(
        "moment",
        "one step, large: before it, what it reads and makes, after it",
        _of_trace(moment),
        (SCAN, STEP, INSIDE),
        follows=("scan", "step"),
        on_sheet=(BARE,),
        label="one step",
    ),
    Kind(
        "unrolled",
        "what every step computes, and from what",
        _unrolled,
        (UNFOLD, SCAN, SCANS, ALL_DIRECT, ALL, INSIDE),
        follows=("scan", "unfold"),
        on_sheet=(HEIGHT, SHOWN, BARE),
    ),
    Kind(
        "equations",
        "the loop as a system, with its values at a step",
        _equations,
        (SCAN, STEP, INSIDE),
        follows=("scan", "step"),
        on_sheet=(HEIGHT, BARE),
    ),
    Kind(
        "rolled",
        "the loop as one box with its taps",
        lambda study, theme, **options: rolled(study.trace_of_cost, theme, **options),
        (UNFOLD, SCAN, STEP, ALL, INSIDE),
        on_sheet=(SHOWN, BARE),
    ),
    Kind(
        "taps",
        "which taps the backward loops have, and by what rule",
        lambda study, theme, **options: taps(
            study.trace_of_cost, max(1, study.order), theme, **options
        ),
        on_sheet=(BARE,),
    ),
    Kind(
        "values",
        "states, gradients and tapes over the steps",
        _of_trace(values),
        (SCAN, ALL, INSIDE),
        on_sheet=(SHOWN, BARE),
    ),
    Kind(
        "influence",
        "how much each value moves the later ones, and what truncation loses",
        _influence,
        (SCAN,),
        on_sheet=(SHOWN, BARE),
    ),
    Kind(
        "memory",
        "which buffers there are, from when to when; or plans with fewer states",
        _of_trace(memory),
        (SCAN, PLANS, LIMIT),
        on_sheet=(BARE,),
    ),
    Kind(
        "ssa",
        "the tapes, and each of their values by itself",
        _of_trace(ssa),
        (UNFOLD, SCAN, ALL, INSIDE),
        on_sheet=(SHOWN, BARE),
    ),
    Kind(
        "stepgraph",
        "what one step reads, makes and writes, with its values",
        _of_trace(stepgraph),
        (SCAN, STEP, ALL, INSIDE),
        follows=("scan", "step"),
        on_sheet=(HEIGHT, BARE),
    ),
    Kind(
        "phases", "how a derivative is built, in eleven phases", _phases, (SCAN, PHASE, ALL, INSIDE)
    ),
    Kind("genealogy", "which Scan differentiates which", _of_trace(genealogy), (ALL, INSIDE)),
)


class _Pictures(Named[Kind]):
    """The kinds by name; an error for a retired picture names its replacement."""

    def __getitem__(self, name: object) -> Kind:
        refuse_retired(name, RETIRED_NAMES, "picture {}")
        return super().__getitem__(name)


PICTURES = _Pictures("picture", {kind.name: kind for kind in _KINDS})
PAPER = (WIDTH, HEIGHT, NO_LEGEND, BARE)  # and `SHOWN`, an option of the derivative as well
_OWN = dict.fromkeys(option for kind in _KINDS for option in kind.options)
OPTIONS = tuple(option for option in _OWN if option not in PAPER)
VIEW = OneOf("view", listing(PICTURES), "view", default="tapes", known=PICTURES)
