"""The ES modules of widgets: that of the workbench begins with the stepper's.

A widget is one module, which can import no other; so that each stays a file, they are joined, and
call the functions of those before.
"""

from pathlib import Path

HERE = Path(__file__).parent
DOM = (HERE / "dom.js").read_text(encoding="utf-8")  # with which all of them begin
STEPPER = DOM + (HERE / "stepper.js").read_text(encoding="utf-8")
FORM = HERE / "form.css"  # the looks of controls, which the workbench shows
CONTROLS = HERE / "controls.js"
DARK = "body[data-jp-theme-light=false] :is(.scantape,.exercise){color-scheme:dark}\n"  # JupyterLab
EXPORT = "export default { render };\n"


def joined(*parts: Path | str) -> str:
    """The module of the stepper with other files, or texts, after it."""
    before, after = STEPPER.split(EXPORT)
    texts = (p if isinstance(p, str) else p.read_text(encoding="utf-8") for p in parts)
    return before + after + "".join(texts)


def scoped(name: str, *files: Path) -> str:
    """Return files as one declaration of `name`, so that their other names stay their own."""
    inside = "".join(file.read_text(encoding="utf-8") for file in files)
    return f"const {name} = (() => {{\n{inside}\nreturn {name};\n}})();\n"


def style(*files: Path) -> str:
    """The style of the stepper with those of other files after it."""
    return DARK + "".join(
        file.read_text(encoding="utf-8") for file in (HERE / "stepper.css", *files)
    )
