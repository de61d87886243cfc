"""`machine`: the tapes of a run, played event by event.

    >>> visual.machine(gallery.loops["square"].trace(cost="sum"))            # plays in a notebook
    >>> visual.machine(gallery.loops["square"].trace(), moment=6).save("tape.svg")
    >>> visual.machine(loop.trace(), loop.with_taps((-2, -1)).trace())       # two in lockstep
    >>> visual.machine(loop.trace(order=3), rule="accumulate-overwritten")

The widget and the page without a kernel run the same ES module on the same data.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import traitlets

from lab.eager.records import Recording
from lab.equations.events.events import events
from lab.errors import ArgumentError, argument_error, check_integer, check_type
from lab.reports.breaking.breakage import Breakage, Truth
from lab.reports.breaking.rules import BrokenRule
from lab.traces.trace import Trace
from lab.traces.tracing import derivative_of
from visual.backends.page import document, embedded, in_script
from visual.backends.svg import EDGES, WIDTH, text
from visual.pictures.machine.arrange import arrange
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.content import MachineContent as Content
from visual.pictures.machine.eager import machine_of_recording
from visual.pictures.machine.frames import ROLES
from visual.pictures.machine.pair import compare_runs, pair_of
from visual.pictures.machine.still import still
from visual.player.data import as_data
from visual.scene.formats import as_path
from visual.scene.shapes import Scene
from visual.scene.theme import DARK, LIGHT, LineStyle, Role
from visual.widgets.widget import SavedAsPage, Widget, bundle, read

HERE = Path(__file__).parent
PLAYER = tuple(HERE / f"{name}.js" for name in ("picture", "words", "bar", "machine"))
MODULE = bundle(*PLAYER, HERE / "render.js")
EXPECTED = (
    "a Trace, as loop.trace() or lab.trace(derivative, given) returns, or a recording of lab.eager"
)


def _colors(role: Role | None = None, faded: bool = False, **names: str) -> str:
    """Return CSS variables with colors of a theme, or of a role, on light and dark screens."""
    a, b = (theme.look(role, faded) if role else theme for theme in (LIGHT, DARK))
    return "".join(f"--{n}:light-dark({getattr(a, f)},{getattr(b, f)});" for n, f in names.items())


def _looks() -> Iterator[str]:
    """Yield the style of a machine: the colors of the themes, and the look of each role."""
    yield _colors(ink="text", quiet="muted", ground="background")
    yield _colors(Role.INTERMEDIATE, line="stroke") + _colors(Role.PANEL, soft="fill")
    yield _colors(Role.READ, save="stroke") + _colors(Role.WRONG, bad="fill")
    roles = {"cell,.pill": Role.INTERMEDIATE, **ROLES}
    roles["wrong>:not(:first-child),.wrong:not(.cell)"] = roles.pop("wrong")  # not the outer edge
    for name, role in roles.items():
        line = LIGHT.looks[role].line
        edge = {"stroke-width": f"{WIDTH}", "stroke-dasharray": "none", **dict(EDGES.get(line, ()))}
        edge["--inner"] = "inline" if line is LineStyle.DOUBLE else "none"
        edge["--border"] = "solid" if line in (LineStyle.PLAIN, LineStyle.HEAVY) else line
        colors = _colors(role, paint="stroke", fill="fill", letters="text")
        yield f":is(.{name}){{{colors}{';'.join(map(':'.join, edge.items()))}}}"
        yield f":is(.{name}).past{{{_colors(role, True, paint='stroke', fill='fill')}}}"


STYLE = f".scantape-machine{{{''.join(_looks())}}}\n{read(HERE / 'machine.css')}"
# The machine and the page around the machine follow the color scheme of the screen.
DARK_PAGE = (
    "@media screen and (prefers-color-scheme:dark){:root:root{color-scheme:dark}"
    f":root:root body{{background:{DARK.background};color:{DARK.text}}}}}\n"
)


def machine(
    trace: Trace | Breakage | Recording,
    other: Trace | None = None,
    *,
    rule: BrokenRule | str | None = None,
    moment: int | None = None,
    around: int | None = None,
    entry: int | None = None,
    contributor: bool = False,
) -> "Machine | Scene":
    """Return the tape machine of a run.

    `trace` is the run, from ``loop.trace(order=2)`` or ``lab.trace(lab.derivative(...), given)``;
    or the result of `lab.break_rule`, whose correct and faulty runs play in lockstep; or a
    recording of `lab.eager`, whose nodes and gradients are the cells. `other` is a second run,
    below the first run, on a common clock. `rule` is the name of a faulty rule in `lab.BROKEN`, or
    your own rule; the machine then also plays the run by this rule, in lockstep.

    With a `moment` k, the result is a `Scene`: the machine at the end of its event k, or for 0 the
    machine before all events. Without a moment, the result is a widget that plays. A machine shows
    at most twelve columns and their events, also around the step `around`. Cells of arrays show
    the entry `entry` instead of norms. `contributor` shows printed Scans, taps, and positions.

    Raises LabError if the run has no steps, has too many tapes, or lacks the `moment`; for a `rule`
    together with a second run; or for a `rule` with a trace from another process.
    """
    check_type("trace", trace, (Trace, Breakage, Recording), EXPECTED)
    if other is not None:
        check_type("other", other, Trace, EXPECTED)
        if rule is not None or not isinstance(trace, Trace):
            raise ArgumentError("other and rule: expected at most one, and only with a Trace.")
    if rule is not None:
        known = derivative_of(trace) if isinstance(trace, Trace) else None
        if known is None:
            why = "expected a trace of a derivative that was recorded in this process."
            advice = "Pass lab.break_rule(loop, rule, order) as the trace instead."
            raise argument_error("rule", rule, f"{why} {advice}")
        trace = Truth(*known).broken_by(rule)
    if around is not None:
        check_integer("around", around)
    run = trace.true if isinstance(trace, Breakage) else trace
    if entry is not None:
        sizes = (np.size(w.new) for r in (run, other) if r for e in events(r) for w in e.writes)
        last = max(sizes, default=1) - 1
        check_integer("entry", entry, f"an index from 0 to {last}", 0, last)
    check_type("contributor", contributor, bool, "True or False")
    if isinstance(trace, Breakage):
        content = pair_of(trace)
    elif isinstance(trace, Recording):
        content = machine_of_recording(trace, entry)
    elif other is not None:
        content = compare_runs(trace, other, entry)
    else:
        content = machine_of(trace, around, entry)
    shown = Machine(content, run if isinstance(run, Trace) else None, contributor)
    return shown if moment is None else shown.scene(moment)


class Machine(SavedAsPage, Widget):
    """A widget that plays a machine. The trait `moment` is the number of the displayed moment.

    The left and right arrow keys move by one sum, Home and End show the first and last moment, and
    the space bar plays. Tab and the arrow keys move between cells, and Enter shows the provenance
    of a number; in an array, Enter again chooses entry after entry.
    """

    _esm = MODULE
    _css = STYLE
    data = traitlets.Dict().tag(sync=True)
    moment = traitlets.Int(0).tag(sync=True)
    contributor = traitlets.Bool(False).tag(sync=True)

    def __init__(self, content: Content, trace: Trace | None, contributor: bool = False) -> None:
        self.content, self.trace = content, trace
        super().__init__(contributor=contributor)

    @traitlets.default("data")
    def _data(self) -> dict[str, Any]:
        return as_data(self.content, None if self.content.mistake else self.trace)

    @traitlets.validate("moment")
    def _check_moment(self, proposal: Mapping[str, int]) -> int:
        last = self.content.moments
        expected = f"a moment of this machine, 0 to {last}"
        return check_integer("moment", proposal["value"], expected, 0, last)

    def scene(self, moment: int | None = None, theme: str = "light", width: float = 840) -> Scene:
        """Return the picture at the end of event `moment` (default: the present moment).

        Raises ArgumentError for an unknown moment or theme.
        """
        moment = self.moment if moment is None else self._check_moment({"value": moment})
        sheet = arrange(self.content, width, self.contributor)
        return still(sheet, moment).themed(theme)

    def save(self, path: str | os.PathLike[str], animate: bool = False) -> Path:
        """Write the machine to a file, and return the path. A .html file plays without Python.

        A .gif file is a film of at most a minute. With `animate`, an .svg file is also a film. Any
        other file shows the present moment, or the final moment if the present moment is 0. Raises
        ArgumentError like `Scene.save`.
        """
        if as_path(path).suffix.lower() == ".html":
            return super().save(path)
        return self.scene(self.moment or self.content.moments).save(path, animate=animate)

    def page(self) -> str:
        """Return an HTML page that plays the machine without Python and without a network."""
        return page_of_machine(element(self.data, self.moment, self.contributor), self.scene())

    @property
    def _title(self) -> str:
        return self.content.title

    @property
    def _still(self) -> tuple[str, str, Scene | None]:
        scene = self.scene()
        html = embedded(element(self.data, self.moment, self.contributor), MODULE, STYLE)
        picture = f"<noscript>{scene.svg()}</noscript>"  # for front ends that run no script
        return html + picture, scene.text(), scene


def element(data: Mapping[str, Any], moment: int | None, contributor: bool) -> str:
    """Return the HTML element, with its data, that ``render.js`` turns into a machine.

    If `moment` is None, the machine first shows the moment ``data["first"]``.
    """
    start = data["first"] if moment is None else moment
    state = in_script({"data": data, "moment": start, "contributor": contributor})
    return f'<div data-machine><script type="application/json">{state}</script></div>'


def page_of_machine(machine: str, picture: Scene) -> str:
    """Return an HTML page with the `element` of a machine, and the text twin of its `picture`."""
    twin = f"<noscript><pre>{text(picture.text())}</pre></noscript>"
    return document(picture.title, LIGHT, machine + twin, MODULE, STYLE + DARK_PAGE)
