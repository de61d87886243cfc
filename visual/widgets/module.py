"""The ES modules and style sheets of widgets, joined from files.

A widget is a single ES module, which cannot import other modules. `bundle` joins files in order;
each file can call functions of earlier files. The names in all files of a module are distinct.
"""

from pathlib import Path

HERE = Path(__file__).parent
CONTROLS = HERE / "controls.js"
DARK = "body[data-jp-theme-light=false] :is(.scantape,.exercise){color-scheme:dark}\n"


def bundle(*files: Path) -> str:
    """Return one module: the content of `dom.js`, then of each file."""
    return read(HERE / "dom.js", *files)


def style(*files: Path) -> str:
    """Return a style sheet with the content of all files, for widgets in a page of JupyterLab."""
    return DARK + read(*files)


def read(*files: Path) -> str:
    """Return the texts of all files, one after the other."""
    return "".join(file.read_text(encoding="utf-8") for file in files)
