"""The ES modules and style sheets of widgets, joined from files.

A widget is one ES module, which can import no other. `bundle` joins files in order; each file
calls functions of the files before it.
"""

from pathlib import Path

HERE = Path(__file__).parent
DOM = HERE / "dom.js"  # the first file of every bundle
FORM = HERE / "form.css"
CONTROLS = HERE / "controls.js"
DARK = "body[data-jp-theme-light=false] :is(.scantape,.exercise){color-scheme:dark}\n"


def bundle(*parts: Path | str) -> str:
    """Return one module: `dom.js`, then the content of each file, or each text."""
    return "".join(part if isinstance(part, str) else _read(part) for part in (DOM, *parts))


def scoped(name: str, *files: Path) -> str:
    """Return files as one declaration of `name`; their other names are local to it."""
    inside = "".join(map(_read, files))
    return f"const {name} = (() => {{\n{inside}\nreturn {name};\n}})();\n"


def style(*files: Path) -> str:
    """Return style sheets as one."""
    return DARK + "".join(map(_read, files))


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")
