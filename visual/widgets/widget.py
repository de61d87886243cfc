"""What goes into a box: `Stepper`, `Workbench`, `Exercise`, `Exercises`, and `Question`.

>>> ipywidgets.VBox([visual.Stepper(picture), visual.Exercise(trace)])

Where anywidget is not installed they are the same, but show their static forms only.  JupyterLab
shows a widget where its kernel is; a front end without one takes what it knows of its static form:
a page with a script, images, or plain text.
"""

import os
import sys
from base64 import b64encode
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

import traitlets

from lab.errors import LabError
from visual.scene.formats import as_report, write_whole
from visual.scene.shapes import Scene
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


def in_notebook() -> bool:
    """Whether the code that runs was sent to a kernel, whose pages can show widgets.

    SCANTAPE_STATIC=1 says that they cannot: what is shown will be read when the kernel has ended.
    """
    if "IPython" not in sys.modules or os.environ.get("SCANTAPE_STATIC") == "1":
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")


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
        shown = {}
        if AnyWidget is not None and in_notebook():
            shown, *_rest = super()._repr_mimebundle_()
        shown["text/html"], shown["text/plain"], picture = self._still
        if picture is not None:  # as nbconvert and viewers of notebooks take it
            shown["image/svg+xml"] = picture.svg()
            with suppress(ImportError):  # Python in a browser has nothing that writes a PNG
                shown["image/png"] = b64encode(picture.png()).decode()
        return shown


def save_page(path: str | os.PathLike[str], page: Callable[[], str]) -> Path:
    """Write a page to `path`, which ends in .html; it appears whole or not at all."""
    path = as_report(path, (".html",), "a page ends in .html")
    return write_whole(path, page())
