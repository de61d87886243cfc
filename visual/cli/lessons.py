"""Copy the lessons of the package to a folder, as notebooks; files that exist stay as they are."""

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from os.path import lexists
from pathlib import Path
from typing import Any

from lab.errors import ArgumentError, LabError, quote
from visual.scene.formats import write_whole

HERE = Path(__file__).parents[2] / "notebooks"  # in a checkout
INSTALLED = "share/scantape/lessons/"  # in an environment


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
    for lesson in lessons():
        path = folder / f"{lesson.stem}.ipynb"
        if not lexists(path):
            yield str(_write(lesson, path))


def _write(lesson: Path, path: Path) -> Path:
    """Write a lesson as a notebook."""
    import jupytext  # takes seconds, and only new lessons need it

    notebook = jupytext.reads(lesson.read_text(encoding="utf-8"), "md:myst")
    _arrange_slides(notebook.cells)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"folder = {quote(str(path.parent))}: {error.strerror}.") from error
    return write_whole(path, jupytext.writes(notebook, "ipynb"))


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
