"""The workbench: choose a loop, its taps and the order of its derivative, and walk through it.

    >>> bench = visual.Workbench()
    >>> bench.set(order=2, taps={"x": (-2, -1)}, view="tapes")
    >>> bench.state
    >>> bench.picture.save("tape.svg")

A change that is asked for in the browser and one that is made by `set` are the same: the state
becomes another one and its picture is drawn, or a sentence says why not and nothing changes.
"""

from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from lab import LabError, Loop, gallery
from lab.errors import ArgumentError
from visual.pictures import Picture
from visual.stepper import shown_step
from visual.workbench_controls import change, controls, views
from visual.workbench_files import file_of
from visual.workbench_loop import LoopBench
from visual.workbench_module import MODULE, STYLE
from visual.workbench_state import BenchState


class Workbench(anywidget.AnyWidget):
    """A loop with controls for all that can be chosen about its derivative.

    `loop` is a `lab.Loop`, of the gallery or not; `choices` are those of `BenchState`.  `step` is
    the moment that is shown; it can be set and observed, like that of a `visual.Stepper`.
    """

    _esm = MODULE
    _css = STYLE
    form = traitlets.Dict().tag(sync=True)
    svg = traitlets.Unicode("").tag(sync=True)
    step = traitlets.Int(-1).tag(sync=True)

    def __init__(self, loop: Loop | None = None, *, step: int | None = None, **choices: Any):
        super().__init__()
        loop = gallery.loops["square"] if loop is None else loop
        if not isinstance(loop, Loop):
            raise ArgumentError(f"loop = {loop!r:.60}: expected a lab.Loop.")
        self._show(LoopBench.of(loop).changed(**choices), step)
        self.on_msg(lambda _, message, __: self.receive(message))

    @property
    def state(self) -> BenchState:
        """All that is chosen, frozen."""
        return self._bench.state

    @property
    def loop(self) -> Loop:
        """The loop as it is chosen, with its taps, steps and values."""
        return self._bench.chosen

    @property
    def picture(self) -> Picture:
        """The picture that is shown; it can be saved."""
        return self._bench.picture

    def set(self, *, step: int | None = None, **choices: Any) -> None:
        """Choose something else, as in ``set(order=2, taps={"x": (-2, -1)})``.

        Choices are those of `BenchState`, and `loop`, a `lab.Loop`.  LabError for what is not
        possible; then all stays as it was.
        """
        if "loop" in choices:
            choices = dict(choices)
            bench = self._with_loop(choices.pop("loop"))
        else:
            bench = self._bench
        self._show(bench.changed(**choices), step)

    def _with_loop(self, loop: Loop | str) -> LoopBench:
        """Another loop, seen in the same way: its taps and values are its own."""
        if isinstance(loop, str) and loop in gallery.loops:
            loop = gallery.loops[loop]
        if not isinstance(loop, Loop):
            raise ArgumentError(f"loop = {loop!r:.60}: expected a lab.Loop.")
        old = self._bench.state
        return LoopBench.of(loop).changed(order=old.order, view=old.view, theme=old.theme)

    def _show(self, bench: LoopBench, step: int | None = None) -> None:
        """Show a bench, if it can be drawn."""
        picture = bench.picture
        step = shown_step([picture], self.step, step)
        self._bench = bench
        with self.hold_sync():
            self.svg = picture.svg()
            self.step = step
            self.form = self._form()

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
            else:
                self.set(**change(self._bench, key, message["value"]))
        except LabError as error:
            problem["text"] = str(error)
        self.form = self._form(problem=problem, answered=number)

    def _send_file(self, suffix: str) -> None:
        try:
            name, content = file_of(self.picture, suffix)
        except LabError as error:
            self.form = {**self.form, "problem": {"key": ["save"], "text": str(error)}}
            return
        self.send({"file": name}, buffers=[content])
