"""A cell that is run again leaves nothing behind: what its last run made is closed.

Widgets stay open until they are closed, in the kernel as well as in the page.  What was made by an
earlier run of the same cell stands nowhere any more, so it is closed when the cell makes another.
"""

import sys
from typing import Any
from weakref import ref

# Of every cell the message of its last run, and the widgets made in it that are still there.
_runs: dict[str, tuple[str, list[ref[Any]]]] = {}


def made_in_cell(widget: Any) -> None:
    """Remember that `widget` was made in the cell that is running, and close those before it."""
    cell, message = _running()
    if not cell:
        return
    before, widgets = _runs.get(cell, ("", []))
    if before != message:
        for old in filter(None, (made() for made in widgets)):
            shut(old)
        widgets = []
    _runs[cell] = message, [*widgets, ref(widget)]


def shut(widget: Any) -> None:
    """Close a widget, and the one of ipywidgets' own that holds its layout."""
    layout = widget.layout
    widget.close()
    layout.close()


def _running() -> tuple[str, str]:
    """The cell that is running and the message that runs it; empty where there are no cells."""
    if "IPython" not in sys.modules:
        return "", ""
    from IPython import get_ipython

    parent = getattr(get_ipython(), "parent_header", None) or {}
    metadata, header = parent.get("metadata", {}), parent.get("header", {})
    return str(metadata.get("cellId") or ""), str(header.get("msg_id", ""))
