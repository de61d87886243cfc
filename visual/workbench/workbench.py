"""The workbench: choose a loop, its taps and the order of its derivative, and walk through it.

    >>> bench = visual.Workbench()
    >>> bench.set(order=2, taps={"x": (-2, -1)}, view="tapes")
    >>> bench.state
    >>> bench.picture.save("tape.svg")

A change that is asked for in the browser and one that is made by `set` are the same: the state
becomes another one and its picture is drawn, or a sentence says why not and nothing changes.

What a workbench hands to the browser as a file.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields, replace
from pathlib import Path
from threading import RLock
from typing import Any, TypedDict

import traitlets
from pytensor.graph.basic import Variable

from lab.errors import ArgumentError, LabError, check_integer, first_line, listing, quote
from lab.gradients.derivative import Derivative
from lab.loops.loop import Loop
from lab.reports.breaking.breakage import Breakage
from visual.player.widget import LOOKS, PLAYER, without_kernel
from visual.scene.shapes import Scene
from visual.widgets.module import CONTROLS, FORM, joined, style
from visual.widgets.page import fragment
from visual.widgets.stepper import Walked, shown_step
from visual.widgets.widget import in_notebook
from visual.widgets.working import Work, begin, is_in_loop
from visual.workbench.ahead import draw_ahead
from visual.workbench.cell import cell
from visual.workbench.controls import (
    Key,
    changed,
    chosen_step,
    controls,
    equation,
    lasting,
    view_shown,
    views,
)
from visual.workbench.link import History, bench_of, link_of
from visual.workbench.playing import machine_data
from visual.workbench.state import Bench, BenchState, opened, with_loop
from visual.workbench.still import still

HERE = Path(__file__).parent


CALM = 0.4  # seconds after which a person looks, and nobody waits for what is drawn ahead
CHOSEN = tuple(one.name for one in fields(BenchState))


@dataclass(frozen=True)
class Drawn:
    """A bench whose picture is there, and its SVG."""

    bench: Bench
    svg: str
    machine: Mapping[str, object]  # empty for other views

    @classmethod
    def of(cls, bench: Bench) -> "Drawn":
        """Do all that takes long."""
        return cls(bench, bench.shown.svg(), machine_data(bench))


@dataclass(frozen=True)
class Asked:
    """A bench that the page waits for, and the work on it."""

    work: Work
    bench: Bench


class Message(TypedDict, total=False):
    """What the browser sends."""

    number: int
    key: Key
    value: object
    cancel: bool
    save: str


class Workbench(Walked):
    """A loop, or a graph of PyTensor's, with controls for all that can be chosen about it.

    ``Workbench()``, ``Workbench(loop)``, ``Workbench(derivative, given)`` and
    ``Workbench(cost, wrt, given)``; `given` has a value for every input of the graph.  A PyMC
    ``Workbench(model)`` shows its log-density at its initial point.  A text, as in
    ``Workbench("loop=square&order=2&moment=7")``, restores a workbench from its `link`.  `choices`
    are those of `BenchState`.  `step` is the moment that is shown, or -1 for all of them; `moment`
    is the one of the machine, or -1 for the start of its derivatives.

    Each choice, `loop` and `step` are traits: they can be set, observed, and linked to those of
    other widgets.  TraitError for what is not possible; then all stays as it was.

        >>> ipywidgets.link((slider, "value"), (bench, "order"))

    `undo` and `redo` go back and forth between the choices that were made.
    """

    _esm = joined(CONTROLS, PLAYER, HERE / "form.js", HERE / "workbench.js")
    _css = style(FORM, HERE / "workbench.css", LOOKS)
    form = traitlets.Dict().tag(sync=True)
    svg = traitlets.Unicode("").tag(sync=True)
    machine = traitlets.Dict().tag(sync=True)
    python = traitlets.Unicode("").tag(sync=True)
    link = traitlets.Unicode("").tag(sync=True)
    moment = traitlets.Int(-1, min=-1).tag(sync=True)
    loop = traitlets.Any()
    taps = traitlets.Any()
    steps = traitlets.Any()
    order = traitlets.Any()
    wrt = traitlets.Any()
    cost = traitlets.Any()
    mode = traitlets.Any()
    keep = traitlets.Any()
    of = traitlets.Any()
    at = traitlets.Any()
    truncate = traitlets.Any()
    view = traitlets.Any()
    options = traitlets.Any()
    theme = traitlets.Any()
    rule = traitlets.Any()
    room = traitlets.Int(0).tag(sync=True)  # pixels of width; 0 before there is a page
    _bench: Bench
    _asked: Asked | None = None  # what the page waits for
    _ahead = Work()  # on what it may ask for next
    _number = -1  # of the last thing that the page asked for; numbers of all pages differ

    def __init__(
        self,
        subject: Loop | Derivative | Variable | str | None = None,
        *about: object,
        step: int | None = None,
        moment: int = -1,
        **choices: object,
    ) -> None:
        self._lock = RLock()  # what is shown is changed by one thread at a time
        self._history = History()
        if isinstance(subject, str):
            restored: Bench
            restored, at = bench_of(subject)
            moment = at if moment == -1 else moment
        else:
            restored = opened(subject, *about)
        bench = restored.changed(**choices)
        moment = check_integer("moment", moment)

        def begun() -> Drawn:
            if step is None:
                return Drawn.of(bench)
            return Drawn.of(replace(bench, moment=shown_step(bench.moments, -1, step)))

        drawn = Work().do(begun)  # a page is told of no widget that has nothing to show
        super().__init__()
        self.moment = max(-1, moment)
        self._show(drawn, step)
        self.on_msg(lambda _, message, __: self.receive(message))

    @property
    def _title(self) -> str:
        return self._bench.title

    @property
    def _still(self) -> tuple[str, str, Scene | None]:
        moment = None if self.moment < 0 else self.moment
        if self.machine:
            html = without_kernel(dict(self.machine), moment)
        else:
            html = fragment(self.picture, step=self.step)
        if not in_notebook():
            html = still(self._bench, html)
        return html, self.picture.text(), self.picture

    @property
    def _shown(self) -> Sequence[Scene]:
        return [self._bench.shown] if hasattr(self, "_bench") else []

    @property
    def _moments(self) -> Collection[int]:
        return self._bench.moments if hasattr(self, "_bench") else ()

    @property
    def state(self) -> BenchState:
        """All that is chosen, frozen."""
        return self._bench.state

    @property
    def picture(self) -> Scene:
        """The picture that is shown; it can be saved."""
        return self._bench.picture

    @property
    def breakage(self) -> Breakage | None:
        """What the broken rule does to the derivatives, if one is chosen."""
        return self._bench.breakage

    def set(self, *, step: int | None = None, **choices: object) -> None:
        """Choose something else, as in ``set(order=2, taps={"x": (-2, -1)})``.

        Choices are those of `BenchState`, and `loop`, a `lab.Loop`.  LabError for what is not
        possible; then all stays as it was.  What the page waits for is given up.
        """
        self._give_up()
        try:
            bench = self._bench
            bench = with_loop(bench, choices.pop("loop")) if "loop" in choices else bench
            bench, held = bench.changed(**choices), "options" in choices
            self._show(Work().do(lambda: Drawn.of(bench if held else lasting(bench))), step)
            self._look_ahead()
        except BaseException:
            self._tell()  # the page waits no more
            raise

    def undo(self) -> None:
        """Go back to what was shown before the last choice; at the first one, do nothing."""
        self._go(self._history.undo)

    def redo(self) -> None:
        """Choose again what was undone last; without such a choice, do nothing."""
        self._go(self._history.redo)

    def _go(self, move: Callable[[Bench], Bench | None]) -> None:
        with self._lock:
            self._give_up()
            bench = move(self._bench)
            if bench is None:
                self._tell()
            else:
                drawn = Work().do(lambda: Drawn.of(replace(bench, room=self.room)))
                self._show(drawn, is_new=False)

    def _show(
        self, drawn: Drawn, step: int | None = None, answers: bool = True, is_new: bool = True
    ) -> None:
        """Show what was drawn, and the present moment if it has it.

        What is wrong with a control stays told where this `answers` no choice; what `is_new` can be
        undone.
        """
        with self._lock:
            present = -1 if drawn.bench.moment < 0 else self._present(drawn.bench)
            step = shown_step(drawn.bench.moments, present, step)
            if (step, self.room) != (drawn.bench.moment, drawn.bench.room):  # meanwhile others
                drawn = Drawn.of(replace(drawn.bench, moment=step, room=self.room))
            if self.machine and drawn.machine.get("moments") != self.machine["moments"]:
                self.moment = -1
            if is_new and hasattr(self, "_bench"):
                self._history.note(self._bench, drawn.bench)
            self._bench = drawn.bench
            for name in CHOSEN:
                self.set_trait(name, getattr(self.state, name))
            with self.hold_sync():
                self.svg, self.machine = drawn.svg, dict(drawn.machine)
                self.step = step
                self._tell(*(() if answers else self._problem))
                self._copied()

    @traitlets.observe("moment")
    def _copied(self, _: object = None) -> None:
        """Write what a person may copy: a link, and Python."""
        if hasattr(self, "_bench"):
            self.python = cell(self._bench, self.step, self.moment)
            self.link = link_of(self._bench, self.moment)

    def _present(self, bench: Bench) -> int:
        """The present moment, to which one may have walked meanwhile, in the run of a bench.

        It is the same step of the same Scan, as ``2 · gradient of square, step 0``, or -1.
        """
        before = self._bench.moments if hasattr(self, "_bench") else bench.moments
        places = {_place(name): moment for moment, name in bench.moments.items()}
        return places.get(_place(before.get(self.step, "")), -1)

    def _look_ahead(self) -> None:
        """Once nobody has asked for anything else for a moment, draw what may come next."""
        self._ahead.give_up()
        self._ahead, bench = Work(), self._bench
        if self.room and is_in_loop():
            begin(lambda: draw_ahead(bench), self._ahead, lambda _: None, CALM)

    @traitlets.validate(*CHOSEN)
    def _choose(self, proposal: Mapping[str, Any]) -> object:
        """Choose what a trait is set to, unless it tells what is chosen already."""
        name, value = proposal["trait"].name, proposal["value"]
        if hasattr(self, "_bench") and getattr(self.state, name) is not value:
            try:
                self.set(**{name: value})
            except LabError as error:
                raise traitlets.TraitError(str(error)) from None
        return getattr(self.state, name) if hasattr(self, "_bench") else value

    @traitlets.observe("room")
    def _sized(self, _: object) -> None:
        with self._lock:
            if self._asked is None:  # else it will be shown with this room
                self._bench = replace(self._bench, room=self.room)
                self.machine = dict(machine_data(self._bench))
                self._look_ahead()

    @traitlets.observe("step")
    def _moved(self, _: object) -> None:
        """Show the part of the run to which the moment belongs."""
        if hasattr(self, "_bench") and self._bench.moment != self.step:
            step = self.step if self.step >= 0 else None
            self._show(Drawn(self._bench, self.svg, self.machine), step, answers=False)

    def _tell(self, key: Iterable[object] = (), text: str = "") -> None:
        """Show what is chosen, and beside a control what is wrong with it."""
        self._problem: tuple[list[object], str] = list(key), text
        self.form = {
            "controls": controls(self._bench),
            "views": views(),
            "equation": equation(self._bench),
            "view": view_shown(self.state),
            "moments": dict(self._bench.moments),
            "chosen": chosen_step(self._bench),
            "problem": {"key": self._problem[0], "text": text},
            "answered": self._number if self._asked is None else -1,
            "undo": bool(self._history.past),
            "redo": bool(self._history.future),
        }

    def receive(self, message: Message) -> None:
        """What the browser asks for: a change, or a file; or that it does not wait any more.

        ``{"number": 3, "key": ["order"], "value": 2}``, ``{"save": "pdf"}``,
        or ``{"number": 4, "cancel": true}``.
        """
        match message:
            case {"save": suffix}:
                self._send_file(str(suffix))
            case {"number": int(number), "cancel": _}:
                with self._lock:
                    self._number = number
                    self._give_up()
                    self._tell()
            case {"number": int(number), "key": ["undo" | "redo" as way]}:
                with self._lock:
                    self._number = number
                    self.undo() if way == "undo" else self.redo()
            case {"number": int(number), "key": [*key], "value": value}:
                with self._lock:
                    self._number = number
                    self._ask(self._give_up(), key, value)
            case _:
                self._tell(
                    text=f"message = {quote(message)}: expected a number, a key and a value; "
                    "a number and cancel; or save."
                )

    def _ask(self, bench: Bench, key: Key, value: object) -> None:
        """Begin to draw what `bench` becomes by a change; what is wrong with it is told."""
        try:
            asked = Asked(Work(), changed(bench, key, value))
        except Exception as error:
            self._tell(key, words_of(error))
            if not isinstance(error, LabError):
                raise
            return

        def done(outcome: Future[Drawn]) -> None:
            with self._lock:
                if self._asked is not asked:
                    return  # given up by another thread just now
                self._asked = None
                try:
                    self._show(outcome.result())
                    self._look_ahead()
                except BaseException as error:
                    self._tell(key, words_of(error))
                    if not isinstance(error, LabError):
                        raise

        self._asked = asked
        held = key[0] == "options"  # what is asked for is not forgotten
        begin(lambda: Drawn.of(asked.bench if held else lasting(asked.bench)), asked.work, done)

    def _give_up(self) -> Bench:
        """Give up what the page waits for, and return the bench as it was to become.

        So of two changes in quick succession, none is lost.
        """
        self._ahead.give_up()
        with self._lock:
            asked, self._asked = self._asked, None
            if asked is None:
                return self._bench
            asked.work.give_up()
            return asked.bench

    def close(self) -> None:
        """Take it off the page, and let its work end."""
        self._ahead.give_up()
        asked = self._asked  # another thread may change it
        if asked is not None:
            asked.work.give_up()
        super().close()

    def _send_file(self, suffix: str) -> None:
        try:
            name, content = Work().do(lambda: file_of(self.picture, self._bench.title, suffix))
        except LabError as error:
            self._tell(["save"], str(error))
            return
        self.send({"file": name}, buffers=[content])


def _place(moment: str) -> tuple[str, str]:
    """The number of a Scan, and the step, of what a moment is called."""
    return moment.partition(" · ")[0], moment.rpartition(", ")[2]


def words_of(error: BaseException) -> str:
    """What is told of an error: of one that is none of ours also its kind."""
    return str(error) if isinstance(error, LabError) else first_line(error)


FORMATS = ("svg", "pdf", "png", "html")
SCALE = 2.0
LONGEST = 80  # letters of a file's name


def file_of(picture: Scene, title: str, suffix: str) -> tuple[str, bytes]:
    """The name, made of a title, and the content of a picture as a file."""
    if suffix not in FORMATS:
        raise ArgumentError(f"save = {quote(suffix)}: the formats are {listing(FORMATS)}.")
    content = picture.rendered(f".{suffix}", SCALE)
    name = "-".join(re.findall(r"\w+", title))[:LONGEST] or "picture"
    return f"{name}.{suffix}", content.encode() if isinstance(content, str) else content
