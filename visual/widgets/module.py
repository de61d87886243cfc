"""The ES modules and style sheets of widgets, joined from files.

A widget is a single ES module, which cannot import other modules. `bundle` joins files in order;
each file can call functions of earlier files.
"""

from pathlib import Path

HERE = Path(__file__).parent
DOM = HERE / "dom.js"  # the first file of every bundle
CONTROLS = HERE / "controls.js"
DARK = "body[data-jp-theme-light=false] :is(.scantape,.exercise){color-scheme:dark}\n"


def bundle(*parts: Path | str) -> str:
    """Return one module: the content of `dom.js`, then of each part. A part is a file or a text."""
    return "".join(part if isinstance(part, str) else _read(part) for part in (DOM, *parts))


def scoped(name: str, *files: Path) -> str:
    """Return files as a declaration of `name` that hides all other names in the files."""
    inside = "".join(map(_read, files))
    return f"const {name} = (() => {{\n{inside}\nreturn {name};\n}})();\n"


def style(*files: Path) -> str:
    """Return a style sheet with the content of all files."""
    return DARK + "".join(map(_read, files))


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")
