"""All kinds of pictures with their options; each kind draws the data of a `Study`.

    >>> PICTURES["unrolled"].draw(study, step=50)

`visual.draw`, the command `scantape draw`, and the workbench accept all options of this module.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from lab.errors import GraphError, Registry, UnknownNameError, argument_error, listing
from lab.gradients.derivation import Derivation
from lab.reports.breaking.breakage import Truth
from lab.reports.runs.influence import influence as influence_of
from visual import options as declared
from visual.drawing.study import Study
from visual.layout.names import NamedScan
from visual.layout.sheet import SCREEN, Sheet, fit
from visual.options import ANY_RULE, NO_LEGEND, SHOWN, WIDTH, Choice, Value, Whole, boolean
from visual.pictures.genealogy import genealogy
from visual.pictures.machine.pair import pair_of
from visual.pictures.machine.still import scene_of_step
from visual.pictures.phases.phases import phases
from visual.pictures.plots.influence import influence
from visual.pictures.plots.memory import memory
from visual.pictures.plots.values import values
from visual.pictures.ssa import ssa
from visual.pictures.stepgraph.stepgraph import stepgraph
from visual.pictures.tapes.tapes import tapes
from visual.pictures.taps import taps
from visual.pictures.unrolled.unrolled import unrolled, unrolled_loops
from visual.retired import RETIRED_OPTIONS, refuse_retired
from visual.scene.shapes import Scene

PAPER = (WIDTH, NO_LEGEND)  # options of all pictures; SHOWN is an option of some pictures


@dataclass(frozen=True)
class PictureKind:
    """A kind of picture: its name, a description, its drawing function, and its options."""

    name: str
    about: str
    make: Callable[..., Scene]
    options: tuple[Choice, ...] = ()

    def draw(self, study: Study, /, **options: object) -> Scene:
        """Return the picture of a study; raise ArgumentError for a bad option or a small width."""
        known: dict[str, Value] = self.check(options)
        paper = {c.name: known.pop(c.name) for c in (*PAPER, SHOWN) if c.name in known}
        return fit(partial(self.make, study, **known), self.name, **paper)

    def check(self, options: Mapping[str, object]) -> dict[str, Value]:
        """Return the checked options; raise ArgumentError for an unknown name or a bad value."""
        own = {choice.name: choice for choice in (*self.options, *PAPER)}
        for name in options:
            refuse_retired(name, {} if name in own else RETIRED_OPTIONS, "option {}")
            refuse_retired(f"{self.name}.{name}", RETIRED_OPTIONS, "option {}")
            if name not in own:
                why = f"the picture {self.name} has the options {listing(own)}."
                raise argument_error(name, options[name], why, UnknownNameError)
        return {name: own[name].check(value) for name, value in options.items()}


def _unrolled(study: Study, scan: int | None = None, **options: Value) -> Scene:
    if study.order or scan is not None:
        return unrolled(study.trace_of_cost, scan=scan, **options)
    return unrolled_loops(study.trace_of_cost, **options)


def _influence(study: Study, scan: int = 1, sheet: Sheet = SCREEN) -> Scene:
    report = influence_of(study.derivative, scan=scan, trace=study.trace, given=study.given)
    return influence(report, sheet=sheet)


def _phases(study: Study, scan: int | None = None, **options: Value) -> Scene:
    numbered = enumerate(getattr(node.op, "derivation", None) for node in study.scans)
    derivations = {number: item for number, item in numbered if isinstance(item, Derivation)}
    if not derivations:
        why = "phases: no Scan of this graph is a pullback; mode = 'reverse' builds pullbacks."
        at_0 = "order = 0: expected 1 or more, because phases build a derivative."
        raise GraphError(why if study.order else at_0)
    number = declared.selected_scan(study.trace, scan, tuple(derivations))
    if number not in derivations:
        known = listing(f"{n + 1} · {item.backward.called}" for n, item in derivations.items())
        raise argument_error("scan", scan, f"the Scans of derivatives are {known}.")
    return phases(derivations[number], NamedScan(study.trace, number), **options)


STEP = Whole("step", "step to show, from 0, in addition to the ends of a long loop", "show step")
SCAN = Whole("scan", "number of the Scan to show, as in the headings", "Scan number", least=1)
ALL = boolean("all", "show all steps and columns, in a picture of any size", "show everything")


def of_trace(draw: Callable[..., Scene]) -> Callable[..., Scene]:
    """Return a function of a study that calls `draw` with the trace of the study."""
    return lambda study, **options: draw(study.trace, **options)


def _machine(
    study: Study, scan: Value = None, step: Value = None, rule: Value = None, sheet: Sheet = SCREEN
) -> Scene:
    trace, pair = study.playable().trace, None
    if rule not in (None, ANY_RULE.default):
        breakage = Truth(study.derivative, study.given).broken_by(rule)
        trace, pair = breakage.true, pair_of(breakage)
    if scan is None and step is None:
        return scene_of_step(trace, sheet=sheet, pair=pair)
    shown = trace.scans[number := declared.selected_scan(trace, scan)]
    chosen = declared.check_step(shown, shown.steps - 1 if step is None else step)
    return scene_of_step(trace, number, chosen, sheet, pair)


_KINDS = (
    PictureKind("machine", "all tapes at the end of one event", _machine, (SCAN, STEP, ANY_RULE)),
    PictureKind("tapes", "the slots at every step", of_trace(tapes), (SCAN, STEP, ALL, SHOWN)),
    PictureKind("unrolled", "every value and its sources", _unrolled, (SCAN, STEP, SHOWN)),
    PictureKind(
        "taps",
        "the taps of the backward Scans and the rule behind them",
        lambda study, **options: taps(study.trace_of_cost, max(1, study.order), **options),
    ),
    PictureKind("values", "states and gradients as curves", of_trace(values), (SCAN, ALL, SHOWN)),
    PictureKind("influence", "the effect of each value on later ones", _influence, (SCAN, SHOWN)),
    PictureKind("memory", "the lifetime of each buffer", of_trace(memory), (SCAN,)),
    PictureKind("ssa", "the tapes with a name for each value", of_trace(ssa), (SCAN, STEP, SHOWN)),
    PictureKind("stepgraph", "the operations of one step", of_trace(stepgraph), (SCAN, STEP)),
    PictureKind("phases", "the eleven phases that build a backward Scan", _phases, (SCAN,)),
    PictureKind("genealogy", "the Scan that each Scan differentiates", of_trace(genealogy), (ALL,)),
)


PICTURES = Registry("picture", {kind.name: kind for kind in _KINDS})
OPTIONS = tuple(dict.fromkeys(o for kind in _KINDS for o in kind.options if o is not SHOWN))
VIEW = Choice("view", listing(PICTURES), "views", default="tapes", known=PICTURES, kind="tabs")
