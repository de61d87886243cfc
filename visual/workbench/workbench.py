"""The workbench: choose a loop, its taps, and the order of its derivative, and play its machine."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from math import inf
from pathlib import Path
from threading import RLock
from typing import Any

import traitlets
from pytensor.graph.basic import Variable

from lab.errors import LabError, argument_error, check_choice, check_integer, first_line
from lab.gradients.derivative import Derivative
from lab.loops.loop import Loop
from lab.reports.breaking.breakage import Breakage
from visual.backends import dark
from visual.backends.page import embedded
from visual.player.page import Page
from visual.player.widget import MODULE, PLAYER, STYLE, element, page_of_machine
from visual.scene.shapes import Scene
from visual.widgets.widget import CONTROLS, DARK_NOTEBOOK, Widget, bundle, in_notebook, read
from visual.widgets.working import Job, begin, event_loop
from visual.workbench.controls import Key, changed, controls, draw_ahead, draw_bench, equation
from visual.workbench.state import Bench, BenchState, LoopBench, open_bench
from visual.workbench.texts import bench_of, cell, link_of, with_loop

HERE = Path(__file__).parent

FORMATS = ("svg", "pdf", "png", "html")
SCALE = 2.0
LONGEST = 80  # the maximum number of characters of a file name
QUIET = 0.4  # seconds without a request before pictures are drawn ahead
MOST = 30  # the maximum number of changes that can be undone
Visit = tuple[Bench, int]  # a bench without cached pictures, and its last moment
TOGETHER = 1.0  # seconds; undo treats faster changes of values as a single change
CHOICE_NAMES = tuple(choice.name for choice in fields(BenchState))
# The base class with a trait for each choice.
ChoiceTraits: Any = type(
    "ChoiceTraits", (traitlets.HasTraits,), {name: traitlets.Any() for name in CHOICE_NAMES}
)


class Workbench(ChoiceTraits, Widget):
    """A widget that draws a loop or a PyTensor graph, with controls for all choices.

    The possible calls are ``Workbench()``, ``Workbench(loop)``, ``Workbench(model)``,
    ``Workbench(derivative, given)``, and ``Workbench(cost, wrt, given)``, where `given` maps the
    inputs of the graph to values. The workbench of a PyMC model shows the log-density at the
    initial point. A text, as in ``Workbench("loop=square&order=2&moment=7")``, restores a workbench
    from its `link`. `choices` are the fields of `BenchState`. `moment` is the moment of the
    machine, or -1 for the start of the derivatives.

    `loop` and all choices are traits, which you can set, observe, and link to traits of other
    widgets. An impossible value raises TraitError and changes nothing.

        >>> ipywidgets.link((slider, "value"), (bench, "order"))

    `undo` and `redo` move through the earlier choices.
    """

    _esm = bundle(CONTROLS, *PLAYER, HERE / "form.js", HERE / "workbench.js")
    _css = DARK_NOTEBOOK + read(HERE / "workbench.css") + STYLE + dark.style()
    form = traitlets.Dict().tag(sync=True)
    svg = traitlets.Unicode("").tag(sync=True)
    machine = traitlets.Dict().tag(sync=True)
    python = traitlets.Unicode("").tag(sync=True)
    link = traitlets.Unicode("").tag(sync=True)
    moment = traitlets.Int(-1, min=-1).tag(sync=True)
    contributor = traitlets.Any(False).tag(sync=True)
    is_shown = traitlets.Bool(False).tag(sync=True)  # whether a page shows the widget
    _bench: Bench
    _requested: Bench  # differs from `_bench` while a request of the page has no answer
    _job = Job()  # the job that draws the requested bench, or probable next benches
    _time = -inf  # the time of the latest change, if only values changed
    _moments = inf  # the number of moments of the latest machine
    _version = 0  # increases when `_bench` changes; machines are sent ahead with their version
    _number = -1  # the number of the latest message; numbers of different pages differ

    def __init__(
        self,
        subject: Loop | Derivative | Variable | str | None = None,
        *about: object,
        moment: int = -1,
        **choices: object,
    ) -> None:
        self._lock = RLock()  # one thread at a time changes the traits
        start, restored = bench_of(subject) if isinstance(subject, str) else (None, -1)
        bench = (start or open_bench(subject, *about)).changed(**choices)
        moment = check_integer("moment", moment)
        moment = restored if moment == -1 else moment
        Job().run(lambda: draw_bench(bench))  # raise errors before the widget exists
        if not -1 <= moment <= bench.machine.get("moments", inf):
            last = f" to {bench.machine['moments']}" if bench.machine else " or later"
            raise argument_error("moment", moment, f"expected a moment of the machine, 0{last}.")
        self._past, self._future = list[Visit](), list[Visit]()  # for undo and redo
        self._bench = bench
        super().__init__(moment=moment)
        self._show(bench)
        self.on_msg(lambda _, message, __: self.receive(message))

    @property
    def _title(self) -> str:
        return f"{self._bench.name} {self.state.rule or self.state.view} {self.state.order}"

    @property
    def _still(self) -> tuple[str, str, Scene | None]:
        shown = self.picture
        html = embedded(element(*self._player()), MODULE, STYLE) if self.machine else shown.framed()
        if not in_notebook():  # for readers without Python, a page if possible
            page = page_of(self._bench)
            html = WITHOUT_PYTHON + (html if page is None else page.fragment())
        return html, shown.text(), shown

    def _player(self) -> tuple[Mapping[str, Any], int | None, bool]:
        """Return the machine for another page: its data, its moment, and its kind of view."""
        moment = None if self.moment < 0 else self.moment
        return self._bench.machine_data(False, True), moment, self.state.contributor

    @property
    def state(self) -> BenchState:
        """All choices, as an immutable record."""
        return self._bench.state

    @property
    def picture(self) -> Scene:
        """The picture of the view; for a machine, at its `moment`, or at the end for -1."""
        bench = self._bench
        return bench.picture if self.moment < 0 else bench.picture_at(self.moment)

    @property
    def breakage(self) -> Breakage | None:
        """The effect of the faulty rule on the derivatives; None for the correct rule."""
        return self._bench.breakage

    def set(self, **choices: object) -> None:
        """Change choices, as in ``set(order=2, taps={"x": (-2, -1)})``.

        The choices are the fields of `BenchState`. `loop` can also be a `lab.Loop`. An impossible
        choice raises LabError and changes nothing. The call cancels an open request.
        """
        bench = self._bench
        self._cancel()
        try:
            bench = with_loop(bench, choices.pop("loop")) if "loop" in choices else bench
            bench = bench.changed(**choices)
            self._show(Job().run(lambda: draw_bench(bench, "options" in choices)))
        except BaseException:
            self._update_form()  # reports the canceled request to the page
            raise

    def undo(self) -> None:
        """Return to the choices before the latest change; without a change, do nothing."""
        self._move(self._past, self._future)

    def redo(self) -> None:
        """Repeat the change that was last undone; without such a change, do nothing."""
        self._move(self._future, self._past)

    def _move(self, source: list[Visit], target: list[Visit]) -> None:
        """Show the last bench of `source`, if any, and move the present bench to `target`."""
        with self._lock:
            self._cancel()
            bench, moment = [(self._bench, self.moment), *source][-1]
            shown = Job().run(lambda: draw_bench(replace(bench)))
            if source:
                target.append((replace(self._bench), self.moment))
                self._bench, self._time = source.pop()[0], -inf
            self._show(shown, moment)

    def _show(self, bench: Bench, moment: int = -1) -> None:
        """Show a bench, and let `undo` return to another state. Another machine has `moment`."""
        with self._lock:
            names = {*bench.state.differences_from(self.state)}
            if getattr(bench, "loop", None) is not getattr(self._bench, "loop", None):
                names.add("loop")
            if names:
                now, are_values = time.monotonic(), names == {"at"}
                if not are_values or now - self._time >= TOGETHER:
                    self._past.append((replace(self._bench), self.moment))
                    del self._past[:-MOST]
                self._future.clear()
                self._time = now if are_values else -inf
            self._bench = self._requested = bench
            self._version += 1
            moments = bench.machine.get("moments", self._moments)
            if self._moments not in (inf, moments) or self.moment > moments:
                self.moment = moment
            self._moments = moments
            for name in CHOICE_NAMES:
                self.set_trait(name, getattr(self.state, name))
            with self.hold_sync():
                self.svg, self.machine = bench.svg, dict(bench.machine)
                self._update_form()
                self._update_copies()
            self._look_ahead()

    @traitlets.observe("moment")
    def _update_copies(self, _: object = None) -> None:
        """Update the texts for readers to copy: the traits `link` and `python`."""
        self.python = cell(self._bench, self.moment)
        self.link = link_of(self._bench, self.moment)

    @traitlets.observe("is_shown")
    def _look_ahead(self, _: object = None) -> None:
        """If a page shows the widget, draw probable next pictures after `QUIET` seconds of rest."""
        loop, bench = event_loop(), self._bench
        if self.is_shown and self._requested is bench and loop:
            self._job.cancel()
            self._job, send = Job(), partial(loop.call_soon_threadsafe, self.send)
            ahead = partial(draw_ahead, bench, self._version, send)
            begin(ahead, self._job, lambda _: None, QUIET)

    @traitlets.validate(*CHOICE_NAMES)
    def _choose(self, proposal: Mapping[str, Any]) -> object:
        """Apply the new value of a trait as a choice, unless the choice already has this value."""
        name, value = proposal["trait"].name, proposal["value"]
        if getattr(self.state, name) is not value:
            try:
                self.set(**{name: value})
            except LabError as error:
                raise traitlets.TraitError(str(error)) from None
        return getattr(self.state, name)

    def _update_form(self, key: Iterable[object] = (), text: str = "") -> None:
        """Send the controls to the page, and the `text` of an error about the control `key`."""
        self.form = {
            "controls": [*controls(self._bench)],
            "equation": equation(self._bench),
            "problem": {"key": list(key), "text": text},
            "answered": self._number if self._requested is self._bench else -1,
            "undo": bool(self._past),
            "redo": bool(self._future),
            "version": self._version,
        }

    def receive(self, message: object) -> None:
        """Handle a message of the page, such as ``{"number": 3, "key": ["order"], "value": 2}``.

        The key names a control, or is "undo", "redo", "cancel", or "save". The value of "save" is
        the format of the file.
        """
        match message:
            case {"number": int(number), "key": [*key], "value": value}:
                with self._lock, self._reporting(key):
                    self._number = number
                    match key:
                        case ["undo" | "redo" as way]:
                            getattr(self, way)()
                        case ["cancel"]:
                            self._cancel()
                            self._update_form()
                        case ["save"]:
                            self._send_file(str(value))
                        case _:
                            self._request(changed(self._cancel(), key, value), key)
            case _:
                why = "expected a number, a key, and a value."
                self._update_form(text=str(argument_error("message", message, why)))

    def _send_file(self, suffix: str) -> None:
        """Send the picture to the page, as a file named after the title. An HTML machine plays."""
        check_choice("format", suffix, FORMATS)
        if self.machine and suffix == "html":
            content: str | bytes = page_of_machine(element(*self._player()), self.picture)
        else:
            content = Job().run(lambda: self.picture.rendered(f".{suffix}", SCALE))
        name = "-".join(re.findall(r"\w+", self._title))[:LONGEST] or "picture"
        file = content.encode() if isinstance(content, str) else content
        self.send({"file": f"{name}.{suffix}"}, buffers=[file])
        self._update_form()

    def _request(self, bench: Bench, key: Key) -> None:
        """Draw a requested bench in a new job, and show it; report errors at the control `key`."""
        self._requested, self._job = bench, Job()

        def done(outcome: Future[Bench]) -> None:
            with self._lock:
                if self._requested is bench:  # otherwise, another thread has just canceled it
                    self._requested = self._bench
                    with self._reporting(key):
                        self._show(outcome.result())

        keeps_options = key[0] == "options"  # reject an invalid option that the request sets
        begin(lambda: draw_bench(bench, keeps_options), self._job, done)

    @contextmanager
    def _reporting(self, key: Key) -> Iterator[None]:
        """Report an error in the block next to the control `key`; raise an unexpected error."""
        try:
            yield
        except LabError as error:
            self._update_form(key, str(error))
        except BaseException as error:
            self._update_form(key, first_line(error))
            raise

    def _cancel(self) -> Bench:
        """Cancel the request of the page. Return the requested bench for the next change."""
        with self._lock:
            requested, self._requested = self._requested, self._bench
            self._job.cancel()
            return requested

    def close(self) -> None:
        """Remove the widget from the page, and cancel the open request."""
        self._job.cancel()
        super().close()


WITHOUT_PYTHON = (
    "<p class='scantape-without'>In a notebook, you can change everything in this workbench, "
    "including the loop. <code>make start</code> opens the lessons in a notebook.</p>\n"
)


def page_of(bench: Bench) -> Page | None:
    """Return a page with the loop and the cost of a bench, or None if a page cannot show the bench.

    A page can show only the machine, a named cost, and the usual state of all other choices.
    """
    cost = bench.state.cost
    if isinstance(bench, LoopBench) and isinstance(cost, str) and set(bench.choices) <= {"cost"}:
        return Page([bench.loop], orders=(1, 2, 3), costs=[cost])
    return None
