"""The commands ``scantape lessons`` and ``scantape score``."""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from os.path import lexists
from pathlib import Path
from typing import Any

from lab.errors import ArgumentError, LabError, quote
from visual.cli.shared import Commands, add_command, show
from visual.exercises.progress import score_table
from visual.scene.formats import write_whole

HERE = Path(__file__).parents[2] / "notebooks"  # the folder of the lessons in a checkout
INSTALLED = "share/scantape/lessons/"  # the folder of the lessons in an environment


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    summary = "copy the lessons to a folder and open them"
    parser = add_command(commands, "lessons", _lessons, summary)
    parser.add_argument("folder", metavar="FOLDER", help="folder to write; keeps existing files")
    parser.add_argument("--no-open", action="store_true", help="copy without opening JupyterLab")
    parser = add_command(commands, "score", _score, "print the scores of learners as CSV")
    parser.add_argument("files", nargs="+", metavar="FILE", help="progress file of a learner")


def _lessons(options: argparse.Namespace) -> None:
    folder = Path(options.folder)
    for path in copy_lessons(folder):
        show(path)
    if options.no_open:
        return
    if find_spec("jupyterlab") is None:
        raise LabError("lessons: JupyterLab is not installed; pip install 'scantape[notebook]'.")
    subprocess.run([sys.executable, "-m", "jupyterlab", str(folder / "index.ipynb")], check=False)


def _score(options: argparse.Namespace) -> None:
    table, problems = score_table(map(Path, options.files))
    show(table, end="")
    if problems:  # one unreadable file must not hide the scores of the others
        count, total = len(problems), len(options.files)
        raise LabError(f"score: {count} of {total} files cannot be read: {problems[0]}")


def lessons() -> list[Path]:
    """Return the paths of all lessons; raise LabError if the installation has no lessons."""
    if (HERE / "01_loop.md").exists():
        return sorted(HERE.glob("*.md"))
    with suppress(PackageNotFoundError):
        if installed := [file for file in files("scantape") or () if INSTALLED in file.as_posix()]:
            return sorted(Path(str(file.locate())) for file in installed)
    raise LabError("lessons: this installation contains no lessons. Install the wheel of scantape.")


def copy_lessons(folder: Path) -> Iterator[Path]:
    """Write a notebook for each lesson that `folder` lacks, and yield the path of the notebook."""
    if find_spec("jupytext") is None:
        raise LabError("lessons: jupytext is not installed. Run pip install 'scantape[notebook]'.")
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"folder = {quote(str(folder))}: expected a folder, got a file.")
    for lesson in lessons():
        path = folder / f"{lesson.stem}.ipynb"
        if lexists(path):
            continue
        import jupytext  # the import takes seconds, and only new lessons need jupytext

        notebook = jupytext.reads(lesson.read_text(encoding="utf-8"), "md:myst")
        _arrange_slides(notebook.cells)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArgumentError(f"folder = {quote(str(folder))}: {error.strerror}.") from error
        yield write_whole(path, jupytext.writes(notebook, "ipynb"))


def _arrange_slides(cells: Iterable[Any]) -> None:
    """Set the slide type of each cell, for JupyterLab and nbconvert.

    A heading starts a slide, and the first code cell below the heading belongs to this slide. Every
    other code cell starts a slide. Cells of imports are not on slides. Prose becomes notes for the
    speaker. Slides hide the code that a lesson collapses.
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
