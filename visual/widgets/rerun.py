"""Close the widgets of earlier runs of a notebook cell.

An open widget uses memory in the kernel and in the page. When a cell runs again, its
earlier widgets are no longer displayed.
"""

import sys
from typing import Any
from weakref import ref

# The message of the last run of every cell, and the widgets that this run created.
_runs: dict[str, tuple[str, list[ref[Any]]]] = {}


def register_in_cell(widget: Any) -> None:
    """Assign `widget` to the running cell, and close the widgets of the cell's earlier runs."""
    cell, message = _running()
    if not cell:
        return
    before, widgets = _runs.get(cell, ("", []))
    if before != message:
        for old in filter(None, (reference() for reference in widgets)):
            close(old)
        widgets = []
    _runs[cell] = message, [*widgets, ref(widget)]


def close(widget: Any) -> None:
    """Close a widget and its layout, which is a widget as well."""
    layout = widget.layout
    widget.close()
    layout.close()


def _running() -> tuple[str, str]:
    """Return the ids of the running cell and of its message; empty outside notebooks."""
    if "IPython" not in sys.modules:
        return "", ""
    from IPython import get_ipython

    parent = getattr(get_ipython(), "parent_header", None) or {}
    metadata, header = parent.get("metadata", {}), parent.get("header", {})
    return str(metadata.get("cellId") or ""), str(header.get("msg_id", ""))
