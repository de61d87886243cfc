"""The lessons; and a small site, built once for all tests: one of everything, the contents."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from building import build

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.md"))
SMALL = sorted((ROOT / "tests" / "site" / "lessons").glob("*.md"))


@cache
def small_site():
    """The folder of the site."""
    folder = Path(mkdtemp(prefix="scantape-site-"))
    lessons = folder / "lessons"
    lessons.mkdir()
    for path in SMALL:
        shutil.copy(path, lessons)
    build(lessons, folder / "site")
    return folder / "site"


def written(folder, **cells):
    """A folder with a lesson of each name: prose, or a cell of code in backticks."""
    for name, source in cells.items():
        (folder / f"{name}.md").write_text(f"# A lesson\n\n{source}\n", encoding="utf-8")
    return folder


def code(source, tags=""):
    """A cell of code, in MyST."""
    return f"```{{code-cell}} ipython3\n{tags}{source}\n```"
