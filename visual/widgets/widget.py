"""The base class of all widgets, and functions that join ES modules and style sheets.

    >>> ipywidgets.VBox([visual.machine(trace), visual.Exercise(trace)])

JupyterLab shows a widget while its kernel runs. A front end without a kernel shows a static form: a
page with a script, an image, or plain text. Without anywidget, all front ends show static forms.
"""

import os
import sys
from base64 import b64encode
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

import traitlets

from lab.errors import LabError
from visual.scene.formats import report_path, write_whole
from visual.scene.shapes import Scene

try:
    from anywidget import AnyWidget
except ImportError:
    AnyWidget = None
    try:
        from ipywidgets import DOMWidget as Base
    except ImportError:

        class Base(traitlets.HasTraits):  # type: ignore[no-redef]
            """The base class if ipywidgets is not installed. It connects to no page."""

            hold_sync = nullcontext
            on_msg = send = close = staticmethod(lambda *_, **__: None)

else:
    Base = AnyWidget

HERE = Path(__file__).parent
CONTROLS = HERE / "controls.js"
DARK_NOTEBOOK = "body[data-jp-theme-light=false] :is(.scantape,.exercise){color-scheme:dark}\n"


def bundle(*files: Path) -> str:
    """Return one ES module without imports: the text of `dom.js`, then of the files in order.

    Each file can call functions of earlier files. The names in all files of a module are distinct.
    """
    return read(HERE / "dom.js", *files)


def read(*files: Path) -> str:
    """Return the texts of all files, one after the other."""
    return "".join(file.read_text(encoding="utf-8") for file in files)


def in_notebook() -> bool:
    """Return whether the code runs in a kernel whose pages can show widgets.

    SCANTAPE_STATIC=1 makes the result False, for output that readers see without a kernel.
    """
    ipython = sys.modules.get("IPython")
    is_static = os.environ.get("SCANTAPE_STATIC") == "1"
    return ipython is not None and not is_static and hasattr(ipython.get_ipython(), "kernel")


class Widget(Base):
    """A widget that connects to a page when a cell or a box first shows the widget."""

    def open(self) -> None:
        """Do nothing: `model_id`, which pages and boxes read, opens the connection."""

    @property
    def model_id(self) -> str:
        """The identifier of the widget in a page; raises LabError if anywidget is not installed."""
        if AnyWidget is None:
            why = "cannot be put into a box because anywidget is not installed."
            advice = "Run pip install anywidget, or show the widget without a box."
            raise LabError(f"{self!r} {why} {advice}")
        if self.comm is None:
            super().open()
        return str(super().model_id)

    @property
    def _still(self) -> tuple[str, str, Scene | None]:
        """The static forms: HTML with its script, plain text, and a picture, if any."""
        raise NotImplementedError

    @property
    def _title(self) -> str:
        """The subject of the widget, in one line."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._title}>"

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        shown = {}
        if AnyWidget is not None and in_notebook():
            shown, *_rest = super()._repr_mimebundle_()
        shown["text/html"], shown["text/plain"], picture = self._still
        if picture is not None:  # for nbconvert and viewers of notebooks
            shown["image/svg+xml"] = picture.svg()
            with suppress(ImportError):  # Python in a browser cannot write a PNG
                shown["image/png"] = b64encode(picture.png()).decode()
        return shown


def page_path(path: str | os.PathLike[str]) -> Path:
    """Return `path` as a Path. Raises ArgumentError unless it can be an .html file."""
    return report_path(path, (".html",), "a page ends in .html")


class SavedAsPage:
    """An object with a method `page`, which returns an HTML page."""

    page: Callable[[], str]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to `path`, which ends in .html, and return the path.

        Raises ArgumentError for another suffix or a path that cannot be written. If `page` fails,
        writes nothing.
        """
        return write_whole(page_path(path), self.page())
