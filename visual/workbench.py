"""The workbench: choose a loop, its taps and the order of its derivative, and walk through it.

    >>> bench = visual.Workbench()
    >>> bench.set(order=2, taps={"x": (-2, -1)}, view="tapes")
    >>> bench.state
    >>> bench.picture.save("tape.svg")

A change that is asked for in the browser and one that is made by `set` are the same: the state
becomes another one and its picture is drawn, or a sentence says why not and nothing changes.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets
from pytensor.graph.basic import Variable

from lab import Derivative, LabError, Loop, ManyScansWarning, gallery
from lab.errors import ArgumentError, first_line, listing
from visual.pictures import Picture
from visual.rerun import made_in_cell, shut
from visual.stepper import shown_step
from visual.workbench_cell import Bench, cell
from visual.workbench_controls import change, controls, views
from visual.workbench_files import file_of
from visual.workbench_graph import GraphBench
from visual.workbench_loop import LoopBench
from visual.workbench_module import MODULE, STYLE
from visual.workbench_state import WRITTEN, BenchState
from visual.workbench_written import START, STEPS, written


class Workbench(anywidget.AnyWidget):
    """A loop, or a graph of PyTensor's, with controls for all that can be chosen about it.

    ``Workbench()``, ``Workbench(loop)``, ``Workbench(derivative, given)`` and
    ``Workbench(cost, wrt, given)``; `given` has a value for every input of the graph.  `choices`
    are those of `BenchState`.  `step` is the moment that is shown; it can be set and observed,
    like that of a `visual.Stepper`.
    """

    _esm = MODULE
    _css = STYLE
    form = traitlets.Dict().tag(sync=True)
    svg = traitlets.Unicode("").tag(sync=True)
    python = traitlets.Unicode("").tag(sync=True)
    step = traitlets.Int(-1).tag(sync=True)

    def __init__(
        self,
        subject: Loop | Derivative | Variable | None = None,
        *about: Any,
        step: int | None = None,
        **choices: Any,
    ) -> None:
        bench = _bench(subject, *about).changed(**choices)
        super().__init__()
        try:
            self._show(bench, step)
        except BaseException:
            shut(self)  # there is nothing to show
            raise
        made_in_cell(self)
        self.on_msg(lambda _, message, __: self.receive(message))

    @property
    def state(self) -> BenchState:
        """All that is chosen, frozen."""
        return self._bench.state

    @property
    def picture(self) -> Picture:
        """The picture that is shown; it can be saved."""
        return self._bench.picture

    def set(self, *, step: int | None = None, **choices: Any) -> None:
        """Choose something else, as in ``set(order=2, taps={"x": (-2, -1)})``.

        Choices are those of `BenchState`, and `loop`, a `lab.Loop`.  LabError for what is not
        possible; then all stays as it was.
        """
        bench = self._with_loop(choices.pop("loop")) if "loop" in choices else self._bench
        self._show(bench.changed(**choices), step)

    def _with_loop(self, loop: Loop | str) -> LoopBench:
        """Another loop, seen in the same way: its taps and values are its own."""
        if isinstance(loop, str):
            loop = _loop_named(loop)
        if not isinstance(loop, Loop):
            raise ArgumentError(f"loop = {loop!r:.60}: expected a lab.Loop.")
        old = self._bench.state
        return LoopBench.of(loop).changed(order=old.order, view=old.view, theme=old.theme)

    def _write(self, text: str, values: str) -> None:
        """Show the loop that is written, seen in the same way."""
        steps, name = STEPS, WRITTEN
        if isinstance(self._bench, LoopBench) and self.state.loop == WRITTEN:
            steps, name = self._bench.chosen.steps, self._bench.loop.name
        self.set(loop=written(text, values, steps, name))

    def _show(self, bench: Bench, step: int | None = None) -> None:
        """Show a bench, if it can be drawn."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ManyScansWarning)  # the page says that it takes a while
            picture = bench.picture
        step = shown_step([picture], self.step, step)
        self._bench = bench
        with self.hold_sync():
            self.svg = picture.svg()
            self.step = step
            self.form = self._form()
            self.python = cell(bench, step)

    @traitlets.observe("step")
    def _moved(self, _: Any) -> None:
        if hasattr(self, "_bench"):
            self.python = cell(self._bench, self.step)

    def _form(self, **more: Any) -> dict[str, Any]:
        return {
            "controls": controls(self._bench),
            "views": views(),
            "view": self.state.view,
            "problem": {"key": [], "text": ""},
            "answered": -1,
            **more,
        }

    def receive(self, message: Mapping[str, Any]) -> None:
        """What the browser asks for: a change, or a file.

        ``{"number": 3, "key": ["order"], "value": 2}`` or ``{"save": "pdf"}``.
        """
        if "save" in message:
            self._send_file(str(message["save"]))
            return
        key, number = list(message["key"]), message["number"]
        problem = {"key": key, "text": ""}
        try:
            if key == ["loop"]:
                self.set(loop=message["value"])
            elif key == ["written"]:
                self._write(*map(str, message["value"]))
            else:
                self.set(**change(self._bench, key, message["value"]))
        except LabError as error:
            problem["text"] = str(error)
        except Exception as error:  # of a step that a person wrote in Python, or a mistake of ours
            problem["text"] = first_line(error)
            raise
        finally:
            self.form = self._form(problem=problem, answered=number)

    def _send_file(self, suffix: str) -> None:
        try:
            name, content = file_of(self.picture, self._bench.title, suffix)
        except LabError as error:
            self.form = {**self.form, "problem": {"key": ["save"], "text": str(error)}}
            return
        self.send({"file": name}, buffers=[content])


def _bench(subject: Any, *about: Any) -> Bench:
    """What a workbench is opened with."""
    match subject, *about:
        case [Derivative(), given]:
            return GraphBench.of_derivative(subject, given)
        case [Variable(), Variable() as wrt, given]:
            return GraphBench.of(subject, wrt, given)
        case [None | Loop()]:
            return LoopBench.of(subject or gallery.loops["square"])
    raise ArgumentError(
        f"subject = {subject!r:.60} and {len(about)} more: expected a lab.Loop alone, a "
        "lab.Derivative and the values of its inputs, or a cost, what to differentiate by, and "
        "the values."
    )


def _loop_named(name: str) -> Loop:
    if name == WRITTEN:
        return written(*START)
    if name not in gallery.loops:
        raise ArgumentError(f"loop = {name!r:.60}: the gallery has {listing(gallery.loops)}.")
    return gallery.loops[name]
