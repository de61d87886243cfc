"""A lesson as it is kept: a text of cells, read by jupytext."""

import re
from dataclasses import dataclass
from pathlib import Path

import jupytext

CONTENTS = "index"


class SiteError(Exception):
    """What stops the building of the site; it names the lesson and, if it can, the cell."""


@dataclass(frozen=True)
class Cell:
    """A cell of a lesson, numbered from 1: prose, or code that is run."""

    number: int
    source: str
    is_code: bool
    tags: frozenset[str] = frozenset()

    @property
    def may_fail(self) -> bool:
        """Whether an error is what the cell is there to show."""
        return "raises-exception" in self.tags

    @property
    def is_hidden(self) -> bool:
        """Whether its code is run, but not shown."""
        return "hide-input" in self.tags or "remove-input" in self.tags


@dataclass(frozen=True)
class Lesson:
    """A lesson: its file, its title and its cells."""

    path: Path
    title: str
    cells: tuple[Cell, ...]
    is_draft: bool = False  # it may link to lessons that are not written yet

    @property
    def name(self) -> str:
        """What its page is called, without the ending."""
        return self.path.stem

    @property
    def page(self) -> str:
        """The file of its page."""
        return f"{self.name}.html"

    @property
    def is_contents(self) -> bool:
        """Whether it stands before the table of contents."""
        return self.name == CONTENTS


def read(path: Path, is_draft: bool = False) -> Lesson:
    """The lesson in a file; SiteError if it has no title."""
    cells = tuple(
        Cell(
            number,
            cell.source,
            cell.cell_type == "code",
            frozenset(cell.metadata.get("tags", ())),
        )
        for number, cell in enumerate(jupytext.read(path).cells, 1)
    )
    titles = (re.match(r"#\s+(.+)", cell.source) for cell in cells if not cell.is_code)
    title = next((found[1].strip() for found in titles if found), None)
    if title is None:
        raise SiteError(f"{path.name}: no cell begins with a title, as in '# What is a tape?'.")
    return Lesson(path, title, cells, is_draft)


def read_all(folder: Path, is_draft: bool = False) -> tuple[Lesson, ...]:
    """The lessons of a folder in the order of their names, the table of contents first."""
    found = [read(path, is_draft) for path in sorted(folder.glob("*.md"))]
    if not found:
        raise SiteError(f"{folder}: there is no lesson (*.md).")
    return tuple(sorted(found, key=lambda lesson: not lesson.is_contents))
