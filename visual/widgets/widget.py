"""What goes into a box: `Stepper`, `Workbench`, `Exercise`, `Exercises`, `Question` and `Atlas`.

>>> ipywidgets.VBox([visual.Stepper(picture), visual.Exercise(trace), visual.Atlas()])

Where anywidget is not installed they are the same, but show their static forms only.
"""

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import traitlets

from lab.errors import LabError
from visual.scene.formats import as_report, write_whole
from visual.scene.shapes import Scene
from visual.widgets.mimebundle import in_notebook, still
from visual.widgets.rerun import made_in_cell

try:
    from anywidget import AnyWidget
except ImportError:
    AnyWidget = None
    try:
        from ipywidgets import DOMWidget as Base
    except ImportError:

        class Base(traitlets.HasTraits):  # type: ignore[no-redef]
            """What a widget does, for no page."""

            hold_sync = nullcontext

            def on_msg(self, callback: object) -> None:
                """Nobody sends anything."""

            send = on_msg

            def close(self) -> None:
                """Nothing is open."""

else:
    Base = AnyWidget


class Widget(Base):
    """A widget that a page is told of when it is first shown, or put into a box, and not before."""

    def __init__(self) -> None:
        super().__init__()
        if AnyWidget is not None:
            made_in_cell(self)

    def open(self) -> None:
        """Nothing yet: `model_id`, by which pages and boxes name it, opens it."""

    @property
    def model_id(self) -> str:
        """The name by which a page knows it; LabError where anywidget is not installed."""
        if AnyWidget is None:
            raise LabError(
                f"{self!r} cannot be put into a box, since anywidget is not installed; "
                "pip install anywidget, or show it by itself."
            )
        if self.comm is None:
            super().open()
        return str(super().model_id)

    @property
    def _still(self) -> tuple[str, str, Scene | None]:
        """Its static form: HTML that brings a script, plain text, and a picture."""
        raise NotImplementedError

    @property
    def _title(self) -> str:
        """What it is about, in a line."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._title}>"

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        live = {}
        if AnyWidget is not None and in_notebook():
            live, *_rest = super()._repr_mimebundle_()
        return {**live, **still(*self._still)}


def save_page(path: str | os.PathLike[str], page: Callable[[], str]) -> Path:
    """Write a page to `path`, which ends in .html; it appears whole or not at all."""
    path = as_report(path, (".html",), "a page ends in .html")
    return write_whole(path, page())
