"""The lessons that came with the package, copied as notebooks into a folder.

What a person wrote stays: where a notebook is there already, a newer lesson is put beside it.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from os.path import lexists
from pathlib import Path
from typing import Any

from lab.errors import ArgumentError, LabError, quoted
from visual.scene.formats import write_whole

HERE = Path(__file__).parents[2] / "notebooks"  # in a checkout
INSTALLED = "share/scantape/lessons/"  # in an environment


def lessons() -> list[Path]:
    """The texts of all lessons, and their pictures; LabError if they are nowhere."""
    found = [*HERE.glob("*.md"), *HERE.glob("*.svg")] if (HERE / "01_loop.md").exists() else []
    if not found:
        try:
            there = [file for file in files("scantape") or () if INSTALLED in file.as_posix()]
        except PackageNotFoundError:
            there = []
        found = [Path(str(file.locate())) for file in there]
    if not found:
        raise LabError("lessons: this installation has none; install scantape from its wheel.")
    return sorted(found)


def copied(folder: Path) -> Iterator[str]:
    """Copy all lessons to `folder`, and tell what became of each that is new."""
    if find_spec("jupytext") is None:
        raise LabError("lessons: jupytext is not installed; pip install 'scantape[notebook]'.")
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"folder = {quoted(str(folder))}: it is a file.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"folder = {quoted(str(folder))}: {error.strerror}.") from error
    for path in lessons():
        if path.suffix == ".svg":
            if not lexists(folder / path.name):  # a link is there, too, wherever it leads
                write_whole(folder / path.name, path.read_bytes())
            continue
        written = _written(path, folder)
        if written is not None:
            yield str(written)


def _written(lesson: Path, folder: Path) -> Path | None:
    """The notebook that was made; None if the one that is there came from the same text."""
    text = lesson.read_text(encoding="utf-8")
    mark = sha256(text.encode()).hexdigest()[:12]
    for path in (folder / f"{lesson.stem}.ipynb", folder / f"{lesson.stem}-{mark}.ipynb"):
        if not lexists(path):
            import jupytext  # which takes seconds, and is not asked about what is there

            notebook = jupytext.reads(text, "md:myst")
            notebook.metadata["scantape"] = {"lesson": mark}
            _arrange_slides(notebook.cells)
            return write_whole(path, jupytext.writes(notebook, "ipynb"))
        if path.is_file() and f'"lesson": "{mark}"' in path.read_text(
            encoding="utf-8", errors="replace"
        ):
            return None
    return None


def _arrange_slides(cells: Iterable[Any]) -> None:
    """Give each cell its slide type, as JupyterLab and nbconvert name it.

    A heading begins a slide, and the first code below it stays there; other code has a slide of its
    own.  Prose is a note for the speaker.
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
