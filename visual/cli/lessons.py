"""Copy the lessons of the package to a folder, as notebooks.

A notebook that its reader changed stays as it is.  A newer version of its lesson is written to the
subfolder ``newer``, so that the folder contains each lesson once.
"""

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from os.path import lexists
from pathlib import Path
from typing import Any

from lab.errors import ArgumentError, LabError, quote
from visual.scene.formats import write_whole

HERE = Path(__file__).parents[2] / "notebooks"  # in a checkout
INSTALLED = "share/scantape/lessons/"  # in an environment
NEWER = "newer"


def lessons() -> list[Path]:
    """Return the texts of all lessons.  Raise LabError if the installation contains none."""
    paths = list(HERE.glob("*.md")) if (HERE / "01_loop.md").exists() else []
    if not paths:
        try:
            installed = [file for file in files("scantape") or () if INSTALLED in file.as_posix()]
        except PackageNotFoundError:
            installed = []
        paths = [Path(str(file.locate())) for file in installed]
    if not paths:
        raise LabError("lessons: this installation contains none. Install the wheel of scantape.")
    return sorted(paths)


def copy_lessons(folder: Path) -> Iterator[str]:
    """Copy all lessons to `folder`, and yield the path of each notebook that is new."""
    if find_spec("jupytext") is None:
        raise LabError("lessons: jupytext is not installed. Run pip install 'scantape[notebook]'.")
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"folder = {quote(str(folder))}: expected a folder, got a file.")
    for path in lessons():
        written = _written(path, folder)
        if written is not None:
            yield str(written)


def _written(lesson: Path, folder: Path) -> Path | None:
    """Write a lesson as a notebook, unless a copy of the same text exists."""
    text = lesson.read_text(encoding="utf-8")
    mark = _digest(text)
    path = folder / f"{lesson.stem}.ipynb"
    if lexists(path):
        existing = _metadata(path)
        if existing.get("lesson") == mark:
            return None
        if "cells" not in existing or existing["cells"] != _digest(_sources(path)):
            path = folder / NEWER / path.name
            if lexists(path) and _metadata(path).get("lesson") == mark:
                return None
            text = re.sub(r"\]\((?=[\w-]+\.ipynb)", "](../", text)
    import jupytext  # takes seconds, and only new lessons need it

    notebook = jupytext.reads(text, "md:myst")
    sources = [cell.source for cell in notebook.cells]
    notebook.metadata["scantape"] = {"lesson": mark, "cells": _digest(sources)}
    _arrange_slides(notebook.cells)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"folder = {quote(str(folder))}: {error.strerror}.") from error
    return write_whole(path, jupytext.writes(notebook, "ipynb"))


def _digest(value: object) -> str:
    return sha256(json.dumps(value).encode()).hexdigest()[:12]


def _metadata(path: Path) -> dict[str, str]:
    """Return the marks of a copied notebook; empty for any other file."""
    try:
        marks = json.loads(path.read_text(encoding="utf-8"))["metadata"]["scantape"]
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return marks if isinstance(marks, dict) else {}


def _sources(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells]


def _arrange_slides(cells: Iterable[Any]) -> None:
    """Set the slide type of each cell, with the names of JupyterLab and nbconvert.

    A heading starts a slide, and the first code below it belongs to that slide.  Other code starts
    a slide.  Prose becomes notes for the speaker.
    """
    is_below_heading = False
    for cell in cells:
        is_heading = cell.cell_type == "markdown" and cell.source.startswith("#")
        kind = "slide" if is_heading else "notes"
        if cell.cell_type == "code":
            is_import = re.fullmatch(r"((import|from) .*\n?|\n)*", cell.source)
            kind = "skip" if is_import else "-" if is_below_heading else "slide"
            is_below_heading = is_below_heading and kind == "skip"
            if cell.metadata.get("jupyter", {}).get("source_hidden"):
                cell.metadata["tags"] = [*cell.metadata.get("tags", ()), "remove-input"]
        is_below_heading |= is_heading
        cell.metadata["slideshow"] = {"slide_type": kind}
