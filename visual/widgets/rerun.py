"""A cell that is run again leaves nothing behind: what its last run made is closed.

Widgets stay open until they are closed, in the kernel as well as in the page.  What was made by an
earlier run of the same cell stands nowhere any more, so it is closed when the cell makes another.
"""

import os
import sys
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from visual.scene.shapes import Scene


class Closing(Protocol):
    """What can be closed."""

    def close(self) -> None:
        """Take it off the page, and out of the kernel."""


class Widget(Closing, Protocol):
    """A widget of ipywidgets, which has a layout of its own."""

    @property
    def layout(self) -> Closing:
        """How it is laid out: a widget, too."""


@dataclass
class _Run:
    """A run of a cell, and the widgets that were made in it."""

    message: str
    widgets: list[Widget] = field(default_factory=list)


_runs: dict[str, _Run] = {}


def made_in_cell(widget: Widget) -> None:
    """Remember that `widget` was made in the cell that is running, and close those before it."""
    cell, message = _running()
    if not cell:
        return
    last = _runs.get(cell)
    if last is None or last.message != message:
        for old in last.widgets if last else ():
            shut(old)
        _runs[cell] = _Run(message)
    _runs[cell].widgets.append(widget)


def shut(widget: Widget) -> None:
    """Close a widget, and the one of ipywidgets' own that holds its layout."""
    layout = widget.layout
    widget.close()
    layout.close()


def in_notebook() -> bool:
    """Whether the code that runs was sent to a kernel, whose pages can show widgets.

    SCANTAPE_STATIC=1 says that they cannot: what is shown will be read when the kernel has ended.
    """
    if "IPython" not in sys.modules or os.environ.get("SCANTAPE_STATIC") == "1":
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")


def bundle(
    live: Callable[[], object], html: str, text: str, picture: Scene | None = None
) -> dict[str, object]:
    """What is shown of a widget: itself in a notebook, and for where no kernel is all the others.

    `html` needs a script to be walked through; `picture` is for who shows no HTML.
    """
    made = live() if in_notebook() else {}
    made = made[0] if isinstance(made, tuple) else made
    assert isinstance(made, dict)
    return {**made, "text/html": html, **images(picture), "text/plain": text}


def images(picture: Scene | None) -> dict[str, str]:
    """A picture as nbconvert and viewers of notebooks take it: SVG, and PNG in base64."""
    if picture is None:
        return {}
    made = {"image/svg+xml": picture.svg()}
    with suppress(ImportError):  # Python in a browser has nothing that writes a PNG
        made["image/png"] = b64encode(picture.png()).decode()
    return made


def _running() -> tuple[str, str]:
    """The cell that is running and the message that runs it; empty where there are no cells."""
    if "IPython" not in sys.modules:
        return "", ""
    from IPython import get_ipython

    parent = getattr(get_ipython(), "parent_header", None) or {}
    metadata, header = parent.get("metadata", {}), parent.get("header", {})
    return str(metadata.get("cellId") or ""), str(header.get("msg_id", ""))
